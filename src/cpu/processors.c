/* What the CPU has. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "../backend.h"
#include "isa.h"

/* The processors of the process, which is its first thread: the one that asks may be bound to a few of them. */
static unsigned count_processors(void) {
#if defined(__linux__)
    cpu_set_t processors;
    if (sched_getaffinity(getpid(), sizeof processors, &processors) == 0 && CPU_COUNT(&processors) > 0)
        return (unsigned)CPU_COUNT(&processors);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

unsigned backend_cpu_processors(void) {
    static atomic_uint known;
    unsigned count = atomic_load(&known);
    if (count > 0)
        return count;
    const unsigned counted = count_processors();
    return atomic_compare_exchange_strong(&known, &count, counted) ? counted : count;
}

void backend_cpu_device(table_device *device) {
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    *device = (table_device){.backend = TABLE_BACKEND_CPU, .usable = 1};
    snprintf(device->name, sizeof device->name, "CPU, %s", isa_kernels_in_use()->name);
    device->processors = (int)backend_cpu_processors();
    if (pages > 0 && page_bytes > 0)
        device->memory = (uint64_t)pages * (uint64_t)page_bytes;
}
