/* Sums that go on from piece to piece, cut anywhere, each piece in another form of call: they have the bits of the
 * whole table's sums, and leave the state that the whole table leaves. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/scan_case.h"

/* How a piece is summed. */
enum piece_form {
    FORM_HERE,   /* the way's one-call form, the state in the tables' memory */
    FORM_HOST,   /* the same, the state in host memory */
    FORM_ON_CPU, /* tables and state in host memory, on the CPU */
    FORM_STREAM, /* the way's stream form */
    FORM_TOTALS, /* the state is fed by the column totals */
    FORM_APART,  /* the totals of the piece by itself, joined to the state */
    FORM_COUNT
};

/* A table, and how far it is summed. */
struct sum {
    const struct way *way;
    struct scan_case table;
    struct random random;
    char *values, *start; /* packed rows of in_type, of sums; start may be NULL */
    struct reference expected;
    struct sum_memory {
        char *bytes; /* a state in host memory */
        size_t size;
    } state;
    size_t done;
    enum piece_form form;
    size_t piece;
};

static size_t in_row(const struct sum *sum) { return sum->table.columns * element_size(sum->table.in_type); }
static table_type kept_in(const struct sum *sum) { return reference_sum_type(sum->table.out_type); }
static size_t sum_row(const struct sum *sum) { return sum->table.columns * element_size(kept_in(sum)); }

static void fail_sum(const struct sum *sum, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail_sum(const struct sum *sum, const char *format, ...) {
    static const char *const names[] = {"one call",    "one call, state on the host", "on the CPU", "stream", "totals",
                                        "totals apart"};
    const struct scan_case *c = &sum->table;
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    print_error("%s\n  %s->%s, %zu rows x %zu columns, backend %s, rows %zu to %zu, %s%s%s, pattern %d\n"
                "  TUPLESCAN_TEST_SEED=%" PRIu64 "\n",
                what, table_type_name(c->in_type), table_type_name(c->out_type), c->rows, c->columns, sum->way->name,
                sum->done, sum->done + sum->piece, names[sum->form], c->exclusive ? ", exclusive" : "",
                sum->start ? ", with a start" : "", c->pattern, run_seed());
    fail();
}

static void require_ok(const struct sum *sum, table_status status) {
    if (status != TABLE_OK)
        fail_sum(sum, "%s: %s", table_status_name(status), table_error_detail());
    if (table_error_detail()[0]) /* no call has failed before */
        fail_sum(sum, "a call that has succeeded says: %s", table_error_detail());
}

static void require_that(const struct sum *sum, bool condition, const char *what) {
    if (!condition)
        fail_sum(sum, "%s", what);
}

static void require_row(const struct sum *sum, const void *expected, const void *found, const char *name) {
    const table_type type = kept_in(sum);
    for (size_t j = 0; j < sum->table.columns; j++) {
        const uint64_t right = element_bits((const char *)expected + j * element_size(type), type);
        const uint64_t wrong = element_bits((const char *)found + j * element_size(type), type);
        if (!elements_same(right, wrong, type))
            fail_sum(sum, "%s is wrong at column %zu: expected %#" PRIx64 ", found %#" PRIx64, name, j, right, wrong);
    }
}

/* The running sums through row `rows` - 1 of the table. */
static const void *sums_through(const struct sum *sum, size_t rows) {
    static const char zeros[1 << 16];
    if (rows > 0)
        return (const char *)sum->expected.kept + (rows - 1) * sum_row(sum);
    return sum->start ? sum->start : zeros;
}

static void fill_pieces(struct sum *sum, struct table *in, struct table *out, const struct memory *memory) {
    struct random *random = &sum->random;
    const struct scan_case *c = &sum->table;
    const size_t gap = random_once_in(random, 3) ? 1 + random_below(random, 5) : 0;
    const enum edge edge = random_once_in(random, 2) ? EDGE_FRONT : EDGE_BACK;
    require_that(
        sum,
        table_open(in, memory, c->in_type, sum->piece, c->columns, c->columns + gap, random_below(random, 4), edge) &&
            table_open(out, memory, c->out_type, sum->piece, c->columns, c->columns + gap % 3, random_below(random, 4),
                       edge),
        "out of memory");
    table_set_packed(in, sum->values + sum->done * in_row(sum));
    table_randomize(out, random, PATTERN_BITS);
    require_that(sum, table_upload(in) && table_upload(out), "the tables cannot be written");
}

/* The piece of the results: for exclusive sums each row is what stands above it. */
static void require_sums(struct sum *sum, struct table *out) {
    const table_type type = sum->table.out_type;
    const size_t bytes = sum->table.columns * element_size(type);
    char *expected = malloc((sum->piece + 1) * bytes);
    struct difference at;
    require_that(sum, expected != NULL, "out of memory");
    for (size_t i = 0; i < sum->piece; i++)
        reference_round(type, sums_through(sum, sum->done + i + !sum->table.exclusive), expected + i * bytes,
                        sum->table.columns);
    table_set_packed(out, expected);
    if (!table_holds_image(out, &at))
        fail_sum(sum, "wrong at row %zu of the piece, column %zu: expected %#" PRIx64 ", found %#" PRIx64, at.row,
                 at.column, at.expected, at.found);
    free(expected);
}

/* A call in hand: what lies beside its tables. */
struct sides {
    struct block state, start, carry_out, overflow;
};

static void open_side(const struct sum *sum, struct block *block, const struct memory *memory, size_t bytes,
                      const void *from) {
    require_that(sum, block_open(block, memory, bytes, 0, EDGE_FRONT) && (!from || block_upload(block, from)),
                 "no memory beside the tables");
}

static void close_side(const struct sum *sum, struct block *block, void *to) {
    require_that(sum, !to || block_download(block, to), "memory beside the tables cannot be read");
    require_that(sum, block_surroundings_intact(block), "memory around the state or a row was written");
    block_close(block);
}

/* A sum that begins may get its start from the call; one that has begun in a stream does not look at it. */
static table_scan_options open_sides(struct sum *sum, const struct memory *memory, struct sides *sides) {
    table_scan_options options = {.exclusive = sum->table.exclusive, .threads = sum->table.threads};
    table_state_facts facts;
    const char rubbish[sizeof(uint64_t)] = "rubbish";
    open_side(sum, &sides->state, memory, sum->state.size, sum->state.bytes);
    options.state = sides->state.address;
    require_ok(sum, table_state_describe(sum->state.bytes, sum->state.size, &facts));
    if (sum->start && (facts.version == 0 || sum->form == FORM_STREAM)) {
        open_side(sum, &sides->start, memory, sum_row(sum), sum->start);
        options.carry_in = sides->start.address;
    }
    if (random_once_in(&sum->random, 3)) {
        open_side(sum, &sides->carry_out, memory, sum_row(sum), NULL);
        options.carry_out = sides->carry_out.address;
    }
    if (!element_is_float(sum->table.out_type) && random_once_in(&sum->random, 2)) {
        open_side(sum, &sides->overflow, memory, sizeof rubbish, rubbish);
        options.first_overflow = sides->overflow.address;
    }
    return options;
}

/* The first overflow of the piece, from the wrapped sums above it on. */
static uint64_t expected_overflow(const struct sum *sum) {
    const table_view piece = {.data = sum->values + sum->done * in_row(sum),
                              .rows = sum->piece,
                              .columns = sum->table.columns,
                              .type = sum->table.in_type};
    struct reference found = {.type = sum->table.out_type};
    require_that(sum, reference_prefix_sum(&piece, sums_through(sum, sum->done), false, &found), "out of memory");
    return found.first_overflow == UINT64_MAX ? UINT64_MAX : found.first_overflow + sum->done * sum->table.columns;
}

static void close_sides(struct sum *sum, struct sides *sides, const table_scan_options *options) {
    uint64_t found;
    close_side(sum, &sides->state, sum->state.bytes);
    if (options->carry_in)
        close_side(sum, &sides->start, NULL);
    if (options->carry_out) {
        char *row = malloc(sum_row(sum));
        require_that(sum, row != NULL, "out of memory");
        close_side(sum, &sides->carry_out, row);
        require_row(sum, sums_through(sum, sum->done + sum->piece), row, "carry_out");
        free(row);
    }
    if (options->first_overflow) {
        close_side(sum, &sides->overflow, &found);
        if (found != expected_overflow(sum))
            fail_sum(sum, "first_overflow: expected %" PRIu64 ", found %" PRIu64, expected_overflow(sum), found);
    }
}

static void call_on_stream(struct sum *sum, const table_view *in, const table_view *out, table_scan_options *options) {
    struct block workspace;
    options->stream = sum->way->stream_open();
    require_ok(sum, table_prefix_sum_workspace(in, out, options, &options->workspace_bytes));
    require_that(sum, block_open(&workspace, sum->way->memory, options->workspace_bytes, 0, EDGE_FRONT), "no memory");
    if (options->workspace_bytes > 0)
        options->workspace = workspace.address;
    require_ok(sum, table_prefix_sum_async(in, out, options));
    require_that(sum, sum->way->stream_wait(options->stream), "the stream came to an error");
    sum->way->stream_close(options->stream);
    require_that(sum, block_surroundings_intact(&workspace), "the memory around the workspace was written");
    block_close(&workspace);
}

/* With results, by any of the first forms. */
static void sum_piece(struct sum *sum) {
    const bool on_cpu = sum->form == FORM_ON_CPU;
    const struct memory *memory = on_cpu ? &host_memory : sum->way->memory;
    struct sides sides = {0};
    struct table in, out;
    fill_pieces(sum, &in, &out, memory);
    table_scan_options options = open_sides(sum, sum->form == FORM_HOST ? &host_memory : memory, &sides);
    options.backend = on_cpu ? TABLE_BACKEND_CPU : sum->way->backend;
    options.strategy = (table_strategy)random_below(&sum->random, TABLE_STRATEGY_FUSED + 1);
    const bool in_place = sum->table.in_type == sum->table.out_type && random_once_in(&sum->random, 3);
    struct table *to = in_place ? &in : &out;
    if (sum->form == FORM_STREAM)
        call_on_stream(sum, &in.view, &to->view, &options);
    else
        require_ok(sum, table_prefix_sum(&in.view, &to->view, &options));
    require_sums(sum, to);
    close_sides(sum, &sides, &options);
    table_close(&in);
    table_close(&out);
}

/* Without results. A range by itself has no sums. */
static void feed_piece(struct sum *sum) {
    const size_t size = sum->state.size;
    struct sides sides = {0};
    struct table in, out;
    struct block totals;
    fill_pieces(sum, &in, &out, sum->way->memory);
    open_side(sum, &totals, sum->way->memory, sum_row(sum), NULL);
    char *whole = sum->state.bytes, *apart = NULL;
    if (sum->form == FORM_APART) {
        sum->state.bytes = apart = aligned_alloc(TABLE_STATE_ALIGNMENT, (size + 15) / 16 * 16);
        require_that(sum, apart != NULL, "out of memory");
        require_ok(sum, table_state_begin(apart, kept_in(sum), sum->table.columns, sum->done));
    }
    table_scan_options options = open_sides(sum, sum->way->memory, &sides);
    options.backend = sum->way->backend;
    options.exclusive = 0;
    void *carry_out = options.carry_out;
    uint64_t *first_overflow = options.first_overflow;
    options.carry_out = options.first_overflow = NULL;
    const bool sums = !apart;
    require_ok(sum, table_column_totals(&in.view, kept_in(sum), sums ? totals.address : NULL, &options));
    close_side(sum, &sides.state, sum->state.bytes);
    if (options.carry_in)
        close_side(sum, &sides.start, NULL);
    if (carry_out)
        block_close(&sides.carry_out);
    if (first_overflow)
        block_close(&sides.overflow);
    if (sums) {
        char *row = malloc(sum_row(sum));
        require_that(sum, row && block_download(&totals, row), "the totals cannot be read");
        require_row(sum, sums_through(sum, sum->done + sum->piece), row, "totals");
        free(row);
    }
    close_side(sum, &totals, NULL);
    if (apart) {
        sum->state.bytes = whole;
        require_ok(sum, table_state_check(apart, size, kept_in(sum), sum->table.columns));
        require_ok(sum, table_state_join(whole, apart));
        free(apart);
    }
    table_close(&in);
    table_close(&out);
}

/* The state through the rows so far says so, and gives their sums. */
static void require_state(const struct sum *sum) {
    char *row = malloc(sum_row(sum));
    uint64_t rows;
    require_that(sum, row != NULL, "out of memory");
    require_ok(sum, table_state_check(sum->state.bytes, sum->state.size, kept_in(sum), sum->table.columns));
    require_ok(sum, table_state_rows(sum->state.bytes, &rows));
    require_that(sum, rows == sum->done, "the state has another number of rows");
    require_ok(sum, table_state_sums(sum->state.bytes, row));
    require_row(sum, sums_through(sum, sum->done), row, "table_state_sums()");
    free(row);
}

static size_t piece_rows(struct sum *sum) {
    static const size_t units[] = {512, 512, 512, 1024, 2048, 4096, 8192};
    struct random *random = &sum->random;
    const size_t left = sum->table.rows - sum->done;
    const size_t unit = units[random_below(random, sizeof units / sizeof *units)];
    size_t rows = random_below(random, 6);
    if (random_once_in(random, 2)) /* to near a multiple */
        rows = unit - sum->done % unit + random_below(random, 3) - 1;
    else if (random_once_in(random, 2))
        rows = random_below(random, 3 * unit);
    if (sum->table.rows > 100000 && random_once_in(random, 2))
        rows += random_below(random, 400000);
    return rows < left ? rows : left;
}

static void begin_sum(struct sum *sum) {
    require_ok(sum, table_state_bytes(kept_in(sum), sum->table.columns, &sum->state.size));
    sum->state.bytes = aligned_alloc(TABLE_STATE_ALIGNMENT, (sum->state.size + 15) / 16 * 16);
    require_that(sum, sum->state.bytes != NULL, "out of memory");
    memset(sum->state.bytes, 0, sum->state.size);
    sum->done = sum->piece = 0;
}

/* What each form is given: the stream form only tables that the backend reaches, and joins only a sum that has begun.
 */
static enum piece_form choose_form(struct sum *sum) {
    table_state_facts facts;
    enum piece_form form = (enum piece_form)random_below(&sum->random, FORM_COUNT);
    require_ok(sum, table_state_describe(sum->state.bytes, sum->state.size, &facts));
    if ((form == FORM_STREAM && !sum->way->direct) || (form == FORM_APART && facts.version == 0))
        form = FORM_HERE;
    return form;
}

static void sum_in_pieces(struct sum *sum, bool whole) {
    begin_sum(sum);
    do {
        sum->form = whole ? FORM_ON_CPU : choose_form(sum);
        sum->piece = whole ? sum->table.rows : piece_rows(sum);
        if (sum->form == FORM_TOTALS || sum->form == FORM_APART)
            feed_piece(sum);
        else
            sum_piece(sum);
        sum->done += sum->piece;
        sum->piece = 0;
        require_state(sum);
    } while (sum->done < sum->table.rows);
}

static void open_sum(struct sum *sum) {
    struct scan_case *c = &sum->table;
    sum->values = malloc(c->rows * in_row(sum) + 1);
    sum->start = c->carry_in ? malloc(sum_row(sum)) : NULL;
    sum->expected = (struct reference){.type = c->out_type, .kept = malloc(c->rows * sum_row(sum) + 1)};
    require_that(sum, sum->values && sum->expected.kept && (sum->start || !c->carry_in), "out of memory");
    for (size_t i = 0; i < c->rows * c->columns; i++)
        element_randomize(sum->values + i * element_size(c->in_type), c->in_type, &sum->random, c->pattern);
    for (size_t j = 0; sum->start && j < c->columns; j++)
        element_randomize(sum->start + j * element_size(kept_in(sum)), kept_in(sum), &sum->random, c->pattern);
    const table_view in = {.data = sum->values, .rows = c->rows, .columns = c->columns, .type = c->in_type};
    require_that(sum, reference_prefix_sum(&in, sum->start, false, &sum->expected), "out of memory");
}

/* Two sums of the table, cut in two ways, and it whole. */
static void check_sum(struct sum *sum) {
    const table_type type = kept_in(sum);
    way_enter(sum->way);
    open_sum(sum);
    sum_in_pieces(sum, true);
    struct sum_memory whole = sum->state;
    for (unsigned i = 0; i < 2; i++) {
        sum_in_pieces(sum, false);
        const size_t size = element_size(type);
        bool same = memcmp(whole.bytes, sum->state.bytes, 64) == 0;
        for (size_t at = 64; at < whole.size; at += size)
            same &=
                elements_same(element_bits(whole.bytes + at, type), element_bits(sum->state.bytes + at, type), type);
        require_that(sum, same, "the state is not that of the whole table");
        free(sum->state.bytes);
    }
    free(whole.bytes);
    free(sum->values);
    free(sum->start);
    free(sum->expected.kept);
}

static void check_table(struct random *random, size_t index, size_t columns, size_t rows) {
    struct sum sum = {.way = &ways[index % way_count]};
    const struct type_pair pair = type_pairs[random_below(random, type_pair_count)];
    sum.table = (struct scan_case){.in_type = pair.in, .out_type = pair.out};
    scan_case_vary(&sum.table, random);
    sum.table.columns = columns;
    sum.table.rows = rows;
    sum.random.state = sum.table.seed;
    check_sum(&sum);
}

static void test_random_cuts(void **state) {
    static const size_t columns[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 100, 129};
    struct random random = {run_seed()};
    (void)state;
    const unsigned count = (run_small() ? 40 : 150) * run_rounds() / run_few() + 20;
    for (unsigned i = 0; i < count; i++) {
        const size_t wide = columns[random_below(&random, sizeof columns / sizeof *columns)];
        check_table(&random, i, wide, random_below(&random, (run_small() ? 20000 : 60000) / (wide + 2)));
    }
}

/* Pieces that are worth several threads. */
static void test_large_pieces(void **state) {
    struct random random = {run_seed() + 1};
    (void)state;
    if (run_small())
        return;
    for (unsigned i = 0; i < 12 * run_rounds() / run_few() + 2; i++)
        check_table(&random, i, 1 + random_below(&random, 5), 200000 + random_below(&random, 800000));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_cuts), cmocka_unit_test(test_large_pieces)};
    const char *reason = ways_unavailable();
    if (reason) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
