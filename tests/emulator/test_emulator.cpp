/* The emulator's own tests: what it offers works under every schedule, and each misuse is told with its block, thread
 * and line. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "emulator.h"
#include "examples.cuh"
#include "resident/wave_epoch.cuh"

static int passed = 0, failed = 0;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            passed++;                                                                                                  \
        } else {                                                                                                       \
            failed++;                                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, emulator_report());            \
            emulator_clear();                                                                                          \
        }                                                                                                              \
    } while (0)

template <class T> struct device_array {
    T *data = nullptr;
    size_t count;
    explicit device_array(size_t of, bool zeros = true) : count(of) {
        if (cudaMalloc(&data, of * sizeof(T)) == cudaSuccess && zeros)
            cudaMemset(data, 0, of * sizeof(T));
    }
    explicit device_array(const std::vector<T> &from) : device_array(from.size(), false) {
        cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    }
    device_array(const device_array &) = delete;
    ~device_array() { cudaFree(data); }
    std::vector<T> host() const {
        std::vector<T> out(count);
        cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
        return out;
    }
};

static std::vector<uint32_t> numbers(unsigned count) {
    std::vector<uint32_t> all(count);
    for (unsigned index = 0; index < count; index++)
        all[index] = index * 2654435761u >> 7;
    return all;
}

/* ---- what works ---- */

static bool lookback_is_right(unsigned count) {
    const std::vector<uint32_t> values = numbers(count);
    const unsigned tiles = (count + EXAMPLE_THREADS - 1) / EXAMPLE_THREADS;
    device_array<uint32_t> in(values), out(count), ticket(1);
    device_array<tile_state> states(tiles);
    if (launch(lookback_kernel, tiles, EXAMPLE_THREADS, 0, nullptr, in.data, out.data, count, ticket.data,
               states.data) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)
        return false;
    uint32_t sum = 0;
    const std::vector<uint32_t> got = out.host();
    for (unsigned index = 0; index < count; index++)
        if (got[index] != (sum += values[index]))
            return false;
    return true;
}

static bool pipeline_is_right(unsigned tiles, unsigned blocks) {
    const std::vector<uint32_t> values = numbers(tiles * STAGE_WORDS);
    device_array<uint32_t> in(values), out(values.size());
    if (launch(pipeline_kernel, blocks, 64, STAGES * STAGE_BYTES, nullptr, in.data, out.data, tiles) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)
        return false;
    const std::vector<uint32_t> got = out.host();
    for (size_t index = 0; index < got.size(); index++)
        if (got[index] != values[index] + 1)
            return false;
    return true;
}

static bool exchange_is_right(unsigned blocks) {
    device_array<word_pair> words(blocks);
    device_array<uint64_t> sums(blocks);
    if (launch_cooperative(exchange_kernel, blocks, 64, 0, nullptr, words.data, sums.data) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)
        return false;
    for (const uint64_t sum : sums.host())
        if (sum != uint64_t(blocks) * (blocks + 1) / 2)
            return false;
    return true;
}

static bool meetings_are_right(unsigned blocks) {
    const unsigned threads = 64 * blocks;
    device_array<uint32_t> words(threads), seen(threads);
    if (launch_cooperative(meeting_kernel, blocks, 64, 0, nullptr, words.data, seen.data) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)
        return false;
    const std::vector<uint32_t> got = seen.host();
    for (unsigned own = 0; own < threads; own++)
        if (got[own] != threads - own)
            return false;
    return true;
}

/* Votes of warps and of the block, matches and shuffles of half a warp each, in a block that is no whole number of
 * warps. */
KERNEL votes_kernel(unsigned *wrong) {
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    const unsigned left = block_threads() - warp * WARP_LANES;
    const unsigned mask = left >= WARP_LANES ? WARP_ALL : (1u << left) - 1;
    bool right = warp_ballot(mask, lane % 3 == 0) == (0x49249249u & mask);
    right &= warp_all(mask, lane < 32) && !warp_all(mask, lane == 0);
    right &= warp_any(mask, lane == 0) && !warp_any(mask, lane == 40);
    right &= warp_and(mask, 0xf0u | lane) == 0xf0u && lowest_bit(0xf0u) == 4;
    right &= warp_sum(mask, 1u << 31 | 1) == bit_count(mask) + (bit_count(mask) % 2 << 31);
    right &= choose_bytes(0x44332211, 0x4240) == 0x00330011 && choose_bytes(0x44332211, 0x0123) == 0x11223344;
    right &= warp_match(mask, lane % 2) == ((lane % 2 ? 0xaaaaaaaau : 0x55555555u) & mask);
    right &= warp_shuffle(mask, uint64_t(lane) << 33, 3) == uint64_t(3) << 33;
    if (left >= WARP_LANES && lane < 16)
        right &= warp_shuffle_xor(0xffffu, lane, 5) == (lane ^ 5);
    else if (left >= WARP_LANES)
        right &= warp_shuffle_xor(0xffff0000u, 1.5f * float(lane), 1) == 1.5f * float(lane ^ 1);
    warp_barrier(mask);
    right &= block_barrier_any(thread_index() == 70) && !block_barrier_any(false) && block_barrier_any(lane != 0);
    if (!right)
        wrong[thread_index()] = 1;
}

static bool votes_are_right() {
    device_array<unsigned> wrong(80);
    launch(votes_kernel, 1, 80, 0, nullptr, wrong.data);
    for (const unsigned each : wrong.host())
        if (each)
            return false;
    return cudaDeviceSynchronize() == cudaSuccess;
}

/* The second warp hands over numbers to the others, and meanwhile goes on to the block's barrier. */
KERNEL handover_kernel(unsigned *wrong) {
    SHARED_ARRAY(unsigned, handed, WARP_LANES);
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    KEEP_LOOP
    for (unsigned round = 1; round < 4; round++) {
        if (warp == 1) {
            handed[lane] = round * lane;
            block_hand_over();
        } else {
            block_take_over();
            wrong[thread_index()] += handed[lane ^ 1] != round * (lane ^ 1);
        }
        block_barrier();
    }
}

static bool handover_is_right() {
    device_array<unsigned> wrong(96);
    launch(handover_kernel, 1, 96, 0, nullptr, wrong.data);
    for (const unsigned each : wrong.host())
        if (each)
            return false;
    return cudaDeviceSynchronize() == cudaSuccess;
}

static void test_features(unsigned seeds) {
    for (unsigned seed = 0; seed < seeds; seed++) {
        emulator_seed(seed);
        CHECK(lookback_is_right(1));
        CHECK(lookback_is_right(EXAMPLE_THREADS * 37 + 5));
        CHECK(pipeline_is_right(23, 3));
        CHECK(pipeline_is_right(2, 2));
        CHECK(exchange_is_right(30));
        CHECK(handover_is_right());
        CHECK(votes_are_right());
        CHECK(meetings_are_right(1));
        CHECK(meetings_are_right(24));
    }
    CHECK(emulator_objects() == 0);
}

/* ---- launches ---- */

KERNEL nothing_kernel() {}
KERNEL dynamic_kernel(unsigned words) {
    SHARED_DYNAMIC(unsigned, memory);
    memory[words - 1] = thread_index();
}

static void test_launches() {
    unsigned blocks = 0, most = 0;
    CHECK(launch(nothing_kernel, 0, 32, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing_kernel, 1, 0, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing_kernel, 1, 1025, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(nothing_kernel, 2147483648u, 32, 0, nullptr) == cudaErrorInvalidConfiguration);
    CHECK(launch(dynamic_kernel, 1, 32, 48 * 1024 + 4, nullptr, 1u) == cudaErrorInvalidValue);
    CHECK(allow_shared_bytes(dynamic_kernel) == cudaSuccess);
    CHECK(launch(dynamic_kernel, 1, 32, 227 * 1024 + 4, nullptr, 1u) == cudaErrorInvalidValue);
    CHECK(launch(dynamic_kernel, 3, 32, 227 * 1024, nullptr, 227u * 256) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(resident_blocks(nothing_kernel, 512, 0, &most) == cudaSuccess && most == 8);
    CHECK(resident_blocks(dynamic_kernel, 512, 120 * 1024, &blocks) == cudaSuccess && blocks == 4);
    CHECK(launch_cooperative(nothing_kernel, most, 512, 0, nullptr) == cudaSuccess);
    CHECK(launch_cooperative(nothing_kernel, most + 1, 512, 0, nullptr) == LAUNCH_REFUSED);
    CHECK(launch(nothing_kernel, 3000, 1, 0, nullptr) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

/* ---- misuse ---- */

/* Runs in one block of 64 threads; `global` has 64 words. */
KERNEL misuse_kernel(void (*what)(uint32_t *), uint32_t *global) { what(global); }

static bool is_told(void (*what)(uint32_t *), const char *text) {
    bool told = true;
    for (unsigned seed = 0; seed < 8 && told; seed++) {
        emulator_clear();
        emulator_seed(seed);
        {
            device_array<uint32_t> global(64);
            launch(misuse_kernel, 1, 64, 4096, nullptr, what, global.data);
            told = cudaDeviceSynchronize() == cudaErrorLaunchFailure;
            const std::string report = emulator_report();
            told = told && report.find(text) != std::string::npos && report.find("block ") == 0 &&
                   report.find(", thread ") != std::string::npos;
            told = told && (report.find("test_emulator.cpp:") != std::string::npos ||
                            report.find("at its start") != std::string::npos);
            emulator_fail_call(0, 0);
        }
        if (!told)
            fprintf(stderr, "seed %u: expected \"%s\", got \"%s\"\n", seed, text, emulator_report());
    }
    emulator_clear();
    return told;
}

#define TOLD(text, ...)                                                                                                \
    CHECK(is_told(                                                                                                     \
        [](uint32_t *global) {                                                                                         \
            (void)global;                                                                                              \
            __VA_ARGS__                                                                                                \
        },                                                                                                             \
        text))

static void two_shuffles(uint32_t *) {
    if (thread_index() == 9)
        warp_shuffle(WARP_ALL, 1, 0);
    else
        warp_shuffle(WARP_ALL, 1, 0);
}

static void two_barriers(uint32_t *) {
    if (thread_index() == 50)
        block_barrier();
    else
        block_barrier();
}

static void test_misuse_of_warps() {
    TOLD("does not name the calling lane", warp_barrier(0xfffffffeu););
    TOLD("returned", if (thread_index() == 5) return; warp_any(WARP_ALL, true););
    TOLD("block's barrier", if (thread_index() == 40) block_barrier(); else warp_any(WARP_ALL, true););
    TOLD("warp_a", if (thread_index() == 7) warp_any(WARP_ALL, true); else warp_all(WARP_ALL, true););
    TOLD("mask ", warp_shuffle(thread_index() % 32 < 16 ? 0xffffu : WARP_ALL, 1, 0););
    CHECK(is_told(two_shuffles, "waits in warp_shuffle"));
    TOLD("which the mask 0000ffff does not name",
         if (thread_index() < 16) warp_shuffle(0xffffu, 1, thread_index() + 16););
    TOLD("waits", if (thread_index() == 3) while (load_relaxed(global) == 0) wait_a_little(1); warp_barrier(WARP_ALL););
}

static void test_misuse_of_blocks() {
    TOLD("barrier", if (thread_index() == 63) return; block_barrier(););
    CHECK(is_told(two_barriers, "in another one"));
    TOLD("for what is handed over", if (thread_index() >= 32) block_take_over(););
    TOLD("not cooperative", grid_arrive(););
    TOLD("waits forever", while (load_acquire(global) == 0) wait_a_little(1););
    TOLD("not in device memory", store_vector(&global[64], 1u););
    TOLD("not in device memory", uint32_t own = 0; atomic_add(&own, 1u););
    TOLD("not aligned", load_vector(reinterpret_cast<const uint64_t *>(global + 1)););
    TOLD("fixed shared memory", SHARED_ARRAY(char, large, 48 * 1024 + 1); (void)large;);
    TOLD("fixed and 4096 of dynamic", SHARED_ARRAY(char, large, 45 * 1024); (void)large;);
}

static void test_misuse_of_copies() {
    TOLD("not a barrier", SHARED_ARRAY(bulk_barrier, b, 1); bulk_barrier_expect(b, 16););
    TOLD("no block_barrier() since", SHARED_ARRAY(bulk_barrier, b, 1); if (thread_index() == 0) bulk_barrier_init(b, 1);
         while (thread_index() == 33 && load_relaxed(global) == 0) wait_a_little(1);
         if (thread_index() == 0) store_release(global, 1); if (thread_index() == 33) bulk_barrier_expect(b, 16););
    TOLD(
        "multiple of 16", SHARED_ARRAY(bulk_barrier, b, 1); SHARED_DYNAMIC(uint32_t, d); if (thread_index() == 0) {
            bulk_barrier_init(b, 1);
            bulk_load(d, global, 24, b);
        });
    TOLD(
        "not aligned to 16", SHARED_ARRAY(bulk_barrier, b, 1); SHARED_DYNAMIC(uint32_t, d); if (thread_index() == 0) {
            bulk_barrier_init(b, 1);
            bulk_load(d, global + 1, 16, b);
        });
    TOLD(
        "not in the block's shared memory", SHARED_ARRAY(bulk_barrier, b, 1); SHARED_DYNAMIC(uint32_t, d);
        if (thread_index() == 0) {
            bulk_barrier_init(b, 1);
            bulk_load(d + 1020, global, 32, b);
        });
    TOLD(
        "all of which have come", SHARED_ARRAY(bulk_barrier, b, 1); if (thread_index() == 0) {
            bulk_barrier_init(b, 1);
            bulk_barrier_expect(b, 16);
            bulk_barrier_expect(b, 16);
        });
    TOLD(
        "made already", SHARED_ARRAY(bulk_barrier, b, 1); if (thread_index() == 0) {
            bulk_barrier_init(b, 1);
            bulk_barrier_init(b, 1);
        });
    TOLD(
        "announced bytes not come", SHARED_ARRAY(bulk_barrier, b, 1); if (thread_index() == 0) {
            bulk_barrier_init(b, 1);
            bulk_barrier_expect(b, 32);
        });
}

/* A kernel that needs its blocks in order, without a ticket: some schedule starts a later one first. */
KERNEL in_order_kernel(uint32_t *flags) {
    if (thread_index() == 0 && block_index() > 0)
        while (load_acquire(&flags[block_index() - 1]) == 0)
            wait_a_little(20);
    if (thread_index() == 0)
        store_release(&flags[block_index()], 1);
}

static void test_order_of_blocks() {
    bool told = false;
    for (unsigned seed = 0; seed < 12 && !told; seed++) {
        emulator_clear();
        emulator_seed(seed);
        device_array<uint32_t> flags(200);
        launch(in_order_kernel, 200, 512, 0, nullptr, flags.data);
        cudaDeviceSynchronize();
        told = strstr(emulator_report(), "blocks that have not started") != nullptr;
    }
    CHECK(told);
    emulator_clear();
}

/* ---- the schedules ---- */

KERNEL order_kernel(uint32_t *next, uint32_t *order) {
    if (thread_index() % 32 == 0)
        order[atomic_add(next, 1u)] = block_index() * 4 + thread_index() / 32;
}

static std::vector<uint32_t> order_of(uint64_t seed) {
    emulator_seed(seed);
    device_array<uint32_t> next(1), order(64);
    launch(order_kernel, 16, 128, 0, nullptr, next.data, order.data);
    return order.host();
}

static void test_seeds() {
    unsigned different = 0;
    setenv("TUPLESCAN_EMULATOR_THREADS", "0", 1);
    for (uint64_t seed = 1; seed < 9; seed++) {
        CHECK(order_of(seed) == order_of(seed));
        different += order_of(seed) != order_of(seed + 1);
    }
    unsetenv("TUPLESCAN_EMULATOR_THREADS");
    CHECK(different >= 6);
}

/* ---- the runtime ---- */

static void test_runtime() {
    void *memory = nullptr;
    int count = 7;
    cudaPointerAttributes attributes;
    emulator_devices(0);
    CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver && count == 7);
    emulator_devices(1);
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
    emulator_fail_call(2, cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&memory, 64) == cudaSuccess);
    CHECK(cudaMemset(memory, 0, 64) == cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess);
    CHECK(cudaMemset(memory, 0, 65) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(&count, memory, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaPointerGetAttributes(&attributes, static_cast<char *>(memory) + 63) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    CHECK(cudaPointerGetAttributes(&attributes, &count) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeUnregistered);
    emulator_memory_limit(100);
    void *more = nullptr;
    CHECK(cudaMalloc(&more, 64) == cudaErrorMemoryAllocation && !more);
    emulator_memory_limit(SIZE_MAX);
    CHECK(cudaFree(memory) == cudaSuccess && cudaFree(memory) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(emulator_objects() == 0);
}

KERNEL add_kernel(uint32_t *word, uint32_t value) { atomic_add(word, value); }

static void test_streams() {
    device_array<uint32_t> word(1);
    cudaStream_t one, two;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    uint32_t got = 0;
    cudaStreamCreate(&one);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    launch(add_kernel, 1, 1, 0, one, word.data, 5u);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(two, event, 0);
    cudaMemcpyAsync(&got, word.data, 4, cudaMemcpyDeviceToHost, two);
    CHECK(cudaStreamSynchronize(two) == cudaSuccess && got == 5);
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(cudaStreamSynchronize(one) == cudaErrorStreamCaptureUnsupported);
    launch(add_kernel, 2, 3, 0, one, word.data, 1u);
    CHECK(cudaStreamEndCapture(one, &graph) == cudaSuccess && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    CHECK(word.host()[0] == 5);
    for (int times = 0; times < 10; times++)
        cudaGraphLaunch(exec, one);
    CHECK(cudaStreamSynchronize(one) == cudaSuccess && word.host()[0] == 65);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(event);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaGetLastError();
    CHECK(emulator_objects() == 1);
}

/* Memory and streams know their device. */
static void test_devices() {
    uint32_t *other = nullptr;
    cudaStream_t stream = nullptr;
    cudaPointerAttributes attributes = {};
    emulator_devices(2);
    CHECK(cudaSetDevice(1) == cudaSuccess && cudaMalloc(&other, 64) == cudaSuccess);
    CHECK(cudaStreamCreate(&stream) == cudaSuccess && cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaPointerGetAttributes(&attributes, other) == cudaSuccess && attributes.device == 1);
    CHECK(launch(add_kernel, 1, 1, 0, stream, other, 1u) == cudaErrorInvalidResourceHandle);
    CHECK(launch(add_kernel, 1, 1, 0, nullptr, other, 1u) == 0 && cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(strstr(emulator_report(), "memory of device 1, by a kernel on device 0") != nullptr);
    emulator_clear();
    CHECK(cudaSetDevice(1) == cudaSuccess && launch(add_kernel, 1, 1, 0, stream, other, 1u) == 0);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaFree(other) == cudaSuccess && cudaSetDevice(0) == cudaSuccess && cudaSetDevice(2) != cudaSuccess);
    emulator_clear();
    emulator_devices(1);
}

/* A ticket, zeros or ones in either half of the word in which a wave counts leave neither its key nor busy_key(), and a
 * byte that is not the count's own does not leave the key. */
static void test_keys_of_epochs() {
    bool is_told = true;
    for (uintptr_t at = 0; at < 20000; at++) {
        wave_epoch epoch = {};
        epoch.key =
            epoch_key(reinterpret_cast<const void *>(0x302000000u + 256 * at), at % 7 + 2, at % 70 + 1, at % 33 + 1);
        for (const uint64_t key : {epoch.key, busy_key(epoch)}) {
            for (const uint64_t half : {uint64_t(0), uint64_t(270), DRAW_MASK, uint64_t(0xffffffff)}) {
                const uint64_t low = (key & ~uint64_t(0xffffffff)) | half, high = (key & 0xffffffff) | half << 32;
                is_told = is_told && !has_key(low, key) && !has_key(high, key);
            }
        }
        const uint64_t drawn = epoch.key + 32 * DRAW;
        is_told = is_told && has_key(drawn, epoch.key);
        for (unsigned byte = 0; byte < 32; byte++)
            is_told = is_told && !has_key((drawn & ~uint64_t(0xff)) | byte, epoch.key);
    }
    CHECK(is_told);
}

int main() {
    test_keys_of_epochs();
    test_features(24);
    test_launches();
    test_seeds();
    test_runtime();
    test_streams();
    emulator_quiet(1);
    test_misuse_of_warps();
    test_misuse_of_blocks();
    test_misuse_of_copies();
    test_order_of_blocks();
    test_devices();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
