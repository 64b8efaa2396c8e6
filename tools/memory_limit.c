/* How much memory the process may use. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "number.h"

enum { SHARE = 4, LINE = 4096 };

/* The number in the file of a cgroup; SIZE_MAX: there is none, or no limit ("max"). */
static size_t limit_in(const char *folder, const char *group, size_t length, const char *name) {
    char path[LINE];
    unsigned long long bytes;
    if (snprintf(path, sizeof path, "%s%.*s/%s", folder, (int)length, group, name) >= (int)sizeof path)
        return SIZE_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return SIZE_MAX;
    const int found = fscanf(file, "%llu", &bytes);
    fclose(file);
    return found == 1 && bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

/* Each cgroup above a cgroup limits it, too. In a container its own may be at the root, whatever its name. */
static size_t limit_of_group(const char *folder, const char *group, const char *name) {
    size_t limit = limit_in(folder, "", 0, name);
    for (size_t length = strlen(group); length > 0; length--)
        if (length == strlen(group) || group[length] == '/')
            limit = least(limit, limit_in(folder, group, length, name));
    return limit;
}

/* "0::/GROUP" of version 2, and "N:...,memory,...:/GROUP" of version 1. */
static size_t limit_of_cgroups(void) {
    char line[LINE];
    size_t limit = SIZE_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        if (controllers[1] == '\0')
            limit = least(limit, limit_of_group("/sys/fs/cgroup", group, "memory.max"));
        else if (strstr(controllers, "memory"))
            limit = least(limit, limit_of_group("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    if (file)
        fclose(file);
    return limit;
}

static size_t limit_of_resource(int which) {
    struct rlimit limit;
    return getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (size_t)limit.rlim_cur : SIZE_MAX;
}

/* All that the process may use. */
static size_t limit_of_process(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t limit = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX;
    limit = least(limit, limit_of_cgroups());
    return least(limit, least(limit_of_resource(RLIMIT_AS), limit_of_resource(RLIMIT_DATA)));
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

int memory_charge(struct memory_budget *budget, const char *name, size_t bytes) {
    memory_add(budget, bytes);
    return budget->used <= budget->most
               ? EX_OK
               : fail(EX_OSERR, "%s: out of memory: %zu bytes are needed, and %zu may be used; --memory says how much",
                      name, memory_needed(budget), budget->most);
}
