/* The CPU backend with each of its instruction sets that this machine has, one after the other, and each twice: as it
 * is, and as if small tables were large, so that they too are shared among threads and written past the caches. */
#include "support/ways.h"

#include <stdio.h>

#include "division.h"
#include "isa.h"
#include "key_kernels.h"

struct setting {
    const struct cpu_kernels *kernels;
    struct division_limits limits;
    struct key_limits keys;
    char name[64];
};

enum { SETTINGS = 2 * CPU_ISAS };
static struct setting settings[SETTINGS];
static struct way list[SETTINGS];
const struct way *const ways = list;
size_t way_count;

static void *no_stream(void) { return NULL; }
static bool no_wait(void *stream) { return stream == NULL; }
static void no_close(void *stream) { (void)stream; }

static void enter(const struct way *way) {
    const struct setting *setting = way->context;
    isa_force(setting->kernels);
    division_limits = setting->limits;
    key_limits = setting->keys;
}

static void add(const struct cpu_kernels *kernels, struct division_limits limits, struct key_limits keys,
                const char *limits_name) {
    struct setting *setting = &settings[way_count];
    *setting = (struct setting){.kernels = kernels, .limits = limits, .keys = keys};
    snprintf(setting->name, sizeof setting->name, "cpu %s%s", kernels->name, limits_name);
    list[way_count++] = (struct way){.name = setting->name,
                                     .backend = TABLE_BACKEND_CPU,
                                     .memory = &host_memory,
                                     .direct = true,
                                     .stream_open = no_stream,
                                     .stream_wait = no_wait,
                                     .stream_close = no_close,
                                     .enter = enter,
                                     .context = setting};
}

const char *ways_unavailable(void) {
    const struct division_limits as_it_is = division_limits,
                                 low = {.thread_bytes = 1, .stream_bytes = 1, .turned_bytes = 1, .threads = 8};
    const struct key_limits keys_as_they_are = key_limits, few_keys = {.chunk = 500, .lines = 3000, .crowd = 0};
    for (int isa = 0; isa < CPU_ISAS; isa++) {
        const struct cpu_kernels *kernels = isa_kernels((enum cpu_isa)isa);
        if (!kernels) {
            printf("instruction set %d is not there: left out\n", isa);
            continue;
        }
        add(kernels, as_it_is, keys_as_they_are, "");
        add(kernels, low, few_keys, ", low limits");
    }
    return way_count > 0 ? NULL : "no kernels";
}
