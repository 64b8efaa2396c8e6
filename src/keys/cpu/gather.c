/* Values fetched in an order. */
#include <string.h>

#include "checked.h"
#include "pipelines.h"
#include "pool.h"

enum { VALUES_PER_JOB = 1 << 16 };

static void gather_some(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct gather *gather = jobs->context;
    const size_t begin = number * VALUES_PER_JOB, left = gather->count - begin, bytes = gather->value_bytes;
    const size_t end = begin + (left < VALUES_PER_JOB ? left : VALUES_PER_JOB);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t from =
            gather->order_bytes == 4 ? ((const uint32_t *)gather->order)[i] : ((const uint64_t *)gather->order)[i];
        memcpy((char *)gather->to + i * bytes, (const char *)gather->from + from * bytes, bytes);
    }
}

table_status cpu_gather(const struct scan *scan, const struct gather *gather) {
    struct jobs jobs = {.work = gather_some, .context = gather, .count = divide_up(gather->count, VALUES_PER_JOB)};
    return jobs_run(&jobs, scan->threads);
}
