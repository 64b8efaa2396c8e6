/* Tables in the memory of devices, spread over ranks, each of which takes the device of its number. Without arguments a
 * test: the bits of one process on the CPU. With ROWS COLUMNS [REPEAT] what the call takes: ranks/times.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "ranks/ranks.h"

enum { COLUMNS_MOST = 9 };

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
    void *state = aligned_alloc(64, (bytes + 63) / 64 * 64);
    CHECK(state != NULL);
    return memset(state, 0, bytes);
}

/* All ranks draw the same table and cuts; some ranks have their rows on the host. */
static void check_table(const struct ranks *ranks, struct random *random) {
    const size_t columns = 1 + random_below(random, COLUMNS_MOST), rows = random_below(random, 30000) / columns;
    const size_t values = rows * columns;
    size_t first = 0, last = rows;
    float last_row[COLUMNS_MOST];
    float *in = malloc(values * sizeof *in + 1), *sums = malloc(values * sizeof *sums + 1), *found, *totals, *expected;
    found = malloc(values * sizeof *found + 1);
    totals = malloc(columns * sizeof *totals);
    expected = malloc(columns * sizeof *expected);
    CHECK(in && sums && found && totals && expected);
    for (size_t i = 0; i < values; i++)
        element_randomize(&in[i], TABLE_F32, random, PATTERN_SMALL);
    for (int rank = 0; rank <= ranks->rank && rank + 1 < ranks->count; rank++) {
        const size_t cut = first + random_below(random, rows - first + 1);
        if (rank == ranks->rank)
            last = cut;
        else
            first = cut;
    }
    const bool on_host = ranks->count > 1 && (ranks->rank + rows) % 4 == 0;
    const table_view whole = rows_of(in, rows, columns), out = rows_of(sums, rows, columns);
    CHECK(table_prefix_sum(&whole, &out, &(table_scan_options){.backend = TABLE_BACKEND_CPU, .carry_out = expected}) ==
          TABLE_OK);
    const size_t mine = (last - first) * columns * sizeof *in;
    void *device = on_device(in + first * columns, mine);
    memcpy(found, in + first * columns, mine);
    const table_view own = rows_of(on_host ? (void *)found : device, last - first, columns);
    check_note("%zu x %zu over %d ranks, this one %d, %s", rows, columns, ranks->count, ranks->rank,
               on_host ? "on the host" : "on its device");
    CHECK(table_column_totals_mpi(&own, TABLE_F32, totals, NULL, ranks->comm) == TABLE_OK);
    CHECK(memcmp(totals, expected, columns * sizeof *totals) == 0);
    void *state = ranks->rank % 2 == 0 ? new_state(columns) : NULL; /* on the host, wherever the table is */
    const table_scan_options options = {.carry_out = totals, .state = state};
    CHECK(table_prefix_sum_mpi(&own, &own, &options, ranks->comm) == TABLE_OK);
    CHECK(!state || table_state_sums(state, last_row) == TABLE_OK);
    CHECK(!state || memcmp(last_row, expected, columns * sizeof *last_row) == 0);
    free(state);
    CHECK(on_host || mine == 0 || cudaMemcpy(found, device, mine, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(memcmp(found, sums + first * columns, mine) == 0);
    CHECK(memcmp(totals, expected, columns * sizeof *totals) == 0);
    cudaFree(device);
    free(in);
    free(sums);
    free(found);
    free(totals);
    free(expected);
}

/* What must be host memory, and is a device's on one rank: all are told what is said of it, before anything is
 * written. */
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

table_status sum_over(const struct ranks *ranks, const table_view *in, const table_view *out,
                      const table_scan_options *options, bool on_device) {
    (void)on_device;
    return table_prefix_sum_mpi(in, out, options, ranks->comm);
}

double greatest_over(const struct ranks *ranks, double mine) {
    double most = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, ranks->comm);
    return most;
}

int main(int argc, char **argv) {
    struct ranks ranks = {.comm = MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    if (table_cuda_unavailable()) {
        if (ranks.rank == 0)
            printf("skipped: %s\n", table_cuda_unavailable());
        MPI_Finalize();
        return 77;
    }
    unsigned long long seed = ranks.rank == 0 ? run_seed() : 0;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    struct random random = {seed};
    take_device(ranks.rank);
    if (argc > 2) {
        time_tables(&ranks, argc, argv);
    } else {
        check_words(&ranks);
        check_detail_stays(&ranks);
        for (unsigned i = 0; i < 20 * run_rounds() / run_few() + 5; i++) {
            const uint64_t next = random_bits(&random);
            struct random same = {next};
            check_table(&ranks, &same);
        }
    }
    MPI_Finalize();
    return 0;
}
