/* Tables as people have them: sums from the end, a row of offsets beside the results, rows from the last one to the
 * first, data at any address, NaN that count as nothing, no columns; whole, and in pieces that go on by a state. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/scan_case.h"

/* Where the values of a call with offsets lie. */
enum place { APART, AT_FIRST_ROW, AT_SECOND_ROW, PLACES };

/* A table that is summed in pieces, in the order in which rows are counted. */
struct trial {
    const struct way *way;
    struct random random;
    table_type in_type, out_type, sum_type;
    size_t rows, columns;
    bool reverse, exclusive, offsets, skip_nan, with_state, on_stream, begun;
    enum place place;
    size_t done, piece; /* rows that are counted before the piece, and in it */
    char *values;       /* rows of in_type, side by side */
    char *start;        /* a row of sums, or NULL */
    char *state;        /* on the host; copied to the tables' memory where a stream needs it there */
    size_t state_bytes;
    struct reference expected;
    uint64_t skipped;
};

static void fail_trial(const struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail_trial(const struct trial *t, const char *format, ...) {
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    print_error("%s\n  %s->%s, %s, %zu x %zu, rows %zu to %zu%s%s%s%s%s%s%s, place %d\n  TUPLESCAN_TEST_SEED=%" PRIu64
                "\n",
                what, table_type_name(t->in_type), table_type_name(t->out_type), t->way->name, t->rows, t->columns,
                t->done, t->done + t->piece, t->reverse ? ", reverse" : "", t->exclusive ? ", exclusive" : "",
                t->offsets ? ", offsets" : "", t->skip_nan ? ", skip NaN" : "", t->with_state ? ", state" : "",
                t->on_stream ? ", stream" : "", t->start ? ", start" : "", t->place, run_seed());
    fail();
}

static void require_ok(const struct trial *t, table_status status) {
    if (status != TABLE_OK)
        fail_trial(t, "%s: %s", table_status_name(status), table_error_detail());
}

static size_t sum_row(const struct trial *t) { return t->columns * element_size(t->sum_type); }

/* The table's row that is counted as row n. */
static size_t row_of(const struct trial *t, size_t n) { return t->reverse ? t->rows - 1 - n : n; }

/* The sums of the n rows that are counted first. */
static const char *sums_of(const struct trial *t, size_t n) {
    static const char zeros[4096];
    if (n > 0)
        return (const char *)t->expected.kept + row_of(t, n - 1) * sum_row(t);
    return t->start ? t->start : zeros;
}

/* The results of the piece, in the order of the table's rows: row i is the sum of so many rows. */
static void set_expected(const struct trial *t, struct table *out) {
    const size_t rows = t->piece + t->offsets, bytes = t->columns * element_size(t->out_type);
    char *packed = malloc(rows * bytes + 1);
    assert_non_null(packed);
    for (size_t i = 0; i < rows; i++) {
        const size_t counted = t->reverse ? rows - 1 - i : i;
        reference_round(t->out_type, sums_of(t, t->done + counted + !(t->exclusive || t->offsets)), packed + i * bytes,
                        t->columns);
    }
    table_set_packed(out, packed);
    free(packed);
}

static bool open_anywhere(struct trial *t, struct table *table, table_type type, size_t rows) {
    struct random *random = &t->random;
    const ptrdiff_t stride = (ptrdiff_t)(t->columns + (random_once_in(random, 2) ? random_below(random, 4) : 0));
    const size_t size = element_size(type);
    const size_t skew = random_once_in(random, 3) ? random_below(random, size) : 0;
    return table_open_anywhere(table, t->way->memory, type, rows, t->columns,
                               random_once_in(random, 3) ? -stride : stride, random_below(random, 4) * size + skew,
                               skew == 0 && random_once_in(random, 2) ? EDGE_BACK : EDGE_FRONT);
}

/* Both tables of a piece; in is out's without a row where they share memory. */
static void open_piece(struct trial *t, struct table *in, struct table *out, table_view *in_view) {
    const size_t in_row = t->columns * element_size(t->in_type);
    const size_t first = t->reverse ? t->rows - t->done - t->piece : t->done;
    const char *const values = t->values + first * in_row;
    assert_true(open_anywhere(t, out, t->out_type, t->piece + t->offsets));
    table_randomize(out, &t->random, PATTERN_BITS);
    if (t->place != APART) {
        struct table window = *out;
        window.view.rows = t->piece;
        if (t->place == AT_SECOND_ROW) {
            const ptrdiff_t step = out->view.stride * (ptrdiff_t)element_size(t->in_type);
            window.first = (size_t)((ptrdiff_t)window.first + step);
            window.view.data = (char *)window.view.data + step;
        }
        table_set_packed(&window, values);
        *in_view = window.view;
    } else {
        assert_true(open_anywhere(t, in, t->in_type, t->piece));
        table_set_packed(in, values);
        assert_true(table_upload(in));
        *in_view = in->view;
    }
    assert_true(table_upload(out));
}

static void call(struct trial *t, const table_view *in, const table_view *out, table_scan_options *options) {
    struct block workspace;
    if (!t->on_stream) {
        require_ok(t, table_prefix_sum(in, out, options));
        return;
    }
    require_ok(t, table_prefix_sum_workspace(in, out, options, &options->workspace_bytes));
    assert_true(block_open(&workspace, t->way->memory, options->workspace_bytes, 0, EDGE_FRONT));
    options->workspace = options->workspace_bytes > 0 ? workspace.address : NULL;
    options->stream = t->way->stream_open();
    require_ok(t, table_prefix_sum_async(in, out, options));
    assert_true(t->way->stream_wait(options->stream));
    t->way->stream_close(options->stream);
    assert_true(block_surroundings_intact(&workspace));
    block_close(&workspace);
}

static struct block side(const struct trial *t, size_t bytes, const void *from) {
    struct block block;
    assert_true(
        block_open(&block, t->way->memory, bytes, 0, bytes % TABLE_STATE_ALIGNMENT == 0 ? EDGE_BACK : EDGE_FRONT));
    assert_true(!from || block_upload(&block, from));
    return block;
}

static void check_row(const struct trial *t, const struct block *row) {
    const size_t size = element_size(t->sum_type);
    char *found = malloc(row->bytes + 1);
    assert_non_null(found);
    assert_true(block_download(row, found));
    for (size_t j = 0; j < t->columns; j++)
        if (!elements_same(element_bits(sums_of(t, t->done + t->piece) + j * size, t->sum_type),
                           element_bits(found + j * size, t->sum_type), t->sum_type))
            fail_trial(t, "carry_out is wrong at column %zu", j);
    free(found);
}

/* The first of all is at a row that is counted, or none. */
static void check_found(const struct trial *t, uint64_t found) {
    const uint64_t first = t->expected.first_overflow;
    const size_t row = first == TABLE_NO_OVERFLOW ? SIZE_MAX : (size_t)(first / t->columns), end = t->done + t->piece;
    const uint64_t base = t->with_state ? 0 : t->done * t->columns;
    if (row >= end && found != TABLE_NO_OVERFLOW)
        fail_trial(t, "first_overflow is %" PRIu64 ", where there is none", found);
    if (row >= t->done && row < end && found + base != first)
        fail_trial(t, "first_overflow is %" PRIu64 ", not %" PRIu64, found, first - base);
}

static void check_piece(struct trial *t) {
    struct table in = {0}, out;
    struct difference at;
    table_view in_view;
    uint64_t found = 3, skipped = 5;
    const bool integers = !element_is_float(t->sum_type), starts = t->start && !t->begun;
    struct block state = side(t, t->with_state ? t->state_bytes : 0, t->state), carry_out = side(t, sum_row(t), NULL);
    struct block carry_in = side(t, sum_row(t), t->start), word = side(t, sizeof found, &found);
    open_piece(t, &in, &out, &in_view);
    table_scan_options options = {.backend = t->way->backend,
                                  .strategy = (table_strategy)random_below(&t->random, 4),
                                  .threads = (unsigned)random_below(&t->random, 4),
                                  .exclusive = t->exclusive,
                                  .reverse = t->reverse,
                                  .offsets = t->offsets,
                                  .skip_nan = t->skip_nan,
                                  .carry_in = starts ? carry_in.address : NULL,
                                  .carry_out = carry_out.address,
                                  .state = t->with_state ? state.address : NULL};
    if (integers)
        options.first_overflow = word.address;
    if (t->skip_nan)
        options.skipped = word.address;
    call(t, &in_view, &out.view, &options);
    t->begun = true;
    set_expected(t, &out);
    if (!table_holds_image(&out, &at))
        fail_trial(t, "wrong at row %zu of the piece, column %zu: expected %#" PRIx64 ", found %#" PRIx64, at.row,
                   at.column, at.expected, at.found);
    if (t->place == APART && !table_holds_image(&in, &at))
        fail_trial(t, "in was written at row %zu", at.row);
    check_row(t, &carry_out);
    assert_true(block_download(&word, integers ? &found : &skipped) && block_download(&state, t->state));
    if (integers)
        check_found(t, found);
    t->skipped += t->skip_nan ? skipped : 0;
    struct block *const blocks[] = {&state, &carry_out, &carry_in, &word};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        assert_true(block_surroundings_intact(blocks[i]));
        block_close(blocks[i]);
    }
    if (t->place == APART)
        table_close(&in);
    table_close(&out);
}

/* A state says how far a sum has come, not in which direction: the totals by themselves leave the same. */
static void check_state(const struct trial *t) {
    const table_view view = {t->values, t->rows, t->columns, 0, t->in_type};
    char *state = aligned_alloc(64, (t->state_bytes + 63) / 64 * 64);
    assert_non_null(state);
    memset(state, 0, t->state_bytes);
    uint64_t skipped = 9;
    const table_scan_options options = {.state = state,
                                        .carry_in = t->start,
                                        .reverse = t->reverse,
                                        .skip_nan = t->skip_nan,
                                        .skipped = t->skip_nan ? &skipped : NULL};
    require_ok(t, table_column_totals(&view, t->sum_type, NULL, &options));
    for (size_t i = 0; i < t->state_bytes && !element_is_float(t->sum_type); i++)
        if (state[i] != t->state[i])
            fail_trial(t, "the state is another at byte %zu", i);
    require_ok(t, table_state_check(t->state, t->state_bytes, t->sum_type, t->columns));
    if (t->skip_nan && skipped != t->expected.skipped)
        fail_trial(t, "totals skipped %" PRIu64 " NaN, not %" PRIu64, skipped, t->expected.skipped);
    free(state);
}

static void open_trial(struct trial *t, enum pattern pattern) {
    const size_t in_size = element_size(t->in_type), cells = t->rows * t->columns;
    t->sum_type = reference_sum_type(t->out_type);
    t->values = malloc(cells * in_size + 1);
    t->start = random_once_in(&t->random, 2) ? malloc(sum_row(t) + 1) : NULL;
    t->expected = (struct reference){
        .type = t->out_type, .reverse = t->reverse, .skip_nan = t->skip_nan, .kept = malloc(t->rows * sum_row(t) + 1)};
    assert_non_null(t->values);
    assert_non_null(t->expected.kept);
    assert_int_equal(table_state_bytes(t->sum_type, t->columns, &t->state_bytes), TABLE_OK);
    t->state = aligned_alloc(64, (t->state_bytes + 63) / 64 * 64);
    assert_non_null(t->state);
    memset(t->state, 0, t->state_bytes);
    for (size_t i = 0; i < cells; i++)
        element_randomize(t->values + i * in_size, t->in_type, &t->random, pattern);
    for (size_t j = 0; t->start && j < t->columns; j++)
        element_randomize(t->start + j * element_size(t->sum_type), t->sum_type, &t->random, PATTERN_SMALL);
    const table_view view = {t->values, t->rows, t->columns, 0, t->in_type};
    assert_true(reference_prefix_sum(&view, t->start, false, &t->expected));
}

static void close_trial(struct trial *t) {
    free(t->values);
    free(t->start);
    free(t->state);
    free(t->expected.kept);
}

/* Without a state one piece is all. */
static void check_trial(struct trial *t, enum pattern pattern) {
    open_trial(t, pattern);
    way_enter(t->way);
    do {
        const size_t left = t->rows - t->done;
        t->piece = t->with_state && left > 0 ? random_below(&t->random, left + 1) : left;
        if (random_once_in(&t->random, 3))
            t->piece = left;
        if (!t->with_state)
            t->piece = left;
        check_piece(t);
        t->done += t->piece;
    } while (t->done < t->rows);
    if (t->skip_nan && t->skipped != t->expected.skipped)
        fail_trial(t, "%" PRIu64 " NaN were skipped, not %" PRIu64, t->skipped, t->expected.skipped);
    if (t->with_state)
        check_state(t);
    close_trial(t);
}

static void check_random(const struct way *way, struct type_pair pair, struct random *random) {
    struct trial t = {.way = way, .random = {random_bits(random)}, .in_type = pair.in, .out_type = pair.out};
    t.columns = random_once_in(random, 12) ? 0 : 1 + random_below(random, random_once_in(random, 4) ? 130 : 9);
    t.rows = random_below(random, random_once_in(random, 3) ? 20 : 4000 / (t.columns + 1));
    if (random_once_in(random, 6))
        t.rows = random_below(random, run_small() ? 2000 : 20000) / (1 + t.columns / 8);
    t.reverse = random_once_in(random, 2);
    t.offsets = !random_once_in(random, 3);
    t.exclusive = !t.offsets && random_once_in(random, 2);
    t.skip_nan = element_is_float(pair.out) && random_once_in(random, 2);
    t.with_state = random_once_in(random, 2);
    t.on_stream = way->direct && random_once_in(random, 3);
    t.place = t.offsets && pair.in == pair.out ? (enum place)random_below(random, PLACES) : APART;
    check_trial(&t, (enum pattern)random_below(random, PATTERN_COUNT));
}

static void test_random_layouts(void **state) {
    const unsigned rounds = (run_small() ? 4 : 40) * run_rounds();
    struct random random = {run_seed()};
    (void)state;
    for (size_t i = 0; i < way_count; i++)
        for (size_t pair = 0; pair < type_pair_count; pair++)
            for (unsigned round = 0; round < rounds; round++)
                check_random(&ways[i], type_pairs[pair], &random);
}

/* Each call of the scan, of tables that have no values. */
static void test_no_columns(void **state) {
    (void)state;
    for (size_t i = 0; i < way_count; i++)
        for (size_t rows = 0; rows < 1000; rows = 3 * rows + 1)
            for (int reverse = 0; reverse < 2; reverse++) {
                const table_view in = {NULL, rows, 0, 0, TABLE_F32}, out = {NULL, rows, 0, 7, TABLE_F32};
                table_scan_options options = {.backend = ways[i].backend, .reverse = reverse};
                table_report report;
                size_t bytes = 12345;
                way_enter(&ways[i]);
                assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
                assert_int_equal(table_prefix_sum_workspace(&in, &out, &options, &bytes), TABLE_OK);
                options.report = &report;
                assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
                assert_int_equal(report.units, 0);
                float nothing = 5;
                assert_int_equal(table_column_totals(&in, TABLE_F32, &nothing, &options), TABLE_OK);
                assert_true(nothing == 5);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_layouts),
        cmocka_unit_test(test_no_columns),
    };
    const char *unavailable = ways_unavailable();
    if (unavailable) {
        printf("skipped: %s\n", unavailable);
        return 77;
    }
    run_seed();
    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL);
}
