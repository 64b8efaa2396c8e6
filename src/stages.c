/* The calls of tuplescan/stages.h: each stage on its own. */
#include <tuplescan/stages.h>

#include "checked.h"
#include "refusals.h"
#include "run.h"
#include "status.h"

/* What one stage needs beside the call. */
struct stage_work {
    unsigned stage; /* 1 to 3 */
    struct table_view seeds;
    struct table_report *report;
    struct plan plan;
};

/* Whether stage 3 may leave something else in its rows of seeds, which are the caller's: it is given others. */
static bool needs_copy(const struct scan *scan, const struct stage_work *work) {
    return work->stage == 3 && scan->exclusive && scan->element->ordered;
}
static size_t bytes_of_seeds(const struct scan *scan, const struct stage_work *work) {
    return work->seeds.rows * scan_row_bytes(scan);
}

/* Stage 3. The copy lies after all that the plan has in the workspace. */
static table_status run_stage3(const struct backend *backend, const struct scan *scan, const struct stage_work *work,
                               char *workspace) {
    void *seeds = work->seeds.data;
    if (needs_copy(scan, work)) {
        seeds = workspace + work->plan.bytes;
        TRY(backend->copy(scan, seeds, work->seeds.data, bytes_of_seeds(scan, work)));
    }
    return backend->stage3_global_pass(scan, seeds);
}

static table_status run_stage(const struct backend *backend, const struct scan *scan, const struct stage_work *work,
                              void *workspace) {
    switch (work->stage) {
    case 1:
        return scan->chunks > 0 ? backend->stage1_local_counts(scan, work->seeds.data) : TABLE_OK;
    case 2:
        if (scan->chunks == 0)
            return TABLE_OK;
        if (work->plan.strategy == TABLE_STRATEGY_HOST)
            return stage2_host_copied(backend, scan, work->seeds.data, work->seeds.rows);
        return stage2_recursive(backend, &work->plan, scan, work->seeds.data, work->seeds.rows, 0, workspace);
    default:
        return scan->chunks > 0 ? run_stage3(backend, scan, work, workspace) : TABLE_OK;
    }
}

static table_status run_stage_checked(struct call *call, void *context, char *workspace) {
    const struct stage_work *work = context;
    const struct backend *backend = call->backend;
    const struct scan *scan = &call->scan;
    const struct plan_place *place = &work->plan.named[NAMED_FIRST_OVERFLOW];
    struct plan_memory named[NAMED_MOST];
    struct scan inner = *scan;
    if (scan->first_overflow) {
        plan_list_named(scan, 1, named);
        inner.first_overflow = plan_named_at(&named[NAMED_FIRST_OVERFLOW], place, workspace);
        TRY(backend->fill(scan, inner.first_overflow, 0xff, sizeof(uint64_t))); /* TABLE_NO_OVERFLOW */
    }
    TRY(pipeline_mark(backend, scan, work->stage - 1, work->stage - 1));
    TRY(run_stage(backend, &inner, work, workspace));
    TRY(pipeline_mark(backend, scan, work->stage, work->stage));
    return scan->first_overflow
               ? plan_move_named(backend, scan, named, work->plan.named, 1u << NAMED_FIRST_OVERFLOW, true, workspace)
               : TABLE_OK;
}

static table_status report_stage(const struct call *call, const struct stage_work *work) {
    struct table_report *report = work->report;
    *report = run_report_head(call, work->plan.strategy);
    TRY(call->backend->clock_seconds(&call->scan, work->stage - 1, work->stage,
                                     &report->stage_seconds[work->stage - 1]));
    report->seconds = report->stage_seconds[work->stage - 1];
    return TABLE_OK;
}

static table_status stage_at_once(struct call *call, void *context) {
    struct stage_work *work = context;
    size_t bytes;
    TRY(plan_make(call->backend, &call->scan, call->strategy, true, &work->plan));
    if (!checked_add(work->plan.bytes, needs_copy(&call->scan, work) ? bytes_of_seeds(&call->scan, work) : 0, &bytes))
        return status_fail(TABLE_ERROR_TOO_LARGE, "a copy of %zu rows of seeds does not fit in memory",
                           work->seeds.rows);
    TRY(run_in_workspace(call, bytes, run_stage_checked, work));
    return work->report ? report_stage(call, work) : TABLE_OK;
}

/* A table of no columns has seeds without rows. */
static table_status validate_seeds_view(const struct table_view *seeds, struct table_view *checked) {
    return seeds && seeds->columns == 0 ? validate_table("seeds", seeds, checked)
                                        : validate_view("seeds", seeds, checked);
}

/* The seeds must be what the table asks for, side by side, on the same side, and apart from the tables. */
static table_status validate_seeds(const struct call *call, const struct table_view *seeds,
                                   struct table_view *checked) {
    const struct scan *scan = &call->scan;
    const size_t rows = scan->in.columns > 0 ? scan->chunks + 1 : 0;
    TRY(validate_seeds_view(seeds, checked));
    if (checked->rows != rows || checked->columns != scan->in.columns || checked->stride != (ptrdiff_t)checked->columns)
        return status_fail(TABLE_ERROR_SHAPE, "seeds is %zu x %zu with stride %td; %zu x %zu side by side are needed",
                           checked->rows, checked->columns, checked->stride, rows, scan->in.columns);
    TRY(validate_apart("seeds", checked, "in", &scan->in, false));
    if (scan->out.data)
        TRY(validate_apart("seeds", checked, "out", &scan->out, false));
    if (scan->in.rows > 0 && rows > 0 && backend_device_of(checked->data) != call->device)
        return status_fail(TABLE_ERROR_BACKEND, "seeds is not on the same side as the table");
    return validate_reach(call->backend, "seeds", checked->data);
}

static table_status validate_seeds_type(const struct call *call, table_type type) {
    const table_type kept = call->scan.element->type;
    return type == kept
               ? TABLE_OK
               : status_fail(TABLE_ERROR_TYPE, "seeds->type is %s, and sums of out->type %s are kept in %s",
                             table_type_name(type), table_type_name(call->scan.out.type), table_type_name(kept));
}

/* `work` has its seeds. */
static table_status run_stage_call(struct call *call, struct stage_work *work, const table_scan_options *options) {
    TRY(refuse_host_tables(CALLER_STAGE, call->backend->copy_rows && call->device < 0 && call->scan.in.rows > 0));
    work->report = options_of(options)->report;
    return run_and_wait(call, work->report != NULL, stage_at_once, work);
}

/* The stages know no carries: those are rows of the seeds. */
static table_status without_carries(const table_scan_options *options, struct table_scan_options *inner) {
    *inner = *options_of(options);
    inner->carry_in = NULL;
    inner->carry_out = NULL;
    return refuse(CALLER_STAGE, inner);
}

table_status table_stage1_local_counts(const table_view *in, const table_view *seeds,
                                       const table_scan_options *options) {
    struct table_scan_options inner;
    struct stage_work work = {.stage = 1};
    struct call call;
    TRY(without_carries(options, &inner));
    if (!in || !seeds)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", in ? "seeds" : "in");
    if (table_type_size(seeds->type) == 0)
        return status_fail(TABLE_ERROR_TYPE, "seeds->type %d is no element type", (int)seeds->type);
    inner.first_overflow = NULL;
    const struct table_view nowhere = {.columns = in->columns, .type = seeds->type};
    TRY(validate_scan(NULL, in, &nowhere, &inner, CALL_FOR_TOTALS, &call));
    TRY(validate_seeds(&call, seeds, &work.seeds));
    return run_stage_call(&call, &work, options);
}

table_status table_stage2_scan_totals(const table_view *seeds, const table_scan_options *options) {
    struct table_scan_options inner;
    struct stage_work work = {.stage = 2};
    struct call call;
    struct table_view checked;
    TRY(without_carries(options, &inner));
    TRY(validate_seeds_view(seeds, &checked));
    if ((checked.rows == 0 && checked.columns > 0) || checked.stride != (ptrdiff_t)checked.columns)
        return status_fail(TABLE_ERROR_SHAPE, "seeds has %zu rows and stride %td for %zu columns", checked.rows,
                           checked.stride, checked.columns);
    if (table_sum_type(checked.type) != checked.type)
        return status_fail(TABLE_ERROR_TYPE, "seeds->type is %s, which is not one of sums",
                           table_type_name(checked.type));
    inner.first_overflow = NULL;
    inner.reverse = inner.skip_nan = 0; /* seeds are counted as units are, from the first one that was summed */
    TRY(validate_scan(NULL, seeds, seeds, &inner, CALL_AND_WAIT, &call));
    TRY(validate_seeds_type(&call, seeds->type));
    work.seeds = call.scan.in;
    return run_stage_call(&call, &work, options);
}

table_status table_stage3_global_pass(const table_view *in, const table_view *seeds, const table_view *out,
                                      const table_scan_options *options) {
    struct table_scan_options inner;
    struct stage_work work = {.stage = 3};
    struct call call;
    TRY(without_carries(options, &inner));
    TRY(validate_scan(NULL, in, out, &inner, CALL_AND_WAIT, &call));
    if (seeds)
        TRY(validate_seeds_type(&call, seeds->type));
    TRY(validate_seeds(&call, seeds, &work.seeds));
    return run_stage_call(&call, &work, options);
}
