/* The three stages in one kernel: each value is read once and written once.
 *
 * Blocks draw tiles from a ticket, so that the tiles before a drawn one are drawn, too, by blocks that run. A block
 * reads its tile into registers, publishes the tile's column totals, and goes on summing inside the tile. The block
 * that drew the first ticket does stage 2 for all: it adds up the totals in order, as they appear, and publishes each
 * chunk's seed. Nobody waits before having published, and the one that adds up waits for nothing else: the wait always
 * ends. */
#include "dispatch.cuh"
#include "exchange.cuh"
#include "tile_finish.cuh"

/* In the workspace, all zeros at the beginning. Words are chunk by chunk, a row of columns each. */
template <class SUM> struct fused_state {
    uint32_t *ticket;
    exchange_word<SUM> *totals;
    exchange_word<SUM> *seeds;
    SUM *carry; /* in and out */
};

constexpr unsigned SPINE_WORDS = 2048; /* that stage 2 looks at in one round */

/* Stage 2, one round: looks at the totals of up to `most` chunks from `chunk` on in `width` columns from `first` on,
 * and adds up those that are there. Returns how many chunks that were. */
template <class SUM> DEVICE unsigned spine_round(const tile_pass &pass, const fused_state<SUM> &state, SUM *shared,
                                                 unsigned *ready, size_t chunk, unsigned most, size_t first,
                                                 unsigned width) {
    if (thread_index() == 0)
        *ready = most;
    block_barrier();
    for (unsigned k = thread_index(); k < most * width; k += BLOCK_THREADS)
        if (!look(&state.totals[(chunk + k / width) * pass.columns + first + k % width], &shared[k]))
            atomic_min(ready, k / width);
    block_barrier();
    const unsigned chunks = *ready;
    if (chunks == 0)
        return 0;
    for (unsigned column = thread_index(); column < width; column += BLOCK_THREADS) {
        SUM seed = state.carry[first + column];
        for (unsigned k = 0; k < chunks; k++) {
            seed = seed + shared[k * width + column];
            publish(&state.seeds[(chunk + k + 1) * pass.columns + first + column], seed);
        }
        state.carry[first + column] = seed;
    }
    return chunks;
}

/* Stage 2. The carry row holds the running seed from round to round, and is the carry out at the end. */
template <class SUM> DEVICE void spine(const tile_pass &pass, const fused_state<SUM> &state, size_t chunks) {
    SHARED_ARRAY(SUM, shared, SPINE_WORDS);
    SHARED_ARRAY(unsigned, ready, 1);
    const unsigned width = pass.columns < SPINE_WORDS ? static_cast<unsigned>(pass.columns) : SPINE_WORDS;
    const unsigned window = SPINE_WORDS / width < BLOCK_THREADS ? SPINE_WORDS / width : BLOCK_THREADS;
    for (size_t column = thread_index(); column < pass.columns; column += BLOCK_THREADS)
        publish(&state.seeds[column], state.carry[column]);
    for (size_t chunk = 0; chunk < chunks;) {
        unsigned done = 1;
        for (size_t first = 0; first < pass.columns; first += width) {
            const size_t left = pass.columns - first;
            const unsigned most = chunks - chunk < window ? static_cast<unsigned>(chunks - chunk) : window;
            do {
                done = spine_round(pass, state, shared, ready, chunk, width < pass.columns ? 1 : most, first,
                                   left < width ? static_cast<unsigned>(left) : width);
                block_barrier();
            } while (done == 0);
        }
        chunk += done;
    }
}

/* Waits for the chunk's seed, one value a column. The first warp looks, the others meet it at the barrier. */
template <class SHAPE> DEVICE void wait_for_seed(const tile_pass &pass, const tile_place &place,
                                                 const fused_state<typename SHAPE::Sum> &state, warp_row<SHAPE> &shared,
                                                 typename SHAPE::Sum (&seed)[SHAPE::COLUMNS]) {
    if (thread_index() < SHAPE::LANES && place.active) {
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            while (!look(&state.seeds[place.chunk * pass.columns + place.column + c], &seed[c]))
                wait_a_little(20);
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            shared[place.across * SHAPE::COLUMNS + c] = seed[c];
    }
    block_barrier();
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seed[c] = shared[place.across * SHAPE::COLUMNS + c];
}

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    fused_kernel(tile_pass pass, fused_state<typename SHAPE::Sum> state, unsigned tiles) {
    typedef typename SHAPE::Sum Sum;
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    SHARED_ARRAY(warp_row<SHAPE>, seeds, 1);
    SHARED_ARRAY(unsigned, ticket, 1);
    if (thread_index() == 0)
        *ticket = atomic_add(state.ticket, 1u);
    block_barrier();
    if (*ticket == 0) {
        spine<Sum>(pass, state, tiles / pass.panels);
        return;
    }
    const tile_place place = tile_place_of<SHAPE>(pass, *ticket - 1);
    Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS];
    tile_values<SHAPE> values;
    tile_load<SHAPE>(pass, place, values);
    scan_warp<SHAPE>(place, values);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
        before[c] = sum_identity<Sum>();
        if (place.phase == SHAPE::PHASES - 1)
            totals[thread_index() / WARP_LANES][place.across * SHAPE::COLUMNS + c] =
                values[SHAPE::STEPS - 1][SHAPE::ROWS - 1][c];
    }
    block_barrier();
    if (thread_index() < SHAPE::LANES && place.active)
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        publish(&state.totals[place.chunk * pass.columns + place.column + c],
                total_of_warps<SHAPE, BLOCK_WARPS>(totals, 0, place.across * SHAPE::COLUMNS + c));
    scan_warps_level<SHAPE, 1>(place, totals, values, before);
    scan_warps_level<SHAPE, 2>(place, totals, values, before);
    scan_warps_level<SHAPE, 4>(place, totals, values, before);
    scan_warps_level<SHAPE, 8>(place, totals, values, before);
    wait_for_seed<SHAPE>(pass, place, state, seeds[0], seed);
    finish_tile<SHAPE, ABOVE>(pass, place, staging[0], seed, values, before);
}

struct fused_launcher {
    void *carry, *workspace, *stream;
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        fused_state<Sum> state;
        const size_t words = static_cast<size_t>(tiles / pass.panels) * pass.columns;
        state.ticket = static_cast<uint32_t *>(workspace);
        state.totals = reinterpret_cast<exchange_word<Sum> *>(static_cast<char *>(workspace) + 256);
        state.seeds = state.totals + words;
        state.carry = static_cast<Sum *>(carry);
        const auto kernel =
            pass.exclusive || pass.first_overflow ? fused_kernel<SHAPE, true> : fused_kernel<SHAPE, false>;
        return launch(kernel, tiles + 1, BLOCK_THREADS, 0, stream, pass, state, tiles);
    }
};

extern "C" size_t kernel_fused_workspace(size_t chunks, size_t columns, table_type type) {
    const size_t sum_bytes = type == TABLE_U64 || type == TABLE_I64 || type == TABLE_F64 ? 8 : 4;
    return 256 + (2 * chunks + 1) * columns * 2 * sum_bytes;
}

extern "C" int kernel_fused(const kernel_pass *pass, void *carry, void *workspace) {
    return run_pass(*pass, fused_launcher{carry, workspace, pass->stream});
}
