#include "serial_sums.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "values.h"

/* log2 of 65536 bytes divided by the row's bytes, these rounded up to a power of two and at most 128. */
static unsigned chunk_levels(size_t row_bytes) {
    unsigned levels = 16;
    for (size_t bytes = 1; bytes < row_bytes && bytes < 128; bytes *= 2)
        levels--;
    return levels;
}

bool serial_sums_begin(struct serial_sums *sums, table_type in_type, table_type type, size_t columns,
                       const void *carry) {
    size_t row_bytes, bytes;
    *sums = (struct serial_sums){.in_type = in_type, .type = type, .columns = columns};
    if (!size_multiply(columns, table_type_size(type), &row_bytes))
        return false;
    sums->row_bytes = row_bytes;
    sums->levels = chunk_levels(row_bytes);
    if (!size_multiply(row_bytes, sums->levels + 3, &bytes) || !(sums->memory = memory_allocate(bytes)))
        return false;
    sums->seed = sums->memory;
    sums->sum = sums->seed + row_bytes;
    sums->value = sums->sum + row_bytes;
    sums->left = sums->value + row_bytes;
    if (carry)
        memcpy(sums->seed, carry, row_bytes);
    else
        memset(sums->seed, 0, row_bytes);
    memcpy(sums->sum, sums->seed, row_bytes);
    return true;
}

/* sums->sum is still the row before, and sums->value the new one. */
static void note_overflow(struct serial_sums *sums) {
    size_t column = row_overflow(sums->type, sums->sum, sums->value, sums->columns);
    if (column == sums->columns)
        return;
    sums->overflowed = true;
    sums->overflow_row = sums->row;
    sums->overflow_column = column;
}

/* From the value of row i up through the runs of 2, 4, ... rows that it lies in. In a left half nothing is added, and
 * its last row is its total; in a right half the total of the left one comes from the left. */
void serial_sums_next(struct serial_sums *sums, const void *row) {
    size_t chunk_rows = (size_t)1 << sums->levels, i = sums->row % chunk_rows;
    if (i == 0 && sums->row > 0)
        memcpy(sums->seed, sums->sum, sums->row_bytes);
    row_convert(sums->in_type, row, sums->type, sums->value, sums->columns);
    for (unsigned level = 0; level < sums->levels; level++) {
        char *left = sums->left + level * sums->row_bytes;
        size_t half = (size_t)1 << level;
        if (i & half)
            row_add(sums->type, sums->value, left, sums->value, sums->columns);
        else if (i % half == half - 1)
            memcpy(left, sums->value, sums->row_bytes);
    }
    row_add(sums->type, sums->value, sums->seed, sums->value, sums->columns);
    if (!sums->overflowed)
        note_overflow(sums);
    char *before = sums->sum;
    sums->sum = sums->value;
    sums->value = before;
    sums->row++;
}

void serial_sums_end(struct serial_sums *sums) { free(sums->memory); }
