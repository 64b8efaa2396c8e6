/* Where tables lie in memory, and ranges, and how they lie to each other. */
#ifndef VIEWS_H
#define VIEWS_H

#include "scan.h"

/* Whether values of the type may lie there. Sizes are powers of two. */
static inline bool view_is_aligned(const void *data, table_type type) {
    return ((uintptr_t)data & (type_bytes(type) - 1)) == 0;
}

/* A stride, or a step from range to range, without its sign. */
size_t view_length(ptrdiff_t stride);

/* Bytes from one row to the next, perhaps less than 0. The table fits. */
ptrdiff_t view_step(const struct table_view *view);

/* All from the lowest value of a table to the end of the highest one. False where that has no size; then, and where it
 * does not fit, `lowest` may have gone around. */
struct span {
    uintptr_t lowest;
    size_t bytes;
};
bool view_span(const struct table_view *view, struct span *span);

/* Whether the table lies within the address space, and its columns as the widest sums have a size that fits in
 * ptrdiff_t, as then its stride has, which is 0 where there are no columns. */
bool view_fits(const struct table_view *view);

/* Whether no element of one lies in the other. Both fit. */
bool views_are_apart(const struct table_view *a, const struct table_view *b);

/* Whether they have the same elements in the same order. */
bool views_are_same(const struct table_view *a, const struct table_view *b);

/* Makes the last row the first one. */
void view_mirror(struct table_view *view);

/* `rows` rows of the table, from row `first` on. */
struct table_view view_rows(const struct table_view *view, size_t first, size_t rows);

/* Ranges (range_list.h), `count` of the view's shape, each `step` values after the one before it: */

/* All that lies between the first and the last value of the ranges, as a table of one row, made at `hull`. Of one range
 * it is the view itself, for which small calls need not ask. NULL where that cannot be addressed; the view is known to
 * fit. */
const struct table_view *ranges_hull_of_more(const struct table_view *view, size_t count, ptrdiff_t step,
                                             struct table_view *hull);
static inline const struct table_view *ranges_hull(const struct table_view *view, size_t count, ptrdiff_t step,
                                                   struct table_view *hull) {
    return count == 1 ? view : ranges_hull_of_more(view, count, step, hull);
}

/* Whether each value belongs to one range alone, of more than one. Their hull can be addressed. */
bool ranges_are_apart(const struct table_view *view, size_t count, ptrdiff_t step);

#endif
