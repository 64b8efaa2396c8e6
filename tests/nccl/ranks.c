/* Ranks that are threads of this process, each with a device of its own and a communicator of NCCL. */
#include "ranks/ranks.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

enum { WORLD_MOST = 7, TEXT = 256 };

static _Thread_local char note[2 * TEXT];
static _Thread_local int thread; /* its number in the world, and that of its device */

static ncclComm_t comms[WORLD_MOST + 1][2][WORLD_MOST]; /* by count, direction and rank */
static pthread_barrier_t barriers[WORLD_MOST + 1];      /* by count */
static char texts[WORLD_MOST][TEXT];
static double numbers[WORLD_MOST];
static int world, argument_count;
static char **arguments;
static uint64_t seed;

void check_note(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(note, sizeof note, format, rest);
    va_end(rest);
}

void check_that(bool condition, const char *text, const char *file, int line) {
    if (condition)
        return;
    fprintf(stderr, "%s:%d: thread %d: %s\n  %s\n  last error: %s\n", file, line, thread, text, note,
            table_error_detail());
    _Exit(1);
}

bool group_open(struct ranks *ranks, int count, bool backwards) {
    if (thread >= count)
        return false;
    ranks->count = count;
    ranks->rank = backwards ? count - 1 - thread : thread;
    ranks->comm = comms[count][backwards][ranks->rank];
    return true;
}

void group_close(struct ranks *ranks) { ranks->comm = NULL; }

const struct memory *const ranks_memory = &device_memory;

table_status sum_over(const struct ranks *ranks, const table_view *in, const table_view *out,
                      const table_scan_options *options) {
    const table_status status = table_prefix_sum_nccl(in, out, options, ranks->comm);
    CHECK(status != TABLE_OK || cudaPeekAtLastError() == cudaSuccess);
    return status;
}

table_status recurrence_over(const struct ranks *ranks, const table_view *a, const table_view *b, const table_view *h,
                             const table_scan_options *options) {
    return table_linear_recurrence_nccl(a, b, h, options, ranks->comm);
}

table_status totals_over(const struct ranks *ranks, const table_view *in, table_type type, void *totals,
                         const table_scan_options *options) {
    return table_column_totals_nccl(in, type, totals, options, ranks->comm);
}

bool same_text(const struct ranks *ranks, const char *text) {
    snprintf(texts[ranks->rank], TEXT, "%s", text);
    pthread_barrier_wait(&barriers[ranks->count]);
    const bool same = strcmp(texts[0], text) == 0;
    pthread_barrier_wait(&barriers[ranks->count]);
    return same;
}

double greatest_over(const struct ranks *ranks, double mine) {
    double most = mine;
    numbers[ranks->rank] = mine;
    pthread_barrier_wait(&barriers[ranks->count]);
    for (int i = 0; i < ranks->count; i++)
        most = numbers[i] > most ? numbers[i] : most;
    pthread_barrier_wait(&barriers[ranks->count]);
    return most;
}

void test_communicators(const struct ranks *ranks) {
    float value = 1;
    int device = -1;
    const table_view table = {&value, 1, 1, 0, TABLE_F32};
    CHECK(table_prefix_sum_nccl(&table, &table, NULL, NULL) == TABLE_ERROR_ARGUMENT);
    void *row = NULL;
    CHECK(cudaMalloc(&row, sizeof value) == cudaSuccess);
    const table_scan_options options = {.carry_out = row};
    check_told(ranks, table_prefix_sum_nccl(&table, &table, &options, ranks->comm), TABLE_ERROR_BACKEND, "carry_out");
    CHECK(cudaFree(row) == cudaSuccess);
    /* The communicator's device is taken, and the caller's is put back. */
    CHECK(cudaSetDevice((thread + 1) % world) == cudaSuccess);
    CHECK(table_prefix_sum_nccl(&table, &table, NULL, ranks->comm) == TABLE_OK);
    CHECK(cudaGetDevice(&device) == cudaSuccess && device == (thread + 1) % world);
    CHECK(cudaSetDevice(thread) == cudaSuccess && value == (float)ranks->rank + 1);
}

#ifdef EMULATOR_NCCL_H
/* Devices that have no memory left: the ranks tell each other what they have to nevertheless, and the CPU sums. And
 * what calls keep is given back. */
static void test_full_devices(void) {
    const struct ranks ranks = {comms[world][0][thread], thread, world};
    float value = 1, last = 0;
    const table_view table = {&value, 1, 1, 0, TABLE_F32};
    const table_scan_options options = {.carry_out = &last};
    greatest_over(&ranks, 0); /* the others have nothing in hand */
    if (thread == 0) {
        CHECK(emulator_objects() > 0);
        table_trim_memory_nccl();
        CHECK(emulator_objects() == 0);
        emulator_memory_limit(0);
    }
    greatest_over(&ranks, 0);
    check_note("devices without memory");
    CHECK(table_prefix_sum_nccl(&table, &table, &options, ranks.comm) == TABLE_OK);
    CHECK(value == (float)(thread + 1) && last == (float)world);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    greatest_over(&ranks, 0);
    if (thread == 0)
        emulator_memory_limit(SIZE_MAX);
    greatest_over(&ranks, 0);
}

/* A rank that is gone: no other waits for ever, wherever the call is. */
static void test_failures(void) {
    const struct ranks ranks = {comms[world][0][thread], thread, world};
    float value = 1, last;
    const table_view table = {&value, 1, 1, 0, TABLE_F32};
    const table_scan_options options = {.carry_out = &last};
    unsigned failures = 0;
    for (unsigned after = 1;; after++) {
        nccl_stub_fail(ranks.comm, after);
        const table_status status = table_prefix_sum_nccl(&table, &table, &options, ranks.comm);
        check_note("operation %u fails: %s", after, table_status_name(status));
        nccl_stub_fail(ranks.comm, 0);
        if (status == TABLE_OK)
            break;
        CHECK(status == TABLE_ERROR_NCCL && strstr(table_error_detail(), "the communicator: remote process exited"));
        failures++;
    }
    CHECK(failures == (world > 1 ? 4 : 3)); /* agree, exchange, tell the end, end */
}
#endif

static void open_world(void) {
    for (int count = 1; count <= world; count++)
        for (int backwards = 0; backwards < 2; backwards++) {
            int devices[WORLD_MOST];
            for (int rank = 0; rank < count; rank++)
                devices[rank] = backwards ? count - 1 - rank : rank;
            CHECK(ncclCommInitAll(comms[count][backwards], count, devices) == ncclSuccess);
        }
    for (int count = 1; count <= world; count++)
        CHECK(pthread_barrier_init(&barriers[count], NULL, (unsigned)count) == 0);
}

static void close_world(void) {
    for (int count = 1; count <= world; count++) {
        pthread_barrier_destroy(&barriers[count]);
        for (int i = 0; i < 2 * count; i++)
            ncclCommDestroy(comms[count][i / count][i % count]);
    }
}

static void *run_rank(void *number) {
    thread = (int)(intptr_t)number;
    CHECK(cudaSetDevice(thread) == cudaSuccess);
    if (argument_count > 2) {
        time_tables(&(struct ranks){comms[world][0][thread], thread, world}, argument_count, arguments);
        return NULL;
    }
    test_errors_of_ranks(world);
    test_sums_of_ranks(world, seed);
    test_totals_of_ranks(world, seed);
    test_ranges_of_ranks(world, seed);
#ifdef EMULATOR_NCCL_H
    test_full_devices();
    test_failures();
#endif
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[WORLD_MOST];
    if (table_cuda_unavailable()) {
        printf("skipped: %s\n", table_cuda_unavailable());
        return 77;
    }
    CHECK(cudaGetDeviceCount(&world) == cudaSuccess && world > 0);
    world = world < WORLD_MOST ? world : WORLD_MOST;
    argument_count = argc;
    arguments = argv;
    seed = run_seed();
    open_world();
    for (int i = 0; i < world; i++)
        CHECK(pthread_create(&threads[i], NULL, run_rank, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < world; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    close_world();
    return 0;
}
