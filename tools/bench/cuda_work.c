/* How the works are queued and timed. */
#include "cuda_work.h"

#include <math.h>
#include <string.h>

#include "../message.h"
#include "../peers/peers.h"

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
    work->ms = work->queued_ms = work->call_ms = NAN;
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
            report_note(what->report, "%s, %zu x %zu: %s: %s", work_name(work), what->in.rows, what->shape.columns,
                        table_status_text(status), table_error_detail());
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
           cuda_succeeded(what->report, cudaEventRecord(work->start, tables->stream), "cudaEventRecord") &&
           work_queue(what, work) &&
           cuda_succeeded(what->report, cudaEventRecord(work->stop, tables->stream), "cudaEventRecord");
}

static bool read_times(struct device_case *what, unsigned repetition, bool graphs) {
    const unsigned scans = graphs ? what->scans_per_graph : 1;
    bool all = cuda_succeeded(what->report, cudaStreamSynchronize(what->tables->stream), "cudaStreamSynchronize");
    for (size_t w = 0; all && w < what->work_count; ++w) {
        float ms = NAN;
        struct work *work = &what->works[w];
        if (graphs && !work->graph)
            continue;
        all = cuda_succeeded(what->report, cudaEventElapsedTime(&ms, work->start, work->stop), "cudaEventElapsedTime");
        work->samples[repetition] = (double)ms / scans;
    }
    return all;
}

int work_measure_streams(struct device_case *what) {
    for (unsigned r = 0; r < what->repeat; ++r) {
        for (size_t w = 0; w < what->work_count; ++w)
            if (!time_on_stream(what, &what->works[w]))
                return EX_UNAVAILABLE;
        if (!read_times(what, r, false))
            return EX_UNAVAILABLE;
    }
    for (size_t w = 0; w < what->work_count; ++w)
        what->works[w].ms = bench_median(what->works[w].samples, what->repeat);
    return EX_OK;
}

/* ---------------------------------------------------------------------------------------------- by graphs */

static bool capture(struct device_case *what, struct work *work) {
    const cudaStream_t stream = what->tables->stream;
    cudaGraph_t graph = NULL;
    if (!cuda_succeeded(what->report, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                        "cudaStreamBeginCapture"))
        return false;
    bool queued = true;
    for (unsigned k = 0; k < what->scans_per_graph && queued; ++k)
        queued = work_queue(what, work);
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    bool captured =
        queued && cuda_succeeded(what->report, ended, "cudaStreamEndCapture") &&
        cuda_succeeded(what->report, cudaGraphInstantiateWithFlags(&work->graph, graph, 0), "cudaGraphInstantiate");
    if (!queued)
        (void)cudaGetLastError(); /* an ended capture that failed is no error of what follows */
    if (graph)
        cudaGraphDestroy(graph);
    return captured && cuda_succeeded(what->report, cudaGraphUpload(work->graph, stream), "cudaGraphUpload");
}

/* The first launch warms the cache, as scans of small tables find it, and keeps the queue from running dry. */
static bool time_in_graph(const struct device_case *what, const struct work *work) {
    const cudaStream_t stream = what->tables->stream;
    return cuda_succeeded(what->report, cudaGraphLaunch(work->graph, stream), "cudaGraphLaunch") &&
           cuda_succeeded(what->report, cudaEventRecord(work->start, stream), "cudaEventRecord") &&
           cuda_succeeded(what->report, cudaGraphLaunch(work->graph, stream), "cudaGraphLaunch") &&
           cuda_succeeded(what->report, cudaEventRecord(work->stop, stream), "cudaEventRecord");
}

static int measure_captured(struct device_case *what) {
    for (unsigned r = 0; r < what->repeat; ++r) {
        for (size_t w = 0; w < what->work_count; ++w)
            if (what->works[w].graph && !time_in_graph(what, &what->works[w]))
                return EX_UNAVAILABLE;
        if (!read_times(what, r, true))
            return EX_UNAVAILABLE;
    }
    for (size_t w = 0; w < what->work_count; ++w)
        if (what->works[w].graph)
            what->works[w].ms = bench_median(what->works[w].samples, what->repeat);
    return EX_OK;
}

int work_measure_graphs(struct device_case *what) {
    int code = EX_OK;
    for (size_t w = 0; w < what->work_count; ++w)
        if (!capture(what, &what->works[w]))
            code = EX_SOFTWARE;
    const int measured = measure_captured(what);
    for (size_t w = 0; w < what->work_count; ++w)
        if (what->works[w].graph) {
            cudaGraphExecDestroy(what->works[w].graph);
            what->works[w].graph = NULL;
        }
    return measured != EX_OK ? measured : code;
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
        report_note(what->report, "a call, %s: %s: %s", work_name(work), table_status_text(status),
                    table_error_detail());
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
