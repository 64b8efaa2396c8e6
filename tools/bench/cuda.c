/* Tables in device memory: this library's strategies beside cudaMemcpy, a copy kernel and CUB. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cuda_work.h"
#include "bench/device_words.h"
#include "bench/peers/peers.h"
#include "message.h"
#include "types.h"

enum { STAGE_RUNS = 3 };

struct device_run {
    const struct bench_options *options;
    struct bench_report *report;
    struct device_tables tables;
    struct device_case *what;
    bool left_out[TABLE_STRATEGY_FUSED + 1][2]; /* not to be had, unchecked or checked for overflow; said once */
};

/* ------------------------------------------------------------------------------------------------------ memory */

static bool allocate(struct bench_report *report, void **memory, size_t bytes) {
    return CUDA(report, cudaMalloc, memory, bytes);
}

static bool tables_allocate(struct device_tables *tables, struct bench_report *report, size_t bytes, bool check) {
    tables->bytes = bytes;
    return CUDA(report, cudaStreamCreateWithFlags, &tables->stream, cudaStreamNonBlocking) &&
           allocate(report, &tables->in, bytes) && allocate(report, &tables->out, bytes) &&
           allocate(report, &tables->lead, 2 * (size_t)LEAD_BYTES) &&
           allocate(report, (void **)&tables->differing, sizeof *tables->differing) &&
           allocate(report, (void **)&tables->first_overflow, sizeof *tables->first_overflow) &&
           CUDA(report, cudaMallocHost, &tables->host_in, bytes) &&
           (!check || (allocate(report, &tables->expected, bytes) &&
                       CUDA(report, cudaMallocHost, &tables->host_expected, bytes))) &&
           CUDA(report, cudaMemset, tables->lead, 1, 2 * (size_t)LEAD_BYTES);
}

static void tables_free(struct device_tables *tables) {
    void *const device[] = {tables->in,        tables->out,       tables->expected,      tables->lead,
                            tables->workspace, tables->differing, tables->first_overflow};
    for (size_t k = 0; k < sizeof device / sizeof *device; ++k)
        cudaFree(device[k]);
    cudaFreeHost(tables->host_in);
    cudaFreeHost(tables->host_expected);
    if (tables->stream)
        cudaStreamDestroy(tables->stream);
}

static bool workspace_grow(struct device_tables *tables, struct bench_report *report, size_t bytes) {
    if (tables->workspace && bytes <= tables->workspace_bytes)
        return true;
    cudaFree(tables->workspace);
    tables->workspace = NULL;
    tables->workspace_bytes = bytes > TABLE_WORKSPACE_ALIGNMENT ? bytes : TABLE_WORKSPACE_ALIGNMENT;
    return allocate(report, &tables->workspace, tables->workspace_bytes);
}

/* ---------------------------------------------------------------------------------------------- right or wrong */

static size_t out_values(const struct device_case *what) { return what->out.rows * what->shape.stride; }

/* What this library's CPU backend makes of the same table, in device memory. The gaps between the windows are zeros. */
static bool expect(const struct device_case *what) {
    const struct device_tables *tables = what->tables;
    const size_t bytes = out_values(what) * table_type_size(what->pair.out);
    table_view in = what->in, out = what->out;
    in.data = tables->host_in;
    out.data = tables->host_expected;
    if (what->shape.stride != what->shape.columns)
        memset(tables->host_expected, 0, bytes);
    table_scan_options options;
    memset(&options, 0, sizeof options);
    options.backend = TABLE_BACKEND_CPU;
    bench_split(what->options, &in, &out, &options);
    const table_status status = table_prefix_sum(&in, &out, &options);
    if (status != TABLE_OK) {
        report_failure(what->report, status, "the CPU backend");
        return false;
    }
    return CUDA(what->report, cudaMemcpyAsync, tables->expected, tables->host_expected, bytes, cudaMemcpyHostToDevice,
                tables->stream) &&
           CUDA(what->report, cudaStreamSynchronize, tables->stream);
}

static bool count_wrong(const struct device_case *what, const struct work *work, unsigned long long *wrong) {
    const struct device_tables *tables = what->tables;
    const size_t size = table_type_size(what->pair.out);
    return CUDA(what->report, cudaMemsetAsync, tables->out, 0, out_values(what) * size, tables->stream) &&
           work_queue(what, work) &&
           cuda_succeeded(what->report,
                          device_count_differing(tables->out, tables->expected, out_values(what), size,
                                                 tables->differing, tables->stream),
                          "comparing with the CPU's result") &&
           CUDA(what->report, cudaMemcpyAsync, wrong, tables->differing, sizeof *wrong, cudaMemcpyDeviceToHost,
                tables->stream) &&
           cuda_succeeded(what->report, cudaStreamSynchronize(tables->stream), work_name(work));
}

/* Ours always, bit for bit; CUB where its order of additions cannot be seen. */
static int check_all(struct device_case *what) {
    const bool floating = type_is_float(what->pair.out);
    int code = EX_OK;
    if (!expect(what))
        return EX_UNAVAILABLE;
    for (size_t w = 0; w < what->work_count; ++w) {
        struct work *work = &what->works[w];
        unsigned long long wrong = 0;
        if (work->kind != WORK_OURS && (work->kind != WORK_CUB || floating))
            continue;
        if (!count_wrong(what, work, &wrong))
            return EX_UNAVAILABLE;
        work->checked = wrong == 0;
        if (wrong == 0)
            continue;
        report_note(what->report, "WRONG RESULT: %llu of %zu values, %zu x %zu of stride %zu, %s to %s, %s", wrong,
                    what->out.rows * what->shape.columns, what->out.rows, what->shape.columns, what->shape.stride,
                    table_type_name(what->pair.in), table_type_name(what->pair.out), work_name(work));
        code = EX_SOFTWARE;
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------------- one case */

/* The works that there are for this shape, and workspace for the hungriest of them. */
static bool add_work(struct device_run *run, struct device_case *what, enum work_kind kind, table_strategy strategy,
                     bool check_overflow) {
    bool *left_out = &run->left_out[strategy][check_overflow];
    struct work *work = &what->works[what->work_count];
    table_status reason;
    if (run->options->row_count > 0 && strategy == TABLE_STRATEGY_HOST) {
        if (!*left_out)
            report_note(run->report, "host is left out: it waits for the device, so no graph can capture it");
        *left_out = true;
        return true;
    }
    if (what->work_count == WORK_MOST)
        return true;
    work->kind = kind;
    work->strategy = strategy;
    work->check_overflow = check_overflow;
    if (!work_prepare(what, work, &reason)) {
        if (reason != TABLE_OK && !*left_out)
            report_failure(run->report, reason, "%s is left out, %zu x %zu", work_name(work), what->in.rows,
                           what->shape.columns);
        *left_out |= reason == TABLE_ERROR_STRATEGY;
        return true;
    }
    what->work_count++;
    return workspace_grow(what->tables, run->report, work->workspace_bytes);
}

/* Each strategy without and with the check for overflow, where that is asked for: what it costs is seen between two
 * lines of one run. */
static bool add_works(struct device_run *run, struct device_case *what) {
    const struct bench_options *options = run->options;
    const bool check_overflow = bench_checks_overflow(options, what->pair);
    bool enough = add_work(run, what, WORK_MEMCPY, TABLE_STRATEGY_AUTO, false);
    for (size_t s = 0; s < options->strategy_count; ++s) {
        enough = enough && add_work(run, what, WORK_OURS, options->strategies[s], false);
        if (check_overflow)
            enough = enough && add_work(run, what, WORK_OURS, options->strategies[s], true);
    }
    if (options->peers)
        enough = enough && add_work(run, what, WORK_COPY_KERNEL, TABLE_STRATEGY_AUTO, false);
    if (options->peers && !options->reverse)
        enough = enough && add_work(run, what, WORK_CUB, TABLE_STRATEGY_AUTO, false);
    return enough;
}

/* Each once, which also warms it up. What cannot be queued is taken out, so that it costs the others nothing; what
 * breaks the device is at least named. */
static int try_all(struct device_case *what) {
    int code = EX_OK;
    for (size_t w = 0; w < what->work_count;) {
        if (!work_queue(what, &what->works[w])) {
            code = EX_SOFTWARE;
            what->work_count--;
            memmove(&what->works[w], &what->works[w + 1], (what->work_count - w) * sizeof *what->works);
            continue;
        }
        if (!cuda_succeeded(what->report, cudaStreamSynchronize(what->tables->stream), work_name(&what->works[w])))
            return EX_UNAVAILABLE;
        w++;
    }
    return code;
}

/* The stages one by one, as the one-call form reports them. */
static void measure_stages(const struct device_case *what, const struct work *work, double stage_ms[3]) {
    double samples[3][STAGE_RUNS];
    table_scan_options options;
    table_report report;
    memset(&options, 0, sizeof options);
    memset(&report, 0, sizeof report);
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = work->strategy;
    options.report = &report;
    options.first_overflow = work->check_overflow ? what->tables->first_overflow : NULL;
    for (int k = 0; k < STAGE_RUNS; ++k) {
        table_view in = what->in, out = what->out;
        bench_split(what->options, &in, &out, &options);
        const table_status status = table_prefix_sum(&in, &out, &options);
        if (status != TABLE_OK) {
            report_failure(what->report, status, "stages of %s", work_name(work));
            return;
        }
        for (int s = 0; s < 3; ++s)
            samples[s][k] = report.stage_seconds[s] * 1e3;
    }
    for (int s = 0; s < 3; ++s)
        stage_ms[s] = bench_median(samples[s], STAGE_RUNS);
}

static void report_case(const struct device_case *what, bool graph) {
    struct bench_result result = bench_result_empty();
    result.rows = what->in.rows;
    result.shape = what->shape;
    result.pair = what->pair;
    result.backend = "cuda";
    result.graph = graph;
    result.reverse = what->options->reverse;
    for (size_t w = 0; w < what->work_count; ++w) {
        const struct work *work = &what->works[w];
        if (work->kind == WORK_MEMCPY) {
            result.memcpy_ms = what->ways[w].ms;
            result.best_memcpy_ms = what->ways[w].best_ms;
        }
        if (work->kind == WORK_COPY_KERNEL)
            result.copy_kernel_ms = what->ways[w].ms;
        if (work->kind == WORK_CUB) {
            result.cub_ms = what->ways[w].ms;
            result.cub_queued_ms = work->queued_ms;
        }
    }
    for (size_t w = 0; w < what->work_count; ++w) {
        const struct work *work = &what->works[w];
        if (work->kind != WORK_OURS || isnan(what->ways[w].ms))
            continue;
        result.strategy = bench_strategy_name(work->strategy);
        result.overflow_checked = work->check_overflow;
        result.checked = work->checked;
        result.ms = what->ways[w].ms;
        result.best_ms = what->ways[w].best_ms;
        result.queued_ms = work->queued_ms;
        result.call_ms = work->call_ms;
        for (int s = 0; s < 3; ++s)
            result.stage_ms[s] = NAN;
        if (!graph)
            measure_stages(what, work, result.stage_ms);
        report_result(what->report, &result);
    }
}

static int create_events(struct device_case *what) {
    for (size_t w = 0; w < what->work_count; ++w)
        if (!CUDA(what->report, cudaEventCreate, &what->works[w].start) ||
            !CUDA(what->report, cudaEventCreate, &what->works[w].stop))
            return EX_UNAVAILABLE;
    return EX_OK;
}

static void destroy_events(struct device_case *what) {
    for (size_t w = 0; w < what->work_count; ++w) {
        if (what->works[w].start)
            cudaEventDestroy(what->works[w].start);
        if (what->works[w].stop)
            cudaEventDestroy(what->works[w].stop);
    }
}

static int measure_case(struct device_run *run, struct device_case *what) {
    const bool graph = run->options->row_count > 0;
    int worst = try_all(what);
    if (bench_goes_on(worst) && run->options->check)
        worst = bench_worse(worst, check_all(what));
    int code = bench_goes_on(worst) ? create_events(what) : worst;
    if (bench_goes_on(code))
        code = work_measure(what, graph);
    worst = bench_worse(worst, code);
    if (bench_goes_on(worst) && graph)
        worst = bench_worse(worst, work_measure_calls(what));
    if (bench_goes_on(worst))
        report_case(what, graph);
    destroy_events(what);
    return worst;
}

static unsigned scans_per_graph(size_t bytes) { return bytes <= 1 << 20 ? 64 : bytes <= 64 << 20 ? 16 : 4; }

static int fill(void *context, struct bench_pair pair) {
    struct device_run *run = context;
    struct device_tables *tables = &run->tables;
    bench_fill(tables->host_in, tables->bytes, pair.in, run->options->overflow);
    return CUDA(run->report, cudaMemcpy, tables->in, tables->host_in, tables->bytes, cudaMemcpyHostToDevice)
               ? EX_OK
               : EX_UNAVAILABLE;
}

static int run_case(void *context, const struct bench_case *table) {
    struct device_run *run = context;
    struct device_case *what = run->what;
    const struct bench_shape shape = table->shape;
    *what = (struct device_case){.tables = &run->tables,
                                 .report = run->report,
                                 .options = run->options,
                                 .shape = shape,
                                 .pair = table->pair,
                                 .repeat = run->options->repeat};
    what->in = (table_view){run->tables.in, table->rows, shape.columns, shape.stride, table->pair.in};
    what->out = (table_view){run->tables.out, table->rows, shape.columns, shape.stride, table->pair.out};
    what->copy_bytes = (table->in_bytes + table->out_bytes) / 2 / shape.stride * shape.columns;
    what->scans_per_graph = scans_per_graph(table->out_bytes);
    if (!add_works(run, what)) {
        (void)cudaGetLastError(); /* out of memory: the next shape may need less */
        return EX_OSERR;
    }
    return measure_case(run, what);
}

/* -------------------------------------------------------------------------------------------------- every case */

int bench_cuda(const struct bench_options *options, struct bench_report *report) {
    struct device_run run = {.options = options, .report = report, .what = malloc(sizeof *run.what)};
    const size_t bytes = bench_largest_bytes(options);
    int code;
    if (options->peers && !peer_cub_version())
        report_note(report, "CUB is left out: this command was built without its headers");
    if (options->peers && options->reverse)
        report_note(report, "CUB is left out: it sums from the top");
    if (run.what && tables_allocate(&run.tables, report, bytes, options->check))
        code = bench_each_case(options, report, &run, fill, run_case);
    else
        code = fail(EX_OSERR, "%d device tables of %zu bytes could not be had", options->check ? 3 : 2, bytes);
    tables_free(&run.tables);
    free(run.what);
    return code;
}

/* ---------------------------------------------------------------------------------------------------- accuracy */

const char *bench_cub_version(void) { return peer_cub_version(); }

int bench_cub_on_host_table(const table_view *in, const table_view *out) {
    const size_t bytes = in->rows * in->columns * table_type_size(in->type);
    void *from = NULL, *to = NULL, *workspace = NULL;
    size_t workspace_bytes = 0;
    if (peer_cub_workspace(in->type, out->type, in->rows, in->columns, &workspace_bytes) != cudaSuccess)
        return -1;
    const bool done = cudaMalloc(&from, bytes) == cudaSuccess && cudaMalloc(&to, bytes) == cudaSuccess &&
                      cudaMalloc(&workspace, workspace_bytes + 1) == cudaSuccess &&
                      cudaMemcpy(from, in->data, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
                      peer_cub_scan(in->type, out->type, in->rows, in->columns, from, to, workspace, workspace_bytes,
                                    NULL) == cudaSuccess &&
                      cudaMemcpy(out->data, to, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(from);
    cudaFree(to);
    cudaFree(workspace);
    return done ? 0 : -1;
}
