/* States on the host: rows appended, where runs of neighbours of one length become one run, as in a binary counter; the
 * running sums through the last row; and what a call does before and after its rows. */
#include <string.h>

#include "checked.h"
#include "pipeline.h"
#include "state_call.h"
#include "status.h"
#include "tree.h"

table_status state_bytes(const struct element *element, size_t columns, size_t *bytes) {
    size_t all;
    if (!checked_multiply(columns, element->bytes, &all) || !checked_multiply(all, element_state_rows(element), &all) ||
        !checked_add(all, sizeof(struct sum_state), &all) || all > PTRDIFF_MAX)
        return status_fail(TABLE_ERROR_TOO_LARGE, "a state of %zu columns of %s cannot be addressed", columns,
                           table_type_name(element->type));
    *bytes = all;
    return TABLE_OK;
}

table_status table_state_bytes_of(table_operation operation, table_type type, size_t columns, size_t *bytes) {
    const struct element *element = element_kept_as(operation, type);
    if (!bytes)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
    if (!table_operation_name(operation))
        return status_fail(TABLE_ERROR_ARGUMENT, "operation %d is no operation", (int)operation);
    if (!element)
        return status_fail(TABLE_ERROR_TYPE, "type %d is not one that a %s is kept in", (int)type,
                           table_operation_name(operation));
    return state_bytes(element, columns, bytes);
}

table_status table_state_bytes(table_type type, size_t columns, size_t *bytes) {
    return table_state_bytes_of(TABLE_SUM, type, columns, bytes);
}

/* Numbers of the rows of level 0 of one kind of runs. */
struct kind {
    unsigned falling, rising;
    bool of_units;
};

static const struct kind runs = {STATE_RUNS, STATE_RISING_RUNS, false};
static const struct kind blocks = {STATE_BLOCKS, STATE_RISING_BLOCKS, true};

/* Appends the total of a run of 2^level rows, or of a block of 2^level units, to the range [begin, end) of its kind. As
 * long as the one before it is as long, both become one, which is among the falling or the rising ones of the new
 * range. */
static void push(struct sum_state *state, struct kind kind, uint64_t begin, uint64_t end, unsigned level,
                 const void *total) {
    const size_t row_bytes = state_row_bytes(state);
    const uint64_t pending = state_split(begin, end).falling >> level, all = end + ((uint64_t)1 << level);
    const struct tree tree = {.element = state_element(state),
                              .of_units = kind.of_units,
                              .columns = state->columns,
                              .levels = state_row(state, row_bytes, kind.falling + level),
                              .pitch = row_bytes};
    const unsigned merged = (unsigned)__builtin_ctzll(~pending);
    const bool falls = state_split(begin, all).falling >> (level + merged) & 1;
    void *const place = state_row(state, row_bytes, (falls ? kind.falling : kind.rising) + level + merged);
    memcpy(place, total, row_bytes);
    tree_push(&tree, pending, place);
    memset(tree.levels, 0, merged * row_bytes);
}

/* The unit before the next row, when it is full and whole, becomes a block. */
static void settle(struct state_end *end) {
    struct sum_state *state = end->state;
    const size_t row_bytes = state_row_bytes(state);
    void *unit = state_row(state, row_bytes, STATE_RUNS + STATE_UNIT_LEVEL);
    if (!end->full)
        return;
    push(state, blocks, divide_up(state->first, STATE_UNIT), (state->first + state->rows) / STATE_UNIT - 1, 0, unit);
    memset(unit, 0, row_bytes);
    end->full = false;
}

struct state_end state_end(struct sum_state *state) {
    const uint64_t pending = state_digits(state->first, state->rows).runs;
    return (struct state_end){state, pending >> STATE_UNIT_LEVEL & 1};
}

void state_append_total(struct state_end *end, bool of_units, unsigned level, const void *total) {
    struct sum_state *state = end->state;
    settle(end);
    const uint64_t row = state->first + state->rows, unit = row - row % STATE_UNIT;
    if (of_units) {
        push(state, blocks, divide_up(state->first, STATE_UNIT), row / STATE_UNIT, level, total);
        state->rows += (uint64_t)STATE_UNIT << level;
    } else {
        push(state, runs, state->first > unit ? state->first - unit : 0, row - unit, level, total);
        state->rows += (uint64_t)1 << level;
        end->full = state->first <= unit && (state->first + state->rows) % STATE_UNIT == 0;
    }
}

void state_append_levels(struct state_end *end, bool of_units, bool rising, uint64_t levels, const void *rows,
                         size_t row_bytes) {
    for (unsigned level; levels != 0; levels ^= (uint64_t)1 << level) {
        level = (unsigned)(rising ? __builtin_ctzll(levels) : 63 - __builtin_clzll(levels));
        state_append_total(end, of_units, level, (const char *)rows + level * row_bytes);
    }
}

void state_append_sum(struct sum_state *state, uint64_t rows, const void *total) {
    void *sum = state_row(state, state_row_bytes(state), STATE_SUM);
    state_element(state)->combine(sum, sum, total, state->columns);
    state->rows += rows;
}

void state_append(struct sum_state *left, const struct sum_state *right) {
    const struct state_digits digits = state_digits(right->first, right->rows);
    const size_t row_bytes = state_row_bytes(right);
    struct state_end end = state_end(left);
    if (!state_element(left)->ordered) {
        state_append_sum(left, right->rows, state_row(right, row_bytes, STATE_SUM));
        return;
    }
    const struct {
        struct kind kind;
        bool rising;
        uint64_t levels;
    } parts[] = {{runs, true, digits.rising_runs},
                 {blocks, true, digits.rising_blocks},
                 {blocks, false, digits.blocks},
                 {runs, false, digits.runs}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        state_append_levels(&end, parts[i].kind.of_units, parts[i].rising, parts[i].levels,
                            state_row(right, row_bytes, parts[i].rising ? parts[i].kind.rising : parts[i].kind.falling),
                            row_bytes);
}

enum { PART_BYTES = 512 };

/* Adds up the last sums of `columns` columns, which have at most PART_BYTES, from byte `from` of each row on. They are
 * the start and the blocks, the largest first (seed), and the runs, the smallest first (inner). */
static void add_up(const struct sum_state *state, size_t from, size_t columns, char *seed) {
    const struct state_digits digits = state_digits(state->first, state->rows);
    const struct element *element = state_element(state);
    const size_t row_bytes = state_row_bytes(state), bytes = columns * element->bytes;
    char *const start = state_row(state, row_bytes, STATE_START);
    const struct tree rows = {.element = element,
                              .columns = columns,
                              .levels = (char *)state_row(state, row_bytes, STATE_RUNS) + from,
                              .pitch = row_bytes};
    const struct tree units = {.element = element,
                               .of_units = true,
                               .columns = columns,
                               .levels = (char *)state_row(state, row_bytes, STATE_BLOCKS) + from,
                               .pitch = row_bytes};
    _Alignas(16) char inner[PART_BYTES];
    memcpy(seed, start + from, bytes);
    if (digits.runs == 0)
        return;
    tree_seed(&units, digits.blocks, seed);
    tree_total(&rows, digits.runs, inner);
    element->combine(seed, seed, inner, columns);
}

/* By as many columns as add_up() takes. */
void state_sums(const struct sum_state *state, void *to, bool as_values) {
    const struct element *element = state_element(state);
    const bool gives = as_values && element->is_map;
    const size_t bytes = element->bytes, size = gives ? table_type_size(element->type) : bytes;
    const size_t most = PART_BYTES / bytes, columns = state->columns;
    _Alignas(16) char sums[PART_BYTES];
    char *const row = to;
    if (!element->ordered)
        memcpy(row, state_row(state, columns * bytes, STATE_SUM), columns * bytes);
    for (size_t done = 0, part; element->ordered && done < columns; done += part) {
        part = columns - done < most ? columns - done : most;
        add_up(state, done * bytes, part, gives ? sums : row + done * bytes);
        if (gives)
            element->give(row + done * size, sums, part);
    }
}

table_status state_enter_host(const struct scan *scan) {
    const size_t row_bytes = scan_row_bytes(scan);
    if (!scan->begins)
        return TABLE_OK;
    memset(scan->state, 0, scan_state_bytes(scan));
    *scan->state = *scan->header_before;
    state_put_start(scan->state, scan->element);
    for (unsigned slot = STATE_START; slot <= state_last_start(scan->element) && scan->carry_in; slot++)
        memcpy(state_row(scan->state, row_bytes, slot), scan->carry_in, row_bytes);
    return TABLE_OK;
}

/* One kind of runs: `now` says which of them the backend has left in state_out, `before` which ones the state had. */
static void take_over(const struct scan *scan, unsigned first_slot, uint64_t before, uint64_t now) {
    const size_t row_bytes = scan_row_bytes(scan);
    char *const rows = state_row(scan->state, row_bytes, first_slot);
    tree_copy_levels(rows, row_bytes, state_row(scan->state_out, row_bytes, first_slot), row_bytes, now, row_bytes);
    for (uint64_t gone = before & ~now; gone != 0; gone &= gone - 1)
        memset(rows + (size_t)__builtin_ctzll(gone) * row_bytes, 0, row_bytes);
}

table_status state_leave_host(const struct scan *scan) {
    const struct state_digits before = state_digits(0, scan->first_row);
    const struct state_digits now = state_digits(0, scan->first_row + scan->in.rows);
    const bool ordered = scan->element->ordered;
    if (!ordered && scan->state_out)
        memcpy(state_row(scan->state, scan_row_bytes(scan), STATE_SUM), scan->state_out, scan_row_bytes(scan));
    if (ordered && scan->chunks > 0) {
        take_over(scan, STATE_RUNS, before.runs, now.runs);
        take_over(scan, STATE_BLOCKS, before.blocks, now.blocks);
    }
    if (scan->chunks == 0 && scan->carry_out)
        state_sums(scan->state, scan->carry_out, false);
    if (scan->first_overflow && *scan->first_overflow != TABLE_NO_OVERFLOW)
        *scan->first_overflow += scan->first_row * scan->in.columns;
    scan->state->rows = scan->first_row + scan->in.rows;
    return TABLE_OK;
}
