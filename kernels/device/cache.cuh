/* The device layer's hints to the device's cache, L2, which fetches and evicts each sector of 32 bytes of its lines of
 * 128 by itself. They serve tiles of bytes, whose rows are short, and words that are written again, or again and again.
 */
#ifndef CACHE_CUH
#define CACHE_CUH

#include "words.cuh"

/* For a table that is read twice, the second time soon (sm_80): the cache keeps what load_kept() reads, and lets go of
 * what load_passing() reads or store_passing() writes. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
DEVICE uint64_t passing_policy() {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
DEVICE uint64_t keeping_policy() {
    uint64_t policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
DEVICE uint32_t load_by_policy(const uint32_t *from, uint64_t policy) {
    uint32_t value;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(from), "l"(policy));
    return value;
}
DEVICE uint32_t load_kept(const uint32_t *from) { return load_by_policy(from, keeping_policy()); }
DEVICE uint32_t load_passing(const uint32_t *from) { return load_by_policy(from, passing_policy()); }
template <class V> DEVICE void store_passing(V *to, const V &value) {
    const uint4 &bits = reinterpret_cast<const uint4 &>(value);
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
                 :
                 : "l"(to), "r"(bits.x), "r"(bits.y), "r"(bits.z), "r"(bits.w), "l"(passing_policy())
                 : "memory");
}

/* Words by which blocks talk to each other, the same words over and over: each function is words.cuh's function
 * without _kept, but the cache keeps the words rather than data that passes. */
DEVICE uint64_t load_relaxed_kept(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u64 %0, [%1], %2;"
                 : "=l"(value)
                 : "l"(word), "l"(keeping_policy())
                 : "memory");
    return value;
}
DEVICE void store_relaxed_kept(uint64_t *word, uint64_t value) {
    asm volatile("st.relaxed.gpu.global.L2::cache_hint.u64 [%0], %1, %2;"
                 :
                 : "l"(word), "l"(value), "l"(keeping_policy())
                 : "memory");
}
DEVICE void store_pair_kept(word_pair *to, const word_pair &pair) {
    asm volatile("st.global.L2::cache_hint.v2.u64 [%0], {%1, %2}, %3;"
                 :
                 : "l"(to), "l"(pair.value), "l"(pair.status), "l"(keeping_policy())
                 : "memory");
}
#else
DEVICE uint32_t load_kept(const uint32_t *from) { return *from; }
DEVICE uint32_t load_passing(const uint32_t *from) { return *from; }
template <class V> DEVICE void store_passing(V *to, const V &value) { store_vector(to, value); }
DEVICE void store_pair_kept(word_pair *to, const word_pair &pair) { *to = pair; }
DEVICE uint64_t load_relaxed_kept(const uint64_t *word) { return load_relaxed(word); }
DEVICE void store_relaxed_kept(uint64_t *word, uint64_t value) { store_relaxed(word, value); }
#endif
#ifdef DEVICE_HAS_B128
DEVICE word_pair load_pair_relaxed_kept(const word_pair *from) {
    word_pair pair;
    asm volatile("{ .reg .b128 t; ld.relaxed.gpu.global.L2::cache_hint.b128 t, [%2], %3; mov.b128 {%0, %1}, t; }"
                 : "=l"(pair.value), "=l"(pair.status)
                 : "l"(from), "l"(keeping_policy())
                 : "memory");
    return pair;
}
DEVICE void store_pair_relaxed_kept(word_pair *to, const word_pair &pair) {
    asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st.relaxed.gpu.global.L2::cache_hint.b128 [%0], t, %3; }"
                 :
                 : "l"(to), "l"(pair.value), "l"(pair.status), "l"(keeping_policy())
                 : "memory");
}
#else
DEVICE word_pair load_pair_relaxed_kept(const word_pair *from) { return load_pair_relaxed(from); }
DEVICE void store_pair_relaxed_kept(word_pair *to, const word_pair &pair) { store_pair_relaxed(to, pair); }
#endif

/* Reads a word of a line whose rest other blocks read soon (sm_75): the whole line comes into the cache. */
DEVICE uint32_t load_of_line(const uint32_t *from) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
    uint32_t value;
    asm volatile("ld.global.L2::128B.u32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
#else
    return *from;
#endif
}

/* store_vector() for values that are not read soon: the cache evicts them first. */
template <class V> DEVICE void store_streaming(V *to, const V &value) {
    typedef typename device_word<sizeof(V)>::type word;
    __stcs(reinterpret_cast<word *>(to), reinterpret_cast<const word &>(value));
}

#endif
