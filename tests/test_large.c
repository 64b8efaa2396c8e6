/* Tables beyond 2^32 in each sense, on a machine with little memory: the input is address space that was never written,
 * the output is one small piece of memory mapped over and over, or rows far apart. */
#include <sys/mman.h>
#include <unistd.h>

#include "support/random.h"
#include "support/test.h"

#define BEYOND ((size_t)1 << 32)

static const table_scan_options on_cpu = {.backend = TABLE_BACKEND_CPU};

/* Zeros that take no memory until they are written. */
static void *sparse_zeros(size_t bytes) {
    void *zeros = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(zeros, MAP_FAILED);
    return zeros;
}

/* `bytes` of address space in which the same piece of memory lies again and again. */
static void *repeated_memory(size_t bytes, size_t piece) {
    const int file = memfd_create("piece", 0);
    assert_int_not_equal(file, -1);
    assert_int_equal(ftruncate(file, (off_t)piece), 0);
    char *space = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(space, MAP_FAILED);
    for (size_t at = 0; at < bytes; at += piece) {
        const size_t length = bytes - at < piece ? bytes - at : piece;
        void *mapped = mmap(space + at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
        assert_ptr_equal(mapped, space + at);
    }
    close(file);
    return space;
}

TEST(test_totals_of_more_rows_than_32_bits_count) {
    const size_t rows = BEYOND + 5000;
    uint8_t *values = sparse_zeros(rows);
    const table_view in = {.data = values, .rows = rows, .columns = 1, .type = TABLE_U8};
    uint64_t total = 0;
    values[0] = 1;
    values[BEYOND - 1] = 20;
    values[BEYOND] = 100;
    values[rows - 1] = 200;
    assert_int_equal(table_column_totals(&in, TABLE_U64, &total, &on_cpu), TABLE_OK);
    assert_int_equal(total, 321);
    munmap(values, rows);
}

TEST(test_overflow_beyond_2_32_cells) {
    const size_t rows = BEYOND / 2 + 100003, columns = 2, cells = rows * columns;
    uint8_t *values = sparse_zeros(cells);
    uint32_t *sums = repeated_memory(cells * sizeof *sums, (size_t)8 << 20);
    const table_view in = {.data = values, .rows = rows, .columns = columns, .type = TABLE_U8};
    const table_view out = {.data = sums, .rows = rows, .columns = columns, .type = TABLE_U32};
    const uint32_t carry_in[] = {7, UINT32_MAX - 10};
    uint32_t carry_out[2] = {0, 0};
    uint64_t overflow = 0;
    table_scan_options options = {.backend = TABLE_BACKEND_CPU, .threads = 1};
    options.carry_in = carry_in;
    options.carry_out = carry_out;
    options.first_overflow = &overflow;
    values[1] = 10;                    /* column 1 is full from row 0 on, ... */
    values[(rows - 1000) * 2 + 1] = 5; /* ... and overflows here, */
    values[(rows - 2000) * 2] = 3;     /* not here */
    assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
    assert_int_equal(overflow, (rows - 1000) * 2 + 1);
    assert_int_equal(carry_out[0], 10);
    assert_int_equal(carry_out[1], 4);
    /* The last rows were written last, so they are still there. */
    assert_int_equal(sums[(rows - 1001) * 2], 10);
    assert_int_equal(sums[(rows - 1001) * 2 + 1], UINT32_MAX);
    assert_int_equal(sums[(rows - 1000) * 2 + 1], 4);
    assert_int_equal(sums[(rows - 1) * 2], 10);
    munmap(values, cells);
    munmap(sums, cells * sizeof *sums);
}

TEST(test_rows_far_apart) {
    const size_t rows = 65539, stride = 65537, columns = 3;
    const size_t elements = (rows - 1) * stride + columns;
    uint8_t *values = sparse_zeros(elements);
    uint32_t *sums = sparse_zeros(elements * sizeof *sums);
    const table_view in = {values, rows, columns, stride, TABLE_U8};
    const table_view out = {sums, rows, columns, stride, TABLE_U32};
    uint32_t expected[3] = {0, 0, 0};
    assert_true(elements > BEYOND);
    for (size_t i = 0; i < rows; i += 1000)
        for (size_t j = 0; j < columns; j++)
            values[i * stride + j] = (uint8_t)(i + j);
    assert_int_equal(table_prefix_sum(&in, &out, &on_cpu), TABLE_OK);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            expected[j] += i % 1000 == 0 ? (uint8_t)(i + j) : 0;
            if (sums[i * stride + j] != expected[j])
                fail_msg("row %zu, column %zu: expected %u, found %u", i, j, expected[j], sums[i * stride + j]);
        }
    }
    munmap(values, elements);
    munmap(sums, elements * sizeof *sums);
}

int main(void) { return run_all_tests("large", run_small() ? "the run is a small one" : NULL); }
