/* Recurrences and products of floats of segments, whose elements are maps (operators/operator_ops.cuh). A thread takes
 * a unit of a segment in one column, row after row; then one a segment and column goes through the totals of its units.
 * That is the tree of tuplescan/linear_recurrence.h, as each segment has it by itself. */
#include "operators/operator_launch.cuh"
#include "segments/segment_carries.cuh"

/* The steps of a pass, a launch each. RESULTS_BELOW: of exclusive results, those in the first rows of units that follow
 * others, which in place are read before. */
enum class map_step : uint8_t { TOTALS, PREFIXES, RESULTS, RESULTS_BELOW };

struct map_pass {
    segment_where where;
    const uint32_t *owners;
    size_t places; /* of passed units: rows of the table of units (segment_plan.cuh) */
    size_t columns;
    cell_table in, out;
    factor_table factors;
    const void *carry_in;
    void *carry_out;
    void *totals;   /* of passed units; then their last results */
    void *prefixes; /* of the units that follow them */
    bool exclusive, is_product;
};

/* A unit of a segment: rows of the table, from its first one on. */
struct map_unit {
    uint64_t first_row, number, place; /* place: of the unit, if it is passed */
    unsigned rows;                     /* 0: there is none */
    bool is_passed;
};

template <class OPS, int RULE> struct map_column {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef typename OPS::Stored Stored;
    const map_pass &pass;
    const size_t column;

    DEVICE Stored *total_at(uint64_t place) const {
        return static_cast<Stored *>(pass.totals) + place * pass.columns + column;
    }
    DEVICE Value *prefix_at(uint64_t place) const {
        return static_cast<Value *>(pass.prefixes) + place * pass.columns + column;
    }
    DEVICE size_t row_of_segment(uint64_t segment) const {
        return pass.where.number_of(segment) * pass.columns + column;
    }
    DEVICE Value start_of(uint64_t segment) const {
        return pass.carry_in ? load_vector(static_cast<const Value *>(pass.carry_in) + row_of_segment(segment))
                             : OPS::start(RULE);
    }
    DEVICE void put_end(uint64_t segment, Value value) const {
        if (pass.carry_out)
            store_vector(static_cast<Value *>(pass.carry_out) + row_of_segment(segment), value);
    }
    DEVICE void put_result(uint64_t row, Value value) const {
        if (pass.out.data)
            put_cell(pass.out.data + (static_cast<ptrdiff_t>(row) * pass.out.stride + static_cast<ptrdiff_t>(column)) *
                                         static_cast<ptrdiff_t>(pass.out.any.size),
                     value, pass.out.any);
    }
    DEVICE Value cell(const cell_table &table, uint64_t row, size_t of_column) const {
        return any_value_at<Value>(
            table.data, static_cast<ptrdiff_t>(row) * table.stride + static_cast<ptrdiff_t>(of_column), table.any);
    }
    DEVICE Element element(uint64_t row, bool begins_segment) const {
        if (pass.is_product) {
            const Value factor = cell(pass.in, row, column);
            return OPS::template of_cells<RULE>(
                0, pass.factors.cells.any.without_nan && factor != factor ? OPS::no_factor() : factor);
        }
        const factor_table &from = pass.factors;
        const Value factor = from.shifted && begins_segment
                                 ? Value(0)
                                 : cell(from.cells, row - from.shifted, from.per_column ? column : 0);
        return OPS::template of_cells<RULE>(cell(pass.in, row, column), factor);
    }
    static DEVICE Element after(const Element &later, const Element &earlier) {
        return OPS::template after<RULE>(later, earlier);
    }
    static DEVICE Element settle(const Element &element) { return OPS::template settle<RULE>(element); }
    static DEVICE Value apply(const Element &element, Value before) {
        return OPS::template apply<RULE>(element, before);
    }

    /* Calls visit(row, the element of the unit's rows through this one) down a unit. levels[k]: the longest block of
     * 2^k rows above that is a digit of the number of rows so far. */
    template <class VISIT> DEVICE void each_row(const map_unit &unit, const VISIT &visit) const {
        Element levels[UNIT_BITS + 1]; /* the last row makes the unit whole */
        KEEP_LOOP
        for (unsigned row = 0; row < unit.rows; row++) {
            Element own = element(unit.first_row + row, unit.number == 0 && row == 0);
            const unsigned level = push_total(row, levels, own, join_elements<OPS, RULE>());
            each_digit_up(row, level, UNIT_BITS, [&](unsigned k) { own = after(own, levels[k]); });
            visit(unit.first_row + row, own);
        }
    }

    /* The passed unit at a place, if there is one. */
    DEVICE map_unit unit_at(uint64_t place) const {
        const segment_range range = pass.where.range(load_vector(pass.owners + place));
        const uint64_t first = range.begin >> UNIT_BITS, number = place - first;
        const bool is_passed = first <= place && range.rows > (number + 1) << UNIT_BITS;
        return map_unit{range.begin + (number << UNIT_BITS), number, place, is_passed ? UNIT_ROWS : 0, is_passed};
    }
    DEVICE map_unit last_unit(const segment_range &range) const {
        const uint64_t number = (range.rows - 1) >> UNIT_BITS;
        return map_unit{range.begin + (number << UNIT_BITS), number, (range.begin >> UNIT_BITS) + number,
                        static_cast<unsigned>(range.rows - (number << UNIT_BITS)), false};
    }

    DEVICE void make_total(uint64_t place) const {
        Element total;
        const map_unit unit = unit_at(place);
        each_row(unit, [&](uint64_t, const Element &through) { total = through; });
        if (unit.rows > 0)
            OPS::write(total_at(place), total);
    }
    /* Prefixes of the units of a segment but the first. */
    DEVICE void make_prefixes(uint64_t segment) const {
        constexpr unsigned LEVELS = 32;
        const segment_range range = pass.where.range(segment);
        const uint64_t units = range.rows == 0 ? 0 : (range.rows - 1) >> UNIT_BITS;
        waiting_block<OPS> levels[LEVELS];
        Value prefix = start_of(segment);
        KEEP_LOOP
        for (uint64_t number = 0; number < units; number++) {
            const uint64_t place = (range.begin >> UNIT_BITS) + number;
            waiting_block<OPS> block = {settle(OPS::read(total_at(place))), prefix};
            push_total(number, levels, block, join_waiting<OPS, RULE>());
            prefix = block.template end<RULE>();
            store_vector(prefix_at(place), prefix);
        }
    }
    DEVICE void make_results(const map_unit &unit, uint64_t segment) const {
        const Value prefix = unit.number == 0 ? start_of(segment) : load_vector(prefix_at(unit.place - 1));
        Value last = prefix;
        each_row(unit, [&](uint64_t row, const Element &through) {
            const Value result = apply(through, prefix);
            if (!pass.exclusive)
                put_result(row, result);
            else if (unit.number == 0 || row != unit.first_row)
                put_result(row, last);
            last = result;
        });
        if (unit.is_passed)
            OPS::write_prefix(total_at(unit.place), last);
        else
            put_end(segment, last);
    }
    DEVICE void take(map_step step, uint64_t index) const {
        if (step == map_step::TOTALS)
            return make_total(index);
        if (step == map_step::PREFIXES)
            return make_prefixes(index);
        if (index >= pass.places) {
            const uint64_t segment = index - pass.places;
            const segment_range range = pass.where.range(segment);
            return range.rows > 0 ? make_results(last_unit(range), segment) : put_end(segment, start_of(segment));
        }
        const map_unit unit = unit_at(index);
        if (unit.rows > 0 && step == map_step::RESULTS)
            make_results(unit, load_vector(pass.owners + index));
        else if (unit.rows > 0)
            put_result(unit.first_row + UNIT_ROWS, OPS::prefix_at(total_at(index)));
    }
};

constexpr unsigned MAP_THREADS = 128;
template <class OPS> KERNEL LAUNCH_BOUNDS(MAP_THREADS, 1) segment_maps_kernel(map_pass pass, map_step step) {
    const uint64_t segments = pass.where.count();
    if (!pass.where.is_right() || segments == 0)
        return;
    const uint64_t count = (step == map_step::PREFIXES  ? segments
                            : step == map_step::RESULTS ? pass.places + segments
                                                        : pass.places) *
                           pass.columns;
    OPS::with_careful_rule(pass.is_product ? MAP_PRODUCT : MAP_CAREFUL, [&](auto rule) {
        each_index(count, [&](uint64_t index) {
            const uint64_t number = index / pass.columns;
            map_column<OPS, decltype(rule)::value>{pass, static_cast<size_t>(index - number * pass.columns)}.take(
                step, number);
        });
    });
}

template <class OPS> static map_pass make_map_pass(const kernel_segmented_pass &from, const segment_plan &plan) {
    typedef typename OPS::Value Value;
    const kernel_operator_pass given = {from.pass, from.operation, from.kept, from.factors};
    map_pass pass = {};
    pass.where = plan.where;
    pass.owners = plan.owners;
    pass.places = plan.unit_rows;
    pass.columns = from.pass.columns;
    pass.is_product = from.operation == KERNEL_PRODUCT;
    pass.exclusive = from.pass.exclusive != 0;
    pass.in = cells_in<Value>(from.pass, 0, 1);
    pass.in.any.without_nan = from.pass.load.without_nan && !pass.is_product;
    pass.out = cells_out<Value>(from.pass, 0, 1);
    pass.factors = factors_of<Value>(given, 1, UNIT_ROWS);
    pass.factors.cells.any.without_nan = from.pass.load.without_nan && pass.is_product;
    pass.carry_in = plan.carry_in;
    pass.carry_out = from.carry_out;
    pass.totals = plan.totals;
    pass.prefixes = plan.prefixes;
    return pass;
}

int run_segment_maps(const kernel_segmented_pass &from, const segment_plan &plan) {
    const auto run = [&](auto ops) {
        typedef decltype(ops) Ops;
        const map_pass pass = make_map_pass<Ops>(from, plan);
        const auto take = [&](map_step step, size_t most) {
            return launch(segment_maps_kernel<Ops>, each_blocks(most * pass.columns * 2), MAP_THREADS, 0,
                          from.pass.stream, pass, step);
        };
        const size_t results = pass.places + plan.most_segments;
        int error = pass.places > 0 ? take(map_step::TOTALS, pass.places) : 0;
        if (error == 0 && pass.places > 0)
            error = take(map_step::PREFIXES, plan.most_segments);
        if (error == 0)
            error = take(map_step::RESULTS, results);
        return error == 0 && pass.places > 0 && pass.exclusive ? take(map_step::RESULTS_BELOW, pass.places) : error;
    };
    return with_float(from.kept, [&](auto value) { return run(map_ops<decltype(value)>()); });
}
