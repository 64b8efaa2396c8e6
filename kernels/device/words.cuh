/* The device layer's part for threads that talk to each other: atomics, words of global and shared memory, waits. */
#ifndef WORDS_CUH
#define WORDS_CUH

/* Atomics on global or shared memory, relaxed, for all of the device. Each returns the value before. */
DEVICE uint32_t atomic_add(uint32_t *word, uint32_t value) { return atomicAdd(word, value); }
DEVICE uint64_t atomic_add(uint64_t *word, uint64_t value) {
    return atomicAdd(reinterpret_cast<unsigned long long *>(word), static_cast<unsigned long long>(value));
}
DEVICE uint32_t atomic_or(uint32_t *word, uint32_t bits) { return atomicOr(word, bits); }
DEVICE uint64_t atomic_min(uint64_t *word, uint64_t value) {
    return atomicMin(reinterpret_cast<unsigned long long *>(word), static_cast<unsigned long long>(value));
}
DEVICE uint64_t atomic_cas(uint64_t *word, uint64_t expected, uint64_t value) {
    return atomicCAS(reinterpret_cast<unsigned long long *>(word), static_cast<unsigned long long>(expected),
                     static_cast<unsigned long long>(value));
}

/* Words by which blocks talk to each other, in global memory, for all of the device. A release makes all earlier writes
 * of this thread visible to a thread that acquires the word's new value; relaxed orders nothing but the word itself. */
DEVICE uint32_t load_relaxed(const uint32_t *word) {
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}
DEVICE uint64_t load_relaxed(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}
DEVICE uint64_t load_acquire(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
    return value;
}
DEVICE void store_relaxed(uint32_t *word, uint32_t value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}
DEVICE void store_relaxed(uint64_t *word, uint64_t value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}
/* A fence for relaxed words. Everything that this thread wrote, or has seen, before the fence is visible to a thread
 * that sees a relaxed store of this one after it and then calls the fence, too. */
DEVICE void fence_device() { __threadfence(); }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203
#define DEVICE_HAS_B128 /* in the PTX of CUDA 12.3 and later */
#endif

/* Two 64-bit words written and read as one access, aligned to 16 bytes, relaxed: a value and its status travel together
 * and need no fence. */
struct __align__(16) word_pair {
    uint64_t value, status;
};
DEVICE word_pair load_pair_relaxed(const word_pair *from) {
    word_pair pair;
#ifdef DEVICE_HAS_B128
    asm volatile("{ .reg .b128 t; ld.relaxed.gpu.global.b128 t, [%2]; mov.b128 {%0, %1}, t; }"
                 : "=l"(pair.value), "=l"(pair.status)
                 : "l"(from)
                 : "memory");
#else
    /* One 16-byte access of an aligned word is not split by any device from sm_70 on. */
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(pair.value), "=l"(pair.status)
                 : "l"(from)
                 : "memory");
#endif
    return pair;
}
DEVICE void store_pair_relaxed(word_pair *to, const word_pair &pair) {
#ifdef DEVICE_HAS_B128
    asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st.relaxed.gpu.global.b128 [%0], t; }"
                 :
                 : "l"(to), "l"(pair.value), "l"(pair.status)
                 : "memory");
#else
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" : : "l"(to), "l"(pair.value), "l"(pair.status) : "memory");
#endif
}

/* Words by which the threads of a block talk to each other, in shared memory. */
DEVICE uint32_t load_acquire_block(const uint32_t *word) {
    uint32_t value;
    asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(value) : "r"(shared_address(word)) : "memory");
    return value;
}
DEVICE void store_release_block(uint32_t *word, uint32_t value) {
    asm volatile("st.release.cta.shared.u32 [%0], %1;" : : "r"(shared_address(word)), "r"(value) : "memory");
}
DEVICE uint64_t load_relaxed_block(const uint64_t *word) {
    uint64_t value;
    asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(value) : "r"(shared_address(word)) : "memory");
    return value;
}
DEVICE void store_relaxed_block(uint64_t *word, uint64_t value) {
    asm volatile("st.volatile.shared.u64 [%0], %1;" : : "r"(shared_address(word)), "l"(value) : "memory");
}
DEVICE word_pair load_pair_relaxed_block(const word_pair *from) {
    word_pair pair;
    asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];"
                 : "=l"(pair.value), "=l"(pair.status)
                 : "r"(shared_address(from))
                 : "memory");
    return pair;
}
DEVICE void store_pair_relaxed_block(word_pair *to, const word_pair &pair) {
    asm volatile("st.volatile.shared.v2.u64 [%0], {%1, %2};"
                 :
                 : "r"(shared_address(to)), "l"(pair.value), "l"(pair.status)
                 : "memory");
}

/* How many looks a thread takes in vain before it does the work itself that it waits for, if it can: they take some
 * milliseconds. */
constexpr unsigned PATIENCE = 1 << 12;

/* Called by a waiting loop in each round. */
DEVICE void wait_a_little(unsigned nanoseconds) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    __nanosleep(nanoseconds);
#endif
}

#endif
