#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; refused, which does no harm, by older ones */
#endif

enum { HUGE_PAGE = 2 << 20, AT_ONCE = 4 * HUGE_PAGE };

bool memory_is_plenty_for(size_t bytes) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && bytes / (size_t)page < (size_t)pages / 2;
}

void *memory_allocate(size_t bytes) {
    if (bytes < 4 * (size_t)HUGE_PAGE)
        return malloc(bytes ? bytes : 1);
    if (bytes > SIZE_MAX - HUGE_PAGE)
        return NULL;
    size_t rounded = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, rounded);
    if (memory && memory_is_plenty_for(rounded)) {
        madvise(memory, rounded, MADV_HUGEPAGE);
        memory_populate(memory, rounded, MADV_POPULATE_WRITE);
    }
    return memory;
}

int memory_populate(void *memory, size_t bytes, int advice) {
    for (size_t done = 0; done < bytes; done += AT_ONCE)
        if (madvise((char *)memory + done, bytes - done < AT_ONCE ? bytes - done : AT_ONCE, advice) != 0)
            return -1;
    return 0;
}

bool size_multiply(size_t a, size_t b, size_t *result) { return !__builtin_mul_overflow(a, b, result); }
