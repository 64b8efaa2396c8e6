/* Copies of rows from one stride to another, the values made wider on the way. The cases of rows side by side and of
 * few columns are one loop over memory. Included by kernels.c. */
#define DEFINE_CONVERT(name, TO, FROM)                                                                                 \
    static void name(void *to, size_t to_stride, const void *from, size_t from_stride, size_t rows, size_t columns) {  \
        TO *out = to;                                                                                                  \
        const FROM *in = from;                                                                                         \
        if (to_stride == columns && from_stride == columns) {                                                          \
            columns *= rows;                                                                                           \
            rows = rows > 0;                                                                                           \
        }                                                                                                              \
        for (size_t i = 0; i < rows; i++, out += to_stride, in += from_stride)                                         \
            for (size_t j = 0; j < columns; j++)                                                                       \
                out[j] = (TO)in[j];                                                                                    \
    }

#define DEFINE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) DEFINE_CONVERT(convert_##IN##_##OUT, OUT_C, IN_C)
TABLE_PAIRS(DEFINE_PAIR)
#undef DEFINE_PAIR
