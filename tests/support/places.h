/* The places that parts of a table may be in (tests/test_devices.c). The test body is linked with one list of them. */
#ifndef PLACES_H
#define PLACES_H

#include <tuplescan/devices.h>

#include "memory.h"

struct place {
    const char *name;
    const struct memory *memory;
    table_backend backend;
    int device; /* where memory of the device is made, or what tables of the host are taken through */
};

size_t place_count(void);
struct place place_at(size_t which);

/* The current device; makes another one current. Without devices 0, and nothing. */
int places_device(void);
void places_set_device(int device);

/* NULL, or why there are none on this machine. */
const char *places_unavailable(void);

#endif
