/* Groups that the rows of a sum that goes on do not fill: at its beginning inside of a group, and at its end. */
#ifndef CPU_EDGE_H
#define CPU_EDGE_H

#include "worker.h"

/* Bytes of a worker's memory that it takes, for panels of rows of so many bytes. */
size_t edge_bytes(const struct division *division, size_t panel_bytes);

/* Takes `rows` rows of the part from row `done` on, which end the group or the table, with worker->missing rows before
 * them in the group. results: writes the running sums; otherwise they are only summed up. */
void edge_take(struct worker *worker, const struct division *division, const struct part *part, size_t done,
               size_t rows, bool results);

#endif
