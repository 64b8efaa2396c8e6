/* Linear recurrences and running products against the serial reference, bit for bit: every kind of table, form of
 * coefficients, type, direction, cut and number of threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/random.h"
#include "support/recurrence.h"
#include "support/reference.h"
#include "support/tables.h"
#include "support/ways.h"
#include "values.h"

enum form { FORM_TABLE, FORM_ROW, FORM_COLUMN, FORM_NUMBER, FORMS };

/* One call, or several that make one recurrence. */
struct trial {
    const char *kind;
    table_type in_type, out_type, a_type;
    enum form form;
    size_t rows, columns, tables;
    size_t gap; /* stride - columns, of all tables */
    bool is_product, exclusive, reverse, shifted, in_place, has_start, by_stream, turned, skips;
    unsigned threads, pieces;
    table_strategy strategy;
    uint64_t seed;
};

static void describe(const struct trial *t, const char *way) {
    print_error("%s: %s, %s%s, %s a, %s -> %s, form %d, %zu tables of %zu x %zu + %zu,%s%s%s%s%s%s%s %u threads, "
                "%u pieces, seed %llu\n",
                way, t->kind, t->is_product ? "product" : "recurrence", t->by_stream ? " by stream" : "",
                table_type_name(t->a_type), table_type_name(t->in_type), table_type_name(t->out_type), (int)t->form,
                t->tables, t->rows, t->columns, t->gap, t->exclusive ? " exclusive," : "",
                t->reverse ? " reverse," : "", t->shifted ? " shifted," : "", t->in_place ? " in place," : "",
                t->has_start ? " start," : "", t->turned ? " turned," : "", t->skips ? " skips NaN," : "", t->threads,
                t->pieces, (unsigned long long)t->seed);
}

static void *get_memory(size_t bytes) {
    void *const memory = aligned_alloc(64, (bytes / 64 + 1) * 64);
    assert_non_null(memory);
    memset(memory, 0x5A, bytes);
    return memory;
}

static table_type kept_as(table_type type) { return type == TABLE_F64 ? TABLE_F64 : TABLE_F32; }

static double get(table_type type, const void *values, size_t i) {
    return type == TABLE_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static void set(table_type type, void *values, size_t i, double value) {
    if (type == TABLE_F32)
        ((float *)values)[i] = (float)value;
    else
        ((double *)values)[i] = value;
}

/* Rounds to the type and back: `kept` becomes what the library will read. */
static void store_as(table_type type, table_type kept, void *to, size_t at, void *values, size_t i) {
    uint16_t half;
    if (type == kept) {
        memcpy((char *)to + at * element_size(type), (char *)values + i * element_size(kept), element_size(kept));
        return;
    }
    reference_round(TABLE_F32, (float *)values + i, type, &half, 1);
    memcpy((char *)to + at * sizeof half, &half, sizeof half);
    ((float *)values)[i] =
        (float)(type == TABLE_BF16 ? value_of_bf16((value_bf16){half}) : value_of_f16((value_f16){half}));
}

/* The tables of a trial as the library is given them, and as the reference is: side by side, in the order of the
 * recurrence, table after table. */
struct memory_of {
    char *a, *b, *h, *start, *first, *end;       /* as given */
    char *wide_a, *wide_b, *wanted, *wanted_end; /* as the reference has them */
    size_t stride, b_bytes, h_bytes;             /* elements */
    uint64_t nans, skipped;
    table_type kept;
};

/* A copy of what is on the host, in memory of the way. */
struct copy {
    struct block block;
    char *host;
};

static bool is_on_device(const struct way *way) { return way->memory->on_device; }

/* The memory that calls are given for `bytes` on the host: itself, or a copy on the device. */
static char *lend(const struct way *way, struct copy *copy, char *host, size_t bytes) {
    copy->host = host;
    if (!is_on_device(way))
        return host;
    assert_true(block_open(&copy->block, way->memory, bytes, 0, EDGE_BACK));
    assert_true(block_upload(&copy->block, host));
    return copy->block.address;
}

static void give_back(const struct way *way, struct copy *copy) {
    if (!is_on_device(way))
        return;
    assert_true(block_download(&copy->block, copy->host));
    assert_true(block_surroundings_intact(&copy->block));
    block_close(&copy->block);
}

static size_t row_at(const struct trial *t, size_t i) { return t->reverse ? t->rows - 1 - i : i; }

/* Where row i of table k lies, in elements; turned tables have the last row first. */
static size_t place(const struct trial *t, const struct memory_of *m, size_t k, size_t i, size_t j) {
    const size_t row = t->turned ? t->rows - 1 - i : i;
    return (k * t->rows + row) * m->stride + j;
}

/* Coefficients of a form repeat those of row 0, or column 0. Shifted ones come from the row before. */
static void make_coefficients(const struct trial *t, struct memory_of *m) {
    const size_t cells = t->rows * t->columns, row = t->columns * element_size(m->kept);
    char *const own = get_memory(cells * element_size(m->kept));
    for (size_t k = 0; k < t->tables; k++) {
        char *const wide = m->wide_a + k * cells * element_size(m->kept);
        for (size_t i = 0; i < t->rows; i++)
            for (size_t j = 0; j < t->columns; j++) {
                const size_t from = (t->form == FORM_ROW || t->form == FORM_NUMBER ? 0 : i) * t->columns +
                                    (t->form == FORM_COLUMN || t->form == FORM_NUMBER ? 0 : j);
                set(m->kept, own, i * t->columns + j, get(m->kept, wide, from));
            }
        for (size_t i = 0; i < t->rows; i++)
            for (size_t j = 0; j < t->columns; j++) {
                const size_t at = row_at(t, i);
                const size_t to = t->form == FORM_TABLE    ? place(t, m, k, at, j)
                                  : t->form == FORM_ROW    ? k * t->columns + j
                                  : t->form == FORM_COLUMN ? k * t->rows + at
                                                           : k;
                store_as(t->a_type, m->kept, m->a, to, own, i * t->columns + j);
            }
        for (size_t j = 0; t->shifted && j < t->columns; j++)
            set(m->kept, own + (t->rows - 1) * row, j, t->has_start ? get(m->kept, own + (t->rows - 1) * row, j) : 0);
        memcpy(wide, own, cells * element_size(m->kept));
        if (t->shifted) {
            memcpy(wide + row, own, cells * element_size(m->kept) - row);
            for (size_t j = 0; j < t->columns; j++) {
                const bool one = t->form == FORM_COLUMN || t->form == FORM_NUMBER;
                set(m->kept, wide, j, t->has_start ? get(m->kept, own, one ? 0 : j) : 0);
                if (t->has_start)
                    store_as(t->a_type, m->kept, m->first, one ? k : k * t->columns + j, wide, j);
            }
        }
    }
    free(own);
}

static void make_tables(const struct trial *t, struct memory_of *m) {
    const size_t cells = t->rows * t->columns, size = 8;
    m->kept = kept_as(t->in_type);
    m->stride = t->columns + t->gap;
    m->b_bytes = m->h_bytes = t->tables * t->rows * m->stride * size;
    m->a = get_memory(m->b_bytes);
    m->b = get_memory(m->b_bytes);
    m->h = t->in_place ? m->b : get_memory(m->h_bytes);
    m->start = get_memory(t->tables * t->columns * size);
    m->end = get_memory(t->tables * t->columns * size);
    m->first = get_memory(t->tables * t->columns * size);
    m->wide_a = get_memory(t->tables * cells * size);
    m->wide_b = get_memory(t->tables * cells * size);
    m->wanted = get_memory(t->tables * cells * size);
    m->wanted_end = get_memory(t->tables * t->columns * size);
    for (size_t k = 0; k < t->tables; k++) {
        char *const a = m->wide_a + k * cells * element_size(m->kept),
                    *b = m->wide_b + k * cells * element_size(m->kept);
        recurrence_make(m->kept, t->kind, t->rows, t->columns, t->seed + k, a, b);
        for (size_t i = 0; t->is_product && i < cells; i++) { /* near 1, and now and then what is not finite */
            const double value = get(m->kept, b, i);
            set(m->kept, b, i, isfinite(value) ? 1 + value * 0x1p-12 : value);
        }
        for (size_t i = 0; i < t->rows; i++)
            for (size_t j = 0; j < t->columns; j++)
                store_as(t->in_type, m->kept, m->b, place(t, m, k, row_at(t, i), j), b, i * t->columns + j);
        for (size_t i = 0; t->skips && i < cells; i++)
            if (isnan(get(m->kept, b, i))) {
                set(m->kept, b, i, t->is_product ? 1 : -0.0);
                m->nans++;
            }
        for (size_t j = 0; j < t->columns; j++)
            set(m->kept, m->start, k * t->columns + j, t->has_start ? 0.5 + (double)(j % 7) : t->is_product);
    }
    if (!t->is_product)
        make_coefficients(t, m);
}

static void free_tables(const struct trial *t, const struct memory_of *m) {
    free(m->a);
    free(m->b);
    if (!t->in_place)
        free(m->h);
    free(m->start);
    free(m->end);
    free(m->first);
    free(m->wide_a);
    free(m->wide_b);
    free(m->wanted);
    free(m->wanted_end);
}

static void make_wanted(const struct trial *t, struct memory_of *m) {
    const size_t cells = t->rows * t->columns * element_size(m->kept), row = t->columns * element_size(m->kept);
    for (size_t k = 0; k < t->tables; k++)
        recurrence_reference(&(struct recurrence){.type = m->kept,
                                                  .rows = t->rows,
                                                  .columns = t->columns,
                                                  .is_product = t->is_product,
                                                  .a = (t->is_product ? m->wide_b : m->wide_a) + k * cells,
                                                  .b = t->is_product ? NULL : m->wide_b + k * cells,
                                                  .start = m->start + k * row,
                                                  .inclusive = t->exclusive ? NULL : m->wanted + k * cells,
                                                  .exclusive = t->exclusive ? m->wanted + k * cells : NULL,
                                                  .last = m->wanted_end + k * row});
}

static table_view view_of(const struct trial *t, const struct memory_of *m, char *data, table_type type, size_t first,
                          size_t rows) {
    const ptrdiff_t row = (ptrdiff_t)(t->turned ? t->rows - 1 - first : first);
    return (table_view){data + row * (ptrdiff_t)m->stride * (ptrdiff_t)element_size(type), rows, t->columns,
                        t->turned ? -(ptrdiff_t)m->stride : (ptrdiff_t)m->stride, type};
}

/* Rows [first, first + rows), as they lie; those that come before are summed. */
static table_status run_piece(const struct trial *t, struct memory_of *m, const struct way *way, void *state,
                              size_t first, size_t rows) {
    const size_t size = element_size(t->a_type), cells = t->rows * m->stride;
    const bool per_column = t->form == FORM_TABLE || t->form == FORM_ROW;
    const bool is_first = t->reverse ? first + rows == t->rows : first == 0;
    const table_view b = view_of(t, m, m->b, t->in_type, first, rows),
                     h = view_of(t, m, m->h, t->out_type, first, rows);
    table_view a = view_of(t, m, m->a, t->a_type, first, rows);
    if (t->form == FORM_ROW || t->form == FORM_NUMBER)
        a = (table_view){m->a, 1, t->form == FORM_ROW ? t->columns : 1, 0, t->a_type};
    else if (t->form == FORM_COLUMN)
        a = (table_view){m->a + first * size, rows, 1, 0, t->a_type};
    const size_t before = t->reverse ? first + rows : first - 1; /* the row of a beyond the piece */
    const char *beyond = m->first;
    if (!is_first)
        beyond = t->form == FORM_TABLE    ? m->a + place(t, m, 0, before, 0) * size
                 : t->form == FORM_COLUMN ? m->a + before * size
                                          : m->a;
    uint64_t skipped = 0;
    table_scan_options options = {.exclusive = t->exclusive,
                                  .backend = way->backend,
                                  .strategy = t->strategy,
                                  .threads = t->threads,
                                  .reverse = t->reverse,
                                  .carry_in = t->has_start && is_first ? m->start : NULL,
                                  .carry_out = m->end,
                                  .skip_nan = t->skips,
                                  .skipped = t->skips && !(t->by_stream && is_on_device(way)) ? &skipped : NULL,
                                  .state = state,
                                  .operation = t->is_product ? TABLE_PRODUCT : TABLE_SUM,
                                  .tables = t->tables,
                                  .in_step = (ptrdiff_t)cells,
                                  .out_step = (ptrdiff_t)cells};
    if (!t->is_product) {
        options.shifted_coefficients = t->shifted;
        options.first_coefficients = t->shifted && (t->has_start || !is_first) ? beyond : NULL;
        options.coefficient_step = t->form == FORM_TABLE    ? (ptrdiff_t)cells
                                   : t->form == FORM_ROW    ? (ptrdiff_t)t->columns
                                   : t->form == FORM_COLUMN ? (ptrdiff_t)t->rows
                                                            : 1;
        (void)per_column;
    }
    size_t bytes = 0;
    table_status status;
    if (!t->by_stream) {
        status = t->is_product ? table_prefix_sum(&b, &h, &options) : table_linear_recurrence(&a, &b, &h, &options);
        m->skipped += skipped;
        return status;
    }
    status = t->is_product ? table_prefix_sum_workspace(&b, &h, &options, &bytes)
                           : table_linear_recurrence_workspace(&a, &b, &h, &options, &bytes);
    if (status != TABLE_OK)
        return status;
    struct copy workspace;
    char *const host = get_memory(bytes + 256 + TABLE_WORKSPACE_ALIGNMENT);
    char *const aligned =
        host + (TABLE_WORKSPACE_ALIGNMENT - (uintptr_t)host % TABLE_WORKSPACE_ALIGNMENT) % TABLE_WORKSPACE_ALIGNMENT;
    options.workspace = lend(way, &workspace, aligned, (bytes / 256 + 1) * 256);
    options.workspace_bytes = bytes;
    options.stream = way->stream_open();
    status =
        t->is_product ? table_prefix_sum_async(&b, &h, &options) : table_linear_recurrence_async(&a, &b, &h, &options);
    assert_true(way->stream_wait(options.stream));
    way->stream_close(options.stream);
    give_back(way, &workspace);
    free(host);
    m->skipped += skipped;
    return status;
}

static table_status run_trial(const struct trial *t, struct memory_of *m, const struct way *way,
                              struct random *random) {
    size_t bytes, done = 0;
    if (t->pieces <= 1)
        return run_piece(t, m, way, NULL, 0, t->rows);
    assert_int_equal(
        table_state_bytes_of(t->is_product ? TABLE_PRODUCT : TABLE_RECURRENCE, m->kept, t->columns, &bytes), TABLE_OK);
    void *const state = get_memory(bytes);
    memset(state, 0, bytes);
    table_status status = TABLE_OK;
    for (unsigned piece = 0; piece < t->pieces && status == TABLE_OK; piece++) {
        const size_t left = t->rows - done, rows = piece + 1 == t->pieces ? left : random_below(random, left + 1);
        if (rows > 0 || piece + 1 == t->pieces)
            status = run_piece(t, m, way, state, t->reverse ? left - rows : done, rows);
        done += rows;
    }
    free(state);
    return status;
}

/* As run_trial(), with the tables where the way has them. */
static table_status run_lent(const struct trial *t, struct memory_of *m, const struct way *way, struct random *random) {
    const size_t row = t->tables * t->columns * 8;
    struct memory_of lent = *m;
    struct copy copies[6];
    lent.a = lend(way, &copies[0], m->a, m->b_bytes);
    lent.b = lend(way, &copies[1], m->b, m->b_bytes);
    lent.h = t->in_place ? lent.b : lend(way, &copies[2], m->h, m->h_bytes);
    lent.start = lend(way, &copies[3], m->start, row);
    lent.first = lend(way, &copies[4], m->first, row);
    lent.end = lend(way, &copies[5], m->end, row);
    const table_status status = run_trial(t, &lent, way, random);
    for (size_t i = 0; i < 6; i++)
        if (i != 2 || !t->in_place)
            give_back(way, &copies[i]);
    m->skipped = lent.skipped;
    return status;
}

/* What the CUDA backend has not: states, and tables in host memory. */
static bool is_refused(const struct trial *t, const struct way *way) {
    return way->backend == TABLE_BACKEND_CUDA && (t->pieces > 1 || !is_on_device(way));
}

static bool same_bits(table_type type, const void *x, const void *y) {
    uint64_t a = 0, b = 0;
    memcpy(&a, x, element_size(type));
    memcpy(&b, y, element_size(type));
    return elements_same(a, b, type);
}

/* Fails at the first value that is not as the reference says. */
static void compare(const struct trial *t, const struct memory_of *m, const char *way) {
    const size_t kept = element_size(m->kept), size = element_size(t->out_type);
    for (size_t k = 0; k < t->tables; k++)
        for (size_t i = 0; i < t->rows; i++)
            for (size_t j = 0; j < t->columns; j++) {
                const char *const wanted = m->wanted + ((k * t->rows + i) * t->columns + j) * kept;
                uint64_t rounded = 0;
                if (t->out_type == m->kept)
                    memcpy(&rounded, wanted, kept);
                else
                    reference_round(m->kept, wanted, t->out_type, &rounded, 1);
                const char *const found = m->h + place(t, m, k, row_at(t, i), j) * size;
                if (!same_bits(t->out_type, &rounded, found)) {
                    describe(t, way);
                    fail_msg("table %zu, row %zu of the recurrence, column %zu: %g, not %g", k, i, j,
                             size > 2 ? get(t->out_type, found, 0) : 0.0, get(m->kept, wanted, 0));
                }
            }
    for (size_t j = 0; j < t->tables * t->columns; j++)
        if (!same_bits(m->kept, m->wanted_end + j * kept, m->end + j * kept)) {
            describe(t, way);
            fail_msg("carry out of column %zu: %g, not %g", j, get(m->kept, m->end, j), get(m->kept, m->wanted_end, j));
        }
}

static void check(const struct trial *t, const struct way *way, struct random *random) {
    struct memory_of m = {0};
    make_tables(t, &m);
    make_wanted(t, &m);
    const table_status status = run_lent(t, &m, way, random);
    if (is_refused(t, way)) {
        assert_int_equal(status, TABLE_ERROR_BACKEND);
        free_tables(t, &m);
        return;
    }
    if (status != TABLE_OK) {
        describe(t, way->name);
        fail_msg("%s", table_error_detail());
    }
    compare(t, &m, way->name);
    if (m.nans != m.skipped && !(t->by_stream && is_on_device(way))) {
        describe(t, way->name);
        fail_msg("%llu NaN were skipped, not %llu", (unsigned long long)m.skipped, (unsigned long long)m.nans);
    }
    free_tables(t, &m);
}

static struct trial random_trial(struct random *random) {
    static const table_type types[][2] = {{TABLE_F32, TABLE_F32},   {TABLE_F64, TABLE_F64},  {TABLE_F32, TABLE_F32},
                                          {TABLE_BF16, TABLE_BF16}, {TABLE_BF16, TABLE_F32}, {TABLE_F16, TABLE_F16},
                                          {TABLE_F16, TABLE_F32}};
    static const size_t rows[] = {1, 2, 7, 8, 9, 31, 300, 511, 512, 513, 1024, 1500, 2048 + 17, 5000};
    const size_t pair = random_below(random, sizeof types / sizeof *types);
    struct trial t = {.kind = recurrence_kinds[random_below(random, recurrence_kind_count)],
                      .in_type = types[pair][0],
                      .out_type = types[pair][1],
                      .form = (enum form)random_below(random, FORMS),
                      .rows = rows[random_below(random, sizeof rows / sizeof *rows)],
                      .columns = 1 + random_below(random, random_once_in(random, 4) ? 150 : 20),
                      .tables = random_once_in(random, 4) ? 1 + random_below(random, 5) : 1,
                      .gap = random_once_in(random, 2) ? 0 : random_below(random, 20),
                      .is_product = random_once_in(random, 5),
                      .exclusive = random_once_in(random, 3),
                      .reverse = random_once_in(random, 3),
                      .shifted = random_once_in(random, 3),
                      .has_start = random_once_in(random, 2),
                      .by_stream = random_once_in(random, 3),
                      .turned = random_once_in(random, 4),
                      .skips = random_once_in(random, 4),
                      .threads = 1 + (unsigned)random_below(random, 4),
                      .pieces = random_once_in(random, 2) ? 1 : 2 + (unsigned)random_below(random, 5),
                      .strategy = (table_strategy)random_below(random, TABLE_STRATEGY_FUSED + 1),
                      .seed = random_bits(random)};
    t.a_type = t.in_type == TABLE_F64 || !random_once_in(random, 3) ? t.in_type : TABLE_F32;
    if (t.rows * t.columns > 40000)
        t.columns = 1 + t.columns % 7;
    if (t.is_product)
        t.shifted = false;
    if (t.tables > 1) {
        t.pieces = 1;
        t.turned = false;
    }
    t.in_place = t.in_type == t.out_type && random_once_in(random, 3);
    return t;
}

static void test_random_tables(void **state) {
    struct random random = {run_seed()};
    const unsigned trials = 150 * run_rounds() / run_few();
    (void)state;
    for (unsigned i = 0; i < trials + 20; i++) {
        const struct trial t = random_trial(&random);
        for (size_t way = 0; way < way_count; way++) {
            way_enter(&ways[way]);
            check(&t, &ways[way], &random);
        }
    }
}

static const char *file_name;

/* The bits that Python's tree has: a promise across versions. */
static void check_line(const struct recurrence_line *line, const struct way *way, bool exclusive) {
    const size_t row = line->columns * element_size(line->type), bytes = line->rows * row;
    char *const a = get_memory(bytes), *const b = get_memory(bytes), *const start = get_memory(row);
    char *const results = get_memory(bytes);
    struct copy copies[4];
    recurrence_make_line(line, a, b, start);
    const table_view factors = {lend(way, &copies[0], a, bytes), line->rows, line->columns, 0, line->type};
    const table_view terms = {lend(way, &copies[1], b, bytes), line->rows, line->columns, 0, line->type};
    const table_view out = {lend(way, &copies[2], results, bytes), line->rows, line->columns, 0, line->type};
    const table_scan_options options = {.exclusive = exclusive,
                                        .backend = way->backend,
                                        .threads = 1 + (unsigned)(line->rows % 3),
                                        .carry_in = lend(way, &copies[3], start, row),
                                        .operation = line->is_product ? TABLE_PRODUCT : TABLE_SUM};
    const table_status status = line->is_product ? table_prefix_sum(&factors, &out, &options)
                                                 : table_linear_recurrence(&factors, &terms, &out, &options);
    if (status != TABLE_OK)
        fail_msg("%s: %s", way->name, table_error_detail());
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        give_back(way, &copies[i]);
    if (recurrence_checksum(line->type, results, line->rows * line->columns) !=
        (exclusive ? line->exclusive : line->inclusive))
        fail_msg("other bits than in %s: %s, %s, %zu x %zu", file_name, way->name, line->kind, line->rows,
                 line->columns);
    free(a);
    free(b);
    free(start);
    free(results);
}

static void check_line_in_all_ways(const struct recurrence_line *line, unsigned number) {
    for (size_t way = 0; way < way_count; way++) {
        if (!ways[way].direct)
            continue;
        way_enter(&ways[way]);
        check_line(line, &ways[way], number % 2);
        check_line(line, &ways[way], !(number % 2));
    }
}

static void test_bits_are_kept(void **state) {
    (void)state;
    assert_true(recurrence_each_line(file_name, check_line_in_all_ways));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_tables), cmocka_unit_test(test_bits_are_kept)};
    const char *unavailable = ways_unavailable();
    if (unavailable) {
        printf("skipped: %s\n", unavailable);
        return 77;
    }
    if (argc < 2)
        return 2;
    file_name = argv[1];
    return cmocka_run_group_tests_name("linear_recurrence", tests, NULL, NULL);
}
