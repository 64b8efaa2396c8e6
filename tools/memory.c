#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "message.h"
#include "number.h"
#include "thread_limit.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; refused, which does no harm, by older ones */
#endif

/* SHARE: what pieces may use of all that the process may, in parts of one. */
enum { HUGE_PAGE = 2 << 20, AT_ONCE = 4 * HUGE_PAGE, SHARE = 4 };

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

void *memory_for(const char *name, size_t bytes) {
    void *const memory = memory_allocate(bytes);
    if (!memory)
        die(EX_OSERR, "%s: out of memory for %zu bytes", name, bytes);
    return memory;
}

void *memory_cleared(const char *name, size_t bytes) { return memset(memory_for(name, bytes), 0, bytes); }

int memory_populate(void *memory, size_t bytes, int advice) {
    for (size_t done = 0; done < bytes; done += AT_ONCE)
        if (madvise((char *)memory + done, bytes - done < AT_ONCE ? bytes - done : AT_ONCE, advice) != 0)
            return -1;
    return 0;
}

static void look_at_cgroup(int folder, unsigned version, void *result) {
    size_t *limit = result;
    unsigned long long bytes;
    const char *name = version == 2 ? "memory.max" : "memory.limit_in_bytes";
    if (cgroup_numbers(folder, name, 1, &bytes) == 1 && bytes < *limit)
        *limit = (size_t)bytes;
}

static size_t limit_of_resource(int which) {
    struct rlimit limit;
    return getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (size_t)limit.rlim_cur : SIZE_MAX;
}

/* All that the process may use; it is looked for once, by the thread that runs the command. */
static size_t limit_of_process(void) {
    static size_t limit;
    if (limit > 0)
        return limit;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    limit = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
    cgroups_each("memory", look_at_cgroup, &limit);
    limit = least(limit, least(limit_of_resource(RLIMIT_AS), limit_of_resource(RLIMIT_DATA)));
    return limit;
}

size_t memory_there(size_t asked) { return asked ? asked : limit_of_process() / SHARE * (SHARE - 1); }

size_t memory_limit(size_t asked) { return asked ? asked : limit_of_process() / SHARE; }

size_t memory_left(const struct memory_budget *budget) {
    return budget->most > budget->used ? budget->most - budget->used : 0;
}

void memory_add(struct memory_budget *budget, size_t bytes) {
    if (__builtin_add_overflow(budget->used, bytes, &budget->used))
        budget->used = SIZE_MAX;
}

size_t memory_needed(const struct memory_budget *budget) {
    enum { BUFFERS_MOST = 16 << 20 }; /* however much may be used */
    const size_t share = budget->most / SHARE + 1, shares = (budget->buffers + share - 1) / share;
    const size_t rest = budget->used - budget->buffers;
    if (shares == 0 || rest > SIZE_MAX / 2 / SHARE)
        return budget->used;
    const size_t most = rest + BUFFERS_MOST;
    const size_t scaled = shares < SHARE ? (rest / (SHARE - shares) + 1) * SHARE : most;
    const size_t needed = least(scaled, most);
    return needed > budget->used ? needed : budget->used;
}

void memory_charge(struct memory_budget *budget, const char *name, size_t bytes) {
    memory_add(budget, bytes);
    if (budget->used > budget->most)
        die(EX_OSERR, "%s: out of memory: %zu bytes are needed, and %zu may be used; --memory says how much", name,
            memory_needed(budget), budget->most);
}
