#include "places.h"

#include <cuda_runtime_api.h>

/* Each device has its memory among the places, twice as often as tables of the host that it takes through. */
enum { OF_DEVICE = 3 };

static size_t device_count(void) {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? (size_t)count : 0;
}

size_t place_count(void) { return 1 + OF_DEVICE * device_count(); }

struct place place_at(size_t which) {
    if (which == 0)
        return (struct place){"the host", &host_memory, TABLE_BACKEND_AUTO, 0};
    const int device = (int)((which - 1) / OF_DEVICE);
    if ((which - 1) % OF_DEVICE == 0)
        return (struct place){"the host, through a device", &host_memory, TABLE_BACKEND_CUDA, device};
    return (struct place){"a device", &device_memory, TABLE_BACKEND_AUTO, device};
}

int places_device(void) {
    int device = -1;
    return cudaGetDevice(&device) == cudaSuccess ? device : -1;
}

void places_set_device(int device) { cudaSetDevice(device); }

const char *places_unavailable(void) { return table_cuda_unavailable(); }
