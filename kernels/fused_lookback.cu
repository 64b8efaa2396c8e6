/* The three stages in one kernel for any device, a block a tile, all of it in registers and little shared memory. Each
 * value is read once and written once.
 *
 * A tile publishes its column totals, one word a column, and then looks back: for the nearest chunk before it whose sum
 * through its last row is known already, and from there adds the totals of the chunks between, from left to right. That
 * is the order in which the seeds are defined, and a sum that is known was made in it, too: so the bits are the same
 * wherever the look back began. Then the tile publishes its own sum in the place of its totals.
 *
 * No wait is without end, and no two blocks need to be resident together. Blocks draw tiles from a ticket: all tiles
 * before a drawn one are drawn, by blocks that have begun. A tile waits for nothing but the totals of tiles with
 * earlier tickets (the sums only shorten the way), and every block publishes its totals before it waits for anything.
 * The first chunk has no totals, only a sum, for which it waits for nobody. So all totals that are waited for come,
 * from blocks that are running, however few of them the device runs at a time. */
#include "dispatch.cuh"
#include "exchange.cuh"
#include "tile_finish.cuh"

constexpr size_t TICKET_BYTES = 256; /* at the beginning of the workspace; the words behind it are aligned */
constexpr uint32_t MARK_TOTAL = 1, MARK_THROUGH = 2; /* of this chunk; through this chunk, carry in and all */

template <class SUM> struct lookback_state {
    uint32_t *ticket;
    exchange_word<SUM> *words; /* chunk by chunk, a row of columns each; zeros at the beginning */
    const SUM *carry_in;
    SUM *carry_out;
};

/* How a warp looks back: ACROSS columns side by side, which are one sector of memory or so, and the rest of the lanes
 * and BATCH words of each down the chunks. */
template <class SHAPE> struct lookback_shape {
    static constexpr unsigned ACROSS = SHAPE::PANEL >= 4 ? 4 : power_of_two_above(SHAPE::PANEL);
    static constexpr unsigned GROUP = WARP_LANES / ACROSS;
    static constexpr unsigned BATCH = ACROSS == 4 && sizeof(typename SHAPE::Sum) == 4 ? 4 : 2;
    static constexpr unsigned WINDOW = BATCH * GROUP;
    static constexpr unsigned COLUMN = ACROSS == 4 ? 0x11111111u : ACROSS == 2 ? 0x55555555u : WARP_ALL;
};

/* The words of WINDOW chunks before `end` in the lane's column, the lane's own and what is known of the others'. */
template <class SHAPE> struct lookback_window {
    static constexpr unsigned BATCH = lookback_shape<SHAPE>::BATCH;
    typename SHAPE::Sum values[BATCH];
    unsigned missing[BATCH], through[BATCH]; /* a bit a lane */
};

/* `words`: of the lane's column, NULL when it has none. Chunks before the first count as totals, which are before a sum
 * that is there or missing. */
template <class SHAPE> DEVICE void read_window(const tile_pass &pass, const exchange_word<typename SHAPE::Sum> *words,
                                               size_t end, lookback_window<SHAPE> &window) {
    typedef lookback_shape<SHAPE> look_shape;
    const unsigned member = thread_index() % WARP_LANES / look_shape::ACROSS;
    uint32_t marks[look_shape::BATCH];
    UNROLL
    for (unsigned k = 0; k < look_shape::BATCH; k++) {
        const size_t back = look_shape::WINDOW - k * look_shape::GROUP - member;
        window.values[k] = sum_identity<typename SHAPE::Sum>();
        marks[k] = words ? MARK_TOTAL : MARK_THROUGH;
        if (words && back <= end)
            marks[k] = look(words + (end - back) * pass.columns, &window.values[k]);
    }
    UNROLL
    for (unsigned k = 0; k < look_shape::BATCH; k++) {
        window.missing[k] = warp_ballot(WARP_ALL, marks[k] == 0);
        window.through[k] = warp_ballot(WARP_ALL, marks[k] == MARK_THROUGH);
    }
}

/* What can be made of a window: it lacks a word; it has a sum in each column, the earliest of the nearest ones in group
 * `first`; or some column has only totals. */
enum lookback_finding { FOUND_NOTHING, FOUND_SUMS, FOUND_TOTALS };

template <class SHAPE>
DEVICE lookback_finding judge_window(const lookback_window<SHAPE> &window, unsigned column, unsigned *first) {
    typedef lookback_shape<SHAPE> look_shape;
    const unsigned lanes = look_shape::COLUMN << column;
    bool decided = false, lacking = false;
    *first = 0;
    UNROLL
    for (unsigned k = look_shape::BATCH; k-- > 0;) {
        /* The bit of a later chunk is the higher one: a word that is missing before the nearest sum is not missed. */
        const unsigned missing = window.missing[k] & lanes, through = window.through[k] & lanes;
        lacking = lacking || (!decided && missing > through);
        decided = decided || (missing | through) != 0;
        if (*first == 0 && warp_all(WARP_ALL, decided))
            *first = k;
    }
    if (warp_any(WARP_ALL, lacking))
        return FOUND_NOTHING;
    return warp_all(WARP_ALL, decided) ? FOUND_SUMS : FOUND_TOTALS;
}

/* The seed before the window becomes the one behind it. All lanes go through the same additions, so that nothing but
 * the additions is one after the other. */
template <class SHAPE> DEVICE void add_window(const lookback_window<SHAPE> &window, unsigned first, unsigned column,
                                              typename SHAPE::Sum &seed) {
    typedef lookback_shape<SHAPE> look_shape;
    UNROLL
    for (unsigned k = 0; k < look_shape::BATCH; k++) {
        if (k < first)
            continue;
        UNROLL
        for (unsigned member = 0; member < look_shape::GROUP; member++) {
            const unsigned lane = member * look_shape::ACROSS + column;
            const typename SHAPE::Sum value = warp_shuffle(WARP_ALL, window.values[k], lane);
            seed = (window.through[k] >> lane & 1) != 0 ? value : typename SHAPE::Sum(seed + value);
        }
    }
}

/* The seed of a chunk that is not the first: back to where each column has a sum, and forth again. */
template <class SHAPE> DEVICE typename SHAPE::Sum
look_back(const tile_pass &pass, const exchange_word<typename SHAPE::Sum> *words, size_t chunk, unsigned column) {
    constexpr unsigned WINDOW = lookback_shape<SHAPE>::WINDOW;
    typename SHAPE::Sum seed = sum_identity<typename SHAPE::Sum>();
    bool back = true;
    for (size_t end = chunk;;) {
        lookback_window<SHAPE> window;
        unsigned first;
        read_window<SHAPE>(pass, words, end, window);
        const lookback_finding found = judge_window<SHAPE>(window, column, &first);
        if (found == FOUND_NOTHING) {
            wait_a_little(20);
        } else if (found == FOUND_TOTALS && back) {
            end -= WINDOW; /* the first chunk's word is a sum or missing, so this does not go beyond it */
        } else {
            back = false;
            add_window<SHAPE>(window, found == FOUND_SUMS ? first : 0, column, seed);
            if (end == chunk)
                return seed;
            end += WINDOW;
        }
    }
}

/* From the tile's totals to its seeds, by as many warps as the panel's columns need. */
template <class SHAPE>
DEVICE void exchange_seeds(const tile_pass &pass, const lookback_state<typename SHAPE::Sum> &state, unsigned tile,
                           const warp_row<SHAPE> (&totals)[BLOCK_WARPS], warp_row<SHAPE> &seeds) {
    typedef typename SHAPE::Sum Sum;
    typedef lookback_shape<SHAPE> look_shape;
    const unsigned lane = thread_index() % WARP_LANES, across = lane % look_shape::ACROSS;
    const unsigned first = thread_index() / WARP_LANES * look_shape::ACROSS, in_panel = first + across;
    if (first >= pass.panel_columns || first >= SHAPE::PANEL)
        return;
    const size_t chunk = tile / pass.panels;
    const size_t column = static_cast<size_t>(tile % pass.panels) * pass.panel_columns + in_panel;
    const bool active = in_panel < pass.panel_columns && column < pass.columns, speaks = active && lane == across;
    exchange_word<Sum> *words = active ? state.words + column : nullptr;
    const Sum total = active ? total_of_warps<SHAPE, BLOCK_WARPS>(totals, 0, in_panel) : sum_identity<Sum>();
    if (speaks && chunk > 0)
        publish(words + chunk * pass.columns, total, MARK_TOTAL);
    Sum seed = sum_identity<Sum>();
    if (chunk > 0)
        seed = look_back<SHAPE>(pass, words, chunk, across);
    else if (active)
        seed = load_carry(state.carry_in, column);
    if (!speaks)
        return;
    publish(words + chunk * pass.columns, Sum(seed + total), MARK_THROUGH);
    seeds[in_panel] = seed;
    if (pass.rows - chunk * SHAPE::CHUNK_ROWS <= SHAPE::CHUNK_ROWS)
        store_carry(state.carry_out, column, Sum(seed + total));
}

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    fused_lookback_kernel(tile_pass pass, lookback_state<typename SHAPE::Sum> state) {
    SHARED_ARRAY(unsigned, ticket, 1);
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, seeds, 1);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    if (thread_index() == 0)
        *ticket = atomic_add(state.ticket, 1u);
    block_barrier();
    const unsigned tile = *ticket;
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
    typename SHAPE::Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS];
    tile_values<SHAPE> values;
    tile_load<SHAPE>(pass, place, values);
    scan_warp<SHAPE>(place, values);
    put_warp_totals<SHAPE>(place, values, totals);
    block_barrier();
    exchange_seeds<SHAPE>(pass, state, tile, totals, seeds[0]);
    scan_warps<SHAPE>(place, totals, values, before);
    block_barrier();
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seed[c] = seeds[0][place.across * SHAPE::COLUMNS + c];
    seed_before<SHAPE>(seed, before);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        finish_step<SHAPE, ABOVE>(pass, place, staging[0], step, seed, values[step], before);
}

struct fused_lookback_launcher {
    const void *carry_in;
    void *carry_out, *workspace, *stream;

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        const auto kernel = pass.exclusive || pass.first_overflow ? fused_lookback_kernel<SHAPE, true>
                                                                  : fused_lookback_kernel<SHAPE, false>;
        lookback_state<Sum> state;
        state.ticket = static_cast<uint32_t *>(workspace);
        state.words = reinterpret_cast<exchange_word<Sum> *>(static_cast<char *>(workspace) + TICKET_BYTES);
        state.carry_in = static_cast<const Sum *>(carry_in);
        state.carry_out = static_cast<Sum *>(carry_out);
        return launch(kernel, tiles, BLOCK_THREADS, 0, stream, pass, state);
    }
};

size_t kernel_fused_lookback_workspace(size_t chunks, size_t columns, table_type type) {
    const size_t sum_bytes = type == TABLE_U64 || type == TABLE_I64 || type == TABLE_F64 ? 8 : 4;
    return TICKET_BYTES + chunks * columns * 2 * sum_bytes;
}

int kernel_fused_lookback(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace) {
    return run_pass(*pass, fused_lookback_launcher{carry_in, carry_out, workspace, pass->stream});
}
