#include "streams_cuda.h"

#include <stddef.h>

#include <cuda_runtime_api.h>

void *cuda_stream_open(void) {
    cudaStream_t stream = NULL;
    return cudaStreamCreate(&stream) == cudaSuccess ? stream : NULL;
}
bool cuda_stream_wait(void *stream) { return cudaStreamSynchronize(stream) == cudaSuccess; }
void cuda_stream_close(void *stream) { cudaStreamDestroy(stream); }
