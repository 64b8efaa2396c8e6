/* Which of the fused kernels a call is given. */
#ifndef CUDA_FUSED_H
#define CUDA_FUSED_H

enum cuda_fused_form {
    CUDA_FUSED_BEST,    /* SMALL where the table is; PARKED where it is large and the device can; otherwise LOOKBACK */
    CUDA_FUSED_SMALL,   /* one launch: tables of few chunks */
    CUDA_FUSED_PARKED,  /* large tables, compute capability 9.0 and later */
    CUDA_FUSED_LOOKBACK /* large tables, every device */
};

/* BEST but in tests and measurements, which set it while no call is under way. Where the forced form is not there, the
 * call is done as by BEST. */
extern enum cuda_fused_form cuda_forced_form;

#endif
