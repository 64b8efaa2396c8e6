#include "batch.h"

#include "checked.h"
#include "run.h"
#include "status.h"
#include "views.h"

/* Where all tables of a side lie: elements from the first value of table 0, the end behind the last one. */
struct reach {
    ptrdiff_t begin, end;
};

/* False where that cannot be addressed. The view's own extent is known to fit. */
static bool reach_of(const struct table_view *view, size_t tables, ptrdiff_t step, struct reach *reach) {
    const ptrdiff_t rows = view->rows > 0 ? (ptrdiff_t)(view->rows - 1) * view->stride : 0;
    ptrdiff_t shift, bytes;
    if (tables - 1 > PTRDIFF_MAX || __builtin_mul_overflow((ptrdiff_t)(tables - 1), step, &shift))
        return false;
    *reach = (struct reach){0, (ptrdiff_t)view->columns};
    return !__builtin_add_overflow(rows < 0 ? rows : 0, shift < 0 ? shift : 0, &reach->begin) &&
           !__builtin_add_overflow(reach->end, rows > 0 ? rows : 0, &reach->end) &&
           !__builtin_add_overflow(reach->end, shift > 0 ? shift : 0, &reach->end) &&
           !__builtin_sub_overflow(reach->end, reach->begin, &bytes) &&
           !__builtin_mul_overflow(bytes, (ptrdiff_t)table_type_size(view->type), &bytes);
}

struct table_view batch_whole(const struct table_view *view, size_t tables, ptrdiff_t step) {
    struct table_view whole = *view;
    struct reach reach;
    if (tables <= 1 || view->rows == 0 || view->columns == 0 || !view->data || !reach_of(view, tables, step, &reach))
        return whole;
    whole.data = (char *)view->data + reach.begin * (ptrdiff_t)table_type_size(view->type);
    whole.rows = 1;
    whole.stride = reach.end - reach.begin;
    whole.columns = (size_t)whole.stride;
    return whole;
}

/* Whether each element belongs to one table: whole tables lie apart, or between the rows of one another. */
static bool are_apart(const struct table_view *view, size_t tables, ptrdiff_t step) {
    const size_t stride = view_length(view->stride), far = view_length(step);
    if (far > stride || view->rows == 1)
        return far >= (view->rows - 1) * stride + view->columns;
    return far >= view->columns && stride / far >= tables - 1 && stride - (tables - 1) * far >= view->columns;
}

static const char *data_at(const struct table_view *view, ptrdiff_t element) {
    return (const char *)view->data + element * (ptrdiff_t)table_type_size(view->type);
}

table_status batch_validate(const struct scan *scan, const struct table_view *out, bool same_rows) {
    struct reach from, to;
    size_t values;
    if (scan->state)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->state: %zu tables are sums of their own", scan->tables);
    if (!checked_multiply(scan->tables, out->rows, &values) || !checked_multiply(values, out->columns, &values) ||
        !checked_multiply(values, sizeof(uint64_t), &values))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->tables: %zu tables of %zu x %zu values cannot be addressed",
                           scan->tables, out->rows, out->columns);
    if (values == 0)
        return TABLE_OK;
    if (!reach_of(&scan->in, scan->tables, scan->in_step, &from) || !reach_of(out, scan->tables, scan->out_step, &to))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options: %zu tables with steps of %td and %td cannot be addressed",
                           scan->tables, scan->in_step, scan->out_step);
    if (!are_apart(out, scan->tables, scan->out_step))
        return status_fail(TABLE_ERROR_OVERLAP, "options->out_step %td: tables of out share elements", scan->out_step);
    if (scan->in.rows == 0 || (same_rows && scan->in_step == scan->out_step))
        return TABLE_OK;
    if (data_at(&scan->in, from.begin) < data_at(out, to.end) && data_at(out, to.begin) < data_at(&scan->in, from.end))
        return status_fail(TABLE_ERROR_OVERLAP,
                           "tables of in and out share memory and are not the same tables (same data, type, stride and "
                           "step)");
    return TABLE_OK;
}

static struct scan table_of(const struct scan *scan, size_t table) {
    struct scan one = *scan;
    one.tables = 1;
    one.clock = NULL;
    batch_table(scan, table, scan_row_bytes(scan), &one);
    return one;
}

static bool by_backend(const struct backend *backend, const struct scan *scan) {
    return backend->prefers_batch && (!scan_has_rows_beside(scan) || backend->batch_has_rows_beside) &&
           scan->in.rows > 0 && scan->in.columns > 0 && plan_reaches(backend, scan, scan->carry_in) &&
           plan_reaches(backend, scan, scan->carry_out) && pipeline_reaches_findings(backend, scan) &&
           backend->prefers_batch(scan);
}

table_status batch_plan(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                        struct plan *plan) {
    if (by_backend(backend, scan)) {
        *plan = (struct plan){.strategy = TABLE_STRATEGY_FUSED, .batch = true};
        plan->bytes = backend->batch_workspace ? backend->batch_workspace(scan) : 0;
        return TABLE_OK;
    }
    const struct scan one = table_of(scan, 0);
    return plan_make(backend, &one, strategy, false, plan);
}

/* What one table has left where the scan wants it, counted from its own first row. */
static table_status take_findings(const struct backend *backend, const struct scan *scan, size_t table,
                                  struct findings *all) {
    struct findings one = FINDINGS_NONE;
    const table_status status = pipeline_take_findings(backend, scan, &one);
    findings_add(all, &one, (uint64_t)table * scan->in.rows * scan->in.columns);
    return status;
}

/* Any number of tables for which nothing is written is done when one of them is. */
static bool is_nothing(const struct scan *scan) {
    return scan->in.columns == 0 || (scan->in.rows == 0 && !scan_has_rows_beside(scan) && !scan->carry_out);
}

static table_status one_by_one(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               void *workspace) {
    const size_t tables = is_nothing(scan) ? 1 : scan->tables;
    struct findings found = FINDINGS_NONE;
    table_status status = TABLE_OK;
    for (size_t table = 0; table < tables && status == TABLE_OK; table++) {
        const struct scan one = table_of(scan, table);
        status = pipeline_run(backend, plan, &one, workspace);
        if (status == TABLE_OK && scan_finds(scan))
            status = take_findings(backend, scan, table, &found);
    }
    return status == TABLE_OK ? pipeline_put_findings(backend, scan, &found) : status;
}

table_status batch_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                       void *workspace) {
    table_status status = scan->clock ? backend->clock_mark(scan, 0) : TABLE_OK;
    if (status == TABLE_OK)
        status = plan->batch ? backend->batch(scan, workspace) : one_by_one(backend, plan, scan, workspace);
    for (unsigned mark = 1; mark <= STAGES && status == TABLE_OK && scan->clock; mark++)
        status = backend->clock_mark(scan, mark);
    return status;
}

static table_status put_findings(struct call *call, void *context) {
    return pipeline_put_findings(call->backend, &call->scan, context);
}

table_status batch_through_device(struct call *call, table_report *report) {
    const struct scan *scan = &call->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    struct findings found = FINDINGS_NONE;
    struct table_report sum = {0}, own;
    table_status status = TABLE_OK;
    for (size_t table = 0; table < scan->tables && status == TABLE_OK; table++) {
        struct call one = *call;
        struct findings more = FINDINGS_NONE;
        one.scan.tables = 1;
        batch_table(scan, table, row_bytes, &one.scan);
        scan_find_into(&one.scan, scan, &more);
        status = run_through_device(&one, report ? &own : NULL);
        findings_add(&found, &more, (uint64_t)table * scan->in.rows * scan->in.columns);
        if (status == TABLE_OK && report)
            run_add_report(&sum, &own);
    }
    if (status == TABLE_OK && scan_finds(scan))
        status = run_and_wait(call, false, put_findings, &found);
    if (status == TABLE_OK && report)
        *report = sum;
    return status;
}
