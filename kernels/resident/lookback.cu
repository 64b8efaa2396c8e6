/* The three stages in one kernel for any device, a block a tile, all of it in registers and little shared memory. Each
 * value is read once and written once.
 *
 * A tile publishes its column totals, one word a column, and then looks back: for the nearest chunk before it whose sum
 * through its last row is known already, and from there adds the totals of the chunks between, from left to right. That
 * is the order in which the seeds are defined, and a sum that is known was made in it, too: so the bits are the same
 * wherever the look back began. Then the tile publishes its own sum in the place of its totals.
 *
 * No wait is without end, and no two blocks need to be resident together. Where all are, each has the tile of its
 * number, which saves a microsecond before the first load. Otherwise blocks draw tiles from a ticket: all tiles
 * before a drawn one are drawn, by blocks that have begun. A tile waits for nothing but the totals of tiles with
 * earlier tickets (the sums only shorten the way), and every block publishes its totals before it waits for anything.
 * The first chunk has no totals, only a sum, for which it waits for nobody. So all totals that are waited for come,
 * from blocks that are running, however few of them the device runs at a time. */
#include "choose/dispatch.cuh"
#include "overflow/in_tile.cuh"
#include "persistent/words/marked.cuh"
#include "tile/finish.cuh"

template <class SUM> struct lookback_state {
    uint32_t *ticket;          /* NULL: all blocks are resident at once, and each has the tile of its number */
    exchange_word<SUM> *words; /* chunk by chunk, a row of columns each; zeros at the beginning */
    const SUM *carry_in;
    SUM *carry_out;
};

/* How a warp looks back: ACROSS columns side by side, and the rest of the lanes and BATCH words of each down the
 * chunks. A sum has to be among the WINDOW words before the tile's own. The known sums thus move on by WINDOW chunks in
 * the time that a word takes from block to block and the additions take, so that the window must not be small; to look
 * further back if there is none in it would take as long as waiting for one. More than 16 bytes of sums do not fit into
 * the registers beside the tile. */
template <class SHAPE> struct lookback_shape {
    static constexpr unsigned ACROSS = SHAPE::PANEL > 16 ? 4 : SHAPE::PANEL > 1 ? 2 : 1;
    static constexpr unsigned GROUP = WARP_LANES / ACROSS;
    static constexpr unsigned BATCH = ACROSS == 1 || sizeof(typename SHAPE::Sum) == 8 ? 2 : 4;
    static constexpr unsigned WINDOW = BATCH * GROUP;
    static constexpr unsigned COLUMN = ACROSS == 4 ? 0x11111111u : ACROSS == 2 ? 0x55555555u : WARP_ALL;
    static_assert(SHAPE::PANEL <= BLOCK_WARPS * ACROSS, "a warp for all columns");
};

/* The words of the chunks before the tile's: the lane's own, counted backwards, and the place of the nearest sum in its
 * column. Words of groups after `last` are not needed. */
template <class SHAPE> struct lookback_window {
    typename SHAPE::Sum values[lookback_shape<SHAPE>::BATCH];
    unsigned nearest, last;
};

/* `words`: of the lane's column, NULL when it has none; `column`: which of the warp's. Chunks before the first count as
 * totals. True: there is a sum in each column, and no word missing behind it. */
template <class SHAPE> DEVICE bool read_window(const tile_pass &pass, const exchange_word<typename SHAPE::Sum> *words,
                                               size_t chunk, unsigned column, lookback_window<SHAPE> &window) {
    typedef lookback_shape<SHAPE> shape;
    const unsigned lanes = shape::COLUMN << column, member = thread_index() % WARP_LANES / shape::ACROSS;
    bool decided = false, lacking = false;
    uint32_t marks[shape::BATCH];
    UNROLL
    for (unsigned k = 0; k < shape::BATCH; k++) {
        const unsigned back = k * shape::GROUP + member + 1;
        window.values[k] = sum_identity<typename SHAPE::Sum>();
        marks[k] = words ? MARK_TOTAL : MARK_SEED;
        if (words && back <= chunk)
            marks[k] = look(words + (chunk - back) * pass.columns, &window.values[k]);
    }
    window.nearest = window.last = 0;
    UNROLL
    for (unsigned k = 0; k < shape::BATCH; k++) {
        const unsigned missing = warp_ballot(WARP_ALL, marks[k] == 0) & lanes;
        const unsigned through = warp_ballot(WARP_ALL, marks[k] == MARK_SEED) & lanes;
        if (!decided && (missing | through) != 0) {
            const unsigned lane = lowest_bit(missing | through);
            decided = true;
            lacking = (missing >> lane & 1) != 0; /* nearer than any sum */
            window.nearest = k * shape::GROUP + lane / shape::ACROSS;
        }
        if (!warp_all(WARP_ALL, decided))
            window.last = k + 1;
    }
    return warp_all(WARP_ALL, decided && !lacking);
}

/* The seed of a chunk that is not the first. All lanes go through the same additions, so that nothing but the additions
 * is one after the other. */
template <class SHAPE> DEVICE typename SHAPE::Sum
look_back(const tile_pass &pass, const exchange_word<typename SHAPE::Sum> *words, size_t chunk, unsigned column) {
    typedef lookback_shape<SHAPE> shape;
    typename SHAPE::Sum seed = sum_identity<typename SHAPE::Sum>();
    lookback_window<SHAPE> window;
    while (!read_window<SHAPE>(pass, words, chunk, column, window))
        wait_a_little(20);
    UNROLL
    for (unsigned k = shape::BATCH; k-- > 0;) {
        if (k > window.last)
            continue;
        UNROLL
        for (unsigned member = shape::GROUP; member-- > 0;) {
            const typename SHAPE::Sum value = warp_shuffle(WARP_ALL, window.values[k], member * shape::ACROSS + column);
            seed = window.nearest == k * shape::GROUP + member ? value : typename SHAPE::Sum(seed + value);
        }
    }
    return seed;
}

/* From the tile's totals to its seeds, by as many warps as the panel's columns need. */
template <class SHAPE> DEVICE void exchange_seeds(const tile_pass &pass,
                                                  const lookback_state<typename SHAPE::Sum> &state, unsigned tile,
                                                  const warp_rows<SHAPE> &totals, warp_row<SHAPE> &seeds) {
    typedef typename SHAPE::Sum Sum;
    typedef lookback_shape<SHAPE> shape;
    const unsigned lane = thread_index() % WARP_LANES, across = lane % shape::ACROSS;
    const unsigned first = thread_index() / WARP_LANES * shape::ACROSS, in_panel = first + across;
    if (first >= pass.panel_columns || first >= SHAPE::PANEL)
        return;
    const size_t chunk = tile / pass.panels;
    const size_t column = static_cast<size_t>(tile % pass.panels) * pass.panel_columns + in_panel;
    const bool active = in_panel < pass.panel_columns && column < pass.columns, speaks = active && lane == across;
    exchange_word<Sum> *words = active ? state.words + column : nullptr;
    const Sum total = active ? total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, in_panel) : sum_identity<Sum>();
    if (speaks && chunk > 0)
        publish(words + chunk * pass.columns, total, MARK_TOTAL);
    Sum seed = sum_identity<Sum>();
    if (chunk > 0)
        seed = look_back<SHAPE>(pass, words, chunk, across);
    else if (active)
        seed = load_carry(state.carry_in, column);
    if (!speaks)
        return;
    publish(words + chunk * pass.columns, Sum(seed + total), MARK_SEED);
    seeds[in_panel] = seed;
    if (pass.rows - chunk * SHAPE::CHUNK_ROWS <= SHAPE::CHUNK_ROWS)
        store_carry(state.carry_out, column, Sum(seed + total));
}

/* Before the exchange and after it. Where the lane is, is found out twice: in between, its values and the exchange have
 * all the registers. */
template <class SHAPE> DEVICE void begin_tile(const tile_pass &pass, unsigned tile, tile_values<SHAPE> &values,
                                              warp_rows<SHAPE> &totals, tile_magnitude &magnitudes) {
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
    tile_load<SHAPE>(pass, place, values);
    put_magnitude<SHAPE>(pass, pass.first_overflow, values, magnitudes);
    scan_warp<SHAPE>(place, values);
    put_warp_totals<SHAPE>(place, values, totals);
}

template <class SHAPE, bool ABOVE> DEVICE void end_tile(const tile_pass &pass, unsigned tile,
                                                        tile_values<SHAPE> &values,
                                                        typename SHAPE::Sum (&before)[SHAPE::COLUMNS],
                                                        const warp_row<SHAPE> &seeds, tile_staging<SHAPE> &staging) {
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
    typename SHAPE::Sum seed[SHAPE::COLUMNS];
    lane_seed<SHAPE>(place, seeds, seed);
    finish_tile<SHAPE, ABOVE>(pass, place, staging, seed, values, before);
}

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    fused_lookback_kernel(tile_pass pass, lookback_state<typename SHAPE::Sum> state) {
    SHARED_ARRAY(unsigned, ticket, 1);
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, seeds, 1);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    SHARED_ARRAY(uint32_t, magnitudes, BLOCK_WARPS);
    if (thread_index() == 0)
        *ticket = state.ticket ? atomic_add(state.ticket, 1u) : block_index();
    block_barrier();
    typename SHAPE::Sum before[SHAPE::COLUMNS];
    tile_values<SHAPE> values;
    begin_tile<SHAPE>(pass, *ticket, values, totals, magnitudes);
    block_barrier();
    exchange_seeds<SHAPE>(pass, state, *ticket, totals, seeds[0]);
    scan_warps<SHAPE>(tile_place_of<SHAPE>(pass, *ticket), totals, values, before);
    block_barrier();
    end_tile<SHAPE, ABOVE>(pass, *ticket, values, before, seeds[0], staging[0]);
    check_tile<SHAPE>(
        pass, *ticket, magnitudes, [&](unsigned c) { return seeds[0][c]; },
        [&](unsigned c) { return total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, c); });
}

struct fused_lookback_launcher {
    static constexpr bool PARKS = false;
    const void *carry_in;
    void *carry_out, *workspace, *stream;

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        const auto kernel = pass.exclusive ? fused_lookback_kernel<SHAPE, true> : fused_lookback_kernel<SHAPE, false>;
        unsigned blocks;
        int error = resident_blocks(kernel, BLOCK_THREADS, 0, &blocks);
        if (error != 0)
            return error;
        lookback_state<Sum> state;
        state.ticket = nullptr;
        state.words = reinterpret_cast<exchange_word<Sum> *>(static_cast<char *>(workspace) + TICKET_BYTES);
        state.carry_in = static_cast<const Sum *>(carry_in);
        state.carry_out = static_cast<Sum *>(carry_out);
        if (tiles <= blocks) {
            error = launch_cooperative(kernel, tiles, BLOCK_THREADS, 0, stream, pass, state);
            if (error != static_cast<int>(cudaErrorCooperativeLaunchTooLarge))
                return error;
            cudaGetLastError(); /* somebody else has a part of the device */
        }
        state.ticket = static_cast<uint32_t *>(workspace);
        return launch(kernel, tiles, BLOCK_THREADS, 0, stream, pass, state);
    }
};

size_t kernel_fused_lookback_workspace(size_t chunks, size_t columns, table_type type) {
    return TICKET_BYTES + chunks * columns * 2 * type_bytes(type);
}

int kernel_fused_lookback(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace) {
    return run_pass(*pass, fused_lookback_launcher{carry_in, carry_out, workspace, pass->stream});
}
