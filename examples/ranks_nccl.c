/* Rows that are spread over the ranks of a communicator of NCCL: here one rank, whose rows lie in host memory.
 *
 *     cc ranks_nccl.c -o ranks_nccl $(pkg-config --cflags --libs tuplescan-nccl)
 *
 * prints
 *
 *     1 3 6, together 6 */
#include <tuplescan/nccl.h>

#include "check.h"

enum { SKIPPED = 77 }; /* for the tests of this project: there is no GPU here */

int main(void) {
    if (table_cuda_unavailable())
        return SKIPPED;
    int device = 0;
    ncclComm_t comm;
    if (ncclCommInitAll(&comm, 1, &device) != ncclSuccess)
        return 1;
    int64_t values[] = {1, 2, 3}, total;
    const table_view table = {values, 3, 1, 0, TABLE_I64};
    check(table_column_totals_nccl(&table, TABLE_I64, &total, NULL, comm));
    check(table_prefix_sum_nccl(&table, &table, NULL, comm));
    printf("%d %d %d, together %d\n", (int)values[0], (int)values[1], (int)values[2], (int)total);
    ncclCommDestroy(comm);
    table_trim_memory_nccl();
    return 0;
}
