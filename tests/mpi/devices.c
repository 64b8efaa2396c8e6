/* Tests of ranks whose tables are in the memory of devices: each rank takes the device of its number. This file has
 * what the tests of ranks do not know of devices. With the arguments ROWS COLUMNS [REPEAT] the program prints what a
 * call takes: ranks/times.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "ranks/ranks.h"

static void take_device(int rank) {
    int count = 0;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count > 0);
    CHECK(cudaSetDevice(rank % count) == cudaSuccess);
}

static void *on_device(const void *from, size_t bytes) {
    void *memory = NULL;
    CHECK(cudaMalloc(&memory, bytes + 1) == cudaSuccess);
    CHECK(bytes == 0 || cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    return memory;
}

static table_view rows_of(void *data, size_t rows, size_t columns) {
    return (table_view){.data = data, .rows = rows, .columns = columns, .type = TABLE_F32};
}

static void *new_state(size_t columns) {
    size_t bytes;
    CHECK(table_state_bytes(TABLE_F32, columns, &bytes) == TABLE_OK);
    return get_memory(bytes);
}

/* Memory must be the host's, and one rank's is a device's: all ranks get the same error, before anything is written. */
static void check_refused(const char *says, table_status status) {
    check_note("%s on a device: %s", says, table_status_name(status));
    CHECK(status == TABLE_ERROR_BACKEND && strstr(table_error_detail(), says) != NULL);
    CHECK(strncmp(table_error_detail(), "rank 0: ", 8) == 0);
}

static void check_words_named(const struct ranks *ranks, void *word) {
    uint64_t values[4] = {1, 2, 3, 4}, sums[4] = {0};
    void *const mine = ranks->rank == 0 ? word : NULL;
    const table_view in = {values, 4, 1, 0, TABLE_U64}, out = {sums, 4, 1, 0, TABLE_U64};
    const table_view floats = {values, 4, 1, 0, TABLE_F64}, float_sums = {sums, 4, 1, 0, TABLE_F64};
    const MPI_Comm comm = ranks->comm;
    check_refused("options->first_overflow",
                  table_prefix_sum_mpi(&in, &out, &(table_scan_options){.first_overflow = mine}, comm));
    check_refused("options->state", table_prefix_sum_mpi(&in, &out, &(table_scan_options){.state = mine}, comm));
    check_refused("options->carry_in", table_prefix_sum_mpi(&in, &out, &(table_scan_options){.carry_in = mine}, comm));
    check_refused("options->carry_out",
                  table_prefix_sum_mpi(&in, &out, &(table_scan_options){.carry_out = mine}, comm));
    check_refused(
        "options->skipped",
        table_prefix_sum_mpi(&floats, &float_sums, &(table_scan_options){.skip_nan = 1, .skipped = mine}, comm));
    check_refused(
        "options->skipped",
        table_column_totals_mpi(&floats, TABLE_F64, sums, &(table_scan_options){.skip_nan = 1, .skipped = mine}, comm));
    check_refused("options->state",
                  table_column_totals_mpi(&in, TABLE_U64, sums, &(table_scan_options){.state = mine}, comm));
    check_refused("totals", table_column_totals_mpi(&in, TABLE_U64, mine, NULL, comm));
    for (int i = 0; i < 4; i++)
        CHECK(sums[i] == 0);
}

static void check_words(const struct ranks *ranks) {
    static const char zeros[1024];
    void *word = on_device(zeros, sizeof zeros);
    check_words_named(ranks, word);
    CHECK(cudaFree(word) == cudaSuccess);
}

/* A call that does not fail leaves the text of one that did. */
static void check_detail_stays(const struct ranks *ranks) {
    enum { ROWS = 3 };
    float values[ROWS] = {1, 2, 3}, carry;
    void *device = on_device(values, sizeof values), *state = new_state(1);
    const table_scan_options options = {.threads = 1, .state = state, .carry_out = &carry};
    for (int i = 0; i < 3; i++) {
        const bool on_host = i != 1;
        const table_view table = rows_of(on_host ? (void *)values : device, ROWS, 1);
        table_scan_options own = options;
        own.backend = i == 2 ? TABLE_BACKEND_CUDA : TABLE_BACKEND_AUTO;
        CHECK(table_state_begin(state, TABLE_F32, 1, 0) == TABLE_OK);
        CHECK(table_prefix_sum(NULL, NULL, NULL) == TABLE_ERROR_ARGUMENT);
        check_note("tables %s, backend %d", on_host ? "on the host" : "on a device", (int)own.backend);
        CHECK(table_prefix_sum_mpi(&table, &table, &own, ranks->comm) == TABLE_OK);
        CHECK(strcmp(table_error_detail(), "in is a null pointer") == 0);
    }
    free(state);
    CHECK(cudaFree(device) == cudaSuccess);
}

const struct memory *const ranks_memory = &device_memory;

int begin_world(const struct ranks *world, int argc, char **argv) {
    if (table_cuda_unavailable()) {
        if (world->rank == 0)
            printf("skipped: %s\n", table_cuda_unavailable());
        return 77;
    }
    take_device(world->rank);
    if (argc <= 2)
        return 0;
    time_tables(world, argc, argv);
    return DONE;
}

void test_world(const struct ranks *world) {
    check_words(world);
    check_detail_stays(world);
}
