/* What the exchange between ranks costs here: prints, for some widths, the bytes of a state, and the microseconds of a
 * join, of the agreement after the work, and of the exclusive scan of states over all ranks: the slowest rank's, and
 * the least of many times. docs/machines.md has what follows from them. No test: nothing depends on what it says.
 *
 *     mpirun -n 4 tests/mpi/exchange_time [ROWS of each rank] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "link.h"
#include "ranks/ranks.h"

enum { REPEATS = 101, VALUES = 1 << 22 };

/* The state of `rows` rows of zeros from row `first` on. Its digits are as for any rows. */
static void make_range(void *state, size_t columns, uint64_t first, uint64_t rows) {
    const size_t piece = VALUES / columns;
    float *zeros = calloc(VALUES, sizeof *zeros);
    CHECK(zeros && table_state_begin(state, TABLE_F32, columns, first) == TABLE_OK);
    for (uint64_t done = 0; done < rows; done += piece) {
        const table_view in = {zeros, rows - done < piece ? rows - done : piece, columns, 0, TABLE_F32};
        const table_scan_options options = {.state = state};
        CHECK(table_column_totals(&in, TABLE_F32, NULL, &options) == TABLE_OK);
    }
    free(zeros);
}

struct measured {
    struct mpi_link link;
    size_t bytes;
    void *range, *before, *right;
};

static void join(struct measured *measured) {
    memcpy(measured->before, measured->range, measured->bytes);
    CHECK(table_state_join(measured->before, measured->right) == TABLE_OK);
}

static void agree(struct measured *measured) {
    struct outcome outcome = {.status = TABLE_OK};
    CHECK(together_end(&measured->link.all, &outcome) == TABLE_OK);
}

static void exchange(struct measured *measured) {
    const struct together *all = &measured->link.all;
    CHECK(all->by->before(all, measured->range, measured->before) == TABLE_OK);
}

static double time_of(struct measured *measured, void (*work)(struct measured *)) {
    double least = 1e9;
    for (unsigned i = 0; i < REPEATS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begun = MPI_Wtime();
        work(measured);
        double time = MPI_Wtime() - begun;
        MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        least = time < least ? time : least;
    }
    return 1e6 * least;
}

static void measure(size_t columns, uint64_t rows) {
    struct measured measured;
    struct together *all = &measured.link.all;
    CHECK(mpi_link_begin(&measured.link, MPI_COMM_WORLD) == TABLE_OK);
    CHECK(table_state_bytes(TABLE_F32, columns, &measured.bytes) == TABLE_OK);
    CHECK(all->by->open(all, measured.bytes) == TABLE_OK);
    measured.range = get_memory(measured.bytes);
    measured.before = get_memory(measured.bytes);
    measured.right = get_memory(measured.bytes);
    const uint64_t first = rows * (uint64_t)all->rank;
    make_range(measured.range, columns, first, rows);
    make_range(measured.right, columns, first + rows, rows);
    const double join_time = time_of(&measured, join), agree_time = time_of(&measured, agree);
    const double exchange_time = time_of(&measured, exchange);
    if (all->rank == 0)
        printf("%2d ranks, %6zu columns: %9zu bytes, join %9.1f us, agree %7.1f us, exchange %9.1f us\n", all->ranks,
               columns, measured.bytes, join_time, agree_time, exchange_time);
    mpi_link_close(&measured.link);
    free(measured.range);
    free(measured.before);
    free(measured.right);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000001;
    for (size_t columns = 1; columns <= 16384; columns *= columns < 4 ? 4 : 16)
        measure(columns, columns > 64 ? rows / (columns / 64) : rows);
    MPI_Finalize();
    return 0;
}
