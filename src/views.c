#include "views.h"

#include "checked.h"

size_t view_length(ptrdiff_t stride) { return stride < 0 ? 0 - (size_t)stride : (size_t)stride; }

ptrdiff_t view_step(const struct table_view *view) { return view->stride * (ptrdiff_t)table_type_size(view->type); }

/* Bytes from the lowest value to behind the highest one. */
static bool extent(const struct table_view *view, size_t *bytes) {
    const size_t size = table_type_size(view->type);
    size_t elements;
    if (view->rows == 0 || view->columns == 0) {
        *bytes = 0;
        return true;
    }
    return checked_multiply(view->rows - 1, view_length(view->stride), &elements) &&
           checked_add(elements, view->columns, &elements) && checked_multiply(elements, size, bytes) &&
           *bytes <= PTRDIFF_MAX;
}

/* Where the lowest value is, of a table whose extent is known to fit. */
static uintptr_t lowest(const struct table_view *view) {
    const uintptr_t data = (uintptr_t)view->data;
    return view->stride < 0 && view->rows > 1 ? data - (view->rows - 1) * (0 - (uintptr_t)view_step(view)) : data;
}

bool view_fits(const struct table_view *view) {
    size_t bytes, row_bytes;
    if (!extent(view, &bytes) || !checked_multiply(view->columns, sizeof(uint64_t), &row_bytes) ||
        row_bytes > PTRDIFF_MAX)
        return false;
    const size_t before = view->stride < 0 && bytes > 0 ? (view->rows - 1) * (0 - (size_t)view_step(view)) : 0;
    return (uintptr_t)view->data >= before && bytes - before <= UINTPTR_MAX - (uintptr_t)view->data;
}

/* Whether two windows with the same bytes from row to row, `lower` beginning first, share no column. */
static bool side_by_side(const struct table_view *lower, const struct table_view *upper) {
    const size_t lower_size = table_type_size(lower->type), upper_size = table_type_size(upper->type);
    const size_t pitch = view_length(lower->stride) * lower_size;
    if (pitch != view_length(upper->stride) * upper_size)
        return false;
    const size_t shift = (lowest(upper) - lowest(lower)) % pitch;
    return shift >= lower->columns * lower_size && shift + upper->columns * upper_size <= pitch;
}

bool views_are_apart(const struct table_view *a, const struct table_view *b) {
    const struct table_view *lower = lowest(a) <= lowest(b) ? a : b, *upper = lower == a ? b : a;
    size_t bytes, other;
    if (!extent(lower, &bytes) || !extent(upper, &other) || bytes == 0 || other == 0)
        return true;
    return lowest(upper) - lowest(lower) >= bytes || side_by_side(lower, upper);
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
