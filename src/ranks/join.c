/* Two states become one, where the memory of both is a transport's. */
#include "join.h"

#include <stdlib.h>
#include <string.h>

#include <tuplescan/state.h>

#include "state.h"

void ranks_lose(void *state, size_t bytes, table_status reason) {
    struct sum_state *header = state;
    memset(state, 0, bytes);
    header->flags = (uint32_t)reason;
}

/* One that has not even begun is no state to join. */
table_status ranks_lost(const void *state) {
    const struct sum_state *header = state;
    if (header->magic != 0)
        return TABLE_OK;
    return header->flags ? (table_status)header->flags : TABLE_ERROR_STATE;
}

/* The rows of a state from `slot` on, those of the levels in the mask: as they are in `from`; zeros if it is NULL. */
static void put_rows(struct sum_state *to, const struct sum_state *from, unsigned slot, uint64_t levels) {
    const size_t bytes = (size_t)to->columns * element_bytes_of(state_element_id(to));
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
    if (element_order_of(state_element_id(header)) == ANY_ORDER) {
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
    struct sum_state *joined = NULL;
    table_status status = ranks_lost(left);
    if (status == TABLE_OK)
        status = ranks_lost(right);
    if (status == TABLE_OK) {
        joined = calloc(1, bytes);
        status = joined ? TABLE_OK : TABLE_ERROR_HOST_MEMORY;
    }
    if (status == TABLE_OK) {
        put_state(joined, left, left);
        status = table_state_join(joined, right);
    }
    if (status == TABLE_OK) {
        const struct sum_state old = *right;
        put_state(right, NULL, &old);
        put_state(right, joined, joined);
    } else {
        ranks_lose(right, bytes, status);
    }
    free(joined);
}
