#include "map_rows.h"

#include "checked.h"

static bool has_map_rows(const struct backend *backend, const struct scan *scan) {
    return element_is_map(scan->element) && !backend->takes_values;
}

bool map_rows_bytes(const struct backend *backend, const struct scan *scan, size_t *bytes) {
    const size_t tables = scan->tables > 1 ? scan->tables : 1, alignment = TABLE_WORKSPACE_ALIGNMENT;
    size_t row;
    *bytes = 0;
    if (!has_map_rows(backend, scan))
        return true;
    return checked_multiply(tables, scan->in.columns, &row) && checked_multiply(row, 2 * scan->element->bytes, &row) &&
           checked_multiply(divide_up(row, alignment), alignment, bytes);
}

struct map_rows map_rows_begin(const struct backend *backend, struct scan *scan, void *memory) {
    struct map_rows rows = {.count = scan->in.columns * (scan->tables > 1 ? scan->tables : 1)};
    if (!has_map_rows(backend, scan))
        return rows;
    rows.carry_out = scan->carry_out;
    if (scan->carry_in) {
        scan->element->take(memory, scan->carry_in, rows.count);
        scan->carry_in = memory;
    }
    scan->carry_out = scan->carry_out ? (char *)memory + rows.count * scan->element->bytes : NULL;
    return rows;
}

void map_rows_end(const struct map_rows *rows, const struct scan *scan) {
    if (rows->carry_out)
        scan->element->give(rows->carry_out, scan->carry_out, rows->count);
}
