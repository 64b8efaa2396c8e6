/* What only CUDA has: graphs, work in the order of a stream, and memory of two sides. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <math.h>
#include <sys/mman.h>

#include "support/chunk.h"
#include "support/on_gpu.h"
#include "support/random.h"

enum { COLUMNS = 5 };

/* Fewer on a machine that is slow, but on the emulator still more than go in one wave. */
static size_t table_rows(void) { return run_small() ? 20011 : 100003; }
static size_t table_cells(void) { return table_rows() * COLUMNS; }
static int replays(void) { return run_small() ? 10 : 1000; }

static uint32_t *host_values, *host_sums;
static uint32_t *device_values, *device_sums;
static void *workspace;
static cudaStream_t stream;

static int open_all(void **state) {
    (void)state;
    host_values = malloc(table_cells() * sizeof *host_values);
    host_sums = malloc(table_cells() * sizeof *host_sums);
    if (!host_values || !host_sums)
        return -1;
    return cudaMalloc((void **)&device_values, table_cells() * sizeof *device_values) ||
           cudaMalloc((void **)&device_sums, table_cells() * sizeof *device_sums) || cudaMalloc(&workspace, 64 << 20) ||
           cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
}

static int close_all(void **state) {
    (void)state;
    free(host_values);
    free(host_sums);
    return cudaFree(device_values) || cudaFree(device_sums) || cudaFree(workspace) || cudaStreamDestroy(stream);
}

static void fill_values(uint32_t seed) {
    for (size_t i = 0; i < table_cells(); i++)
        host_values[i] = seed = seed * 1664525u + 1013904223u;
}

static void require_sums(int round, size_t rows) {
    uint32_t sums[COLUMNS] = {0};
    for (size_t i = 0; i < rows * COLUMNS; i++) {
        sums[i % COLUMNS] += host_values[i];
        if (host_sums[i] != sums[i % COLUMNS])
            fail_msg("round %d, row %zu, column %zu: expected %u, found %u", round, i / COLUMNS, i % COLUMNS,
                     sums[i % COLUMNS], host_sums[i]);
    }
}

static const table_view *device_in(void) {
    static table_view view;
    view = (table_view){device_values, table_rows(), COLUMNS, 0, TABLE_U32};
    return &view;
}
static const table_view *device_out(void) {
    static table_view view;
    view = (table_view){device_sums, table_rows(), COLUMNS, 0, TABLE_U32};
    return &view;
}

static table_scan_options on_stream(table_strategy strategy) {
    return (table_scan_options){.backend = TABLE_BACKEND_CUDA,
                                .strategy = strategy,
                                .stream = stream,
                                .workspace = workspace,
                                .workspace_bytes = 64 << 20};
}

/* Copy in, scan, copy out: all queued on the stream, and nothing waits. */
static table_status queue_round_trip(table_strategy strategy) {
    table_scan_options options = on_stream(strategy);
    send(device_values, host_values, table_cells() * sizeof *host_values, stream);
    const table_status status = table_prefix_sum_async(device_in(), device_out(), &options);
    REQUIRE_CUDA(
        cudaMemcpyAsync(host_sums, device_sums, table_cells() * sizeof *host_sums, cudaMemcpyDeviceToHost, stream));
    return status;
}

static void test_stream_order(void **state) {
    const table_strategy strategy = NUMBER_OF(state);
    for (int round = 0; round < 5; round++) {
        fill_values((uint32_t)round);
        const table_status status = queue_round_trip(strategy);
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
        if (status == TABLE_ERROR_STRATEGY)
            skip();
        assert_int_equal(status, TABLE_OK);
        require_sums(round, table_rows());
    }
}
TEST_OF(test_stream_order, TABLE_STRATEGY_HOST)
TEST_OF(test_stream_order, TABLE_STRATEGY_RECURSIVE)
TEST_OF(test_stream_order, TABLE_STRATEGY_FUSED)

/* A captured scan is replayed on data that changes. */
static void test_graph(void **state) {
    table_scan_options options = on_stream(NUMBER_OF(state));
    /* Once without capture, as a program that warms up would. */
    if (table_prefix_sum_async(device_in(), device_out(), &options) == TABLE_ERROR_STRATEGY)
        skip();
    begin_capture(stream);
    const cudaGraphExec_t executable =
        end_capture(stream, table_prefix_sum_async(device_in(), device_out(), &options), NULL);
    for (int round = 0; round < replays(); round++) {
        const int checked = round % 50 == 0; /* the rest are there to be many */
        if (checked) {
            fill_values((uint32_t)round);
            /* On the stream: it does not wait for the default stream, whose copies may end after cudaMemcpy() returns.
             */
            send(device_values, host_values, table_cells() * sizeof *host_values, stream);
            REQUIRE_CUDA(cudaStreamSynchronize(stream));
        }
        REQUIRE_CUDA(cudaGraphLaunch(executable, stream));
        if (!checked)
            continue;
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
        copy(host_sums, device_sums, table_cells() * sizeof *host_sums);
        require_sums(round, table_rows());
    }
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    cudaGraphExecDestroy(executable);
}
TEST_OF(test_graph, TABLE_STRATEGY_RECURSIVE)
TEST_OF(test_graph, TABLE_STRATEGY_FUSED)

/* The fused pass of the first rows, with the carry and the overflow's word in device memory, as a graph; how many nodes
 * that has. The same row carries in and out. */
static cudaGraphExec_t capture_fused(size_t rows, uint32_t *carry, uint64_t *first_overflow, size_t *nodes) {
    const table_view in = {device_values, rows, COLUMNS, 0, TABLE_U32};
    const table_view out = {device_sums, rows, COLUMNS, 0, TABLE_U32};
    table_scan_options options = on_stream(TABLE_STRATEGY_FUSED);
    options.carry_in = options.carry_out = carry;
    options.first_overflow = first_overflow;
    begin_capture(stream);
    return end_capture(stream, table_prefix_sum_async(&in, &out, &options), nodes);
}

/* Replayed on the same values, the carry grows by their totals each time. */
static void check_carried(size_t rows, uint64_t *first_overflow, size_t expected_nodes) {
    uint32_t totals[COLUMNS] = {0}, found[COLUMNS] = {0}, *carry;
    size_t nodes = 0;
    fill_values(1);
    for (size_t i = 0; i < rows * COLUMNS; i++)
        totals[i % COLUMNS] += host_values[i];
    REQUIRE_CUDA(cudaMalloc((void **)&carry, sizeof totals));
    copy(carry, found, sizeof found);
    copy(device_values, host_values, table_cells() * sizeof *host_values);
    REQUIRE_CUDA(cudaDeviceSynchronize());
    cudaGraphExec_t executable = capture_fused(rows, carry, first_overflow, &nodes);
    assert_int_equal(nodes, expected_nodes);
    for (int round = 0; round < replays(); round++)
        REQUIRE_CUDA(cudaGraphLaunch(executable, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    copy(found, carry, sizeof found);
    copy(host_sums, device_sums, table_cells() * sizeof *host_sums);
    for (size_t j = 0; j < COLUMNS; j++) {
        assert_int_equal(found[j], (uint32_t)replays() * totals[j]);
        assert_int_equal(host_sums[(rows - 1) * COLUMNS + j], found[j]);
    }
    cudaGraphExecDestroy(executable);
    cudaFree(carry);
}

/* A table of few chunks is one node; one that goes in one wave or whose tiles are buffered is one, too, or else two,
 * and has one more for the overflow's word. */
TEST(test_graph_nodes) {
    const size_t chunk = chunk_rows(TABLE_U32, COLUMNS);
    uint64_t *overflow, found = 0;
    int major = 0, processors = 0;
    REQUIRE_CUDA(cudaMalloc((void **)&overflow, sizeof *overflow));
    REQUIRE_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    REQUIRE_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    const bool at_once = (table_rows() + chunk - 1) / chunk <= 2 * (size_t)processors;
    const bool wave = major >= 9 && at_once, buffered = major >= 8 && !at_once;
    check_carried(chunk, NULL, 1);
    check_carried(chunk - 5, overflow, major >= 9 ? 2 : 1);
    check_carried(3 * chunk + 7, NULL, major >= 9 ? 1 : 2);
    check_carried(3 * chunk + 7, overflow, major >= 9 ? 2 : 3);
    check_carried(table_rows(), NULL, buffered || wave ? 1 : 2);
    check_carried(table_rows(), overflow, wave || buffered ? 2 : 3);
    copy(&found, overflow, sizeof found);
    assert_true(found < table_cells());
    cudaFree(overflow);
}

/* Turns over the bits of the word in which a wave counts its replays, as a block does while it clears the other words:
 * a replay then waits for a block that is not there (kernels/resident/wave_epoch.cuh). The word is on a boundary of 256
 * bytes, at the beginning of the wave's part of the workspace. */
static void turn_count_over(size_t used) {
    enum { BOUNDARY = 256 };
    unsigned char *held = get_memory(used);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    copy(held, workspace, used);
    for (size_t at = 0; at < used; at++)
        if (at % BOUNDARY < sizeof(uint64_t))
            held[at] = (unsigned char)~held[at];
    copy(workspace, held, used);
    free(held);
}

/* A workspace may hold anything, and be used for something else between two replays. The captured table's tiles go in
 * one wave, which counts its replays there; between them another table is scanned in the same workspace, or it is
 * filled, all of it or its first words or the others, or its count is turned over. */
TEST(test_graph_any_workspace) {
    enum { USED = 1 << 20 };
    const size_t rows = table_rows() * 3 / 10, other_rows = table_rows() / 5;
    const table_view other = {device_values, other_rows, COLUMNS, 0, TABLE_U32};
    const table_view to = {device_sums, other_rows, COLUMNS, 0, TABLE_U32};
    const int rounds = run_small() ? 14 : 400;
    table_scan_options options = on_stream(TABLE_STRATEGY_FUSED);
    size_t nodes = 0;
    cudaGraphExec_t executable = capture_fused(rows, NULL, NULL, &nodes);
    for (int round = 0; round < rounds; round++) {
        const size_t first = round % 7 == 3 ? 256 : 0, bytes = round % 7 == 4 ? 16 : USED;
        fill_values((uint32_t)round);
        send(device_values, host_values, rows * COLUMNS * sizeof *host_values, stream);
        if (round % 7 == 1)
            assert_int_equal(table_prefix_sum_async(&other, &to, &options), TABLE_OK);
        if (round % 7 >= 2 && round % 7 <= 4)
            REQUIRE_CUDA(cudaMemsetAsync((char *)workspace + first, round * 37, bytes, stream));
        if (round % 7 == 5)
            turn_count_over(USED);
        REQUIRE_CUDA(cudaGraphLaunch(executable, stream));
        fetch(host_sums, device_sums, rows * COLUMNS * sizeof *host_sums, stream);
        require_sums(round, rows);
    }
    cudaGraphExecDestroy(executable);
}

/* The word of the first overflow is set, whatever it held, also where a byte of the workspace is another call's by
 * now: the count of a wave then begins anew. */
static void check_overflow_in_any_workspace(size_t rows) {
    const table_view in = {device_values, rows, COLUMNS, 0, TABLE_U32};
    const table_view out = {device_sums, rows, COLUMNS, 0, TABLE_U32};
    table_scan_options options = on_stream(TABLE_STRATEGY_FUSED);
    uint64_t found = 4;
    REQUIRE_CUDA(cudaMalloc((void **)&options.first_overflow, sizeof found));
    REQUIRE_CUDA(cudaMemsetAsync(device_values, 0, rows * COLUMNS * sizeof *device_values, stream));
    for (int byte = 0; byte < 12; byte++) {
        found = 4;
        send(options.first_overflow, &found, sizeof found, stream);
        assert_int_equal(table_prefix_sum_async(&in, &out, &options), TABLE_OK);
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
        copy(&found, options.first_overflow, sizeof found);
        assert_int_equal(found, TABLE_NO_OVERFLOW);
        for (size_t at = 0; at < 1024; at += 256) /* the wave's part begins at one of these */
            REQUIRE_CUDA(cudaMemsetAsync((char *)workspace + at, byte, 1, stream));
    }
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    cudaFree(options.first_overflow);
}
TEST(test_overflow_in_any_workspace) {
    const size_t chunk = chunk_rows(TABLE_U32, COLUMNS);
    check_overflow_in_any_workspace(chunk / 2);
    check_overflow_in_any_workspace(3 * chunk + 7);
    check_overflow_in_any_workspace(table_rows() * 3 / 10);
}

/* A piece that is captured once and goes on with each replay, from a state in memory of the device, where it alone says
 * how many rows there were: beside the same pieces on the CPU. */
static void check_graph_goes_on(table_type type, size_t rows, bool exclusive) {
    const size_t cells = rows * COLUMNS, bytes = cells * table_type_size(type);
    const bool checked = type == TABLE_U32;
    const int rounds = run_small() ? 4 : 40;
    size_t state_bytes = 0;
    uint64_t found = 0, expected_found = 0, *overflow = NULL;
    void *device_state = NULL;
    assert_int_equal(table_state_bytes(type, COLUMNS, &state_bytes), TABLE_OK);
    void *const expected = get_memory(bytes), *const results = get_memory(bytes);
    void *const host_state = get_memory(state_bytes), *const left = get_memory(state_bytes);
    REQUIRE_CUDA(cudaMalloc(&device_state, state_bytes));
    REQUIRE_CUDA(cudaMemset(device_state, 0, state_bytes));
    REQUIRE_CUDA(cudaMalloc((void **)&overflow, sizeof *overflow));
    table_view in = {device_values, rows, COLUMNS, 0, type}, out = {device_sums, rows, COLUMNS, 0, type};
    table_scan_options options = on_stream(TABLE_STRATEGY_AUTO);
    options.exclusive = exclusive;
    options.state = device_state;
    options.first_overflow = checked ? overflow : NULL;
    begin_capture(stream);
    const cudaGraphExec_t executable = end_capture(stream, table_prefix_sum_async(&in, &out, &options), NULL);
    for (int round = 0; round < rounds; round++) {
        fill_values((uint32_t)round);
        for (size_t k = 0; type == TABLE_F32 && k < cells; k++) {
            const float value = (float)(int32_t)host_values[k] * 1e-6f;
            memcpy(&host_values[k], &value, sizeof value);
        }
        send(device_values, host_values, bytes, stream);
        REQUIRE_CUDA(cudaGraphLaunch(executable, stream));
        fetch(results, device_sums, bytes, stream);
        in.data = host_values;
        out.data = expected;
        table_scan_options on_host = {.backend = TABLE_BACKEND_CPU, .exclusive = exclusive, .state = host_state};
        on_host.first_overflow = checked ? &expected_found : NULL;
        assert_int_equal(table_prefix_sum(&in, &out, &on_host), TABLE_OK);
        if (memcmp(results, expected, bytes) != 0)
            fail_msg("round %d: other bits than the CPU's", round);
        copy(left, device_state, state_bytes);
        assert_memory_equal(left, host_state, state_bytes);
        if (checked)
            copy(&found, overflow, sizeof found);
        assert_int_equal(found, expected_found);
    }
    cudaGraphExecDestroy(executable);
    cudaFree(overflow);
    cudaFree(device_state);
    free(left);
    free(host_state);
    free(results);
    free(expected);
}
TEST(test_graph_goes_on) {
    check_graph_goes_on(TABLE_U32, 1000, false);
    check_graph_goes_on(TABLE_F32, 1000, false);
    check_graph_goes_on(TABLE_F32, 777, true);
    check_graph_goes_on(TABLE_F32, table_rows(), false);
}

/* A sum on a device that begins with a carry, whose state lies on the host, and whose first row is the offsets' own. */
static void check_host_state(void) {
    enum { ROUNDS = 20, ROWS = 3 };
    const table_view all = {device_sums, ROWS, 1, 0, TABLE_U32}, in = {device_sums + 1, ROWS - 1, 1, 0, TABLE_U32};
    static _Alignas(TABLE_STATE_ALIGNMENT) char kept[64 + 2 * sizeof(uint32_t)];
    const uint32_t start = 100, values[ROWS] = {0, 1, 2}, expected[ROWS] = {100, 101, 103};
    const table_scan_options options = {.offsets = 1, .carry_in = &start, .state = kept};
    uint32_t found[ROWS];
    for (int round = 0; round < ROUNDS; round++) {
        memset(kept, 0, sizeof kept);
        copy(device_sums, values, sizeof values);
        assert_int_equal(table_prefix_sum(&in, &all, &options), TABLE_OK);
        copy(found, device_sums, sizeof found);
        assert_memory_equal(found, expected, sizeof found);
        assert_int_equal(table_state_sums(kept, found), TABLE_OK);
        assert_int_equal(found[0], expected[ROWS - 1]);
    }
}

TEST(test_two_sides) {
    const table_view host_view = {host_values, table_rows(), COLUMNS, 0, TABLE_U32};
    table_scan_options options = {0};
    size_t bytes = 12345;
    assert_int_equal(table_prefix_sum(device_in(), &host_view, NULL), TABLE_ERROR_BACKEND);
    assert_int_equal(table_prefix_sum(&host_view, device_out(), NULL), TABLE_ERROR_BACKEND);
    options.backend = TABLE_BACKEND_CPU;
    assert_int_equal(table_prefix_sum(device_in(), device_out(), &options), TABLE_ERROR_BACKEND);
    assert_true(strlen(table_error_detail()) > 0);
    options.backend = TABLE_BACKEND_CUDA;
    assert_int_equal(table_prefix_sum_workspace(&host_view, &host_view, &options, &bytes), TABLE_ERROR_BACKEND);
    assert_int_equal(bytes, 12345);
    check_host_state();
}

TEST(test_workspace) {
    table_scan_options options = {.strategy = TABLE_STRATEGY_RECURSIVE};
    size_t bytes = 0;
    options.stream = stream;
    assert_int_equal(table_prefix_sum_workspace(device_in(), device_out(), &options, &bytes), TABLE_OK);
    assert_in_range(bytes, 1, 64 << 20);
    options.workspace_bytes = bytes;
    assert_int_equal(table_prefix_sum_async(device_in(), device_out(), &options), TABLE_ERROR_WORKSPACE);
    options.workspace = (char *)workspace + 16;
    assert_int_equal(table_prefix_sum_async(device_in(), device_out(), &options), TABLE_ERROR_WORKSPACE);
    options.workspace = workspace;
    options.workspace_bytes = bytes - 1;
    assert_int_equal(table_prefix_sum_async(device_in(), device_out(), &options), TABLE_ERROR_WORKSPACE);
}

/* A table of few rows needs no workspace, which a caller would allocate for each call. Only addresses are looked at. */
TEST(test_flat_tables_want_no_workspace) {
    static const size_t rows[] = {1, 2, 17, 64};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int type = TABLE_U32; type <= TABLE_F64; type++) {
            const table_view table = {device_values, rows[i], 91750400, 0, (table_type)type};
            const table_scan_options options = {.strategy = TABLE_STRATEGY_FUSED, .backend = TABLE_BACKEND_CUDA};
            size_t bytes = SIZE_MAX;
            assert_int_equal(table_prefix_sum_workspace(&table, &table, &options, &bytes), TABLE_OK);
            assert_int_equal(bytes, 0);
        }
}

/* A state counts the rows of a table without columns, as it does on the CPU, wherever it lies; and in a stream. */
static void check_no_columns(table_type type) {
    const table_view rows = {.rows = 7, .type = type};
    size_t bytes;
    assert_int_equal(table_state_bytes(type, 0, &bytes), TABLE_OK);
    void *on_device, *found = get_memory(bytes), *expected = get_memory(bytes);
    REQUIRE_CUDA(cudaMalloc(&on_device, bytes));
    REQUIRE_CUDA(cudaMemset(on_device, 0, bytes));
    table_scan_options options = {.state = expected};
    for (int i = 0; i < 4; i++)
        assert_int_equal(table_prefix_sum(&rows, &rows, &options), TABLE_OK);
    options = (table_scan_options){.backend = TABLE_BACKEND_CUDA, .state = found};
    for (int i = 0; i < 4; i++)
        assert_int_equal(table_prefix_sum(&rows, &rows, &options), TABLE_OK);
    assert_true(table_state_equal(found, expected));
    options.state = on_device;
    for (int i = 0; i < 2; i++)
        assert_int_equal(table_prefix_sum(&rows, &rows, &options), TABLE_OK);
    options = on_stream(TABLE_STRATEGY_AUTO);
    options.state = on_device;
    for (int i = 0; i < 2; i++)
        assert_int_equal(table_prefix_sum_async(&rows, &rows, &options), TABLE_OK);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    copy(found, on_device, bytes);
    assert_true(table_state_equal(found, expected));
    REQUIRE_CUDA(cudaFree(on_device));
    free(found);
    free(expected);
}

TEST(test_states_of_no_columns) {
    check_no_columns(TABLE_F32);
    check_no_columns(TABLE_F64);
    check_no_columns(TABLE_U32);
}

/* Rows of a table of the host, farther apart than copies of the runtime can have them. */
TEST(test_rows_far_apart) {
    enum { FAR_ROWS = 3 };
    const size_t stride = (size_t)1 << 29, bytes = (FAR_ROWS - 1) * stride * sizeof(float) + 4096;
    float *const values = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const table_scan_options options = {.backend = TABLE_BACKEND_CUDA};
    table_view table = {values, FAR_ROWS, 2, (ptrdiff_t)stride, TABLE_F32};
    assert_ptr_not_equal(values, MAP_FAILED);
    for (size_t i = 0; i < FAR_ROWS; i++)
        values[i * stride] = values[i * stride + 1] = (float)(i + 1);
    assert_int_equal(table_prefix_sum(&table, &table, &options), TABLE_OK);
    for (size_t i = 0; i < FAR_ROWS; i++)
        assert_true(values[i * stride + 1] == (float)((i + 1) * (i + 2) / 2)); /* 1, 3, 6 */
    table.data = values + (FAR_ROWS - 1) * stride;
    table.stride = -table.stride;
    assert_int_equal(table_prefix_sum(&table, &table, &options), TABLE_OK);
    assert_true(values[2 * stride] == 6 && values[stride] == 9 && values[0] == 10);
    assert_int_equal(munmap(values, bytes), 0);
}

/* A call that succeeds leaves the detail of an earlier failure as it is, also where the pass that is tried first
 * refuses the call. */
TEST(test_detail_of_success) {
    float *const values = (float *)host_values;
    const table_view table = {device_values, 4000, COLUMNS, 0, TABLE_F32};
    uint64_t skipped;
    const table_scan_options options = {.skip_nan = 1, .skipped = &skipped};
    for (size_t i = 0; i < 4000 * COLUMNS; i++)
        values[i] = i % 10 == 3 ? NAN : 1;
    copy(device_values, values, 4000 * COLUMNS * sizeof *values);
    table_error_set(TABLE_ERROR_READ, "an earlier failure");
    assert_int_equal(table_prefix_sum(&table, &table, &options), TABLE_OK);
    assert_int_equal(skipped, 2000);
    assert_string_equal(table_error_detail(), "an earlier failure");
}

/* Device pointers need no option to be found. */
TEST(test_auto_goes_where_the_data_is) {
    table_report report;
    table_scan_options options = {.report = &report};
    assert_int_equal(table_prefix_sum(device_in(), device_out(), &options), TABLE_OK);
    assert_int_equal(report.backend, TABLE_BACKEND_CUDA);
    assert_true(report.seconds > 0);
}

/* Calls keep what they have allocated; table_trim_memory() gives all of it back. */
TEST(test_trim_memory) {
    const table_scan_options options = {.strategy = TABLE_STRATEGY_RECURSIVE};
    size_t before = 0, after = 0, total = 0;
    assert_int_equal(table_prefix_sum(device_in(), device_out(), &options), TABLE_OK);
    table_trim_memory();
    REQUIRE_CUDA(cudaMemGetInfo(&before, &total));
    for (int round = 0; round < 3; round++)
        assert_int_equal(table_prefix_sum(device_in(), device_out(), &options), TABLE_OK);
    table_trim_memory();
    REQUIRE_CUDA(cudaMemGetInfo(&after, &total));
    assert_true(after >= before);
}

/* An error of the caller's own calls, which was not looked at, is not taken for one of the scan's. */
TEST(test_error_before) {
    for (table_strategy strategy = TABLE_STRATEGY_HOST; strategy <= TABLE_STRATEGY_FUSED; strategy++) {
        const table_scan_options options = {.strategy = strategy};
        assert_int_not_equal(cudaSetDevice(1 << 20), cudaSuccess);
        assert_int_equal(table_prefix_sum(device_in(), device_out(), &options), TABLE_OK);
    }
    cudaGetLastError();
}

/* A call that needs new memory leaves alone a capture on a stream that waits for the default one. */
TEST(test_capture_beside) {
    cudaStream_t plain = NULL;
    cudaGraph_t graph = NULL;
    REQUIRE_CUDA(cudaStreamCreate(&plain));
    table_trim_memory();
    REQUIRE_CUDA(cudaStreamBeginCapture(plain, cudaStreamCaptureModeRelaxed));
    const table_status status = table_prefix_sum(device_in(), device_out(), NULL);
    REQUIRE_CUDA(cudaMemsetAsync(device_sums, 0, sizeof *device_sums, plain));
    REQUIRE_CUDA(cudaStreamEndCapture(plain, &graph));
    assert_int_equal(status, TABLE_OK);
    REQUIRE_CUDA(cudaGraphDestroy(graph));
    REQUIRE_CUDA(cudaStreamDestroy(plain));
}

TEST(test_out_of_device_memory) {
    /* One row so wide that its totals do not fit beside it. */
    size_t available = 0, total = 0;
    void *most = NULL;
    if (run_small())
        skip();
    REQUIRE_CUDA(cudaMemGetInfo(&available, &total));
    size_t bytes = available - available / 64;
    while (bytes > available / 2 && cudaMalloc(&most, bytes) != cudaSuccess)
        bytes -= available / 64;
    if (!most)
        skip();
    cudaGetLastError();
    const table_view row = {most, 1, bytes / 8, 0, TABLE_U64};
    table_scan_options options = {.backend = TABLE_BACKEND_CUDA, .strategy = TABLE_STRATEGY_RECURSIVE};
    const table_status status = table_prefix_sum(&row, &row, &options);
    REQUIRE_CUDA(cudaFree(most));
    assert_int_equal(status, TABLE_ERROR_DEVICE_MEMORY);
    /* And all is well afterwards. */
    assert_int_equal(table_prefix_sum(device_in(), device_out(), NULL), TABLE_OK);
}

int main(void) { return run_all_tests_within("gpu_streams", table_cuda_unavailable(), open_all, close_all); }
