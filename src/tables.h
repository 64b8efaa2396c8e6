/* Where several tables lie (options->tables of tuplescan/prefix_sum.h), and how they lie to each other. */
#ifndef TABLES_H
#define TABLES_H

#include "scan.h"

/* Checks the tables of a scan whose views were checked, each by itself. `out` has the rows beside it, too;
 * same_rows: table 0 of `in` is a part of that of `out`, and may be. */
table_status tables_validate(const struct scan *scan, const struct table_view *out, bool same_rows);

/* Whether all values of the tables can be addressed. */
bool tables_fit(const struct table_view *view, size_t tables, ptrdiff_t step);

/* All that lies between the first and the last value of the tables, as a table of one row; of one table, itself. */
struct table_view tables_whole(const struct table_view *view, size_t tables, ptrdiff_t step);

#endif
