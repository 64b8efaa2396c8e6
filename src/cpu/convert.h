/* Copies of rows from one stride to another, at any addresses, the values as another type on the way. Rows side by side
 * are one loop over memory, and so are rows of one value in the other order. Included by kernels.c. */

/* AS(value, &skipped): what is made of the value at `from`, which is put at `to`. */
#define CONVERT_ONE(TO, FROM, AS, to, from)                                                                            \
    do {                                                                                                               \
        FROM value;                                                                                                    \
        memcpy(&value, from, sizeof value);                                                                            \
        const TO result = AS(value, &skipped);                                                                         \
        memcpy(to, &result, sizeof result);                                                                            \
    } while (0)

#define DEFINE_CONVERT(name, TO, FROM, AS)                                                                             \
    static size_t name(void *restrict to, ptrdiff_t to_stride, const void *restrict from, ptrdiff_t from_stride,       \
                       size_t rows, size_t columns) {                                                                  \
        enum { OUT = sizeof(TO), IN = sizeof(FROM) };                                                                  \
        char *restrict out = to;                                                                                       \
        const char *restrict in = from;                                                                                \
        const ptrdiff_t turned = (ptrdiff_t)rows - 1;                                                                  \
        size_t skipped = 0;                                                                                            \
        if (to_stride == (ptrdiff_t)columns && from_stride == (ptrdiff_t)columns) {                                    \
            for (size_t i = 0; i < rows * columns; i++)                                                                \
                CONVERT_ONE(TO, FROM, AS, out + i * OUT, in + i * IN);                                                 \
            return skipped;                                                                                            \
        }                                                                                                              \
        if (columns == 1 && from_stride == -1 && to_stride == 1) {                                                     \
            in -= turned * IN;                                                                                         \
            for (ptrdiff_t i = 0; i <= turned; i++)                                                                    \
                CONVERT_ONE(TO, FROM, AS, out + i * OUT, in + (turned - i) * IN);                                      \
            return skipped;                                                                                            \
        }                                                                                                              \
        if (columns == 1 && from_stride == 1 && to_stride == -1) {                                                     \
            out -= turned * OUT;                                                                                       \
            for (ptrdiff_t i = 0; i <= turned; i++)                                                                    \
                CONVERT_ONE(TO, FROM, AS, out + (turned - i) * OUT, in + i * IN);                                      \
            return skipped;                                                                                            \
        }                                                                                                              \
        for (size_t i = 0; i < rows; i++, out += to_stride * OUT, in += from_stride * IN)                              \
            for (size_t j = 0; j < columns; j++)                                                                       \
                CONVERT_ONE(TO, FROM, AS, out + j * OUT, in + j * IN);                                                 \
        return skipped;                                                                                                \
    }

#define DEFINE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                           \
    INLINE OUT_C as_##IN##_##OUT(IN_C value, size_t *skipped) {                                                        \
        (void)skipped;                                                                                                 \
        return (OUT_C)value_of_##IN_NAME(value);                                                                       \
    }                                                                                                                  \
    DEFINE_CONVERT(convert_##IN##_##OUT, OUT_C, IN_C, as_##IN##_##OUT)
TABLE_SUM_PAIRS(DEFINE_PAIR)
#undef DEFINE_PAIR

/* The results whose sums are kept in f32. */
INLINE value_f16 as_F32_F16(float value, size_t *skipped) {
    (void)skipped;
    return value_f16_of(value);
}
INLINE value_bf16 as_F32_BF16(float value, size_t *skipped) {
    (void)skipped;
    return value_bf16_of(value);
}
DEFINE_CONVERT(convert_F32_F16, value_f16, float, as_F32_F16)
DEFINE_CONVERT(convert_F32_BF16, value_bf16, float, as_F32_BF16)

/* Values that may be NaN, which then counts as nothing. */
#define DEFINE_SKIPPING(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                       \
    INLINE OUT_C skip_##IN##_##OUT(IN_C value, size_t *skipped) {                                                      \
        const OUT_C number = (OUT_C)value_of_##IN_NAME(value);                                                         \
        *skipped += number != number;                                                                                  \
        return number != number ? (OUT_C)-0.0 : number;                                                                \
    }                                                                                                                  \
    DEFINE_CONVERT(convert_skipping_##IN##_##OUT, OUT_C, IN_C, skip_##IN##_##OUT)
TABLE_FLOAT_PAIRS(DEFINE_SKIPPING)
#undef DEFINE_SKIPPING
