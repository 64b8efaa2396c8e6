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

DEFINE_CONVERT(convert_u8_u32, uint32_t, uint8_t)
DEFINE_CONVERT(convert_u8_u64, uint64_t, uint8_t)
DEFINE_CONVERT(convert_u16_u32, uint32_t, uint16_t)
DEFINE_CONVERT(convert_u16_u64, uint64_t, uint16_t)
DEFINE_CONVERT(convert_u32_u32, uint32_t, uint32_t)
DEFINE_CONVERT(convert_u32_u64, uint64_t, uint32_t)
DEFINE_CONVERT(convert_u64_u64, uint64_t, uint64_t)
DEFINE_CONVERT(convert_i32_i64, int64_t, int32_t)
DEFINE_CONVERT(convert_f32_f64, double, float)
