/* The three stages for a table whose tiles all find room on the device at once, a block a tile, in one wave.
 *
 * Each block publishes its tile's column totals, looks at those of all tiles above, adds them up from left to right,
 * and finishes its tile, which has stayed in its registers. Where there are few chunks, blocks share them. It is one
 * launch with nothing before it: words need not be cleared (wave_epoch.cuh).
 *
 * No wait is without end. Mostly all blocks do run at once, but nothing is built on that: a thread that has looked for
 * totals a number of times makes them itself. It could not, if the table is scanned in place, or the row of carries is
 * one: then the launch is a cooperative one, which costs up to half a microsecond. */
#include "choose/dispatch.cuh"
#include "overflow/in_tile.cuh"
#include "resident/wave_exchange.cuh"
#include "tile/finish.cuh"

constexpr unsigned WAVE_SHARES = 4; /* of a chunk, at most */

/* Whether a tile's totals are told before it is scanned: they are made twice, but nobody waits for the scan. That is
 * less where few columns have quarters of chunks, and more elsewhere (docs/tuning.md). */
template <class SHAPE, unsigned SHARES> HOST_DEVICE constexpr bool tells_first() {
    return SHARES > 1 && SHAPE::LANES == 1;
}

/* The totals of a tile's warps; if they are not told first, the warps are scanned on the way. */
template <class SHAPE, unsigned SHARES>
DEVICE void wave_totals(const tile_place &place, tile_values<SHAPE> &values, warp_rows<SHAPE> &totals) {
    if constexpr (tells_first<SHAPE, SHARES>()) {
        tile_values<SHAPE> copy;
        UNROLL
        for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k++)
            value_of<SHAPE>(copy, k) = value_of<SHAPE>(values, k);
        make_totals<SHAPE>(place, copy, totals);
    } else {
        scan_warp<SHAPE>(place, values);
        put_warp_totals<SHAPE>(place, values, totals);
    }
}

/* From the table to running sums in registers, with all totals above in shared memory. */
template <class SHAPE, unsigned SHARES>
DEVICE void wave_begin(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state, unsigned tile,
                       wave_shared<SHAPE, SHARES> &shared, typename SHAPE::Sum *chunks, tile_values<SHAPE> &values,
                       typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    const uint64_t draw = begin_draw(state.epoch, tile % pass.panels);
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
    tile_load<SHAPE>(pass, place, values);
    loads_before_sums(place.end == 0);
    if (thread_index() == 0)
        shared.draw = end_draw(state.epoch, tile % pass.panels, draw);
    put_magnitude<SHAPE>(pass, pass.first_overflow, values, shared.magnitudes);
    wave_totals<SHAPE, SHARES>(place, values, shared.totals);
    block_barrier();
    const uint64_t tag = join_epoch<SHAPE, SHARES>(pass, state, tile, shared);
    wave_publish<SHAPE>(pass, state, tile, tag, shared.totals);
    if (thread_index() == 0) {
        fill_up(state.epoch, tile % pass.panels, shared.draw);
        set_overflow<SHAPE>(pass, state.epoch, shared.draw);
    }
    if constexpr (tells_first<SHAPE, SHARES>()) {
        /* Or else the lanes that publish and those that do not go on apart, shuffle by shuffle. */
        warp_barrier(WARP_ALL);
        scan_warp<SHAPE>(place, values);
    }
    scan_warps<SHAPE>(place, shared.totals, values, before);
    wave_gather<SHAPE, SHARES>(pass, state, tile, tag, shared, chunks);
    block_barrier();
}

template <class SHAPE, bool ABOVE, unsigned SHARES> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    fused_wave_kernel(tile_pass pass, wave_state<typename SHAPE::Sum> state) {
    typedef wave_shared<SHAPE, SHARES> shared_type;
    SHARED_ARRAY(shared_type, shared, 1);
    SHARED_DYNAMIC(unsigned char, memory); /* totals of the chunks above; then staging */
    typename SHAPE::Sum *const chunks = reinterpret_cast<typename SHAPE::Sum *>(memory);
    typename SHAPE::Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS];
    tile_values<SHAPE> values;
    const unsigned tile = block_index();
    wave_begin<SHAPE, SHARES>(pass, state, tile, shared[0], chunks, values, before);
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
    const unsigned share = place.chunk % SHARES;
    wave_fold<SHAPE, SHARES>(pass, state, tile, shared[0], chunks);
    if (SHARES > 1)
        scan_level<SHAPE, 1>(place, share, shared[0].lefts, values, before);
    if (SHARES > 2)
        scan_level<SHAPE, 2>(place, share, shared[0].lefts, values, before);
    block_barrier();
    lane_seed<SHAPE>(place, shared[0].seeds, seed);
    finish_tile<SHAPE, ABOVE>(pass, place, *reinterpret_cast<tile_staging<SHAPE> *>(memory), seed, values, before);
    const auto base = [&](unsigned c) {
        typename SHAPE::Sum sum = shared[0].seeds[c];
        for (unsigned left = 0; left < share; left++)
            sum += shared[0].lefts[left][c];
        return sum;
    };
    check_tile<SHAPE>(
        pass, tile, shared[0].magnitudes, base,
        [&](unsigned c) { return total_of_warps<SHAPE, SHAPE::WARPS>(shared[0].totals, 0, c); },
        [&] { see_overflow_set<SHAPE>(pass, state.epoch, shared[0].draw); });
}

struct fused_wave_launcher {
    static constexpr bool PARKS = false;
    const void *carry_in;
    void *carry_out, *workspace, *stream;

    template <class SHAPE> int run(const tile_pass &pass, unsigned) const {
        constexpr unsigned SHARES = SHAPE::STEPS < WAVE_SHARES ? SHAPE::STEPS : WAVE_SHARES;
        const int error = run_shares<SHAPE, SHARES>(pass);
        return SHARES == 1 || error != static_cast<int>(cudaErrorNotSupported) ? error : run_chunks<SHAPE>(pass);
    }

    /* Of whole chunks. Where a row is a vector, shuffles are most of their time; two rows in a lane halve them. */
    template <class SHAPE> int run_chunks(const tile_pass &pass) const {
        if constexpr (SHAPE::LANES == 1 && SHAPE::COLUMNS == SHAPE::VECTOR)
            if (pass.in_stride == pass.columns && pass.out_stride == pass.columns)
                return run_shares<typename SHAPE::template taller<2>, 1>(pass);
        return run_shares<SHAPE, 1>(pass);
    }

    template <class SHAPE, unsigned SHARES> int run_shares(const tile_pass &pass) const {
        typedef typename SHAPE::Sum Sum;
        typedef typename SHAPE::template share<SHARES> share;
        const auto kernel =
            pass.exclusive ? fused_wave_kernel<share, true, SHARES> : fused_wave_kernel<share, false, SHARES>;
        const size_t rows = (pass.rows + share::CHUNK_ROWS - 1) / share::CHUNK_ROWS, blocks = rows * pass.panels;
        const size_t pitch = wave_length<Sum>(static_cast<unsigned>(rows / SHARES)) + 16 / sizeof(Sum);
        const size_t chunks = pitch * sizeof(warp_row<share>);
        const size_t staging = sizeof(tile_staging<share>), shared = chunks > staging ? chunks : staging;
        unsigned most;
        if (shared > MOST_WAVE_BYTES)
            return static_cast<int>(cudaErrorNotSupported);
        int error = resident_blocks(kernel, BLOCK_THREADS, shared, &most);
        if (error != 0)
            return error;
        if (blocks > most)
            return static_cast<int>(cudaErrorNotSupported);
        const wave_state<Sum> state = state_of<Sum>(pass, static_cast<unsigned>(rows), static_cast<unsigned>(pitch));
        return state.helps ? launch(kernel, static_cast<unsigned>(blocks), BLOCK_THREADS, shared, stream, pass, state)
                           : launch_cooperative(kernel, static_cast<unsigned>(blocks), BLOCK_THREADS, shared, stream,
                                                pass, state);
    }

    template <class SUM> wave_state<SUM> state_of(const tile_pass &pass, unsigned rows, unsigned pitch) const {
        wave_state<SUM> state;
        state.epoch.draws = static_cast<uint64_t *>(workspace);
        state.epoch.overflow_set = state.epoch.draws + pass.panels;
        state.epoch.key = epoch_key(workspace, rows, pass.columns, pass.panel_columns);
        state.epoch.blocks = rows;
        state.epoch.each = power_of_two_above(rows);
        state.words = reinterpret_cast<word_pair *>(static_cast<char *>(workspace) + draw_bytes(pass.panels));
        state.helps = pass.in != pass.out && !(carry_in && carry_in == carry_out);
        state.carry_in = static_cast<const SUM *>(carry_in);
        state.carry_out = static_cast<SUM *>(carry_out);
        state.pitch = pitch;
        return state;
    }

    static constexpr size_t MOST_WAVE_BYTES = 40 << 10;
};

#if KERNEL_PART == 0
size_t form_wave::workspace(const kernel_pass *pass) {
    const size_t chunks = (pass->rows + pass->chunk_rows - 1) / pass->chunk_rows;
    return draw_bytes(pass->columns) + (WAVE_SHARES * chunks + 1) * pass->columns * sizeof(word_pair);
}
#endif

template <> int form_wave::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    return run_pass(*pass, fused_wave_launcher{carry->in, carry->out, workspace, pass->stream});
}
