/* Ragged tables: each segment has the bits, the last sums, the overflow and the NaNs that a call for it alone has, and
 * nothing beside the segments is written. */
#include "support/refusal.h"
#include "support/tables.h"
#include "support/test.h"
#include "support/ways.h"

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
    void *a; /* of a recurrence: the coefficients, of a_rows x a_columns */
    size_t a_rows, a_columns;
    bool in_place, totals, streamed, counted_there, same_carry; /* same_carry: both carries are the same rows */
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

static table_view factors_of(const struct trial *t) {
    return (table_view){t->a, t->a_rows, t->a_columns, (ptrdiff_t)t->a_columns, t->pair.in};
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
        const table_view all_a = factors_of(t), a = t->a_rows > 1 ? rows_of(&all_a, first, rows) : all_a;
        if (t->operation == TABLE_RECURRENCE)
            options.carry_out = expected->lasts + k * row_bytes;
        const table_status status =
            t->operation == TABLE_RECURRENCE ? table_linear_recurrence(&a, &from, t->totals ? NULL : &to, &options)
            : t->totals ? table_column_totals(&from, t->kept, expected->lasts + k * row_bytes, &options)
                        : table_prefix_sum(&from, &to, &options);
        require(t, status == TABLE_OK, "the segment alone");
        if (overflow != TABLE_NO_OVERFLOW && before * t->columns + overflow < expected->first_overflow)
            expected->first_overflow = before * t->columns + overflow;
        expected->skipped += skipped;
    }
}

/* Rows or words of the options, in the memory under test. */
static void *open_memory(const struct trial *t, struct block *block, size_t bytes, const void *from) {
    block_open(block, t->way->memory, bytes, 0, EDGE_FRONT);
    require(t, !from || block_upload(block, from), "memory of the options cannot be written");
    return block->address;
}

static void close_memory(const struct trial *t, struct block *block, void *to) {
    require(t, block_download(block, to) && block_surroundings_intact(block), "memory of the options");
    block_close(block);
}

/* a: the coefficients of a recurrence. */
static void call_on_stream(const struct trial *t, const table_view *a, const table_view *in, const table_view *out,
                           const table_segments *segments, table_scan_options *options) {
    struct block workspace;
    size_t *const bytes = &options->workspace_bytes;
    options->stream = t->way->stream_open();
    require(t,
            (a ? table_segmented_linear_recurrence_workspace(a, in, out, segments, options, bytes)
               : table_segmented_prefix_sum_workspace(in, out, segments, options, bytes)) == TABLE_OK,
            "the workspace");
    block_open(&workspace, t->way->memory, *bytes, 0, EDGE_FRONT);
    options->workspace = workspace.address;
    require(t,
            (a ? table_segmented_linear_recurrence_async(a, in, out, segments, options)
               : table_segmented_prefix_sum_async(in, out, segments, options)) == TABLE_OK &&
                t->way->stream_wait(options->stream),
            "the call on a stream");
    t->way->stream_close(options->stream);
    require(t, block_surroundings_intact(&workspace), "around the workspace");
    block_close(&workspace);
}

static void call(const struct trial *t, const table_view *in, const table_view *out, const table_segments *segments,
                 table_scan_options *options) {
    struct block factors;
    table_view all_a = factors_of(t);
    const table_view *const a = t->operation == TABLE_RECURRENCE ? &all_a : NULL;
    if (a)
        all_a.data = open_memory(t, &factors, t->a_rows * t->a_columns * element_size(t->pair.in), t->a);
    if (t->streamed)
        call_on_stream(t, a, in, out, segments, options);
    else
        require(t,
                (a ? table_segmented_linear_recurrence(a, in, out, segments, options)
                   : table_segmented_prefix_sum(in, out, segments, options)) == TABLE_OK,
                "the call");
    if (a)
        close_memory(t, &factors, t->a);
}

static void open_tables(const struct trial *t, struct table *in, struct table *out, size_t out_rows) {
    struct random *random = t->random;
    const ptrdiff_t in_stride = (ptrdiff_t)(t->columns + (random_once_in(random, 4) ? random_below(random, 5) : 0));
    const ptrdiff_t out_stride = (ptrdiff_t)(t->columns + (random_once_in(random, 4) ? random_below(random, 5) : 0));
    const size_t skew = random_once_in(random, 6) ? random_below(random, 9) : 0;
    table_open_anywhere(in, t->way->memory, t->pair.in, t->rows, t->columns,
                        random_once_in(random, 6) ? -in_stride : in_stride, skew, EDGE_FRONT);
    table_open_anywhere(out, t->way->memory, t->pair.out, out_rows, t->columns,
                        random_once_in(random, 6) ? -out_stride : out_stride, 0, EDGE_BACK);
    table_randomize(in, random, (enum pattern)random_below(random, PATTERN_COUNT));
    table_fill_rubbish(out, random);
}

/* The coefficients are a number, a row, a column or a table, and now and then one is 0, a reset. */
static void make_factors(struct trial *t) {
    const size_t size = element_size(t->pair.in);
    t->a_rows = random_once_in(t->random, 2) ? t->rows : 1;
    t->a_columns = random_once_in(t->random, 2) ? t->columns : 1;
    t->a = get_memory(t->a_rows * t->a_columns * size);
    for (size_t i = 0; i < t->a_rows * t->a_columns; i++)
        if (!random_once_in(t->random, 50))
            element_randomize((char *)t->a + i * size, t->pair.in, t->random, PATTERN_SMALL);
}

static void check(struct trial *t) {
    const size_t row_bytes = t->columns * element_size(t->kept), carried = t->room * row_bytes;
    const bool wants_start = t->options.carry_in, wants_end = t->options.carry_out;
    struct table in, out;
    struct block blocks[7] = {{0}};
    struct expected expected = {.first_overflow = TABLE_NO_OVERFLOW, .lasts = get_memory(carried)};
    struct difference at;
    open_tables(t, &in, &out, t->totals ? 0 : t->rows + (t->options.offsets ? t->room : 0));
    char *const starts = get_memory(carried), *const lasts = get_memory(carried);
    void *const data = get_memory((t->room + 1 + t->rows) * sizeof(uint64_t));
    for (size_t k = 0; k < t->room * t->columns; k++)
        element_randomize(starts + k * element_size(t->kept), t->kept, t->random, PATTERN_SMALL);
    memcpy(expected.lasts, starts, carried);
    if (t->operation == TABLE_RECURRENCE)
        make_factors(t);
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
    if (t->same_carry)
        options.carry_out = blocks[4].address;
    else if (wants_end) /* rows without a segment are not written */
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
        close_memory(t, &blocks[t->same_carry ? 4 : 5], lasts);
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
    if (wants_start && !t->same_carry)
        block_close(&blocks[4]);
    free(expected.lasts);
    free(t->a);
    free(starts);
    free(lasts);
    free(data);
    table_close(&in);
    table_close(&out);
}

/* What the CUDA backend does not know. */
static bool is_refused(const struct trial *t) {
    return t->way->backend == TABLE_BACKEND_CUDA &&
           (!t->way->direct || (t->options.first_overflow && t->operation != TABLE_SUM));
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
    static const double factor[1];
    const table_view a = {(void *)(uintptr_t)factor, 1, 1, 0, t->pair.in};
    expect(t->operation == TABLE_RECURRENCE
               ? table_segmented_linear_recurrence(&a, &in.view, &into, &segments, &options)
               : table_segmented_prefix_sum(&in.view, &into, &segments, &options),
           TABLE_ERROR_BACKEND, "CUDA");
    table_close(&in);
    table_close(&out);
}

static const table_type key_types[] = {TABLE_U8,  TABLE_BOOL, TABLE_F16, TABLE_I16,
                                       TABLE_F32, TABLE_U32,  TABLE_I64, TABLE_F64};

static void vary(struct trial *t) {
    static uint64_t somewhere;
    struct random *random = t->random;
    t->operation = random_once_in(random, 2) ? TABLE_SUM : (table_operation)random_below(random, TABLE_RECURRENCE + 1);
    size_t pairs = 0;
    while (operation_pair(t->operation, pairs, &t->pair))
        pairs++;
    operation_pair(t->operation, random_below(random, pairs), &t->pair);
    const bool is_float = element_is_float(t->pair.out);
    const bool is_recurrence = t->operation == TABLE_RECURRENCE;
    t->kept = table_kept_type(is_recurrence ? TABLE_SUM : t->operation, t->pair.out);
    t->kind = (table_segment_kind)(1 + random_below(random, 4));
    t->type = random_once_in(random, 2) ? TABLE_I32 : TABLE_I64;
    if (t->kind == TABLE_SEGMENT_KEYS)
        t->type = key_types[random_below(random, sizeof key_types / sizeof *key_types)];
    else if (t->kind == TABLE_SEGMENT_HEADS)
        t->type = random_once_in(random, 2) ? TABLE_U8 : TABLE_BOOL;
    t->columns = random_once_in(random, 4) ? 1 : 1 + random_below(random, random_once_in(random, 5) ? 300 : 17);
    t->options = (table_scan_options){.operation = is_recurrence ? TABLE_SUM : t->operation,
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
                         !(t->operation == TABLE_PRODUCT && is_float) && !is_recurrence;
    const bool is_checked = t->operation == TABLE_SUM || t->operation == TABLE_PRODUCT;
    t->options.first_overflow = !t->totals && !is_float && is_checked && random_once_in(random, 2) ? &somewhere : NULL;
    t->options.skipped = t->options.skip_nan ? &somewhere : NULL;
    t->in_place = t->pair.in == t->pair.out && !t->options.offsets && !t->totals && random_once_in(random, 3);
    t->streamed = t->way->direct && random_once_in(random, 3);
    t->options.shifted_coefficients = is_recurrence && !t->options.carry_in && random_once_in(random, 3);
    t->same_carry = !t->totals && t->options.carry_in && t->options.carry_out && random_once_in(random, 2);
}

TEST(test_random) {
    static struct trial trial;
    struct random random = {run_seed()};
    const size_t trials = (run_small() ? 300 : 4000) * run_rounds() / run_few();
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

/* A segment with a tree of several levels of units, among small ones. */
TEST(test_giant) {
    enum { GIANT = 512 * 512 * 2 + 512 * 3 + 17 };
    static const uint64_t bounds[] = {1, 3, 3, 40, GIANT, GIANT + 2000, GIANT + 7000, GIANT + 16500};
    static struct trial trial;
    static uint64_t wanted;
    struct random random = {run_seed() + 1};
    for (size_t way = 0; way < way_count; way++)
        for (int turn = 0; turn < 3 && ways[way].direct; turn++) {
            const int exclusive = turn == 1;
            way_enter(&ways[way]);
            trial = (struct trial){.way = &ways[way], .random = &random};
            vary(&trial);
            trial.operation = TABLE_SUM;
            trial.pair =
                turn == 2 ? (struct type_pair){TABLE_I64, TABLE_I64} : (struct type_pair){TABLE_F32, TABLE_F32};
            trial.kept = trial.pair.out;
            trial.kind = TABLE_SEGMENT_OFFSETS;
            trial.type = TABLE_I64;
            trial.columns = 1;
            trial.count = trial.room = sizeof bounds / sizeof *bounds - 1;
            trial.rows = GIANT + 16505;
            memcpy(trial.bounds, bounds, sizeof bounds);
            trial.totals = trial.counted_there = trial.in_place = false;
            trial.options = (table_scan_options){.backend = ways[way].backend,
                                                 .exclusive = exclusive,
                                                 .reverse = !exclusive,
                                                 .first_overflow = turn == 2 ? &wanted : NULL,
                                                 .carry_in = &trial,
                                                 .carry_out = &trial};
            check(&trial);
        }
}

int main(void) { return run_all_tests("segments", ways_unavailable()); }
