/* The CUDA backend's table: memory, order and devices. The runtime is linked statically, so that all of this runs, and
 * finds no device, on a machine without GPU or driver. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../keys/keys.h"
#include "../status.h"
#include "memory.h"
#include "pinned.h"
#include "runtime.h"
#include "stream.h"

/* An error that is reported here must not come up again in the caller's own calls. */
table_status cuda_check(int number, const char *what) {
    const cudaError_t error = (cudaError_t)number;
    cuda_forget(error);
    return error == cudaSuccess
               ? TABLE_OK
               : status_fail(error == cudaErrorMemoryAllocation ? TABLE_ERROR_DEVICE_MEMORY : TABLE_ERROR_DEVICE,
                             "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

static table_status cuda_allocate(size_t bytes, void **memory) {
    return cuda_check(device_memory_allocate(bytes, memory), "allocating device memory");
}

static table_status cuda_copy(const struct scan *scan, void *to, const void *from, size_t bytes) {
    return cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, scan->stream), "copying");
}

/* Rows that are farther apart than the runtime takes, which is cudaDevAttrMaxPitch, 2^31 - 1 on all devices, are so few
 * that each can be copied by itself. */
static table_status cuda_copy_rows(const struct scan *scan, void *to, size_t to_pitch, const void *from,
                                   size_t from_pitch, size_t width, size_t rows) {
    const bool apart = to_pitch > INT_MAX || from_pitch > INT_MAX;
    if (to_pitch == width && from_pitch == width)
        return cuda_copy(scan, to, from, width * rows);
    for (size_t row = 0; row < rows && apart; row++)
        TRY(cuda_copy(scan, (char *)to + row * to_pitch, (const char *)from + row * from_pitch, width));
    if (apart)
        return TABLE_OK;
    return cuda_check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault, scan->stream),
                      "copying rows");
}

static table_status cuda_fill(const struct scan *scan, void *to, unsigned char byte, size_t bytes) {
    return cuda_check(cudaMemsetAsync(to, byte, bytes, scan->stream), "filling device memory");
}

static void set_device_back(const struct scan *scan) {
    if (scan->device_before >= 0)
        cuda_forget(cudaSetDevice(scan->device_before));
}

int cuda_device_of(const struct scan *scan) {
    if (scan->device > 0)
        return scan->device - 1;
    const int device = scan->in.data ? backend_device_of(scan->in.data) : -1;
    return device >= 0 ? device : scan->on_device - 1;
}

/* A call works on the device that its table is on. If that is not the current one, the device before is put back by
 * cuda_close(); it is kept in scan->device_before. */
static table_status cuda_open(struct scan *scan) {
    const int device = cuda_device_of(scan);
    int before = -1;
    table_status status = cuda_check(cudaGetDevice(&before), "asking for the current device");
    const bool changes = status == TABLE_OK && device >= 0 && device != before;
    scan->device_before = changes ? before : -1;
    if (changes)
        status = cuda_check(cudaSetDevice(device), "setting the device of the table");
    if (status == TABLE_OK) {
        cudaStream_t stream = NULL;
        status = cuda_check(stream_open(&stream), "making a stream");
        scan->stream = stream;
    }
    if (status != TABLE_OK)
        set_device_back(scan);
    return status;
}

static table_status cuda_wait(const struct scan *scan) {
    return cuda_check(cudaStreamSynchronize(scan->stream), "waiting for the stream");
}

static void cuda_close(struct scan *scan) {
    stream_close(scan->stream);
    set_device_back(scan);
    scan->stream = NULL;
}

static const struct backend cuda_backend = {
    .id = TABLE_BACKEND_CUDA,
    .takes_values = true,
    .put_start = cuda_operator_start,
    .host_allocate = pinned_allocate,
    .host_release = pinned_release,
    .prefers_fused = cuda_prefers_fused,
    .fused_plan = cuda_fused_plan,
    .fused = cuda_fused,
    .stage1_local_counts = cuda_stage1_local_counts,
    .stage2_sweep = cuda_stage2_sweep,
    .stage3_global_pass = cuda_stage3_global_pass,
    .batch_plan = cuda_batch_plan,
    .batch = cuda_batch,
    .mark_extremes = cuda_mark_extremes,
    .segments_workspace = cuda_segments_workspace,
    .segments = cuda_segments,
    .state_enter = cuda_state_enter,
    .state_leave = cuda_state_leave,
#ifndef TUPLESCAN_WITHOUT_KEYS
    .keys = &key_backend_cuda,
#endif
    .allocate = cuda_allocate,
    .release = device_memory_release,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .copy_rows = cuda_copy_rows,
    .open = cuda_open,
    .wait = cuda_wait,
    .close = cuda_close,
    .clock_open = cuda_clock_open,
    .clock_mark = cuda_clock_mark,
    .clock_seconds = cuda_clock_seconds,
    .clock_close = cuda_clock_close,
    .follow = cuda_follow,
};

/* Any error counts as no device: without a driver the count is left as it was. */
static int device_count(cudaError_t *error) {
    int count = 0;
    *error = cudaGetDeviceCount(&count);
    cuda_forget(*error);
    return *error == cudaSuccess ? count : 0;
}

void backend_cuda_trim(void) {
    device_memory_trim();
    pinned_trim();
    stream_trim();
}

const struct backend *backend_cuda(const char **reason) {
    static _Thread_local char text[160];
    cudaError_t error;
    if (device_count(&error) > 0)
        return &cuda_backend;
    snprintf(text, sizeof text, "no CUDA device: %s", error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    *reason = text;
    return NULL;
}

int backend_device_of(const void *pointer) {
    struct cudaPointerAttributes attributes;
    cudaError_t error;
    if (device_count(&error) == 0)
        return -1;
    error = cudaPointerGetAttributes(&attributes, pointer);
    cuda_forget(error);
    if (error != cudaSuccess)
        return -1;
    const bool on_device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
    return on_device ? attributes.device : -1;
}

static bool describe_device(int index, table_device *device) {
    struct cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, index);
    cuda_forget(error);
    if (error != cudaSuccess)
        return false;
    *device = (table_device){.backend = TABLE_BACKEND_CUDA,
                             .index = index,
                             .usable = properties.major * 10 + properties.minor >= TUPLESCAN_OLDEST_GPU,
                             .major = properties.major,
                             .minor = properties.minor,
                             .processors = properties.multiProcessorCount,
                             .memory = properties.totalGlobalMem};
    snprintf(device->name, sizeof device->name, "%.*s", (int)sizeof device->name - 1, properties.name);
    return true;
}

size_t backend_cuda_devices(table_device *devices, size_t room) {
    cudaError_t error;
    const int count = device_count(&error);
    for (int index = 0; index < count && (size_t)index < room; index++)
        if (!describe_device(index, &devices[index]))
            devices[index] = (table_device){.backend = TABLE_BACKEND_CUDA, .index = index};
    return (size_t)count;
}
