/* How the works are queued and timed. */
#include "bench/cuda_work.h"

#include <math.h>
#include <string.h>

#include "bench/peers/peers.h"
#include "message.h"

bool cuda_succeeded(struct bench_report *report, int error, const char *what) {
    if (error == cudaSuccess)
        return true;
    report_note(report, "%s: %s (%s)", what, cudaGetErrorString((cudaError_t)error),
                cudaGetErrorName((cudaError_t)error));
    return false;
}

const char *work_name(const struct work *work) {
    static const char *const checked_names[] = {"auto, checked", "host, checked", "recursive, checked",
                                                "fused, checked"};
    switch (work->kind) {
    case WORK_MEMCPY:
        return "cudaMemcpyAsync";
    case WORK_COPY_KERNEL:
        return "the copy kernel";
    case WORK_CUB:
        return "CUB";
    default:
        return work->check_overflow ? checked_names[work->strategy] : bench_strategy_name(work->strategy);
    }
}

static table_scan_options stream_options(const struct device_case *what, const struct work *work) {
    table_scan_options options;
    memset(&options, 0, sizeof options);
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = work->strategy;
    options.stream = what->tables->stream;
    options.workspace = what->tables->workspace;
    options.workspace_bytes = work->workspace_bytes;
    options.first_overflow = work->check_overflow ? what->tables->first_overflow : NULL;
    return options;
}

static bool rows_lie_side_by_side(const struct device_case *what) { return what->shape.stride == what->shape.columns; }

bool work_prepare(const struct device_case *what, struct work *work, table_status *reason) {
    work->workspace_bytes = 0;
    work->checked = -1;
    work->queued_ms = work->call_ms = NAN;
    *reason = TABLE_OK;
    if (work->kind == WORK_MEMCPY)
        return true;
    if (work->kind == WORK_COPY_KERNEL)
        return rows_lie_side_by_side(what);
    if (work->kind == WORK_CUB)
        return rows_lie_side_by_side(what) && peer_cub_workspace(what->pair.in, what->pair.out, what->in.rows,
                                                                 what->shape.columns, &work->workspace_bytes) == 0;
    table_scan_options options = stream_options(what, work);
    table_view in = what->in, out = what->out;
    options.workspace = NULL;
    bench_split(what->options, &in, &out, &options);
    *reason = table_prefix_sum_workspace(&in, &out, &options, &work->workspace_bytes);
    return *reason == TABLE_OK;
}

static int queue_memcpy(const struct device_case *what) {
    if (rows_lie_side_by_side(what))
        return cudaMemcpyAsync(what->out.data, what->in.data, what->copy_bytes, cudaMemcpyDeviceToDevice,
                               what->tables->stream);
    const size_t pitch = what->shape.stride * table_type_size(what->pair.out);
    return cudaMemcpy2DAsync(what->out.data, pitch, what->in.data, pitch, what->copy_bytes / what->in.rows,
                             what->in.rows, cudaMemcpyDeviceToDevice, what->tables->stream);
}

bool work_queue(const struct device_case *what, const struct work *work) {
    const struct device_tables *tables = what->tables;
    int error;
    if (work->kind == WORK_OURS) {
        table_scan_options options = stream_options(what, work);
        table_view in = what->in, out = what->out;
        bench_split(what->options, &in, &out, &options);
        const table_status status = table_prefix_sum_async(&in, &out, &options);
        if (status != TABLE_OK)
            report_failure(what->report, status, "%s, %zu x %zu", work_name(work), what->in.rows, what->shape.columns);
        return status == TABLE_OK;
    }
    if (work->kind == WORK_MEMCPY)
        error = queue_memcpy(what);
    else if (work->kind == WORK_COPY_KERNEL)
        error = peer_copy(what->out.data, what->in.data, what->copy_bytes, tables->stream);
    else
        error = peer_cub_scan(what->pair.in, what->pair.out, what->in.rows, what->shape.columns, what->in.data,
                              what->out.data, tables->workspace, work->workspace_bytes, tables->stream);
    return cuda_succeeded(what->report, error, work_name(work));
}

/* ---------------------------------------------------------------------------------------------- by events */

/* A copy of other memory goes first: while it runs, all of the work is queued, so that the time of launching it is not
 * counted; and it leaves nothing of the tables in the device's cache. */
static bool time_on_stream(const struct device_case *what, const struct work *work) {
    const struct device_tables *tables = what->tables;
    char *lead = tables->lead;
    return cuda_succeeded(
               what->report,
               cudaMemcpyAsync(lead + LEAD_BYTES, lead, LEAD_BYTES, cudaMemcpyDeviceToDevice, tables->stream),
               "the copy ahead") &&
           CUDA(what->report, cudaEventRecord, work->start, tables->stream) && work_queue(what, work) &&
           CUDA(what->report, cudaEventRecord, work->stop, tables->stream);
}

static bool begin_on_stream(void *context, size_t way, double *ms) {
    const struct device_case *what = context;
    (void)ms; /* read after the turn */
    return time_on_stream(what, &what->works[way]);
}

static bool read_times(void *context, unsigned turn) {
    struct device_case *what = context;
    bool all = CUDA(what->report, cudaStreamSynchronize, what->tables->stream);
    for (size_t w = 0; all && w < what->work_count; ++w) {
        float ms = NAN;
        const struct work *work = &what->works[w];
        if (what->ways[w].left_out)
            continue;
        all = CUDA(what->report, cudaEventElapsedTime, &ms, work->start, work->stop);
        what->ways[w].samples[turn] = (double)ms / (work->graph ? what->scans_per_graph : 1);
    }
    return all;
}

/* ---------------------------------------------------------------------------------------------- by graphs */

static bool capture(struct device_case *what, struct work *work) {
    const cudaStream_t stream = what->tables->stream;
    cudaGraph_t graph = NULL;
    if (!CUDA(what->report, cudaStreamBeginCapture, stream, cudaStreamCaptureModeThreadLocal))
        return false;
    bool queued = true;
    for (unsigned k = 0; k < what->scans_per_graph && queued; ++k)
        queued = work_queue(what, work);
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    bool captured = queued && cuda_succeeded(what->report, ended, "cudaStreamEndCapture") &&
                    CUDA(what->report, cudaGraphInstantiateWithFlags, &work->graph, graph, 0);
    if (!queued)
        (void)cudaGetLastError(); /* an ended capture that failed is no error of what follows */
    if (graph)
        cudaGraphDestroy(graph);
    return captured && CUDA(what->report, cudaGraphUpload, work->graph, stream);
}

/* The first launch warms the cache, as scans of small tables find it, and keeps the queue from running dry. */
static bool time_in_graph(const struct device_case *what, const struct work *work) {
    const cudaStream_t stream = what->tables->stream;
    return CUDA(what->report, cudaGraphLaunch, work->graph, stream) &&
           CUDA(what->report, cudaEventRecord, work->start, stream) &&
           CUDA(what->report, cudaGraphLaunch, work->graph, stream) &&
           CUDA(what->report, cudaEventRecord, work->stop, stream);
}

static bool begin_in_graph(void *context, size_t way, double *ms) {
    const struct device_case *what = context;
    (void)ms;
    return time_in_graph(what, &what->works[way]);
}

int work_measure(struct device_case *what, bool graphs) {
    int code = EX_OK;
    for (size_t w = 0; w < what->work_count; ++w) {
        what->ways[w].left_out = graphs && !capture(what, &what->works[w]);
        code = what->ways[w].left_out ? EX_SOFTWARE : code;
    }
    const bool measured = bench_measure(what->ways, what->work_count, what->repeat, what,
                                        graphs ? begin_in_graph : begin_on_stream, read_times);
    for (size_t w = 0; w < what->work_count; ++w) {
        if (what->works[w].graph)
            cudaGraphExecDestroy(what->works[w].graph);
        what->works[w].graph = NULL;
    }
    return measured ? code : EX_UNAVAILABLE;
}

/* ---------------------------------------------------------------------------------------------- by the host's clock */

static bool queue_and_wait(const struct device_case *what, const struct work *work) {
    return work_queue(what, work) &&
           cuda_succeeded(what->report, cudaStreamSynchronize(what->tables->stream), work_name(work));
}

/* The same options, but those that are for a stream. */
static bool call_once(const struct device_case *what, const struct work *work) {
    table_scan_options options = stream_options(what, work);
    options.stream = options.workspace = NULL;
    options.workspace_bytes = 0;
    table_view in = what->in, out = what->out;
    bench_split(what->options, &in, &out, &options);
    const table_status status = table_prefix_sum(&in, &out, &options);
    if (status != TABLE_OK)
        report_failure(what->report, status, "a call, %s", work_name(work));
    return status == TABLE_OK;
}

/* The median; NAN, with a note, when one failed. */
static double measure_waiting(const struct device_case *what, const struct work *work,
                              bool (*run)(const struct device_case *what, const struct work *work)) {
    double samples[BENCH_REPEAT_MOST];
    bool all = run(what, work);
    for (unsigned r = 0; all && r < what->repeat; ++r) {
        const double begun = bench_seconds();
        all = run(what, work);
        samples[r] = (bench_seconds() - begun) * 1e3;
    }
    return all ? bench_median(samples, what->repeat) : NAN;
}

int work_measure_calls(struct device_case *what) {
    for (struct work *work = what->works; work < what->works + what->work_count; ++work) {
        const bool ours = work->kind == WORK_OURS;
        work->queued_ms = measure_waiting(what, work, queue_and_wait);
        work->call_ms = ours ? measure_waiting(what, work, call_once) : NAN;
        if (isnan(work->queued_ms) || (ours && isnan(work->call_ms)))
            return EX_UNAVAILABLE;
    }
    return EX_OK;
}
