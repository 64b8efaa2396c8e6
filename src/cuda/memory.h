/* Device memory for the time of a call. */
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include <stddef.h>

#include <cuda_runtime_api.h>

/* Memory of the current device, contents unspecified; *memory is NULL where it is not to be had. Given back when all
 * work with it is done, by whatever thread; then it may be kept, and is given to a later call. */
cudaError_t device_memory_allocate(size_t bytes, void **memory);
void device_memory_release(void *memory);

/* Gives kept memory that is not in use back to the device. */
void device_memory_trim(void);

#endif
