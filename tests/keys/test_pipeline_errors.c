/* What wrong calls of the pipelines get: the right status, the reason in table_error_detail(), and nothing written. */
#include <math.h>

#include "keys/calls.h"
#include "support/refusal.h"

enum { KEYS = 100, BINS = 4, CHUNK = 30, CHUNKS = 4, DIGITS = 16 };

/* All memory that the calls could write to. */
static struct {
    _Alignas(TABLE_WORKSPACE_ALIGNMENT) unsigned char workspace[1 << 17];
    uint32_t keys[KEYS + 1];
    float floats[KEYS];
    uint64_t counters[CHUNKS * DIGITS + 1], ranks[CHUNKS * DIGITS], totals[DIGITS], offsets[DIGITS];
    uint64_t counts[BINS], outside[TABLE_OUTSIDE_WORDS];
    double sums[BINS];
    uint64_t values[KEYS], order[KEYS];
    table_pipeline_report report;
} memory;

static const double edges[BINS + 1] = {0, 1, 2, 3, 4};

/* Arguments that are right as they stand; each test makes one thing wrong. */
static struct key_arguments right(enum operation operation) {
    memset(&memory, 0x5A, sizeof memory);
    return (struct key_arguments){.operation = operation,
                                  .keys = {memory.keys, KEYS, 1, 0, TABLE_U32},
                                  .counters = {memory.counters, CHUNKS, DIGITS, 0, TABLE_U64},
                                  .ranks = {memory.ranks, CHUNKS, DIGITS, 0, TABLE_U64},
                                  .order = {memory.order, KEYS, 1, 0, TABLE_U64},
                                  .result = {memory.counts, 1, BINS, 0, TABLE_U64},
                                  .weights = {memory.floats, KEYS, 1, 0, TABLE_F32},
                                  .digit = {4, 4, 0},
                                  .chunk_length = CHUNK,
                                  .value_bytes = 8,
                                  .totals = memory.totals,
                                  .offsets = memory.offsets,
                                  .values = memory.values,
                                  .bins = {.kind = TABLE_BINS_EVEN, .count = BINS, .low = 0, .high = 100},
                                  .histogram = {.outside = memory.outside}};
}

static void expect_form(enum form form, const struct key_arguments *all, table_status status, const char *word) {
    size_t bytes = 12345;
    watch(&memory, sizeof memory);
    expect_refusal(call_on_keys(form, all, &bytes), status, word, operation_names[all->operation]);
    assert_int_equal(bytes, 12345);
}

/* All three forms. */
static void expect_all(struct key_arguments all, table_status status, const char *word) {
    expect_form(NOW, &all, status, word);
    expect_form(WORKSPACE, &all, status, word);
    all.run.workspace = memory.workspace;
    all.run.workspace_bytes = sizeof memory.workspace;
    expect_form(QUEUE, &all, status, word);
}

#define WRONG(OPERATION, CHANGE, STATUS, WORD)                                                                         \
    do {                                                                                                               \
        struct key_arguments all = right(OPERATION);                                                                   \
        CHANGE;                                                                                                        \
        expect_all(all, STATUS, WORD);                                                                                 \
    } while (0)

TEST(test_right_calls) {
    for (enum operation operation = 0; operation < OPERATIONS; operation++) {
        struct key_arguments all = right(operation);
        size_t bytes = 12345;
        assert_int_equal(call_on_keys(NOW, &all, NULL), TABLE_OK);
        assert_int_equal(call_on_keys(WORKSPACE, &all, &bytes), TABLE_OK);
        assert_in_range(bytes, 0, sizeof memory.workspace);
        all.run.workspace = memory.workspace;
        all.run.workspace_bytes = bytes;
        assert_int_equal(call_on_keys(QUEUE, &all, NULL), TABLE_OK);
    }
}

TEST(test_options) {
    for (enum operation operation = 0; operation < OPERATIONS; operation++) {
        struct key_arguments all = right(operation);
        all.run.backend = (table_backend)3;
        expect_all(all, TABLE_ERROR_ARGUMENT, "backend");
        if (table_cuda_unavailable()) {
            all.run.backend = TABLE_BACKEND_CUDA;
            expect_all(all, TABLE_ERROR_BACKEND, "CUDA");
        }
        all = right(operation);
        all.run.workspace = memory.workspace;
        expect_form(NOW, &all, TABLE_ERROR_ARGUMENT, "stream forms");
        all.run.workspace_bytes = 16;
        expect_form(QUEUE, &all, TABLE_ERROR_WORKSPACE, "workspace_bytes");
        all.run.workspace = memory.workspace + 8;
        expect_form(QUEUE, &all, TABLE_ERROR_WORKSPACE, "aligned");
        all.run.workspace = NULL;
        expect_form(QUEUE, &all, TABLE_ERROR_WORKSPACE, "missing");
        all = right(operation);
        all.run.report = &memory.report;
        expect_form(QUEUE, &all, TABLE_ERROR_ARGUMENT, "report");
        all = right(operation);
        assert_int_equal(call_on_keys(WORKSPACE, &all, NULL), TABLE_ERROR_ARGUMENT);
    }
}

TEST(test_keys) {
    static const enum operation with_keys[] = {COUNTS, HISTOGRAM, SORT, ARGSORT};
    for (size_t i = 0; i < 4; i++) {
        const enum operation operation = with_keys[i];
        const char *name = operation == HISTOGRAM ? "values" : "keys";
        WRONG(operation, all.keys.data = NULL, TABLE_ERROR_ARGUMENT, name);
        WRONG(operation, all.keys.type = (table_type)9, TABLE_ERROR_TYPE, name);
        WRONG(operation, all.keys.columns = 2, TABLE_ERROR_SHAPE, name);
        WRONG(operation, all.keys.columns = 0, TABLE_ERROR_SHAPE, name);
        WRONG(operation, all.keys.stride = 2, TABLE_ERROR_SHAPE, "side by side");
        WRONG(operation, all.keys.data = (char *)memory.keys + 1, TABLE_ERROR_ALIGNMENT, name);
        WRONG(operation, all.keys.rows = SIZE_MAX / 2, TABLE_ERROR_TOO_LARGE, name);
    }
}

TEST(test_digit_counts) {
    WRONG(COUNTS, all.digit.bits = 0, TABLE_ERROR_ARGUMENT, "bits is 0");
    WRONG(COUNTS, all.digit.bits = 17, TABLE_ERROR_ARGUMENT, "bits is 17");
    WRONG(COUNTS, all.digit.first_bit = 32, TABLE_ERROR_ARGUMENT, "first_bit is 32");
    WRONG(COUNTS, all.digit.descending = 2, TABLE_ERROR_ARGUMENT, "descending");
    WRONG(COUNTS, all.counters.type = TABLE_I32, TABLE_ERROR_TYPE, "counters");
    WRONG(COUNTS, all.counters.columns = 17, TABLE_ERROR_SHAPE, "counters");
    WRONG(COUNTS, all.counters.rows = 5, TABLE_ERROR_SHAPE, "counters");
    WRONG(COUNTS, all.chunk_length = 0, TABLE_ERROR_SHAPE, "counters");
    WRONG(COUNTS, all.counters.stride = 3, TABLE_ERROR_SHAPE, "stride");
    WRONG(COUNTS, all.counters.data = NULL, TABLE_ERROR_ARGUMENT, "counters");
    WRONG(COUNTS, all.counters.data = (char *)memory.counters + 4, TABLE_ERROR_ALIGNMENT, "counters");
    WRONG(COUNTS, all.counters = ((table_view){memory.keys, CHUNKS, DIGITS, 0, TABLE_U32}), TABLE_ERROR_OVERLAP,
          "counters and keys");
    WRONG(COUNTS, (all.keys.rows = (size_t)1 << 32, all.chunk_length = (size_t)1 << 30, all.counters.type = TABLE_U32),
          TABLE_ERROR_TOO_LARGE, "u32 counters");
    const struct key_arguments all = right(COUNTS);
    assert_int_equal(table_digit_counts(NULL, &all.digit, 0, &all.counters, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_digit_counts(&all.keys, NULL, 0, &all.counters, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_digit_counts(&all.keys, &all.digit, 0, NULL, NULL), TABLE_ERROR_ARGUMENT);
}

TEST(test_chunk_ranks) {
    WRONG(RANKS, all.counters.type = TABLE_F32, TABLE_ERROR_TYPE, "counters");
    WRONG(RANKS, all.ranks.type = TABLE_U32, TABLE_ERROR_TYPE, "ranks");
    WRONG(RANKS, all.ranks.rows = 3, TABLE_ERROR_SHAPE, "ranks");
    WRONG(RANKS, all.ranks.columns = 15, TABLE_ERROR_SHAPE, "ranks");
    WRONG(RANKS, all.ranks.data = memory.counters + 1, TABLE_ERROR_OVERLAP, "ranks");
    WRONG(RANKS, all.totals = memory.ranks, TABLE_ERROR_OVERLAP, "totals");
    WRONG(RANKS, all.offsets = memory.counters, TABLE_ERROR_OVERLAP, "offsets");
    WRONG(RANKS, all.offsets = memory.totals, TABLE_ERROR_OVERLAP, "totals and offsets");
    WRONG(RANKS, all.totals = (char *)memory.totals + 4, TABLE_ERROR_ALIGNMENT, "totals 0x");
    const struct key_arguments all = right(RANKS);
    assert_int_equal(table_chunk_ranks(NULL, &all.ranks, NULL, NULL, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_chunk_ranks(&all.counters, NULL, NULL, NULL, NULL), TABLE_ERROR_ARGUMENT);
}

static void make_edges(struct key_arguments *all, const double *made) {
    all->bins = (table_bins){.kind = TABLE_BINS_EDGES, .count = BINS, .edges = made};
    all->keys = (table_view){memory.values, KEYS, 1, 0, TABLE_F64};
}

TEST(test_bins) {
    static const double descending[] = {0, 1, 3, 2, 4}, with_nan[] = {0, 1, NAN, 3, 4}, nan_first[] = {NAN, 1, 2, 3, 4};
    static const double last_nan[] = {0, 1, 2, 3, NAN}, last_less[] = {0, 1, 2, 3, 2};
    assert_int_equal(table_histogram_chunk_length(4097), 16 * 4097);
    assert_true(table_histogram_chunk_length((size_t)1 << 60) == SIZE_MAX); /* 16 for each are more than that */
    WRONG(HISTOGRAM, all.bins.kind = (table_bins_kind)0, TABLE_ERROR_ARGUMENT, "kind");
    WRONG(HISTOGRAM, all.bins.count = 0, TABLE_ERROR_ARGUMENT, "count is 0");
    WRONG(HISTOGRAM, all.bins.count = TABLE_BINS_MOST + 1, TABLE_ERROR_ARGUMENT, "count");
    WRONG(HISTOGRAM, all.bins.high = 0, TABLE_ERROR_ARGUMENT, "range");
    WRONG(HISTOGRAM, all.bins.high = -1, TABLE_ERROR_ARGUMENT, "range");
    WRONG(HISTOGRAM, all.bins.low = NAN, TABLE_ERROR_ARGUMENT, "range");
    WRONG(HISTOGRAM, all.bins.high = NAN, TABLE_ERROR_ARGUMENT, "range");
    WRONG(HISTOGRAM, all.bins.high = INFINITY, TABLE_ERROR_ARGUMENT, "range");
    WRONG(HISTOGRAM, (all.bins.low = -1.7e308, all.bins.high = 1.7e308), TABLE_ERROR_ARGUMENT, "range");
    WRONG(HISTOGRAM, make_edges(&all, descending), TABLE_ERROR_ARGUMENT, "edge 3");
    WRONG(HISTOGRAM, make_edges(&all, with_nan), TABLE_ERROR_ARGUMENT, "edge 2");
    WRONG(HISTOGRAM, make_edges(&all, nan_first), TABLE_ERROR_ARGUMENT, "edge 0");
    WRONG(HISTOGRAM, make_edges(&all, last_nan), TABLE_ERROR_ARGUMENT, "edge 4");
    WRONG(HISTOGRAM, make_edges(&all, last_less), TABLE_ERROR_ARGUMENT, "edge 4");
    WRONG(HISTOGRAM, make_edges(&all, NULL), TABLE_ERROR_ARGUMENT, "edges");
    WRONG(HISTOGRAM, make_edges(&all, (const double *)((const char *)edges + 4)), TABLE_ERROR_ALIGNMENT, "edges");
    WRONG(HISTOGRAM, (all.bins.kind = TABLE_BINS_INTEGER, all.keys.type = TABLE_F32), TABLE_ERROR_TYPE, "integers");
    struct key_arguments all = right(HISTOGRAM);
    assert_int_equal(table_histogram(&all.keys, NULL, &all.result, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_histogram(&all.keys, &all.bins, NULL, NULL), TABLE_ERROR_ARGUMENT);
    make_edges(&all, edges);
    assert_int_equal(table_histogram(&all.keys, &all.bins, &all.result, NULL), TABLE_OK);
}

TEST(test_histogram) {
    WRONG(HISTOGRAM, all.result.type = TABLE_F64, TABLE_ERROR_TYPE, "result");
    WRONG(HISTOGRAM, all.result.columns = 3, TABLE_ERROR_SHAPE, "result");
    WRONG(HISTOGRAM, all.result.rows = 2, TABLE_ERROR_SHAPE, "result");
    WRONG(HISTOGRAM, (all.histogram.per_chunk = 1, all.histogram.chunk_length = CHUNK), TABLE_ERROR_SHAPE, "result");
    WRONG(HISTOGRAM, all.histogram.per_chunk = 2, TABLE_ERROR_ARGUMENT, "per_chunk");
    WRONG(HISTOGRAM, all.result.data = NULL, TABLE_ERROR_ARGUMENT, "result");
    WRONG(HISTOGRAM, all.result.data = memory.keys + 2, TABLE_ERROR_OVERLAP, "result and values");
    WRONG(HISTOGRAM, (all.keys.rows = (size_t)1 << 32, all.result.type = TABLE_U32), TABLE_ERROR_TOO_LARGE,
          "u32 counts");
    WRONG(HISTOGRAM, all.histogram.outside = memory.counts, TABLE_ERROR_OVERLAP, "outside");
    WRONG(HISTOGRAM, all.histogram.outside = (uint64_t *)(void *)((char *)memory.outside + 4), TABLE_ERROR_ALIGNMENT,
          "outside");
    WRONG(HISTOGRAM, all.histogram.weights = &all.weights, TABLE_ERROR_TYPE, "sums of f32");
    WRONG(HISTOGRAM, (all.histogram.weights = &all.weights, all.weights.type = TABLE_U32), TABLE_ERROR_TYPE, "weights");
    WRONG(HISTOGRAM, (all.histogram.weights = &all.weights, all.weights.rows = KEYS - 1), TABLE_ERROR_SHAPE, "weights");
    WRONG(HISTOGRAM, (all.histogram.weights = &all.weights, all.weights.data = NULL), TABLE_ERROR_ARGUMENT, "weights");
    WRONG(HISTOGRAM,
          (all.histogram.weights = &all.weights, all.result.type = TABLE_F32, all.result.data = memory.floats),
          TABLE_ERROR_OVERLAP, "weights");
}

TEST(test_sort) {
    WRONG(SORT, all.values = NULL, TABLE_ERROR_ARGUMENT, "values");
    WRONG(SORT, all.value_bytes = 0, TABLE_ERROR_ARGUMENT, "value_bytes");
    WRONG(SORT, all.value_bytes = SIZE_MAX / 2, TABLE_ERROR_TOO_LARGE, "values");
    WRONG(SORT, all.values = memory.keys, TABLE_ERROR_OVERLAP, "values and keys");
    WRONG(ARGSORT, all.order.rows = KEYS - 1, TABLE_ERROR_SHAPE, "order");
    WRONG(ARGSORT, all.order.type = TABLE_I32, TABLE_ERROR_TYPE, "order");
    WRONG(ARGSORT, all.order.data = NULL, TABLE_ERROR_ARGUMENT, "order");
    WRONG(ARGSORT, all.order = ((table_view){memory.keys + 1, KEYS, 1, 0, TABLE_U32}), TABLE_ERROR_OVERLAP, "order");
    WRONG(ARGSORT, (all.keys.rows = all.order.rows = ((size_t)1 << 32) + 1, all.order.type = TABLE_U32),
          TABLE_ERROR_TOO_LARGE, "order of u32");
    for (enum operation operation = SORT; operation <= ARGSORT; operation++) {
        WRONG(operation, all.sort.descending = -1, TABLE_ERROR_ARGUMENT, "descending");
        WRONG(operation, all.sort.first_bit = 32, TABLE_ERROR_ARGUMENT, "first_bit");
        WRONG(operation, (all.sort.first_bit = 8, all.sort.bits = 25), TABLE_ERROR_ARGUMENT, "bits 25");
    }
    const struct key_arguments all = right(SORT);
    assert_int_equal(table_radix_sort(NULL, NULL, 0, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_argsort(&all.keys, NULL, NULL), TABLE_ERROR_ARGUMENT);
}

int main(void) { return run_all_tests("pipeline_errors", NULL); }
