/* Streams for the time of a call. */
#ifndef CUDA_STREAM_H
#define CUDA_STREAM_H

#include <cuda_runtime_api.h>

/* A stream of the current device, ordered after what the device's default stream was given before. Given back when all
 * that was queued on it is done; then it may be kept for a later call. NULL is none. */
cudaError_t stream_open(cudaStream_t *stream);
void stream_close(cudaStream_t stream);

/* Destroys one on which something may still be queued. */
void stream_drop(cudaStream_t stream);

/* Destroys those that are kept. */
void stream_trim(void);

#endif
