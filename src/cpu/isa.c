#include "isa.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#if defined(CPU_X86_64)
#include <cpuid.h>
#endif

#include "../backend.h"

extern const struct cpu_kernels cpu_kernels_plain, cpu_kernels_v3, cpu_kernels_v4, cpu_kernels_v4_bits;

/* Each instruction set has the ones before it. */
static const struct cpu_kernels *const kernels_of[CPU_ISAS] = {
    [CPU_ISA_PLAIN] = &cpu_kernels_plain,
#if defined(CPU_X86_64)
    [CPU_ISA_V3] = &cpu_kernels_v3,
    [CPU_ISA_V4] = &cpu_kernels_v4,
    [CPU_ISA_V4_BITS] = &cpu_kernels_v4_bits,
#endif
};

#if defined(CPU_X86_64)
static bool has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

/* The registers that the operating system keeps for a program, by their bits in XCR0; CPUID_1 is what cpuid says in ecx
 * of leaf 1. */
static unsigned registers_kept(unsigned cpuid_1) {
    unsigned low = 0, high;
    if (has(cpuid_1, bit_OSXSAVE))
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

/* The best instruction set of this processor, by what the compiler was allowed to use of each, as far as processors
 * differ in it. The processor is asked, and not __builtin_cpu_supports(), which is of the compiler's library: that of
 * ziglang, by which wheels are made, says no to everything. */
static enum cpu_isa newest(void) {
#if defined(CPU_X86_64)
    const unsigned ymm = 0x6, zmm = 0xe6;
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return CPU_ISA_PLAIN;
    const unsigned kept = registers_kept(c);
    if (!has(kept, ymm) || !has(c, bit_AVX | bit_FMA | bit_F16C) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        !has(b, bit_AVX2 | bit_BMI | bit_BMI2))
        return CPU_ISA_PLAIN;
    if (!has(kept, zmm) || !has(b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL))
        return CPU_ISA_V3;
    return has(c, bit_AVX512VPOPCNTDQ | bit_GFNI) ? CPU_ISA_V4_BITS : CPU_ISA_V4;
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
