/* Stages 1 and 3 of rows that are whole vectors, for values and sums of one size; all else goes by values of ANY type.
 * cudaErrorNotSupported: not such rows, or a device for which there is no code. */
#ifndef STAGES_STAGES_H
#define STAGES_STAGES_H

#include "kernels.h"

int run_stage1_vectors(const kernel_pass &pass, void *seeds);
int run_stage3_vectors(const kernel_pass &pass, void *seeds);

#endif
