#include "run.h"

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

struct table_report run_report_head(const struct call *call, table_strategy strategy) {
    return (struct table_report){.backend = call->backend->id,
                                 .strategy = strategy,
                                 .units = call->scan.chunks,
                                 .threads =
                                     call->backend->clock_threads ? call->backend->clock_threads(&call->scan) : 0};
}

table_status run_report(const struct call *call, table_strategy strategy, struct table_report *report) {
    const struct backend *backend = call->backend;
    table_status status = TABLE_OK;
    *report = run_report_head(call, strategy);
    for (unsigned stage = 0; stage < STAGES && status == TABLE_OK; stage++)
        if (strategy != TABLE_STRATEGY_FUSED)
            status = backend->clock_seconds(&call->scan, stage, stage + 1, &report->stage_seconds[stage]);
    if (status == TABLE_OK)
        status = backend->clock_seconds(&call->scan, 0, STAGES, &report->seconds);
    return status;
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

table_status run_take_findings(const struct backend *backend, const struct scan *scan, struct findings *found) {
    table_status status = TABLE_OK;
    if (scan->first_overflow)
        status = backend->copy(scan, &found->first_overflow, scan->first_overflow, sizeof(uint64_t));
    if (status == TABLE_OK && scan->load.nans)
        status = backend->copy(scan, &found->nans, scan->load.nans, sizeof(uint64_t));
    const table_status waited = backend->wait(scan);
    return status == TABLE_OK ? waited : status;
}

table_status run_put_findings(const struct backend *backend, const struct scan *scan, const struct findings *found) {
    table_status status = TABLE_OK;
    if (!scan_finds(scan))
        return TABLE_OK;
    if (scan->first_overflow)
        status = backend->copy(scan, scan->first_overflow, &found->first_overflow, sizeof(uint64_t));
    if (status == TABLE_OK && scan->load.nans)
        status = backend->copy(scan, scan->load.nans, &found->nans, sizeof(uint64_t));
    const table_status waited = backend->wait(scan);
    return status == TABLE_OK ? waited : status;
}
