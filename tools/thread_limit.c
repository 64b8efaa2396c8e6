#include "thread_limit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tuplescan/prefix_sum.h>

enum { LINE = 4096 };

unsigned cgroup_numbers(int folder, const char *name, unsigned count, unsigned long long *numbers) {
    char text[64] = "", *at = text, *end = text;
    unsigned found = 0;
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0)
        text[0] = '\0';
    if (file >= 0)
        close(file);
    for (; found < count; found++, at = end) {
        numbers[found] = strtoull(at, &end, 10);
        if (end == at)
            break;
    }
    return found;
}

/* In a container the process's own group may be at the root, whatever its name, from which the last parts are cut. */
static void look_at_group(const char *root, char *name, unsigned version, cgroup_look *look, void *result) {
    const int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (bool is_root = false; top >= 0 && !is_root;) {
        const char *path = name + strspn(name, "/");
        is_root = *path == '\0';
        const int folder = openat(top, is_root ? "." : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (folder >= 0) {
            look(folder, version, result);
            close(folder);
        }
        char *slash = strrchr(name, '/');
        *(slash ? slash : name) = '\0';
    }
    if (top >= 0)
        close(top);
}

/* Whether the list "cpu,cpuacct" has the word. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (; list; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, word, length) == 0 && (list[length] == '\0' || list[length] == ','))
            return true;
    }
    return false;
}

/* "0::/GROUP" of version 2, and "N:...,CONTROLLER,...:/GROUP" of version 1. */
void cgroups_each(const char *controller, cgroup_look *look, void *result) {
    char line[LINE], root[64];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        const bool is_second = *++controllers == '\0';
        snprintf(root, sizeof root, "/sys/fs/cgroup%s%s", is_second ? "" : "/", is_second ? "" : controller);
        if (is_second || has_word(controllers, controller))
            look_at_group(root, group, is_second ? 2 : 1, look, result);
    }
    if (file)
        fclose(file);
}

/* The processors that a quota of CPU time is worth. Version 2 says it as "QUOTA PERIOD", or "max PERIOD". */
static void look_at_quota(int folder, unsigned version, void *result) {
    unsigned long long *most = result, time[2] = {0, 0}; /* quota and period */
    const unsigned found = version == 2 ? cgroup_numbers(folder, "cpu.max", 2, time)
                                        : cgroup_numbers(folder, "cpu.cfs_quota_us", 1, &time[0]) +
                                              cgroup_numbers(folder, "cpu.cfs_period_us", 1, &time[1]);
    if (found < 2 || time[0] == 0 || time[1] == 0 || time[0] > INT64_MAX) /* -1 is no limit, in version 1 */
        return;
    const unsigned long long processors = time[0] / time[1] + (time[0] % time[1] > 0);
    if (processors < *most)
        *most = processors;
}

/* 0: the process may use all its processors. */
static unsigned threads_of_cgroups(void) {
    table_device cpu;
    table_devices(&cpu, 1);
    unsigned long long most = (unsigned long long)cpu.processors;
    cgroups_each("cpu", look_at_quota, &most);
    return most < (unsigned long long)cpu.processors ? (unsigned)most : 0;
}

bool thread_limit(unsigned *threads, bool by_variable) {
    const char *text = by_variable ? getenv(THREAD_LIMIT_VARIABLE) : NULL;
    unsigned long long number = 0;
    for (const char *c = text ? text : ""; *c; c++) {
        number = 10 * number + (unsigned long long)(*c - '0');
        if (*c < '0' || *c > '9' || number > INT_MAX)
            return false;
    }
    *threads = number > 0 ? (unsigned)number : threads_of_cgroups();
    return true;
}
