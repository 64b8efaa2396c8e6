/* Two states become one, where the memory of both is a transport's. */
#include "join.h"

#include <stdlib.h>
#include <string.h>

#include <tuplescan/state.h>

#include "state.h"

bool ranks_state_is_lost(const void *state) {
    static const struct sum_state none;
    return memcmp(state, &none, sizeof none) == 0;
}

/* The rows of a state from `slot` on, those of the levels in the mask: as they are in `from`; zeros if it is NULL. */
static void put_rows(struct sum_state *to, const struct sum_state *from, unsigned slot, uint64_t levels) {
    const size_t bytes = (size_t)to->columns * table_type_size((table_type)to->type);
    for (; levels; levels &= levels - 1) {
        const unsigned row = slot + (unsigned)__builtin_ctzll(levels);
        if (from)
            memcpy(state_row(to, bytes, row), state_row(from, bytes, row), bytes);
        else
            memset(state_row(to, bytes, row), 0, bytes);
    }
}

/* The rows that mean something in a state with that header, which are few of all. */
static void put_state(struct sum_state *to, const struct sum_state *from, const struct sum_state *header) {
    const struct state_digits digits = state_digits(header->first, header->rows);
    *to = *header;
    put_rows(to, from, STATE_START, 1);
    if (state_is_integer(header->type)) {
        put_rows(to, from, STATE_SUM, 1);
        return;
    }
    put_rows(to, from, STATE_RUNS, digits.runs);
    put_rows(to, from, STATE_BLOCKS, digits.blocks);
    put_rows(to, from, STATE_RISING_RUNS, digits.rising_runs);
    put_rows(to, from, STATE_RISING_BLOCKS, digits.rising_blocks);
}

/* What is zero is not touched, since most of a state is. */
void ranks_join(const void *left_state, void *right_state, size_t bytes) {
    const struct sum_state *left = left_state;
    struct sum_state *right = right_state;
    const bool is_lost = ranks_state_is_lost(left) || ranks_state_is_lost(right);
    struct sum_state *joined = is_lost ? NULL : calloc(1, bytes);
    if (joined)
        put_state(joined, left, left);
    if (joined && table_state_join(joined, right) == TABLE_OK) {
        const struct sum_state old = *right;
        put_state(right, NULL, &old);
        put_state(right, joined, joined);
    } else {
        memset(right, 0, bytes);
    }
    free(joined);
}
