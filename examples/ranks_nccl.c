/* Rows that are spread over the ranks of a communicator of NCCL: here one rank, whose rows lie in host memory.
 *
 *     cc ranks_nccl.c -o ranks_nccl $(pkg-config --cflags --libs tuplescan-nccl)
 *
 * prints
 *
 *     1 3 6, together 6, by halves 4.25 */
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
    float half = 0.5f, terms[] = {1, 2, 3};
    const table_view a = {&half, 1, 1, 0, TABLE_F32}, b = {terms, 3, 1, 0, TABLE_F32};
    check(table_linear_recurrence_nccl(&a, &b, &b, NULL, comm));
    printf("%d %d %d, together %d, by halves %g\n", (int)values[0], (int)values[1], (int)values[2], (int)total,
           (double)terms[2]);
    ncclCommDestroy(comm);
    table_trim_memory_nccl();
    return 0;
}
