/* Float sums of tables that are large enough for every part of stage 2 to be used many times over, and wide enough for
 * blocks of it whose last warp has few columns: all bits are the CPU's, each time. */
#include "support/on_gpu.h"

enum { TABLE_BYTES = 48 << 20, TIMES = 3 }; /* of sums */

static char *values, *expected, *found, *in_data, *out_data;

static size_t size_of(table_type type) { return table_type_size(type); }

static int open_memory(void **state) {
    (void)state;
    values = malloc(TABLE_BYTES);
    expected = malloc(TABLE_BYTES);
    found = malloc(TABLE_BYTES);
    if (!values || !expected || !found)
        return -1;
    return cudaMalloc((void **)&in_data, TABLE_BYTES) != cudaSuccess ||
           cudaMalloc((void **)&out_data, TABLE_BYTES) != cudaSuccess;
}

static int close_memory(void **state) {
    (void)state;
    free(values);
    free(expected);
    free(found);
    return cudaFree(in_data) != cudaSuccess || cudaFree(out_data) != cudaSuccess;
}

/* Numbers of either sign that are not exact. */
static void fill(table_type type, size_t count) {
    uint64_t bits = 12345;
    for (size_t i = 0; i < count; i++) {
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407;
        const double value = ((double)(bits >> 12) / 4e15 - 0.4) * (bits >> 60 ? 1 : 1e3);
        if (type == TABLE_F32)
            ((float *)values)[i] = (float)value;
        else
            ((double *)values)[i] = value;
    }
}

static void scan(table_backend backend, table_strategy strategy, const table_view *in, const table_view *out,
                 bool exclusive, const void *carry_in, void *carry_out) {
    const table_scan_options options = {
        .backend = backend, .strategy = strategy, .exclusive = exclusive, .carry_in = carry_in, .carry_out = carry_out};
    const table_status status = table_prefix_sum(in, out, &options);
    if (status != TABLE_OK)
        fail_msg("%s: %s", table_status_name(status), table_error_detail());
}

static void check(table_type in_type, table_type type, size_t columns, bool exclusive) {
    const size_t rows = TABLE_BYTES / size_of(type) / columns, bytes = rows * columns * size_of(type);
    const size_t row = columns * size_of(type);
    char *const carry = get_memory(3 * row);
    fill(type, columns);
    memcpy(carry, values, row); /* the start */
    fill(in_type, rows * columns);
    table_view in = {values, rows, columns, 0, in_type}, out = {expected, rows, columns, 0, type};
    scan(TABLE_BACKEND_CPU, TABLE_STRATEGY_AUTO, &in, &out, exclusive, carry, carry + row);
    copy(in_data, values, rows * columns * size_of(in_type));
    in.data = in_data;
    out.data = out_data;
    for (int time = 0; time < TIMES; time++) {
        const table_strategy strategy = time + 1 < TIMES ? TABLE_STRATEGY_FUSED : TABLE_STRATEGY_RECURSIVE;
        scan(TABLE_BACKEND_CUDA, strategy, &in, &out, exclusive, carry, carry + 2 * row);
        copy(found, out_data, bytes);
        if (memcmp(found, expected, bytes) != 0 || memcmp(carry + row, carry + 2 * row, row) != 0)
            fail_msg("%s to %s, %zu rows x %zu columns%s, strategy %d, time %d: other bits than the CPU's",
                     table_type_name(in_type), table_type_name(type), rows, columns, exclusive ? ", exclusive" : "",
                     (int)strategy, time);
    }
    free(carry);
}

/* Inclusive and exclusive. */
static void test_types(void **state) {
    const bool exclusive = NUMBER_OF(state);
    static const size_t columns[] = {1,  2,  3,   4,   5,   7,   8,   9,   10,   12,   16,   17,   32,
                                     33, 66, 100, 132, 300, 516, 520, 776, 1000, 1004, 1032, 9000, 20001};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        check(TABLE_F32, TABLE_F32, columns[i], exclusive);
        check(TABLE_F64, TABLE_F64, columns[i], exclusive);
        check(TABLE_F32, TABLE_F64, columns[i], exclusive);
    }
}
TEST_OF(test_types, false)
TEST_OF(test_types, true)

int main(void) { return run_all_tests_within("gpu_floats", table_cuda_unavailable(), open_memory, close_memory); }
