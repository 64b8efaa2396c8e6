/* Several tables by kernels of their own: rows of whole vectors (lanes.cu), and what lies in lines without gaps
 * (lines.cu). */
#ifndef BATCH_LINES_H
#define BATCH_LINES_H

#include "kernels.h"

/* cudaErrorNotSupported: the tables do not lie so, or are of types that have no such kernels. */
int run_batch_lanes(const kernel_batch &batch);
int run_batch_lines(const kernel_batch &batch);

#endif
