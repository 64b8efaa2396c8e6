/* What the calls of tuplescan/state.h share with calls of the scan that have a state. All on the host. */
#ifndef STATE_CALL_H
#define STATE_CALL_H

#include <stdbool.h>

#include <tuplescan/state.h>

#include "../element.h"
#include "state.h"

/* The element that the rows of a state are made of, whose header was found good. */
static inline const struct element *state_element(const struct sum_state *header) {
    return element_kept_as((table_operation)header->operation, (table_type)header->type);
}

/* The bytes of a state of such elements. TOO_LARGE. */
table_status state_bytes(const struct element *element, size_t columns, size_t *bytes);

/* Looks at the pointer `state`, called `name` in the reason: null, not aligned, or on a device. */
table_status state_pointer(const char *name, const void *state);

/* Looks whether two memories of `bytes` bytes, called by these names, are apart, or, if that is allowed, one. */
table_status state_apart(const char *name_a, const void *a, const char *name_b, const void *b, size_t bytes,
                         bool same_allowed);

/* Looks at a header alone. *bytes is what its state has; 0 for a sum that has not begun. */
table_status state_header(const char *name, const struct sum_state *header, size_t *bytes);

/* Looks at the pointer and the header. */
table_status state_look(const char *name, const void *state, size_t *bytes);

/* Looks whether a header is of a state, not of a saved form. */
table_status state_kept(const char *name, const struct sum_state *header);

/* Looks at a header, which has begun, for such elements in `columns` columns. */
table_status state_fits(const char *name, const struct sum_state *header, const struct element *element,
                        size_t columns);

/* Looks at all rows after a header that state_header() found good: those that mean nothing must be zero. `rows` need
 * not be aligned. */
table_status state_rows_clean(const char *name, const struct sum_state *header, const void *rows);

/* The header of a sum that has begun, without rows. */
struct sum_state state_new_header(const struct element *element, size_t columns, uint64_t first);

/* Such a header, and after it the rows of no rows summed. It is known that the bytes fit in size_t. */
void state_make(struct sum_state *state, const struct element *element, size_t columns, uint64_t first);

/* Puts what a scan begins with where the caller has no row into a state of zeros. */
void state_put_start(struct sum_state *state, const struct element *element);

/* The end of a state in the tree's order that has begun, to which totals are appended: each of a run of 2^level rows
 * (level at most STATE_UNIT_LEVEL), or of a block of 2^level units, that begins where the state ends, at a multiple of
 * its length of all rows. When all is appended, the last must have been a run. `total` lies outside of the state. */
struct state_end {
    struct sum_state *state;
    bool full; /* the run of a whole unit is the last one, and has not become a block */
};
struct state_end state_end(struct sum_state *state);
void state_append_total(struct state_end *end, bool of_units, unsigned level, const void *total);

/* Appends the totals of the levels in the mask, the total of level k at row k, from the lowest level up or from the
 * highest down. */
void state_append_levels(struct state_end *end, bool of_units, bool rising, uint64_t levels, const void *rows,
                         size_t row_bytes);

/* Any order: the total of the next `rows` rows. */
void state_append_sum(struct sum_state *state, uint64_t rows, const void *total);

/* The rows of `right`, which begins where `left` ends. */
void state_append(struct sum_state *left, const struct sum_state *right);

/* The running sums through the last row of a sum that began at row 0: elements, or, as_values, what a caller is given
 * of them. */
void state_sums(const struct sum_state *state, void *row, bool as_values);

/* The header is read from bytes at any place. */
struct sum_state state_copy_header(const void *state);

/* The CRC32C (Castagnoli; RFC 3720, appendix B.4) of bytes whose CRC32C is `crc`, followed by `bytes` bytes more at
 * `from`. The CRC32C of no bytes is 0. */
uint32_t state_crc32c(uint32_t crc, const void *from, size_t bytes);

static inline size_t state_row_bytes(const struct sum_state *state) {
    return (size_t)state->columns * state_element(state)->bytes;
}

/* The start of a sum is in its first row; in any order also in this one, as the sum so far. */
static inline unsigned state_last_start(const struct element *element) {
    return element->ordered ? STATE_START : STATE_SUM;
}

struct backend;
struct call;
struct scan;

/* Looks at the state of a checked call, if it has one, and fills in its header before the table. It lies on
 * the host, or call->scan has its stream. */
table_status state_inspect(struct call *call);

/* What a backend whose memory is the host's does before and after the rows: see state_enter and state_leave of
 * backend.h. Before state_leave() only a state that begins is changed. */
table_status state_enter_host(const struct scan *scan);
table_status state_leave_host(const struct scan *scan);

/* The state of a call after state_inspect(), or, if it has none, one that begins with its carry in: on the host, where
 * the caller frees it. And back into the call's state, if it has one, with the sums so far in scan->carry_out, if they
 * are wanted. Both wait. */
table_status state_fetch(const struct call *call, struct sum_state **state);
table_status state_store(const struct call *call, const struct sum_state *state);

/* Appends the totals of the table scan->in, as sums of the state's type, to a state on the host that has begun. Waits.
 */
table_status state_add_rows(const struct backend *backend, struct sum_state *state, const struct scan *scan);

/* A table of totals of blocks, each of 512 blocks of the level before; of level 0, of units. */
enum { TOTAL_LEVELS_MOST = 8 };
struct total_level {
    char *seeds;             /* as stage 1 writes them: from row 1 on */
    size_t rows, head, tail; /* blocks, and how many of them, at the front and at the back, go to the host */
};

/* state_add_rows() in two halves, between which others can be queued: the first one queues what makes the totals, and
 * the second one waits for them and gives back what the first one took, whatever that returned. `scan` and `state` stay
 * where they are meanwhile. Nothing counts NaNs. tell_seconds: NULL in both, or what it takes to tell the host of the
 * totals, for which the second half waits until they are made. */
struct appending {
    const struct backend *backend;
    struct sum_state *state;
    const struct scan *scan;
    size_t row_bytes;
    uint64_t rising, falling; /* levels of the runs before the first whole unit, and after the last one */
    struct total_level levels[TOTAL_LEVELS_MOST];
    unsigned count;       /* of levels */
    size_t rows;          /* of the ends of all levels, which the host's memory has after the runs, as appended */
    char *host, *on;      /* on: memory of the backend, for the levels */
    double *tell_seconds; /* NULL: not wanted */
};
table_status state_begin_rows(struct appending *work);
table_status state_end_rows(struct appending *work, table_status begun);

#endif
