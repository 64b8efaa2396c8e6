/* What stands in for src/cuda in a build without CUDA. */
#include "../backend.h"

const struct backend *backend_cuda(const char **reason) {
    *reason = "built without CUDA";
    return NULL;
}

void backend_cuda_trim(void) {}

int backend_device_of(const void *pointer) {
    (void)pointer;
    return -1;
}

size_t backend_cuda_devices(table_device *devices, size_t room) {
    (void)devices;
    (void)room;
    return 0;
}
