#include "key_call.h"

#include "status.h"

table_status key_call_begin(struct key_call *call, const table_pipeline_options *options, enum call_form form) {
    *call = (struct key_call){0};
    if (options)
        call->options = *options;
    options = &call->options;
    if ((unsigned)options->backend > TABLE_BACKEND_CUDA)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->backend %d is no backend", (int)options->backend);
    if (form == CALL_ON_STREAM && options->report)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->report: a stream form cannot wait for the times");
    if (form != CALL_ON_STREAM && (options->stream || options->workspace || options->workspace_bytes))
        return status_fail(TABLE_ERROR_ARGUMENT, "options->stream and workspace are for the stream forms");
    call->report = options->report;
    call->call.scan.threads = options->threads ? options->threads : backend_cpu_processors();
    call->call.scan.stream = options->stream;
    return TABLE_OK;
}

table_status key_call_column(const char *name, const struct table_view *view, struct table_view *checked) {
    const table_status status = validate_view(name, view, checked);
    if (status != TABLE_OK)
        return status;
    if (checked->columns != 1)
        return status_fail(TABLE_ERROR_SHAPE, "%s->columns is %zu, and one column is needed", name, checked->columns);
    if (checked->stride != 1)
        return status_fail(TABLE_ERROR_SHAPE, "%s->stride is %zu, and the values must lie side by side", name,
                           checked->stride);
    return TABLE_OK;
}

table_status key_call_backend(struct key_call *call, const char *name, const struct table_view *keys) {
    const table_status status = validate_backend(keys->data, NULL, call->options.backend, &call->call);
    if (status != TABLE_OK)
        return status;
    if (!key_call_on_host(call) && call->call.device < 0 && keys->rows > 0)
        return status_fail(TABLE_ERROR_BACKEND, "%s lie in host memory, and this needs device memory on CUDA", name);
    call->call.scan.in = *keys;
    return TABLE_OK;
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

table_status key_call_lacks(const struct key_call *call, const char *what) {
    return status_fail(TABLE_ERROR_BACKEND, "the %s backend has no %s yet",
                       call->call.backend->id == TABLE_BACKEND_CUDA ? "CUDA" : "CPU", what);
}

table_status key_call_layout(const struct key_call *call) {
    return call->layout.too_large
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
    call->report->count_seconds += seconds[0];
    call->report->scan_seconds += seconds[1];
    call->report->move_seconds += seconds[2];
    call->report->seconds += seconds[0] + seconds[1] + seconds[2];
    return status;
}

/* What run_and_wait() hands on. */
struct key_run {
    struct key_call *call;
    key_work *work;
    const void *plan;
};

/* The call that is run is the one inside of the key call, so that the stream and clock it was given are seen there. */
static table_status run_in_own_workspace(struct call *inner, void *context) {
    const struct key_run *run = context;
    void *workspace;
    table_status status = inner->backend->allocate(run->call->layout.bytes, &workspace);
    if (status != TABLE_OK)
        return status;
    status = run->work(run->call, run->plan, workspace);
    const table_status waited = inner->backend->wait(&inner->scan);
    inner->backend->release(workspace);
    return status == TABLE_OK ? waited : status;
}

table_status key_call_run(struct key_call *call, key_work *work, const void *plan) {
    struct key_run run = {.call = call, .work = work, .plan = plan};
    if (call->report)
        *call->report = (struct table_pipeline_report){.backend = call->call.backend->id,
                                                       .threads = key_call_on_host(call) ? call->call.scan.threads : 0};
    return run_and_wait(&call->call, call->report != NULL, run_in_own_workspace, &run);
}

table_status key_call_queue(struct key_call *call, key_work *work, const void *plan) {
    table_status status = TABLE_OK;
    if (call->layout.bytes > 0)
        status = validate_workspace(call->options.workspace, call->options.workspace_bytes, call->layout.bytes);
    return status == TABLE_OK ? work(call, plan, call->options.workspace) : status;
}
