/* Between memory and sums: the one place that knows how a value becomes a sum, and a sum a result.
 *
 * Kernels are made for families of types, of one size of values and one type of sums. The types of a family differ in
 * the kind of their values, which a pass knows at run time: values come into registers as they are, as raw sums, and
 * tile_convert() (tile/load.cuh) makes sums of them, all at once, in a branch that all threads take together. */
#ifndef TILE_VALUE_CUH
#define TILE_VALUE_CUH

#include <cstring>
#include <type_traits>

#include "kernels.h"
#include "tile/sum.cuh"
#include "tile/vector.cuh"
#include "types.h"
#include "values.h"

/* PLAIN: a raw sum is the sum. The others are integers with a sign that are widened, truth values, small floats, and
 * results of f32 whose sums are kept as f64. */
enum class value_kind : uint8_t { PLAIN, SIGNED, TRUTH, F16, BF16, F32 };

static inline value_kind kind_of_type(table_type type) {
    switch (type) {
    case TABLE_I8:
    case TABLE_I16:
    case TABLE_I32:
        return value_kind::SIGNED;
    case TABLE_BOOL:
        return value_kind::TRUTH;
    case TABLE_F16:
        return value_kind::F16;
    case TABLE_BF16:
        return value_kind::BF16;
    default:
        return value_kind::PLAIN;
    }
}

static inline value_kind kind_of_result(table_type type) {
    const value_kind kind = kind_of_type(type);
    if (type == KERNEL_F32_OF_F64)
        return value_kind::F32;
    return kind == value_kind::F16 || kind == value_kind::BF16 ? kind : value_kind::PLAIN;
}

/* Values of a family, as kernels read them: small floats; and values of any type that has such sums, where the pass
 * knows the type (tile/any_load.cuh). The latter have the size of a sum, as their magnitude is not known. */
struct small_float {
    uint16_t bits;
};
template <class SUM> struct any_value { SUM sum; };
struct any_type {
    uint8_t type, size;         /* a table_type, and its bytes */
    bool by_bytes, without_nan; /* values are not aligned to their size; a NaN counts as nothing */
};

template <class INPUT> struct input_traits { static constexpr bool ANY = false, LOOSE = false; };
template <> struct input_traits<small_float> { static constexpr bool ANY = false, LOOSE = true; };
template <class SUM> struct input_traits<any_value<SUM>> { static constexpr bool ANY = true, LOOSE = true; };

/* A small float that changes no sum: -0.0 of either kind. */
template <> DEVICE small_float sum_identity<small_float>() { return small_float{0x8000}; }

/* Whether integers become floats. */
template <class INPUT, class SUM> HOST_DEVICE constexpr bool is_from_integer() {
    return std::is_integral<INPUT>::value && std::is_floating_point<SUM>::value;
}

/* Whether a value is no number. */
template <class INPUT> DEVICE bool is_nan(INPUT value, [[maybe_unused]] value_kind kind) {
    if constexpr (std::is_same<INPUT, small_float>::value)
        return (value.bits & 0x7fff) > (kind == value_kind::BF16 ? 0x7f80 : 0x7c00); /* infinity */
    else
        return value != value;
}

/* A raw sum: an integer without a sign, or the bits of a small float. */
template <class SUM, class INPUT> DEVICE SUM raw_sum(INPUT value) {
    if constexpr (std::is_same<INPUT, small_float>::value)
        return value_float_of_bits(value.bits);
    else
        return SUM(value);
}

/* Whether raw sums of INPUT may need a conversion. */
template <class INPUT, class SUM> HOST_DEVICE constexpr bool may_convert() {
    return std::is_same<INPUT, small_float>::value || (std::is_integral<INPUT>::value && sizeof(INPUT) < sizeof(SUM));
}

/* Integers that were read as words become wider sums by one instruction for each word of a sum, with a sign or without,
 * which chooses for each byte of the sum a byte of the word or its sign (choose_bytes()). Truth values are not
 * converted by it. */
struct widening {
    uint32_t low[4]; /* given the value's place in its word */
    uint32_t high;   /* of a sum of 8 bytes, given its lower word */
    uint32_t flip;   /* the highest bits of four bytes with a sign: without it, each of them counts as 128 more */
};
static inline widening widening_of(value_kind kind, size_t bytes) {
    const bool is_signed = kind == value_kind::SIGNED;
    if (bytes == sizeof(uint32_t))
        return is_signed ? widening{{}, 0xbbbb, 0} : widening{{}, 0x4444, 0};
    if (bytes == sizeof(uint16_t))
        return is_signed ? widening{{0x9910, 0xbb32, 0, 0}, 0xbbbb, 0} : widening{{0x4410, 0x4432, 0, 0}, 0x4444, 0};
    return is_signed ? widening{{0x8880, 0x9991, 0xaaa2, 0xbbb3}, 0xbbbb, 0x80808080}
                     : widening{{0x4440, 0x4441, 0x4442, 0x4443}, 0x4444, 0};
}
template <class INPUT, class SUM> HOST_DEVICE constexpr bool is_widened() {
    return std::is_integral<INPUT>::value && sizeof(INPUT) < sizeof(SUM);
}

/* Neighbouring values in words, or in a part of one. */
template <unsigned BYTES> struct part_of_word { typedef uint32_t type; };
template <> struct part_of_word<1> { typedef uint8_t type; };
template <> struct part_of_word<2> { typedef uint16_t type; };
template <class INPUT, unsigned COUNT> using word_vector =
    vector_of<typename part_of_word<sizeof(INPUT) * COUNT>::type,
              sizeof(INPUT) * COUNT <= sizeof(uint32_t) ? 1 : sizeof(INPUT) * COUNT / sizeof(uint32_t)>;

/* Turns truth values into 0 or 1, whatever is in their bytes: all values of some words, in one branch. */
template <class WORD, unsigned LENGTH, unsigned COUNT>
DEVICE void count_truths(value_kind kind, vector_of<WORD, LENGTH> (&words)[COUNT]) {
    constexpr uint32_t LOW = 0x7f7f7f7f, ONES = 0x01010101;
    if (kind == value_kind::TRUTH)
        UNROLL
    for (unsigned k = 0; k < COUNT * LENGTH; k++) {
        WORD &word = words[k / LENGTH].at[k % LENGTH];
        word = static_cast<WORD>((((word & LOW) + LOW) | word) >> 7 & ONES);
    }
}
template <unsigned COUNT> DEVICE void count_truths(value_kind kind, uint32_t (&words)[COUNT]) {
    count_truths(kind, reinterpret_cast<vector_of<uint32_t, 1>(&)[COUNT]>(words));
}

template <class INPUT, unsigned COUNT, class SUM>
DEVICE void widen(const widening &how, const word_vector<INPUT, COUNT> &words, SUM (&sums)[COUNT]) {
    constexpr unsigned EACH = sizeof(uint32_t) / sizeof(INPUT);
    UNROLL
    for (unsigned k = 0; k < COUNT; k++) {
        const uint32_t low = EACH == 1 ? words.at[k] : choose_bytes(words.at[k / EACH], how.low[k % EACH]);
        uint64_t wide = low;
        if constexpr (sizeof(SUM) > sizeof(uint32_t))
            wide |= static_cast<uint64_t>(choose_bytes(low, how.high)) << 32;
        if constexpr (!is_from_integer<INPUT, SUM>())
            sums[k] = static_cast<SUM>(wide);
        else if constexpr (EACH > 1)
            sums[k] = static_cast<SUM>(static_cast<int32_t>(low));
        else
            sums[k] = static_cast<SUM>(static_cast<int64_t>(wide));
    }
}

/* From the raw sum of a value of INPUT to its sum, by kind. */
template <value_kind KIND, class INPUT, class SUM> DEVICE SUM converted(SUM raw) {
    if constexpr (KIND == value_kind::SIGNED)
        return SUM(typename std::make_signed<INPUT>::type(INPUT(raw)));
    else if constexpr (KIND == value_kind::TRUTH)
        return SUM(raw != 0);
    else if constexpr (KIND == value_kind::F16)
        return float_of_f16(static_cast<uint16_t>(value_bits_of_float(raw)));
    else if constexpr (KIND == value_kind::BF16)
        return value_float_of_bits(value_bits_of_float(raw) << 16);
    else
        return raw;
}

/* Calls run(kind), a constant, with the kind that values of INPUT have, unless that needs no conversion. */
template <value_kind KIND> using kind_constant = std::integral_constant<value_kind, KIND>;
template <class INPUT, class RUN> DEVICE void with_kind(value_kind kind, const RUN &run) {
    if constexpr (std::is_same<INPUT, small_float>::value) {
        if (kind == value_kind::BF16)
            run(kind_constant<value_kind::BF16>());
        else
            run(kind_constant<value_kind::F16>());
    } else {
        if (kind == value_kind::SIGNED)
            run(kind_constant<value_kind::SIGNED>());
        if constexpr (sizeof(INPUT) == 1)
            if (kind == value_kind::TRUTH)
                run(kind_constant<value_kind::TRUTH>());
    }
}

/* A value of the table as a sum. */
template <class SUM, class INPUT> DEVICE SUM sum_of_value(INPUT value, value_kind kind) {
    SUM sum = raw_sum<SUM>(value);
    if constexpr (may_convert<INPUT, SUM>())
        with_kind<INPUT>(kind, [&](auto known) { sum = converted<decltype(known)::value, INPUT>(sum); });
    return sum;
}

/* The target of results that are not always sums as they are: a place in the table, counted in results. KIND is the
 * kind of floats that are rounded once, on their way out; or PLAIN. */
template <class SUM> struct loose_target {
    unsigned char *at;
    value_kind kind;
    bool by_bytes; /* results are not aligned to their size */

    static constexpr size_t ROUNDED = std::is_same<SUM, double>::value ? sizeof(float) : sizeof(uint16_t);
    DEVICE ptrdiff_t size() const { return kind == value_kind::PLAIN ? sizeof(SUM) : ROUNDED; }
    DEVICE loose_target operator+(ptrdiff_t count) const { return loose_target{at + count * size(), kind, by_bytes}; }
    DEVICE loose_target operator-(ptrdiff_t count) const { return *this + -count; }
    DEVICE loose_target &operator+=(ptrdiff_t count) { return *this = *this + count; }
};

/* Where small floats of a KIND go that are aligned to their size. */
template <value_kind KIND> struct rounded_target {
    uint16_t *at;

    DEVICE rounded_target operator+(ptrdiff_t count) const { return rounded_target{at + count}; }
    DEVICE rounded_target operator-(ptrdiff_t count) const { return rounded_target{at - count}; }
    DEVICE rounded_target &operator+=(ptrdiff_t count) { return *this = *this + count; }
};

/* A value or result that is not aligned to its size, a byte at a time. */
template <class BYTE> DEVICE_CALL uint64_t load_bytes(const BYTE *from, unsigned count) {
    uint64_t bits = 0;
    KEEP_LOOP
    for (unsigned k = 0; k < count; k++)
        bits |= static_cast<uint64_t>(load_vector(from + k)) << 8 * k;
    return bits;
}
template <class BYTE> DEVICE_CALL void store_bytes(BYTE *to, uint64_t bits, unsigned count) {
    KEEP_LOOP
    for (unsigned k = 0; k < count; k++)
        store_vector(to + k, static_cast<BYTE>(bits >> 8 * k));
}
template <class V> DEVICE void store_any(unsigned char *to, bool by_bytes, const V &value) {
    if (!by_bytes) {
        store_vector(reinterpret_cast<V *>(to), value);
    } else if constexpr (sizeof value <= sizeof(uint64_t)) { /* vectors are aligned */
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof value);
        store_bytes(to, bits, sizeof value);
    }
}

/* Sums as small floats, two at a time. */
template <value_kind KIND, unsigned COUNT> DEVICE auto rounded(const vector_of<float, COUNT> &sums) {
    constexpr bool IS_F16 = KIND == value_kind::F16;
    if constexpr (COUNT == 1) {
        return vector_of<uint16_t, 1>{{IS_F16 ? f16_of_float(sums.at[0]) : bf16_of_float(sums.at[0])}};
    } else {
        vector_of<uint32_t, COUNT / 2> pairs;
        UNROLL
        for (unsigned k = 0; k < COUNT; k += 2)
            pairs.at[k / 2] =
                IS_F16 ? f16_pair_of(sums.at[k], sums.at[k + 1]) : bf16_pair_of(sums.at[k], sums.at[k + 1]);
        return pairs;
    }
}

template <unsigned COUNT> DEVICE vector_of<float, COUNT> rounded_to_f32(const vector_of<double, COUNT> &sums) {
    vector_of<float, COUNT> results;
    UNROLL
    for (unsigned k = 0; k < COUNT; k++)
        results.at[k] = static_cast<float>(sums.at[k]);
    return results;
}

/* Writes neighbouring results. */
template <class SUM, unsigned COUNT> DEVICE void store_results(SUM *to, const vector_of<SUM, COUNT> &sums) {
    store_vector(reinterpret_cast<vector_of<SUM, COUNT> *>(to), sums);
}
template <class SUM, unsigned COUNT>
DEVICE void store_results(const loose_target<SUM> &to, const vector_of<SUM, COUNT> &sums) {
    if constexpr (std::is_same<SUM, float>::value) {
        if (to.kind == value_kind::F16)
            return store_any(to.at, COUNT == 1 && to.by_bytes, rounded<value_kind::F16>(sums));
        if (to.kind == value_kind::BF16)
            return store_any(to.at, COUNT == 1 && to.by_bytes, rounded<value_kind::BF16>(sums));
    }
    if constexpr (std::is_same<SUM, double>::value)
        if (to.kind == value_kind::F32)
            return store_any(to.at, COUNT == 1 && to.by_bytes, rounded_to_f32(sums));
    store_any(to.at, COUNT == 1 && to.by_bytes, sums);
}
template <value_kind KIND, unsigned COUNT>
DEVICE void store_results(const rounded_target<KIND> &to, const vector_of<float, COUNT> &sums) {
    typedef decltype(rounded<KIND>(sums)) vector;
    store_vector(reinterpret_cast<vector *>(to.at), rounded<KIND>(sums));
}
template <class SUM> DEVICE void store_result(SUM *to, SUM sum) { *to = sum; }
template <class TARGET, class SUM> DEVICE void store_result(const TARGET &to, SUM sum) {
    store_results(to, vector_of<SUM, 1>{{sum}});
}

#endif
