/* Values of one type as another, as kernels know the types of sums alone. Compiled once for each instruction set, with
 * CONVERSIONS naming the table. */
#include <stdint.h>
#include <string.h>

#include "instruction_set.h"
#include "kernels.h"

#define OPERATION  ADDITION
#define TYPE       F32
#define NAME(name) PASTE(name, f32)
#include "vector.h"

/* Values side by side: a loop of which compilers make vectors. Where the processor converts, some are not needed. */
#define DEFINE_RUN(name, TO, FROM, AS)                                                                                 \
    __attribute__((unused)) INLINE void name(char *restrict to, const char *restrict from, size_t count) {             \
        for (size_t i = 0; i < count; i++) {                                                                           \
            FROM value;                                                                                                \
            memcpy(&value, from + i * sizeof value, sizeof value);                                                     \
            const TO result = AS(value);                                                                               \
            memcpy(to + i * sizeof(TO), &result, sizeof(TO));                                                          \
        }                                                                                                              \
    }

/* Rows that lie side by side on both sides, in the same order, are one run. */
#define DEFINE_CONVERT(name, run, TO, FROM)                                                                            \
    static void name(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride, size_t rows,              \
                     size_t columns) {                                                                                 \
        char *out = to;                                                                                                \
        const char *in = from;                                                                                         \
        if (to_stride == from_stride && (size_t)(to_stride < 0 ? -to_stride : to_stride) == columns) {                 \
            const ptrdiff_t lowest = to_stride < 0 && rows > 0 ? (ptrdiff_t)(rows - 1) * to_stride : 0;                \
            run(out + lowest * (ptrdiff_t)sizeof(TO), in + lowest * (ptrdiff_t)sizeof(FROM), rows * columns);          \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t i = 0; i < rows; i++) {                                                                            \
            run(out, in, columns);                                                                                     \
            out += to_stride * (ptrdiff_t)sizeof(TO);                                                                  \
            in += from_stride * (ptrdiff_t)sizeof(FROM);                                                               \
        }                                                                                                              \
    }

/* value_of_bool() by arithmetic, as compilers make no vectors of a comparison of bytes that becomes a float. */
INLINE uint8_t truth_of(value_bool value) { return (uint8_t)((value.byte + 255u) >> 8); }
#define value_of_bool truth_of

#define DEFINE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                           \
    INLINE OUT_C as_##IN##_##OUT(IN_C value) { return (OUT_C)value_of_##IN_NAME(value); }                              \
    DEFINE_RUN(run_##IN##_##OUT, OUT_C, IN_C, as_##IN##_##OUT)
TABLE_SUM_PAIRS(DEFINE_PAIR)
#undef DEFINE_PAIR

/* Values that were widened, as what they were; what the narrower type does not have becomes its nearest value. */
#define AT_MOST(value, least, most) ((value) > (most) ? (most) : (value))
#define BETWEEN(value, least, most) ((value) < (least) ? (least) : AT_MOST(value, least, most))
#define DEFINE_NARROW(WIDE, WIDE_C, NARROW, NARROW_C, WITHIN, LEAST, MOST)                                             \
    INLINE NARROW_C as_##WIDE##_##NARROW(WIDE_C value) { return (NARROW_C)WITHIN(value, LEAST, MOST); }                \
    DEFINE_RUN(run_##WIDE##_##NARROW, NARROW_C, WIDE_C, as_##WIDE##_##NARROW)
#define NARROWED(X)                                                                                                    \
    X(U32, uint32_t, BOOL, uint8_t, AT_MOST, 0, 1)                                                                     \
    X(U32, uint32_t, U8, uint8_t, AT_MOST, 0, UINT8_MAX)                                                               \
    X(U32, uint32_t, U16, uint16_t, AT_MOST, 0, UINT16_MAX)                                                            \
    X(I32, int32_t, I8, int8_t, BETWEEN, INT8_MIN, INT8_MAX)                                                           \
    X(I32, int32_t, I16, int16_t, BETWEEN, INT16_MIN, INT16_MAX)
NARROWED(DEFINE_NARROW)
DEFINE_RUN(run_F32_F16, value_f16, float, value_f16_of)
DEFINE_RUN(run_F32_BF16, value_bf16, float, value_bf16_of)
DEFINE_RUN(run_F64_F32, float, double, (float))

/* Halves that kernels take are converted as they do it, two vectors at a time; the rest by the loops above. */
#define DEFINE_HALVES(format, widen, round, widen_rest, round_rest)                                                    \
    INLINE void widen(char *restrict to, const char *restrict from, size_t count) {                                    \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= count; i += LANES)                                                                         \
            NAME(store_as)(to, (ptrdiff_t)i, NAME(load_as)(from, (ptrdiff_t)i, format), CPU_AS_SUMS, false);           \
        widen_rest(to + 4 * i, from + 2 * i, count - i);                                                               \
    }                                                                                                                  \
    INLINE void round(char *restrict to, const char *restrict from, size_t count) {                                    \
        size_t i = 0;                                                                                                  \
        for (; i + 2 * LANES <= count; i += 2 * LANES)                                                                 \
            NAME(store_two_as)                                                                                         \
        (to, (ptrdiff_t)i, NAME(load_as)(from, (ptrdiff_t)i, CPU_AS_SUMS),                                             \
         NAME(load_as)(from, (ptrdiff_t)i + LANES, CPU_AS_SUMS), format, false);                                       \
        round_rest(to + 2 * i, from + 4 * i, count - i);                                                               \
    }
DEFINE_HALVES(CPU_BF16, widen_bf16_run, round_bf16_run, run_BF16_F32, run_F32_BF16)
#define run_BF16_F32 widen_bf16_run
#define run_F32_BF16 round_bf16_run
#if defined(__F16C__)
DEFINE_HALVES(CPU_F16, widen_f16_run, round_f16_run, run_F16_F32, run_F32_F16)
#define run_F16_F32 widen_f16_run
#define run_F32_F16 round_f16_run

/* Values go by way of f32: what the processor does not convert is slow for numbers that are not normal. */
INLINE void widen_twice(char *restrict to, const char *restrict from, size_t count) {
    enum { AT_ONCE = 256 };
    char floats[AT_ONCE * sizeof(float)];
    for (size_t done = 0, more; done < count; done += more) {
        more = count - done < AT_ONCE ? count - done : AT_ONCE;
        run_F16_F32(floats, from + 2 * done, more);
        run_F32_F64(to + 8 * done, floats, more);
    }
}
#define run_F16_F64 widen_twice
#endif

#define DEFINE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                           \
    DEFINE_CONVERT(convert_##IN##_##OUT, run_##IN##_##OUT, OUT_C, IN_C)
TABLE_SUM_PAIRS(DEFINE_PAIR)
#undef DEFINE_PAIR
#define DEFINE_NARROW_ROWS(WIDE, WIDE_C, NARROW, NARROW_C, WITHIN, LEAST, MOST)                                        \
    DEFINE_CONVERT(convert_##WIDE##_##NARROW, run_##WIDE##_##NARROW, NARROW_C, WIDE_C)
NARROWED(DEFINE_NARROW_ROWS)
DEFINE_CONVERT(convert_F32_F16, run_F32_F16, value_f16, float)
DEFINE_CONVERT(convert_F32_BF16, run_F32_BF16, value_bf16, float)
DEFINE_CONVERT(convert_F64_F32, run_F64_F32, float, double)

/* Makes NaN the value that is nothing, and counts them. */
#define DEFINE_SKIP(name, TYPE)                                                                                        \
    static size_t name(void *values, size_t count, const void *nothing) {                                              \
        TYPE *const number = values, none = *(const TYPE *)nothing;                                                    \
        size_t nans = 0;                                                                                               \
        for (size_t i = 0; i < count; i++) {                                                                           \
            nans += number[i] != number[i];                                                                            \
            number[i] = number[i] != number[i] ? none : number[i];                                                     \
        }                                                                                                              \
        return nans;                                                                                                   \
    }
DEFINE_SKIP(clear_nan_f32, float)
DEFINE_SKIP(clear_nan_f64, double)

#define CONVERT_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) [TABLE_##IN][TABLE_##OUT] = convert_##IN##_##OUT,

#define CONVERT_NARROWED(WIDE, WIDE_C, NARROW, NARROW_C, WITHIN, LEAST, MOST)                                          \
    [TABLE_##WIDE][TABLE_##NARROW] = convert_##WIDE##_##NARROW,

const struct cpu_conversions CONVERSIONS = {
    .convert = {TABLE_SUM_PAIRS(CONVERT_PAIR) NARROWED(CONVERT_NARROWED)[TABLE_F32][TABLE_F16] = convert_F32_F16,
                [TABLE_F32][TABLE_BF16] = convert_F32_BF16, [TABLE_F64][TABLE_F32] = convert_F64_F32},
    .clear_nan = {[TABLE_F32] = clear_nan_f32, [TABLE_F64] = clear_nan_f64},
};
