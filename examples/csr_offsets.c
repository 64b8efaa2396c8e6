/* Where the rows of a sparse matrix begin, from how many entries each of them has: the offsets of the CSR format, of
 * ragged tensors, of anything that lies side by side in pieces of several lengths. There is one offset more than rows;
 * the last one is the number of all entries.
 *
 * prints
 *
 *     0 2 2 5 6 6 10 */
#include <inttypes.h>

#include "check.h"

enum { ROWS = 6 };

int main(void) {
    uint32_t entries[ROWS] = {2, 0, 3, 1, 0, 4};
    uint64_t offsets[ROWS + 1], overflow = 0;

    const table_view in = {.data = entries, .rows = ROWS, .columns = 1, .type = TABLE_U32};
    const table_view out = {.data = offsets, .rows = ROWS + 1, .columns = 1, .type = TABLE_U64};
    const table_scan_options options = {.offsets = 1, .first_overflow = &overflow};
    check(table_prefix_sum(&in, &out, &options));
    if (overflow != TABLE_NO_OVERFLOW) {
        fprintf(stderr, "more than 2^64 entries, from row %" PRIu64 " on\n", overflow);
        return 1;
    }
    for (int row = 0; row <= ROWS; row++)
        printf("%" PRIu64 "%c", offsets[row], row < ROWS ? ' ' : '\n');
    return 0;
}
