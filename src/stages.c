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
    table_status status = TABLE_OK;
    if (needs_copy(scan, work)) {
        seeds = workspace + work->plan.bytes;
        status = backend->copy(scan, seeds, work->seeds.data, bytes_of_seeds(scan, work));
    }
    return status == TABLE_OK ? backend->stage3_global_pass(scan, seeds) : status;
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

/* The finding of stage 3 goes by way of a word of the backend, as in the pipeline. */
static table_status run_stage_checked(struct call *call, void *context, char *workspace) {
    const struct stage_work *work = context;
    const struct backend *backend = call->backend;
    const struct scan *scan = &call->scan;
    struct scan inner = *scan;
    table_status status = TABLE_OK;
    if (scan->first_overflow) {
        inner.first_overflow = (uint64_t *)(workspace + work->plan.words_offset);
        status = backend->fill(scan, inner.first_overflow, 0xff, sizeof(uint64_t)); /* TABLE_NO_OVERFLOW */
    }
    if (status == TABLE_OK)
        status = pipeline_mark(backend, scan, work->stage - 1, work->stage - 1);
    if (status == TABLE_OK)
        status = run_stage(backend, &inner, work, workspace);
    if (status == TABLE_OK)
        status = pipeline_mark(backend, scan, work->stage, work->stage);
    if (status == TABLE_OK && scan->first_overflow)
        status = backend->copy(scan, scan->first_overflow, inner.first_overflow, sizeof(uint64_t));
    return status;
}

static table_status report_stage(const struct call *call, const struct stage_work *work) {
    struct table_report *report = work->report;
    *report = run_report_head(call, work->plan.strategy);
    const table_status status = call->backend->clock_seconds(&call->scan, work->stage - 1, work->stage,
                                                             &report->stage_seconds[work->stage - 1]);
    report->seconds = report->stage_seconds[work->stage - 1];
    return status;
}

static table_status stage_at_once(struct call *call, void *context) {
    struct stage_work *work = context;
    size_t bytes;
    table_status status = plan_make(call->backend, &call->scan, call->strategy, true, &work->plan);
    if (status == TABLE_OK &&
        !checked_add(work->plan.bytes, needs_copy(&call->scan, work) ? bytes_of_seeds(&call->scan, work) : 0, &bytes))
        status =
            status_fail(TABLE_ERROR_TOO_LARGE, "a copy of %zu rows of seeds does not fit in memory", work->seeds.rows);
    if (status == TABLE_OK)
        status = run_in_workspace(call, bytes, run_stage_checked, work);
    return status == TABLE_OK && work->report ? report_stage(call, work) : status;
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
    table_status status = validate_seeds_view(seeds, checked);
    if (status != TABLE_OK)
        return status;
    if (checked->rows != rows || checked->columns != scan->in.columns || checked->stride != (ptrdiff_t)checked->columns)
        return status_fail(TABLE_ERROR_SHAPE, "seeds is %zu x %zu with stride %td; %zu x %zu side by side are needed",
                           checked->rows, checked->columns, checked->stride, rows, scan->in.columns);
    status = validate_apart("seeds", checked, "in", &scan->in, false);
    if (status == TABLE_OK && scan->out.data)
        status = validate_apart("seeds", checked, "out", &scan->out, false);
    if (status == TABLE_OK && scan->in.rows > 0 && rows > 0 && backend_device_of(checked->data) != call->device)
        return status_fail(TABLE_ERROR_BACKEND, "seeds is not on the same side as the table");
    return status == TABLE_OK ? validate_reach(call->backend, "seeds", checked->data) : status;
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
    const table_status status =
        refuse_host_tables(CALLER_STAGE, call->backend->copy_rows && call->device < 0 && call->scan.in.rows > 0);
    work->report = options ? options->report : NULL;
    return status == TABLE_OK ? run_and_wait(call, work->report != NULL, stage_at_once, work) : status;
}

/* The stages know no carries: those are rows of the seeds. */
static table_status without_carries(const table_scan_options *options, struct table_scan_options *inner) {
    *inner = (struct table_scan_options){0};
    if (options)
        *inner = *options;
    inner->carry_in = NULL;
    inner->carry_out = NULL;
    return refuse(CALLER_STAGE, inner);
}

table_status table_stage1_local_counts(const table_view *in, const table_view *seeds,
                                       const table_scan_options *options) {
    struct table_scan_options inner;
    struct stage_work work = {.stage = 1};
    struct call call;
    table_status status = without_carries(options, &inner);
    if (status != TABLE_OK)
        return status;
    if (!in || !seeds)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", in ? "seeds" : "in");
    if (table_type_size(seeds->type) == 0)
        return status_fail(TABLE_ERROR_TYPE, "seeds->type %d is no element type", (int)seeds->type);
    inner.first_overflow = NULL;
    const struct table_view nowhere = {.columns = in->columns, .type = seeds->type};
    status = validate_scan(NULL, in, &nowhere, &inner, CALL_FOR_TOTALS, &call);
    if (status == TABLE_OK)
        status = validate_seeds(&call, seeds, &work.seeds);
    return status == TABLE_OK ? run_stage_call(&call, &work, options) : status;
}

table_status table_stage2_scan_totals(const table_view *seeds, const table_scan_options *options) {
    struct table_scan_options inner;
    struct stage_work work = {.stage = 2};
    struct call call;
    struct table_view checked;
    table_status status = without_carries(options, &inner);
    if (status == TABLE_OK)
        status = validate_seeds_view(seeds, &checked);
    if (status != TABLE_OK)
        return status;
    if ((checked.rows == 0 && checked.columns > 0) || checked.stride != (ptrdiff_t)checked.columns)
        return status_fail(TABLE_ERROR_SHAPE, "seeds has %zu rows and stride %td for %zu columns", checked.rows,
                           checked.stride, checked.columns);
    if (table_sum_type(checked.type) != checked.type)
        return status_fail(TABLE_ERROR_TYPE, "seeds->type is %s, which is not one of sums",
                           table_type_name(checked.type));
    inner.first_overflow = NULL;
    inner.reverse = inner.skip_nan = 0; /* seeds are counted as units are, from the first one that was summed */
    status = validate_scan(NULL, seeds, seeds, &inner, CALL_AND_WAIT, &call);
    if (status == TABLE_OK)
        status = validate_seeds_type(&call, seeds->type);
    if (status != TABLE_OK)
        return status;
    work.seeds = call.scan.in;
    return run_stage_call(&call, &work, options);
}

table_status table_stage3_global_pass(const table_view *in, const table_view *seeds, const table_view *out,
                                      const table_scan_options *options) {
    struct table_scan_options inner;
    struct stage_work work = {.stage = 3};
    struct call call;
    table_status status = without_carries(options, &inner);
    if (status == TABLE_OK)
        status = validate_scan(NULL, in, out, &inner, CALL_AND_WAIT, &call);
    if (status == TABLE_OK && seeds)
        status = validate_seeds_type(&call, seeds->type);
    if (status == TABLE_OK)
        status = validate_seeds(&call, seeds, &work.seeds);
    return status == TABLE_OK ? run_stage_call(&call, &work, options) : status;
}
