/* Values of one type as another, as kernels know the types of sums alone. Compiled once for each instruction set, with
 * CONVERSIONS naming the table. */
#include <stdint.h>
#include <string.h>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* Values side by side: a loop of which compilers make vectors. */
#define DEFINE_RUN(name, TO, FROM, AS)                                                                                 \
    INLINE void name(char *restrict to, const char *restrict from, size_t count) {                                     \
        for (size_t i = 0; i < count; i++) {                                                                           \
            FROM value;                                                                                                \
            memcpy(&value, from + i * sizeof(FROM), sizeof(FROM));                                                     \
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

#define DEFINE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                           \
    INLINE OUT_C as_##IN##_##OUT(IN_C value) { return (OUT_C)value_of_##IN_NAME(value); }                              \
    DEFINE_RUN(run_##IN##_##OUT, OUT_C, IN_C, as_##IN##_##OUT)
TABLE_SUM_PAIRS(DEFINE_PAIR)
#undef DEFINE_PAIR
DEFINE_RUN(run_F32_F16, value_f16, float, value_f16_of)
DEFINE_RUN(run_F32_BF16, value_bf16, float, value_bf16_of)

/* What a vector can do with halves, with the bits of values.h: of a NaN no more is left than its sign. */
#if defined(__AVX512VL__) && defined(__AVX512BW__)
enum { HALVES = 16 };
INLINE void widen_halves(char *to, const char *from) {
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from)));
}
INLINE void round_halves(char *to, const char *from) {
    const __m512 values = _mm512_loadu_ps(from);
    const __mmask16 nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
    const __m256i halves = _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256i signs = _mm256_set1_epi16((short)0xfe00);
    _mm256_storeu_si256((__m256i *)to, _mm256_mask_mov_epi16(halves, nan, _mm256_and_si256(halves, signs)));
}
#elif defined(__F16C__)
enum { HALVES = 8 };
INLINE void widen_halves(char *to, const char *from) {
    _mm256_storeu_ps((float *)to, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from)));
}
INLINE void round_halves(char *to, const char *from) {
    const __m256 values = _mm256_loadu_ps((const float *)from);
    const __m128i halves = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m128i number = _mm_set1_epi16(0x7fff), infinity = _mm_set1_epi16(0x7c00), rest = _mm_set1_epi16(0x1ff);
    const __m128i nan = _mm_cmpgt_epi16(_mm_and_si128(halves, number), infinity);
    _mm_storeu_si128((__m128i *)to, _mm_andnot_si128(_mm_and_si128(nan, rest), halves));
}
#endif

#if defined(__F16C__)
INLINE void run_widened(char *restrict to, const char *restrict from, size_t count) {
    const size_t whole = count - count % HALVES;
    for (size_t i = 0; i < whole; i += HALVES)
        widen_halves(to + i * sizeof(float), from + i * sizeof(value_f16));
    run_F16_F32(to + whole * sizeof(float), from + whole * sizeof(value_f16), count - whole);
}
INLINE void run_rounded(char *restrict to, const char *restrict from, size_t count) {
    const size_t whole = count - count % HALVES;
    for (size_t i = 0; i < whole; i += HALVES)
        round_halves(to + i * sizeof(value_f16), from + i * sizeof(float));
    run_F32_F16(to + whole * sizeof(value_f16), from + whole * sizeof(float), count - whole);
}
#define run_F16_F32 run_widened
#define run_F32_F16 run_rounded
#endif

#define DEFINE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                           \
    DEFINE_CONVERT(convert_##IN##_##OUT, run_##IN##_##OUT, OUT_C, IN_C)
TABLE_SUM_PAIRS(DEFINE_PAIR)
#undef DEFINE_PAIR
DEFINE_CONVERT(convert_F32_F16, run_F32_F16, value_f16, float)
DEFINE_CONVERT(convert_F32_BF16, run_F32_BF16, value_bf16, float)

/* Makes NaN -0.0, and counts them. */
#define DEFINE_SKIP(name, TYPE)                                                                                        \
    static size_t name(void *values, size_t count) {                                                                   \
        TYPE *const number = values;                                                                                   \
        size_t skipped = 0;                                                                                            \
        for (size_t i = 0; i < count; i++) {                                                                           \
            skipped += number[i] != number[i];                                                                         \
            number[i] = number[i] != number[i] ? (TYPE)-0.0 : number[i];                                               \
        }                                                                                                              \
        return skipped;                                                                                                \
    }
DEFINE_SKIP(skip_nan_f32, float)
DEFINE_SKIP(skip_nan_f64, double)

#define CONVERT_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) [TABLE_##IN][TABLE_##OUT] = convert_##IN##_##OUT,

const struct cpu_conversions CONVERSIONS = {
    .convert = {TABLE_SUM_PAIRS(CONVERT_PAIR)[TABLE_F32][TABLE_F16] = convert_F32_F16, [TABLE_F32][TABLE_BF16] =
                                                                                           convert_F32_BF16},
    .skip_nan = {[TABLE_F32] = skip_nan_f32, [TABLE_F64] = skip_nan_f64},
};
