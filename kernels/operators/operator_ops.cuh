/* The elements that are joined down columns where values are not summed: maps, of recurrences and of products of floats
 * (private/linear_map.h), and numbers, of which the greatest, the least or the product is taken. The kernels of this
 * folder are written over a struct OPS of this page:
 *
 *   Value, Element, Stored  a cell as it is kept; an element; and an element as it lies in rows of totals and prefixes
 *   HAS_FACTORS             whether the element of a row is made of two cells, a factor and a term
 *   Kept                    an element in shared memory
 *   IS_ORDERED              whether elements are joined in the tree's order alone, so that rows continue a state
 *
 * RULE is a number that code is compiled for: the operation, and for maps the knowledge about values (enum map_known).
 * A tile begins with the rule that takes the fewest instructions for the values that it has seen. Where that has made a
 * value that is not finite, the tile is done once more by the careful rule. */
#ifndef OPERATORS_OPERATOR_OPS_CUH
#define OPERATORS_OPERATOR_OPS_CUH

#include "kernels.h"
#include "linear_map.h"
#include "tile/any_load.cuh"
#include "tile/tree.cuh"

/* The functions of private/linear_map.h, found by the type of the values. */
template <class VALUE> struct map_algebra;
#define DEFINE_MAP_ALGEBRA(VALUE, TAG)                                                                                 \
    template <> struct map_algebra<VALUE> {                                                                            \
        typedef map_##TAG Map;                                                                                         \
        typedef linear_map_##TAG Stored;                                                                               \
        static DEVICE Map row(VALUE a, VALUE b, map_known known) { return map_of_row_##TAG(a, b, known); }             \
        static DEVICE Map after(Map later, Map earlier, map_known known) {                                             \
            return map_after_##TAG(later, earlier, known);                                                             \
        }                                                                                                              \
        static DEVICE Map of_two_rows(Map later, Map earlier, map_known known) {                                       \
            return map_of_two_rows_##TAG(later, earlier, known);                                                       \
        }                                                                                                              \
        static DEVICE VALUE apply(Map map, VALUE h, map_known known) { return map_apply_##TAG(map, h, known); }        \
        static DEVICE Map settle(Map map, map_known known) { return map_settle_##TAG(map, known); }                    \
    };
DEFINE_MAP_ALGEBRA(float, f32)
DEFINE_MAP_ALGEBRA(double, f64)
#undef DEFINE_MAP_ALGEBRA

/* Recurrences and products of floats. A prefix is the term of a constant map, whose factor is the result of the row
 * before the unit: that is not the prefix's, as its rounding differs. */
template <class VALUE> struct map_ops {
    typedef VALUE Value;
    typedef map_algebra<VALUE> Algebra;
    typedef typename Algebra::Map Element;
    typedef typename Algebra::Stored Stored;
    static constexpr bool HAS_FACTORS = true, IS_ORDERED = true;
    /* An element in shared memory. */
    struct alignas(VECTOR_BYTES) Kept {
        Value factor, rest, term, reset;
    };

    static DEVICE int first_rule(int) { return MAP_PLAIN; }
    template <class RUN> static DEVICE void with_rule(int rule, const RUN &run) {
        switch (rule) {
        case MAP_PLAIN:
            return run(std::integral_constant<int, MAP_PLAIN>());
        case MAP_CAREFUL:
            return run(std::integral_constant<int, MAP_CAREFUL>());
        default:
            return run(std::integral_constant<int, MAP_PRODUCT>());
        }
    }
    /* The rule to take where another one may be wrong. */
    static DEVICE int next_rule(int rule, int careful) {
        return rule == MAP_PLAIN && careful == MAP_CAREFUL ? static_cast<int>(MAP_RESETS) : careful;
    }
    /* with_rule(), and MAP_RESETS. */
    template <class RUN> static DEVICE void with_any_rule(int rule, const RUN &run) {
        if (rule == MAP_RESETS)
            run(std::integral_constant<int, MAP_RESETS>());
        else
            with_rule(rule, run);
    }
    /* The rules that nothing has to be known for. */
    template <class RUN> static DEVICE void with_careful_rule(int rule, const RUN &run) {
        if (rule == MAP_PRODUCT)
            run(std::integral_constant<int, MAP_PRODUCT>());
        else
            run(std::integral_constant<int, MAP_CAREFUL>());
    }

    static HOST_DEVICE constexpr bool knows_nothing(int rule) { return rule == MAP_CAREFUL || rule == MAP_PRODUCT; }

    template <int RULE> static DEVICE Element of_cells(Value term, Value factor) {
        return Algebra::row(factor, term, static_cast<map_known>(RULE));
    }
    template <int RULE> static DEVICE Element after(const Element &later, const Element &earlier) {
        return Algebra::after(later, earlier, static_cast<map_known>(RULE));
    }
    template <int RULE> static DEVICE Element of_two_rows(const Element &later, const Element &earlier) {
        return Algebra::of_two_rows(later, earlier, static_cast<map_known>(RULE));
    }
    template <int RULE> static DEVICE Value apply(const Element &element, Value before) {
        return Algebra::apply(element, before, static_cast<map_known>(RULE));
    }
    template <int RULE> static DEVICE Element settle(const Element &element) {
        return Algebra::settle(element, static_cast<map_known>(RULE));
    }
    template <int RULE> static DEVICE Element identity() {
        return Element{1, 0, RULE == MAP_PRODUCT ? Value(0) : Value(-0.0), 0};
    }
    /* Cells that are not in the table, and NaNs that count as nothing, change no result. */
    static HOST_DEVICE Value no_term(int) { return Value(-0.0); }
    static DEVICE Value no_factor() { return Value(1); }
    /* The start of results, unless the caller gives one. */
    static HOST_DEVICE Value start(int careful) { return careful == MAP_PRODUCT ? 1 : 0; }

    /* The sign, and some bits after it. */
    static DEVICE uint32_t highest_bits(Value value) {
        typename bits_of_size<sizeof(Value)>::type bits;
        memcpy(&bits, &value, sizeof value);
        return static_cast<uint32_t>(bits >> (8 * sizeof(Value) - 32));
    }

    /* Whether the rule gives the element, or result, that the careful one gives. `spoiled` becomes a NaN by a value
     * that is not finite, and stays one. */
    static DEVICE void look_at(const Element &element, Value &spoiled) {
        spoiled += element.factor * Value(0) + element.rest * Value(0) + element.term * Value(0);
    }
    static DEVICE void look_at(Value result, Value &spoiled) { spoiled += result * Value(0); }

    static DEVICE void put(Kept *at, const Element &element) {
        *at = Kept{element.factor, element.rest, element.term, element.reset ? Value(1) : Value(0)};
    }
    static DEVICE Element get(const Kept *at) {
        const Kept kept = *at;
        return Element{kept.factor, kept.rest, kept.term, kept.reset != 0 ? -1 : 0};
    }
    template <int RULE> static DEVICE Element from_lane_above(const Element &element, unsigned lanes) {
        return Element{warp_shuffle_up(WARP_ALL, element.factor, lanes), warp_shuffle_up(WARP_ALL, element.rest, lanes),
                       warp_shuffle_up(WARP_ALL, element.term, lanes),
                       RULE == MAP_PLAIN ? 0 : static_cast<int>(warp_shuffle_up(WARP_ALL, element.reset, lanes))};
    }

    static DEVICE Element read(const Stored *from) {
        Element element;
        element.factor = load_vector(&from->factor);
        element.rest = load_vector(&from->rest);
        element.term = load_vector(&from->term);
        element.reset = load_vector(&from->reset) != 0 ? -1 : 0;
        return element;
    }
    static DEVICE void write(Stored *to, const Element &element) {
        store_vector(&to->factor, element.factor);
        store_vector(&to->rest, element.rest + 0); /* no -0.0, as map_write() has it */
        store_vector(&to->term, element.term);
        store_vector(&to->reset, element.reset ? Value(1) : Value(0));
    }
    static DEVICE void write_value(Stored *to, Value value) { write(to, Element{0, 0, value, -1}); }
    static DEVICE Value prefix_at(const Stored *row) { return load_vector(&row->term); }
    static DEVICE void write_prefix(Stored *row, Value prefix) { store_vector(&row->term, prefix); }
    static DEVICE void write_before(Stored *row, Value result) { store_vector(&row->factor, result); }
    static DEVICE Value before_at(const Stored *row, bool is_first) {
        return load_vector(is_first ? &row->term : &row->factor);
    }
};

/* Numbers, which are elements as they are, and joined without rounding. RULE is a kernel_operation. */
template <class VALUE> struct number_ops {
    typedef VALUE Value, Element, Stored;
    static constexpr bool HAS_FACTORS = false, IS_ORDERED = false, IS_FLOAT = std::is_floating_point<VALUE>::value;
    typedef VALUE Kept;

    static DEVICE int first_rule(int careful) { return careful; }
    template <class RUN> static DEVICE void with_rule(int rule, const RUN &run) {
        if (rule == KERNEL_MAXIMUM)
            return run(std::integral_constant<int, KERNEL_MAXIMUM>());
        if (rule == KERNEL_MINIMUM)
            return run(std::integral_constant<int, KERNEL_MINIMUM>());
        if constexpr (std::is_unsigned<VALUE>::value)
            run(std::integral_constant<int, KERNEL_PRODUCT>());
    }
    static DEVICE int next_rule(int, int careful) { return careful; }
    template <class RUN> static DEVICE void with_any_rule(int rule, const RUN &run) { with_rule(rule, run); }
    template <class RUN> static DEVICE void with_careful_rule(int rule, const RUN &run) { with_rule(rule, run); }

    static HOST_DEVICE constexpr bool knows_nothing(int) { return true; }

    template <int RULE> static DEVICE Element of_cells(Value value, Value) { return value; }
    /* A NaN is above and below all. Of two zeros, +0 is the greater one. */
    template <int RULE> static DEVICE Element after(Element later, Element earlier) {
        if constexpr (RULE == KERNEL_PRODUCT) {
            return earlier * later;
        } else {
            const bool stays = RULE == KERNEL_MAXIMUM ? earlier > later : earlier < later;
            if constexpr (IS_FLOAT)
                if (earlier == 0 && later == 0)
                    return RULE == KERNEL_MAXIMUM ? earlier + later : -(-earlier - later);
            return stays || earlier != earlier ? earlier : later;
        }
    }
    template <int RULE> static DEVICE Element of_two_rows(Element later, Element earlier) {
        return after<RULE>(later, earlier);
    }
    template <int RULE> static DEVICE Value apply(Element element, Value before) {
        return after<RULE>(element, before);
    }
    /* Whether a product of unsigned integers, or of such as stand for signed ones, leaves its type. */
    static DEVICE bool leaves_type(Value a, Value b, bool is_signed) {
        constexpr unsigned SIGN = 8 * sizeof(Value) - 1, HALF = 4 * sizeof(Value);
        constexpr Value LOW = (Value(1) << HALF) - 1;
        const bool is_negative = is_signed && ((a ^ b) >> SIGN) != 0;
        a = is_signed && (a >> SIGN) != 0 ? 0 - a : a;
        b = is_signed && (b >> SIGN) != 0 ? 0 - b : b;
        const Value inner = (a >> HALF) * (b & LOW) + ((a & LOW) * (b & LOW) >> HALF);
        const Value other = (inner & LOW) + (a & LOW) * (b >> HALF);
        const Value high = (a >> HALF) * (b >> HALF) + (inner >> HALF) + (other >> HALF);
        const Value most = is_signed ? (Value(1) << SIGN) - !is_negative : ~Value(0);
        return high != 0 || a * b > most;
    }
    template <int RULE> static DEVICE Element settle(Element element) { return element; }
    template <int RULE> static DEVICE Element identity() { return no_term(RULE); }
    static HOST_DEVICE Value no_term(int rule) {
        if (rule == KERNEL_PRODUCT)
            return 1;
        if constexpr (IS_FLOAT)
            return rule == KERNEL_MAXIMUM ? -infinity() : infinity();
        else if constexpr (std::is_signed<VALUE>::value)
            return rule == KERNEL_MAXIMUM ? static_cast<Value>(Value(1) << (8 * sizeof(Value) - 1)) : greatest();
        else
            return rule == KERNEL_MAXIMUM ? 0 : static_cast<Value>(~Value(0));
    }
    static DEVICE Value no_factor() { return 0; }
    static HOST_DEVICE Value start(int rule) { return no_term(rule); }
    static DEVICE void look_at(Element, Value &) {}

    static DEVICE void put(Kept *at, Element element) { *at = element; }
    static DEVICE Element get(const Kept *at) { return *at; }
    template <int RULE> static DEVICE Element from_lane_above(Element element, unsigned lanes) {
        return warp_shuffle_up(WARP_ALL, element, lanes);
    }
    static DEVICE Element read(const Stored *from) { return load_vector(from); }
    static DEVICE void write(Stored *to, Element element) { store_vector(to, element); }
    static DEVICE void write_value(Stored *to, Value value) { store_vector(to, value); }
    static DEVICE Value prefix_at(const Stored *row) { return load_vector(row); }
    static DEVICE void write_prefix(Stored *row, Value prefix) { store_vector(row, prefix); }
    static DEVICE void write_before(Stored *, Value) {}
    static DEVICE Value before_at(const Stored *row, bool) { return load_vector(row); }

  private:
    static HOST_DEVICE Value infinity() {
        return sizeof(Value) == sizeof(float) ? Value(value_float_of_bits(0x7f800000)) : Value(HUGE_VAL);
    }
    static HOST_DEVICE Value greatest() {
        return static_cast<Value>(~static_cast<typename std::make_unsigned<Value>::type>(0) >> 1);
    }
};

/* Joins an element after the one above it; settled, as a block of units. */
template <class OPS, int RULE> struct join_elements {
    typedef typename OPS::Element Element;
    DEVICE Element operator()(const Element &earlier, const Element &later) const {
        return OPS::template after<RULE>(later, earlier);
    }
};
template <class OPS, int RULE> struct join_settled {
    typedef typename OPS::Element Element;
    DEVICE Element operator()(const Element &earlier, const Element &later) const {
        return OPS::template settle<RULE>(OPS::template after<RULE>(later, earlier));
    }
};
/* The value after an element, given the one before it. */
template <class OPS, int RULE> struct apply_after {
    DEVICE typename OPS::Value operator()(typename OPS::Value before, const typename OPS::Element &element) const {
        return OPS::template apply<RULE>(element, before);
    }
};

/* A block of units that waits for the one after it, and the value that it began with (as tree_level of sums). */
template <class OPS> struct waiting_block {
    typename OPS::Element element;
    typename OPS::Value begin;
    template <int RULE> DEVICE typename OPS::Value end() const { return OPS::template apply<RULE>(element, begin); }
};
template <class OPS, int RULE> struct join_waiting {
    DEVICE waiting_block<OPS> operator()(const waiting_block<OPS> &earlier, const waiting_block<OPS> &later) const {
        return waiting_block<OPS>{join_settled<OPS, RULE>()(earlier.element, later.element), earlier.begin};
    }
};

/* Calls run(OPS()) for the operation on values that are kept as that type. */
template <class RUN> static int with_ops(kernel_operation operation, table_type kept, const RUN &run) {
    const bool is_extreme = operation == KERNEL_MAXIMUM || operation == KERNEL_MINIMUM;
    switch (kept) {
    case TABLE_F32:
        return is_extreme ? run(number_ops<float>()) : run(map_ops<float>());
    case TABLE_F64:
        return is_extreme ? run(number_ops<double>()) : run(map_ops<double>());
    case TABLE_I32:
        return is_extreme ? run(number_ops<int32_t>()) : run(number_ops<uint32_t>());
    case TABLE_I64:
        return is_extreme ? run(number_ops<int64_t>()) : run(number_ops<uint64_t>());
    case TABLE_U32:
        return run(number_ops<uint32_t>());
    case TABLE_U64:
        return run(number_ops<uint64_t>());
    default:
        return static_cast<int>(cudaErrorInvalidValue);
    }
}

#endif
