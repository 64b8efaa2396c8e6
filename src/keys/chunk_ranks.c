#include "chunk_ranks.h"

#include "status.h"

enum { TOTALS, OFFSETS, RANKS };

table_status chunk_ranks_plan(struct key_call *call, const struct table_view *counters, const struct table_view *ranks,
                              struct chunk_ranks *plan) {
    const struct table_view row = {.rows = ranks->columns, .columns = 1, .stride = 1, .type = ranks->type};
    const size_t size = table_type_size(ranks->type);
    table_status status = TABLE_OK;
    *plan = (struct chunk_ranks){0};
    plan->totals_at = layout_place(&call->layout, ranks->columns, size);
    plan->offsets_at = layout_place(&call->layout, ranks->columns, size);
    plan->step[TOTALS] = key_call_scan(call, counters, ranks);
    plan->step[OFFSETS] = key_call_scan(call, &row, &row);
    plan->step[RANKS] = key_call_scan(call, counters, ranks);
    plan->step[TOTALS].out.data = NULL;
    plan->step[OFFSETS].exclusive = plan->step[RANKS].exclusive = true;
    for (unsigned i = 0; i < RANK_STEPS && status == TABLE_OK; i++) {
        status = plan_make(call->call.backend, &plan->step[i], TABLE_STRATEGY_AUTO, i == TOTALS, &plan->plan[i]);
        plan->workspace[i] = layout_place(&call->layout, plan->plan[i].bytes, 1);
    }
    return status;
}

table_status chunk_ranks_run(const struct key_call *call, const struct chunk_ranks *plan, void *counters, void *ranks,
                             char *workspace) {
    const struct backend *backend = call->call.backend;
    struct scan step[RANK_STEPS];
    const size_t row_bytes = plan->step[RANKS].out.columns * table_type_size(plan->step[RANKS].out.type);
    void *totals = workspace + plan->totals_at, *offsets = workspace + plan->offsets_at;
    table_status status = TABLE_OK;
    for (unsigned i = 0; i < RANK_STEPS; i++) {
        step[i] = plan->step[i];
        step[i].stream = call->call.scan.stream;
    }
    step[TOTALS].in.data = step[RANKS].in.data = counters;
    step[TOTALS].carry_out = totals;
    step[OFFSETS].in.data = totals;
    step[OFFSETS].out.data = offsets;
    step[RANKS].out.data = ranks;
    step[RANKS].carry_in = offsets;
    for (unsigned i = 0; i < RANK_STEPS && status == TABLE_OK; i++)
        status = pipeline_run(backend, &plan->plan[i], &step[i], workspace + plan->workspace[i]);
    if (status == TABLE_OK && plan->totals_copy)
        status = backend->copy(&call->call.scan, plan->totals_copy, totals, row_bytes);
    if (status == TABLE_OK && plan->offsets_copy)
        status = backend->copy(&call->call.scan, plan->offsets_copy, offsets, row_bytes);
    return status;
}

/* The calls of tuplescan/digit_counts.h. */

struct ranks_call {
    struct table_view counters, ranks;
    struct chunk_ranks plan;
};

static table_status work(struct key_call *call, const void *context, char *workspace) {
    const struct ranks_call *ranks = context;
    table_status status = TABLE_OK;
    for (unsigned mark = 0; mark < STAGES - 1 && status == TABLE_OK; mark++)
        status = key_call_mark(call, mark);
    if (status == TABLE_OK)
        status = chunk_ranks_run(call, &ranks->plan, ranks->counters.data, ranks->ranks.data, workspace);
    for (unsigned mark = 2; mark <= STAGES && status == TABLE_OK; mark++)
        status = key_call_mark(call, mark);
    return status == TABLE_OK ? key_call_lap(call) : status;
}

/* A row of results beside the tables. */
static table_status validate_result_row(const char *name, void *row, const struct ranks_call *ranks,
                                        struct table_view *view) {
    table_status status = validate_row(name, row, ranks->ranks.columns, ranks->ranks.type, view);
    if (status == TABLE_OK)
        status = validate_apart(name, view, "counters", &ranks->counters, false);
    if (status == TABLE_OK)
        status = validate_apart(name, view, "ranks", &ranks->ranks, false);
    return status;
}

static table_status validate_tables(const table_view *counters, const table_view *ranks, struct ranks_call *checked) {
    table_status status = validate_view("counters", counters, &checked->counters);
    if (status == TABLE_OK)
        status = validate_view("ranks", ranks, &checked->ranks);
    if (status != TABLE_OK)
        return status;
    const table_type in = checked->counters.type, out = checked->ranks.type;
    if ((in != TABLE_U32 && in != TABLE_U64) || (out != TABLE_U64 && out != in))
        return status_fail(TABLE_ERROR_TYPE,
                           "counters are %s and ranks %s; u32 to u32 or u64, and u64 to u64 are there",
                           table_type_name(in), table_type_name(out));
    if (checked->counters.rows != checked->ranks.rows || checked->counters.columns != checked->ranks.columns)
        return status_fail(TABLE_ERROR_SHAPE, "counters is %zu x %zu and ranks is %zu x %zu", checked->counters.rows,
                           checked->counters.columns, checked->ranks.rows, checked->ranks.columns);
    return validate_apart("counters", &checked->counters, "ranks", &checked->ranks, true);
}

static table_status rank(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                         const table_pipeline_options *options, struct key_form form) {
    struct key_call call;
    struct ranks_call checked;
    struct table_view totals_view, offsets_view;
    table_status status = key_call_begin(&call, options, form);
    if (status == TABLE_OK)
        status = validate_tables(counters, ranks, &checked);
    if (status == TABLE_OK)
        status = validate_result_row("totals", totals, &checked, &totals_view);
    if (status == TABLE_OK)
        status = validate_result_row("offsets", offsets, &checked, &offsets_view);
    if (status == TABLE_OK)
        status = validate_apart("totals", &totals_view, "offsets", &offsets_view, false);
    if (status == TABLE_OK)
        status = key_call_backend(&call, "counters", &checked.counters, checked.ranks.data);
    if (status == TABLE_OK)
        status = key_call_same_side(&call, "ranks", checked.ranks.data);
    if (status == TABLE_OK)
        status = validate_reach(call.call.backend, "totals", totals);
    if (status == TABLE_OK)
        status = validate_reach(call.call.backend, "offsets", offsets);
    if (status != TABLE_OK)
        return status;
    key_call_stage_table(&call, &checked.counters, true, false);
    key_call_stage_table(&call, &checked.ranks, false, true);
    struct table_view in = checked.counters, out = checked.ranks;
    if (call.staged) /* two tables then, even if they were one */
        in.data = out.data = NULL;
    status = chunk_ranks_plan(&call, &in, &out, &checked.plan);
    checked.plan.totals_copy = totals;
    checked.plan.offsets_copy = offsets;
    if (status == TABLE_OK)
        status = key_call_layout(&call);
    return status == TABLE_OK ? key_call_end(&call, work, &checked) : status;
}

table_status table_chunk_ranks(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                               const table_pipeline_options *options) {
    return rank(counters, ranks, totals, offsets, options, KEY_AT_ONCE);
}

table_status table_chunk_ranks_workspace(const table_view *counters, const table_view *ranks, void *totals,
                                         void *offsets, const table_pipeline_options *options, size_t *bytes) {
    return rank(counters, ranks, totals, offsets, options, KEY_ASKS(bytes));
}

table_status table_chunk_ranks_async(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                                     const table_pipeline_options *options) {
    return rank(counters, ranks, totals, offsets, options, KEY_QUEUED);
}
