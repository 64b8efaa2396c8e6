/* How values are loaded to be summed, on the host and in kernels: plain C that CUDA C can include, too. */
#ifndef VALUE_LOAD_H
#define VALUE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

/* Without NaN, each of them is what changes no result, and is counted once, in memory of the backend (NULL: it is
 * not). */
struct value_load {
    bool without_nan;
    uint64_t *nans;
};

#endif
