/* Every call of the CUDA runtime that the library makes fails once: the library must give back all that it took, and
 * say so unless the call was one that only gives back or looks. */
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include <tuplescan/tuplescan.h>

extern "C" {
#include "../../src/cuda/fused.h"
}
#include "cuda_runtime.h"
#include "emulator.h"
#include "support/forms.h"

static int passed = 0, failed = 0;

static void check(bool right, const char *what, unsigned call) {
    right ? passed++ : failed++;
    if (!right)
        fprintf(stderr, "%s, call %u: not as it should be: %s\n", what, call, table_error_detail());
}

/* ROWS rows of three u32, or as many keys. */
constexpr size_t ROWS = 9000, BYTES = ROWS * 3 * 4;

static table_status scan(table_strategy strategy, bool timed, void *data, size_t rows = ROWS) {
    const table_view view = {data, rows, 3, 0, TABLE_U32};
    table_report report = {};
    uint32_t carry[3] = {1, 2, 3};
    uint64_t overflow = 0;
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = strategy;
    options.carry_in = options.carry_out = carry;
    options.first_overflow = &overflow;
    options.report = timed ? &report : nullptr;
    return table_prefix_sum(&view, &view, &options);
}

/* Values of 12 bytes are moved by their indices, so that gathering is seen, too. */
static table_status sort(bool timed, void *data) {
    const table_view keys = {data, ROWS / 2, 1, 0, TABLE_U32};
    table_pipeline_report report = {};
    table_sort_options options = {};
    options.run.backend = TABLE_BACKEND_CUDA;
    options.run.report = timed ? &report : nullptr;
    return table_radix_sort(&keys, static_cast<char *>(data) + BYTES / 2, 12, &options);
}

/* Sums of weights of several chunks, and the table of their rows. */
static table_status histogram(bool timed, void *data) {
    char *bytes = static_cast<char *>(data);
    const table_view values = {data, ROWS / 4, 1, 0, TABLE_U8}, weights = {bytes + ROWS, ROWS / 4, 1, 0, TABLE_F32};
    const table_view result = {bytes + 4 * ROWS, 1, 2, 0, TABLE_F64};
    const uint8_t edges[] = {0, 7, 9};
    const table_bins bins = {TABLE_BINS_EDGES, 2, 0, 0, edges, 0};
    uint64_t outside[TABLE_OUTSIDE_WORDS];
    table_pipeline_report report = {};
    table_histogram_options options = {};
    options.run.backend = TABLE_BACKEND_CUDA;
    options.run.report = timed ? &report : nullptr;
    options.chunk_length = 1000;
    options.weights = &weights;
    options.outside = outside;
    return table_histogram(&values, &bins, &result, &options);
}

/* Parts on one device, on the host, and through another device. */
static table_status scan_parts(void *data) {
    static float host[2][ROWS];
    const size_t rows = ROWS / 3;
    float *const at[] = {static_cast<float *>(data), host[0], host[1], static_cast<float *>(data) + ROWS};
    table_part parts[4] = {};
    for (unsigned i = 0; i < 4; i++)
        parts[i].in = parts[i].out = {at[i], rows, 3, 0, TABLE_F32};
    parts[1].backend = TABLE_BACKEND_CUDA;
    parts[1].device = 1;
    table_devices_report report = {};
    const table_status status = table_prefix_sum_devices(parts, 4, nullptr, &report);
    check(report.totals_seconds >= 0 && report.scan_seconds >= 0 &&
              report.totals_seconds + report.scan_seconds < report.seconds + 1e-6,
          "times of parts", 0);
    return status;
}

/* Rows of a stream, several pieces of them under way at a time. */
struct ends {
    const char *in;
    size_t left;
};

static int64_t read_rows(void *context, void *to, size_t bytes) {
    auto *ends = static_cast<struct ends *>(context);
    bytes = bytes < ends->left ? bytes : ends->left;
    memcpy(to, ends->in, bytes);
    ends->in += bytes;
    ends->left -= bytes;
    return static_cast<int64_t>(bytes);
}

static int write_nowhere(void *, const void *, size_t) { return 0; }

static table_status stream(void *data) {
    struct ends ends = {static_cast<const char *>(data), BYTES / 3};
    uint64_t overflow = 0;
    table_stream_options options = {};
    options.in_type = TABLE_U32;
    options.out_type = TABLE_U64;
    options.columns = 3;
    options.read = read_rows;
    options.read_context = &ends;
    options.write = write_nowhere;
    options.memory = 250000;
    options.scan.backend = TABLE_BACKEND_CUDA;
    options.scan.first_overflow = &overflow;
    return table_stream(&options);
}

/* Floats that go on from a state of the host. */
static table_status go_on(void *data) {
    const table_view view = {data, ROWS, 3, 0, TABLE_F32};
    alignas(TABLE_STATE_ALIGNMENT) char state[8192] = {};
    size_t bytes = 0;
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = TABLE_STRATEGY_FUSED;
    options.state = state;
    check(table_state_bytes(TABLE_F32, 3, &bytes) == TABLE_OK && bytes <= sizeof state, "bytes of a state", 0);
    return table_prefix_sum(&view, &view, &options);
}

/* Segments of the host, one of them of several units, with rows of carries there. */
static table_status segmented(bool timed, void *data) {
    const table_view view = {data, ROWS, 3, 0, TABLE_F32};
    const int64_t lengths[] = {5, 0, 3000, 17};
    float starts[4 * 3] = {}, ends[4 * 3];
    uint64_t found, wrong;
    table_segments segments = {};
    segments.kind = TABLE_SEGMENT_LENGTHS, segments.type = TABLE_I64;
    segments.data = lengths, segments.count = 4;
    segments.found = &found, segments.wrong = &wrong;
    table_report report = {};
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CUDA;
    options.carry_in = starts, options.carry_out = ends;
    options.report = timed ? &report : nullptr;
    return table_segmented_prefix_sum(&view, &view, &segments, &options);
}

static void check_calls(const char *name, bool on_device, const std::function<table_status(void *)> &run,
                        cudaError_t error = cudaErrorMemoryAllocation) {
    std::vector<uint32_t> values(ROWS * 3, 7);
    for (unsigned call = 1;; call++) {
        void *data = values.data();
        table_trim_memory();
        emulator_clear();
        if (on_device) {
            cudaMalloc(&data, BYTES);
            cudaMemset(data, 0, BYTES);
        }
        const size_t objects = emulator_objects();
        const uint64_t before = emulator_calls();
        table_error_set(TABLE_ERROR_READ, "an earlier failure");
        emulator_fail_call(call, error);
        const table_status status = run(data);
        const bool reached = emulator_calls() - before >= call;
        emulator_fail_call(0, 0);
        check(cudaGetLastError() == cudaSuccess, "an error is left behind", call);
        table_trim_memory();
        const size_t left = emulator_objects();
        check(left == objects, name, call);
        check((status == TABLE_OK) == (strcmp(table_error_detail(), "an earlier failure") == 0), name, call);
        check(!emulator_report()[0], name, call);
        emulator_clear();
        if (on_device)
            cudaFree(data);
        if (!reached) {
            check(status == TABLE_OK, name, call);
            printf("%s: %u calls\n", name, call - 1);
            return;
        }
    }
}

/* How many calls of the runtime may fail with that error, one at a time, and the buffered pass still scans right: zeros
 * become the carry. */
static unsigned survived(int error) {
    unsigned number = 0;
    for (uint64_t call = 1;; call++) {
        uint32_t values[3] = {};
        void *data = nullptr;
        emulator_clear();
        cudaMalloc(&data, BYTES);
        cudaMemset(data, 0, BYTES);
        const uint64_t before = emulator_calls();
        table_error_set(TABLE_ERROR_READ, "an earlier failure");
        emulator_fail_call(call, error);
        const table_status status = scan(TABLE_STRATEGY_FUSED, false, data);
        const bool reached = emulator_calls() - before >= call;
        emulator_fail_call(0, 0);
        cudaMemcpy(values, static_cast<char *>(data) + BYTES - sizeof values, sizeof values, cudaMemcpyDefault);
        cudaFree(data);
        if (!reached)
            return number;
        check((status == TABLE_OK) == (strcmp(table_error_detail(), "an earlier failure") == 0), "the detail", call);
        number += status == TABLE_OK && values[0] == 1 && values[1] == 2 && values[2] == 3;
    }
}

/* Another program has a part of the device, so that the blocks of the buffered pass cannot all be resident, or the
 * device has no cooperative launches, or the library no code for it: the separate stages take the pass. */
static void check_refused_launch() {
    cuda_forced_algorithm = FORM_BUFFERED;
    for (const cudaError_t error :
         {cudaErrorCooperativeLaunchTooLarge, cudaErrorNotSupported, cudaErrorNoKernelImageForDevice})
        check(survived(error) > survived(cudaErrorMemoryAllocation), "a refused cooperative launch", error);
    cuda_forced_algorithm = FORM_BEST;
}

/* A device of a generation that no machine code is for: the separate stages take what a fused pass takes elsewhere. */
static void check_no_machine_code() {
    std::vector<uint32_t> values(ROWS * 3);
    const table_view view = {values.data(), ROWS, 3, 0, TABLE_U32};
    for (const unsigned major : {8u, 12u, 9u}) {
        table_report report = {};
        table_scan_options options = {};
        options.backend = TABLE_BACKEND_CUDA;
        options.report = &report;
        emulator_device(4, major);
        check(table_prefix_sum(&view, &view, &options) == TABLE_OK &&
                  report.strategy == (major == 9 ? TABLE_STRATEGY_FUSED : TABLE_STRATEGY_RECURSIVE),
              "a device without machine code", major);
    }
}

static void check_no_device() {
    const char *name = "no device";
    std::vector<uint32_t> values(ROWS * 3);
    emulator_devices(0);
    check(scan(TABLE_STRATEGY_AUTO, false, values.data()) == TABLE_ERROR_BACKEND, name, 0);
    check(sort(false, values.data()) == TABLE_ERROR_BACKEND, name, 0);
    check(table_cuda_unavailable() != nullptr, name, 0);
    emulator_devices(1);
    check(scan(TABLE_STRATEGY_AUTO, false, values.data()) == TABLE_OK, name, 0);
}

static void check_no_memory() {
    const char *name = "no device memory";
    std::vector<uint32_t> values(30000);
    table_trim_memory();
    const size_t objects = emulator_objects();
    emulator_memory_limit(64);
    check(scan(TABLE_STRATEGY_AUTO, false, values.data(), 10000) == TABLE_ERROR_DEVICE_MEMORY, name, 0);
    check(sort(false, values.data()) == TABLE_ERROR_DEVICE_MEMORY, name, 0);
    emulator_memory_limit(SIZE_MAX);
    table_trim_memory();
    check(emulator_objects() == objects, name, 0);
}

int main() {
    check_refused_launch(); /* counts, which streams and parts, whose threads draw random numbers, would change */
    check_calls("device, host", true, [](void *data) { return scan(TABLE_STRATEGY_HOST, true, data); });
    check_calls("device, recursive", true, [](void *data) { return scan(TABLE_STRATEGY_RECURSIVE, false, data); });
    cuda_forced_algorithm = FORM_BUFFERED;
    check_calls("device, fused", true, [](void *data) { return scan(TABLE_STRATEGY_FUSED, true, data); });
    cuda_forced_algorithm = FORM_ALONE;
    check_calls("device, fused, a small table", true,
                [](void *data) { return scan(TABLE_STRATEGY_FUSED, true, data, ROWS / 3); });
    cuda_forced_algorithm = FORM_BEST;
    check_calls("host, recursive", false, [](void *data) { return scan(TABLE_STRATEGY_RECURSIVE, true, data); });
    check_calls("device, goes on", true, go_on);
    check_calls("device, goes on, refused", true, go_on, cudaErrorNotSupported);
    check_calls("device, segments", true, [](void *data) { return segmented(true, data); });
    check_calls("device, sort", true, [](void *data) { return sort(true, data); });
    check_calls("host, sort", false, [](void *data) { return sort(false, data); });
    check_calls("device, histogram", true, [](void *data) { return histogram(false, data); });
    check_calls("host, histogram", false, [](void *data) { return histogram(true, data); });
    check_calls("stream", false, stream);
    emulator_devices(2);
    check_calls("parts", true, scan_parts);
    cudaSetDevice(0); /* the last call to fail may have been the one that puts the caller's device back */
    emulator_devices(1);
    check_no_machine_code();
    check_no_device();
    check_no_memory();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
