#include "mpi/ranks.h"

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

void check_told(const struct ranks *ranks, table_status status, table_status wanted, const char *word) {
    char text[256] = "";
    snprintf(text, sizeof text, "%s", table_error_detail());
    check_note("%s, not %s", table_status_name(status), table_status_name(wanted));
    CHECK(status == wanted);
    CHECK(strstr(text, word) != NULL);
    MPI_Bcast(text, sizeof text, MPI_CHAR, 0, ranks->comm);
    CHECK(strcmp(text, table_error_detail()) == 0);
}

int main(int argc, char **argv) {
    unsigned long long seed;
    int world, process;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    seed = process == 0 ? run_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    test_errors_of_ranks(world);
    test_sums_of_ranks(world, seed);
    test_totals_of_ranks(world, seed);
    test_keys_of_ranks(world, seed);
    MPI_Finalize();
    return 0;
}
