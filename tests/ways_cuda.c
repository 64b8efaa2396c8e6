#include "ways.h"

#include <cuda_runtime_api.h>

static void *stream_open(void) {
    cudaStream_t stream = NULL;
    return cudaStreamCreate(&stream) == cudaSuccess ? stream : NULL;
}
static bool stream_wait(void *stream) { return cudaStreamSynchronize(stream) == cudaSuccess; }
static void stream_close(void *stream) { cudaStreamDestroy(stream); }

static const struct way list[] = {
    {"cuda, tables on the device", TABLE_BACKEND_CUDA, &device_memory, true, stream_open, stream_wait, stream_close,
     NULL, NULL},
    {"cuda, tables on the host", TABLE_BACKEND_CUDA, &host_memory, false, NULL, NULL, NULL, NULL, NULL},
};
const struct way *const ways = list;
size_t way_count = sizeof list / sizeof *list;

const char *ways_unavailable(void) { return table_cuda_unavailable(); }
