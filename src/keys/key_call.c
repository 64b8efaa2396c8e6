#include "key_call.h"

#include "status.h"

table_status key_call_begin(struct key_call *call, const table_pipeline_options *options, struct key_form form) {
    *call = (struct key_call){.form = form};
    if (form.asks && !form.bytes)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
    if (options)
        call->options = *options;
    options = &call->options;
    if ((unsigned)options->backend > TABLE_BACKEND_CUDA)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->backend %d is no backend", (int)options->backend);
    if (form.form == CALL_ON_STREAM && options->report)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->report: a stream form cannot wait for the times");
    if (form.form != CALL_ON_STREAM && (options->stream || options->workspace || options->workspace_bytes))
        return status_fail(TABLE_ERROR_ARGUMENT, "options->stream and workspace are for the stream forms");
    call->report = options->report;
    call->call.scan.threads = options->threads ? options->threads : backend_cpu_processors();
    call->call.scan.stream = options->stream;
    return validate_reserved(options->reserved, RESERVED_WORDS(options));
}

table_status key_call_column(const char *name, const struct table_view *view, struct table_view *checked) {
    const table_status status = validate_view(name, view, checked);
    if (status != TABLE_OK)
        return status;
    if (checked->columns != 1)
        return status_fail(TABLE_ERROR_SHAPE, "%s->columns is %zu, and one column is needed", name, checked->columns);
    if (checked->stride != 1)
        return status_fail(TABLE_ERROR_SHAPE, "%s->stride is %td, and the values must lie side by side", name,
                           checked->stride);
    return TABLE_OK;
}

table_status key_call_backend(struct key_call *call, const char *name, const struct table_view *keys,
                              const void *result) {
    const void *decides = keys->rows > 0 ? keys->data : result;
    const table_status status = validate_backend(decides, NULL, call->options.backend, &call->call);
    if (status != TABLE_OK)
        return status;
    call->staged = !key_call_on_host(call) && call->call.device < 0 && decides;
    if (call->staged && call->form.form == CALL_ON_STREAM)
        return status_fail(TABLE_ERROR_BACKEND, "%s lie in host memory, and a stream form needs device memory on CUDA",
                           name);
    call->call.scan.in = *keys;
    return TABLE_OK;
}

/* In the place of tables whose memory is not known while they are planned: the workspace of a scan depends on which of
 * its tables are there, and on whether they are one. */
static _Alignas(TABLE_WORKSPACE_ALIGNMENT) char stand_ins[2][TABLE_WORKSPACE_ALIGNMENT];

struct scan key_call_scan(const struct key_call *call, const struct table_view *in, const struct table_view *out) {
    struct scan scan = {.in = *in,
                        .out = *out,
                        .element = element_of(TABLE_SUM, out->type),
                        .threads = call->call.scan.threads,
                        .stream = call->call.scan.stream};
    if (!in->data)
        scan.in.data = stand_ins[0];
    if (!out->data)
        scan.out.data = stand_ins[1];
    plan_chunks(&scan);
    return scan;
}

static void stage(struct key_call *call, struct staged_table table) {
    if (!call->staged || !*table.data || table.rows == 0)
        return;
    table.place = layout_place(&call->staging, table.rows, table.width);
    call->tables[call->staged_tables++] = table;
}

void key_call_stage(struct key_call *call, void **data, size_t bytes, bool read, bool written) {
    stage(call, (struct staged_table){
                    .data = data, .rows = bytes > 0, .width = bytes, .pitch = bytes, .read = read, .written = written});
}

void key_call_stage_table(struct key_call *call, struct table_view *view, bool read, bool written) {
    const size_t size = table_type_size(view->type);
    stage(call, (struct staged_table){.data = &view->data,
                                      .rows = view->rows,
                                      .width = view->columns * size,
                                      .pitch = (size_t)view->stride * size,
                                      .read = read,
                                      .written = written});
    if (call->staged)
        view->stride = (ptrdiff_t)view->columns;
}

table_status key_call_same_side(const struct key_call *call, const char *name, const void *pointer) {
    if (!pointer || call->call.scan.in.rows == 0)
        return TABLE_OK;
    const int device = backend_device_of(pointer);
    if (device != call->call.device)
        return status_fail(TABLE_ERROR_BACKEND, "%s is not on the same side: devices %d and %d (-1: the host)", name,
                           device, call->call.device);
    return TABLE_OK;
}

table_status key_call_layout(const struct key_call *call) {
    return call->layout.too_large || call->staging.too_large
               ? status_fail(TABLE_ERROR_TOO_LARGE, "the workspace for %zu keys does not fit in memory",
                             call->call.scan.in.rows)
               : TABLE_OK;
}

table_status key_call_mark(const struct key_call *call, unsigned mark) {
    return call->call.scan.clock ? call->call.backend->clock_mark(&call->call.scan, mark) : TABLE_OK;
}

table_status key_call_lap(struct key_call *call) {
    const struct backend *backend = call->call.backend;
    const struct scan *scan = &call->call.scan;
    double seconds[STAGES] = {0};
    if (!scan->clock)
        return TABLE_OK;
    table_status status = backend->wait(scan);
    for (unsigned step = 0; step < STAGES && status == TABLE_OK; step++)
        status = backend->clock_seconds(scan, step, step + 1, &seconds[step]);
    if (backend->clock_threads)
        call->report->threads = backend->clock_threads(scan);
    call->report->count_seconds += seconds[0];
    call->report->scan_seconds += seconds[1];
    call->report->move_seconds += seconds[2];
    call->report->seconds += seconds[0] + seconds[1] + seconds[2];
    return status;
}

/* Copies the staged tables, to the backend's memory or from it. */
static table_status copy_staged(const struct key_call *call, void *const host[STAGED_MOST], bool back) {
    table_status status = TABLE_OK;
    for (unsigned i = 0; i < call->staged_tables && status == TABLE_OK; i++) {
        const struct staged_table *table = &call->tables[i];
        const struct backend *backend = call->call.backend;
        if (back && table->written)
            status = backend->copy_rows(&call->call.scan, host[i], table->pitch, *table->data, table->width,
                                        table->width, table->rows);
        else if (!back && table->read)
            status = backend->copy_rows(&call->call.scan, *table->data, table->width, host[i], table->pitch,
                                        table->width, table->rows);
    }
    return status;
}

/* What run_and_wait() hands on. */
struct key_run {
    struct key_call *call;
    key_work *work;
    const void *plan;
};

/* The work between the copies of what is staged at `staging`. */
static table_status run_staged(const struct key_run *run, char *staging, void *workspace) {
    struct key_call *call = run->call;
    void *host[STAGED_MOST];
    for (unsigned i = 0; i < call->staged_tables; i++) {
        host[i] = *call->tables[i].data;
        *call->tables[i].data = staging + call->tables[i].place;
    }
    table_status status = copy_staged(call, host, false);
    if (status == TABLE_OK)
        status = run->work(call, run->plan, workspace);
    if (status == TABLE_OK)
        status = copy_staged(call, host, true);
    const table_status waited = call->call.backend->wait(&call->call.scan);
    for (unsigned i = 0; i < call->staged_tables; i++)
        *call->tables[i].data = host[i];
    return status == TABLE_OK ? waited : status;
}

/* The call that is run is the one inside of the key call, so that the stream and clock it was given are seen there. */
static table_status run_in_own_workspace(struct call *inner, void *context) {
    const struct key_run *run = context;
    void *workspace = NULL, *staging = NULL;
    table_status status = inner->backend->allocate(run->call->layout.bytes, &workspace);
    if (status != TABLE_OK)
        return status;
    if (run->call->staged)
        status = inner->backend->allocate(run->call->staging.bytes, &staging);
    if (status == TABLE_OK)
        status = run_staged(run, staging, workspace);
    if (staging)
        inner->backend->release(staging);
    inner->backend->release(workspace);
    return status;
}

static table_status run_at_once(struct key_call *call, key_work *work, const void *plan) {
    struct key_run run = {.call = call, .work = work, .plan = plan};
    if (call->report)
        *call->report = (struct table_pipeline_report){.backend = call->call.backend->id,
                                                       .threads = key_call_on_host(call) ? 1 : 0}; /* so far */
    return run_and_wait(&call->call, call->report != NULL, run_in_own_workspace, &run);
}

static table_status queue(struct key_call *call, key_work *work, const void *plan) {
    table_status status = TABLE_OK;
    if (call->layout.bytes > 0)
        status = validate_workspace(call->options.workspace, call->options.workspace_bytes, call->layout.bytes);
    return status == TABLE_OK ? work(call, plan, call->options.workspace) : status;
}

table_status key_call_end(struct key_call *call, key_work *work, const void *plan) {
    if (call->form.form == CALL_AND_WAIT)
        return run_at_once(call, work, plan);
    if (!call->form.asks)
        return queue(call, work, plan);
    *call->form.bytes = call->layout.bytes;
    return TABLE_OK;
}
