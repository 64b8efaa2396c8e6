/* Scans of more than one range: by the backend at once, or range by range. */
#include "run.h"
#include "status.h"

static struct scan range_of(const struct backend *backend, const struct scan *scan, size_t number) {
    struct scan one = scan_first_range(scan);
    one.clock = NULL;
    scan_go_to_range(scan, number, backend_carry_bytes(backend, scan), &one);
    return one;
}

static bool by_backend(const struct backend *backend, const struct scan *scan, struct backend_batch *batch) {
    return (!scan_has_rows_beside(scan) || backend->batch_has_rows_beside) && scan->in.rows > 0 &&
           scan->in.columns > 0 && plan_reaches(backend, scan, scan->carry_in) &&
           plan_reaches(backend, scan, scan->carry_out) && plan_reaches(backend, scan, scan->first_overflow) &&
           plan_reaches(backend, scan, scan->load.nans) && backend->batch_plan(scan, batch);
}

table_status batch_plan(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                        struct plan *plan) {
    struct backend_batch batch = {0};
    const bool by_batch = by_backend(backend, scan, &batch);
    if (by_batch && !batch.may_be_refused) {
        *plan = (struct plan){.strategy = TABLE_STRATEGY_FUSED, .by_batch = true, .batch = batch, .bytes = batch.bytes};
        return TABLE_OK;
    }
    const struct scan one = range_of(backend, scan, 0);
    TRY(plan_make(backend, &one, strategy, false, plan));
    plan->by_batch = by_batch;
    plan->batch = batch;
    plan->bytes = by_batch && plan->bytes < batch.bytes ? batch.bytes : plan->bytes;
    return TABLE_OK;
}

/* What one range has left where the scan wants it, counted from its own first row. */
static table_status take_findings(const struct backend *backend, const struct scan *scan, size_t number,
                                  struct findings *all) {
    struct findings one = FINDINGS_NONE;
    TRY(backend->wait(scan)); /* words of the host are copied at once, not in the stream's order */
    TRY(run_move_findings(backend, scan, &one, false));
    findings_add(all, &one, (uint64_t)number * scan->in.rows * scan->in.columns);
    return TABLE_OK;
}

/* Any number of ranges for which nothing is written is done when one of them is. */
static bool is_nothing(const struct scan *scan) {
    return scan->in.columns == 0 || (scan->in.rows == 0 && !scan_has_rows_beside(scan) && !scan->carry_out);
}

static table_status one_by_one(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               void *workspace) {
    const size_t count = is_nothing(scan) ? 1 : scan->ranges.count;
    struct findings found = FINDINGS_NONE;
    for (size_t number = 0; number < count; number++) {
        const struct scan one = range_of(backend, scan, number);
        TRY(pipeline_run(backend, plan, &one, workspace));
        if (scan_finds(scan))
            TRY(take_findings(backend, scan, number, &found));
    }
    return run_move_findings(backend, scan, &found, true);
}

table_status batch_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                       void *workspace) {
    TRY(pipeline_mark(backend, scan, 0, 0));
    const table_status status = plan->by_batch ? backend->batch(scan, &plan->batch, workspace) : TABLE_ERROR_STRATEGY;
    TRY(status == TABLE_ERROR_STRATEGY ? one_by_one(backend, plan, scan, workspace) : status);
    return pipeline_mark(backend, scan, 1, STAGES);
}

static table_status put_findings(struct call *call, void *context) {
    return run_move_findings(call->backend, &call->scan, context, true);
}

table_status batch_through_device(struct call *call, table_report *report) {
    const struct scan *scan = &call->scan;
    const size_t row_bytes = backend_carry_bytes(call->backend, scan);
    struct findings found = FINDINGS_NONE;
    struct table_report sum = {0}, own;
    for (size_t number = 0; number < scan->ranges.count; number++) {
        struct call one = *call;
        struct findings more = FINDINGS_NONE;
        one.scan = scan_first_range(scan);
        scan_go_to_range(scan, number, row_bytes, &one.scan);
        scan_find_into(&one.scan, scan, &more);
        TRY(run_through_device(&one, report ? &own : NULL));
        findings_add(&found, &more, (uint64_t)number * scan->in.rows * scan->in.columns);
        if (report)
            run_add_report(&sum, &own);
    }
    if (scan_finds(scan))
        TRY(run_and_wait(call, false, put_findings, &found));
    if (report)
        *report = sum;
    return TABLE_OK;
}
