#include "device_list.h"

#include <stdlib.h>
#include <string.h>

#include <tuplescan/prefix_sum.h>

#include "message.h"

static int take_all(size_t there, struct device_list *devices) {
    if (there == 0)
        return fail(EX_UNAVAILABLE, "--devices all: %s", table_cuda_unavailable());
    for (size_t i = 0; i < there && i < DEVICES_MOST; i++)
        devices->numbers[devices->count++] = (int)i;
    return EX_OK;
}

int take_devices(const char *option, char *text, void *place) {
    struct device_list *devices = place;
    (void)option;
    const size_t there = table_devices(NULL, 0) - 1;
    devices->count = 0;
    if (strcmp(text, "all") == 0)
        return take_all(there, devices);
    for (const char *at = text;; at++) {
        char *end;
        const unsigned long number = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && *end != ',') || devices->count == DEVICES_MOST)
            return fail(EX_USAGE, "--devices %s: not all, nor numbers such as 0,1, at most %d", text, DEVICES_MOST);
        if (number >= there)
            return fail(EX_UNAVAILABLE, "--devices %s: there is no CUDA device %lu%s%s", text, number,
                        there ? "" : ": ", there ? "" : table_cuda_unavailable());
        devices->numbers[devices->count++] = (int)number;
        at = end;
        if (!*at)
            return EX_OK;
    }
}
