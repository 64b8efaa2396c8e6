/* The three stages for a table whose tiles all find room on the device at once, a block a tile, in one wave.
 *
 * Each block publishes its tile's column totals, looks at the totals of all tiles above, adds them up, and finishes its
 * tile, which has stayed in its registers. Where there are few chunks, blocks share them. It is one launch with nothing
 * before it: nothing has to be cleared (wave_epoch.cuh). A cell is read once and written once, and a column of a tile
 * has a descriptor of 16 bytes, which is written once and read by each tile below it.
 *
 * Every wait ends (wave_exchange.cuh). Out of place nothing depends on all blocks running at once, though mostly they
 * do. In place, and where the start row is the end row, the launch is a cooperative one, whose blocks all meet before
 * they publish: that costs up to a microsecond. */
#include "resident/prefix_from_wave.cuh"
#include "tile/first_rows.cuh"

struct wave_launcher {
    static constexpr bool BUFFERS = false, TAKES_ANY = false;
    template <class SUM> using ragged = ragged_rows<SUM>;
    const void *carry_in;
    void *carry_out, *workspace, *stream;
    size_t processors;

    /* Whether rows of few columns that are no whole vectors are better read by vectors: there are more shares of single
     * columns than multiprocessors. docs/lab/2026-11-28.md#fewer-kernels */
    bool takes_ragged(const kernel_pass &pass) const {
        return pass.rows / (resident_chunk_rows(pass.out_type, pass.columns) / WAVE_SHARES) >= processors;
    }

    /* Single columns of few go by shares alone: there are kernels by vectors, or buffered tiles, for more of them. */
    template <class SHAPE> int run(const tile_pass &pass, unsigned) const {
        constexpr unsigned SHARES = SHAPE::STEPS < WAVE_SHARES ? SHAPE::STEPS : unsigned(WAVE_SHARES);
        const int error = run_shares<SHAPE, SHARES>(pass);
        if constexpr (SHARES == 1 || (SHAPE::VECTOR == 1 && SHAPE::LANES == FEW_COLUMNS))
            return error;
        else
            return error != static_cast<int>(cudaErrorNotSupported) ? error : run_chunks<SHAPE>(pass);
    }

    /* Tiles that are whole chunks. Where a row is a vector, which then lie side by side, shuffles are most of their
     * time, and two rows in a lane halve them. */
    template <class SHAPE> int run_chunks(const tile_pass &pass) const {
        if constexpr (SHAPE::LANES == 1 && SHAPE::COLUMNS == SHAPE::VECTOR && SHAPE::VECTOR > 1)
            return run_shares<typename SHAPE::template taller<2>, 1>(pass);
        else
            return run_shares<SHAPE, 1>(pass);
    }

    /* OF tiles to a chunk; SHARES of them to a unit, where sums are floats. */
    template <class SHAPE, unsigned OF> int run_shares(const tile_pass &pass) const {
        typedef typename SHAPE::Sum Sum;
        typedef typename SHAPE::template share<OF> share;
        constexpr unsigned SHARES = SHAPE::ADDS_ONCE               ? OF
                                    : share::TILE_ROWS < UNIT_ROWS ? UNIT_ROWS / share::TILE_ROWS
                                                                   : 1;
        const auto kernel = resident_kernel_for<share, prefix_from_wave<share, SHARES, (OF > 1)>>(pass);
        const size_t rows = (pass.rows + share::TILE_ROWS - 1) / share::TILE_ROWS, blocks = rows * pass.panels;
        const size_t pitch = wave_length<share>(static_cast<unsigned>(rows / SHARES)) + 16 / sizeof(Sum);
        const size_t chunks = pitch * sizeof(warp_row<share>);
        const size_t shared = chunks > staging_bytes<share>() ? chunks : staging_bytes<share>();
        unsigned most;
        if (shared > MOST_WAVE_BYTES || (!SHAPE::ADDS_ONCE && rows / SHARES >= MOST_TREE_CHUNKS))
            return static_cast<int>(cudaErrorNotSupported);
        int error = resident_blocks(kernel, BLOCK_THREADS, shared, &most);
        if (error != 0)
            return error;
        if (blocks > most)
            return static_cast<int>(cudaErrorNotSupported);
        const wave_state<Sum> state = state_of<Sum>(pass, static_cast<unsigned>(rows), static_cast<unsigned>(pitch));
        error = state.helps ? launch(kernel, static_cast<unsigned>(blocks), BLOCK_THREADS, shared, stream, pass, state)
                            : launch_cooperative(kernel, static_cast<unsigned>(blocks), BLOCK_THREADS, shared, stream,
                                                 pass, state);
        return launch_first_rows<share>(
            error, pass,
            last_rows<Sum>{state.lasts, nullptr, pass.columns, (rows + SHARES - 1) / SHARES, SHARES * share::TILE_ROWS},
            stream);
    }

    template <class SUM> wave_state<SUM> state_of(const tile_pass &pass, unsigned rows, unsigned pitch) const {
        wave_state<SUM> state;
        state.epoch.draws = static_cast<uint64_t *>(workspace);
        state.epoch.births = state.epoch.draws + pass.panels;
        state.epoch.key = epoch_key(workspace, rows, pass.columns, pass.panel_columns);
        state.epoch.blocks = rows;
        state.epoch.each = power_of_two_above(rows);
        state.descriptors = reinterpret_cast<word_pair *>(static_cast<char *>(workspace) + draw_bytes(pass.panels));
        state.lasts = reinterpret_cast<SUM *>(state.descriptors + (rows + size_t(1)) * pass.columns);
        state.helps = pass.in != pass.out && !(carry_in && carry_in == carry_out);
        state.carry_in = static_cast<const SUM *>(carry_in);
        state.carry_out = static_cast<SUM *>(carry_out);
        state.pitch = pitch;
        return state;
    }

    static constexpr size_t MOST_WAVE_BYTES = 40 << 10;
};

#if KERNEL_PART == 0
size_t algorithm_wave::workspace(const kernel_pass *pass) {
    const size_t chunk_rows = resident_chunk_rows(pass->out_type, pass->columns);
    const size_t chunks = (pass->rows + chunk_rows - 1) / chunk_rows;
    const size_t cells = (WAVE_SHARES * chunks + 1) * pass->columns;
    const bool leaves_lasts = pass->exclusive && kernel_sum_in_order(pass->out_type);
    return draw_bytes(pass->columns) + cells * sizeof(word_pair) +
           (leaves_lasts ? cells * kernel_sum_bytes(pass->out_type) : 0);
}
#endif

template <> int algorithm_wave::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    unsigned processors = 0;
    const int error = multiprocessors(&processors);
    if (error != 0)
        return error;
    return run_resident(*pass, wave_launcher{carry->in, carry->out, workspace, pass->stream, processors});
}
