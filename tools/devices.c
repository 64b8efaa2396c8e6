/* tuplescan devices: what can be used on this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include <tuplescan/prefix_sum.h>

#include "arguments.h"
#include "commands.h"
#include "json.h"
#include "memory.h"
#include "words.h"

static void print_json(const table_device *devices, size_t count) {
    json_object(NULL);
    json_array("devices");
    for (size_t i = 0; i < count; i++) {
        json_object(NULL);
        json_string("backend", word_at(backend_words, devices[i].backend));
        json_size("index", (uint64_t)devices[i].index);
        json_string("name", devices[i].name);
        json_bool("usable", devices[i].usable);
        json_size("major", (uint64_t)devices[i].major);
        json_size("minor", (uint64_t)devices[i].minor);
        json_size("processors", (uint64_t)devices[i].processors);
        json_size("memory", devices[i].memory);
        json_end();
    }
    json_end();
    json_string("cuda_unavailable", table_cuda_unavailable());
    json_end();
}

static void print_text(const table_device *devices, size_t count) {
    const char *reason = table_cuda_unavailable();
    for (size_t i = 0; i < count; i++) {
        const table_device *device = &devices[i];
        double gib = (double)device->memory / (1 << 30);
        if (device->backend == TABLE_BACKEND_CUDA)
            printf("cuda %d  %s, compute capability %d.%d, %d multiprocessors, %.1f GiB%s\n", device->index,
                   device->name, device->major, device->minor, device->processors, gib,
                   device->usable ? "" : " (not usable)");
        else
            printf("cpu     %s, %d processors, %.1f GiB\n", device->name, device->processors, gib);
    }
    if (reason)
        printf("cuda    not usable: %s\n", reason);
}

int devices_main(int argc, char **argv) {
    struct arguments arguments = {0};
    options_parse(&options_of_devices, &arguments, argc, argv);
    const size_t count = table_devices(NULL, 0);
    table_device *devices = memory_for("devices", count * sizeof *devices);
    const size_t there = table_devices(devices, count);
    (arguments.json ? print_json : print_text)(devices, there < count ? there : count);
    free(devices);
    return EX_OK;
}
