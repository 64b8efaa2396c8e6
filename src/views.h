/* Where tables lie in memory, one or several, and how they lie to each other. */
#ifndef VIEWS_H
#define VIEWS_H

#include "scan.h"

/* Whether values of the type may lie there. Sizes are powers of two. */
static inline bool view_is_aligned(const void *data, table_type type) {
    return ((uintptr_t)data & (table_type_size(type) - 1)) == 0;
}

/* A stride, or a step from table to table, without its sign. */
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

/* Several tables (options->tables of tuplescan/prefix_sum.h): */

/* Checks the tables of a scan whose views were checked, each by itself. `out` has the rows beside it, too;
 * same_rows: table 0 of `in` is a part of that of `out`, and may be. */
table_status tables_validate(const struct scan *scan, const struct table_view *out, bool same_rows);

/* Whether all values of the tables can be addressed. */
bool tables_fit(const struct table_view *view, size_t tables, ptrdiff_t step);

/* All that lies between the first and the last value of the tables, as a table of one row; of one table, itself. */
struct table_view tables_whole(const struct table_view *view, size_t tables, ptrdiff_t step);

#endif
