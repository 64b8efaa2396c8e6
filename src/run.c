#include "run.h"

#include <stdlib.h>

#include "checked.h"
#include "state/state_call.h"
#include "status.h"

/* Small tables are scanned in less time than it takes to allocate: on the host they have their workspace here. */
enum { WORKSPACE_ON_STACK = 2048 };

table_status run_and_wait(struct call *call, bool timed, run_work *work, void *context) {
    struct scan *scan = &call->scan;
    table_status status = call->backend->open(scan);
    if (status != TABLE_OK)
        return status;
    if (timed)
        status = call->backend->clock_open(scan);
    if (status == TABLE_OK)
        status = work(call, context);
    if (scan->clock)
        call->backend->clock_close(scan);
    call->backend->close(scan);
    return status;
}

table_status run_in_workspace(struct call *call, size_t bytes, run_in *work, void *context) {
    _Alignas(TABLE_WORKSPACE_ALIGNMENT) char small[WORKSPACE_ON_STACK];
    const struct backend *backend = call->backend;
    const bool is_small = bytes <= sizeof small && !backend->copy_rows;
    void *allocated = NULL;
    table_status status = is_small || bytes == 0 ? TABLE_OK : backend->allocate(bytes, &allocated);
    if (status != TABLE_OK)
        return status;
    status = work(call, context, is_small ? small : allocated);
    status = wait_after(backend, &call->scan, status);
    if (allocated)
        backend->release(allocated);
    return status;
}

struct table_report run_report_head(const struct call *call, table_strategy strategy) {
    return (struct table_report){.backend = call->backend->id,
                                 .strategy = strategy,
                                 .units = call->scan.chunks,
                                 .threads =
                                     call->backend->clock_threads ? call->backend->clock_threads(&call->scan) : 0};
}

table_status run_report(const struct call *call, table_strategy strategy, struct table_report *report) {
    const struct backend *backend = call->backend;
    *report = run_report_head(call, strategy);
    for (unsigned stage = 0; stage < STAGES; stage++)
        if (strategy != TABLE_STRATEGY_FUSED)
            TRY(backend->clock_seconds(&call->scan, stage, stage + 1, &report->stage_seconds[stage]));
    return backend->clock_seconds(&call->scan, 0, STAGES, &report->seconds);
}

void run_add_report(struct table_report *all, const struct table_report *one) {
    const struct table_report before = *all;
    *all = *one;
    all->seconds += before.seconds;
    all->transfer_seconds += before.transfer_seconds;
    all->threads = before.threads > one->threads ? before.threads : one->threads;
    for (unsigned stage = 0; stage < STAGES; stage++)
        all->stage_seconds[stage] += before.stage_seconds[stage];
}

table_status run_move_findings(const struct backend *backend, const struct scan *scan, struct findings *found,
                               bool back) {
    const struct {
        uint64_t *host, *own;
    } words[] = {{&found->first_overflow, scan->first_overflow}, {&found->nans, scan->load.nans}};
    table_status status = TABLE_OK;
    for (unsigned i = 0; i < sizeof words / sizeof *words && status == TABLE_OK; i++)
        if (words[i].own)
            status = backend->copy(scan, back ? words[i].own : words[i].host, back ? words[i].host : words[i].own,
                                   sizeof(uint64_t));
    const table_status waited = scan_finds(scan) ? backend->wait(scan) : TABLE_OK;
    return status == TABLE_OK ? waited : status;
}

/* Rows of maps in the place of the caller's rows of values, where the backend does not take these: what a recurrence or
 * product begins with, and what it carries out. They come first in a workspace. */
static size_t count_maps(const struct scan *scan) { return scan->in.columns * scan->ranges.count; }

static table_status map_rows_bytes(const struct call *call, size_t *bytes) {
    const struct scan *scan = &call->scan;
    const size_t alignment = TABLE_WORKSPACE_ALIGNMENT;
    size_t row;
    return checked_multiply(scan->ranges.count, scan->in.columns, &row) &&
                   checked_multiply(row, 2 * scan->element->bytes, &row) &&
                   checked_multiply(divide_up(row, alignment), alignment, bytes)
               ? TABLE_OK
               : status_fail(TABLE_ERROR_TOO_LARGE, "the carries of %zu columns cannot be addressed", scan->in.columns);
}

static void *begin_maps(struct scan *scan, char *memory) {
    const size_t count = count_maps(scan);
    return scan_begin_maps(scan, memory, memory + count * scan->element->bytes, count);
}

static table_status plan_call(const struct call *call, bool totals_only, struct planned *planned) {
    const struct scan *scan = &call->scan;
    struct plan *plan = &planned->plan;
    planned->appends = call->form == CALL_FOR_TOTALS && scan->state;
    if (planned->appends)
        *plan = (struct plan){.strategy = TABLE_STRATEGY_HOST};
    else if (scan_is_batch(scan))
        TRY(batch_plan(call->backend, scan, call->strategy, plan));
    else
        TRY(plan_make(call->backend, scan, call->strategy, totals_only, plan));
    planned->rows = 0;
    planned->bytes = plan->bytes;
    if (!scan->element->is_map || call->backend->takes_values)
        return TABLE_OK;
    TRY(map_rows_bytes(call, &planned->rows));
    return checked_add(planned->rows, plan->bytes, &planned->bytes)
               ? TABLE_OK
               : status_fail(TABLE_ERROR_TOO_LARGE, "a workspace for %zu columns cannot be addressed",
                             scan->in.columns);
}

static table_status append_totals(const struct call *call) {
    struct sum_state *state = NULL;
    table_status status = pipeline_mark(call->backend, &call->scan, 0, 0);
    if (status == TABLE_OK)
        status = state_fetch(call, &state);
    if (status == TABLE_OK)
        status = state_add_rows(call->backend, state, &call->scan);
    if (status == TABLE_OK)
        status = state_store(call, state);
    free(state);
    return status == TABLE_OK ? pipeline_mark(call->backend, &call->scan, 1, STAGES) : status;
}

static table_status run_planned(struct call *call, void *context, char *workspace) {
    const struct planned *planned = context;
    struct scan *scan = &call->scan;
    void *const carry_out = planned->rows > 0 ? begin_maps(scan, workspace) : NULL;
    char *const rest = planned->rows > 0 ? workspace + planned->rows : workspace; /* NULL where nothing is wanted */
    if (call->marks)
        TRY(call->backend->mark_extremes(scan, call->marks));
    if (planned->appends)
        TRY(append_totals(call));
    else if (scan_is_batch(scan))
        TRY(batch_run(call->backend, &planned->plan, scan, rest));
    else
        TRY(pipeline_run(call->backend, &planned->plan, scan, rest));
    if (carry_out)
        scan->element->give(carry_out, scan->carry_out, count_maps(scan));
    return TABLE_OK;
}

static table_status scan_at_once(struct call *call, void *context) {
    struct table_report *report = context;
    struct planned planned;
    if (call->scan.state)
        TRY(state_inspect(call));
    TRY(plan_call(call, call->scan.out.data == NULL, &planned));
    TRY(run_in_workspace(call, planned.bytes, run_planned, &planned));
    return report ? run_report(call, planned.plan.strategy, report) : TABLE_OK;
}

table_status run_scan(struct call *call, table_report *report) {
    if (call->backend->copy_rows && call->device < 0)
        return scan_is_batch(&call->scan) ? batch_through_device(call, report) : run_through_device(call, report);
    return run_and_wait(call, report != NULL, scan_at_once, report);
}

table_status run_begin(struct run_begun *run) {
    struct call *call = &run->call;
    run->workspace = NULL;
    run->is_open = false;
    TRY(call->backend->open(&call->scan));
    run->is_open = true;
    TRY(state_inspect(call));
    TRY(plan_call(call, false, &run->planned));
    if (run->planned.bytes > 0)
        TRY(call->backend->allocate(run->planned.bytes, &run->workspace));
    return run_planned(call, &run->planned, run->workspace);
}

table_status run_end(struct run_begun *run, table_status begun) {
    const struct backend *backend = run->call.backend;
    if (!run->is_open)
        return begun;
    const table_status status = wait_after(backend, &run->call.scan, begun);
    if (run->workspace)
        backend->release(run->workspace);
    backend->close(&run->call.scan);
    return status;
}

static table_status run_on_stream(struct call *call, const table_scan_options *options, size_t *bytes) {
    struct planned planned;
    TRY(plan_call(call, false, &planned));
    if (bytes) {
        *bytes = planned.bytes;
        return TABLE_OK;
    }
    TRY(validate_workspace(options->workspace, options->workspace_bytes, planned.bytes));
    if (call->scan.state && !call->backend->copy_rows)
        TRY(state_inspect(call));
    return run_planned(call, &planned, options->workspace);
}

table_status run_call(struct call *call, const table_scan_options *options, size_t *bytes) {
    options = options_of(options);
    return call->form == CALL_ON_STREAM ? run_on_stream(call, options, bytes) : run_scan(call, options->report);
}
