/* The device layer's part for asynchronous copies between global and shared memory. */
#ifndef COPIES_CUH
#define COPIES_CUH

/* Copies of 4, 8 or 16 bytes from global into shared memory, which take no registers on the way (sm_80). When
 * copies_ahead_wait() returns, the copies that the thread has begun are complete; other threads see them after a
 * barrier. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <unsigned BYTES> DEVICE void copy_ahead(void *shared, const void *global) {
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :
                     : "r"(shared_address(shared)), "l"(global)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :
                     : "r"(shared_address(shared)), "l"(global), "n"(BYTES)
                     : "memory");
}
DEVICE void copies_ahead_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
template <unsigned BYTES> DEVICE void copy_ahead(void *shared, const void *global) {
    typedef typename device_word<BYTES>::type word;
    *static_cast<word *>(shared) = *static_cast<const word *>(global);
}
DEVICE void copies_ahead_wait() {}
#endif

/* Asynchronous bulk copies from global into shared memory (sm_90): addresses and bytes are multiples of 16. A copy
 * counts its bytes on a barrier that lies in shared memory. */
struct bulk_barrier {
    uint64_t state;
};
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/* Whether the functions below may be called. */
DEVICE constexpr bool copies_in_bulk() { return true; }

/* One thread, before any use: the barrier opens each time `arrivals` threads have arrived and all bytes are there. */
DEVICE void bulk_barrier_init(bulk_barrier *barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(shared_address(barrier)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/* Arrives, and announces bytes that will be copied. */
DEVICE void bulk_barrier_expect(bulk_barrier *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}
/* Whether the barrier has gone through the phase of that parity (0 for the first, then 1, 0, ...). May wait a while. */
DEVICE bool bulk_barrier_passed(bulk_barrier *barrier, unsigned parity) {
    unsigned passed;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return passed != 0;
}
/* bulk_barrier_passed() that never waits. */
DEVICE bool bulk_barrier_is_past(bulk_barrier *barrier, unsigned parity) {
    unsigned past;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(past)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return past != 0;
}
DEVICE void bulk_load(void *shared, const void *global, unsigned bytes, bulk_barrier *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :
                 : "r"(shared_address(shared)), "l"(global), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}
/* Before a barrier after which one thread starts a bulk_load() to there: this thread's writes to shared memory become
 * visible to the copy engine. */
DEVICE void bulk_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#else
/* On older devices these are never called, but the kernels that name them are compiled. */
DEVICE constexpr bool copies_in_bulk() { return false; }
DEVICE void bulk_barrier_init(bulk_barrier *, unsigned) { __trap(); }
DEVICE void bulk_barrier_expect(bulk_barrier *, unsigned) { __trap(); }
DEVICE bool bulk_barrier_passed(bulk_barrier *, unsigned) { return true; }
DEVICE bool bulk_barrier_is_past(bulk_barrier *, unsigned) { return true; }
DEVICE void bulk_load(void *, const void *, unsigned, bulk_barrier *) { __trap(); }
DEVICE void bulk_fence() {}
#endif

#endif
