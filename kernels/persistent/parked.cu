/* The three stages in one kernel for large tables on large devices (lookback.cu is for all): each value is read
 * once and written once.
 *
 * All blocks are resident (a cooperative launch). Each clears a part of the words that they share, takes the tile of
 * its own number, and while that one comes, they meet. Then they draw tiles from a ticket, so that the tiles before a
 * drawn one are drawn, too, by blocks that run. A block reads its tile into registers, publishes the tile's column
 * totals, sums inside the tile, and parks it in shared memory until its seed is there, while the next one is read
 * (parked_tile.cuh, coming_tile.cuh; of bytes, packed_tile.cuh). The first blocks do stage 2 for all instead
 * (roles.cuh, adds/adding_warp.cuh, adds/wide.cuh); where a row has so many panels that the chunk before is long done,
 * there are none, and each tile publishes the next one's seed. A block that waits does so for the seed of a tile whose
 * totals it has published, before any tile that it drew later; and a seed depends on totals of earlier tiles alone: the
 * wait always ends.
 *
 * Wide tiles have so few rows that two, one below the other, share a chunk (SHARES). Each publishes its own totals;
 * stage 2 puts them together, and the lower one takes what is to the left of it in the tree, the total of the upper
 * one, together with its seed (words/per_chunk.cuh). That tile was taken before it, by a block that waits for nothing
 * but that meeting from when it takes a tile to when it publishes its totals: this wait ends, too.
 *
 * A pass that is checked for overflow is followed by a kernel that looks for it (after_pass.cuh). Narrow tables of
 * bytes have a form of their own (bytes.cu). */
#include "choose/dispatch.cuh"
#include "persistent/coming_tile.cuh"
#include "persistent/packed_tile.cuh"
#include "persistent/roles.cuh"
#include "persistent/start.cuh"
#include "persistent/words/per_chunk.cuh"

/* Takes a drawn tile from the table, or from where it has come meanwhile, to its running sums, and tells its totals. */
template <class SHAPE, bool CHECKED>
DEVICE void begin_tile(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state, unsigned tile,
                       coming_tile<SHAPE> *coming, warp_rows<SHAPE> &totals, tile_magnitude &magnitudes,
                       const block_role &role, bool first, tile_values<SHAPE> &values,
                       typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
    if (coming && place.end == SHAPE::CHUNK_ROWS)
        take_coming<SHAPE>(pass, place, state.bulk, *coming, values);
    else
        tile_load<SHAPE>(pass, place, values);
    loads_before_sums(place.end == 0);
    put_magnitude<SHAPE>(pass, CHECKED && state.magnitudes, values, magnitudes);
    scan_warp<SHAPE>(place, values);
    put_warp_totals<SHAPE>(place, values, totals);
    if (first) {
        if (thread_index() == 0)
            grid_wait(role.arrival);
        registers_barrier();
    }
    block_barrier();
    publish_totals<SHAPE>(pass, state, tile, totals);
    if (CHECKED) /* here, and not before or behind: or else 8-byte sums spill */
        publish_magnitude<SHAPE>(pass, state, tile, magnitudes);
    scan_warps<SHAPE>(place, totals, values, before);
}

/* What a kernel is made for besides the shape: exclusive results, what stands one row ABOVE; tiles that COME by
 * themselves; and whether the pass may be CHECKED for overflow. */
template <bool ABOVE_, bool COME_, bool CHECKED_> struct fused_kind {
    static constexpr bool ABOVE = ABOVE_, COME = COME_, CHECKED = CHECKED_;
};

/* Whether unchecked passes have a kernel of their own, for the registers: with values of 4 bytes they spill otherwise.
 */
template <class SHAPE> HOST_DEVICE constexpr bool has_unchecked() {
    return looks_at_values<SHAPE>() && sizeof(typename SHAPE::Sum) == 4;
}

/* Waits for what `waiting`, the tile that is parked, is given, and then draws the next one, if there may be MORE: a
 * ticket is drawn as late as can be, as the tiles after it wait for its totals while this block finishes others. */
template <class SHAPE, bool CHECKED>
DEVICE void wait_and_draw(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state, unsigned spines,
                          unsigned waiting, bool more, block_role &role, tile_seeds<SHAPE> &seeds, unsigned *ticket) {
    if (waiting != NO_TILE)
        wait_for_seeds<SHAPE, CHECKED>(pass, state, waiting, spines == 0, seeds);
    if (more && thread_index() == 0)
        *ticket = draw_ticket(state, spines, waiting == NO_TILE, role);
    block_barrier();
}

/* All tiles that this block takes: `tile` is the first. */
template <class SHAPE, class KIND>
DEVICE void fused_tiles(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state, unsigned tiles,
                        unsigned spines, unsigned tile, block_role &role, parked_tile<SHAPE, KIND::ABOVE> &parked) {
    constexpr bool ABOVE = KIND::ABOVE;
    SHARED_ARRAY(unsigned, ticket, 1);
    SHARED_ARRAY(warp_row<SHAPE>, totals, SHAPE::WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, seeds, SHAPE::SHARES);
    SHARED_ARRAY(uint32_t, magnitudes, BLOCK_WARPS);
    aside_tile<SHAPE> *const aside = reinterpret_cast<aside_tile<SHAPE> *>(&parked + 1); /* or else what comes */
    coming_tile<SHAPE> *coming = nullptr;
    if (KIND::COME) {
        coming = reinterpret_cast<coming_tile<SHAPE> *>(&parked + 1);
        prepare_coming<SHAPE>(state.bulk, *coming);
        request_coming<SHAPE>(pass, state.bulk, tile, tiles, *coming);
    }
    for (unsigned waiting = NO_TILE;;) {
        typename SHAPE::Sum before[SHAPE::COLUMNS];
        tile_values<SHAPE> values;
        const bool more = tile < tiles;
        if (more) {
            begin_tile<SHAPE, KIND::CHECKED>(pass, state, tile, coming, totals, magnitudes, role, waiting == NO_TILE,
                                             values, before);
            if (puts_aside<SHAPE, ABOVE>())
                put_aside<SHAPE>(*aside, values);
        } else {
            block_barrier();
        }
        wait_and_draw<SHAPE, KIND::CHECKED>(pass, state, spines, waiting, more, role, seeds, ticket);
        if (coming && more)
            request_coming<SHAPE>(pass, state.bulk, *ticket, tiles, *coming);
        if (waiting != NO_TILE)
            finish_parked<SHAPE, ABOVE>(pass, waiting, parked, seeds);
        if (!more)
            return;
        if (puts_aside<SHAPE, ABOVE>())
            take_back<SHAPE>(*aside, values);
        park<SHAPE, ABOVE>(parked, values, before);
        waiting = tile;
        tile = *ticket;
    }
}

/* The same of packed tiles, which have registers and room enough. */
template <class SHAPE, class KIND>
DEVICE void packed_tiles(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state, unsigned tiles,
                         unsigned spines, unsigned tile, block_role &role, packed_tile<SHAPE> &parked) {
    SHARED_ARRAY(unsigned, ticket, 1);
    SHARED_ARRAY(warp_row<SHAPE>, totals, SHAPE::WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, seeds, SHAPE::SHARES);
    unsigned turn = 0;
    for (unsigned waiting = NO_TILE;; turn ^= 1) {
        packed_bytes<SHAPE> bytes;
        packed_row above = {0, 0};
        const bool more = tile < tiles;
        if (more) {
            const packed_place place = packed_place_of<SHAPE>(pass, tile);
            packed_row total;
            packed_load<SHAPE>(pass, place, bytes);
            above = packed_total<SHAPE>(bytes, total);
            put_packed_totals<SHAPE>(place.tile, total, totals);
            if (waiting == NO_TILE && thread_index() == 0)
                grid_wait(role.arrival);
            block_barrier();
            publish_totals<SHAPE>(pass, state, tile, totals);
            put_sums_before<SHAPE>(totals, parked.before[turn]);
        } else {
            block_barrier();
        }
        wait_and_draw<SHAPE, KIND::CHECKED>(pass, state, spines, waiting, more, role, seeds, ticket);
        if (waiting != NO_TILE)
            finish_packed<SHAPE>(pass, waiting, parked, turn ^ 1, seeds[0]);
        if (!more)
            return;
        park_packed<SHAPE, KIND::ABOVE>(parked, bytes, above);
        waiting = tile;
        tile = *ticket;
    }
}

/* The first `spines` blocks do stage 2. */
template <class SHAPE, class KIND> KERNEL LAUNCH_BOUNDS(SHAPE::THREADS, 2)
    fused_kernel(tile_pass pass, fused_state<typename SHAPE::Sum> state, unsigned tiles, unsigned spines,
                 unsigned pairs) {
    SHARED_ARRAY(block_role, role, 1);
    SHARED_DYNAMIC(unsigned char, memory);
    clear_state(state, spines, pairs);
    const unsigned arrival = grid_arrive(), block = block_index();
    if (thread_index() == 0)
        role[0] = block_role{block < spines ? block : NO_PART, block - spines, arrival, 0};
    if (thread_index() == 0 && block < spines)
        grid_wait(arrival);
    block_barrier();
    if (role[0].part != NO_PART)
        do_spine<SHAPE>(state, memory, pass.columns, chunks_of<SHAPE>(pass, tiles), role[0].part);
    if (role[0].part == NO_PART) { /* no `else`: with it, both sides share fewer registers, and tiles spill */
        auto *const parked = reinterpret_cast<parked_form<SHAPE, KIND::ABOVE> *>(memory);
        if constexpr (SHAPE::PACKED)
            packed_tiles<SHAPE, KIND>(pass, state, tiles, spines, role[0].tile, role[0], *parked);
        else
            fused_tiles<SHAPE, KIND>(pass, state, tiles, spines, role[0].tile, role[0], *parked);
    }
    if (KIND::CHECKED && pass.first_overflow && block_index() == 0 && thread_index() == 0)
        store_relaxed(pass.first_overflow, ~uint64_t(0)); /* TABLE_NO_OVERFLOW; the check is another kernel */
}

struct fused_launcher : fused_call {
    static constexpr bool PARKS = true;

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        if constexpr (is_halved<SHAPE>())
            return run_tiles<typename SHAPE::halved>(pass, tiles);
        else
            return run_tiles<SHAPE>(pass, tiles);
    }

    template <class SHAPE> int run_tiles(const tile_pass &pass, unsigned tiles) const {
        if (pass.exclusive)
            return run_kind<SHAPE, true, true>(pass, tiles);
        if constexpr (has_unchecked<SHAPE>())
            if (!pass.first_overflow)
                return run_kind<SHAPE, false, false>(pass, tiles);
        return run_kind<SHAPE, false, true>(pass, tiles);
    }

    template <class SHAPE, bool ABOVE, bool CHECKED> int run_kind(const tile_pass &pass, unsigned tiles) const {
        if constexpr (comes_by_itself<SHAPE, ABOVE>())
            if (may_come(pass)) {
                const int error = run_with<SHAPE, fused_kind<ABOVE, true, CHECKED>>(pass, tiles);
                if (error != static_cast<int>(cudaErrorNotSupported)) /* shared memory */
                    return error;
            }
        return run_with<SHAPE, fused_kind<ABOVE, false, CHECKED>>(pass, tiles);
    }

    template <class SHAPE, class KIND> int run_with(tile_pass pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        constexpr bool ABOVE = KIND::ABOVE;
        const auto kernel = fused_kernel<SHAPE, KIND>;
        const size_t rows = SHAPE::WARPS + 1 + SHAPE::SHARES;
        const size_t fixed = sizeof(warp_row<SHAPE>) * rows + sizeof(tile_magnitude);
        const size_t parked = sizeof(parked_form<SHAPE, ABOVE>) +
                              (puts_aside<SHAPE, ABOVE>() ? sizeof(aside_tile<SHAPE>) : 0) +
                              (KIND::COME ? sizeof(coming_tile<SHAPE>) : 0);
        const size_t width = spine_columns<SHAPE>(pass.columns), spines = spines_of<SHAPE>(pass.columns);
        const size_t ring = width <= SPINE_COLUMNS ? sizeof(ring_of<SHAPE>) : sizeof(wide_ring<Sum>);
        const size_t shared = parked > ring ? parked : ring;
        /* A multiprocessor has what the largest block can have, and what is reserved for that. */
        const size_t all = KIND::COME ? 2 * (shared + fixed) + RESERVED_BYTES : shared + fixed;
        unsigned blocks;
        int error = blocks_at_once(kernel, SHAPE::THREADS, shared, all, &blocks);
        if (error != 0)
            return error;
        const bool few = spines * SPINE_SHARE <= blocks && spines <= MOST_SPINES;
        const unsigned used = few ? static_cast<unsigned>(spines) : 0;
        blocks = tiles < blocks - used ? tiles + used : blocks;
        fused_state<Sum> state = state_of<SHAPE>(pass, tiles);
        const size_t chunks = chunks_of<SHAPE>(pass, tiles);
        const size_t pairs = shared_pairs(chunks, SHAPE::SHARES, pass.columns, sizeof(Sum), pass.first_overflow);
        if (pairs > INT32_MAX)
            return static_cast<int>(cudaErrorInvalidConfiguration);
        if (used == 0)
            pass.overlap = 0; /* in a chain a seed has one tile that hands it on */
        state.alone = used <= SPINES_ALONE && blocks >= used * BLOCKS_FOR_ALONE;
        error = launch_cooperative(kernel, blocks, SHAPE::THREADS, shared, stream, pass, state, tiles, used,
                                   static_cast<unsigned>(pairs));
        return error != 0 || !pass.first_overflow
                   ? error
                   : check<typename SHAPE::Input>(pass, state, SHAPE::SHARES * pass.columns,
                                                  SHAPE::CHUNK_ROWS * SHAPE::SHARES, chunks);
    }
};

#if KERNEL_PART == 0
/* By strides alone, as the table may be anywhere. */
size_t form_parked::workspace(const kernel_pass *pass) {
    const size_t chunks = (pass->rows + pass->chunk_rows - 1) / pass->chunk_rows, shares = is_wide(*pass) ? 2 : 1;
    const size_t pairs = shared_pairs(chunks, shares, pass->columns, type_bytes(pass->out_type), pass->first_overflow);
    return TICKET_BYTES + sizeof(word_pair) * pairs;
}
#endif

template <> int form_parked::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    return run_pass(*pass, fused_launcher{{carry->in, carry->out, workspace, pass->stream, true}});
}

template <> int form_general::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    return run_pass(*pass, fused_launcher{{carry->in, carry->out, workspace, pass->stream, false}});
}
