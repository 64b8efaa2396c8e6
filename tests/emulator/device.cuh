/* The device layer of kernels/device/device.cuh, the same names, on the CPU and checked. A kernel's thread is a fiber
 * here; see CONTRIBUTING for what this cannot show. */
#ifndef DEVICE_CUH
#define DEVICE_CUH

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include "engine.h"
#include "values.h"

#define KERNEL      static void
#define DEVICE      inline
#define HOST_DEVICE inline
#define DEVICE_CALL __attribute__((noinline))
/* A launch with more threads fails on a GPU. Nothing here can know it of a function's address. */
#define LAUNCH_BOUNDS(threads, blocks)
#define UNROLL
#define UNROLL_TWICE
#define UNROLL_SOME
#define KEEP_LOOP

/* A static of the enclosing function, of which each instantiation has its own, tells the arrays apart. */
#define SHARED_ARRAY(type, name, count)                                                                                \
    static const char name##_key = 0;                                                                                  \
    type(&name)[count] = *emulator::shared_cast<type, count>(                                                          \
        emulator::shared_array(&name##_key, count, sizeof(type), alignof(type), #name, __FILE__, __LINE__))
#define SHARED_DYNAMIC(type, name) type *name = static_cast<type *>(emulator::shared_dynamic(#name, __FILE__, __LINE__))

#define WARP_LANES 32
#define WARP_ALL   0xffffffffu

namespace emulator {
template <class T, size_t COUNT> T (*shared_cast(void *memory))[COUNT] { return static_cast<T(*)[COUNT]>(memory); }

template <class T> uint64_t to_bits(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> T from_bits(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
} // namespace emulator

DEVICE unsigned thread_index() { return emulator::thread_index(); }
DEVICE unsigned thread_index_anew() { return emulator::thread_index(); }
DEVICE unsigned found_anew(unsigned number) { return number; }
DEVICE unsigned block_threads() { return emulator::block_threads(); }
DEVICE unsigned block_index() { return emulator::block_index(); }
DEVICE unsigned block_count() { return emulator::block_count(); }
DEVICE unsigned multiprocessor() { return emulator::block_index() / 2; }
DEVICE uint64_t nanoseconds() { return emulator::nanoseconds(); }

DEVICE void block_barrier(EMULATOR_SITE) { emulator::block_barrier(false, file, line); }
DEVICE bool block_barrier_any(bool vote, EMULATOR_SITE) { return emulator::block_barrier(vote, file, line); }
DEVICE void block_hand_over(EMULATOR_SITE) { emulator::block_handover(false, file, line); }
DEVICE void block_take_over(EMULATOR_SITE) { emulator::block_handover(true, file, line); }
template <class V> DEVICE V load_if_wanted(const V *from, bool is_wanted) {
    V anything;
    memset(static_cast<void *>(&anything), 0xff, sizeof anything);
    return is_wanted ? *from : anything;
}
DEVICE void loads_before_sums(bool never, EMULATOR_SITE) {
    if (never)
        emulator::misuse(file, line, "what is never true is true");
}

template <class T> DEVICE T warp_shuffle(unsigned mask, T value, unsigned lane, EMULATOR_SITE) {
    return emulator::from_bits<T>(emulator::meet(emulator::SHUFFLE, mask, emulator::to_bits(value), lane, file, line));
}
template <class T> DEVICE T warp_shuffle_xor(unsigned mask, T value, unsigned flip, EMULATOR_SITE) {
    return emulator::from_bits<T>(
        emulator::meet(emulator::SHUFFLE_XOR, mask, emulator::to_bits(value), flip, file, line));
}
template <class T> DEVICE T warp_shuffle_up(unsigned mask, T value, unsigned lanes, EMULATOR_SITE) {
    return emulator::from_bits<T>(
        emulator::meet(emulator::SHUFFLE_UP, mask, emulator::to_bits(value), lanes, file, line));
}
DEVICE unsigned warp_ballot(unsigned mask, bool vote, EMULATOR_SITE) {
    return static_cast<unsigned>(emulator::meet(emulator::BALLOT, mask, vote, 0, file, line));
}
DEVICE bool warp_all(unsigned mask, bool vote, EMULATOR_SITE) {
    return emulator::meet(emulator::ALL, mask, vote, 0, file, line) != 0;
}
DEVICE bool warp_any(unsigned mask, bool vote, EMULATOR_SITE) {
    return emulator::meet(emulator::ANY, mask, vote, 0, file, line) != 0;
}
DEVICE unsigned warp_and(unsigned mask, unsigned bits, EMULATOR_SITE) {
    return static_cast<unsigned>(emulator::meet(emulator::AND, mask, bits, 0, file, line));
}
DEVICE unsigned warp_or(unsigned mask, unsigned bits, EMULATOR_SITE) {
    return ~static_cast<unsigned>(emulator::meet(emulator::AND, mask, ~bits, 0, file, line));
}
DEVICE uint32_t warp_sum(unsigned mask, uint32_t value, EMULATOR_SITE) {
    return static_cast<uint32_t>(emulator::meet(emulator::SUM, mask, value, 0, file, line));
}
DEVICE unsigned lowest_bit(unsigned bits, EMULATOR_SITE) {
    if (bits == 0)
        emulator::misuse(file, line, "lowest_bit: no bit is set");
    return static_cast<unsigned>(__builtin_ctz(bits));
}
DEVICE unsigned bit_width(unsigned bits) { return bits == 0 ? 0 : 32 - static_cast<unsigned>(__builtin_clz(bits)); }
DEVICE unsigned bit_count(unsigned bits) { return static_cast<unsigned>(__builtin_popcount(bits)); }
DEVICE uint32_t choose_bytes(uint32_t bytes, unsigned which) {
    uint32_t chosen = 0;
    for (unsigned k = 0; k < 4; k++) {
        const unsigned digit = which >> 4 * k & 15;
        const uint32_t byte = (digit & 4) != 0 ? 0 : bytes >> 8 * (digit & 3) & 255;
        chosen |= (digit < 8 ? byte : (byte & 128) != 0 ? 255 : 0) << 8 * k;
    }
    return chosen;
}
DEVICE unsigned warp_match(unsigned mask, unsigned value, EMULATOR_SITE) {
    return static_cast<unsigned>(emulator::meet(emulator::MATCH, mask, value, 0, file, line));
}
template <unsigned BITS> DEVICE unsigned warp_match_bits(unsigned value, EMULATOR_SITE) {
    if (value >> BITS != 0)
        emulator::misuse(file, line, "warp_match_bits: %u has more than %u bits", value, BITS);
    return static_cast<unsigned>(emulator::meet(emulator::MATCH, WARP_ALL, value, 0, file, line));
}
DEVICE void warp_barrier(unsigned mask, EMULATOR_SITE) {
    emulator::meet(emulator::WARP_BARRIER, mask, 0, 0, file, line);
}

DEVICE float float_of_f16(uint16_t bits) { return value_of_f16(value_f16{bits}); }
DEVICE uint16_t f16_of_float(float value) { return value_f16_of(value).bits; }
DEVICE uint16_t bf16_of_float(float value) { return value_bf16_of(value).bits; }
DEVICE uint32_t f16_pair_of(float first, float second) {
    return f16_of_float(first) | static_cast<uint32_t>(f16_of_float(second)) << 16;
}
DEVICE uint32_t bf16_pair_of(float first, float second) {
    return bf16_of_float(first) | static_cast<uint32_t>(bf16_of_float(second)) << 16;
}

/* Read and written here, not in the engine, so that the sanitizers see it as the kernel's own. */
template <class V> DEVICE V load_vector(const V *from, EMULATOR_SITE) {
    static_assert(std::is_trivially_copyable<V>::value && sizeof(V) <= 16, "a word of at most 16 bytes");
    emulator::check_global(from, sizeof(V), sizeof(V), "load_vector", file, line);
    V value;
    if (!emulator::load_own(from, &value, sizeof(V)))
        memcpy(&value, from, sizeof(V));
    return value;
}
template <class V> DEVICE void store_vector(V *to, const V &value, EMULATOR_SITE) {
    static_assert(std::is_trivially_copyable<V>::value && sizeof(V) <= 16, "a word of at most 16 bytes");
    emulator::check_global(to, sizeof(V), sizeof(V), "store_vector", file, line);
    if (!emulator::store_late(to, &value, sizeof(V)))
        memcpy(to, &value, sizeof(V));
}

template <class V> DEVICE V load_at_or(const V *first, unsigned index, int other, bool is_there, EMULATOR_SITE) {
    const V value = load_vector(is_there ? first + index : first + other, file, line);
    V anything;
    memset(static_cast<void *>(&anything), 0xff, sizeof anything);
    return is_there ? value : anything;
}
template <class V> DEVICE void store_at_if(V *first, unsigned index, V value, bool is_there, EMULATOR_SITE) {
    if (is_there)
        store_vector(first + index, value, file, line);
}

DEVICE uint32_t load_kept(const uint32_t *from, EMULATOR_SITE) { return load_vector(from, file, line); }
DEVICE uint32_t load_passing(const uint32_t *from, EMULATOR_SITE) { return load_vector(from, file, line); }
DEVICE uint32_t load_of_line(const uint32_t *from, EMULATOR_SITE) { return load_vector(from, file, line); }
template <class V> DEVICE void store_passing(V *to, const V &value, EMULATOR_SITE) {
    static_assert(sizeof(V) == 16, "a vector of 16 bytes");
    store_vector(to, value, file, line);
}
template <class V> DEVICE void store_streaming(V *to, const V &value, EMULATOR_SITE) {
    store_vector(to, value, file, line);
}

namespace emulator {
/* Read, changed and written as one; CHANGE: old value -> new value. */
template <class T, class CHANGE> T atomic_change(T *word, const char *what, EMULATOR_SITE_PLAIN, CHANGE change) {
    check_any(word, sizeof(T), sizeof(T), what, file, line);
    give_way(file, line, false);
    show_stores_at(word);
    T old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, change(old), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    progress();
    return old;
}
template <class T> T load_word(const T *word, int order, const char *what, EMULATOR_SITE_PLAIN) {
    check_global(word, sizeof(T), sizeof(T), what, file, line);
    give_way(file, line, false);
    T value;
    if (load_own(word, &value, sizeof(T)))
        return value;
    if (order == __ATOMIC_ACQUIRE && !fault_relaxed_acquire())
        return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
template <class T> void store_word(T *word, T value, const char *what, EMULATOR_SITE_PLAIN) {
    check_global(word, sizeof(T), sizeof(T), what, file, line);
    give_way(file, line, false);
    if (!store_late(word, &value, sizeof(T)))
        __atomic_store_n(word, value, __ATOMIC_RELAXED);
    progress();
}
} // namespace emulator

DEVICE uint32_t atomic_add(uint32_t *word, uint32_t value, EMULATOR_SITE) {
    return emulator::atomic_change(word, "atomic_add", file, line, [=](uint32_t old) { return old + value; });
}
DEVICE uint64_t atomic_add(uint64_t *word, uint64_t value, EMULATOR_SITE) {
    return emulator::atomic_change(word, "atomic_add", file, line, [=](uint64_t old) { return old + value; });
}
DEVICE uint32_t atomic_or(uint32_t *word, uint32_t bits, EMULATOR_SITE) {
    return emulator::atomic_change(word, "atomic_or", file, line, [=](uint32_t old) { return old | bits; });
}
DEVICE uint64_t atomic_min(uint64_t *word, uint64_t value, EMULATOR_SITE) {
    return emulator::atomic_change(word, "atomic_min", file, line,
                                   [=](uint64_t old) { return old < value ? old : value; });
}
DEVICE uint64_t atomic_cas(uint64_t *word, uint64_t expected, uint64_t value, EMULATOR_SITE) {
    return emulator::atomic_change(word, "atomic_cas", file, line,
                                   [=](uint64_t old) { return old == expected ? value : old; });
}

DEVICE uint32_t load_relaxed(const uint32_t *word, EMULATOR_SITE) {
    return emulator::load_word(word, __ATOMIC_RELAXED, "load_relaxed", file, line);
}
DEVICE uint64_t load_relaxed(const uint64_t *word, EMULATOR_SITE) {
    return emulator::load_word(word, __ATOMIC_RELAXED, "load_relaxed", file, line);
}
DEVICE uint32_t load_acquire(const uint32_t *word, EMULATOR_SITE) {
    return emulator::load_word(word, __ATOMIC_ACQUIRE, "load_acquire", file, line);
}
DEVICE uint64_t load_acquire(const uint64_t *word, EMULATOR_SITE) {
    return emulator::load_word(word, __ATOMIC_ACQUIRE, "load_acquire", file, line);
}
DEVICE void store_relaxed(uint32_t *word, uint32_t value, EMULATOR_SITE) {
    emulator::store_word(word, value, "store_relaxed", file, line);
}
DEVICE void store_relaxed(uint64_t *word, uint64_t value, EMULATOR_SITE) {
    emulator::store_word(word, value, "store_relaxed", file, line);
}
/* store_release() is for the examples of tests/emulator alone, as is load_acquire() of 4 bytes. */
namespace emulator {
template <class T> void release_word(T *word, T value, EMULATOR_SITE_PLAIN) {
    if (fault_relaxed_release())
        return store_word(word, value, "store_release", file, line);
    check_global(word, sizeof *word, sizeof *word, "store_release", file, line);
    give_way(file, line, false);
    show_stores();
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    progress();
}
} // namespace emulator
DEVICE void store_release(uint32_t *word, uint32_t value, EMULATOR_SITE) {
    emulator::release_word(word, value, file, line);
}
DEVICE void fence_device(EMULATOR_SITE) {
    emulator::give_way(file, line, false);
    if (!emulator::fault_relaxed_release())
        emulator::show_stores();
    emulator::fence();
}

struct alignas(16) word_pair {
    uint64_t value, status;
};
DEVICE word_pair load_pair_relaxed(const word_pair *from, EMULATOR_SITE) {
    emulator::check_global(from, sizeof *from, alignof(word_pair), "load_pair_relaxed", file, line);
    emulator::give_way(file, line, false);
    word_pair pair;
    if (!emulator::load_own(from, &pair, sizeof pair))
        emulator::load_sixteen(from, &pair);
    return pair;
}
DEVICE void store_pair_relaxed(word_pair *to, const word_pair &pair, EMULATOR_SITE) {
    emulator::check_global(to, sizeof *to, alignof(word_pair), "store_pair_relaxed", file, line);
    emulator::give_way(file, line, false);
    if (emulator::fault_keeps(pair.status))
        return;
    if (!emulator::store_late(to, &pair, sizeof pair))
        emulator::store_sixteen(to, &pair);
    emulator::progress();
}

DEVICE void store_pair_kept(word_pair *to, const word_pair &pair, EMULATOR_SITE) { store_vector(to, pair, file, line); }
DEVICE uint64_t load_relaxed_kept(const uint64_t *word, EMULATOR_SITE) { return load_relaxed(word, file, line); }
DEVICE void store_relaxed_kept(uint64_t *word, uint64_t value, EMULATOR_SITE) {
    store_relaxed(word, value, file, line);
}
DEVICE word_pair load_pair_relaxed_kept(const word_pair *from, EMULATOR_SITE) {
    return load_pair_relaxed(from, file, line);
}
DEVICE void store_pair_relaxed_kept(word_pair *to, const word_pair &pair, EMULATOR_SITE) {
    store_pair_relaxed(to, pair, file, line);
}

/* Warps that wait for each other in a block look again and again, without a wait in between. */
DEVICE uint32_t load_acquire_block(const uint32_t *word, EMULATOR_SITE) {
    emulator::check_shared(word, sizeof *word, sizeof *word, "load_acquire_block", file, line);
    emulator::give_way(file, line, true);
    return __atomic_load_n(word, emulator::fault_relaxed_acquire() ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE);
}
DEVICE void store_release_block(uint32_t *word, uint32_t value, EMULATOR_SITE) {
    emulator::check_shared(word, sizeof *word, sizeof *word, "store_release_block", file, line);
    emulator::give_way(file, line, false);
    __atomic_store_n(word, value, emulator::fault_relaxed_release() ? __ATOMIC_RELAXED : __ATOMIC_RELEASE);
    emulator::progress();
}
DEVICE uint64_t load_relaxed_block(const uint64_t *word, EMULATOR_SITE) {
    emulator::check_shared(word, sizeof *word, sizeof *word, "load_relaxed_block", file, line);
    emulator::give_way(file, line, false);
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
DEVICE void store_relaxed_block(uint64_t *word, uint64_t value, EMULATOR_SITE) {
    emulator::check_shared(word, sizeof *word, sizeof *word, "store_relaxed_block", file, line);
    emulator::give_way(file, line, false);
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
    emulator::progress();
}
DEVICE word_pair load_pair_relaxed_block(const word_pair *from, EMULATOR_SITE) {
    emulator::check_shared(from, sizeof *from, alignof(word_pair), "load_pair_relaxed_block", file, line);
    emulator::give_way(file, line, false);
    word_pair pair;
    emulator::load_sixteen(from, &pair);
    return pair;
}
DEVICE void store_pair_relaxed_block(word_pair *to, const word_pair &pair, EMULATOR_SITE) {
    emulator::check_shared(to, sizeof *to, alignof(word_pair), "store_pair_relaxed_block", file, line);
    emulator::give_way(file, line, false);
    emulator::store_sixteen(to, &pair);
    emulator::progress();
}

/* Launches come one after the other here. */
DEVICE void wait_for_launch_before() {}

DEVICE unsigned grid_arrive(EMULATOR_SITE) { return emulator::grid_arrive(file, line); }
DEVICE void grid_meet(unsigned, EMULATOR_SITE) { emulator::grid_meet(file, line); }

constexpr unsigned PATIENCE = 64;
DEVICE void wait_a_little(unsigned, EMULATOR_SITE) { emulator::give_way(file, line, true); }

/* Copied at once: what would be read before copies_ahead_wait() is not found here. */
template <unsigned BYTES> DEVICE void copy_ahead(void *shared, const void *global, EMULATOR_SITE) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "a word");
    emulator::check_global(global, BYTES, BYTES, "copy_ahead", file, line);
    emulator::check_shared(shared, BYTES, BYTES, "copy_ahead", file, line);
    memcpy(shared, global, BYTES);
}
DEVICE void copies_ahead_wait(EMULATOR_SITE) { emulator::give_way(file, line, false); }

DEVICE bool copies_in_bulk() { return emulator::copies_in_bulk(); }
struct bulk_barrier {
    uint64_t state;
};
DEVICE void bulk_barrier_init(bulk_barrier *barrier, unsigned arrivals, EMULATOR_SITE) {
    emulator::copy_barrier_init(barrier, arrivals, file, line);
}
DEVICE void bulk_barrier_expect(bulk_barrier *barrier, unsigned bytes, EMULATOR_SITE) {
    emulator::copy_barrier_expect(barrier, bytes, file, line);
}
DEVICE bool bulk_barrier_passed(bulk_barrier *barrier, unsigned parity, EMULATOR_SITE) {
    return emulator::copy_barrier_passed(barrier, parity, file, line);
}
DEVICE bool bulk_barrier_is_past(bulk_barrier *barrier, unsigned parity, EMULATOR_SITE) {
    return emulator::copy_barrier_passed(barrier, parity, file, line);
}
DEVICE void bulk_load(void *shared, const void *global, unsigned bytes, bulk_barrier *barrier, EMULATOR_SITE) {
    emulator::copy_load(shared, global, bytes, barrier, file, line);
}
DEVICE void bulk_fence() {} /* what it orders is not watched */

namespace emulator {
/* The `rows` of what describes a table to a kernel is where EMULATOR_FAULT_TAIL is put. */
template <class T, class = void> struct describes_a_table : std::false_type {};
template <class T> struct describes_a_table<T, std::void_t<decltype(std::declval<T &>().rows)>> : std::true_type {};
template <class A> A with_tail_fault(A argument) {
    if constexpr (describes_a_table<A>::value)
        argument.rows += static_cast<size_t>(fault_rows());
    return argument;
}

template <class... P, class... A>
int launch_kernel(void (*kernel)(P...), const launch_shape &shape, void *stream, A... arguments) {
    return launch(reinterpret_cast<const void *>(kernel), shape, stream,
                  [=] { kernel(with_tail_fault<P>(P(arguments))...); });
}
} // namespace emulator

constexpr int LAUNCH_REFUSED = static_cast<int>(cudaErrorNotSupported);
static inline int without_code(int error) {
    if (error != static_cast<int>(cudaErrorNoKernelImageForDevice))
        return error;
    cudaGetLastError();
    return LAUNCH_REFUSED;
}

/* Arguments are converted and kept as the launch does it; each thread gets its own copies. */
template <class... P, class... A> static int launch(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                    size_t shared_bytes, void *stream, A... arguments) {
    return without_code(emulator::launch_kernel(kernel, {blocks, threads, shared_bytes, false}, stream, arguments...));
}
template <class... P, class... A> static int launch_cooperative(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                                size_t shared_bytes, void *stream, A... arguments) {
    const int error =
        without_code(emulator::launch_kernel(kernel, {blocks, threads, shared_bytes, true}, stream, arguments...));
    if (error != static_cast<int>(cudaErrorCooperativeLaunchTooLarge) && error != LAUNCH_REFUSED)
        return error;
    cudaGetLastError();
    return LAUNCH_REFUSED;
}
template <class... P, class... A> static int launch_early(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                          size_t shared_bytes, void *stream, A... arguments) {
    return launch(kernel, blocks, threads, shared_bytes, stream, arguments...);
}
template <class... P> static int allow_shared_bytes(void (*kernel)(P...)) {
    return emulator::allow_shared_bytes(reinterpret_cast<const void *>(kernel));
}
template <class... P> static int code_copies_in_bulk(void (*)(P...), bool *copies) {
    *copies = emulator::copies_in_bulk();
    return static_cast<int>(cudaSuccess);
}
static inline int most_shared_bytes(size_t *bytes) {
    int most = 0;
    const cudaError_t error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    *bytes = static_cast<size_t>(most);
    return static_cast<int>(error);
}
static inline int multiprocessors(unsigned *count) {
    int processors = 0;
    const cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    *count = static_cast<unsigned>(processors);
    return static_cast<int>(error);
}
static inline size_t memory_rate() { return emulator::memory_rate(); }
template <class... P>
static int resident_blocks(void (*kernel)(P...), unsigned threads, size_t shared_bytes, unsigned *blocks) {
    return emulator::resident_blocks(reinterpret_cast<const void *>(kernel), threads, shared_bytes, blocks);
}

#endif
