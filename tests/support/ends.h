/* Both ends of a stream (tuplescan/stream.h) in memory. */
#ifndef ENDS_H
#define ENDS_H

#include <string.h>

#include "random.h"

struct ends {
    const char *from;
    char *to;
    size_t left, room;     /* bytes to be read, and to be written */
    struct random *random; /* NULL: reads are not short */
};

static inline int64_t ends_read(void *context, void *to, size_t bytes) {
    struct ends *ends = context;
    size_t some = bytes < ends->left ? bytes : ends->left;
    if (ends->random && some > 0)
        some = random_once_in(ends->random, 3) ? 1 : 1 + random_below(ends->random, some);
    memcpy(to, ends->from, some);
    ends->from += some;
    ends->left -= some;
    return (int64_t)some;
}

static inline int ends_write(void *context, const void *from, size_t bytes) {
    struct ends *ends = context;
    if (bytes > ends->room)
        return -1;
    memcpy(ends->to, from, bytes);
    ends->to += bytes;
    ends->room -= bytes;
    return 0;
}

#endif
