/* Which of the fused kernels a call is given. */
#ifndef CUDA_FUSED_H
#define CUDA_FUSED_H

enum cuda_fused_form {
    CUDA_FUSED_BEST,    /* what was measured to be the fastest for the table and the device */
    CUDA_FUSED_SMALL,   /* tables of one chunk, a block for each panel of columns */
    CUDA_FUSED_WAVE,    /* tables whose tiles run all at once, compute capability 9.0 and later */
    CUDA_FUSED_ROWS,    /* large tables of rows that begin anywhere, likewise */
    CUDA_FUSED_PARKED,  /* large tables, compute capability 9.0 and later, whose bulk copies it uses */
    CUDA_FUSED_GENERAL, /* the same without them: 8.0 and later */
    CUDA_FUSED_LOOKBACK /* large tables, every device */
};

/* BEST but in tests and measurements, which set it while no call is under way. Where the forced form is not there, the
 * call is done by one of the last three. */
extern enum cuda_fused_form cuda_forced_form;

#endif
