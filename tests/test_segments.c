/* Ragged tables: each segment has the bits, the last sums, the overflow and the NaNs that a call for it alone has, and
 * nothing beside the segments is written. What wrong segments get, and any offsets at all. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/refusal.h"
#include "support/scan_case.h"

enum { SEGMENTS_MOST = 3000 };

/* One call. Bounds are the rows where segments begin and end, one more than there are. */
struct trial {
    const struct way *way;
    table_operation operation;
    struct type_pair pair;
    table_type kept;
    table_segment_kind kind;
    table_type type;
    size_t rows, columns, count, room; /* segments, and what the call is told */
    uint64_t bounds[SEGMENTS_MOST + 1];
    bool in_place, totals, streamed, counted_there;
    table_scan_options options;
    struct random *random;
};

static void fail_trial(const struct trial *t, const char *what, uint64_t row, uint64_t column) {
    print_error("%s: row %" PRIu64 ", column %" PRIu64 " (%s)\n  %s of %s->%s, %zu x %zu, %zu segments (room %zu) of "
                "kind %d as %s, backend %s%s%s%s%s%s%s%s\n  TUPLESCAN_TEST_SEED=%" PRIu64 "\n",
                what, row, column, table_error_detail(), table_operation_name(t->operation),
                table_type_name(t->pair.in), table_type_name(t->pair.out), t->rows, t->columns, t->count, t->room,
                (int)t->kind, table_type_name(t->type), t->way->name, t->options.exclusive ? ", exclusive" : "",
                t->options.reverse ? ", reverse" : "", t->options.offsets ? ", offsets" : "",
                t->in_place ? ", in place" : "", t->totals ? ", totals" : "", t->streamed ? ", stream" : "",
                t->options.skip_nan ? ", skip_nan" : "", run_seed());
    fail();
}

static void require(const struct trial *t, bool condition, const char *what) {
    if (!condition)
        fail_trial(t, what, 0, 0);
}

static bool has_rows_of_values(table_segment_kind kind) {
    return kind == TABLE_SEGMENT_KEYS || kind == TABLE_SEGMENT_HEADS;
}

/* Lengths of a few rows, of some, of very different ones, or of one among many that are nearly all. */
static size_t random_length(struct random *random, unsigned style) {
    switch (style) {
    case 0:
        return random_below(random, 6);
    case 1:
        return random_below(random, 51);
    case 2:
        return (size_t)(2 / (random_unit(random) * random_unit(random) + 0.001));
    default:
        return random_once_in(random, 200) ? 3000 : random_below(random, 3);
    }
}

static void make_segments(struct trial *t, size_t values) {
    const unsigned style = (unsigned)random_below(t->random, 4);
    const size_t most = random_once_in(t->random, 6) ? 2 : random_once_in(t->random, 4) ? SEGMENTS_MOST : 120;
    const bool every_row = has_rows_of_values(t->kind);
    t->bounds[0] = t->kind == TABLE_SEGMENT_OFFSETS ? random_below(t->random, 4) : 0;
    for (t->count = 0; t->count < most && t->bounds[t->count] * t->columns < values; t->count++) {
        const size_t length = random_length(t->random, style);
        t->bounds[t->count + 1] = t->bounds[t->count] + (every_row && length == 0 ? 1 : length);
        if (random_once_in(t->random, 300))
            break;
    }
    t->rows = t->bounds[t->count] + (every_row ? 0 : random_below(t->random, 4));
    t->counted_there = !every_row && random_once_in(t->random, 4);
    t->room = t->count + (every_row || t->counted_there ? random_below(t->random, 5) : 0);
}

static void put_number(void *data, table_type type, size_t index, uint64_t value) {
    if (element_size(type) == sizeof(uint64_t))
        ((uint64_t *)data)[index] = value;
    else
        ((uint32_t *)data)[index] = (uint32_t)value;
}

/* The caller's array, whatever the kind. What lies after those that count is rubbish. */
static size_t write_segments(const struct trial *t, void *data) {
    const size_t size = element_size(t->type);
    unsigned char *const bytes = data;
    uint64_t key = random_bits(t->random);
    if (t->kind == TABLE_SEGMENT_OFFSETS || t->kind == TABLE_SEGMENT_LENGTHS) {
        const size_t values = t->room + (t->kind == TABLE_SEGMENT_OFFSETS);
        for (size_t k = 0; k < values; k++)
            put_number(data, t->type, k, random_bits(t->random));
        for (size_t k = 0; k < t->count + (t->kind == TABLE_SEGMENT_OFFSETS); k++)
            put_number(data, t->type, k,
                       t->kind == TABLE_SEGMENT_OFFSETS ? t->bounds[k] : t->bounds[k + 1] - t->bounds[k]);
        return values * size;
    }
    for (size_t k = 0; k < t->count; k++) {
        key ^= (uint64_t)1 << random_below(t->random, 8 * size); /* another one, by one bit */
        for (uint64_t row = t->bounds[k]; row < t->bounds[k + 1]; row++) {
            if (t->kind == TABLE_SEGMENT_KEYS)
                memcpy(bytes + row * size, &key, size);
            else
                bytes[row] = row == 0              ? (unsigned char)random_below(t->random, 2)
                             : row == t->bounds[k] ? (unsigned char)(1 + random_below(t->random, 255))
                                                   : 0;
        }
    }
    return t->rows * size;
}

/* What the segments have alone: results into the image of the output, last sums into `lasts`. */
struct expected {
    uint64_t first_overflow, skipped;
    char *lasts;
};

static table_view rows_of(const table_view *table, uint64_t first, size_t rows) {
    table_view some = *table;
    some.rows = rows;
    some.data = (char *)table->data + (ptrdiff_t)first * table->stride * (ptrdiff_t)element_size(table->type);
    return some;
}

static void expect_segments(const struct trial *t, const table_view *in, const table_view *out, const char *starts,
                            struct expected *expected) {
    const size_t row_bytes = t->columns * element_size(t->kept);
    for (size_t k = 0; k < t->count; k++) {
        const uint64_t first = t->bounds[k], rows = t->bounds[k + 1] - first;
        const uint64_t before = t->options.reverse ? t->rows - t->bounds[k + 1] : first;
        const table_view from = rows_of(in, first, rows);
        uint64_t overflow = TABLE_NO_OVERFLOW, skipped = 0;
        table_scan_options options = t->options;
        options.backend = TABLE_BACKEND_CPU;
        options.carry_in = starts ? starts + k * row_bytes : NULL;
        options.carry_out = expected->lasts + k * row_bytes;
        options.first_overflow = t->options.first_overflow ? &overflow : NULL;
        options.skipped = t->options.skipped ? &skipped : NULL;
        options.carry_out = t->totals ? NULL : options.carry_out;
        const table_view to = rows_of(out, first + (t->options.offsets ? k : 0), rows + (t->options.offsets != 0));
        const table_status status = t->totals
                                        ? table_column_totals(&from, t->kept, expected->lasts + k * row_bytes, &options)
                                        : table_prefix_sum(&from, &to, &options);
        require(t, status == TABLE_OK, "the segment alone");
        if (overflow != TABLE_NO_OVERFLOW && before * t->columns + overflow < expected->first_overflow)
            expected->first_overflow = before * t->columns + overflow;
        expected->skipped += skipped;
    }
}

/* Rows or words of the options, in the memory under test. */
static void *open_memory(const struct trial *t, struct block *block, size_t bytes, const void *from) {
    require(t, block_open(block, t->way->memory, bytes, 0, EDGE_FRONT) && (!from || block_upload(block, from)),
            "out of memory");
    return block->address;
}

static void close_memory(const struct trial *t, struct block *block, void *to) {
    require(t, block_download(block, to) && block_surroundings_intact(block), "memory of the options");
    block_close(block);
}

static void call(const struct trial *t, const table_view *in, const table_view *out, const table_segments *segments,
                 table_scan_options *options) {
    struct block workspace;
    if (!t->streamed) {
        require(t, table_segmented_prefix_sum(in, out, segments, options) == TABLE_OK, "the call");
        return;
    }
    options->stream = t->way->stream_open();
    require(t,
            table_segmented_prefix_sum_workspace(in, out, segments, options, &options->workspace_bytes) == TABLE_OK &&
                block_open(&workspace, t->way->memory, options->workspace_bytes, 0, EDGE_FRONT),
            "the workspace");
    options->workspace = workspace.address;
    require(t,
            table_segmented_prefix_sum_async(in, out, segments, options) == TABLE_OK &&
                t->way->stream_wait(options->stream),
            "the call on a stream");
    t->way->stream_close(options->stream);
    require(t, block_surroundings_intact(&workspace), "around the workspace");
    block_close(&workspace);
}

static void open_tables(const struct trial *t, struct table *in, struct table *out, size_t out_rows) {
    struct random *random = t->random;
    const ptrdiff_t in_stride = (ptrdiff_t)(t->columns + (random_once_in(random, 4) ? random_below(random, 5) : 0));
    const ptrdiff_t out_stride = (ptrdiff_t)(t->columns + (random_once_in(random, 4) ? random_below(random, 5) : 0));
    const size_t skew = random_once_in(random, 6) ? random_below(random, 9) : 0;
    require(t,
            table_open_anywhere(in, t->way->memory, t->pair.in, t->rows, t->columns,
                                random_once_in(random, 6) ? -in_stride : in_stride, skew, EDGE_FRONT) &&
                table_open_anywhere(out, t->way->memory, t->pair.out, out_rows, t->columns,
                                    random_once_in(random, 6) ? -out_stride : out_stride, 0, EDGE_BACK),
            "out of memory");
    table_randomize(in, random, (enum pattern)random_below(random, PATTERN_COUNT));
    table_fill_rubbish(out, random);
}

static void check(struct trial *t) {
    const size_t row_bytes = t->columns * element_size(t->kept), carried = t->room * row_bytes;
    const bool wants_start = t->options.carry_in, wants_end = t->options.carry_out;
    struct table in, out;
    struct block blocks[7] = {{0}};
    struct expected expected = {.first_overflow = TABLE_NO_OVERFLOW, .lasts = calloc(1, carried + 1)};
    struct difference at;
    open_tables(t, &in, &out, t->totals ? 0 : t->rows + (t->options.offsets ? t->room : 0));
    char *const starts = calloc(1, carried + 1), *const lasts = malloc(carried + 1);
    void *const data = calloc(t->room + 1 + t->rows, sizeof(uint64_t));
    require(t, expected.lasts && starts && lasts && data, "out of memory");
    for (size_t k = 0; k < t->room * t->columns; k++)
        element_randomize(starts + k * element_size(t->kept), t->kept, t->random, PATTERN_SMALL);
    memcpy(expected.lasts, starts, carried);
    struct table *const to = t->in_place ? &in : &out;
    const table_view in_image = table_image_view(&in), to_image = table_image_view(to);
    if (t->in_place) { /* the segments alone go from the image to itself, each before it is read by another */
        require(t, table_upload(&in), "upload");
    } else {
        require(t, table_upload(&in) && table_upload(&out), "upload");
    }
    expect_segments(t, &in_image, &to_image, wants_start ? starts : NULL, &expected);
    const size_t bytes = write_segments(t, data);
    uint64_t count = t->count, found = 0, wrong = 0, overflow = 0, skipped = 0;
    const table_segments segments = {.kind = t->kind,
                                     .type = t->type,
                                     .data = open_memory(t, &blocks[0], bytes, data),
                                     .count = t->room,
                                     .count_at = t->counted_there ? open_memory(t, &blocks[1], 8, &count) : NULL,
                                     .found = open_memory(t, &blocks[2], 8, NULL),
                                     .wrong = open_memory(t, &blocks[3], 8, NULL)};
    table_scan_options options = t->options;
    options.carry_in = wants_start ? open_memory(t, &blocks[4], carried, starts) : NULL;
    options.carry_out = NULL;
    if (wants_end) /* rows without a segment are not written */
        options.carry_out = open_memory(t, &blocks[5], carried, starts);
    struct block words[2];
    if (options.first_overflow)
        options.first_overflow = open_memory(t, &words[0], 8, NULL);
    if (options.skipped)
        options.skipped = open_memory(t, &words[1], 8, NULL);
    table_view into = to->view;
    if (t->totals)
        into = (table_view){.columns = t->columns, .type = t->kept};
    call(t, &in.view, &into, &segments, &options);
    if (!t->totals && !table_holds_image(to, &at))
        fail_trial(t, "wrong value", at.row, at.column);
    if (wants_end) {
        close_memory(t, &blocks[5], lasts);
        for (size_t k = 0; k < t->room * t->columns; k++) {
            const size_t place = k * element_size(t->kept);
            if (!elements_same(element_bits(lasts + place, t->kept), element_bits(expected.lasts + place, t->kept),
                               t->kept))
                fail_trial(t, "wrong carry out of segment", k / t->columns, k % t->columns);
        }
    }
    close_memory(t, &blocks[2], &found);
    close_memory(t, &blocks[3], &wrong);
    require(t, found == t->count && wrong == TABLE_SEGMENTS_RIGHT, "found or wrong");
    if (options.first_overflow) {
        close_memory(t, &words[0], &overflow);
        require(t, overflow == expected.first_overflow, "first_overflow");
    }
    if (options.skipped) {
        close_memory(t, &words[1], &skipped);
        require(t, skipped == expected.skipped, "skipped");
    }
    block_close(&blocks[0]);
    if (t->counted_there)
        block_close(&blocks[1]);
    if (wants_start)
        block_close(&blocks[4]);
    free(expected.lasts);
    free(starts);
    free(lasts);
    free(data);
    table_close(&in);
    table_close(&out);
}

/* What the CUDA backend does not know. */
static bool is_refused(const struct trial *t) {
    const bool is_map = t->operation == TABLE_PRODUCT && element_is_float(t->pair.out);
    return t->way->backend == TABLE_BACKEND_CUDA &&
           (!t->way->direct || is_map || (t->options.first_overflow && t->operation != TABLE_SUM));
}

static void check_refused(const struct trial *t) {
    static const int64_t offsets[] = {0, 1};
    static char row[300 * sizeof(uint64_t)];
    static uint64_t words[2];
    const table_segments segments = {TABLE_SEGMENT_OFFSETS, TABLE_I64, offsets, 1, .found = NULL};
    table_scan_options options = t->options;
    struct table in, out;
    open_tables(t, &in, &out, t->rows);
    options.carry_in = NULL;
    options.carry_out = t->totals ? row : NULL;
    options.offsets = 0;
    options.first_overflow = options.first_overflow ? &words[0] : NULL;
    options.skipped = options.skipped ? &words[1] : NULL;
    table_view into = out.view;
    if (t->totals)
        into = (table_view){.columns = t->columns, .type = t->kept};
    expect(table_segmented_prefix_sum(&in.view, &into, &segments, &options), TABLE_ERROR_BACKEND, "CUDA backend");
    table_close(&in);
    table_close(&out);
}

static const table_type key_types[] = {TABLE_U8,  TABLE_BOOL, TABLE_F16, TABLE_I16,
                                       TABLE_F32, TABLE_U32,  TABLE_I64, TABLE_F64};

static void vary(struct trial *t) {
    static uint64_t somewhere;
    struct random *random = t->random;
    t->operation = random_once_in(random, 2) ? TABLE_SUM : (table_operation)random_below(random, TABLE_PRODUCT + 1);
    size_t pairs = 0;
    while (operation_pair(t->operation, pairs, &t->pair))
        pairs++;
    operation_pair(t->operation, random_below(random, pairs), &t->pair);
    const bool is_float = element_is_float(t->pair.out);
    t->kept = table_kept_type(t->operation, t->pair.out);
    t->kind = (table_segment_kind)(1 + random_below(random, 4));
    t->type = random_once_in(random, 2) ? TABLE_I32 : TABLE_I64;
    if (t->kind == TABLE_SEGMENT_KEYS)
        t->type = key_types[random_below(random, sizeof key_types / sizeof *key_types)];
    else if (t->kind == TABLE_SEGMENT_HEADS)
        t->type = random_once_in(random, 2) ? TABLE_U8 : TABLE_BOOL;
    t->columns = 1 + random_below(random, random_once_in(random, 5) ? 300 : 17);
    t->options = (table_scan_options){.operation = t->operation,
                                      .backend = t->way->backend,
                                      .reverse = random_once_in(random, 3),
                                      .skip_nan = is_float && random_once_in(random, 4),
                                      .threads = (unsigned)random_below(random, 6),
                                      .carry_in = random_once_in(random, 3) ? &somewhere : NULL,
                                      .carry_out = random_once_in(random, 3) ? &somewhere : NULL};
    t->totals = random_once_in(random, 6) && t->kept == t->pair.out;
    if (t->totals)
        t->options.carry_out = &somewhere;
    t->options.exclusive = !t->totals && random_once_in(random, 3);
    t->options.offsets = !t->totals && !t->options.exclusive && random_once_in(random, 3) &&
                         !(t->operation == TABLE_PRODUCT && is_float);
    const bool is_checked = t->operation == TABLE_SUM || t->operation == TABLE_PRODUCT;
    t->options.first_overflow = !t->totals && !is_float && is_checked && random_once_in(random, 2) ? &somewhere : NULL;
    t->options.skipped = t->options.skip_nan ? &somewhere : NULL;
    t->in_place = t->pair.in == t->pair.out && !t->options.offsets && !t->totals && random_once_in(random, 3);
    t->streamed = t->way->direct && random_once_in(random, 3);
}

static void test_random(void **state) {
    static struct trial trial;
    struct random random = {run_seed()};
    const size_t trials = (run_small() ? 300 : 4000) * run_rounds() / run_few();
    (void)state;
    for (size_t number = 0; number < trials; number++) {
        trial = (struct trial){.way = &ways[random_below(&random, way_count)], .random = &random};
        way_enter(trial.way);
        vary(&trial);
        make_segments(&trial, run_small() ? 4000 : 20000);
        if (trial.rows == 0 && (trial.totals || !trial.way->direct))
            continue;
        if (is_refused(&trial))
            check_refused(&trial);
        else
            check(&trial);
    }
}

/* Recurrences: coefficients of each shape, and each segment by a call of its own. */
static void test_recurrences(void **state) {
    enum { MOST = 4000, WIDTH = 5, PIECES = 40 };
    static float a[MOST * WIDTH], b[MOST * WIDTH], h[MOST * WIDTH], expected[MOST * WIDTH], starts[PIECES * WIDTH],
        ends[PIECES * WIDTH], own_ends[PIECES * WIDTH];
    struct random random = {run_seed()};
    int64_t offsets[PIECES + 1];
    (void)state;
    for (size_t i = 0; i < MOST * WIDTH; i++) {
        a[i] = random_once_in(&random, 50) ? 0 : (float)(0.9 + 0.2 * random_unit(&random));
        b[i] = (float)random_unit(&random);
    }
    for (size_t i = 0; i < PIECES * WIDTH; i++)
        starts[i] = (float)random_unit(&random);
    for (unsigned trial = 0; trial < 300 / run_few() && ways[0].backend == TABLE_BACKEND_CPU; trial++) {
        const struct way *way = &ways[trial % way_count];
        const bool shifted = random_once_in(&random, 3), carries = !shifted && random_once_in(&random, 2);
        const size_t columns = 1 + random_below(&random, WIDTH), shape = random_below(&random, 4);
        table_scan_options options = {.backend = way->backend,
                                      .exclusive = random_once_in(&random, 3),
                                      .reverse = random_once_in(&random, 2),
                                      .shifted_coefficients = shifted};
        way_enter(way);
        offsets[0] = (int64_t)random_below(&random, 3);
        for (size_t k = 0; k < PIECES; k++)
            offsets[k + 1] = offsets[k] + (int64_t)(k == 7 ? 1500 : random_below(&random, 30));
        const size_t rows = (size_t)offsets[PIECES];
        const table_view factors = {a, shape & 1 ? rows : 1, shape & 2 ? columns : 1, 0, TABLE_F32};
        const table_view terms = {b, rows, columns, 0, TABLE_F32}, out = {h, rows, columns, 0, TABLE_F32};
        const table_view nowhere = {.columns = columns, .type = TABLE_F32};
        const table_segments segments = {TABLE_SEGMENT_OFFSETS, TABLE_I64, offsets, PIECES, NULL, NULL, NULL, {0}};
        memset(h, 0, sizeof h);
        memset(expected, 0, sizeof expected);
        for (size_t k = 0; k < PIECES; k++) {
            const size_t first = (size_t)offsets[k], count = (size_t)offsets[k + 1] - first;
            const table_view from = {b + first * columns, count, columns, 0, TABLE_F32};
            const table_view to = {expected + first * columns, count, columns, 0, TABLE_F32};
            table_view own = factors;
            if (shape & 1)
                own = (table_view){a + first * factors.columns, count, factors.columns, 0, TABLE_F32};
            options.carry_in = carries ? starts + k * columns : NULL;
            options.carry_out = own_ends + k * columns;
            assert_int_equal(table_linear_recurrence(&own, &from, &to, &options), TABLE_OK);
        }
        options.carry_in = carries ? starts : NULL;
        options.carry_out = ends;
        assert_int_equal(table_segmented_linear_recurrence(&factors, &terms, &out, &segments, &options), TABLE_OK);
        assert_memory_equal(h, expected, rows * columns * sizeof *h);
        assert_memory_equal(ends, own_ends, PIECES * columns * sizeof *ends);
        options.exclusive = 0;
        memset(ends, 0, sizeof ends);
        assert_int_equal(table_segmented_linear_recurrence(&factors, &terms, &nowhere, &segments, &options), TABLE_OK);
        assert_memory_equal(ends, own_ends, PIECES * columns * sizeof *ends);
        options.carry_in = starts;
        options.shifted_coefficients = 1;
        expect(table_segmented_linear_recurrence(&factors, &terms, &out, &segments, &options), TABLE_ERROR_ARGUMENT,
               "shifted_coefficients");
        expect(table_segmented_linear_recurrence(NULL, &terms, &out, &segments, NULL), TABLE_ERROR_ARGUMENT, "a is");
    }
}

/* A call that is right as it stands. */
enum { ROWS = 10, COLUMNS = 2, SEGMENTS = 3 };
struct right_call {
    table_view in, out;
    table_segments segments;
    table_scan_options options;
};
static struct {
    int32_t in[ROWS * COLUMNS], out[(ROWS + SEGMENTS) * COLUMNS], starts[SEGMENTS * COLUMNS], lasts[SEGMENTS * COLUMNS];
    int64_t offsets[SEGMENTS + 1];
    uint64_t count_at, found, wrong, overflow;
} memory, kept;

static struct right_call right_call(void) {
    const int64_t offsets[] = {1, 4, 4, 9};
    memset(&memory, 1, sizeof memory);
    memcpy(memory.offsets, offsets, sizeof offsets);
    memory.count_at = SEGMENTS;
    return (struct right_call){
        .in = {memory.in, ROWS, COLUMNS, 0, TABLE_I32},
        .out = {memory.out, ROWS, COLUMNS, 0, TABLE_I32},
        .segments = {.kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = memory.offsets, .count = SEGMENTS},
        .options = {.carry_in = memory.starts, .carry_out = memory.lasts, .first_overflow = &memory.overflow}};
}

/* The reason has the word, and nothing but `found` and `wrong` is written. */
static void expect_refused(const struct right_call *call, table_status status, const char *word) {
    memcpy(&kept, &memory, sizeof memory);
    expect(table_segmented_prefix_sum(&call->in, &call->out, &call->segments, &call->options), status, word);
    kept.found = memory.found;
    kept.wrong = memory.wrong;
    assert_memory_equal(&kept, &memory, sizeof memory);
}
#define WRONG(STATUS, WORD, ...)                                                                                       \
    do {                                                                                                               \
        struct right_call call = right_call();                                                                         \
        __VA_ARGS__;                                                                                                   \
        expect_refused(&call, TABLE_ERROR_##STATUS, WORD);                                                             \
    } while (0)

static void test_wrong_calls(void **state) {
    const struct right_call right = right_call();
    size_t bytes = 12345;
    (void)state;
    assert_int_equal(table_segmented_prefix_sum(&right.in, &right.out, &right.segments, &right.options), TABLE_OK);
    expect(table_segmented_prefix_sum(NULL, &right.out, &right.segments, NULL), TABLE_ERROR_ARGUMENT, "in");
    expect(table_segmented_prefix_sum(&right.in, NULL, &right.segments, NULL), TABLE_ERROR_ARGUMENT, "out");
    expect(table_segmented_prefix_sum(&right.in, &right.out, NULL, NULL), TABLE_ERROR_ARGUMENT, "segments");
    expect(table_segmented_prefix_sum_workspace(&right.in, &right.out, &right.segments, NULL, NULL),
           TABLE_ERROR_ARGUMENT, "bytes");
    WRONG(ARGUMENT, "kind 0", call.segments.kind = (table_segment_kind)0);
    WRONG(ARGUMENT, "kind 5", call.segments.kind = (table_segment_kind)5);
    WRONG(TYPE, "type 0", call.segments.type = (table_type)0);
    WRONG(TYPE, "i32 or i64", call.segments.type = TABLE_U64);
    WRONG(TYPE, "u8 or bool", call.segments.kind = TABLE_SEGMENT_HEADS);
    WRONG(ARGUMENT, "segments->data", call.segments.data = NULL);
    WRONG(ALIGNMENT, "segments->data", call.segments.data = (char *)memory.offsets + 4);
    WRONG(ARGUMENT, "segments->reserved[7]", call.segments.reserved[7] = 1);
    WRONG(ARGUMENT, "count_at", call.segments.kind = TABLE_SEGMENT_KEYS, call.segments.count_at = &memory.count_at);
    WRONG(TOO_LARGE, "segments->count", call.segments.count = SIZE_MAX);
    WRONG(ARGUMENT, "tables", call.options.tables = 2);
    WRONG(ARGUMENT, "state", call.options.state = memory.lasts);
    WRONG(ARGUMENT, "offsets and exclusive", call.options.offsets = call.options.exclusive = 1);
    WRONG(SHAPE, "row more", call.options.offsets = 1);
    WRONG(OVERLAP, "in and out", call.options.offsets = 1, call.out.rows = ROWS + SEGMENTS, call.out.data = memory.in);
    WRONG(OVERLAP, "in and out", call.out.data = memory.in + 1);
    WRONG(SHAPE, "9 x 2", call.out.rows = ROWS - 1);
    WRONG(OVERLAP, "carry_in and out", call.options.carry_in = memory.out);
    WRONG(OVERLAP, "carry_out and in", call.options.carry_out = memory.in);
    WRONG(OVERLAP, "carry_out", call.options.carry_out = memory.starts + 2);
    WRONG(OVERLAP, "segments->data and out", call.segments.data = memory.out);
    WRONG(OVERLAP, "segments->found and segments->data", call.segments.found = (uint64_t *)memory.offsets);
    WRONG(OVERLAP, "segments->wrong and", call.segments.wrong = call.segments.found = &memory.found);
    WRONG(ARGUMENT, "exclusive", call.out.rows = 0, call.out.data = NULL, call.options.exclusive = 1);
    WRONG(ARGUMENT, "first_overflow", call.out.rows = 0, call.out.data = NULL);
    WRONG(SHAPE, "0 x 2", call.out.rows = 0, call.out.data = NULL, call.options.carry_out = NULL);
    WRONG(SHAPE, "data[3]", memory.offsets[3] = ROWS + 1);
    WRONG(SHAPE, "data[2]", memory.offsets[2] = 3);
    WRONG(SHAPE, "data[0]", memory.offsets[0] = -1);
    WRONG(SHAPE, "more segments", memory.count_at = SEGMENTS + 1, call.segments.count_at = &memory.count_at);
    WRONG(SHAPE, "more segments", call.segments.kind = TABLE_SEGMENT_KEYS, call.segments.data = memory.in,
          call.segments.type = TABLE_I32, call.segments.count = 1, memory.in[3] = memory.in[5] = 0);
    expect(table_segmented_prefix_sum_workspace(&right.in, &right.out, NULL, NULL, &bytes), TABLE_ERROR_ARGUMENT, "");
    assert_int_equal(bytes, 12345);
}

/* Anything at all as offsets and lengths: it is right, or the first that is wrong is named and nothing is written. */
static void test_any_offsets(void **state) {
    struct random random = {run_seed()};
    (void)state;
    for (unsigned trial = 0; trial < 20000; trial++) {
        struct right_call call = right_call();
        const bool lengths = trial & 1;
        const int64_t extreme[] = {INT64_MIN, INT64_MAX, -1, ROWS, ROWS + 1, INT32_MIN};
        uint64_t expected = TABLE_SEGMENTS_RIGHT;
        int64_t before = 0;
        for (size_t i = 0; i <= SEGMENTS; i++)
            memory.offsets[i] = random_once_in(&random, 8) ? extreme[random_below(&random, 6)]
                                : lengths                  ? (int64_t)random_below(&random, 6)
                                          : before + (int64_t)random_below(&random, 5) - random_once_in(&random, 9);
        for (size_t i = 0; i < (size_t)SEGMENTS + !lengths && expected == TABLE_SEGMENTS_RIGHT; i++) {
            const int64_t value = memory.offsets[i];
            if (value < (lengths ? 0 : before) || value > ROWS - (lengths ? before : 0))
                expected = i;
            else
                before = lengths ? before + value : value;
        }
        call.segments.kind = lengths ? TABLE_SEGMENT_LENGTHS : TABLE_SEGMENT_OFFSETS;
        call.segments.wrong = &memory.wrong;
        if (expected == TABLE_SEGMENTS_RIGHT)
            assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
        else
            expect_refused(&call, TABLE_ERROR_SHAPE, "segments->data[");
        assert_true(memory.wrong == expected);
    }
}

/* No segments, no rows, no columns. */
static void test_nothing(void **state) {
    struct right_call call = right_call();
    (void)state;
    call.segments.count = 0;
    memcpy(&kept, &memory, sizeof memory);
    kept.overflow = TABLE_NO_OVERFLOW;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
    assert_memory_equal(&kept, &memory, sizeof memory);
    call.segments.data = NULL;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
    assert_memory_equal(&kept, &memory, sizeof memory);
    call = right_call();
    memset(memory.offsets, 0, sizeof memory.offsets);
    memset(memory.starts, 3, sizeof memory.starts);
    call.in.rows = call.out.rows = 0;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
    assert_memory_equal(memory.starts, memory.lasts, sizeof memory.lasts);
    call = right_call();
    call.in.columns = call.out.columns = 0;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
}

/* The count of keys and flags is not looked at where nothing has rows for each segment. */
static void test_any_count(void **state) {
    enum { MANY = 1 << 20 };
    static int32_t values[MANY], sums[MANY];
    static const size_t counts[] = {0, 1, SIZE_MAX, (size_t)1 << 57};
    uint64_t found;
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        values[i] = (int32_t)i;
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        const bool is_wide = i % 2;
        const table_segments segments = {
            .kind = TABLE_SEGMENT_KEYS, .type = TABLE_I32, .data = values, .count = counts[i / 2], .found = &found};
        const table_view in = {values, MANY >> is_wide, 1 + is_wide, 0, TABLE_I32};
        const table_view out = {sums, MANY >> is_wide, 1 + is_wide, 0, TABLE_I32};
        const table_scan_options options = {.threads = 4};
        memset(sums, 0, sizeof sums);
        assert_int_equal(table_segmented_prefix_sum(&in, &out, &segments, &options), TABLE_OK);
        assert_int_equal(found, MANY >> is_wide);
        assert_memory_equal(sums, values, sizeof sums);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),      cmocka_unit_test(test_recurrences),
                                       cmocka_unit_test(test_wrong_calls), cmocka_unit_test(test_any_offsets),
                                       cmocka_unit_test(test_nothing),     cmocka_unit_test(test_any_count)};
    const char *reason = ways_unavailable();
    if (reason) {
        print_message("%s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests_name("segments", tests, NULL, NULL);
}
