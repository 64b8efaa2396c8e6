/* The coefficients of a recurrence, as a kernel takes them: rows of the values' type, side by side or where they lie.
 * For scans that have coefficients. */
#ifndef CPU_FACTORS_H
#define CPU_FACTORS_H

#include "worker.h"

/* Whether rows cannot be taken from where they are. */
bool factors_are_staged(const struct division *division);

/* Rows of a worker's buffer for them. */
size_t factors_rows(const struct division *division);

/* Points the kernel at the coefficients of the part's columns in the `rows` rows of the table from `row` on, and
 * returns for how many of these it did. */
size_t factors_point(struct worker *worker, const struct division *division, const struct part *part, size_t row,
                     size_t rows);

#endif
