/* States as messages of MPI: several in one buffer, and such as do not join. */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "ranks/ranks.h"

enum { COLUMNS = 1, ROWS = 5, SUMS = 2 };

static const float ones[ROWS] = {1, 1, 1, 1, 1};

/* ROWS rows of ones from row `first` on. */
static void make_range(void *state, uint64_t first) {
    const table_view in = {(void *)ones, ROWS, COLUMNS, 0, TABLE_F32};
    CHECK(table_state_begin(state, TABLE_F32, COLUMNS, first) == TABLE_OK);
    CHECK(table_column_totals(&in, TABLE_F32, NULL, &(table_scan_options){.state = state}) == TABLE_OK);
}

/* MPI may have several states side by side, as far apart as their type says: each is aligned as a state is. */
static void test_neighbours(void) {
    struct mpi_link link;
    MPI_Aint least, extent;
    size_t bytes;
    CHECK(table_state_bytes(TABLE_F32, COLUMNS, &bytes) == TABLE_OK && bytes % TABLE_STATE_ALIGNMENT != 0);
    CHECK(mpi_link_begin(&link, MPI_COMM_SELF) == TABLE_OK && link.all.by->open(&link.all, bytes) == TABLE_OK);
    CHECK(MPI_Type_get_extent(link.state, &least, &extent) == MPI_SUCCESS && extent >= (MPI_Aint)bytes);
    const size_t room = (2 * bytes / TABLE_STATE_ALIGNMENT + 2) * TABLE_STATE_ALIGNMENT;
    char *left = get_memory(room), *right = get_memory(room), *state = get_memory(room);
    for (int i = 0; i < SUMS; i++) {
        make_range(state, 0);
        memcpy(left + i * extent, state, bytes);
        make_range(state, ROWS);
        memcpy(right + i * extent, state, bytes);
    }
    CHECK(MPI_Reduce_local(left, right, SUMS, link.state, link.join) == MPI_SUCCESS);
    for (int i = 0; i < SUMS; i++) {
        float sum = 0;
        memcpy(state, right + i * extent, bytes);
        CHECK(ranks_lost(state) == TABLE_OK && table_state_sums(state, &sum) == TABLE_OK && sum == 2 * ROWS);
    }
    free(left);
    free(right);
    free(state);
    mpi_link_close(&link);
}

/* A join that cannot be says why, and so does all that is joined with it. */
static void test_lost(void) {
    const size_t bytes = 1024;
    void *left = get_memory(bytes), *right = get_memory(bytes), *last = get_memory(bytes);
    make_range(left, 0);
    make_range(right, ROWS + 1);
    make_range(last, 2 * ROWS + 1);
    ranks_join(left, right, bytes);
    CHECK(ranks_lost(left) == TABLE_OK && ranks_lost(right) == TABLE_ERROR_STATE);
    ranks_join(right, last, bytes);
    CHECK(ranks_lost(last) == TABLE_ERROR_STATE);
    ranks_lose(right, bytes, TABLE_ERROR_DEVICE);
    ranks_join(left, right, bytes);
    CHECK(ranks_lost(right) == TABLE_ERROR_DEVICE);
    free(left);
    free(right);
    free(last);
}

const struct memory *const ranks_memory = &host_memory;

int begin_world(const struct ranks *world, int argc, char **argv) {
    (void)world, (void)argc, (void)argv;
    return 0;
}

void test_world(const struct ranks *world) {
    (void)world;
    check_note("joins");
    test_neighbours();
    test_lost();
}
