/* Rows that are spread over the ranks of MPI. Here 1000 rows of ones on each; run by mpirun -n 4.
 *
 *     mpicc ranks_mpi.c -o ranks_mpi $(pkg-config --cflags --libs tuplescan-mpi)
 *
 * prints
 *
 *     the last row is all there are: 1
 *     so are the totals: 1
 *     so is h = 1 h + 1: 1 */
#include <tuplescan/mpi.h>

#include "check.h"

enum { ROWS = 1000 };

static uint32_t ones[ROWS], sums[ROWS];
static float terms[ROWS], results[ROWS];

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const uint32_t all = ROWS * (uint32_t)ranks;
    for (int i = 0; i < ROWS; i++)
        terms[i] = (float)(ones[i] = 1);

    uint32_t total, last[1];
    const table_view in = {ones, ROWS, 1, 0, TABLE_U32}, out = {sums, ROWS, 1, 0, TABLE_U32};
    check(table_prefix_sum_mpi(&in, &out, &(table_scan_options){.carry_out = last}, MPI_COMM_WORLD));
    check(table_column_totals_mpi(&in, TABLE_U32, &total, NULL, MPI_COMM_WORLD));

    float factor = 1, end;
    const table_view a = {&factor, 1, 1, 0, TABLE_F32}, b = {terms, ROWS, 1, 0, TABLE_F32};
    const table_view h = {results, ROWS, 1, 0, TABLE_F32};
    check(table_linear_recurrence_mpi(&a, &b, &h, &(table_scan_options){.carry_out = &end}, MPI_COMM_WORLD));

    if (rank == 0)
        printf("the last row is all there are: %d\nso are the totals: %d\nso is h = 1 h + 1: %d\n", last[0] == all,
               total == all, end == (float)all);
    MPI_Finalize();
    return 0;
}
