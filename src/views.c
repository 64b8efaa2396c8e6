#include "views.h"

#include "checked.h"

size_t view_length(ptrdiff_t stride) { return stride < 0 ? 0 - (size_t)stride : (size_t)stride; }

ptrdiff_t view_step(const struct table_view *view) { return view->stride * (ptrdiff_t)table_type_size(view->type); }

bool view_span(const struct table_view *view, struct span *span) {
    const size_t size = type_bytes(view->type);
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

const struct table_view *ranges_hull_of_more(const struct table_view *view, size_t count, ptrdiff_t step,
                                             struct table_view *hull) {
    if (view->rows == 0 || view->columns == 0)
        return view;
    const ptrdiff_t size = (ptrdiff_t)table_type_size(view->type);
    const ptrdiff_t rows = (ptrdiff_t)(view->rows - 1) * view->stride;
    ptrdiff_t begin, end = (ptrdiff_t)view->columns, shift, length, bytes;
    if (count - 1 > PTRDIFF_MAX || __builtin_mul_overflow((ptrdiff_t)(count - 1), step, &shift) ||
        __builtin_add_overflow(rows < 0 ? rows : 0, shift < 0 ? shift : 0, &begin) ||
        __builtin_add_overflow(end, rows > 0 ? rows : 0, &end) ||
        __builtin_add_overflow(end, shift > 0 ? shift : 0, &end) || __builtin_sub_overflow(end, begin, &length) ||
        __builtin_mul_overflow(length, size, &bytes))
        return NULL;
    *hull = (struct table_view){.data = (char *)view->data + begin * size,
                                .rows = 1,
                                .columns = (size_t)length,
                                .stride = length,
                                .type = view->type};
    return hull;
}

/* Whole ranges lie apart, or between the rows of one another. */
bool ranges_are_apart(const struct table_view *view, size_t count, ptrdiff_t step) {
    const size_t stride = view_length(view->stride), far = view_length(step);
    if (view->rows == 0 || view->columns == 0)
        return true;
    if (far > stride || view->rows == 1)
        return far >= (view->rows - 1) * stride + view->columns;
    return far >= view->columns && stride / far >= count - 1 && stride - (count - 1) * far >= view->columns;
}
