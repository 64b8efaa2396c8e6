/* A table that comes in pieces, as from a file that is larger than the memory. A state goes from each piece to the next
 * one, and the sums equal the whole table's, bit for bit, wherever it is cut.
 *
 * prints
 *
 *     the pieces have the same bits as the whole */
#include <string.h>

#include "check.h"

enum { ROWS = 50000, COLUMNS = 3 };

/* Stands for reading some rows of a file. */
static void read_rows(float *rows, size_t first, size_t count) {
    for (size_t i = 0; i < count * COLUMNS; i++)
        rows[i] = 1.0F / (float)(1 + (first * COLUMNS + i) % 1000);
}

static table_view rows_of(float *rows, size_t count) {
    return (table_view){.data = rows, .rows = count, .columns = COLUMNS, .type = TABLE_F32};
}

static void *new_state(void) {
    size_t bytes;
    check(table_state_bytes(TABLE_F32, COLUMNS, &bytes));
    return memset(workspace_of(bytes), 0, bytes); /* zeros: a sum that has not begun */
}

static void sum_in_pieces(float *sums) {
    enum { MOST = 9999 };
    static float rows[MOST * COLUMNS];
    void *state = new_state();
    for (size_t first = 0, count = 1; first < ROWS; first += count, count = (3 * count + 1) % MOST) {
        count = ROWS - first < count ? ROWS - first : count;
        read_rows(rows, first, count);
        const table_view in = rows_of(rows, count), out = rows_of(sums + first * COLUMNS, count);
        check(table_prefix_sum(&in, &out, &(table_scan_options){.state = state}));
    }
    free(state);
}

int main(void) {
    static float whole[ROWS * COLUMNS], pieces[ROWS * COLUMNS];
    sum_in_pieces(pieces);

    read_rows(whole, 0, ROWS);
    const table_view table = rows_of(whole, ROWS);
    check(table_prefix_sum(&table, &table, NULL)); /* in place */
    const int same = memcmp(pieces, whole, sizeof whole) == 0;
    printf("the pieces have %s bits as the whole\n", same ? "the same" : "NOT the same");
    return same ? 0 : 1;
}
