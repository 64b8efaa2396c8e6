#include "thread_limit.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include <tuplescan/prefix_sum.h>

#include "cgroups.h"

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
