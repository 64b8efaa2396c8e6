/* Which instruction set the kernels use. */
#ifndef CPU_ISA_H
#define CPU_ISA_H

#include "kernels.h"

/* V4_BITS: V4 and what counts bits and turns matrices of them, in vectors. */
enum cpu_isa { CPU_ISA_PLAIN, CPU_ISA_V3, CPU_ISA_V4, CPU_ISA_V4_BITS, CPU_ISAS };

/* The kernels for one instruction set; NULL when this processor does not have it, or this build no kernels for it. */
const struct cpu_kernels *isa_kernels(enum cpu_isa isa);

/* The kernels in use: for the best instruction set that there is, or the forced ones. */
const struct cpu_kernels *isa_kernels_in_use(void);

/* For tests: use these kernels from now on, or, with NULL, the best again. Not while a scan runs. */
void isa_force(const struct cpu_kernels *kernels);

#endif
