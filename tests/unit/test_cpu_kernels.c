/* The CPU backend from within: each instruction set, any number of threads and every way of dividing the work, on
 * tables that are small enough to try many, against the plain serial reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend.h"
#include "division.h"
#include "isa.h"
#include "plan.h"
#include "pool.h"
#include "support/chunk.h"
#include "support/random.h"
#include "support/reference.h"
#include "tree.h"

static const table_type pairs[][2] = {
    {TABLE_U32, TABLE_U32}, {TABLE_U64, TABLE_U64},  {TABLE_I32, TABLE_I32}, {TABLE_I64, TABLE_I64},
    {TABLE_F32, TABLE_F32}, {TABLE_F64, TABLE_F64},  {TABLE_U8, TABLE_U32},  {TABLE_U8, TABLE_U64},
    {TABLE_U16, TABLE_U32}, {TABLE_U16, TABLE_U64},  {TABLE_U32, TABLE_U64}, {TABLE_I32, TABLE_I64},
    {TABLE_F32, TABLE_F64}, {TABLE_I8, TABLE_I32},   {TABLE_I16, TABLE_F32}, {TABLE_BOOL, TABLE_U32},
    {TABLE_F16, TABLE_F32}, {TABLE_BF16, TABLE_F64}, {TABLE_U32, TABLE_I64},
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

enum way { FUSED, STAGES_ONE_BY_ONE, TOTALS_ONLY, WAYS };

struct trial {
    table_type in_type, out_type;
    size_t rows, columns, in_stride, out_stride, in_offset, out_offset;
    bool in_place, exclusive, carry, check, streamed;
    unsigned threads;
    enum way way;
    const struct cpu_kernels *kernels;
};

static void describe(const struct trial *t) {
    print_error("%s, %s -> %s, %zu x %zu, strides %zu %zu, offsets %zu %zu,%s%s%s%s%s %u threads, way %d\n",
                t->kernels->name, table_type_name(t->in_type), table_type_name(t->out_type), t->rows, t->columns,
                t->in_stride, t->out_stride, t->in_offset, t->out_offset, t->in_place ? " in place," : "",
                t->exclusive ? " exclusive," : "", t->carry ? " carry," : "", t->check ? " checked," : "",
                t->streamed ? " streamed," : "", t->threads, (int)t->way);
}

static void *get_memory(size_t bytes) {
    void *memory = aligned_alloc(256, (bytes / 256 + 1) * 256);
    assert_non_null(memory);
    return memory;
}

/* Floats of mixed size and sign, so that every addition rounds, zeros of both signs; integers of all bits, or small
 * enough that the first overflow comes late. */
static void fill_values(void *values, size_t count, table_type type, struct random *random, bool small) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = random_bits(random);
        const double real = bits % 16 == 0 ? -0.0 : ((double)(bits >> 20) - 0x1p43) * (1.0 / (double)(1 + bits % 999));
        switch (type) {
        case TABLE_U8:
            ((uint8_t *)values)[i] = (uint8_t)bits;
            break;
        case TABLE_U16:
            ((uint16_t *)values)[i] = (uint16_t)bits;
            break;
        case TABLE_U32:
        case TABLE_I32:
            ((uint32_t *)values)[i] = small ? (uint32_t)((int32_t)bits >> 12) : (uint32_t)bits;
            break;
        case TABLE_U64:
        case TABLE_I64:
            ((uint64_t *)values)[i] = small ? (uint64_t)((int64_t)bits >> 12) : bits;
            break;
        case TABLE_F32:
            ((float *)values)[i] = (float)real;
            break;
        case TABLE_F64:
            ((double *)values)[i] = real;
            break;
        case TABLE_I16:
            ((uint16_t *)values)[i] = (uint16_t)bits;
            break;
        case TABLE_I8:
        case TABLE_BOOL:
            ((uint8_t *)values)[i] = (uint8_t)bits;
            break;
        case TABLE_F16:
            reference_round(type, &(float){(float)(real * 0x1p-40)}, (uint16_t *)values + i, 1);
            break;
        case TABLE_BF16:
            reference_round(type, &(float){(float)real}, (uint16_t *)values + i, 1);
            break;
        }
    }
}

/* The room of a fused pass on the CPU, which never refuses one. */
static void *fused_room(const struct scan *scan) {
    bool may_be_refused = true;
    void *const workspace = get_memory(backend_cpu()->fused_workspace(scan, &may_be_refused));
    assert_false(may_be_refused);
    return workspace;
}

static table_status run_way(const struct trial *trial, struct scan *scan) {
    const struct backend *backend = backend_cpu();
    const size_t row_bytes = scan_row_bytes(scan);
    if (trial->way != STAGES_ONE_BY_ONE) {
        void *workspace = fused_room(scan);
        const table_status status = backend->fused(scan, workspace);
        free(workspace);
        return status;
    }
    char *seeds = get_memory((scan->chunks + 1) * row_bytes);
    if (scan->carry_in)
        memcpy(seeds, scan->carry_in, row_bytes);
    else
        memset(seeds, 0, row_bytes);
    table_status status = backend->stage1_local_counts(scan, seeds);
    if (status == TABLE_OK && !scan->element->ordered)
        sweep_rows(scan->element, seeds, scan->chunks + 1, scan->in.columns);
    else if (status == TABLE_OK)
        status = backend->stage2_sweep(scan, seeds, scan->chunks + 1, NULL);
    if (status == TABLE_OK)
        status = backend->stage3_global_pass(scan, seeds);
    memcpy(scan->carry_out, seeds + scan->chunks * row_bytes, row_bytes);
    free(seeds);
    return status;
}

/* The tables of a trial: what is scanned, what the output holds before and must hold after. */
struct tables {
    char *in, *out, *expected, *carry, *carry_out, *expected_carry;
    size_t in_bytes, out_bytes, row_bytes;
};

static struct tables make_tables(const struct trial *trial, struct random *random, bool small) {
    struct tables t;
    const size_t out_size = table_type_size(trial->out_type);
    const size_t in_count = trial->in_offset + trial->rows * trial->in_stride;
    const size_t out_count = trial->out_offset + trial->rows * trial->out_stride;
    t.in_bytes = in_count * table_type_size(trial->in_type);
    t.out_bytes = out_count * out_size;
    t.row_bytes = trial->columns * out_size;
    t.in = get_memory(t.in_bytes);
    fill_values(t.in, in_count, trial->in_type, random, small);
    t.out = trial->in_place ? t.in : get_memory(t.out_bytes);
    if (!trial->in_place)
        memset(t.out, 0x5a, t.out_bytes);
    t.expected = get_memory(t.out_bytes);
    memcpy(t.expected, t.out, t.out_bytes);
    t.carry = get_memory(t.row_bytes);
    fill_values(t.carry, trial->columns, trial->out_type, random, true);
    t.carry_out = get_memory(t.row_bytes);
    t.expected_carry = get_memory(t.row_bytes);
    return t;
}

static void free_tables(const struct trial *trial, struct tables *t) {
    free(t->in);
    if (!trial->in_place)
        free(t->out);
    free(t->expected);
    free(t->carry);
    free(t->carry_out);
    free(t->expected_carry);
}

static uint64_t expect(const struct trial *trial, struct tables *t, const table_view *in) {
    const size_t size = table_type_size(trial->out_type);
    struct reference reference = {.type = trial->out_type, .carry_out = t->expected_carry};
    reference.sums = get_memory(trial->rows * t->row_bytes);
    assert_true(reference_prefix_sum(in, trial->carry ? t->carry : NULL, trial->exclusive, &reference));
    for (size_t i = 0; i < trial->rows && trial->way != TOTALS_ONLY; i++)
        memcpy(t->expected + (trial->out_offset + i * trial->out_stride) * size,
               (char *)reference.sums + i * t->row_bytes, t->row_bytes);
    free(reference.sums);
    return reference.first_overflow;
}

static void check_trial(const struct trial *trial, struct random *random, bool small) {
    struct tables t = make_tables(trial, random, small);
    uint64_t overflow = TABLE_NO_OVERFLOW;
    struct scan scan = {
        .in = {t.in + trial->in_offset * table_type_size(trial->in_type), trial->rows, trial->columns, trial->in_stride,
               trial->in_type},
        .out = {t.out + trial->out_offset * table_type_size(trial->out_type), trial->rows, trial->columns,
                trial->out_stride, trial->out_type},
        .element = element_of(trial->out_type),
        .exclusive = trial->exclusive,
        .first_overflow = trial->check && trial->way != TOTALS_ONLY ? &overflow : NULL,
        .carry_in = trial->carry ? t.carry : NULL,
        .carry_out = t.carry_out,
        .threads = trial->threads,
    };
    if (trial->way == TOTALS_ONLY)
        scan.out.data = NULL;
    plan_chunks(&scan);
    const uint64_t expected_overflow = expect(trial, &t, &scan.in);

    isa_force(trial->kernels);
    division_limits = (struct division_limits){.thread_bytes = 1,
                                               .stream_bytes = trial->streamed ? 0 : SIZE_MAX,
                                               .turned_bytes = trial->rows % 2 ? 1 : SIZE_MAX,
                                               .threads = POOL_THREADS_MOST};
    const bool done = run_way(trial, &scan) == TABLE_OK;
    isa_force(NULL);

    const bool right = done && memcmp(t.out, t.expected, t.out_bytes) == 0 &&
                       memcmp(t.carry_out, t.expected_carry, t.row_bytes) == 0 &&
                       (!scan.first_overflow || overflow == expected_overflow);
    if (!right)
        describe(trial);
    assert_true(right);
    free_tables(trial, &t);
}

static void check_with_all_kernels(struct trial trial, struct random *random) {
    const bool small = random_once_in(random, 2), is_float = trial.out_type >= TABLE_F32;
    trial.in_place = trial.in_place && trial.in_type == trial.out_type;
    if (trial.in_place) {
        trial.out_stride = trial.in_stride;
        trial.out_offset = trial.in_offset;
    }
    if (is_float)
        trial.check = false;
    for (int isa = 0; isa < CPU_ISAS; isa++) {
        trial.kernels = isa_kernels((enum cpu_isa)isa);
        if (trial.kernels)
            check_trial(&trial, random, small);
    }
}

static struct trial random_trial(struct random *random, size_t pair, size_t rows, size_t columns) {
    struct trial trial = {.in_type = pairs[pair][0], .out_type = pairs[pair][1], .rows = rows, .columns = columns};
    trial.in_stride = columns + (random_once_in(random, 3) ? 1 + random_below(random, 9) : 0);
    trial.out_stride = columns + (random_once_in(random, 3) ? 1 + random_below(random, 9) : 0);
    trial.in_offset = random_below(random, 4);
    trial.out_offset = random_below(random, 4);
    trial.in_place = random_once_in(random, 3);
    trial.exclusive = random_once_in(random, 2);
    trial.carry = random_once_in(random, 2);
    trial.check = random_once_in(random, 2);
    trial.streamed = random_once_in(random, 2);
    trial.threads = 1 + (unsigned)random_below(random, 5);
    trial.way = (enum way)random_below(random, WAYS);
    return trial;
}

/* Up to two chunks, and now and then three and some, or so many that blocks of chunks have blocks above them, so that
 * the threads have something to hand on. */
static size_t random_rows(struct random *random, size_t pair, size_t columns) {
    const size_t chunk = chunk_rows(pairs[pair][1], columns);
    switch (random_below(random, 5)) {
    case 0:
        return random_below(random, 40);
    case 1:
        return chunk - 1 + random_below(random, 3);
    case 2:
        return chunk + random_below(random, chunk);
    case 3:
        return columns > 8 ? random_below(random, 16 * REFERENCE_UNIT) : random_below(random, 9 * chunk);
    default:
        return 3 * chunk + random_below(random, chunk);
    }
}

/* 1 to 70: all narrow kernels, and wide ones with every rest. */
static void test_columns(void **state) {
    struct random random = {run_seed()};
    (void)state;
    for (size_t columns = 1; columns <= 70; columns++) {
        const size_t pair = random_below(&random, PAIRS);
        check_with_all_kernels(random_trial(&random, pair, random_rows(&random, pair, columns), columns), &random);
    }
}

/* Every pair with the columns that have kernels of their own, and one that has not. */
static void test_pairs(void **state) {
    struct random random = {run_seed() + 1};
    (void)state;
    for (size_t pair = 0; pair < PAIRS; pair++)
        for (size_t columns = 1; columns <= 9; columns++)
            check_with_all_kernels(random_trial(&random, pair, random_rows(&random, pair, columns), columns), &random);
}

/* Rows around the vectors and groups of narrow kernels. */
static void test_rows(void **state) {
    struct random random = {run_seed() + 2};
    (void)state;
    for (size_t rows = 0; rows <= 260; rows++)
        check_with_all_kernels(random_trial(&random, random_below(&random, PAIRS), rows, 1 + random_below(&random, 8)),
                               &random);
}

/* Rows of several panels, cut by threads or by the cache, last panels of any width. */
static void test_wide_rows(void **state) {
    static const size_t columns[] = {127, 128, 129, 255, 257, 512, 1000, 1024, 1025, 3000};
    struct random random = {run_seed() + 3};
    (void)state;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        check_with_all_kernels(
            random_trial(&random, random_below(&random, PAIRS), 500 + random_below(&random, 700), columns[i]), &random);
}

/* So wide that the last panel is less than a vector, which does not fill the line that it begins in. */
static void test_last_panel_of_a_few_columns(void **state) {
    static const size_t columns[] = {32769, 32771, 65537, 65540, 65541};
    struct random random = {run_seed() + 7};
    (void)state;
    for (size_t i = 0; i < 40; i++) {
        struct trial trial =
            random_trial(&random, random_below(&random, PAIRS), 1 + 2 * random_below(&random, 6), columns[i % 5]);
        trial.streamed = true;
        trial.threads = 1 + (unsigned)(i % 2);
        check_with_all_kernels(trial, &random);
    }
}

/* The first wrong sum, wherever it is: one large value, late or early, in a table of zeros. */
static void test_overflow_is_found(void **state) {
    struct random random = {run_seed() + 4};
    const struct backend *backend = backend_cpu();
    enum { ROWS = 5000 };
    (void)state;
    division_limits = (struct division_limits){
        .thread_bytes = 1, .stream_bytes = SIZE_MAX, .turned_bytes = SIZE_MAX, .threads = POOL_THREADS_MOST};
    for (int i = 0; i < 60; i++) {
        const size_t columns = 1 + random_below(&random, 40), cells = ROWS * columns;
        const bool is_signed = random_once_in(&random, 2);
        const size_t first = random_below(&random, cells - columns), second = first + columns;
        const table_type type = is_signed ? TABLE_I32 : TABLE_U32;
        const uint32_t value = is_signed ? (uint32_t)INT32_MIN : 0x80000000u;
        uint32_t *in = get_memory(cells * sizeof *in), *out = get_memory(cells * sizeof *out);
        uint64_t found = TABLE_NO_OVERFLOW;
        struct scan scan = {.in = {in, ROWS, columns, columns, type},
                            .out = {out, ROWS, columns, columns, type},
                            .element = element_of(type),
                            .exclusive = random_once_in(&random, 2),
                            .first_overflow = &found,
                            .threads = 1 + (unsigned)random_below(&random, 4)};
        memset(in, 0, cells * sizeof *in);
        in[first] = in[second] = value;
        plan_chunks(&scan);
        void *workspace = fused_room(&scan);
        assert_int_equal(backend->fused(&scan, workspace), TABLE_OK);
        assert_true(found == second);
        free(workspace);
        free(in);
        free(out);
    }
}

/* Floats around every half: each upper half of a float, with lower bits that make ties and their neighbours. */
static void test_halves(void **state) {
    (void)state;
    static const uint32_t lower[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff};
    enum { LOWER = sizeof lower / sizeof *lower, UPPER = 1 << 16, FLOATS = LOWER * UPPER };
    uint32_t *floats = malloc(FLOATS * sizeof *floats), *widened = malloc(2 * UPPER * sizeof *widened);
    uint16_t *rounded = malloc(2 * FLOATS * sizeof *rounded), *halves = malloc(UPPER * sizeof *halves);
    double *doubles = malloc(UPPER * sizeof *doubles);
    assert_true(floats && widened && rounded && halves && doubles);
    for (size_t i = 0; i < FLOATS; i++) /* NaN lie far from each other in one order, and together in the other */
        floats[i] = (uint32_t)(i % 2 ? i / LOWER : i % UPPER) << 16 | lower[i % 2 ? i % LOWER : i / UPPER];
    for (size_t i = 0; i < UPPER; i++)
        halves[i] = (uint16_t)i;
    for (int isa = 0; isa < CPU_ISAS; isa++) {
        const struct cpu_kernels *kernels = isa_kernels((enum cpu_isa)isa);
        if (!kernels)
            continue;
        cpu_convert *const(*convert)[TYPE_NUMBERS] = kernels->conversions->convert;
        convert[TABLE_F32][TABLE_F16](rounded, 1, floats, 1, FLOATS, 1);
        convert[TABLE_F32][TABLE_BF16](rounded + FLOATS, 1, floats, 1, FLOATS, 1);
        convert[TABLE_F16][TABLE_F32](widened, 1, halves, 1, UPPER, 1);
        convert[TABLE_BF16][TABLE_F32](widened + UPPER, 1, halves, 1, UPPER, 1);
        for (size_t i = 0; i < FLOATS; i++) {
            const float value = value_float_of_bits(floats[i]);
            uint16_t expected[2];
            reference_round(TABLE_F16, &value, &expected[0], 1);
            reference_round(TABLE_BF16, &value, &expected[1], 1);
            if (value != value) { /* the reference makes another NaN of it */
                expected[0] = (uint16_t)(floats[i] >> 16 & 0x8000) | 0x7e00;
                expected[1] = (uint16_t)(floats[i] >> 16 | 0x40);
            }
            if (rounded[i] != expected[0] || rounded[FLOATS + i] != expected[1])
                fail_msg("%s: %08x is rounded to %04x, %04x, not %04x, %04x", kernels->name, floats[i], rounded[i],
                         rounded[FLOATS + i], expected[0], expected[1]);
        }
        for (size_t i = 0; i < UPPER; i++) {
            const float found = value_float_of_bits(widened[i]), expected = value_of_f16((value_f16){halves[i]});
            if (found != found ? expected == expected : widened[i] != value_bits_of_float(expected))
                fail_msg("%s: f16 %04zx becomes %08x", kernels->name, i, widened[i]);
            if (widened[UPPER + i] != (uint32_t)i << 16)
                fail_msg("%s: bf16 %04zx becomes %08x", kernels->name, i, widened[UPPER + i]);
        }
        convert[TABLE_F16][TABLE_F64](doubles, 1, halves, 1, UPPER, 1);
        for (size_t i = 0; i < UPPER; i++) {
            const double expected = value_of_f16((value_f16){halves[i]});
            if (expected == expected ? memcmp(&doubles[i], &expected, sizeof expected) != 0 : doubles[i] == doubles[i])
                fail_msg("%s: f16 %04zx becomes %a", kernels->name, i, doubles[i]);
        }
        convert[TABLE_BOOL][TABLE_F32](widened, 1, halves, 1, sizeof(uint16_t) * UPPER, 1);
        for (size_t i = 0; i < sizeof(uint16_t) * UPPER; i++)
            if (value_float_of_bits(widened[i]) != (((const char *)halves)[i] != 0))
                fail_msg("%s: the byte %d becomes %08x", kernels->name, ((const char *)halves)[i], widened[i]);
    }
    free(floats);
    free(widened);
    free(rounded);
    free(halves);
    free(doubles);
}

static void test_kernels_are_there(void **state) {
    (void)state;
    assert_non_null(isa_kernels(CPU_ISA_PLAIN));
    for (int isa = 0; isa < CPU_ISAS; isa++)
        print_message("%s\n", isa_kernels((enum cpu_isa)isa) ? isa_kernels((enum cpu_isa)isa)->name : "(not here)");
    print_message("in use: %s\n", isa_kernels_in_use()->name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_are_there),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_wide_rows),
        cmocka_unit_test(test_last_panel_of_a_few_columns),
        cmocka_unit_test(test_overflow_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
