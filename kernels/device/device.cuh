/* The device layer: all that a kernel may use of the machine, each thing one small inline function or macro.
 *
 * Kernels contain no bare <<<>>>, no built-in variables and no PTX; they find all of it here. That is what lets the
 * very same kernel sources run on the CPU in the tests: tests/emulator/device.cuh offers the same names and checks how
 * they are used. Whatever is added here is added there too. */
#ifndef DEVICE_CUH
#define DEVICE_CUH

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#define KERNEL                         static __global__ void
#define DEVICE                         __device__ __forceinline__
#define HOST_DEVICE                    __host__ __device__ inline
#define DEVICE_CALL                    __device__ __noinline__
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define UNROLL                         _Pragma("unroll")
#define UNROLL_TWICE                   _Pragma("unroll 2")
#define UNROLL_SOME                    _Pragma("unroll 3") /* rounds at a time */
#define KEEP_LOOP                      _Pragma("unroll 1")

/* Shared memory of the block: a fixed array, or all that the launch asked for. Use each name once in a kernel. */
#define SHARED_ARRAY(type, name, count) __shared__ __align__(16) type name[count]
#define SHARED_DYNAMIC(type, name)                                                                                     \
    extern __shared__ __align__(128) unsigned char shared_dynamic_memory[];                                            \
    type *name = reinterpret_cast<type *>(shared_dynamic_memory)

/* The address of shared memory as PTX wants it. Only for this folder. */
DEVICE unsigned shared_address(const void *pointer) { return static_cast<unsigned>(__cvta_generic_to_shared(pointer)); }

#define WARP_LANES 32
#define WARP_ALL   0xffffffffu

DEVICE unsigned thread_index() { return threadIdx.x; }
/* thread_index(), found anew: nothing is made of it beforehand and kept in registers. */
DEVICE unsigned thread_index_anew() {
    unsigned index;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
    return index;
}
/* Hides the origin of a number from the compiler, so that everything derived from it is computed again. */
DEVICE unsigned found_anew(unsigned number) {
    asm volatile("" : "+r"(number));
    return number;
}
DEVICE unsigned block_threads() { return blockDim.x; }
DEVICE unsigned block_index() { return blockIdx.x; }
DEVICE unsigned block_count() { return gridDim.x; }
/* The number of the multiprocessor that the block runs on. */
DEVICE unsigned multiprocessor() {
    unsigned number;
    asm("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

/* A clock of the device, which goes on from launch to launch. */
DEVICE uint64_t nanoseconds() {
    uint64_t time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

/* All threads of the block meet; after it each sees all that the others wrote to shared and global memory before it. */
DEVICE void block_barrier() { __syncthreads(); }
/* block_barrier() that also tells each thread whether any of them voted so. */
DEVICE bool block_barrier_any(bool vote) { return __syncthreads_or(vote) != 0; }
/* Some warps hand over what they wrote, and go on; the others wait until all of it is there, and take it over. Each
 * warp of the block calls one of the two, with all lanes. It is a barrier beside block_barrier(). */
DEVICE void block_hand_over() { asm volatile("barrier.arrive 1, %0;" : : "r"(block_threads()) : "memory"); }
DEVICE void block_take_over() { asm volatile("barrier.sync 1, %0;" : : "r"(block_threads()) : "memory"); }

/* A value in shared memory; or anything, if it is not wanted: other threads may be writing it. */
template <class V> DEVICE V load_if_wanted(const V *from, bool) { return *from; }

/* Keeps the compiler from moving the loads above it below the additions after it, which it does with integers, until
 * two loads are under way instead of all. `never` is false, but in a way that the compiler cannot know. */
DEVICE void loads_before_sums(bool never) {
    if (__any_sync(0xffffffffu, never))
        __trap();
}

/* Operations of the lanes of a warp together: `mask` names the lanes that take part, and exactly those must call it. T
 * has 4 or 8 bytes. */
template <class T> DEVICE T warp_shuffle(unsigned mask, T value, unsigned lane) {
    return __shfl_sync(mask, value, static_cast<int>(lane));
}
template <class T> DEVICE T warp_shuffle_xor(unsigned mask, T value, unsigned flip) {
    return __shfl_xor_sync(mask, value, static_cast<int>(flip));
}
template <class T> DEVICE T warp_shuffle_up(unsigned mask, T value, unsigned lanes) {
    return __shfl_up_sync(mask, value, lanes);
}
DEVICE unsigned warp_ballot(unsigned mask, bool vote) { return __ballot_sync(mask, vote); }
DEVICE bool warp_all(unsigned mask, bool vote) { return __all_sync(mask, vote) != 0; }
DEVICE bool warp_any(unsigned mask, bool vote) { return __any_sync(mask, vote) != 0; }
/* The bits that are set in every lane's `bits`. */
DEVICE unsigned warp_and(unsigned mask, unsigned bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (unsigned half = 1; half < 32; half *= 2)
        bits &= __shfl_xor_sync(mask, bits, static_cast<int>(half));
    return bits;
#else
    return __reduce_and_sync(mask, bits);
#endif
}
/* The bits that are set in any lane's `bits`. */
DEVICE unsigned warp_or(unsigned mask, unsigned bits) { return ~warp_and(mask, ~bits); }
/* The sum of all lanes' values. */
DEVICE uint32_t warp_sum(unsigned mask, uint32_t value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (unsigned half = 1; half < 32; half *= 2)
        value += __shfl_xor_sync(mask, value, static_cast<int>(half));
    return value;
#else
    return __reduce_add_sync(mask, value);
#endif
}
DEVICE unsigned warp_match(unsigned mask, unsigned value) { return __match_any_sync(mask, value); }
/* warp_match() for all lanes and values of at most BITS bits, by a vote on each bit. It is written in PTX, as the
 * compiler takes a bit apart twice where it is voted on and chosen by: seven instructions a bit instead of four. */
template <unsigned BITS> DEVICE unsigned warp_match_bits(unsigned value) {
    unsigned same = WARP_ALL;
    UNROLL
    for (unsigned bit = 0; bit < BITS; bit++) {
        unsigned vote;
        asm volatile("{ .reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0;"
                     " vote.sync.ballot.b32 %0, p, 0xffffffff; @!p not.b32 %0, %0; }"
                     : "=r"(vote)
                     : "r"(value), "r"(1u << bit));
        same &= vote;
    }
    return same;
}
DEVICE void warp_barrier(unsigned mask) { __syncwarp(mask); }

/* The number of the lowest bit that is set, counted from 0. `bits` is not 0. */
DEVICE unsigned lowest_bit(unsigned bits) { return static_cast<unsigned>(__ffs(static_cast<int>(bits)) - 1); }

/* How many bits it takes to write the number `bits`: none for 0. */
DEVICE unsigned bit_width(unsigned bits) { return 32 - static_cast<unsigned>(__clz(static_cast<int>(bits))); }

DEVICE unsigned bit_count(unsigned bits) { return static_cast<unsigned>(__popc(bits)); }

/* Four bytes, each chosen by a hexadecimal digit of `which`: 0 to 3 is that byte of `bytes`, 4 is zero; 8 more, eight
 * times the highest bit of that. */
DEVICE uint32_t choose_bytes(uint32_t bytes, unsigned which) {
    uint32_t chosen;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(chosen) : "r"(bytes), "r"(which));
    return chosen;
}

/* Small floats, IEEE 754 binary16 and the upper half of an f32, given their bits: widened, and rounded to the nearest,
 * ties to even. */
DEVICE float float_of_f16(uint16_t bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}
DEVICE uint16_t f16_of_float(float value) {
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}
DEVICE uint16_t bf16_of_float(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    const uint32_t bits = __float_as_uint(value);
    return static_cast<uint16_t>(value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

/* Two of them in a word, the first one in its low half. */
DEVICE uint32_t f16_pair_of(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
#else
    return f16_of_float(first) | static_cast<uint32_t>(f16_of_float(second)) << 16;
#endif
}
DEVICE uint32_t bf16_pair_of(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
#else
    return bf16_of_float(first) | static_cast<uint32_t>(bf16_of_float(second)) << 16;
#endif
}

/* A vector of values in one access. V is a scalar or a struct of 1, 2, 4, 8 or 16 bytes that is aligned to its size.
 * Stores write through: on an H200 a plain store costs up to twice the time where rows do not begin on a cache line,
 * and a load that marks its line as used once is 3 to 5 % slower than a plain one (docs/tuning.md#loads-and-stores). */
template <unsigned BYTES> struct device_word;
template <> struct device_word<1> { typedef unsigned char type; };
template <> struct device_word<2> { typedef unsigned short type; };
template <> struct device_word<4> { typedef unsigned type; };
template <> struct device_word<8> { typedef uint2 type; };
template <> struct device_word<16> { typedef uint4 type; };

template <class V> DEVICE V load_vector(const V *from) {
    typedef typename device_word<sizeof(V)>::type word;
    const word bits = *reinterpret_cast<const word *>(from);
    return reinterpret_cast<const V &>(bits);
}
template <class V> DEVICE void store_vector(V *to, const V &value) {
    typedef typename device_word<sizeof(V)>::type word;
    __stwt(reinterpret_cast<word *>(to), reinterpret_cast<const word &>(value));
}

/* A value of 4 or 8 bytes at an index, or if it is not there anything: that at another index. And a value that goes to
 * an index, if it is wanted. Either takes five instructions, where the compiler takes up to ten. */
template <class V> DEVICE V load_at_or(const V *first, unsigned index, int other, bool is_there) {
    typename device_word<sizeof(V)>::type bits;
    if constexpr (sizeof(V) == 4)
        asm volatile("{\n.reg .pred p;\n.reg .b32 i;\n.reg .b64 at;\nsetp.ne.u32 p, %4, 0;\nselp.s32 i, %2, %3, p;\n"
                     "mad.wide.s32 at, i, 4, %1;\nld.global.b32 %0, [at];\n}"
                     : "=r"(bits)
                     : "l"(first), "r"(index), "r"(other), "r"(unsigned(is_there)));
    else
        asm volatile("{\n.reg .pred p;\n.reg .b32 i;\n.reg .b64 at;\nsetp.ne.u32 p, %5, 0;\nselp.s32 i, %3, %4, p;\n"
                     "mad.wide.s32 at, i, 8, %2;\nld.global.v2.b32 {%0, %1}, [at];\n}"
                     : "=r"(bits.x), "=r"(bits.y)
                     : "l"(first), "r"(index), "r"(other), "r"(unsigned(is_there)));
    return reinterpret_cast<const V &>(bits);
}
template <class V> DEVICE void store_at_if(V *first, unsigned index, V value, bool is_there) {
    const auto bits = reinterpret_cast<const typename device_word<sizeof(V)>::type &>(value);
    if constexpr (sizeof(V) == 4)
        asm volatile("{\n.reg .pred p;\n.reg .b64 at;\nsetp.ne.u32 p, %3, 0;\nmad.wide.u32 at, %2, 4, %1;\n"
                     "@p st.global.wt.b32 [at], %0;\n}" ::"r"(bits),
                     "l"(first), "r"(index), "r"(unsigned(is_there)));
    else
        asm volatile("{\n.reg .pred p;\n.reg .b64 at;\nsetp.ne.u32 p, %4, 0;\nmad.wide.u32 at, %3, 8, %2;\n"
                     "@p st.global.wt.v2.b32 [at], {%0, %1};\n}" ::"r"(bits.x),
                     "r"(bits.y), "l"(first), "r"(index), "r"(unsigned(is_there)));
}

#include "cache.cuh"
#include "copies.cuh"
#include "grid.cuh"
#include "launch.cuh"
#include "words.cuh"

#endif
