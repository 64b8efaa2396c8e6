/* Stages 1 and 3 of rows that can be read and written by whole vectors; all others are, a value at a time.
 * cudaErrorNotSupported: not such rows, or a device for which there is no code. */
#ifndef STAGES_STAGES_H
#define STAGES_STAGES_H

#include "kernels.h"

int run_stage1_vectors(const kernel_pass &pass, void *prefixes);
int run_stage3_vectors(const kernel_pass &pass, void *prefixes);

#endif
