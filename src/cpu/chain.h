/* What threads hand on from chunk to chunk: the seed of the next one, and the totals of blocks of chunks that later
 * seeds are made of. */
#ifndef CPU_CHAIN_H
#define CPU_CHAIN_H

#include "worker.h"

/* Rows of sums, of all columns side by side, that it takes. */
size_t chain_rows(const struct division *division);

/* The chain leads from the carry in, before the first chunk, to the carry out, after the last. */
void chain_begin(char *chain, const struct division *division);
void chain_end(const char *chain, const struct division *division);

/* By the worker that has summed up the chunk, its total in worker->sums, when the chunk before was handed on: takes the
 * chunk's seed as worker->start and, for exclusive sums, the inclusive sums of the row before as worker->above, and
 * puts those of the next chunk into their place. */
void chain_hand_on(char *chain, struct worker *worker, const struct division *division, const struct part *part);

#endif
