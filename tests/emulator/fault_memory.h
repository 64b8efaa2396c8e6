/* Device memory, and values, of the parts that run with a fault. */
#ifndef FAULT_MEMORY_H
#define FAULT_MEMORY_H

#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

struct memory { /* of the device */
    void *data = nullptr;
    memory(size_t bytes, const void *from = nullptr) {
        if (cudaMalloc(&data, bytes) == cudaSuccess && from)
            cudaMemcpy(data, from, bytes, cudaMemcpyHostToDevice);
        else
            cudaMemset(data, 0, bytes);
    }
    memory(const memory &) = delete;
    ~memory() { cudaFree(data); }
    template <class T> T *as() const { return static_cast<T *>(data); }
};

inline std::vector<uint32_t> numbers(size_t count, uint32_t first = 0) {
    std::vector<uint32_t> all(count);
    for (size_t index = 0; index < count; index++)
        all[index] = (first + static_cast<uint32_t>(index)) * 2654435761u >> 5;
    return all;
}

#endif
