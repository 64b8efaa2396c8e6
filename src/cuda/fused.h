/* Which form of the fused pass a call is given. */
#ifndef CUDA_FUSED_H
#define CUDA_FUSED_H

/* The name of a row of kernel_forms (kernels.h), or NULL, which is the form that was measured to be the fastest for the
 * table and the device. Tests and measurements set it while no call is under way. Where the forced form is not there,
 * the separate stages do the call. */
extern const char *cuda_forced_form;

#endif
