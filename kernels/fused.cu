/* The three stages in one kernel for large tables on large devices (fused_lookback.cu is for all): each value is read
 * once and written once.
 *
 * Blocks draw tiles from a ticket, so that the tiles before a drawn one are drawn, too, by blocks that run. A block
 * reads its tile into registers, publishes the tile's column totals, and goes on summing inside the tile. The blocks
 * that drew the first tickets do stage 2 for all (spine.cuh); where a row has so many panels that the chunk before is
 * long done, there are none, and each tile publishes the next one's seed. All blocks are resident (a cooperative
 * launch). Nobody waits before having published, and nobody waits for a later ticket: the wait always ends. */
#include "dispatch.cuh"
#include "spine.cuh"
#include "tile_finish.cuh"

/* At most one block in so many does stage 2. A table so wide that it would take more has so many panels that the chunk
 * before a tile's is long done; there the tiles hand on the seeds themselves, in a chain. */
constexpr unsigned SPINE_SHARE = 8;

/* Up to so many blocks that do stage 2 have a multiprocessor each to themselves, if there are so many blocks for each:
 * four are the most that a multiprocessor holds, so that half of them are left for the tiles in any case. */
constexpr unsigned SPINES_ALONE = 2, BLOCKS_FOR_ALONE = 8;

/* A tile that is summed up in itself and waits for its seed. Each thread keeps its own values. */
template <class SHAPE> struct parked_tile {
    static constexpr unsigned VECTORS = SHAPE::VALUES / SHAPE::VECTOR;
    vector_of<typename SHAPE::Sum, SHAPE::VECTOR> vectors[SHAPE::STEPS * VECTORS][BLOCK_THREADS];
    warp_row<SHAPE> before[BLOCK_WARPS]; /* the sums of its rows before each warp, if they are wanted */
};

template <class SHAPE, bool ABOVE> DEVICE void park(parked_tile<SHAPE> &parked, const tile_values<SHAPE> &values,
                                                    const typename SHAPE::Sum (&before)[SHAPE::COLUMNS]) {
    const unsigned lane = thread_index() % WARP_LANES;
    if (ABOVE)
        warp_barrier(WARP_ALL); /* all lanes have read what stood before the tile that was parked here */
    if (ABOVE && lane < SHAPE::LANES)
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        parked.before[thread_index() / WARP_LANES][lane * SHAPE::COLUMNS + c] = before[c];
    UNROLL
    for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k++)
        parked.vectors[k / SHAPE::VECTOR][thread_index()].at[k % SHAPE::VECTOR] =
            values[k / SHAPE::VALUES][k % SHAPE::VALUES / SHAPE::COLUMNS][k % SHAPE::VALUES % SHAPE::COLUMNS];
}

template <class SHAPE> DEVICE void unpark_step(const parked_tile<SHAPE> &parked, unsigned step,
                                               typename SHAPE::Sum (&values)[SHAPE::ROWS][SHAPE::COLUMNS]) {
    UNROLL
    for (unsigned k = 0; k < SHAPE::VALUES; k++)
        values[k / SHAPE::COLUMNS][k % SHAPE::COLUMNS] =
            parked.vectors[(step * SHAPE::VALUES + k) / SHAPE::VECTOR][thread_index()].at[k % SHAPE::VECTOR];
}

/* The column of the table that this thread has in the exchange of a tile: thread c has column c of the panel. */
DEVICE bool exchange_column(const tile_pass &pass, size_t tile, size_t *column) {
    *column = tile % pass.panels * pass.panel_columns + thread_index();
    return thread_index() < pass.panel_columns && *column < pass.columns;
}

template <class SHAPE> DEVICE void publish_totals(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state,
                                                  size_t tile, const warp_row<SHAPE> (&totals)[BLOCK_WARPS]) {
    size_t column;
    if (exchange_column(pass, tile, &column))
        publish(&state.totals[tile / pass.panels * pass.columns + column],
                total_of_warps<SHAPE, BLOCK_WARPS>(totals, 0, thread_index()));
}

/* Waits for the seed of a tile. In a chain it hands on the next one, which takes the tile's totals. */
template <class SHAPE> DEVICE void wait_for_seed(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state,
                                                 size_t tile, bool chain, warp_row<SHAPE> &seeds) {
    typedef typename SHAPE::Sum Sum;
    const size_t chunk = tile / pass.panels;
    size_t column;
    Sum seed, total;
    if (!exchange_column(pass, tile, &column))
        return;
    const size_t word = chunk * pass.columns + column;
    if (chain && chunk == 0)
        seed = load_carry(state.carry_in, column);
    else
        while (!look(&state.seeds[word], &seed))
            wait_a_little(20);
    seeds[thread_index()] = seed;
    if (!chain)
        return;
    look(&state.totals[word], &total);
    publish(&state.seeds[word + pass.columns], Sum(seed + total));
    if (pass.rows - chunk * SHAPE::CHUNK_ROWS <= SHAPE::CHUNK_ROWS)
        store_carry(state.carry_out, column, Sum(seed + total));
}

/* Takes a parked tile from its seed to its results, step by step: the next tile's values are in the registers. */
template <class SHAPE, bool ABOVE>
DEVICE void finish_parked(const tile_pass &pass, size_t tile, const parked_tile<SHAPE> &parked,
                          tile_staging<SHAPE> &staging, const warp_row<SHAPE> &seeds) {
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
    typename SHAPE::Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS] = {};
    unsigned first = NO_OVERFLOW;
    lane_seed<SHAPE>(place, seeds, seed);
    if (ABOVE)
        lane_seed<SHAPE>(place, parked.before[thread_index() / WARP_LANES], before);
    seed_before<SHAPE>(seed, before);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++) {
        typename SHAPE::Sum values[SHAPE::ROWS][SHAPE::COLUMNS];
        unpark_step<SHAPE>(parked, step, values);
        finish_step<SHAPE, ABOVE>(pass, place, staging, step, seed, values, before, first);
    }
    report_first<SHAPE>(pass, place, first);
}

/* All tiles that this block draws: `ticket` is the first. `waiting` is the one that is parked, or NONE. */
template <class SHAPE, bool ABOVE>
DEVICE void fused_tiles(const tile_pass &pass, const fused_state<typename SHAPE::Sum> &state, unsigned tiles,
                        unsigned spines, unsigned *ticket, parked_tile<SHAPE> &parked) {
    typedef typename SHAPE::Sum Sum;
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, seeds, 1);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    constexpr unsigned NONE = 0xffffffffu;
    unsigned waiting = NONE;
    for (unsigned tile = *ticket;;) {
        Sum before[SHAPE::COLUMNS];
        tile_values<SHAPE> values;
        unsigned next = 0;
        const bool more = tile < tiles;
        if (more) {
            const tile_place place = tile_place_of<SHAPE>(pass, tile);
            tile_load<SHAPE>(pass, place, values);
            if (thread_index() == 0)
                next = atomic_add(state.ticket, 1u);
            scan_warp<SHAPE>(place, values);
            put_warp_totals<SHAPE>(place, values, totals);
            block_barrier();
            publish_totals<SHAPE>(pass, state, tile, totals);
            scan_warps<SHAPE>(place, totals, values, before);
        } else {
            block_barrier();
        }
        if (waiting != NONE)
            wait_for_seed<SHAPE>(pass, state, waiting, spines == 0, seeds[0]);
        if (thread_index() == 0)
            *ticket = next;
        block_barrier();
        if (waiting != NONE)
            finish_parked<SHAPE, ABOVE>(pass, waiting, parked, staging[0], seeds[0]);
        if (!more)
            return;
        park<SHAPE, ABOVE>(parked, values, before);
        waiting = tile;
        tile = *ticket;
    }
}

/* Which stage 2 this block does, counted from 0; NO_SPINE: none; IDLE: nothing at all. Where chunks come fast, a block
 * that does stage 2 has its multiprocessor for itself, as each of its accesses to shared memory would otherwise wait
 * behind those of a tile. */
constexpr unsigned NO_SPINE = 0xffffffffu, IDLE = 0xfffffffeu;
template <class SUM> DEVICE unsigned choose_part(const fused_state<SUM> &state, unsigned spines) {
    const unsigned part = spines > 0 ? atomic_add(state.parts, 1u) : 0;
    if (part < spines) {
        store_relaxed(state.parts + 1 + part, multiprocessor() + 1);
        return part;
    }
    for (unsigned spine = 0; state.alone && spine < spines; spine++) {
        uint32_t where;
        while ((where = load_relaxed(state.parts + 1 + spine)) == 0)
            wait_a_little(20);
        if (where == multiprocessor() + 1)
            return IDLE;
    }
    return NO_SPINE;
}

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    fused_kernel(tile_pass pass, fused_state<typename SHAPE::Sum> state, unsigned tiles, unsigned spines) {
    SHARED_ARRAY(unsigned, ticket, 2);
    SHARED_DYNAMIC(unsigned char, memory);
    if (thread_index() == 0) {
        ticket[1] = choose_part(state, spines);
        ticket[0] = ticket[1] == NO_SPINE ? atomic_add(state.ticket, 1u) : 0;
    }
    block_barrier();
    if (ticket[1] < spines)
        spine(pass, state, *reinterpret_cast<spine_ring<typename SHAPE::Sum> *>(memory), tiles / pass.panels,
              ticket[1]);
    else if (ticket[1] == NO_SPINE)
        fused_tiles<SHAPE, ABOVE>(pass, state, tiles, spines, ticket, *reinterpret_cast<parked_tile<SHAPE> *>(memory));
}

struct fused_launcher {
    const void *carry_in;
    void *carry_out, *workspace, *stream;

    template <class SUM> fused_state<SUM> state_of(const tile_pass &pass, unsigned tiles) const {
        fused_state<SUM> state;
        state.ticket = static_cast<uint32_t *>(workspace);
        state.parts = state.ticket + 1;
        state.totals = reinterpret_cast<exchange_word<SUM> *>(static_cast<char *>(workspace) + TICKET_BYTES);
        state.seeds = state.totals + static_cast<size_t>(tiles / pass.panels) * pass.columns;
        state.carry_in = static_cast<const SUM *>(carry_in);
        state.carry_out = static_cast<SUM *>(carry_out);
        return state;
    }

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        const auto kernel =
            pass.exclusive || pass.first_overflow ? fused_kernel<SHAPE, true> : fused_kernel<SHAPE, false>;
        const size_t parked = sizeof(parked_tile<SHAPE>), ring = sizeof(spine_ring<Sum>);
        const size_t shared = parked > ring ? parked : ring;
        unsigned blocks;
        int error = allow_shared_bytes(kernel, shared);
        if (error == 0)
            error = resident_blocks(kernel, BLOCK_THREADS, shared, &blocks);
        if (error != 0)
            return error;
        const size_t width = spine_columns(pass.columns), spines = (pass.columns + width - 1) / width;
        const unsigned used = spines * SPINE_SHARE <= blocks ? static_cast<unsigned>(spines) : 0;
        blocks = tiles < blocks - used ? tiles + used : blocks;
        fused_state<Sum> state = state_of<Sum>(pass, tiles);
        state.alone = used <= SPINES_ALONE && blocks >= used * BLOCKS_FOR_ALONE;
        return launch_cooperative(kernel, blocks, BLOCK_THREADS, shared, stream, pass, state, tiles, used);
    }
};

size_t kernel_fused_workspace(size_t chunks, size_t columns, table_type type) {
    const size_t sum_bytes = type == TABLE_U64 || type == TABLE_I64 || type == TABLE_F64 ? 8 : 4;
    return TICKET_BYTES + (2 * chunks + 1) * columns * 2 * sum_bytes;
}

int kernel_fused(const kernel_pass *pass, const void *carry_in, void *carry_out, void *workspace) {
    return run_pass(*pass, fused_launcher{carry_in, carry_out, workspace, pass->stream});
}
