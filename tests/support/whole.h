/* A table as one piece: all that is left open is chosen at random, and it is summed by each form of call that takes it
 * whole, the stages by themselves among them. */
#ifndef WHOLE_H
#define WHOLE_H

#include "piece_forms.h"

struct trial whole_table(struct random *random, table_operation operation, struct type_pair pair, size_t rows,
                         size_t columns);

/* Fails the running test at the first thing that is not as the reference says. */
void whole_check(const struct trial *table, const struct way *way);

#endif
