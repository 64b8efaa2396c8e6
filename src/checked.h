/* Products and sums of sizes that might not fit are made here, and workspaces laid out of them. What a checked view
 * bounds needs no check any more. */
#ifndef CHECKED_H
#define CHECKED_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/prefix_sum.h>

/* *result = a * b, or a + b. False, and *result is not to be used, when that does not fit. */
static inline bool checked_multiply(size_t a, size_t b, size_t *result) {
    return !__builtin_mul_overflow(a, b, result);
}
static inline bool checked_add(size_t a, size_t b, size_t *result) { return !__builtin_add_overflow(a, b, result); }

/* a divided by b, rounded up; b > 0. Cannot overflow. */
static inline size_t divide_up(size_t a, size_t b) { return a / b + (a % b != 0); }

/* a rounded up to a multiple of `to`, which is known to fit. */
static inline size_t round_up(size_t a, size_t to) { return divide_up(a, to) * to; }

/* A workspace, laid out piece by piece. */
struct layout {
    size_t bytes; /* so far */
    bool too_large;
};

/* A piece's place in a workspace; NULL in one that is NULL, as it has no bytes or is not known yet. */
static inline void *layout_at(char *workspace, size_t offset) { return workspace ? workspace + offset : NULL; }

/* The offset of a new piece of count times size bytes, aligned to TABLE_WORKSPACE_ALIGNMENT. */
static inline size_t layout_place(struct layout *layout, size_t count, size_t size) {
    const size_t offset = layout->bytes;
    size_t bytes;
    if (!checked_multiply(count, size, &bytes) || !checked_add(bytes, TABLE_WORKSPACE_ALIGNMENT - 1, &bytes) ||
        !checked_add(layout->bytes, bytes - bytes % TABLE_WORKSPACE_ALIGNMENT, &layout->bytes))
        layout->too_large = true;
    return offset;
}

#endif
