/* More than 2^32 cells on a device, for real: 512^3 + 1 rows of 33 columns have chunks of 512 rows, so that the totals
 * of the totals of the totals have more than one row, the deepest that the recursion goes in practice. */
#include "support/on_gpu.h"

enum { COLUMNS = 33, PERIOD = 1000003 /* rows after which the input repeats */ };
static const size_t rows = (size_t)512 * 512 * 512 + 1;

static unsigned char *period_rows;
static unsigned char *in_data;
static uint32_t *out_data;

static void fill_input(void) {
    period_rows = get_memory((size_t)PERIOD * COLUMNS);
    uint64_t state = 1;
    for (size_t i = 0; i < (size_t)PERIOD * COLUMNS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        period_rows[i] = (unsigned char)(state >> 56);
    }
    for (size_t first = 0; first < rows; first += PERIOD) {
        const size_t count = rows - first < PERIOD ? rows - first : PERIOD;
        copy(in_data + first * COLUMNS, period_rows, count * COLUMNS);
    }
}

static int open_tables(void **state) {
    (void)state;
    void *in = NULL, *out = NULL;
    if (cudaMalloc(&in, rows * COLUMNS) != cudaSuccess || cudaMalloc(&out, rows * COLUMNS * sizeof *out_data))
        return -1;
    in_data = in;
    out_data = out;
    fill_input();
    return 0;
}

static int close_tables(void **state) {
    (void)state;
    cudaFree(in_data);
    cudaFree(out_data);
    free(period_rows);
    return 0;
}

/* Sums wrap, and the first sum to do so is reported. */
static void require_sums(uint64_t overflow) {
    uint32_t *found = malloc((size_t)PERIOD * COLUMNS * sizeof *found);
    uint64_t sums[COLUMNS] = {0}, first_overflow = TABLE_NO_OVERFLOW;
    assert_non_null(found);
    for (size_t first = 0; first < rows; first += PERIOD) {
        const size_t count = rows - first < PERIOD ? rows - first : PERIOD;
        copy(found, out_data + first * COLUMNS, count * COLUMNS * sizeof *found);
        for (size_t i = 0; i < count * COLUMNS; i++) {
            uint64_t *sum = &sums[i % COLUMNS];
            *sum += period_rows[i];
            if (*sum > UINT32_MAX && first_overflow == TABLE_NO_OVERFLOW)
                first_overflow = first * COLUMNS + i;
            if (found[i] != (uint32_t)*sum)
                fail_msg("row %zu, column %zu: expected %u, found %u", first + i / COLUMNS, i % COLUMNS, (uint32_t)*sum,
                         found[i]);
        }
    }
    assert_int_equal(overflow, first_overflow);
    free(found);
}

static void test_strategy(void **state) {
    const table_view in = {in_data, rows, COLUMNS, 0, TABLE_U8};
    const table_view out = {out_data, rows, COLUMNS, 0, TABLE_U32};
    uint64_t overflow = 0;
    const table_scan_options options = {
        .backend = TABLE_BACKEND_CUDA, .strategy = NUMBER_OF(state), .first_overflow = &overflow};
    const table_status status = table_prefix_sum(&in, &out, &options);
    if (status == TABLE_ERROR_STRATEGY)
        skip();
    if (status != TABLE_OK)
        fail_msg("%s: %s", table_status_name(status), table_error_detail());
    require_sums(overflow);
}
TEST_OF(test_strategy, TABLE_STRATEGY_RECURSIVE)
TEST_OF(test_strategy, TABLE_STRATEGY_HOST)
TEST_OF(test_strategy, TABLE_STRATEGY_FUSED)

/* More keys than 32 bits count: runs of equal bytes, the greatest first. */
TEST(test_sort) {
    enum { RUNS = 251, PIECE = 64 << 20 };
    const size_t keys = ((size_t)1 << 32) + 12345, run = keys / RUNS;
    unsigned char *data = NULL, *piece = malloc(PIECE);
    assert_non_null(piece);
    REQUIRE_CUDA(cudaMalloc((void **)&data, keys));
    for (size_t r = 0; r < RUNS; r++)
        REQUIRE_CUDA(cudaMemset(data + r * run, (int)(RUNS - 1 - r), r + 1 < RUNS ? run : keys - r * run));
    const table_view view = {data, keys, 1, 0, TABLE_U8};
    const table_status status = table_radix_sort(&view, NULL, 0, NULL);
    if (status != TABLE_OK)
        fail_msg("%s: %s", table_status_name(status), table_error_detail());
    const size_t first_run = keys - (RUNS - 1) * run; /* of zeros, the last and longest before */
    for (size_t at = 0; at < keys; at += PIECE) {
        const size_t count = keys - at < PIECE ? keys - at : PIECE;
        copy(piece, data + at, count);
        for (size_t i = 0; i < count; i++) {
            const size_t expected = at + i < first_run ? 0 : 1 + (at + i - first_run) / run;
            if (piece[i] != expected)
                fail_msg("key %zu: expected %zu, found %u", at + i, expected, piece[i]);
        }
    }
    REQUIRE_CUDA(cudaFree(data));
    free(piece);
}

int main(void) {
    size_t available = 0, total = 0;
    const char *reason = table_cuda_unavailable();
    if (!reason && (cudaMemGetInfo(&available, &total) != cudaSuccess || available < rows * COLUMNS * 6))
        reason = "27 GB of free device memory are needed";
    return run_all_tests_within("gpu_large", reason, open_tables, close_tables);
}
