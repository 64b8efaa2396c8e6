/* A captured call on segments, replayed on other segments: their number and what says where they lie are read on the
 * device when the work begins. Wrong ones are named there, by the first one, and then nothing is written. */
#include "support/chunk.h"
#include "support/on_gpu.h"
#include "support/random.h"
#include "support/refusal.h"

enum { COLUMNS = 3, MOST = 500, WORDS = 2 };

static size_t table_rows(void) { return run_small() ? 3001 : 200003; }
static size_t table_cells(void) { return table_rows() * COLUMNS; }
static int replays(void) { return run_small() ? 15 : 150; } /* of each kind of results */

/* The device's arrays, and the host's copies. */
static float *values, *sums, *expected, *device_values, *device_sums;
static int64_t given[MOST + 1], *device_given;
static uint64_t count, *device_words; /* found, wrong, count */
static void *workspace;
static size_t workspace_bytes;
static cudaStream_t stream;

static int open_all(void **state) {
    const size_t bytes = table_cells() * sizeof *values;
    (void)state;
    values = malloc(bytes);
    sums = malloc(bytes);
    expected = malloc(bytes);
    if (!values || !sums || !expected)
        return -1;
    for (size_t i = 0; i < table_cells(); i++)
        values[i] = (float)(int32_t)((uint32_t)i * 2654435761u) * 1e-6f;
    return cudaMalloc((void **)&device_values, bytes) || cudaMalloc((void **)&device_sums, bytes) ||
           cudaMalloc((void **)&device_given, sizeof given) ||
           cudaMalloc((void **)&device_words, (WORDS + 1) * sizeof *device_words) ||
           cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) ||
           cudaMemcpyAsync(device_values, values, bytes, cudaMemcpyHostToDevice, stream);
}

static int close_all(void **state) {
    (void)state;
    free(values);
    free(sums);
    free(expected);
    return cudaFree(device_values) || cudaFree(device_sums) || cudaFree(device_given) || cudaFree(device_words) ||
           cudaFree(workspace) || cudaStreamDestroy(stream);
}

/* results: exclusive or not, and from the end or not. */
static cudaGraphExec_t capture(table_segment_kind kind, const table_scan_options *results) {
    const table_view in = {device_values, table_rows(), COLUMNS, 0, TABLE_F32};
    const table_view out = {device_sums, table_rows(), COLUMNS, 0, TABLE_F32};
    const table_segments segments = {.kind = kind,
                                     .type = TABLE_I64,
                                     .data = device_given,
                                     .count = MOST,
                                     .count_at = device_words + WORDS,
                                     .found = device_words,
                                     .wrong = device_words + 1};
    table_scan_options options = *results;
    options.backend = TABLE_BACKEND_CUDA;
    options.stream = stream;
    assert_int_equal(table_segmented_prefix_sum_workspace(&in, &out, &segments, &options, &workspace_bytes), TABLE_OK);
    REQUIRE_CUDA(cudaFree(workspace));
    REQUIRE_CUDA(cudaMalloc(&workspace, workspace_bytes));
    options.workspace = workspace;
    options.workspace_bytes = workspace_bytes;
    begin_capture(stream);
    return end_capture(stream, table_segmented_prefix_sum_async(&in, &out, &segments, &options), NULL);
}

/* Lengths of all kinds, together not more than the rows; then, now and then, numbers that are none. */
static void make_segments(struct random *random, table_segment_kind kind) {
    const uint64_t longest = random_once_in(random, 2) ? 12 : random_once_in(random, 2) ? 700 : table_rows();
    uint64_t row = kind == TABLE_SEGMENT_OFFSETS ? random_below(random, 5) : 0;
    count = random_below(random, random_once_in(random, 2) ? 8 : MOST + 1);
    for (size_t k = 0; k <= MOST; k++)
        given[k] = (int64_t)random_bits(random);
    if (kind == TABLE_SEGMENT_OFFSETS)
        given[0] = (int64_t)row;
    for (size_t k = 0; k < count; k++) {
        uint64_t length = random_below(random, longest + 1);
        length = length > table_rows() - row ? table_rows() - row : length;
        row += length;
        given[kind == TABLE_SEGMENT_OFFSETS ? k + 1 : k] = (int64_t)(kind == TABLE_SEGMENT_OFFSETS ? row : length);
    }
    if (random_once_in(random, 12))
        count = random_once_in(random, 2) ? MOST + 1 : random_bits(random);
    while (random_once_in(random, 3))
        given[random_below(random, count <= MOST ? count + 1 : MOST)] =
            random_once_in(random, 2) ? (int64_t)random_bits(random)
                                      : (int64_t)random_below(random, table_rows() + 9) - 4;
}

/* The first that is wrong. */
static uint64_t first_wrong(table_segment_kind kind) {
    const int64_t rows = (int64_t)table_rows();
    int64_t row = 0;
    if (count > MOST)
        return MOST + 1;
    for (size_t k = 0; k < count + (kind == TABLE_SEGMENT_OFFSETS); k++) {
        const int64_t least = kind == TABLE_SEGMENT_OFFSETS ? row : 0;
        if (given[k] < least || given[k] > rows - (kind == TABLE_SEGMENT_OFFSETS ? 0 : row))
            return k;
        row = kind == TABLE_SEGMENT_OFFSETS ? given[k] : row + given[k];
    }
    return TABLE_SEGMENTS_RIGHT;
}

static void expect_on_host(table_segment_kind kind, const table_scan_options *results) {
    const table_view in = {values, table_rows(), COLUMNS, 0, TABLE_F32};
    const table_view out = {expected, table_rows(), COLUMNS, 0, TABLE_F32};
    const table_segments segments = {.kind = kind, .type = TABLE_I64, .data = given, .count = count};
    table_scan_options options = *results;
    options.backend = TABLE_BACKEND_CPU;
    assert_int_equal(table_segmented_prefix_sum(&in, &out, &segments, &options), TABLE_OK);
}

static void replay(table_segment_kind kind, const table_scan_options *results) {
    const size_t bytes = table_cells() * sizeof *sums;
    const cudaGraphExec_t graph = capture(kind, results);
    const uint64_t seed = run_seed();
    struct random random = {seed + (uint64_t)(2 * results->exclusive + results->reverse)};
    for (int round = 0; round < replays(); round++) {
        uint64_t words[WORDS] = {77, 77};
        make_segments(&random, kind);
        const uint64_t wrong = first_wrong(kind);
        memset(expected, 0x6b, bytes);
        send(device_sums, expected, bytes, stream);
        send(device_given, given, sizeof given, stream);
        send(device_words, words, sizeof words, stream);
        send(device_words + WORDS, &count, sizeof count, stream);
        if (wrong == TABLE_SEGMENTS_RIGHT)
            expect_on_host(kind, results);
        REQUIRE_CUDA(cudaGraphLaunch(graph, stream));
        fetch(sums, device_sums, bytes, stream);
        fetch(words, device_words, sizeof words, stream);
        if (words[1] != wrong || (wrong == TABLE_SEGMENTS_RIGHT && words[0] != count))
            fail_msg("round %d: %" PRIu64 " segments, %" PRIu64 " found; %" PRIu64 " is wrong, and %" PRIu64
                     " is told (TUPLESCAN_TEST_SEED=%" PRIu64 ")",
                     round, count, words[0], wrong, words[1], seed);
        if (memcmp(sums, expected, bytes) != 0)
            fail_msg("round %d: wrong sums of %" PRIu64 " segments (TUPLESCAN_TEST_SEED=%" PRIu64 ")", round, count,
                     seed);
    }
    REQUIRE_CUDA(cudaGraphExecDestroy(graph));
}

static void test_replays(void **state) {
    for (int results = 0; results < 4; results++)
        replay(NUMBER_OF(state), &(table_scan_options){.exclusive = results % 2, .reverse = results / 2});
}
TEST_OF(test_replays, TABLE_SEGMENT_OFFSETS)
TEST_OF(test_replays, TABLE_SEGMENT_LENGTHS)

/* The call that waits returns what the device has found. */
TEST(test_wrong_on_device) {
    const table_view table = {device_values, table_rows(), COLUMNS, 0, TABLE_F32};
    const table_view empty = {NULL, 0, COLUMNS, 0, TABLE_F32};
    const int64_t offsets[] = {0, 7, 6, (int64_t)table_rows() + 1};
    uint64_t wrong = 77, on_host = 77;
    table_segments segments = {
        .kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = device_given, .count = 3, .wrong = device_words};
    const table_scan_options options = {.backend = TABLE_BACKEND_CUDA};
    send(device_given, offsets, sizeof offsets, stream);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    expect(table_segmented_prefix_sum(&table, &table, &segments, &options), TABLE_ERROR_SHAPE, "segments->data[2]");
    segments.wrong = NULL;
    segments.count = UINT32_MAX; /* reach over 32 GiB, in which another table may lie, and one of no rows does not */
    expect(table_segmented_prefix_sum(&empty, &empty, &segments, &options), TABLE_ERROR_BACKEND, "too many");
    segments.wrong = &on_host;
    segments.count = 3;
    expect(table_segmented_prefix_sum(&table, &table, &segments, &options), TABLE_ERROR_SHAPE, "segments->data[2]");
    fetch(&wrong, device_words, sizeof wrong, stream);
    fetch(sums, device_values, table_cells() * sizeof *sums, stream);
    assert_int_equal(wrong, 2);
    assert_int_equal(on_host, 2);
    assert_memory_equal(sums, values, table_cells() * sizeof *sums);
}

int main(void) { return run_all_tests_within("gpu_segments", table_cuda_unavailable(), open_all, close_all); }
