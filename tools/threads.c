#include "threads.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "arguments.h"
#include "cgroups.h"
#include "message.h"

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

int threads_there(unsigned *threads, bool by_variable) {
    static const char variable[] = "TUPLESCAN_NUM_THREADS";
    const char *text = by_variable ? getenv(variable) : NULL;
    unsigned long long number = 0;
    for (const char *c = text ? text : ""; *c; c++) {
        number = 10 * number + (unsigned long long)(*c - '0');
        if (*c < '0' || *c > '9' || number > INT_MAX)
            return fail(EX_USAGE, "%s=%s: not a number of threads, 0 to %d", variable, text, INT_MAX);
    }
    *threads = number > 0 ? (unsigned)number : threads_of_cgroups();
    return GO_ON;
}

void say_fewer_threads(unsigned asked, unsigned took, table_backend backend) {
    table_device cpu;
    if (took >= asked)
        return;
    table_devices(&cpu, 1);
    if (backend == TABLE_BACKEND_CUDA)
        message("--threads %u: is for the CPU, and the work was done on a GPU", asked);
    else if (took >= (unsigned)cpu.processors)
        message("--threads %u: %u took part, as the process may use %d processor%s", asked, took, cpu.processors,
                cpu.processors == 1 ? "" : "s");
    else
        message("--threads %u: %u took part, as more would not be done sooner with data of this size and shape", asked,
                took);
}
