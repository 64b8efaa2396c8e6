/* Scans at the same time as other work on the GPU: on several streams, beside kernels that fill all multiprocessors, in
 * several processes, in two graphs. Blocks of a scan wait for each other, so each of these could be a deadlock: all of
 * it must end, and be right. A hang is ended by SIGALRM. */
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "support/test.h"

enum { SECONDS = 240, ROUNDS = 20, REPLAYS = 100 };

/* A table for each way in which the fused pass waits, on GPUs of 9.0 and later: by one block; in one wave; in a wave
 * whose launch is a cooperative one; by rows; buffered. */
static const struct shape {
    size_t rows, columns;
    bool in_place;
} shapes[] = {{700, 4, false}, {50000, 4, false}, {50000, 4, true}, {1500000, 5, false}, {400000, 32, true}};
enum { WORKS = sizeof shapes / sizeof *shapes };

/* A table, its place on the device, and the stream that it is scanned on. */
struct work {
    size_t rows, columns, bytes, workspace_bytes;
    cudaStream_t stream;
    uint32_t *values, *sums;            /* on the host; page-locked */
    uint32_t *device_values, *in, *out; /* `in` is `out`, and is filled anew before each scan, where it is in place */
    void *workspace;
};

static bool is_right(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return true;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    return false;
}
static bool is_ok(table_status status, const char *what) {
    if (status == TABLE_OK)
        return true;
    fprintf(stderr, "%s: %s\n", what, table_status_text(status));
    return false;
}

static table_view view_of(const struct work *work, uint32_t *data) {
    return (table_view){data, work->rows, work->columns, 0, TABLE_U32};
}

/* Puts the scan on the work's stream; in place, a copy of the values before it. */
static bool queue_scan(const struct work *work) {
    const table_view in = view_of(work, work->in), out = view_of(work, work->out);
    const table_scan_options options = {.backend = TABLE_BACKEND_CUDA,
                                        .stream = work->stream,
                                        .workspace = work->workspace,
                                        .workspace_bytes = work->workspace_bytes};
    return is_right(cudaMemcpyAsync(work->in, work->device_values, work->bytes, cudaMemcpyDeviceToDevice, work->stream),
                    "copy") &&
           is_ok(table_prefix_sum_async(&in, &out, &options), "scan");
}

static bool queue_results(const struct work *work) {
    return is_right(cudaMemcpyAsync(work->sums, work->out, work->bytes, cudaMemcpyDeviceToHost, work->stream),
                    "copy back");
}

/* Waits for the stream, and compares. */
static bool has_sums(const struct work *work) {
    uint32_t above[64] = {0};
    if (!is_right(cudaStreamSynchronize(work->stream), "wait"))
        return false;
    for (size_t i = 0; i < work->rows * work->columns; i++) {
        above[i % work->columns] += work->values[i];
        if (work->sums[i] != above[i % work->columns]) {
            fprintf(stderr, "%zu x %zu, row %zu, column %zu: expected %u, found %u\n", work->rows, work->columns,
                    i / work->columns, i % work->columns, above[i % work->columns], work->sums[i]);
            return false;
        }
    }
    memset(work->sums, 0, work->bytes); /* the next results are not the last ones */
    return true;
}

static bool open_work(struct work *work, const struct shape *shape, uint32_t seed) {
    const table_scan_options options = {.backend = TABLE_BACKEND_CUDA};
    *work = (struct work){.rows = shape->rows, .columns = shape->columns};
    work->bytes = shape->rows * shape->columns * sizeof *work->values;
    if (!is_right(cudaMallocHost((void **)&work->values, work->bytes), "host memory") ||
        !is_right(cudaMallocHost((void **)&work->sums, work->bytes), "host memory") ||
        !is_right(cudaMalloc((void **)&work->device_values, work->bytes), "device memory") ||
        !is_right(cudaMalloc((void **)&work->in, work->bytes), "device memory") ||
        !is_right(cudaStreamCreateWithFlags(&work->stream, cudaStreamNonBlocking), "stream"))
        return false;
    work->out = work->in;
    if (!shape->in_place && !is_right(cudaMalloc((void **)&work->out, work->bytes), "device memory"))
        return false;
    for (size_t i = 0; i < shape->rows * shape->columns; i++)
        work->values[i] = seed = seed * 1664525u + 1013904223u;
    const table_view in = view_of(work, work->in), out = view_of(work, work->out);
    return is_ok(table_prefix_sum_workspace(&in, &out, &options, &work->workspace_bytes), "workspace") &&
           is_right(cudaMalloc(&work->workspace, work->workspace_bytes + 1), "device memory") &&
           is_right(cudaMemcpy(work->device_values, work->values, work->bytes, cudaMemcpyHostToDevice), "copy");
}

static void close_work(struct work *work) {
    cudaFreeHost(work->values);
    cudaFreeHost(work->sums);
    cudaFree(work->device_values);
    cudaFree(work->in);
    if (work->out != work->in)
        cudaFree(work->out);
    cudaFree(work->workspace);
    if (work->stream)
        cudaStreamDestroy(work->stream);
}

/* Other work that fills all multiprocessors for a while: histograms of many values, on a stream of their own. */
struct filler {
    size_t count, workspace_bytes;
    cudaStream_t stream;
    uint8_t *values;
    uint32_t *counts;
    void *workspace;
};
static const table_bins filler_bins = {.kind = TABLE_BINS_INTEGER, .count = 256};

static bool queue_filler(struct filler *filler, bool asks) {
    const table_view values = {filler->values, filler->count, 1, 0, TABLE_U8};
    const table_view counts = {filler->counts, 1, 256, 0, TABLE_U32};
    const table_histogram_options options = {.run = {.backend = TABLE_BACKEND_CUDA,
                                                     .stream = filler->stream,
                                                     .workspace = filler->workspace,
                                                     .workspace_bytes = filler->workspace_bytes}};
    if (asks)
        return is_ok(table_histogram_workspace(&values, &filler_bins, &counts, &options, &filler->workspace_bytes),
                     "workspace of a histogram");
    return is_ok(table_histogram_async(&values, &filler_bins, &counts, &options), "histogram");
}

static bool open_filler(struct filler *filler) {
    *filler = (struct filler){.count = (size_t)1 << 28};
    return is_right(cudaMalloc((void **)&filler->values, filler->count), "device memory") &&
           is_right(cudaMemset(filler->values, 7, filler->count), "fill") &&
           is_right(cudaMalloc((void **)&filler->counts, 256 * sizeof *filler->counts), "device memory") &&
           is_right(cudaStreamCreateWithFlags(&filler->stream, cudaStreamNonBlocking), "stream") &&
           queue_filler(filler, true) &&
           is_right(cudaMalloc(&filler->workspace, filler->workspace_bytes + 1), "device memory");
}

static bool filler_is_right(const struct filler *filler) {
    uint32_t count = 0;
    return is_right(cudaStreamSynchronize(filler->stream), "wait") &&
           is_right(cudaMemcpy(&count, filler->counts + 7, sizeof count, cudaMemcpyDeviceToHost), "copy back") &&
           count == filler->count;
}

static void close_filler(struct filler *filler) {
    cudaFree(filler->values);
    cudaFree(filler->counts);
    cudaFree(filler->workspace);
    if (filler->stream)
        cudaStreamDestroy(filler->stream);
}

/* One round of all works, each on its stream, and between them as much other work as `filler` is not NULL. */
static bool run_round(struct work *works, struct filler *filler) {
    for (int i = 0; i < WORKS; i++)
        if ((filler && !queue_filler(filler, false)) || !queue_scan(&works[i]) || !queue_results(&works[i]))
            return false;
    for (int i = 0; i < WORKS; i++)
        if (!has_sums(&works[i]))
            return false;
    return !filler || filler_is_right(filler);
}

static bool run_streams(bool beside) {
    struct work works[WORKS] = {{0}};
    struct filler filler = {0};
    bool right = !beside || open_filler(&filler);
    for (int i = 0; right && i < WORKS; i++)
        right = open_work(&works[i], &shapes[i], (uint32_t)i);
    for (int round = 0; right && round < ROUNDS; round++)
        right = run_round(works, beside ? &filler : NULL);
    for (int i = 0; i < WORKS; i++)
        close_work(&works[i]);
    close_filler(&filler);
    return right;
}

/* The status that the process ended with, or what it was killed by, made negative. */
static int end_of(pid_t process) {
    int status = 0;
    if (process < 0 || waitpid(process, &status, 0) != process)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A new process in which CUDA is not initialised yet, as it must not be in this one. */
static pid_t start_process(int (*run)(void)) {
    fflush(NULL);
    const pid_t process = fork();
    if (process != 0)
        return process;
    alarm(SECONDS);
    _exit(run());
}

static int without_cuda(void) { return table_cuda_unavailable() ? SKIPPED : 0; }
static int streams_of_process(void) { return run_streams(true) ? 0 : 1; }

static void check_processes(int count) {
    pid_t processes[4];
    int ends[4];
    for (int i = 0; i < count; i++)
        processes[i] = start_process(streams_of_process);
    for (int i = 0; i < count; i++)
        ends[i] = end_of(processes[i]);
    for (int i = 0; i < count; i++)
        assert_int_equal(ends[i], 0);
}
/* Processes first: this one has not initialised CUDA before they are started. */
TEST(test_two_processes) { check_processes(2); }
TEST(test_four_processes) { check_processes(4); }

TEST(test_streams) { assert_true(run_streams(false)); }
TEST(test_beside_other_work) { assert_true(run_streams(true)); }

static bool capture(const struct work *work, cudaGraphExec_t *executable) {
    cudaGraph_t graph = NULL;
    bool right = is_right(cudaStreamBeginCapture(work->stream, cudaStreamCaptureModeThreadLocal), "capture");
    right = right && queue_scan(work) && queue_results(work);
    right = is_right(cudaStreamEndCapture(work->stream, &graph), "end of capture") && right;
    right = right && is_right(cudaGraphInstantiate(executable, graph, 0), "graph");
    if (graph)
        cudaGraphDestroy(graph);
    return right;
}

/* Two graphs, each replayed on its own stream, while the other one is. */
static bool run_graphs(const struct shape *first, const struct shape *second) {
    struct work works[2] = {{0}};
    cudaGraphExec_t graphs[2] = {NULL, NULL};
    bool right = open_work(&works[0], first, 1) && open_work(&works[1], second, 2);
    for (int i = 0; right && i < 2; i++)
        right = capture(&works[i], &graphs[i]);
    for (int replay = 0; right && replay < REPLAYS; replay++)
        for (int i = 0; right && i < 2; i++)
            right = is_right(cudaGraphLaunch(graphs[i], works[i].stream), "replay");
    for (int i = 0; i < 2; i++) {
        right = right && has_sums(&works[i]);
        if (graphs[i])
            cudaGraphExecDestroy(graphs[i]);
        close_work(&works[i]);
    }
    return right;
}

TEST(test_two_graphs) {
    for (int first = 1; first < WORKS; first++)
        for (int second = 1; second <= first; second++)
            assert_true(run_graphs(&shapes[first], &shapes[second]));
}

int main(void) {
    if (end_of(start_process(without_cuda)) == SKIPPED) {
        printf("skipped: there is no GPU for CUDA\n");
        return SKIPPED;
    }
    alarm(3 * SECONDS);
    return run_all_tests("gpu_together", NULL);
}
