/* The running sums through the last row of a state, which are those of its tree. */
#include <string.h>

#include "state_call.h"
#include "status.h"
#include "tree.h"
#include "validate.h"

enum { PART_BYTES = 512 };

/* Of `columns` columns, at most PART_BYTES, from byte `from` of each row on. seed = start and the blocks, the largest
 * first; inner = the runs, the smallest first. */
static void add_up(const struct sum_state *state, size_t from, size_t columns, char *seed) {
    const struct state_digits digits = state_digits(state->first, state->rows);
    const struct element *element = state_element(state);
    const size_t row_bytes = state_row_bytes(state), bytes = columns * element->bytes;
    char *const start = state_row(state, row_bytes, STATE_START);
    const struct tree runs = {.element = element,
                              .columns = columns,
                              .levels = (char *)state_row(state, row_bytes, STATE_RUNS) + from,
                              .pitch = row_bytes};
    const struct tree blocks = {.element = element,
                                .of_units = true,
                                .columns = columns,
                                .levels = (char *)state_row(state, row_bytes, STATE_BLOCKS) + from,
                                .pitch = row_bytes};
    _Alignas(16) char inner[PART_BYTES];
    memcpy(seed, start + from, bytes);
    if (digits.runs == 0)
        return;
    tree_seed(&blocks, digits.blocks, seed);
    tree_total(&runs, digits.runs, inner);
    element->combine(seed, seed, inner, columns);
}

void state_last_sums(const struct sum_state *state, void *row) {
    const size_t size = state_element(state)->bytes, row_bytes = state_row_bytes(state), most = PART_BYTES / size;
    if (!state_element(state)->ordered) {
        memcpy(row, state_row(state, row_bytes, STATE_SUM), row_bytes);
        return;
    }
    for (size_t done = 0, part; done < state->columns; done += part) {
        part = state->columns - done < most ? state->columns - done : most;
        add_up(state, done * size, part, (char *)row + done * size);
    }
}

table_status table_state_sums(const void *state, void *row) {
    const struct sum_state *header = state;
    struct table_view view;
    size_t bytes;
    if (!row)
        return status_fail(TABLE_ERROR_ARGUMENT, "row is a null pointer");
    table_status status = state_pointer("state", state);
    if (status == TABLE_OK)
        status = state_header("state", header, &bytes);
    if (status == TABLE_OK && bytes == 0)
        status = status_fail(TABLE_ERROR_STATE, "state: has not begun, and has no sums");
    if (status == TABLE_OK)
        status = state_kept("state", header);
    if (status == TABLE_OK && header->first != 0)
        status = status_fail(TABLE_ERROR_STATE, "state: begins at row %llu, and the sums above it are not known",
                             (unsigned long long)header->first);
    if (status == TABLE_OK)
        status = validate_row("row", row, header->columns, (table_type)header->type, &view);
    if (status == TABLE_OK && backend_device_of(row) >= 0)
        status = status_fail(TABLE_ERROR_BACKEND, "row is memory of CUDA device %d", backend_device_of(row));
    const uintptr_t place = (uintptr_t)row, begin = (uintptr_t)state;
    if (status == TABLE_OK && place < begin + bytes && begin < place + state_row_bytes(header))
        status = status_fail(TABLE_ERROR_OVERLAP, "state and row share memory");
    if (status == TABLE_OK)
        state_last_sums(header, row);
    return status;
}
