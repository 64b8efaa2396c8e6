/* Rows appended to a state: runs of neighbours of one length become one run, as in a binary counter. */
#include <string.h>

#include "state_call.h"
#include "status.h"
#include "tree.h"

/* Numbers of the rows of level 0 of one kind of runs. */
struct kind {
    unsigned falling, rising;
};

static const struct kind runs = {STATE_RUNS, STATE_RISING_RUNS}, blocks = {STATE_BLOCKS, STATE_RISING_BLOCKS};

/* A run of 2^level (rows, or units) behind the range [begin, end) of the same kind. As long as the run before it is as
 * long, both become one, in the place of that run. The outcome lies on one side or the other of the new range. */
static void push(struct sum_state *state, struct kind kind, uint64_t begin, uint64_t end, unsigned level,
                 const void *total) {
    const struct element *element = state_element(state);
    const size_t row_bytes = state_row_bytes(state);
    const uint64_t pending = state_split(begin, end).falling, all = end + ((uint64_t)1 << level);
    void *merged = NULL;
    for (; pending >> level & 1; level++) {
        void *left = state_row(state, row_bytes, kind.falling + level);
        element->combine(left, left, merged ? merged : total, state->columns);
        if (merged)
            memset(merged, 0, row_bytes);
        merged = left;
    }
    const bool falls = state_split(begin, all).falling >> level & 1;
    void *place = state_row(state, row_bytes, (falls ? kind.falling : kind.rising) + level);
    if (place == merged)
        return;
    memcpy(place, merged ? merged : total, row_bytes);
    if (merged)
        memset(merged, 0, row_bytes);
}

/* The unit before the next row, when it is full and whole, becomes a block. */
static void settle(struct state_end *end) {
    struct sum_state *state = end->state;
    const size_t row_bytes = state_row_bytes(state);
    const uint64_t whole = state->first / STATE_UNIT + (state->first % STATE_UNIT != 0);
    void *unit = state_row(state, row_bytes, STATE_RUNS + STATE_UNIT_LEVEL);
    if (!end->full)
        return;
    push(state, blocks, whole, (state->first + state->rows) / STATE_UNIT - 1, 0, unit);
    memset(unit, 0, row_bytes);
    end->full = false;
}

struct state_end state_end(struct sum_state *state) {
    const uint64_t pending = state_digits(state->first, state->rows).runs;
    return (struct state_end){state, pending >> STATE_UNIT_LEVEL & 1};
}

void state_append_run(struct state_end *end, unsigned level, const void *total) {
    struct sum_state *state = end->state;
    settle(end);
    const uint64_t row = state->first + state->rows, unit = row - row % STATE_UNIT;
    push(state, runs, state->first > unit ? state->first - unit : 0, row - unit, level, total);
    state->rows += (uint64_t)1 << level;
    end->full = state->first <= unit && (state->first + state->rows) % STATE_UNIT == 0;
}

void state_append_block(struct state_end *end, unsigned level, const void *total) {
    struct sum_state *state = end->state;
    settle(end);
    const uint64_t whole = state->first / STATE_UNIT + (state->first % STATE_UNIT != 0);
    push(state, blocks, whole, (state->first + state->rows) / STATE_UNIT, level, total);
    state->rows += (uint64_t)STATE_UNIT << level;
}

void state_append_sum(struct sum_state *state, uint64_t rows, const void *total) {
    void *sum = state_row(state, state_row_bytes(state), STATE_SUM);
    state_element(state)->combine(sum, sum, total, state->columns);
    state->rows += rows;
}

static void append_runs(struct state_end *end, const struct sum_state *right, unsigned slot, uint64_t levels,
                        bool rising, void (*append)(struct state_end *, unsigned, const void *)) {
    const size_t row_bytes = state_row_bytes(right);
    for (unsigned i = 0; i < 64; i++) {
        const unsigned level = rising ? i : 63 - i;
        if (levels >> level & 1)
            append(end, level, state_row(right, row_bytes, slot + level));
    }
}

void state_append(struct sum_state *left, const struct sum_state *right) {
    const struct state_digits digits = state_digits(right->first, right->rows);
    struct state_end end = state_end(left);
    if (!state_element(left)->ordered) {
        state_append_sum(left, right->rows, state_row(right, state_row_bytes(right), STATE_SUM));
        return;
    }
    append_runs(&end, right, STATE_RISING_RUNS, digits.rising_runs, true, state_append_run);
    append_runs(&end, right, STATE_RISING_BLOCKS, digits.rising_blocks, true, state_append_block);
    append_runs(&end, right, STATE_BLOCKS, digits.blocks, false, state_append_block);
    append_runs(&end, right, STATE_RUNS, digits.runs, false, state_append_run);
}

/* Both have begun, and right begins where left ends. */
static table_status check_neighbours(const struct sum_state *left, const struct sum_state *right) {
    size_t left_bytes, right_bytes;
    table_status status = state_header("left", left, &left_bytes);
    if (status == TABLE_OK)
        status = state_header("right", right, &right_bytes);
    if (status != TABLE_OK)
        return status;
    if (left_bytes == 0 || right_bytes == 0)
        return status_fail(TABLE_ERROR_STATE, "%s: has not begun, and is no range of rows",
                           left_bytes == 0 ? "left" : "right");
    status = state_kept("left", left);
    if (status == TABLE_OK)
        status = state_kept("right", right);
    if (status == TABLE_OK)
        status = state_fits("right", right, state_element(left), left->columns);
    if (status != TABLE_OK)
        return status;
    if (left->first + left->rows != right->first)
        return status_fail(TABLE_ERROR_STATE, "right: begins at row %llu, and left ends at %llu",
                           (unsigned long long)right->first, (unsigned long long)(left->first + left->rows));
    const char *start = state_row(right, state_row_bytes(right), STATE_START);
    for (size_t i = 0; i < state_row_bytes(right); i++)
        if (start[i] != 0)
            return status_fail(TABLE_ERROR_STATE, "right: has a start of its own, and left comes before it");
    return state_apart("left", left, "right", right, left_bytes, false);
}

table_status table_state_join(void *left, const void *right) {
    table_status status = state_pointer("left", left);
    if (status == TABLE_OK)
        status = state_pointer("right", right);
    if (status == TABLE_OK)
        status = check_neighbours(left, right);
    if (status == TABLE_OK)
        state_append(left, right);
    return status;
}
