/* What the pipelines on CUDA have to themselves: graphs, and memory of two sides. What they compute is the matter of
 * the conformance tests. */
#include "keys/calls.h"
#include "support/on_gpu.h"
#include "support/random.h"

enum { KEYS = 30011, BINS = 100 };

static uint32_t host_keys[KEYS], host_order[KEYS];
static uint64_t host_counts[BINS];
static uint32_t *keys, *order;
static uint64_t *counts, *outside;
static cudaStream_t stream;

static int open_all(void **state) {
    (void)state;
    return cudaMalloc((void **)&keys, sizeof host_keys) || cudaMalloc((void **)&order, sizeof host_order) ||
           cudaMalloc((void **)&counts, sizeof host_counts) ||
           cudaMalloc((void **)&outside, TABLE_OUTSIDE_WORDS * sizeof *outside) ||
           cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
}

static int close_all(void **state) {
    (void)state;
    return cudaFree(keys) || cudaFree(order) || cudaFree(counts) || cudaFree(outside) || cudaStreamDestroy(stream);
}

static void fill_keys(uint32_t seed) {
    for (size_t i = 0; i < KEYS; i++)
        host_keys[i] = (seed = seed * 1664525u + 1013904223u) >> 8;
    send(keys, host_keys, sizeof host_keys, stream);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

static const table_view *view_of(void *data, table_type type) {
    static table_view views[2];
    static unsigned next;
    next = !next;
    views[next] = (table_view){data, KEYS, 1, 0, type};
    return &views[next];
}

static struct key_arguments arguments_of(enum operation operation) {
    static uint32_t edges[BINS + 1]; /* lives as long as the graph */
    for (uint32_t i = 0; i <= BINS; i++)
        edges[i] = i * 150000 + 1000;
    return (struct key_arguments){.operation = operation,
                                  .keys = *view_of(keys, TABLE_U32),
                                  .order = *view_of(order, TABLE_U32),
                                  .bins = {.kind = TABLE_BINS_EDGES, .count = BINS, .edges = edges},
                                  .result = {counts, 1, BINS, 0, TABLE_U64},
                                  .histogram = {.outside = outside},
                                  .run = {.backend = TABLE_BACKEND_CUDA, .stream = stream}};
}

static void check_order(void) {
    static unsigned char seen[KEYS];
    copy(host_order, order, sizeof host_order);
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < KEYS; i++) {
        const uint32_t index = host_order[i];
        assert_in_range(index, 0, KEYS - 1);
        assert_false(seen[index]);
        seen[index] = 1;
        if (i > 0 && (host_keys[host_order[i - 1]] > host_keys[index] ||
                      (host_keys[host_order[i - 1]] == host_keys[index] && host_order[i - 1] > index)))
            fail_msg("keys %u and %u are in the wrong order", host_order[i - 1], index);
    }
}

static void check_counts(void) {
    uint64_t expected[BINS] = {0}, below = 0, above = 0, found[TABLE_OUTSIDE_WORDS];
    for (size_t i = 0; i < KEYS; i++) {
        if (host_keys[i] < 1000)
            below++;
        else if (host_keys[i] > BINS * 150000 + 1000)
            above++;
        else if (host_keys[i] == BINS * 150000 + 1000)
            expected[BINS - 1]++;
        else
            expected[(host_keys[i] - 1000) / 150000]++;
    }
    copy(host_counts, counts, sizeof host_counts);
    copy(found, outside, sizeof found);
    assert_memory_equal(host_counts, expected, sizeof expected);
    assert_int_equal(found[TABLE_OUTSIDE_BELOW], below);
    assert_int_equal(found[TABLE_OUTSIDE_ABOVE], above);
    assert_int_equal(found[TABLE_OUTSIDE_NAN], 0);
}

static void check_graph(enum operation operation, void (*check)(void)) {
    const int rounds = run_small() ? 3 : 200;
    struct key_arguments all = arguments_of(operation);
    table_pipeline_options *const run = &all.run;
    assert_int_equal(call_on_keys(WORKSPACE, &all, &run->workspace_bytes), TABLE_OK);
    REQUIRE_CUDA(cudaMalloc(&run->workspace, run->workspace_bytes));
    /* Once without capture, as a program that warms up would. */
    assert_int_equal(call_on_keys(QUEUE, &all, NULL), TABLE_OK);
    begin_capture(stream);
    const cudaGraphExec_t executable = end_capture(stream, call_on_keys(QUEUE, &all, NULL), NULL);
    for (int round = 0; round < rounds; round++) {
        fill_keys((uint32_t)round);
        REQUIRE_CUDA(cudaGraphLaunch(executable, stream));
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
        check();
    }
    cudaGraphExecDestroy(executable);
    REQUIRE_CUDA(cudaFree(run->workspace));
}

TEST(test_graph_of_a_sort) { check_graph(ARGSORT, check_order); }

TEST(test_graph_of_a_histogram) { check_graph(HISTOGRAM, check_counts); }

TEST(test_two_sides) {
    const table_view host_view = {host_keys, KEYS, 1, 0, TABLE_U32};
    const table_view host_counters = {host_counts, 2, 16, 0, TABLE_U32};
    table_sort_options options = {.run = {.backend = TABLE_BACKEND_CUDA}};
    size_t bytes = 12345;
    assert_int_equal(table_radix_sort(view_of(keys, TABLE_U32), host_order, 4, NULL), TABLE_ERROR_BACKEND);
    assert_int_equal(table_argsort(&host_view, view_of(order, TABLE_U32), NULL), TABLE_ERROR_BACKEND);
    assert_int_equal(
        table_digit_counts(view_of(keys, TABLE_U32), &(table_digit){0, 4, 0}, KEYS / 2 + 1, &host_counters, NULL),
        TABLE_ERROR_BACKEND);
    assert_int_equal(table_radix_sort_workspace(&host_view, NULL, 0, &options, &bytes), TABLE_ERROR_BACKEND);
    assert_int_equal(bytes, 12345);
    options.run.backend = TABLE_BACKEND_CPU;
    assert_int_equal(table_radix_sort(view_of(keys, TABLE_U32), NULL, 0, &options), TABLE_ERROR_BACKEND);
    assert_true(strlen(table_error_detail()) > 0);
}

/* Device pointers need no option to be found, and the report names the backend. */
TEST(test_auto_goes_where_the_keys_are) {
    table_pipeline_report report;
    const table_sort_options options = {.run = {.report = &report}};
    fill_keys(77);
    assert_int_equal(table_radix_sort(view_of(keys, TABLE_U32), NULL, 0, &options), TABLE_OK);
    assert_int_equal(report.backend, TABLE_BACKEND_CUDA);
    assert_int_equal(report.passes, 4);
    assert_true(report.seconds > 0);
    copy(host_order, keys, sizeof host_order);
    for (size_t i = 1; i < KEYS; i++)
        assert_true(host_order[i - 1] <= host_order[i]);
}

int main(void) { return run_all_tests_within("gpu_keys", table_cuda_unavailable(), open_all, close_all); }
