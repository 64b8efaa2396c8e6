/* The calls of tuplescan/state.h but for those that save and load. */
#include "state.h"

#include <string.h>

#include "backend.h"
#include "state_call.h"
#include "status.h"
#include "types.h"
#include "validate.h"

_Static_assert(sizeof(struct sum_state) == 64, "the header is 64 bytes");
_Static_assert(STATE_UNIT == 1 << STATE_UNIT_LEVEL, "a unit is a run of the highest level");

table_status state_pointer(const char *name, const void *state) {
    if (!state)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", name);
    if ((uintptr_t)state % STATE_ALIGNMENT != 0)
        return status_fail(TABLE_ERROR_ALIGNMENT, "%s %p is not aligned to %d bytes", name, state, STATE_ALIGNMENT);
    const int device = backend_device_of(state);
    if (device >= 0)
        return status_fail(TABLE_ERROR_BACKEND, "%s is memory of CUDA device %d; copy it to the host first", name,
                           device);
    return TABLE_OK;
}

table_status state_look(const char *name, const void *state, size_t *bytes) {
    TRY(state_pointer(name, state));
    return state_header(name, state, bytes);
}

/* Looks at a state that must have begun, since otherwise it `is_none`. */
static table_status state_look_begun(const char *name, const void *state, const char *is_none, size_t *bytes) {
    TRY(state_look(name, state, bytes));
    if (*bytes == 0)
        return status_fail(TABLE_ERROR_STATE, "%s: has not begun, and %s", name, is_none);
    return state_kept(name, state);
}

table_status state_apart(const char *name_a, const void *a, const char *name_b, const void *b, size_t bytes,
                         bool same_allowed) {
    const uintptr_t one = (uintptr_t)a, other = (uintptr_t)b;
    if ((one < other ? other - one : one - other) >= bytes || (same_allowed && one == other))
        return TABLE_OK;
    return status_fail(TABLE_ERROR_OVERLAP, "%s and %s share memory", name_a, name_b);
}

table_status state_kept(const char *name, const struct sum_state *header) {
    return header->version == STATE_VERSION && header->checksum == 0
               ? TABLE_OK
               : status_fail(TABLE_ERROR_STATE, "%s: is a saved form; table_state_load() makes it a state", name);
}

struct sum_state state_copy_header(const void *state) {
    struct sum_state header;
    memcpy(&header, state, sizeof header);
    return header;
}

static bool all_zero(const void *memory, size_t bytes) {
    const unsigned char *byte = memory;
    return bytes == 0 || (byte[0] == 0 && memcmp(byte, byte + 1, bytes - 1) == 0);
}

static table_status header_numbers(const char *name, const struct sum_state *header) {
    if (header->first > STATE_ROWS_MOST || header->rows > STATE_ROWS_MOST - header->first)
        return status_fail(TABLE_ERROR_STATE, "%s: %llu rows from row %llu on are beyond 2^63", name,
                           (unsigned long long)header->rows, (unsigned long long)header->first);
    if (header->flags & STATE_REFUSED)
        return status_fail(TABLE_ERROR_STATE, "%s: a call in a stream refused it, since it was not of its sums", name);
    if (header->flags != 0 || !all_zero(header->unused, sizeof header->unused))
        return status_fail(TABLE_ERROR_STATE, "%s: its header has bits that this version knows nothing of", name);
    return TABLE_OK;
}

table_status state_header(const char *name, const struct sum_state *header, size_t *bytes) {
    *bytes = 0;
    if (all_zero(header, sizeof *header))
        return TABLE_OK;
    if (header->magic != STATE_MAGIC)
        return status_fail(TABLE_ERROR_STATE, "%s: does not begin as the state of a sum does", name);
    if (header->version != STATE_VERSION && header->version != STATE_SAVED_VERSION)
        return status_fail(TABLE_ERROR_STATE, "%s: version %u is not known, only %d and %d", name, header->version,
                           STATE_VERSION, STATE_SAVED_VERSION);
    const struct element *element = state_element(header);
    if (!element || state_bytes(element, header->columns, bytes) != TABLE_OK)
        return status_fail(TABLE_ERROR_STATE, "%s: there is no state of operation %u, type %u and %llu columns", name,
                           header->operation, header->type, (unsigned long long)header->columns);
    return header_numbers(name, header);
}

static table_status state_is_of(const char *name, const struct sum_state *header, table_type type, size_t columns) {
    if (header->type != (uint32_t)type)
        return status_fail(TABLE_ERROR_STATE, "%s: is of %s of %s, not %s", name, element_plural(state_element(header)),
                           table_type_name((table_type)header->type), table_type_name(type));
    if (header->columns != columns)
        return status_fail(TABLE_ERROR_STATE, "%s: has %llu columns, not %zu", name,
                           (unsigned long long)header->columns, columns);
    return TABLE_OK;
}

table_status state_fits(const char *name, const struct sum_state *header, const struct element *element,
                        size_t columns) {
    const struct element *own = state_element(header);
    if (own->operation != element->operation)
        return status_fail(TABLE_ERROR_STATE, "%s: is of %s of %s, not of %s of %s", name, element_plural(own),
                           table_type_name(own->type), element_plural(element), table_type_name(element->type));
    return state_is_of(name, header, element->type, columns);
}

/* Whether row number `slot` means something. */
static bool slot_counts(const struct sum_state *header, const struct state_digits *digits, unsigned slot) {
    if (slot == STATE_START)
        return header->first == 0;
    if (!state_element(header)->ordered)
        return true;
    if (slot >= STATE_RISING_BLOCKS)
        return digits->rising_blocks >> (slot - STATE_RISING_BLOCKS) & 1;
    if (slot >= STATE_RISING_RUNS)
        return digits->rising_runs >> (slot - STATE_RISING_RUNS) & 1;
    if (slot >= STATE_BLOCKS)
        return digits->blocks >> (slot - STATE_BLOCKS) & 1;
    return digits->runs >> (slot - STATE_RUNS) & 1;
}

/* In any order, the sum of no rows is the start, or the identity where the start is not known. */
static table_status state_of_no_rows(const char *name, const struct sum_state *header, const char *start) {
    const struct element *element = state_element(header);
    const size_t row_bytes = state_row_bytes(header);
    const char *sum = start + row_bytes;
    if (element->ordered)
        return TABLE_OK;
    if (header->first == 0 ? memcmp(start, sum, row_bytes) == 0
                           : element_is_all(element, sum, element->identity, header->columns))
        return TABLE_OK;
    return status_fail(TABLE_ERROR_STATE, "%s: has no rows, and sums other than its start", name);
}

table_status state_rows_clean(const char *name, const struct sum_state *header, const void *rows) {
    const struct state_digits digits = state_digits(header->first, header->rows);
    const size_t row_bytes = state_row_bytes(header);
    const char *row = rows;
    for (unsigned slot = 0; slot < element_state_rows(state_element(header)); slot++, row += row_bytes)
        if (!slot_counts(header, &digits, slot) && !all_zero(row, row_bytes))
            return status_fail(TABLE_ERROR_STATE, "%s: after %llu rows its row %u is not zero, as it has to be", name,
                               (unsigned long long)header->rows, slot);
    return header->rows == 0 ? state_of_no_rows(name, header, rows) : TABLE_OK;
}

struct sum_state state_new_header(const struct element *element, size_t columns, uint64_t first) {
    return (struct sum_state){.magic = STATE_MAGIC,
                              .version = STATE_VERSION,
                              .type = element->type,
                              .columns = columns,
                              .first = first,
                              .operation = element->operation};
}

void state_make(struct sum_state *state, const struct element *element, size_t columns, uint64_t first) {
    *state = state_new_header(element, columns, first);
    memset(state + 1, 0, element_state_rows(element) * state_row_bytes(state));
    state_put_start(state, element);
}

void state_put_start(struct sum_state *state, const struct element *element) {
    const size_t row_bytes = state_row_bytes(state);
    if (element->start_is_zero)
        return;
    if (state->first == 0)
        element_fill(element, state_row(state, row_bytes, STATE_START), element->start, state->columns);
    if (!element->ordered)
        element_fill(element, state_row(state, row_bytes, STATE_SUM), element->identity, state->columns);
}

table_status table_state_begin(void *state, table_type type, size_t columns, uint64_t first_row) {
    return table_state_begin_of(state, TABLE_SUM, type, columns, first_row);
}

table_status table_state_begin_of(void *state, table_operation operation, table_type type, size_t columns,
                                  uint64_t first_row) {
    size_t bytes;
    TRY(state_pointer("state", state));
    TRY(table_state_bytes_of(operation, type, columns, &bytes));
    if (first_row > STATE_ROWS_MOST)
        return status_fail(TABLE_ERROR_TOO_LARGE, "first_row %llu is beyond 2^63", (unsigned long long)first_row);
    state_make(state, element_kept_as(operation, type), columns, first_row);
    return TABLE_OK;
}

table_status table_state_describe(const void *state, size_t bytes, table_state_facts *facts) {
    size_t wanted;
    if (!state || !facts)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", state ? "facts" : "state");
    if (bytes < sizeof(struct sum_state))
        return status_fail(TABLE_ERROR_STATE, "state: %zu bytes are none; its header alone has %zu", bytes,
                           sizeof(struct sum_state));
    const int device = backend_device_of(state);
    if (device >= 0)
        return status_fail(TABLE_ERROR_BACKEND, "state is memory of CUDA device %d; copy it to the host first", device);
    const struct sum_state header = state_copy_header(state);
    TRY(state_header("state", &header, &wanted));
    if (wanted != 0 && bytes != wanted)
        return status_fail(TABLE_ERROR_STATE, "state: %zu bytes, and %llu columns of %s have %zu", bytes,
                           (unsigned long long)header.columns, table_type_name((table_type)header.type), wanted);
    *facts = (table_state_facts){.version = header.version,
                                 .type = (table_type)header.type,
                                 .columns = header.columns,
                                 .first_row = header.first,
                                 .rows = header.rows,
                                 .operation = (table_operation)header.operation};
    return TABLE_OK;
}

/* Whether the bytes are a state of `columns` columns of `type`, by whatever operation. */
static bool is_size(size_t bytes, table_type type, size_t columns) {
    bool is_one = false;
    for (table_operation operation = TABLE_SUM; table_operation_name(operation); operation++) {
        const struct element *element = element_kept_as(operation, type);
        size_t wanted;
        is_one = is_one || (element && state_bytes(element, columns, &wanted) == TABLE_OK && bytes == wanted);
    }
    return is_one;
}

/* Checks a state that has not begun, with type and columns if they are known. */
static table_status check_zeros(const void *state, size_t bytes, table_type type, size_t columns) {
    size_t wanted = bytes;
    if (type && columns)
        TRY(table_state_bytes(type, columns, &wanted));
    if (type && columns && !is_size(bytes, type, columns))
        return status_fail(TABLE_ERROR_STATE, "state: %zu bytes, and %zu columns of %s have %zu", bytes, columns,
                           table_type_name(type), wanted);
    if (!all_zero(state, bytes))
        return status_fail(TABLE_ERROR_STATE, "state: its header is zero, and what follows is not");
    return TABLE_OK;
}

table_status table_state_check(const void *state, size_t bytes, table_type type, size_t columns) {
    table_state_facts facts;
    TRY(state_pointer("state", state));
    TRY(table_state_describe(state, bytes, &facts));
    if (facts.version == 0)
        return check_zeros(state, bytes, type, columns);
    const struct sum_state *header = state;
    TRY(state_kept("state", header));
    TRY(state_is_of("state", header, type ? type : facts.type, columns ? columns : facts.columns));
    return state_rows_clean("state", header, header + 1);
}

table_status table_state_rows(const void *state, uint64_t *rows) {
    size_t bytes;
    if (!rows)
        return status_fail(TABLE_ERROR_ARGUMENT, "rows is a null pointer");
    TRY(state_look("state", state, &bytes));
    *rows = ((const struct sum_state *)state)->rows;
    return TABLE_OK;
}

int table_state_equal(const void *a, const void *b) {
    size_t bytes, other_bytes;
    return state_look("a", a, &bytes) == TABLE_OK && state_look("b", b, &other_bytes) == TABLE_OK &&
           bytes == other_bytes && memcmp(a, b, bytes) == 0;
}

/* Both have begun, and right begins where left ends. */
static table_status check_neighbours(const struct sum_state *left, const struct sum_state *right) {
    size_t left_bytes, right_bytes;
    TRY(state_look_begun("left", left, "is no range of rows", &left_bytes));
    TRY(state_look_begun("right", right, "is no range of rows", &right_bytes));
    TRY(state_fits("right", right, state_element(left), left->columns));
    if (left->first + left->rows != right->first)
        return status_fail(TABLE_ERROR_STATE, "right: begins at row %llu, and left ends at %llu",
                           (unsigned long long)right->first, (unsigned long long)(left->first + left->rows));
    const struct element *element = state_element(right);
    const char *start = state_row(right, state_row_bytes(right), STATE_START);
    if (right->first == 0 ? !element_is_all(element, start, element->start, right->columns)
                          : !all_zero(start, state_row_bytes(right)))
        return status_fail(TABLE_ERROR_STATE, "right: has a start of its own, and left comes before it");
    return state_apart("left", left, "right", right, left_bytes, false);
}

table_status table_state_join(void *left, const void *right) {
    TRY(check_neighbours(left, right));
    state_append(left, right);
    return TABLE_OK;
}

table_status table_state_sums(const void *state, void *row) {
    const struct sum_state *header = state;
    struct table_view view;
    size_t bytes;
    if (!row)
        return status_fail(TABLE_ERROR_ARGUMENT, "row is a null pointer");
    TRY(state_look_begun("state", state, "has no sums", &bytes));
    if (header->first != 0)
        return status_fail(TABLE_ERROR_STATE, "state: begins at row %llu, and the sums above it are not known",
                           (unsigned long long)header->first);
    TRY(validate_row("row", row, header->columns, (table_type)header->type, &view));
    if (backend_device_of(row) >= 0)
        return status_fail(TABLE_ERROR_BACKEND, "row is memory of CUDA device %d", backend_device_of(row));
    const uintptr_t place = (uintptr_t)row, begin = (uintptr_t)state;
    if (place < begin + bytes && begin < place + header->columns * table_type_size((table_type)header->type))
        return status_fail(TABLE_ERROR_OVERLAP, "state and row share memory");
    state_sums(header, row, true);
    return TABLE_OK;
}
