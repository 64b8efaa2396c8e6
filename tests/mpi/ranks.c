#include "ranks/ranks.h"

#include <stdio.h>
#include <string.h>

bool group_open(struct ranks *ranks, int count, bool backwards) {
    int process;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_split(MPI_COMM_WORLD, process < count ? 0 : MPI_UNDEFINED, backwards ? -process : process, &ranks->comm);
    if (ranks->comm == MPI_COMM_NULL)
        return false;
    MPI_Comm_rank(ranks->comm, &ranks->rank);
    ranks->count = count;
    return true;
}

void group_close(struct ranks *ranks) { MPI_Comm_free(&ranks->comm); }

table_status sum_over(const struct ranks *ranks, const table_view *in, const table_view *out,
                      const table_scan_options *options) {
    return table_prefix_sum_mpi(in, out, options, ranks->comm);
}

table_status recurrence_over(const struct ranks *ranks, const table_view *a, const table_view *b, const table_view *h,
                             const table_scan_options *options) {
    return table_linear_recurrence_mpi(a, b, h, options, ranks->comm);
}

table_status totals_over(const struct ranks *ranks, const table_view *in, table_type type, void *totals,
                         const table_scan_options *options) {
    return table_column_totals_mpi(in, type, totals, options, ranks->comm);
}

bool same_text(const struct ranks *ranks, const char *text) {
    char first[256] = "";
    snprintf(first, sizeof first, "%s", text);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, ranks->comm);
    int same = strcmp(first, text) == 0;
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, ranks->comm); /* waits for all ranks */
    return same != 0;
}

double greatest_over(const struct ranks *ranks, double mine) {
    double most = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, ranks->comm);
    return most;
}

void test_communicators(const struct ranks *ranks) {
    float value = 1;
    const table_view table = {&value, 1, 1, 0, TABLE_F32};
    MPI_Comm half, both;
    CHECK(table_prefix_sum_mpi(&table, &table, NULL, MPI_COMM_NULL) == TABLE_ERROR_ARGUMENT);
    if (ranks->count == 1)
        return;
    MPI_Comm_split(ranks->comm, ranks->rank == 0, 0, &half);
    MPI_Intercomm_create(half, 0, ranks->comm, ranks->rank == 0, 7, &both);
    CHECK(table_prefix_sum_mpi(&table, &table, NULL, both) == TABLE_ERROR_ARGUMENT);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    struct ranks world = {.comm = MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &world.count);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    const int code = begin_world(&world, argc, argv);
    unsigned long long seed = code == 0 && world.rank == 0 ? run_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    if (code == 0) {
        test_world(&world);
        test_errors_of_ranks(world.count);
        test_sums_of_ranks(world.count, seed);
        test_totals_of_ranks(world.count, seed);
        test_ranges_of_ranks(world.count, seed);
    }
    MPI_Finalize();
    return code == DONE ? 0 : code;
}
