/* A batch as an arithmetic list of ranges, tables of one shape: what src and kernels are given of it. */
#ifndef RANGE_LIST_H
#define RANGE_LIST_H

#include <stddef.h>

/* The first range lies where the views are that come with the list. From each range to the next it is `in` values where
 * ranges are read, and `out` values where their results are. */
struct range_list {
    size_t count; /* at least 1 */
    ptrdiff_t in, out;
};

#endif
