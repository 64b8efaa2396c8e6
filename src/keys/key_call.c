#include "key_call.h"

#include "status.h"

table_status key_call_begin(struct key_call *call, const table_pipeline_options *options, struct key_form form) {
    *call = (struct key_call){.form = form};
#ifdef TUPLESCAN_WITHOUT_KEYS
    return status_fail(TABLE_ERROR_BACKEND,
                       "the library was built without histograms, digit counts and sorts (-Dkeys)");
#endif
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
    return validate_reserved("options", options->reserved, RESERVED_WORDS(options));
}

table_status key_call_column(const char *name, const struct table_view *view, struct table_view *checked) {
    TRY(validate_view(name, view, checked));
    if (checked->columns != 1)
        return status_fail(TABLE_ERROR_SHAPE, "%s->columns is %zu, and one column is needed", name, checked->columns);
    if (checked->stride != 1)
        return status_fail(TABLE_ERROR_SHAPE, "%s->stride is %td, and the values must lie side by side", name,
                           checked->stride);
    return TABLE_OK;
}

/* In the place of tables whose memory is not known while they are planned: the workspace of a scan depends on which of
 * its tables are there, and on whether they are one. */
static _Alignas(TABLE_WORKSPACE_ALIGNMENT) char stand_ins[2][TABLE_WORKSPACE_ALIGNMENT];

table_status key_scan_plan(struct key_call *call, const struct table_view *in, const struct table_view *out,
                           bool totals, struct key_scan *planned) {
    struct scan *scan = &planned->scan;
    *scan = (struct scan){.in = *in,
                          .out = *out,
                          .ranges = {.count = 1},
                          .element = element_of(TABLE_SUM, out->type, 0),
                          .exclusive = !totals,
                          .threads = call->call.scan.threads};
    if (!in->data)
        scan->in.data = stand_ins[0];
    if (!out->data)
        scan->out.data = stand_ins[1];
    plan_chunks(scan);
    if (totals)
        scan->out.data = NULL;
    TRY(plan_make(call->call.backend, scan, TABLE_STRATEGY_AUTO, totals, &planned->plan));
    planned->place = layout_place(&call->layout, planned->plan.bytes, 1);
    return TABLE_OK;
}

table_status key_scan_run(const struct key_call *call, const struct key_scan *planned, const void *in, void *out,
                          const void *carry_in, void *carry_out, char *workspace) {
    struct scan scan = planned->scan;
    scan.in.data = (void *)(uintptr_t)in;
    if (scan.out.data)
        scan.out.data = out;
    scan.carry_in = carry_in;
    scan.carry_out = carry_out;
    scan.stream = call->call.scan.stream;
    return pipeline_run(call->call.backend, &planned->plan, &scan, layout_at(workspace, planned->place));
}

static void stage(struct key_call *call, const struct key_table *table) {
    struct table_view *view = table->view;
    const size_t size = table_type_size(view->type);
    struct staged_table staged = {.data = &view->data,
                                  .rows = view->rows,
                                  .width = view->columns * size,
                                  .pitch = (size_t)view->stride * size,
                                  .read = table->role == KEYS_READ || table->role == KEYS_MOVED,
                                  .written = table->role != KEYS_READ};
    if (!view->data || view->rows == 0)
        return;
    staged.place = layout_place(&call->staging, staged.rows, staged.width);
    call->tables[call->staged_tables++] = staged;
    view->stride = (ptrdiff_t)view->columns;
}

static table_status check_apart(const struct key_table *tables, unsigned count) {
    for (unsigned i = 1; i < count; i++)
        for (unsigned j = 0; j < i; j++)
            if (tables[i].role != KEYS_READ || tables[j].role != KEYS_READ)
                TRY(validate_apart(tables[i].name, tables[i].view, tables[j].name, tables[j].view,
                                   j == 0 && tables[i].role == RESULT_IN_PLACE));
    return TABLE_OK;
}

static table_status check_side(const struct key_call *call, const struct key_table *table) {
    const void *const data = table->view->data;
    if (table->role == ROW_BESIDE)
        return validate_reach(call->call.backend, table->name, data);
    const int device = data && call->call.scan.in.rows > 0 ? backend_device_of(data) : call->call.device;
    if (device != call->call.device)
        return status_fail(TABLE_ERROR_BACKEND, "%s is not on the same side: devices %d and %d (-1: the host)",
                           table->name, device, call->call.device);
    return TABLE_OK;
}

table_status key_call_tables(struct key_call *call, const struct key_table *tables, unsigned count) {
    const struct table_view *keys = tables[0].view;
    const void *decides = keys->rows > 0 || count < 2 ? keys->data : tables[1].view->data;
    TRY(check_apart(tables, count));
    TRY(validate_backend(decides, NULL, call->options.backend, &call->call));
    call->staged = !key_call_on_host(call) && call->call.device < 0 && decides;
    if (call->staged && call->form.form == CALL_ON_STREAM)
        return status_fail(TABLE_ERROR_BACKEND, "%s lie in host memory, and a stream form needs device memory on CUDA",
                           tables[0].name);
    call->call.scan.in = *keys;
    for (unsigned i = 1; i < count; i++)
        TRY(check_side(call, &tables[i]));
    for (unsigned i = 0; i < count && call->staged; i++)
        if (tables[i].role != ROW_BESIDE)
            stage(call, &tables[i]);
    return TABLE_OK;
}

static table_status mark(const struct key_call *call, unsigned number) {
    return call->call.scan.clock ? call->call.backend->clock_mark(&call->call.scan, number) : TABLE_OK;
}

static table_status report_steps(struct key_call *call) {
    const struct backend *backend = call->call.backend;
    const struct scan *scan = &call->call.scan;
    double seconds[STAGES] = {0};
    if (!scan->clock)
        return TABLE_OK;
    TRY(backend->wait(scan));
    for (unsigned step = 0; step < STAGES; step++)
        TRY(backend->clock_seconds(scan, step, step + 1, &seconds[step]));
    if (backend->clock_threads)
        call->report->threads = backend->clock_threads(scan);
    call->report->count_seconds += seconds[0];
    call->report->scan_seconds += seconds[1];
    call->report->move_seconds += seconds[2];
    call->report->seconds += seconds[0] + seconds[1] + seconds[2];
    return TABLE_OK;
}

table_status key_call_steps(struct key_call *call, key_work *const steps[STAGES], void *plan, char *workspace) {
    TRY(mark(call, 0));
    for (unsigned step = 0; step < STAGES; step++) {
        if (steps[step])
            TRY(steps[step](call, plan, workspace));
        TRY(mark(call, step + 1));
    }
    return report_steps(call);
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
    void *plan, *staging;
};

/* The work between the copies of staged tables, for which run_in_workspace() waits. The call that is run is the one
 * inside of the key call, so that the stream and clock it was given are seen there. */
static table_status run_staged(struct call *inner, void *context, char *workspace) {
    (void)inner;
    const struct key_run *run = context;
    struct key_call *call = run->call;
    void *host[STAGED_MOST];
    for (unsigned i = 0; i < call->staged_tables; i++) {
        host[i] = *call->tables[i].data;
        *call->tables[i].data = (char *)run->staging + call->tables[i].place;
    }
    table_status status = copy_staged(call, host, false);
    if (status == TABLE_OK)
        status = run->work(call, run->plan, workspace);
    if (status == TABLE_OK)
        status = copy_staged(call, host, true);
    for (unsigned i = 0; i < call->staged_tables; i++)
        *call->tables[i].data = host[i];
    return status;
}

static table_status run_in_own_workspace(struct call *inner, void *context) {
    struct key_run *run = context;
    table_status status =
        run->call->staged ? inner->backend->allocate(run->call->staging.bytes, &run->staging) : TABLE_OK;
    if (status == TABLE_OK)
        status = run_in_workspace(inner, run->call->layout.bytes, run_staged, run);
    if (run->staging)
        inner->backend->release(run->staging);
    return status;
}

static table_status run_at_once(struct key_call *call, key_work *work, void *plan) {
    struct key_run run = {.call = call, .work = work, .plan = plan};
    if (call->report)
        *call->report = (struct table_pipeline_report){.backend = call->call.backend->id,
                                                       .chunk_length = call->chunk_length,
                                                       .chunks = call->chunks,
                                                       .threads = key_call_on_host(call) ? 1 : 0}; /* so far */
    return run_and_wait(&call->call, call->report != NULL, run_in_own_workspace, &run);
}

static table_status queue(struct key_call *call, key_work *work, void *plan) {
    if (call->layout.bytes > 0)
        TRY(validate_workspace(call->options.workspace, call->options.workspace_bytes, call->layout.bytes));
    return work(call, plan, call->options.workspace);
}

table_status key_call_end(struct key_call *call, key_work *work, void *plan) {
    if (call->layout.too_large || call->staging.too_large)
        return status_fail(TABLE_ERROR_TOO_LARGE, "the workspace for %zu keys does not fit in memory",
                           call->call.scan.in.rows);
    if (call->form.form == CALL_AND_WAIT)
        return run_at_once(call, work, plan);
    if (!call->form.asks)
        return queue(call, work, plan);
    *call->form.bytes = call->layout.bytes;
    return TABLE_OK;
}
