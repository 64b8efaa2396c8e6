#include "isa.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#if defined(CPU_X86_64)
#include <cpuid.h>
#endif

#include "../backend.h"

extern const struct cpu_kernels cpu_kernels_plain, cpu_kernels_v2, cpu_kernels_v3, cpu_kernels_v4, cpu_kernels_v4_bits;

/* Each instruction set has the ones before it. */
static const struct cpu_kernels *const kernels_of[CPU_ISAS] = {
    [CPU_ISA_PLAIN] = &cpu_kernels_plain,
#if defined(CPU_X86_64)
    [CPU_ISA_V2] = &cpu_kernels_v2,       [CPU_ISA_V3] = &cpu_kernels_v3,
    [CPU_ISA_V4] = &cpu_kernels_v4,       [CPU_ISA_V4_BITS] = &cpu_kernels_v4_bits,
#endif
};

/* The best instruction set of this processor, by what the compiler was allowed to use of each, as far as processors
 * differ in it. The operating system's part, keeping the wide registers, is looked at too. */
static enum cpu_isa newest(void) {
#if defined(CPU_X86_64)
    unsigned a, b, c = 0, d;
    if (!__builtin_cpu_supports("ssse3") || !__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
        return CPU_ISA_PLAIN;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("fma") || !__get_cpuid(1, &a, &b, &c, &d) ||
        (c & bit_F16C) == 0) /* which clang 14 does not know by name */
        return CPU_ISA_V2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return CPU_ISA_V3;
    return __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni") ? CPU_ISA_V4_BITS : CPU_ISA_V4;
#else
    return CPU_ISA_PLAIN;
#endif
}

const struct cpu_kernels *isa_kernels(enum cpu_isa isa) { return isa <= newest() ? kernels_of[isa] : NULL; }

static const struct cpu_kernels *forced;

/* The processor is asked once: small tables would feel it. */
const struct cpu_kernels *isa_kernels_in_use(void) {
    static const struct cpu_kernels *_Atomic known;
    const struct cpu_kernels *kernels = forced ? forced : atomic_load_explicit(&known, memory_order_relaxed);
    if (kernels == NULL) {
        kernels = kernels_of[newest()];
        atomic_store_explicit(&known, kernels, memory_order_relaxed);
    }
    return kernels;
}

void isa_force(const struct cpu_kernels *kernels) { forced = kernels; }

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
