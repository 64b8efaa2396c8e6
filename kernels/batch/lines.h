/* Several tables whose values lie in lines without gaps (lines.cu). */
#ifndef BATCH_LINES_H
#define BATCH_LINES_H

#include "kernels.h"

/* cudaErrorNotSupported: they do not, or are of types that have no kernels of their own here. */
int run_batch_lines(const kernel_batch &batch);

#endif
