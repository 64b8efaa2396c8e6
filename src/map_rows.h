/* Rows of maps in the place of rows of values: what a recurrence or product begins with, and what it carries out. Where
 * elements are their values, or the backend takes values, all of this is nothing. */
#ifndef MAP_ROWS_H
#define MAP_ROWS_H

#include "backend.h"

struct map_rows {
    void *carry_out; /* the caller's */
    size_t count;
};

/* Bytes of the rows, a multiple of TABLE_WORKSPACE_ALIGNMENT. False when they do not fit in size_t. */
bool map_rows_bytes(const struct backend *backend, const struct scan *scan, size_t *bytes);

/* Makes the carries of the scan, which is about to run, rows in `memory`. */
struct map_rows map_rows_begin(const struct backend *backend, struct scan *scan, void *memory);

/* Brings what the scan has carried out to the caller. */
void map_rows_end(const struct map_rows *rows, const struct scan *scan);

#endif
