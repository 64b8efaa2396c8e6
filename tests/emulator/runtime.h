/* Between the files of the fake runtime. */
#ifndef EMULATOR_RUNTIME_H
#define EMULATOR_RUNTIME_H

#include "internal.h"

namespace emulator {

/* Each returns a cudaError_t. */
int memory_make(void **memory, size_t bytes, bool device);
int memory_free(void *memory, bool device);
bool memory_is_device(const void *address);
bool memory_is_pinned(const void *address);
int memory_device(const void *address); /* the one that was current when it was made; -1: no memory of the runtime's */
size_t memory_objects();
size_t memory_left();

void report_clear();

} // namespace emulator

#endif
