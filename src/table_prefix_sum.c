/* The calls of tuplescan/prefix_sum.h: validate, plan, run. */
#include "checked.h"
#include "map_rows.h"
#include "parts/batch.h"
#include "refusals.h"
#include "run.h"
#include "state/state_scan.h"
#include "status.h"

/* Small tables are scanned in less time than it takes to allocate: on the host they have their workspace here. */
enum { WORKSPACE_ON_STACK = 2048 };

/* The workspace of a call: rows of maps, and what the plan has. */
static table_status plan_call(const struct call *call, bool totals_only, struct plan *plan, size_t *rows,
                              size_t *bytes) {
    const table_status status = batch_plan(call->backend, &call->scan, call->strategy, totals_only, plan);
    if (status != TABLE_OK)
        return status;
    if (!map_rows_bytes(call->backend, &call->scan, rows) || !checked_add(*rows, plan->bytes, bytes))
        return status_fail(TABLE_ERROR_TOO_LARGE, "the carries of %zu columns cannot be addressed",
                           call->scan.in.columns);
    return TABLE_OK;
}

/* What only a state that was looked at tells. */
static table_status look_at_beginning(struct call *call) {
    const struct scan *scan = &call->scan;
    const table_status status = state_inspect(call);
    if (status == TABLE_OK && scan->state && !scan->begins && scan->factors.shifted && !scan->factors.first)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->state has begun, and is not let through by "
                                                 "shifted_coefficients without first_coefficients");
    return status;
}

static table_status run_planned(struct call *call, const struct plan *plan, size_t rows, char *workspace) {
    const struct map_rows carries = map_rows_begin(call->backend, &call->scan, workspace);
    const table_status status = batch_run(call->backend, plan, &call->scan, workspace + rows);
    if (status == TABLE_OK)
        map_rows_end(&carries, &call->scan);
    return status;
}

static table_status scan_at_once(struct call *call, void *context) {
    _Alignas(TABLE_WORKSPACE_ALIGNMENT) char small[WORKSPACE_ON_STACK];
    struct table_report *report = context;
    const struct backend *backend = call->backend;
    struct plan plan;
    size_t rows = 0, bytes = 0;
    void *workspace = NULL, *allocated = NULL;
    table_status status = look_at_beginning(call);
    if (status == TABLE_OK)
        status = plan_call(call, call->scan.out.data == NULL, &plan, &rows, &bytes);
    if (status == TABLE_OK && !backend->copy_rows && bytes <= sizeof small)
        workspace = small;
    else if (status == TABLE_OK)
        status = backend->allocate(bytes, &allocated);
    if (status != TABLE_OK)
        return status;
    workspace = allocated ? allocated : workspace;
    status = run_planned(call, &plan, rows, workspace);
    const table_status waited = backend->wait(&call->scan);
    status = status == TABLE_OK ? waited : status;
    if (status == TABLE_OK && report)
        status = run_report(call, plan.strategy, report);
    if (allocated)
        backend->release(allocated);
    return status;
}

static table_status append_totals(struct call *call, struct table_report *report) {
    struct state_image image = {0};
    table_status status = TABLE_OK;
    if (status == TABLE_OK && report)
        status = call->backend->clock_mark(&call->scan, 0);
    if (status == TABLE_OK)
        status = state_image_open(call, &image);
    if (status == TABLE_OK)
        status = state_image_add(&image, &call->scan);
    if (status == TABLE_OK)
        status = state_image_keep(call, &image);
    state_image_close(&image);
    return status;
}

/* Totals that a state goes on with, or is fed: stage 1, and additions on the host. */
static table_status totals_at_once(struct call *call, void *context) {
    struct table_report *report = context;
    void *memory = NULL;
    size_t rows = 0;
    table_status status = look_at_beginning(call);
    if (status == TABLE_OK && !map_rows_bytes(call->backend, &call->scan, &rows))
        status =
            status_fail(TABLE_ERROR_TOO_LARGE, "the carries of %zu columns cannot be addressed", call->scan.in.columns);
    if (status == TABLE_OK && rows > 0)
        status = call->backend->allocate(rows, &memory);
    if (status != TABLE_OK)
        return status;
    const struct map_rows carries = map_rows_begin(call->backend, &call->scan, memory);
    status = append_totals(call, report);
    if (status == TABLE_OK)
        map_rows_end(&carries, &call->scan);
    if (memory)
        call->backend->release(memory);
    for (unsigned mark = 1; mark <= STAGES && status == TABLE_OK && report; mark++)
        status = call->backend->clock_mark(&call->scan, mark);
    if (status == TABLE_OK && report)
        status = call->backend->wait(&call->scan);
    return status == TABLE_OK && report ? run_report(call, TABLE_STRATEGY_HOST, report) : status;
}

table_status run_scan(struct call *call, table_report *report) {
    if (call->backend->copy_rows && call->device < 0)
        return scan_is_batch(&call->scan) ? batch_through_device(call, report) : run_through_device(call, report);
    const bool appends = call->form == CALL_FOR_TOTALS && call->scan.state;
    return run_and_wait(call, report != NULL, appends ? totals_at_once : scan_at_once, report);
}

table_status table_prefix_sum(const table_view *in, const table_view *out, const table_scan_options *options) {
    struct call call;
    const table_status status = validate_scan(in, out, options, CALL_AND_WAIT, &call);
    return status == TABLE_OK ? run_scan(&call, options ? options->report : NULL) : status;
}

table_status table_column_totals(const table_view *in, table_type out_type, void *totals,
                                 const table_scan_options *options) {
    struct table_scan_options inner = {0};
    struct call call;
    if (options)
        inner = *options;
    if (!in || (!totals && !inner.state))
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", in ? "totals" : "in");
    table_status status = refuse(CALLER_TOTALS, &inner);
    if (status != TABLE_OK)
        return status;
    if (table_type_size(out_type) == 0)
        return status_fail(TABLE_ERROR_TYPE, "out_type %d is no element type", (int)out_type);
    inner.carry_out = totals;
    const struct table_view nowhere = {.columns = in->columns, .type = out_type};
    status = validate_scan(in, &nowhere, &inner, CALL_FOR_TOTALS, &call);
    return status == TABLE_OK ? run_scan(&call, inner.report) : status;
}

table_status run_workspace(struct call *call, size_t *bytes) {
    struct plan plan;
    size_t rows;
    return plan_call(call, false, &plan, &rows, bytes);
}

table_status run_on_stream(struct call *call, const table_scan_options *options) {
    struct plan plan;
    size_t rows = 0, bytes = 0;
    table_status status = plan_call(call, false, &plan, &rows, &bytes);
    if (status == TABLE_OK)
        status = validate_workspace(options ? options->workspace : NULL, options ? options->workspace_bytes : 0, bytes);
    if (status == TABLE_OK && !call->backend->copy_rows)
        status = look_at_beginning(call);
    return status == TABLE_OK ? run_planned(call, &plan, rows, options ? options->workspace : NULL) : status;
}

table_status table_prefix_sum_workspace(const table_view *in, const table_view *out, const table_scan_options *options,
                                        size_t *bytes) {
    struct call call;
    size_t needed = 0;
    if (!bytes)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
    table_status status = validate_scan(in, out, options, CALL_ON_STREAM, &call);
    if (status == TABLE_OK)
        status = run_workspace(&call, &needed);
    if (status == TABLE_OK)
        *bytes = needed;
    return status;
}

table_status table_prefix_sum_async(const table_view *in, const table_view *out, const table_scan_options *options) {
    struct call call;
    const table_status status = validate_scan(in, out, options, CALL_ON_STREAM, &call);
    return status == TABLE_OK ? run_on_stream(&call, options) : status;
}

size_t table_devices(table_device *devices, size_t room) {
    if (room > 0)
        backend_cpu_device(&devices[0]);
    return 1 + backend_cuda_devices(room > 1 ? devices + 1 : NULL, room > 1 ? room - 1 : 0);
}

void table_trim_memory(void) { backend_cuda_trim(); }

const char *table_cuda_unavailable(void) {
    const char *reason = NULL;
    return backend_cuda(&reason) ? NULL : reason;
}
