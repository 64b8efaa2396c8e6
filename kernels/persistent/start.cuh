/* What the launchers of the fused kernels have in common. */
#ifndef PERSISTENT_START_CUH
#define PERSISTENT_START_CUH

#include <type_traits>

#include "overflow/after_pass.cuh"
#include "persistent/roles.cuh"

/* The words and magnitudes of a pass, which are to be cleared, in pairs; the last one may end beyond them. */
static inline size_t shared_pairs(size_t chunks, size_t shares, size_t columns, size_t sum_bytes, bool checked) {
    const size_t words = (shares * chunks + 1) * columns * 2 * sum_bytes;
    const size_t magnitudes = checked ? chunks * sizeof(uint32_t) : 0;
    return (words + magnitudes + sizeof(word_pair) - 1) / sizeof(word_pair);
}

/* How many blocks the device runs at once; cudaErrorNotSupported: it has not as much shared memory as is `needed`. */
template <class KERNEL_TYPE>
static int blocks_at_once(KERNEL_TYPE kernel, unsigned threads, size_t shared, size_t needed, unsigned *blocks) {
    size_t most = 0;
    int error = most_shared_bytes(&most);
    if (error == 0 && needed > most)
        error = static_cast<int>(cudaErrorNotSupported);
    if (error == 0)
        error = allow_shared_bytes(kernel);
    if (error == 0)
        error = resident_blocks(kernel, threads, shared, blocks);
    return error;
}

/* The same beside so many that do stage 2; cudaErrorNotSupported, too: those would be too large a share. */
template <class KERNEL_TYPE>
static int blocks_beside_spines(KERNEL_TYPE kernel, unsigned threads, size_t shared, size_t spines, unsigned *blocks) {
    const int error = blocks_at_once(kernel, threads, shared, shared, blocks);
    return error == 0 && spines * SPINE_SHARE > *blocks ? static_cast<int>(cudaErrorNotSupported) : error;
}

/* What a pass is called with. */
struct fused_call {
    const void *carry_in;
    void *carry_out, *workspace, *stream;
    bool bulk;

    /* The words of a pass in the workspace, all of them seeds yet, and magnitudes nowhere. */
    template <class SUM> fused_state<SUM> state_for() const {
        fused_state<SUM> state;
        state.ticket = static_cast<uint32_t *>(workspace);
        state.parts = state.ticket + 1;
        state.totals = state.seeds =
            reinterpret_cast<exchange_word<SUM> *>(static_cast<char *>(workspace) + TICKET_BYTES);
        state.magnitudes = nullptr;
        state.carry_in = static_cast<const SUM *>(carry_in);
        state.carry_out = static_cast<SUM *>(carry_out);
        state.alone = false;
        state.bulk = bulk;
        return state;
    }
    template <class SHAPE> fused_state<typename SHAPE::Sum> state_of(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum SUM;
        const size_t chunks = chunks_of<SHAPE>(pass, tiles);
        fused_state<SUM> state = state_for<SUM>();
        state.totals = state.seeds + pass.columns;
        if (pass.first_overflow)
            state.magnitudes = reinterpret_cast<uint32_t *>(state.totals + chunks * SHAPE::SHARES * pass.columns);
        return state;
    }

    /* Of the sums of a pass, whose chunks have so many rows, and seeds so many words apart. Devices that copy in bulk
     * have launches that overlap, too: that of the check costs a microsecond or two less. */
    template <class INPUT, class SUM>
    int check(const tile_pass &pass, const fused_state<SUM> &state, size_t apart, unsigned rows, size_t chunks) const {
        const unsigned groups = static_cast<unsigned>((pass.columns + WARP_LANES - 1) / WARP_LANES);
        const size_t threads = chunks * groups * WARP_LANES;
        const unsigned blocks = static_cast<unsigned>((threads + CHECK_THREADS - 1) / CHECK_THREADS);
        if constexpr (std::is_integral<SUM>::value) {
            const auto kernel = fused_check_kernel<INPUT, SUM>;
            return bulk ? launch_early(kernel, blocks, CHECK_THREADS, 0, stream, pass, state, apart, rows, chunks,
                                       groups)
                        : launch(kernel, blocks, CHECK_THREADS, 0, stream, pass, state, apart, rows, chunks, groups);
        }
        return 0;
    }
};

#endif
