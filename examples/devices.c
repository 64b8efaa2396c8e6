/* A table whose rows lie on all GPUs of the machine and in host memory: each place sums its own part, all at the same
 * time, and the sums have the bits of the table as a whole. Without a GPU there are two parts in host memory.
 *
 * prints
 *
 *     the parts have the same bits as the whole */
#include <string.h>

#include "check.h"

enum { ROWS = 100000, COLUMNS = 4, PARTS_MOST = 16 };

static table_view rows_of(float *rows, size_t first, size_t count) {
    return (table_view){.data = rows + first * COLUMNS, .rows = count, .columns = COLUMNS, .type = TABLE_F32};
}

/* The tables of this program lie in host memory, and each GPU takes its part through itself. A part that is in a GPU's
 * own memory is named by its views alone: where they are, it is summed. */
static size_t choose_parts(table_part *parts) {
    table_device devices[PARTS_MOST];
    size_t there = table_devices(devices, PARTS_MOST), count = 0;
    there = there < PARTS_MOST ? there : PARTS_MOST;
    for (size_t i = 0; i < there; i++) /* the CPU is the first of them */
        if (devices[i].usable)
            parts[count++] = (table_part){.backend = devices[i].backend, .device = devices[i].index};
    if (count == 1)
        parts[count++] = parts[0];
    return count;
}

int main(void) {
    static float values[ROWS * COLUMNS], whole[ROWS * COLUMNS];
    static table_part parts[PARTS_MOST];
    const size_t count = choose_parts(parts);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] = 1.0F / (float)(1 + i % 1000);

    const table_view in = rows_of(values, 0, ROWS), out = rows_of(whole, 0, ROWS);
    check(table_prefix_sum(&in, &out, NULL));

    /* Any rows each: here some more for each part than for the one before. */
    for (size_t i = 0, first = 0; i < count; i++) {
        const size_t rows = i + 1 < count ? (ROWS - first) / (count - i + 1) : ROWS - first;
        parts[i].in = parts[i].out = rows_of(values, first, rows); /* in place */
        first += rows;
    }
    table_devices_report report;
    check(table_prefix_sum_devices(parts, count, NULL, &report));
    const int same = memcmp(values, whole, sizeof whole) == 0;
    printf("the parts have %s bits as the whole\n", same ? "the same" : "NOT the same");
    return same ? 0 : 1;
}
