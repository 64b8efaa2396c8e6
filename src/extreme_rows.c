/* The calls of tuplescan/extreme_rows.h: the rows are marked, and the marks joined by a running maximum in place. */
#include <tuplescan/extreme_rows.h>

#include "checked.h"
#include "extreme_marks.h"
#include "refusals.h"
#include "run.h"
#include "status.h"
#include "views.h"

/* A checked call: the running maximum of the marks, and what marks them. */
struct extreme_call {
    struct call call;
    struct extreme_marks marks;
};

/* Carries lie in none of the tables, but for a carry in that is read from a table that is read, too. */
static table_status validate_carries(const struct table_scan_options *options, size_t ranges, const char *name,
                                     const struct table_view *whole, size_t columns, bool is_written) {
    const struct {
        const char *name;
        const void *row;
        bool is_written;
    } carries[] = {{"options->carry_in", options->carry_in, false}, {"options->carry_out", options->carry_out, true}};
    struct table_view row;
    size_t count;
    if (!checked_multiply(columns, ranges, &count))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->tables: carries of %zu tables cannot be addressed", ranges);
    for (size_t i = 0; i < sizeof carries / sizeof *carries; i++) {
        TRY(validate_row(carries[i].name, carries[i].row, count, TABLE_I64, &row));
        if (is_written || carries[i].is_written)
            TRY(validate_apart(carries[i].name, &row, name, whole, false));
    }
    return TABLE_OK;
}

static table_status validate_beside(const struct call *call, const struct table_scan_options *options, const char *name,
                                    const struct table_view *view, table_type type, ptrdiff_t step,
                                    struct table_view *checked) {
    const struct scan *scan = &call->scan;
    struct table_view hulls[2];
    table_status status = validate_table(name, view, checked);
    if (status != TABLE_OK)
        return status;
    if (checked->rows != scan->out.rows || checked->columns != scan->out.columns)
        return status_fail(TABLE_ERROR_SHAPE, "%s is %zu x %zu and rows is %zu x %zu", name, checked->rows,
                           checked->columns, scan->out.rows, scan->out.columns);
    if (checked->type != type)
        return status_fail(TABLE_ERROR_TYPE, "%s->type is %s and in->type is %s", name, table_type_name(checked->type),
                           table_type_name(type));
    const struct table_view *const whole = ranges_hull(checked, scan->ranges.count, step, &hulls[0]);
    if (!whole)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%s: %zu tables with steps of %td cannot be addressed", name,
                           scan->ranges.count, step);
    if (checked->rows > 0 && checked->columns > 0 && backend_device_of(checked->data) != call->device)
        return status_fail(TABLE_ERROR_BACKEND, "%s is not on the same side as rows", name);
    const struct table_view *const rows = ranges_hull(&scan->out, scan->ranges.count, scan->ranges.out, &hulls[1]);
    status = validate_apart("rows", rows, name, whole, false);
    return status == TABLE_OK ? validate_carries(options, scan->ranges.count, name, whole, checked->columns, false)
                              : status;
}

static table_status validate_rows(const struct table_view *rows, uint64_t first,
                                  const struct table_scan_options *options, enum call_form form, struct call *call) {
    const struct range_list ranges = ranges_of(options);
    struct table_scan_options joined = *options;
    struct table_view checked, hull;
    TRY(refuse(CALLER_EXTREME_ROWS, options));
    TRY(validate_table("rows", rows, &checked));
    if (rows->type != TABLE_I64)
        return status_fail(TABLE_ERROR_TYPE, "rows->type is %s, and rows are counted as i64",
                           table_type_name(rows->type));
    if (first > INT64_MAX || rows->rows > INT64_MAX - first)
        return status_fail(TABLE_ERROR_TOO_LARGE, "first %llu: %zu rows more cannot be counted",
                           (unsigned long long)first, rows->rows);
    const struct table_view *const whole = ranges_hull(&checked, ranges.count, ranges.out, &hull);
    TRY(validate_carries(options, ranges.count, "rows", whole ? whole : &checked, rows->columns, true));
    joined.operation = TABLE_MAXIMUM;
    joined.in_step = joined.out_step;
    TRY(validate_scan(NULL, rows, rows, &joined, form, call));
    return call->backend->copy_rows
               ? refuse_host_tables(CALLER_EXTREME_ROWS, call->device < 0 && rows->rows > 0 && rows->columns > 0)
               : TABLE_OK;
}

static table_status validate_extreme_rows(const struct table_view *in, const struct table_view *extremes,
                                          const struct table_view *rows, uint64_t first,
                                          const struct table_scan_options *options, enum call_form form,
                                          struct extreme_call *extreme) {
    struct table_view values, results;
    options = options_of(options);
    table_status status = validate_rows(rows, first, options, form, &extreme->call);
    if (status != TABLE_OK)
        return status;
    const struct scan *scan = &extreme->call.scan;
    const struct range_list ranges = ranges_of(options);
    status = validate_beside(&extreme->call, options, "in", in, in ? in->type : TABLE_I64, ranges.in, &values);
    if (status == TABLE_OK)
        status = validate_beside(&extreme->call, options, "extremes", extremes, values.type, ranges.out, &results);
    if (status != TABLE_OK)
        return status;
    extreme->marks = (struct extreme_marks){.values = values.data,
                                            .extremes = results.data,
                                            .marks = scan->out.data,
                                            .values_stride = values.stride,
                                            .extremes_stride = results.stride,
                                            .marks_stride = scan->out.stride,
                                            .ranges = ranges,
                                            .rows = values.rows,
                                            .columns = values.columns,
                                            .type = values.type,
                                            .first_row = first};
    extreme->call.marks = &extreme->marks;
    return TABLE_OK;
}

static table_status mark_rows(const table_view *in, const table_view *extremes, const table_view *rows, uint64_t first,
                              const table_scan_options *options, enum call_form form, size_t *bytes) {
    struct extreme_call extreme;
    TRY(validate_extreme_rows(in, extremes, rows, first, options, form, &extreme));
    return run_call(&extreme.call, options, bytes);
}

table_status table_extreme_rows(const table_view *in, const table_view *extremes, const table_view *rows,
                                uint64_t first, const table_scan_options *options) {
    return mark_rows(in, extremes, rows, first, options, CALL_AND_WAIT, NULL);
}

table_status table_extreme_rows_workspace(const table_view *in, const table_view *extremes, const table_view *rows,
                                          uint64_t first, const table_scan_options *options, size_t *bytes) {
    return bytes ? mark_rows(in, extremes, rows, first, options, CALL_ON_STREAM, bytes)
                 : status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
}

table_status table_extreme_rows_async(const table_view *in, const table_view *extremes, const table_view *rows,
                                      uint64_t first, const table_scan_options *options) {
    return mark_rows(in, extremes, rows, first, options, CALL_ON_STREAM, NULL);
}
