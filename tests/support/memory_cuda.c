/* Device memory and streams for the test bodies. Like any caller of the library they use the CUDA runtime and nothing
 * else. */
#include "ways.h"

#include <cuda_runtime_api.h>

static void *device_allocate(size_t bytes) {
    void *base = NULL;
    return cudaMalloc(&base, bytes) == cudaSuccess ? base : NULL;
}

static void device_release(void *base, size_t bytes) {
    (void)bytes;
    cudaFree(base);
}

static bool device_upload(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
}

static bool device_download(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}

const struct memory device_memory = {
    .name = "device",
    .on_device = true,
    .granule = 1,
    .margin = 512,
    .allocate = device_allocate,
    .release = device_release,
    .upload = device_upload,
    .download = device_download,
};

void *cuda_stream_open(void) {
    cudaStream_t stream = NULL;
    return cudaStreamCreate(&stream) == cudaSuccess ? stream : NULL;
}
bool cuda_stream_wait(void *stream) { return cudaStreamSynchronize(stream) == cudaSuccess; }
void cuda_stream_close(void *stream) { cudaStreamDestroy(stream); }
