/* Copies of rows from one stride to another, at any addresses, the values as another type on the way. Rows side by side
 * are one loop over memory, and so are rows of one value in the other order. Included by kernels.c. */
#define ANYWHERE __attribute__((packed, may_alias))

/* AS(value, &skipped): what is made of each value. */
#define DEFINE_CONVERT(name, TO, FROM, AS)                                                                             \
    static size_t name(void *to, ptrdiff_t to_stride, const void *from, ptrdiff_t from_stride, size_t rows,            \
                       size_t columns) {                                                                               \
        struct ANYWHERE to_value {                                                                                     \
            TO value;                                                                                                  \
        } *restrict out = to;                                                                                          \
        const struct ANYWHERE from_value { FROM value; } *restrict in = from;                                          \
        size_t skipped = 0;                                                                                            \
        if (to_stride == (ptrdiff_t)columns && from_stride == (ptrdiff_t)columns) {                                    \
            columns *= rows;                                                                                           \
            rows = rows > 0;                                                                                           \
        }                                                                                                              \
        if (columns == 1 && from_stride == -1 && to_stride == 1) {                                                     \
            in -= (ptrdiff_t)rows - 1;                                                                                 \
            for (size_t i = 0; i < rows; i++)                                                                          \
                out[i].value = AS(in[rows - 1 - i].value, &skipped);                                                   \
            return skipped;                                                                                            \
        }                                                                                                              \
        if (columns == 1 && from_stride == 1 && to_stride == -1) {                                                     \
            out -= (ptrdiff_t)rows - 1;                                                                                \
            for (size_t i = 0; i < rows; i++)                                                                          \
                out[rows - 1 - i].value = AS(in[i].value, &skipped);                                                   \
            return skipped;                                                                                            \
        }                                                                                                              \
        for (size_t i = 0; i < rows; i++, out += to_stride, in += from_stride)                                         \
            for (size_t j = 0; j < columns; j++)                                                                       \
                out[j].value = AS(in[j].value, &skipped);                                                              \
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
#define FLOAT_PAIRS(X)                                                                                                 \
    X(F16, f16, value_f16, F32, f32, float)                                                                            \
    X(F16, f16, value_f16, F64, f64, double)                                                                           \
    X(BF16, bf16, value_bf16, F32, f32, float)                                                                         \
    X(BF16, bf16, value_bf16, F64, f64, double)                                                                        \
    X(F32, f32, float, F32, f32, float)                                                                                \
    X(F32, f32, float, F64, f64, double)                                                                               \
    X(F64, f64, double, F64, f64, double)
#define DEFINE_SKIPPING(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                       \
    INLINE OUT_C skip_##IN##_##OUT(IN_C value, size_t *skipped) {                                                      \
        const OUT_C number = (OUT_C)value_of_##IN_NAME(value);                                                         \
        *skipped += number != number;                                                                                  \
        return number != number ? (OUT_C)-0.0 : number;                                                                \
    }                                                                                                                  \
    DEFINE_CONVERT(convert_skipping_##IN##_##OUT, OUT_C, IN_C, skip_##IN##_##OUT)
FLOAT_PAIRS(DEFINE_SKIPPING)
#undef DEFINE_SKIPPING
