/* Several tables in one call, by each of its kernels on the device, and by the CPU: all bits alike. */
#include <cstdio>
#include <cstring>
#include <vector>

#include <tuplescan/tuplescan.h>

#include "cuda_runtime.h"
#include "emulator.h"

static int passed = 0, failed = 0;

/* A batch: tables of rows x columns without gaps, `apart` values between them, and the device's ones `skew` values
 * after a line of memory. */
struct shape {
    const char *by;
    size_t tables, rows, columns, apart, skew;
};
static const shape shapes[] = {
    {"tiny columns", 90, 2, 1, 0, 0},
    {"tiny columns, a part of a run", 91, 4, 1, 0, 0},
    {"tiny columns, more blocks", 1500, 8, 1, 0, 0},
    {"short columns", 600, 16, 1, 0, 0},
    {"short columns, idle lanes", 40, 48, 1, 0, 0},
    {"short columns of a unit", 19, 512, 1, 0, 0},
    {"short columns, no whole vectors", 30, 64, 1, 0, 1},
    {"short columns, apart", 30, 64, 1, 16, 0},
    {"long columns, a warp each", 520, 1040, 1, 0, 0},
    {"long columns, a warp each, apart", 520, 528, 1, 16, 0},
    {"long columns in lines", 9, 3088, 1, 0, 0},
    {"columns in lines", 70, 100, 1, 0, 0},
    {"panels of a column", 6, 16384, 1, 0, 0},
    {"panels of two", 5, 16000, 2, 0, 0},
    {"panels of eight", 7, 4100, 8, 8, 0},
    {"vectors", 5, 700, 32, 0, 0},
    {"few rows of vectors", 40, 3, 32, 0, 0},
    {"lines", 2, 2100, 32, 0, 0},
    {"two lines", 2, 2100, 64, 32, 0},
    {"several wide panels", 2, 2100, 128, 0, 0},
};
static const table_type pairs[][2] = {
    {TABLE_F16, TABLE_F16},  {TABLE_BF16, TABLE_BF16}, {TABLE_F16, TABLE_F32}, {TABLE_F32, TABLE_F32},
    {TABLE_F64, TABLE_F64},  {TABLE_F32, TABLE_F64},   {TABLE_U8, TABLE_U32},  {TABLE_I8, TABLE_I64},
    {TABLE_BOOL, TABLE_I32}, {TABLE_I16, TABLE_I32},   {TABLE_U32, TABLE_U32}, {TABLE_I32, TABLE_I64},
    {TABLE_U64, TABLE_U64},
};

/* Values of a type whose sums are numbers; some floats are -0.0. */
static std::vector<unsigned char> values_of(table_type type, size_t count) {
    std::vector<unsigned char> values(count * table_type_size(type));
    uint32_t number = 12345;
    for (size_t at = 0; at < count; at++) {
        number = number * 1664525 + 1013904223;
        const uint32_t bits = number >> 8;
        const bool zero = bits % 7 == 0;
        const float single = zero ? -0.0f : (static_cast<float>(bits) - 8e6f) / 65536;
        const double both = zero ? -0.0 : (bits - 8e6) / 3;
        const uint64_t wide = uint64_t(number) << 32 | bits;
        const uint16_t half = static_cast<uint16_t>(zero ? 0x8000 : (bits & 0x83ff) | 0x2c00);
        const uint16_t brief = static_cast<uint16_t>(zero ? 0x8000 : (bits & 0x80ff) | 0x3f00);
        const void *from = type == TABLE_F32    ? static_cast<const void *>(&single)
                           : type == TABLE_F64  ? static_cast<const void *>(&both)
                           : type == TABLE_F16  ? static_cast<const void *>(&half)
                           : type == TABLE_BF16 ? static_cast<const void *>(&brief)
                                                : static_cast<const void *>(&wide);
        memcpy(&values[at * table_type_size(type)], from, table_type_size(type));
    }
    return values;
}

static bool is_right(const shape &shape, const table_type (&pair)[2], bool exclusive, bool carries) {
    const size_t in_bytes = table_type_size(pair[0]), out_bytes = table_type_size(pair[1]);
    const size_t step = shape.rows * shape.columns + shape.apart, all = shape.tables * step, after = shape.skew;
    const table_type sums = table_sum_type(pair[1]);
    const std::vector<unsigned char> values = values_of(pair[0], all);
    const size_t row_bytes = shape.tables * shape.columns * table_type_size(sums);
    const std::vector<unsigned char> starts = values_of(sums, shape.tables * shape.columns);
    std::vector<unsigned char> expected(all * out_bytes), got(expected), ends(row_bytes), last(row_bytes);
    table_view in = {const_cast<unsigned char *>(values.data()), shape.rows, shape.columns, 0, pair[0]};
    table_view out = {expected.data(), shape.rows, shape.columns, 0, pair[1]};
    table_scan_options options = {};
    options.exclusive = exclusive;
    options.tables = shape.tables;
    options.in_step = options.out_step = static_cast<ptrdiff_t>(step);
    options.carry_in = carries ? starts.data() : nullptr;
    options.carry_out = carries ? ends.data() : nullptr;
    options.backend = TABLE_BACKEND_CPU;
    bool right = table_prefix_sum(&in, &out, &options) == TABLE_OK;
    unsigned char *from = nullptr, *to = nullptr;
    right = right && cudaMalloc(reinterpret_cast<void **>(&from), (all + after) * in_bytes) == cudaSuccess &&
            cudaMalloc(reinterpret_cast<void **>(&to), (all + after) * out_bytes) == cudaSuccess &&
            cudaMemset(to, 0, (all + after) * out_bytes) == cudaSuccess &&
            cudaMemcpy(from + after * in_bytes, values.data(), values.size(), cudaMemcpyHostToDevice) == cudaSuccess;
    in.data = from + after * in_bytes;
    out.data = to + after * out_bytes;
    options.carry_out = carries ? last.data() : nullptr;
    options.backend = TABLE_BACKEND_CUDA;
    right = right && table_prefix_sum(&in, &out, &options) == TABLE_OK &&
            cudaMemcpy(got.data(), out.data, got.size(), cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(from);
    cudaFree(to);
    return right && got == expected && last == ends;
}

int main() {
    emulator_device(4, 9);
    unsigned number = 0; /* each shape of all types, inclusive or not, with carries or without */
    for (const shape &shape : shapes)
        for (const auto &pair : pairs) {
            const bool exclusive = number / 2 % 2 == 1 && shape.rows < 16000, carries = number % 3 == 1;
            const bool right = is_right(shape, pair, exclusive, carries);
            right ? passed++ : failed++;
            if (!right)
                fprintf(stderr, "%s: wrong for types %d to %d, exclusive %d, carries %d. %s\n", shape.by, pair[0],
                        pair[1], exclusive, carries, emulator_report());
            number++;
        }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
