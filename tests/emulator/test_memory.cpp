/* What calls keep for the next one (src/cuda/memory.h, stream.h): which call gets which memory, when it goes back to
 * the device, and that it stands in no call's way. */
#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <tuplescan/tuplescan.h>

#include "cuda_runtime.h"
extern "C" {
#include "../../src/cuda/memory.h"
#include "../../src/cuda/pinned.h"
#include "../../src/cuda/stream.h"
}
#include "emulator.h"

static int passed = 0, failed = 0;

static void check(bool right, const char *what) {
    right ? passed++ : failed++;
    if (!right)
        fprintf(stderr, "%s: not so. %s\n", what, emulator_report());
}

constexpr size_t MIB = 1 << 20;

static cudaStream_t open_stream() {
    cudaStream_t stream = nullptr;
    return stream_open(&stream) == cudaSuccess ? stream : nullptr;
}

/* All that is there beside the streams on which new memory was cleared. */
static size_t blocks() {
    stream_trim();
    return emulator_objects();
}

static void *allocate(size_t bytes) {
    void *memory = nullptr;
    return device_memory_allocate(bytes, &memory) == cudaSuccess ? memory : nullptr;
}

static void check_reuse() {
    void *const large = allocate(5000), *const small = allocate(1000);
    check(large && small && large != small, "two blocks");
    check(cudaMemset(large, 1, 5000) == cudaSuccess, "all of it, to the end");
    device_memory_release(large);
    check(allocate(4000) == large, "a smaller one is given what came back");
    void *const other = allocate(4000);
    check(other && other != large, "not what is in use");
    for (void *memory : {small, other, large})
        device_memory_release(memory);
    check(blocks() == 3, "all of them are kept");
    check(allocate(900) == small && allocate(900) == other && allocate(900) == large, "the smallest one that will do");
    for (void *memory : {small, other, large})
        device_memory_release(memory);
    void *const none = allocate(0);
    check(none == small, "no bytes are some");
    device_memory_release(none);
    device_memory_release(nullptr);
    device_memory_trim();
    check(blocks() == 0, "trimmed");
}

static void check_most_kept() {
    void *const too_large = allocate(64 * MIB + 1);
    device_memory_release(too_large);
    check(too_large && blocks() == 0, "more than 64 MiB are not kept");
    void *const most = allocate(64 * MIB), *const few = allocate(1000), *const used = allocate(10);
    device_memory_release(few);
    check(blocks() == 3, "1000 bytes are kept");
    device_memory_release(most);
    check(blocks() == 2, "and make room for 64 MiB");
    check(allocate(7) == most, "which are what is kept then");
    device_memory_trim();
    check(blocks() == 2, "what is in use stays");
    device_memory_release(most);
    device_memory_release(used);
    device_memory_trim();
    check(blocks() == 0, "trimmed");
}

static void check_many() {
    std::vector<void *> all;
    for (size_t k = 0; k < 20; k++)
        all.push_back(allocate(100 + k));
    for (void *memory : all)
        device_memory_release(memory);
    check(blocks() > 1 && blocks() < 20, "of many at a time some are kept");
    void *const next = allocate(1000);
    device_memory_release(next);
    check(allocate(1000) == next, "and then others, instead");
    device_memory_release(next);
    device_memory_trim();
    check(blocks() == 0, "trimmed");
}

/* The device is short of the memory that is kept. */
static void check_no_memory() {
    void *const kept = allocate(3000);
    device_memory_release(kept);
    emulator_memory_limit(4000);
    void *const more = allocate(3500);
    check(more && blocks() == 1, "what is kept goes when the device has no more");
    check(!allocate(1000) && cudaGetLastError() == cudaErrorMemoryAllocation, "what is used does not");
    device_memory_release(more);
    emulator_memory_limit(SIZE_MAX);
    device_memory_trim();
    emulator_fail_call(4, cudaErrorUnknown); /* the device, the memory, the device, and that it is cleared */
    check(!allocate(1000) && blocks() == 0, "what cannot be cleared is given back");
    emulator_fail_call(0, 0);
    emulator_clear();
}

/* A block that is not kept, since others are, is on its way to the device when another thread asks for as much: it asks
 * again, here when the block has arrived. */
static struct {
    void *other = nullptr, *found = nullptr;
    std::thread asker;
    std::atomic<unsigned> frees{0}, tries{0};
    std::atomic<bool> freed{false}, over{false};
} leaving;

static void ask() {
    void *const other = allocate(40 * MIB);
    leaving.found = other == leaving.other ? allocate(50 * MIB) : nullptr;
    leaving.over = true;
}

static void watch_leaving(const char *name) {
    if (strcmp(name, "cudaMalloc") == 0 && ++leaving.tries == 2)
        while (!leaving.freed)
            std::this_thread::yield();
    if (strcmp(name, "cudaFree") != 0)
        return;
    if (++leaving.frees == 1)
        std::thread([] { device_memory_release(leaving.other); }).join();
    else if (leaving.frees == 2)
        for (leaving.asker = std::thread(ask); leaving.tries < 2 && !leaving.over;)
            std::this_thread::yield();
}

static void check_leaving() {
    void *const small = allocate(10 * MIB), *const large = allocate(60 * MIB);
    leaving.other = allocate(40 * MIB);
    device_memory_release(small);
    emulator_memory_limit(130 * MIB);
    emulator_on_call(watch_leaving);
    device_memory_release(large);
    leaving.freed = true;
    if (leaving.asker.joinable())
        leaving.asker.join();
    emulator_on_call(nullptr);
    emulator_memory_limit(SIZE_MAX);
    check(leaving.found, "what another thread gives back is as good as what nobody uses");
    device_memory_release(leaving.found);
    device_memory_release(leaving.other);
    device_memory_trim();
    check(blocks() == 0, "trimmed");
    emulator_clear();
}

/* A table of 75 MiB goes through a device that has memory for 430 of its rows, as far as its first copy, which begins
 * when all memory is there. */
static void fail_copy(const char *name) {
    if (strncmp(name, "cudaMemcpy2D", 12) == 0)
        emulator_fail_call(1, cudaErrorUnknown);
}

static void check_few_wide_rows() {
    constexpr size_t few = 300, columns = 1 << 16;
    std::vector<float> values(few * (columns + 1)); /* with gaps, so that only its rows are copied by cudaMemcpy2D */
    const table_view table = {values.data(), few, columns, columns + 1, TABLE_F32};
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = TABLE_STRATEGY_FUSED;
    table_trim_memory();
    emulator_memory_limit(430 * columns * sizeof(float));
    emulator_on_call(fail_copy);
    check(table_prefix_sum(&table, &table, &options) == TABLE_ERROR_DEVICE, "it begins to copy");
    emulator_on_call(nullptr);
    emulator_fail_call(0, 0);
    emulator_memory_limit(SIZE_MAX);
    table_trim_memory();
    emulator_clear();
}

/* Threads that write their own numbers, and find them. */
static void check_threads() {
    std::vector<std::thread> threads;
    std::vector<int> right(8, 0);
    for (size_t t = 0; t < right.size(); t++)
        threads.emplace_back([&right, t] {
            for (size_t round = 0; round < 300; round++) {
                const size_t bytes = 1 + (round * 97 + t * 31) % 4000;
                std::vector<unsigned char> found(bytes), expected(bytes, static_cast<unsigned char>(t + 1));
                void *const memory = allocate(bytes);
                right[t] += memory && cudaMemcpy(memory, expected.data(), bytes, cudaMemcpyDefault) == cudaSuccess &&
                            cudaMemcpy(found.data(), memory, bytes, cudaMemcpyDefault) == cudaSuccess &&
                            found == expected;
                device_memory_release(memory);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    for (const int number : right)
        check(number == 300, "a thread's memory is its own");
    device_memory_trim();
    check(blocks() == 0, "trimmed");
}

/* A call of the runtime that waits for the device may wait for what another thread has yet to put on another device.
 * So in the midst of each such call another thread is given memory and a stream, and gives them back; or both hang. */
static unsigned helped = 0;

static void help(const char *name) {
    static thread_local bool busy = false;
    const std::set<std::string> waiting = {"cudaMalloc",   "cudaMallocHost",    "cudaFree",
                                           "cudaFreeHost", "cudaStreamDestroy", "cudaStreamSynchronize"};
    if (busy || waiting.count(name) == 0)
        return;
    std::thread([] {
        busy = true;
        void *const memory = allocate(5000), *const host = pinned_allocate(5000);
        stream_close(open_stream());
        device_memory_release(memory);
        pinned_release(host);
    }).join();
    helped++;
}

static void check_waiting_calls() {
    std::vector<void *> all, host;
    emulator_on_call(help);
    for (size_t k = 0; k < 20; k++) {
        all.push_back(allocate(6000 + k));
        host.push_back(pinned_allocate((60 * MIB + k) >> k % 2));
    }
    check(helped > 60, "new memory is made and cleared");
    for (size_t k = 0; k < 20; k++) {
        device_memory_release(all[k]);
        pinned_release(host[k]);
    }
    check(helped > 80, "some of it is given back");
    table_trim_memory();
    emulator_on_call(nullptr);
    table_trim_memory();
    check(blocks() == 0, "trimmed");
}

static void check_streams() {
    stream_trim();
    const cudaStream_t first = open_stream(), second = open_stream();
    check(first && second && first != second, "two streams");
    stream_close(first);
    check(emulator_objects() == 2 && open_stream() == first, "what came back is given again");
    std::vector<cudaStream_t> all = {first, second};
    for (int k = 0; k < 38; k++)
        all.push_back(open_stream());
    check(emulator_objects() == 40, "forty at a time");
    for (const cudaStream_t stream : all)
        stream_close(stream);
    check(emulator_objects() == 32, "thirty-two are kept");
    stream_trim();
    check(emulator_objects() == 0, "trimmed");
}

/* The one-call forms, whose second call allocates nothing. */
static void check_calls() {
    std::vector<uint32_t> values(30000, 7), sums(values.size());
    const table_view in = {values.data(), 10000, 3, 0, TABLE_U32}, out = {sums.data(), 10000, 3, 0, TABLE_U32};
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CUDA;
    for (const table_strategy strategy : {TABLE_STRATEGY_HOST, TABLE_STRATEGY_RECURSIVE, TABLE_STRATEGY_FUSED}) {
        options.strategy = strategy;
        check(table_prefix_sum(&in, &out, &options) == TABLE_OK, "a call");
        const size_t kept = emulator_objects();
        check(kept > 0, "memory is kept");
        check(table_prefix_sum(&in, &out, &options) == TABLE_OK && emulator_objects() == kept, "another call");
        check(sums.back() == 70000, "its sums");
        table_trim_memory();
        check(emulator_objects() == 0, "trimmed");
        table_trim_memory();
    }
}

static int64_t read_rows(void *left, void *to, size_t bytes) {
    size_t &rest = *static_cast<size_t *>(left);
    bytes = bytes < rest ? bytes : rest;
    memset(to, 1, bytes);
    rest -= bytes;
    return static_cast<int64_t>(bytes);
}

static int write_nowhere(void *, const void *, size_t) { return 0; }

/* A stream whose length is not known has all of its buffers, which are large. */
static bool run_stream(table_type type, size_t bytes) {
    table_stream_options options = {};
    options.in_type = type;
    options.out_type = TABLE_U32;
    options.columns = 4;
    options.read = read_rows;
    options.read_context = &bytes;
    options.write = write_nowhere;
    options.scan.backend = TABLE_BACKEND_CUDA;
    return table_stream(&options) == TABLE_OK && bytes == 0;
}

static void check_stream() {
    for (const table_type type : {TABLE_U8, TABLE_U32}) {
        check(run_stream(type, 40000), "a stream");
        const size_t kept = emulator_objects();
        check(run_stream(type, 40000) && emulator_objects() == kept, "another stream");
        void *const buffers = pinned_allocate(type == TABLE_U32 ? 96 * MIB : 60 * MIB);
        check(buffers && emulator_objects() == kept, "its page-locked buffers were kept");
        pinned_release(buffers);
        void *const lane = allocate(type == TABLE_U32 ? 6 * MIB : 7 * MIB);
        check(lane && emulator_objects() == kept, "and the places of its pieces on the device");
        device_memory_release(lane);
        table_trim_memory();
        check(emulator_objects() == 0, "trimmed");
    }
    void *const too_large = pinned_allocate(101 * MIB);
    check(too_large != nullptr, "more than 100 MiB, page-locked");
    pinned_release(too_large);
    check(emulator_objects() == 0, "are not kept");
}

/* Rows of the options on the device, where the tables are the host's or have no rows. */
static void check_rows_of_options() {
    void *const row = allocate(3 * sizeof(uint32_t)), *const other = allocate(3 * sizeof(uint32_t));
    const uint32_t carry[3] = {5, 6, 7};
    uint32_t values[6] = {1, 2, 3, 4, 5, 6}, found[3] = {};
    const table_view table = {values, 2, 3, 0, TABLE_U32}, none = {nullptr, 0, 3, 0, TABLE_U32};
    table_scan_options options = {};
    check(cudaMemcpy(row, carry, sizeof carry, cudaMemcpyDefault) == cudaSuccess, "copied");
    options.carry_in = row;
    options.carry_out = other;
    check(table_prefix_sum(&table, &table, &options) == TABLE_ERROR_BACKEND, "the CPU cannot reach the carries");
    check(strstr(table_error_detail(), "options->carry_in") != nullptr && values[5] == 6, "and says so");
    check(table_prefix_sum(&none, &none, &options) == TABLE_OK, "without rows the carries decide");
    check(cudaMemcpy(found, other, sizeof found, cudaMemcpyDefault) == cudaSuccess && found[2] == 7, "carried");
    options.backend = TABLE_BACKEND_CUDA;
    check(table_prefix_sum(&table, &table, &options) == TABLE_OK && values[5] == 16, "tables of the host on CUDA");
    check(cudaMemcpy(found, other, sizeof found, cudaMemcpyDefault) == cudaSuccess && found[0] == 10, "their sums");
    options.backend = TABLE_BACKEND_CPU;
    check(table_prefix_sum(&none, &none, &options) == TABLE_ERROR_BACKEND, "the CPU cannot, as it was asked to");
    check(table_column_totals(&table, TABLE_U32, other, nullptr) == TABLE_ERROR_BACKEND, "totals");
    const table_view counters = {values, 2, 3, 0, TABLE_U32};
    check(table_chunk_ranks(&counters, &counters, other, nullptr, nullptr) == TABLE_ERROR_BACKEND, "of counters");
    options = {};
    options.backend = TABLE_BACKEND_CUDA;
    options.state = allocate(1000);
    check(cudaMemset(options.state, 1, 1000) == cudaSuccess, "what is no state");
    check(table_prefix_sum(&table, &table, &options) == TABLE_ERROR_STATE, "is refused");
    void *const next = allocate(1000);
    check(next && next != options.state, "and not given to others");
    for (void *memory : {row, other, options.state, next})
        device_memory_release(memory);
    table_trim_memory();
}

/* Stages 1 and 3 of no rows, whose seeds are on the device. */
static void check_stages_without_rows() {
    void *const row = allocate(3 * sizeof(uint32_t));
    const table_view none = {nullptr, 0, 3, 0, TABLE_U32}, seeds = {row, 1, 3, 0, TABLE_U32};
    table_scan_options options = {};
    check(table_stage1_local_counts(&none, &seeds, &options) == TABLE_ERROR_BACKEND, "seeds that the CPU cannot reach");
    options.backend = TABLE_BACKEND_CUDA;
    check(table_stage1_local_counts(&none, &seeds, &options) == TABLE_OK, "stage 1");
    check(table_stage3_global_pass(&none, &seeds, &none, &options) == TABLE_OK, "stage 3");
    device_memory_release(row);
    table_trim_memory();
}

int main() {
    check_reuse();
    check_most_kept();
    check_many();
    check_no_memory();
    check_leaving();
    check_few_wide_rows();
    check_threads();
    check_waiting_calls();
    check_streams();
    check_calls();
    check_stream();
    check_rows_of_options();
    check_stages_without_rows();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
