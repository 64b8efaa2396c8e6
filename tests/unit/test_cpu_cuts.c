/* Sums that go on, on the CPU from within: tables of many chunks, cut anywhere, near ends of units and chunks above
 * all, by threads that hand on sums, with each instruction set; against the whole table, and the state it leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "division.h"
#include "isa.h"
#include "pool.h"
#include "support/chunk.h"
#include "support/random.h"
#include "support/reference.h"

static const table_type pairs[][2] = {
    {TABLE_F32, TABLE_F32}, {TABLE_F64, TABLE_F64}, {TABLE_F32, TABLE_F64}, {TABLE_U32, TABLE_U64}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

struct sum {
    table_type in_type, type;
    size_t rows, columns, in_row, row;
    char *in, *out, *expected, *last, *state, *whole;
    size_t state_bytes;
    bool exclusive;
};

static void *get_memory(size_t bytes) {
    void *memory = aligned_alloc(64, (bytes / 64 + 1) * 64);
    assert_non_null(memory);
    memset(memory, 0, bytes);
    return memory;
}

static void fill(void *values, size_t count, table_type type, struct random *random) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = random_bits(random);
        const double real = bits % 16 == 0 ? -0.0 : ((double)(bits >> 20) - 0x1p43) * (1.0 / (double)(1 + bits % 999));
        if (type == TABLE_F32)
            ((float *)values)[i] = (float)real;
        else if (type == TABLE_F64)
            ((double *)values)[i] = real;
        else
            ((uint32_t *)values)[i] = (uint32_t)bits;
    }
}

static void open_sum(struct sum *sum, struct random *random) {
    sum->in_row = sum->columns * table_type_size(sum->in_type);
    sum->row = sum->columns * table_type_size(sum->type);
    sum->in = get_memory(sum->rows * sum->in_row);
    sum->out = get_memory(sum->rows * sum->row);
    sum->expected = get_memory(sum->rows * sum->row);
    sum->last = get_memory(sum->row);
    assert_int_equal(table_state_bytes(sum->type, sum->columns, &sum->state_bytes), TABLE_OK);
    sum->state = get_memory(sum->state_bytes);
    sum->whole = get_memory(sum->state_bytes);
    fill(sum->in, sum->rows * sum->columns, sum->in_type, random);
    const table_view in = {sum->in, sum->rows, sum->columns, sum->columns, sum->in_type};
    struct reference reference = {.type = sum->type, .sums = sum->expected};
    assert_true(reference_prefix_sum(&in, NULL, sum->exclusive, &reference));
}

static void close_sum(struct sum *sum) {
    free(sum->in);
    free(sum->out);
    free(sum->expected);
    free(sum->last);
    free(sum->state);
    free(sum->whole);
}

static void take(struct sum *sum, void *state, size_t done, size_t rows, table_strategy strategy, unsigned threads) {
    const table_view in = {sum->in + done * sum->in_row, rows, sum->columns, 0, sum->in_type};
    const table_view out = {sum->out + done * sum->row, rows, sum->columns, 0, sum->type};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU,
                                        .strategy = strategy,
                                        .threads = threads,
                                        .exclusive = sum->exclusive,
                                        .carry_out = sum->last,
                                        .state = state};
    assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
}

/* Most pieces end within two rows of a multiple of a unit, of 16384 rows, or of the chunk that threads take. */
static size_t choose_rows(const struct sum *sum, size_t done, struct random *random) {
    const size_t chunk = chunk_rows(sum->type, sum->columns), left = sum->rows - done;
    const size_t near[] = {TABLE_UNIT_ROWS, 2 * TABLE_UNIT_ROWS, chunk, chunk, 2 * chunk, 4 * chunk, 16384};
    const size_t multiple = near[random_below(random, sizeof near / sizeof *near)];
    size_t rows = random_below(random, 4);
    if (random_once_in(random, 6))
        rows = random_below(random, 3 * chunk);
    else if (!random_once_in(random, 6))
        rows = (done / multiple + 1) * multiple - done + random_below(random, 5);
    rows = rows > 2 && !random_once_in(random, 4) ? rows - 2 : rows;
    return rows < left ? rows : left;
}

static unsigned check_cuts(struct sum *sum, const char *kernels, struct random *random) {
    unsigned pieces = 0;
    memset(sum->state, 0, sum->state_bytes);
    memset(sum->out, 0x5a, sum->rows * sum->row);
    for (size_t done = 0; done < sum->rows; pieces++) {
        const size_t rows = choose_rows(sum, done, random);
        const table_strategy strategy = (table_strategy)random_below(random, TABLE_STRATEGY_FUSED + 1);
        const unsigned threads = 1 + (unsigned)random_below(random, 5);
        take(sum, sum->state, done, rows, strategy, threads);
        if (memcmp(sum->out + done * sum->row, sum->expected + done * sum->row, rows * sum->row) != 0)
            fail_msg("%s, %s -> %s, %zu columns%s, rows %zu to %zu are wrong: strategy %d, %u threads", kernels,
                     table_type_name(sum->in_type), table_type_name(sum->type), sum->columns,
                     sum->exclusive ? ", exclusive" : "", done, done + rows, (int)strategy, threads);
        done += rows;
    }
    assert_memory_equal(sum->state, sum->whole, sum->state_bytes);
    return pieces;
}

static unsigned check_sum(struct random *random, const struct cpu_kernels *kernels) {
    static const size_t columns[] = {1, 1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64, 100, 129, 300, 700};
    const table_type *pair = pairs[random_below(random, PAIRS)];
    struct sum sum = {.in_type = pair[0], .type = pair[1], .exclusive = random_once_in(random, 2)};
    unsigned pieces = 0;
    sum.columns = columns[random_below(random, sizeof columns / sizeof *columns)];
    sum.rows = 1 + random_below(random, (run_small() ? 3 : 11) * chunk_rows(sum.type, sum.columns));
    open_sum(&sum, random);
    isa_force(kernels);
    division_limits = (struct division_limits){.thread_bytes = 1,
                                               .stream_bytes = random_once_in(random, 2) ? 0 : SIZE_MAX,
                                               .turned_bytes = random_once_in(random, 2) ? 1 : SIZE_MAX,
                                               .threads = POOL_THREADS_MOST};
    take(&sum, sum.whole, 0, sum.rows, TABLE_STRATEGY_FUSED, 1);
    assert_memory_equal(sum.out, sum.expected, sum.rows * sum.row);
    for (int cuts = 0; cuts < 3; cuts++)
        pieces += check_cuts(&sum, kernels->name, random);
    isa_force(NULL);
    close_sum(&sum);
    return pieces;
}

static void test_cuts(void **state) {
    struct random random = {run_seed()};
    const unsigned count = (run_small() ? 20 : 300) * run_rounds() / run_few() + 5;
    unsigned pieces = 0;
    (void)state;
    for (unsigned i = 0; i < count; i++) {
        const struct cpu_kernels *kernels = isa_kernels((enum cpu_isa)(i % CPU_ISAS));
        if (kernels)
            pieces += check_sum(&random, kernels);
    }
    print_message("%u pieces\n", pieces);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts)};
    return cmocka_run_group_tests_name("cpu_cuts", tests, NULL, NULL);
}
