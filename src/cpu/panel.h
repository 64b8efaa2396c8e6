/* The three stages of a panel by one thread, which goes from top to bottom and needs no totals. */
#ifndef CPU_PANEL_H
#define CPU_PANEL_H

#include "worker.h"

/* Sums a panel up, from scan->carry_in to scan->carry_out, or from scan->state. Without results, only the carry out is
 * made. */
void panel_scan(struct worker *worker, const struct division *division, const struct part *part);

/* Puts sums of the panel, or what a scan begins with, into a row of results beside `out`. */
void panel_put_row(const struct division *division, const struct part *part, void *row_beside, const void *sums);
void panel_put_start(struct worker *worker, const struct division *division, const struct part *part);

#endif
