/* Calls that their thread's interrupt ends, at every point at which it is asked: they are canceled, their state is as
 * it was, and the next call is right. */
#include <pthread.h>

#include "interrupt.h"
#include "support/test.h"

/* In several chunks and, as sums, in more than what one thread takes between two questions. */
enum { ROWS = 400000, COLUMNS = 3, VALUES = ROWS * COLUMNS, PARTS = 3, BINS = 7, STATE_BYTES = 8192, ASKED_MOST = 64 };

/* Before a part, within it, after it, and at the end. */
enum { LEAST_ASKED = 4 };

static struct {
    _Alignas(64) uint64_t in[VALUES], out[VALUES + COLUMNS], more[VALUES];
    _Alignas(TABLE_STATE_ALIGNMENT) unsigned char state[STATE_BYTES];
} memory;

static struct {
    pthread_t thread;
    unsigned asked, last; /* how often; after how often the call is to end */
    bool elsewhere;       /* some other thread was asked */
} asked;

static int ask(void *context) {
    asked.elsewhere = asked.elsewhere || context != &asked || !pthread_equal(pthread_self(), asked.thread);
    return ++asked.asked == asked.last;
}

struct variant {
    const char *name;
    table_status (*call)(const struct variant *variant);
    table_type in, out;
    table_scan_options options; /* a state of any kind: memory.state, begun or not */
    bool begun;
};

static table_view view_of(void *data, size_t rows, size_t columns, table_type type) {
    return (table_view){data, rows, columns, 0, type};
}

static table_scan_options options_of(const struct variant *variant) {
    table_scan_options options = variant->options;
    if (options.state)
        options.state = memory.state;
    return options;
}

static table_status scan(const struct variant *variant) {
    const table_scan_options options = options_of(variant);
    const table_view in = view_of(memory.in, ROWS, COLUMNS, variant->in);
    const table_view out = view_of(memory.out, ROWS + (size_t)options.offsets, COLUMNS, variant->out);
    return table_prefix_sum(&in, &out, &options);
}

/* The table lies where its sums go, one row further down: the start is put before all others. */
static table_status scan_in_place(const struct variant *variant) {
    const table_scan_options options = options_of(variant);
    const table_view out = view_of(memory.out, ROWS + 1, COLUMNS, variant->out);
    table_view in = view_of((char *)memory.out + COLUMNS * table_type_size(variant->in), ROWS, COLUMNS, variant->in);
    return table_prefix_sum(&in, &out, &options);
}

static table_status totals(const struct variant *variant) {
    const table_scan_options options = options_of(variant);
    const table_view in = view_of(memory.in, ROWS, COLUMNS, variant->in);
    return table_column_totals(&in, variant->out, memory.out, &options);
}

static table_status columns(const struct variant *variant) {
    const table_scan_options options = options_of(variant);
    const size_t in_bytes = ROWS * table_type_size(variant->in), out_bytes = ROWS * table_type_size(variant->out);
    table_column from[COLUMNS] = {{0}}, to[COLUMNS] = {{0}};
    for (size_t j = 0; j < COLUMNS; j++) {
        from[j].data = (char *)memory.in + j * in_bytes;
        to[j].data = (char *)memory.out + j * out_bytes;
    }
    const table_columns in = {from, COLUMNS, ROWS, variant->in}, out = {to, COLUMNS, ROWS, variant->out};
    return table_prefix_sum_columns(&in, &out, &options);
}

static table_status devices(const struct variant *variant) {
    const table_scan_options options = options_of(variant);
    table_part parts[PARTS] = {{.backend = TABLE_BACKEND_CPU}};
    const size_t rows = ROWS / PARTS, in_bytes = rows * COLUMNS * table_type_size(variant->in);
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].in = view_of((char *)memory.in + i * in_bytes, rows, COLUMNS, variant->in);
        parts[i].out = view_of((char *)memory.out + i * rows * COLUMNS * table_type_size(variant->out), rows, COLUMNS,
                               variant->out);
    }
    return table_prefix_sum_devices(parts, PARTS, &options, NULL);
}

static table_status batch(const struct variant *variant) {
    table_scan_options options = options_of(variant);
    options.tables = 1000;
    options.in_step = options.out_step = ROWS / 1000 * COLUMNS;
    const table_view in = view_of(memory.in, ROWS / 1000, COLUMNS, variant->in);
    const table_view out = view_of(memory.out, ROWS / 1000, COLUMNS, variant->out);
    return table_prefix_sum(&in, &out, &options);
}

static table_status stages(const struct variant *variant) {
    const table_scan_options options = options_of(variant);
    const table_view in = view_of(memory.in, ROWS, COLUMNS, variant->in);
    const table_view out = view_of(memory.out, ROWS, COLUMNS, variant->out);
    const table_view seeds = view_of(memory.more, table_seeds_rows(variant->out, ROWS, COLUMNS), COLUMNS, variant->out);
    memset(memory.more, 0, COLUMNS * sizeof(uint64_t));
    table_status status = table_stage1_local_counts(&in, &seeds, &options);
    if (status == TABLE_OK)
        status = table_stage2_scan_totals(&seeds, &options);
    return status == TABLE_OK ? table_stage3_global_pass(&in, &seeds, &out, &options) : status;
}

static table_status histogram(const struct variant *variant) {
    const table_view values = view_of(memory.in, VALUES, 1, variant->in);
    const table_view weights = view_of(memory.in, VALUES, 1, TABLE_F64);
    const table_view result = view_of(memory.out, 1, BINS, variant->out);
    const table_bins bins = {.kind = TABLE_BINS_EVEN, .count = BINS, .low = 0, .high = 200};
    table_histogram_options options = {.run.threads = variant->options.threads};
    if (variant->out == TABLE_F64)
        options.weights = &weights;
    return table_histogram(&values, &bins, &result, &options);
}

static table_status sort(const struct variant *variant) {
    const table_view keys = view_of(memory.in, VALUES, 1, variant->in),
                     order = view_of(memory.out, VALUES, 1, TABLE_U32);
    const table_sort_options options = {.run.threads = variant->options.threads};
    const table_pipeline_options run = {.threads = variant->options.threads};
    const size_t rows = table_digit_chunks(VALUES, 0, 8);
    const table_view counters = view_of(memory.more, rows, 256, TABLE_U32);
    const table_digit digit = {.bits = 8};
    table_status status = table_argsort(&keys, &order, &options);
    if (status == TABLE_OK)
        status = table_digit_counts(&keys, &digit, 0, &counters, &run);
    if (status == TABLE_OK)
        status = table_chunk_ranks(&counters, &counters, NULL, NULL, &run);
    return status == TABLE_OK ? table_radix_sort(&keys, memory.out, 12, &options) : status;
}

static int64_t read_rows(void *context, void *to, size_t bytes) {
    size_t *const done = context;
    const size_t all = VALUES * sizeof(uint32_t), some = all - *done < bytes ? all - *done : bytes;
    memcpy(to, (const char *)memory.in + *done, some);
    *done += some;
    return (int64_t)some;
}

static int write_rows(void *context, const void *from, size_t bytes) {
    size_t *const done = context;
    memcpy((char *)memory.out + *done, from, bytes);
    *done += bytes;
    return 0;
}

static table_status stream(const struct variant *variant) {
    size_t read = 0, written = 0;
    const table_stream_options options = {.in_type = variant->in,
                                          .out_type = variant->out,
                                          .columns = COLUMNS,
                                          .read = read_rows,
                                          .read_context = &read,
                                          .write = write_rows,
                                          .write_context = &written,
                                          .scan = options_of(variant)};
    return table_stream(&options);
}

#define STATE ((void *)&memory)
static const struct variant variants[] = {
    {"floats", scan, TABLE_F32, TABLE_F32, {.threads = 1}, 0},
    {"floats, threads", scan, TABLE_F32, TABLE_F32, {.threads = 3}, 0},
    {"floats, a state", scan, TABLE_F32, TABLE_F32, {.threads = 1, .state = STATE}, 0},
    {"floats, a begun state", scan, TABLE_F32, TABLE_F32, {.threads = 1, .state = STATE}, 1},
    {"floats, a begun state, threads", scan, TABLE_F32, TABLE_F64, {.threads = 3, .state = STATE}, 1},
    {"floats, stages, a state", scan, TABLE_F32, TABLE_F32, {.strategy = 1, .threads = 2, .state = STATE}, 0},
    {"floats, recursive, a begun state", scan, TABLE_F32, TABLE_F32, {.strategy = 2, .threads = 2, .state = STATE}, 1},
    {"halves, offsets, a begun state", scan, TABLE_F16, TABLE_F16, {.threads = 1, .offsets = 1, .state = STATE}, 1},
    {"offsets in place, a state", scan_in_place, TABLE_F32, TABLE_F32, {.threads = 1, .offsets = 1, .state = STATE}, 0},
    {"offsets in place, begun", scan_in_place, TABLE_F32, TABLE_F32, {.threads = 1, .offsets = 1, .state = STATE}, 1},
    {"integers", scan, TABLE_U32, TABLE_U64, {.threads = 1}, 0},
    {"integers, a state", scan, TABLE_U32, TABLE_U64, {.threads = 1, .state = STATE}, 0},
    {"integers, a begun state", scan, TABLE_U32, TABLE_U64, {.threads = 3, .state = STATE}, 1},
    {"integers in place, begun", scan_in_place, TABLE_U64, TABLE_U64, {.threads = 2, .offsets = 1, .state = STATE}, 1},
    {"integers, stages, begun", scan, TABLE_I32, TABLE_I64, {.strategy = 2, .threads = 2, .state = STATE}, 1},
    {"totals", totals, TABLE_F32, TABLE_F64, {.threads = 2}, 0},
    {"totals, a state", totals, TABLE_F32, TABLE_F64, {.threads = 1, .state = STATE}, 0},
    {"totals, a begun state", totals, TABLE_U32, TABLE_U64, {.threads = 2, .state = STATE}, 1},
    {"columns", columns, TABLE_F32, TABLE_F32, {.threads = 2, .state = STATE}, 0},
    {"columns, a begun state", columns, TABLE_U32, TABLE_U64, {.threads = 2, .state = STATE}, 1},
    {"parts", devices, TABLE_F32, TABLE_F32, {.threads = 2, .state = STATE}, 0},
    {"parts, a begun state", devices, TABLE_U32, TABLE_U64, {.threads = 2, .state = STATE}, 1},
    {"a batch", batch, TABLE_F32, TABLE_F32, {.threads = 2}, 0},
    {"stages", stages, TABLE_F32, TABLE_F32, {.threads = 2}, 0},
    {"a histogram", histogram, TABLE_F64, TABLE_U64, {.threads = 2}, 0},
    {"a histogram of weights", histogram, TABLE_F32, TABLE_F64, {.threads = 1}, 0},
    {"sorts", sort, TABLE_U64, TABLE_U64, {.threads = 2}, 0},
    {"a sort, one thread", sort, TABLE_U32, TABLE_U32, {.threads = 1}, 0},
    {"a stream", stream, TABLE_U32, TABLE_U64, {.threads = 1}, 0},
};

/* Values that mean something as any type, also as sums that were made of them. */
static void fill(const struct variant *variant) {
    const size_t bytes = table_type_size(variant->in);
    memset(&memory, 0, sizeof memory);
    for (size_t i = 0; i < VALUES; i++) {
        const float f32 = (float)(i % 101);
        const double f64 = f32;
        const uint64_t word = variant->in == TABLE_F16 ? 0x3C00 + i % 101 : i % 101;
        memcpy((char *)memory.in + i * bytes,
               variant->in == TABLE_F32   ? (const void *)&f32
               : variant->in == TABLE_F64 ? (const void *)&f64
                                          : (const void *)&word,
               bytes);
    }
    memcpy(memory.out + 0, memory.in, sizeof memory.in);
    if (!variant->begun)
        return;
    const table_view in = view_of(memory.in, 1000, COLUMNS, variant->in);
    const table_scan_options options = {.state = memory.state};
    assert_int_equal(table_column_totals(&in, table_sum_type(variant->out), NULL, &options), TABLE_OK);
}

/* Whether the call, asked `last` times, was canceled. */
static bool is_canceled(const struct variant *variant, unsigned last) {
    static unsigned char before[STATE_BYTES];
    asked.last = 0;
    fill(variant);
    memcpy(before, memory.state, STATE_BYTES);
    asked.asked = 0;
    asked.last = last;
    const table_status status = variant->call(variant);
    if (asked.asked < last) {
        if (status != TABLE_OK)
            fail_msg("%s: %s: %s", variant->name, table_status_name(status), table_error_detail());
        return false;
    }
    if (status != TABLE_ERROR_CANCELED)
        fail_msg("%s, asked %u times: %s", variant->name, asked.asked, table_status_name(status));
    if (asked.elsewhere || asked.asked != last)
        fail_msg("%s: asked %u times instead of %u, or in another thread", variant->name, asked.asked, last);
    if (variant->call != stream && memcmp(before, memory.state, STATE_BYTES) != 0)
        fail_msg("%s: the state has changed when asked %u times", variant->name, last);
    return true;
}

TEST(test_every_point) {
    interrupt_ask_ms = 0;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        static uint64_t right[VALUES + COLUMNS];
        unsigned last = 1;
        asked.thread = pthread_self();
        fill(&variants[i]);
        assert_int_equal(variants[i].call(&variants[i]), TABLE_OK);
        memcpy(right, memory.out, sizeof right);
        table_set_interrupt((table_interrupt){ask, &asked});
        while (last < ASKED_MOST && is_canceled(&variants[i], last))
            last += 1 + last / 2;
        is_canceled(&variants[i], UINT32_MAX);
        /* The thread that asks may have had little of the work if there are two. */
        if (last == 1 || (variants[i].options.threads == 1 && asked.asked < LEAST_ASKED))
            fail_msg("%s: was asked %u times", variants[i].name, asked.asked);
        if (memcmp(right, memory.out, sizeof right) != 0)
            fail_msg("%s: something else where nobody ended it", variants[i].name);
        const table_interrupt was = table_set_interrupt((table_interrupt){NULL, NULL});
        assert_true(was.ask == ask && was.context == &asked);
    }
}

int main(void) { return run_all_tests("interrupt", NULL); }
