/* Stage 2 of ordered elements, on one thread: the seeds are the 512th part of the table. */
#include <string.h>

#include "../tree.h"
#include "stages.h"

table_status cpu_stage2_sweep(const struct scan *scan, void *seeds, size_t rows, const void *bases) {
    const size_t row_bytes = scan_row_bytes(scan);
    const size_t step = bases ? TABLE_UNIT_ROWS : rows;
    for (size_t first = 0; first + 1 < rows; first += step) {
        char *const row = (char *)seeds + first * row_bytes;
        const size_t left = rows - first;
        if (first > 0) /* above a total there, which only its own block needs */
            memcpy(row, (const char *)bases + first / TABLE_UNIT_ROWS * row_bytes, row_bytes);
        sweep_rows(scan->element, row, left <= step ? left : step + 1, scan->in.columns);
    }
    return TABLE_OK;
}
