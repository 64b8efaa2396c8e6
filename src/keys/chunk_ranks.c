/* Where each chunk's keys of each digit go (tuplescan/digit_counts.h): three prefix sums of a counter table. They are
 * the totals of the columns, their prefix sum along the row, and the table's down its rows. */
#include "key_call.h"
#include "status.h"

enum { TOTALS, OFFSETS, RANKS, RANK_STEPS };

struct ranks_call {
    struct table_view counters, ranks;
    struct table_view totals, offsets; /* the caller's rows; no data: not wanted */
    struct key_scan steps[RANK_STEPS];
    size_t totals_at, offsets_at; /* places in the workspace, of rows of the type of the ranks */
};

static table_status plan_ranks(struct key_call *call, struct ranks_call *plan) {
    struct table_view in = plan->counters, out = plan->ranks;
    const struct table_view row = {.rows = out.columns, .columns = 1, .stride = 1, .type = out.type};
    const size_t size = table_type_size(out.type);
    if (call->staged) /* two tables then, even if they were one */
        in.data = out.data = NULL;
    plan->totals_at = layout_place(&call->layout, out.columns, size);
    plan->offsets_at = layout_place(&call->layout, out.columns, size);
    TRY(key_scan_plan(call, &in, &out, true, &plan->steps[TOTALS]));
    TRY(key_scan_plan(call, &row, &row, false, &plan->steps[OFFSETS]));
    return key_scan_plan(call, &in, &out, false, &plan->steps[RANKS]);
}

static table_status rank(struct key_call *call, void *context, char *workspace) {
    const struct ranks_call *plan = context;
    const struct backend *backend = call->call.backend;
    const size_t row_bytes = plan->ranks.columns * table_type_size(plan->ranks.type);
    const void *const counters = plan->counters.data;
    void *const totals = layout_at(workspace, plan->totals_at), *const offsets = layout_at(workspace, plan->offsets_at);
    TRY(key_scan_run(call, &plan->steps[TOTALS], counters, NULL, NULL, totals, workspace));
    TRY(key_scan_run(call, &plan->steps[OFFSETS], totals, offsets, NULL, NULL, workspace));
    TRY(key_scan_run(call, &plan->steps[RANKS], counters, plan->ranks.data, offsets, NULL, workspace));
    if (plan->totals.data)
        TRY(backend->copy(&call->call.scan, plan->totals.data, totals, row_bytes));
    if (plan->offsets.data)
        TRY(backend->copy(&call->call.scan, plan->offsets.data, offsets, row_bytes));
    return TABLE_OK;
}

static table_status work(struct key_call *call, void *context, char *workspace) {
    return key_call_steps(call, (key_work *const[STAGES]){NULL, rank}, context, workspace);
}

static table_status validate_tables(const table_view *counters, const table_view *ranks, struct ranks_call *checked) {
    TRY(validate_view("counters", counters, &checked->counters));
    TRY(validate_view("ranks", ranks, &checked->ranks));
    const table_type in = checked->counters.type, out = checked->ranks.type;
    if ((in != TABLE_U32 && in != TABLE_U64) || (out != TABLE_U64 && out != in))
        return status_fail(TABLE_ERROR_TYPE,
                           "counters are %s and ranks %s; u32 to u32 or u64, and u64 to u64 are there",
                           table_type_name(in), table_type_name(out));
    if (checked->counters.rows != checked->ranks.rows || checked->counters.columns != checked->ranks.columns)
        return status_fail(TABLE_ERROR_SHAPE, "counters is %zu x %zu and ranks is %zu x %zu", checked->counters.rows,
                           checked->counters.columns, checked->ranks.rows, checked->ranks.columns);
    return TABLE_OK;
}

static table_status call_ranks(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                               const table_pipeline_options *options, struct key_form form) {
    struct key_call call;
    struct ranks_call checked = {0};
    const struct table_view *const shape = &checked.ranks;
    const struct key_table tables[] = {{"counters", &checked.counters, KEYS_READ},
                                       {"ranks", &checked.ranks, RESULT_IN_PLACE},
                                       {"offsets", &checked.offsets, ROW_BESIDE},
                                       {"totals", &checked.totals, ROW_BESIDE}};
    TRY(key_call_begin(&call, options, form));
    TRY(validate_tables(counters, ranks, &checked));
    TRY(validate_row("totals", totals, shape->columns, shape->type, &checked.totals));
    TRY(validate_row("offsets", offsets, shape->columns, shape->type, &checked.offsets));
    TRY(key_call_tables(&call, tables, 4));
    TRY(plan_ranks(&call, &checked));
    return key_call_end(&call, work, &checked);
}

table_status table_chunk_ranks(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                               const table_pipeline_options *options) {
    return call_ranks(counters, ranks, totals, offsets, options, KEY_AT_ONCE);
}

table_status table_chunk_ranks_workspace(const table_view *counters, const table_view *ranks, void *totals,
                                         void *offsets, const table_pipeline_options *options, size_t *bytes) {
    return call_ranks(counters, ranks, totals, offsets, options, KEY_ASKS(bytes));
}

table_status table_chunk_ranks_async(const table_view *counters, const table_view *ranks, void *totals, void *offsets,
                                     const table_pipeline_options *options) {
    return call_ranks(counters, ranks, totals, offsets, options, KEY_QUEUED);
}
