/* The fused pass of rows that begin anywhere in a line of memory, where panels of lines read and write parts of them,
 * or anywhere in a vector. Tiles are whole rows, or pieces of long ones, that stay in shared memory from when they are
 * brought until they are written (row_tile.cuh). Nothing is parked and nothing is ahead: blocks are so small that four
 * of a multiprocessor hide each other's waits, and what they wait for is on its way the shortest time (words/ring.cuh,
 * adds/turns.cuh). Bytes that become sums of 4 bytes wait in registers (byte_rows.cuh).
 *
 * Who does stage 2, and what blocks may wait for, is as in parked.cu: what comes of tiles that were drawn before alone.
 */
#include "choose/row_dispatch.cuh"
#include "persistent/adds/turns.cuh"
#include "persistent/row_bring.cuh"
#include "persistent/start.cuh"
#include "persistent/words/row_exchange.cuh"

constexpr unsigned MOST_SHARES = 4; /* tiles of a chunk */

/* The block's next tile, drawn by its last lane when the lane's warp has written: a tile that is drawn early is brought
 * late, and all behind it wait. */
template <class SHAPE> DEVICE unsigned next_rows(const row_state<typename SHAPE::Sum> &state, unsigned spines,
                                                 unsigned tile, bool first, row_block<SHAPE> &block) {
    warp_barrier(WARP_ALL);
    if (thread_index() == SHAPE::THREADS - 1)
        store_release_block(&block.ticket, draw_ticket(state, spines, first, block.role));
    unsigned next;
    do
        next = acquire_by_warp(&block.ticket);
    while (next == tile);
    return next;
}

/* All tiles that this block takes: `tile` is the first. */
template <class SHAPE, bool ABOVE>
DEVICE void row_tiles(const tile_pass &pass, const row_state<typename SHAPE::Sum> &state, unsigned tiles,
                      unsigned spines, unsigned tile, unsigned arrival, row_block<SHAPE> &block) {
    row_memory<SHAPE> memory = row_memory_of(block, row_pitch<SHAPE>(pass));
    constexpr bool COMES = SHAPE::KEPT_ROWS > 0;
    if (COMES && thread_index() < SHAPE::STRIPS)
        bulk_barrier_init(&block.come[thread_index()], 1);
    if (thread_index() == 0) {
        block.role = block_role{NO_PART, tile, arrival, 0};
        block.ticket = tile;
    }
    block_barrier();
    for (unsigned turn = 0; tile < tiles; turn++) {
        const row_place place = row_place_of(pass, tile);
        typename SHAPE::Values values;
        if (SHAPE::PIECES)
            memory.width = units_of<SHAPE>(pass, place);
        if constexpr (SHAPE::PIECES)
            request_pieces<SHAPE>(pass, place, memory, block);
        else if constexpr (COMES)
            request_rows<SHAPE>(pass, place, memory, block);
        else
            read_rows<SHAPE>(pass, place, values);
        if (turn > 0 && thread_index() == 0)
            wait_for_ring<SHAPE::SHARES>(state, place.row / SHAPE::SHARES, place.column / pass.panel_columns,
                                         pass.panels);
        block_barrier(); /* now nobody wants the totals of the tile before any more */
        if constexpr (COMES) {
            wait_for_rows<SHAPE>(pass, place, memory, block, turn & 1);
            put_rows_totals<SHAPE>(pass, place, memory);
        } else {
            put_bytes_totals<SHAPE>(pass, place, memory, values);
        }
        if constexpr (looks_at_values<SHAPE>())
            if (state.magnitudes)
                put_rows_magnitude<SHAPE>(pass, place, memory, block);
        if (turn == 0 && thread_index() == 0)
            grid_wait(arrival);
        block_barrier();
        publish_rows<SHAPE>(pass, state, place, memory, block);
        wait_for_lefts<SHAPE>(pass, state, place, memory);
        block_barrier();
        if (thread_index() == 0)
            atomic_add(done_word(state, slot_of<SHAPE>(state, place), place.column / pass.panel_columns, pass.panels),
                       1u);
        if constexpr (COMES)
            write_rows<SHAPE, ABOVE>(pass, place, memory);
        else
            write_bytes<SHAPE, ABOVE>(pass, place, memory, values);
        tile = next_rows<SHAPE>(state, spines, tile, turn == 0, block);
    }
}

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(SHAPE::THREADS, SHAPE::BLOCKS)
    rows_fused_kernel(tile_pass pass, row_state<typename SHAPE::Sum> state, unsigned tiles, unsigned spines,
                      unsigned pairs) {
    SHARED_DYNAMIC(unsigned char, memory);
    clear_state(state, spines, pairs);
    const unsigned arrival = grid_arrive(), block = block_index();
    if (block >= spines) {
        row_tiles<SHAPE, ABOVE>(pass, state, tiles, spines, block - spines, arrival,
                                *reinterpret_cast<row_block<SHAPE> *>(memory));
    } else {
        if (thread_index() == 0)
            grid_wait(arrival);
        block_barrier();
        take_turns<SHAPE>(state, *reinterpret_cast<turn_block<SHAPE> *>(memory), pass.columns, tiles / pass.panels,
                          static_cast<size_t>(block) * SHAPE::TURN_COLUMNS);
    }
    if (pass.first_overflow && block == spines && thread_index() == 0)
        store_relaxed(pass.first_overflow, ~uint64_t(0)); /* TABLE_NO_OVERFLOW; the check is another kernel */
}

template <class SHAPE> static size_t chunks_of_rows(const kernel_pass &pass) {
    constexpr unsigned ROWS = SHAPE::CHUNK_ROWS * SHAPE::SHARES;
    return (pass.rows + ROWS - 1) / ROWS;
}

/* Chunks of the ring: twice those that are under way, of so many tiles one below the other; or all, and the one after
 * the last, whose seed is what the carry out is. */
template <class SHAPE> static size_t ring_length(const kernel_pass &pass, size_t tiles) {
    const size_t all = chunks_of_rows<SHAPE>(pass) + 1, few = 2 * (tiles / SHAPE::SHARES + 2);
    return all < few ? all : few;
}

/* The words of so many chunks of a ring, what is counted for each of them, and what is found in each of `chunks`, in
 * pairs. Behind them are the seeds that the check wants, of all chunks. */
static size_t ring_pairs(const kernel_pass &pass, size_t shares, size_t panels, size_t ring, size_t chunks) {
    const size_t words = (shares + 1) * ring * pass.columns * 2 * type_bytes(pass.out_type);
    const size_t counts = (ring * panels + (pass.first_overflow ? chunks : 0)) * sizeof(uint32_t);
    return (words + counts + sizeof(word_pair) - 1) / sizeof(word_pair);
}
static size_t seeds_bytes(const kernel_pass &pass, size_t chunks) {
    return pass.first_overflow ? (chunks + 1) * pass.columns * 2 * type_bytes(pass.out_type) : 0;
}

template <class SHAPE> static row_state<typename SHAPE::Sum> state_of(const fused_call &call, const tile_pass &pass,
                                                                      size_t ring, size_t pairs, bool alone) {
    typedef typename SHAPE::Sum Sum;
    row_state<Sum> state;
    static_cast<fused_state<Sum> &>(state) = call.state_for<Sum>();
    state.seeds = state.totals + ring * SHAPE::SHARES * pass.columns;
    state.done = reinterpret_cast<uint32_t *>(state.seeds + ring * pass.columns);
    state.all_seeds = nullptr;
    if (pass.first_overflow) {
        state.magnitudes = state.done + ring * pass.panels;
        state.all_seeds = state.totals + pairs * sizeof(word_pair) / sizeof(exchange_word<Sum>);
    }
    state.alone = alone;
    state.ring = static_cast<unsigned>(ring);
    return state;
}

/* For row_dispatch.cuh. */
struct rows_launcher {
    const kernel_pass &pass;
    const fused_call &call;
    template <class SHAPE> int run(const tile_pass &made) const;
};
template <class SHAPE> int rows_launcher::run(const tile_pass &made) const {
    static_assert(SHAPE::SHARES <= MOST_SHARES, "room in the workspace");
    const auto kernel = pass.exclusive ? rows_fused_kernel<SHAPE, true> : rows_fused_kernel<SHAPE, false>;
    const size_t rows = (pass.rows + SHAPE::CHUNK_ROWS - 1) / SHAPE::CHUNK_ROWS;
    const size_t spines = (pass.columns + SHAPE::TURN_COLUMNS - 1) / SHAPE::TURN_COLUMNS;
    const size_t tile = row_memory_bytes<SHAPE>(row_pitch<SHAPE>(made)), turns = sizeof(turn_block<SHAPE>);
    const size_t shared = tile > turns ? tile : turns;
    unsigned blocks;
    if (rows > INT32_MAX / made.panels)
        return static_cast<int>(cudaErrorNotSupported);
    int error = blocks_beside_spines(kernel, SHAPE::THREADS, shared, spines, &blocks);
    if (error != 0)
        return error;
    const unsigned used = static_cast<unsigned>(spines), tiles = static_cast<unsigned>(rows) * made.panels;
    const size_t ring = ring_length<SHAPE>(pass, blocks / made.panels);
    const size_t chunks = chunks_of_rows<SHAPE>(pass);
    const size_t pairs = ring_pairs(pass, SHAPE::SHARES, made.panels, ring, chunks);
    if (pairs > INT32_MAX)
        return static_cast<int>(cudaErrorNotSupported);
    blocks = tiles < blocks - used ? tiles + used : blocks;
    const bool alone = used <= SHAPE::SPINES_ALONE && blocks >= used * BLOCKS_FOR_ALONE;
    const row_state<typename SHAPE::Sum> state = state_of<SHAPE>(call, made, ring, pairs, alone);
    error = launch_cooperative(kernel, blocks, SHAPE::THREADS, shared, call.stream, made, state, tiles, used,
                               static_cast<unsigned>(pairs));
    if (error != 0 || !pass.first_overflow)
        return error;
    fused_state<typename SHAPE::Sum> all = state;
    all.seeds = state.all_seeds;
    return call.check<typename SHAPE::Input>(made, all, pass.columns, SHAPE::CHUNK_ROWS * SHAPE::SHARES, chunks);
}

#if KERNEL_PART == 0
size_t form_rows::workspace(const kernel_pass *pass) {
    const size_t chunks = (pass->rows + CHUNK_OF_LONG - 1) / CHUNK_OF_LONG;
    if (tile_vectors(*pass) == 0 && !is_ragged(*pass) && !are_long_bytes(*pass))
        return 0;
    return TICKET_BYTES + sizeof(word_pair) * ring_pairs(*pass, MOST_SHARES, pass->columns, chunks + 1, chunks) +
           seeds_bytes(*pass, chunks);
}
#endif

template <> int form_rows::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const fused_call call = {carry->in, carry->out, workspace, pass->stream, true};
    const rows_launcher launcher = {*pass, call};
    return run_types(*pass, [&](auto types) {
        typedef decltype(types) pair;
        typedef typename pair::Sum Sum;
        if constexpr (std::is_same<typename pair::Input, uint8_t>::value && sizeof(Sum) == sizeof(uint32_t))
            if (are_long_bytes(*pass))
                return run_bytes(*pass, launcher);
        if (is_ragged(*pass))
            return run_ragged<pair>(*pass, launcher);
        if constexpr (sizeof(typename pair::Input) == sizeof(Sum))
            return run_sums<Sum>(*pass, launcher);
        else
            return static_cast<int>(cudaErrorNotSupported);
    });
}
