/* The kernels of batches beside batch_values.cu: rows of whole vectors (batch_lanes.cu), columns of whole vectors
 * (batch_units.cu), and tables that lie in lines without gaps (batch_lines.cu). */
#ifndef BATCH_BATCH_KINDS_H
#define BATCH_BATCH_KINDS_H

#include "kernels.h"

/* cudaErrorNotSupported: the tables lie otherwise, no kernels are of their types, or (units) long ones are too few. */
int run_batch_lanes(const kernel_batch &batch);
int run_batch_units(const kernel_batch &batch);
int run_batch_lines(const kernel_batch &batch);

#endif
