#include "views.h"

#include "checked.h"
#include "status.h"

size_t view_length(ptrdiff_t stride) { return stride < 0 ? 0 - (size_t)stride : (size_t)stride; }

ptrdiff_t view_step(const struct table_view *view) { return view->stride * (ptrdiff_t)table_type_size(view->type); }

bool view_span(const struct table_view *view, struct span *span) {
    const size_t size = table_type_size(view->type);
    size_t gaps, elements;
    *span = (struct span){(uintptr_t)view->data, 0};
    if (view->rows == 0 || view->columns == 0)
        return true;
    if (!checked_multiply(view->rows - 1, view_length(view->stride), &gaps) ||
        !checked_add(gaps, view->columns, &elements) || !checked_multiply(elements, size, &span->bytes) ||
        span->bytes > PTRDIFF_MAX)
        return false;
    if (view->stride < 0)
        span->lowest -= gaps * size;
    return true;
}

bool view_fits(const struct table_view *view) {
    struct span span;
    size_t row_bytes;
    return view_span(view, &span) && span.lowest <= (uintptr_t)view->data && span.bytes <= UINTPTR_MAX - span.lowest &&
           checked_multiply(view->columns, sizeof(uint64_t), &row_bytes) && row_bytes <= PTRDIFF_MAX;
}

/* Whether two windows with the same bytes from row to row, `upper` beginning `far` bytes after `lower`, share no
 * column. */
static bool side_by_side(const struct table_view *lower, const struct table_view *upper, size_t far) {
    const size_t lower_size = table_type_size(lower->type), upper_size = table_type_size(upper->type);
    const size_t pitch = view_length(lower->stride) * lower_size, shift = pitch > 0 ? far % pitch : 0;
    return pitch == view_length(upper->stride) * upper_size && shift >= lower->columns * lower_size &&
           shift + upper->columns * upper_size <= pitch;
}

bool views_are_apart(const struct table_view *a, const struct table_view *b) {
    struct span of_a, of_b;
    if (!view_span(a, &of_a) || !view_span(b, &of_b) || of_a.bytes == 0 || of_b.bytes == 0)
        return true;
    return of_a.lowest <= of_b.lowest
               ? of_b.lowest - of_a.lowest >= of_a.bytes || side_by_side(a, b, of_b.lowest - of_a.lowest)
               : of_a.lowest - of_b.lowest >= of_b.bytes || side_by_side(b, a, of_a.lowest - of_b.lowest);
}

bool views_are_same(const struct table_view *a, const struct table_view *b) {
    return a->data == b->data && a->type == b->type && (a->stride == b->stride || a->rows == 1);
}

void view_mirror(struct table_view *view) {
    if (view->rows <= 1 || view->columns == 0 || !view->data)
        return;
    view->data = (char *)view->data + (ptrdiff_t)(view->rows - 1) * view_step(view);
    view->stride = -view->stride;
}

struct table_view view_rows(const struct table_view *view, size_t first, size_t rows) {
    struct table_view some = *view;
    some.rows = rows;
    if (view->data && rows > 0 && view->columns > 0)
        some.data = (char *)view->data + (ptrdiff_t)first * view_step(view);
    return some;
}

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

bool tables_fit(const struct table_view *view, size_t tables, ptrdiff_t step) {
    struct reach reach;
    return tables <= 1 || view->rows == 0 || view->columns == 0 || reach_of(view, tables, step, &reach);
}

struct table_view tables_whole(const struct table_view *view, size_t tables, ptrdiff_t step) {
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

table_status tables_validate(const struct scan *scan, const struct table_view *out, bool same_rows) {
    struct reach from, to;
    size_t values;
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
        return status_fail(TABLE_ERROR_OVERLAP, "options->out_step %td: its tables share elements", scan->out_step);
    if (scan->in.rows == 0 || (same_rows && scan->in_step == scan->out_step))
        return TABLE_OK;
    if (data_at(&scan->in, from.begin) < data_at(out, to.end) && data_at(out, to.begin) < data_at(&scan->in, from.end))
        return status_fail(TABLE_ERROR_OVERLAP,
                           "options->in_step and out_step: their tables share memory and are not the same ones (same "
                           "data, type, stride and step)");
    return TABLE_OK;
}
