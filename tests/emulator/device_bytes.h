/* Bytes in memory of the emulated device, for as long as the object lives. */
#ifndef DEVICE_BYTES_H
#define DEVICE_BYTES_H

#include <cuda_runtime_api.h>

#include "table_values.h"

struct device_bytes {
    void *data = nullptr;
    size_t size;
    explicit device_bytes(const bytes &from) : size(from.size()) {
        if (cudaMalloc(&data, size + 1) != cudaSuccess)
            abort();
        cudaMemcpy(data, from.data(), size, cudaMemcpyHostToDevice);
    }
    device_bytes(const device_bytes &) = delete;
    ~device_bytes() { cudaFree(data); }
    char *at(ptrdiff_t place) const { return static_cast<char *>(data) + place; }
    bytes host() const {
        bytes made(size);
        cudaMemcpy(made.data(), data, size, cudaMemcpyDeviceToHost);
        return made;
    }
};

#endif
