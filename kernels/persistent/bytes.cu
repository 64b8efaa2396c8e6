/* The fused pass of bytes that become sums of 4 bytes. A table of bytes is a fifth of the traffic, and so each tile of
 * it is read twice, the second time from the device's cache: first for its totals; and when stage 2 has made seeds of
 * them, some microseconds later, for its sums. Nothing is kept meanwhile, so that tiles can be small and are written
 * one close to the other, which is what the speed of such a pass depends on; and nobody waits for seeds.
 *
 * Who does stage 2, and what blocks may wait for, is as in parked.cu: for totals of tiles that were drawn before alone.
 */
#include "choose/dispatch.cuh"
#include "persistent/byte_strip.cuh"
#include "persistent/start.cuh"
#include "persistent/words/per_tile.cuh"

constexpr unsigned AHEAD_WORDS = 14; /* of each thread: so far is the first reading ahead of the second */

/* What a thread has read of two tiles: the one that is read for the first time, which may lie beyond the table, and the
 * one that is to be written, if `writes`. */
template <class SHAPE> struct byte_reading {
    byte_words<SHAPE> first, second;
    byte_seed<SHAPE> seed;
    unsigned looked, written;
    bool looks, writes;
};
template <class SHAPE> DEVICE void read_tiles(const tile_pass &pass, const fused_state<uint32_t> &state,
                                              const byte_layout &layout, unsigned ticket, byte_reading<SHAPE> &read) {
    read.looked = ticket;
    read.looks = ticket < layout.tiles;
    read.written = ticket - layout.ahead;
    read.writes = ticket >= layout.ahead && read.written < layout.tiles;
    if (read.looks)
        read_words<SHAPE, true>(pass, layout, read.looked, read.first);
    if (!read.writes)
        return;
    read_words<SHAPE, false>(pass, layout, read.written, read.second);
    if (thread_index() < MOST_BYTE_COLUMNS)
        look_for_seed(pass, state, layout, read.written, read.seed);
}

/* What is to be done with them before warps meet, and after. */
template <class SHAPE, bool ABOVE> DEVICE void sum_tiles(const tile_pass &pass, const fused_state<uint32_t> &state,
                                                         const byte_layout &layout, const byte_lane &lane,
                                                         byte_reading<SHAPE> &read, byte_block<SHAPE> &shared,
                                                         byte_turn<SHAPE> &turn) {
    if (read.writes) {
        put_words<SHAPE>(layout, read.second, shared);
        if constexpr (SHAPE::FEW)
            sum_few<SHAPE, ABOVE>(shared, turn);
        else
            sum_strip<SHAPE, ABOVE>(layout, lane, shared, turn);
        if (thread_index() < MOST_BYTE_COLUMNS)
            put_seed<SHAPE>(pass, state, layout, read.written, read.seed, turn);
    }
    if (read.looks)
        add_tile_totals<SHAPE>(layout, read.first, turn);
}
template <class SHAPE> DEVICE void write_tile(const tile_pass &pass, const byte_layout &layout, const byte_lane &lane,
                                              unsigned tile, byte_block<SHAPE> &shared, const byte_turn<SHAPE> &turn) {
    if constexpr (SHAPE::FEW)
        write_few<SHAPE>(pass, layout, tile, shared, turn);
    else
        write_strip<SHAPE>(pass, layout, lane, tile, shared, turn);
}

/* All tiles that this block takes. The first ones are read while the words are cleared that the blocks share. */
template <class SHAPE, bool ABOVE> DEVICE void byte_tiles(const tile_pass &pass, const fused_state<uint32_t> &state,
                                                          const byte_layout &layout, unsigned ticket, unsigned arrival,
                                                          byte_block<SHAPE> &shared) {
    constexpr unsigned TELLERS = SHAPE::THREADS - MOST_BYTE_COLUMNS; /* from there on */
    const unsigned thread = thread_index();
    const byte_lane lane = byte_lane_of<SHAPE>(layout);
    byte_reading<SHAPE> read;
    if (thread < MOST_BYTE_COLUMNS)
        shared.turns[0].tile_totals[thread % WORD_BYTES][thread / WORD_BYTES] =
            shared.turns[1].tile_totals[thread % WORD_BYTES][thread / WORD_BYTES] = 0;
    read_tiles(pass, state, layout, ticket, read);
    read.seed.mark = 0; /* those words may not have been cleared */
    if (thread == 0)
        grid_wait(arrival);
    block_barrier();
    for (unsigned number = 0; read.looks || read.writes; number ^= 1) {
        byte_turn<SHAPE> &turn = shared.turns[number];
        uint32_t next = 0;
        if (thread == 0)
            next = atomic_add(state.ticket, 1u);
        sum_tiles<SHAPE, ABOVE>(pass, state, layout, lane, read, shared, turn);
        if (thread == 0)
            turn.ticket = next;
        block_barrier();
        const unsigned looked = read.looked, written = read.written;
        const bool looks = read.looks, writes = read.writes;
        read_tiles(pass, state, layout, turn.ticket, read);
        if (looks && thread >= TELLERS)
            tell_totals<SHAPE>(pass, state, layout, looked, thread - TELLERS, turn);
        if (writes)
            write_tile<SHAPE>(pass, layout, lane, written, shared, turn);
    }
}

template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(SHAPE::THREADS, 2)
    bytes_fused_kernel(tile_pass pass, fused_state<uint32_t> state, byte_layout layout, unsigned spines,
                       unsigned pairs) {
    SHARED_DYNAMIC(unsigned char, memory);
    clear_state(state, spines, pairs);
    const unsigned arrival = grid_arrive(), block = block_index();
    if (block < spines) {
        if (thread_index() == 0)
            grid_wait(arrival);
        block_barrier();
        do_spine<SHAPE>(state, memory, pass.columns, layout.tiles / SHAPE::TILES, block);
        return;
    }
    byte_tiles<SHAPE, ABOVE>(pass, state, layout, block - spines, arrival,
                             *reinterpret_cast<byte_block<SHAPE> *>(memory));
    if (pass.first_overflow && block == spines && thread_index() == 0)
        store_relaxed(pass.first_overflow, ~uint64_t(0)); /* TABLE_NO_OVERFLOW; the check is another kernel */
}

/* The words of a pass that are to be cleared, in pairs: those of stage 2, and behind them those of tiles. */
template <class SHAPE> static size_t byte_pairs(size_t chunks, const kernel_pass &pass) {
    const size_t of_column = sizeof(uint64_t) + (SHAPE::TILES - 1) * sizeof(uint32_t);
    return shared_pairs(chunks, 1, pass.columns, sizeof(uint32_t), pass.first_overflow) +
           (chunks * pass.columns * of_column + sizeof(word_pair) - 1) / sizeof(word_pair);
}

/* Rows of a tile. */
template <class SHAPE> static size_t tile_rows(size_t columns) {
    const size_t words = SHAPE::FEW ? SHAPE::WORDS : columns / WORD_BYTES;
    return SHAPE::WARPS * SHAPE::UNIT *
           (SHAPE::FEW ? SHAPE::WARP_WORDS / SHAPE::WORDS : SHAPE::RUN * (WARP_LANES / words));
}

/* For so many blocks that take tiles. */
template <class SHAPE> static byte_layout layout_of(const kernel_pass &pass, size_t chunks, unsigned blocks,
                                                    const fused_state<uint32_t> &state) {
    const size_t rows = tile_rows<SHAPE>(pass.columns);
    byte_layout layout;
    layout.words = SHAPE::FEW ? SHAPE::WORDS : static_cast<unsigned>(pass.columns) / WORD_BYTES;
    layout.lanes = WARP_LANES / layout.words * layout.words;
    layout.tile_words = static_cast<unsigned>(rows * pass.columns / WORD_BYTES);
    layout.whole_tiles = static_cast<unsigned>(pass.rows / rows);
    layout.tiles = static_cast<unsigned>(chunks) * SHAPE::TILES;
    const unsigned ahead = AHEAD_WORDS * SHAPE::THREADS * blocks / layout.tile_words;
    layout.ahead = ahead < layout.tiles ? ahead : layout.tiles;
    layout.chunk_totals =
        reinterpret_cast<uint64_t *>(reinterpret_cast<word_pair *>(state.seeds) +
                                     shared_pairs(chunks, 1, pass.columns, sizeof(uint32_t), pass.first_overflow));
    layout.tile_totals = reinterpret_cast<uint32_t *>(layout.chunk_totals + chunks * pass.columns);
    return layout;
}

template <class SHAPE, bool ABOVE> static int run_kind(const kernel_pass &pass, const fused_call &call) {
    const auto kernel = bytes_fused_kernel<SHAPE, ABOVE>;
    const size_t rows = tile_rows<SHAPE>(pass.columns) * SHAPE::TILES, chunks = (pass.rows + rows - 1) / rows;
    const size_t spines = spines_of<SHAPE>(pass.columns);
    const size_t block = sizeof(byte_block<SHAPE>), ring = sizeof(ring_of<SHAPE>), shared = block > ring ? block : ring;
    const size_t pairs = byte_pairs<SHAPE>(chunks, pass);
    unsigned blocks;
    if (chunks > INT32_MAX / SHAPE::TILES || pairs > INT32_MAX)
        return static_cast<int>(cudaErrorNotSupported);
    int error = blocks_beside_spines(kernel, SHAPE::THREADS, shared, spines, &blocks);
    if (error != 0)
        return error;
    const unsigned used = static_cast<unsigned>(spines), tiles = static_cast<unsigned>(chunks) * SHAPE::TILES;
    blocks = tiles < blocks - used ? tiles + used : blocks;
    const tile_pass made = make_tile_pass(pass, SHAPE::PANEL, 1, false);
    const fused_state<uint32_t> state = call.state_of<SHAPE>(made, static_cast<unsigned>(chunks));
    const byte_layout layout = layout_of<SHAPE>(pass, chunks, blocks - used, state);
    error = launch_cooperative(kernel, blocks, SHAPE::THREADS, shared, call.stream, made, state, layout, used,
                               static_cast<unsigned>(pairs));
    if (error != 0 || !pass.first_overflow)
        return error;
    return call.check<uint8_t>(made, state, pass.columns, static_cast<unsigned>(rows), chunks);
}

template <class SHAPE> static int run_shape(const kernel_pass &pass, const fused_call &call) {
    return pass.exclusive ? run_kind<SHAPE, true>(pass, call) : run_kind<SHAPE, false>(pass, call);
}

/* Bytes in a microsecond for each multiprocessor. Measured on an H100, which has 25000, and an H200, of 37000. */
constexpr size_t FAST_MEMORY = 31000;
typedef byte_shape<0, true> fast_lines;
typedef byte_shape<0, false> slow_lines;

static int run_lines(const kernel_pass &pass, const fused_call &call) {
    return memory_rate() >= FAST_MEMORY ? run_shape<fast_lines>(pass, call) : run_shape<slow_lines>(pass, call);
}

/* Rows of few columns; or of whole words, unless a quarter of the lanes has none of so many. */
static bool are_byte_lines(size_t columns) {
    const size_t words = columns / WORD_BYTES;
    if (columns < 2 * WORD_BYTES)
        return true;
    return columns % WORD_BYTES == 0 && words <= MOST_WORDS && 4 * (WARP_LANES / words * words) > 3 * WARP_LANES;
}

/* As to types and strides alone. */
static bool is_byte_pass(const kernel_pass &pass) {
    return pass.in_type == TABLE_U8 && type_bytes(pass.out_type) == sizeof(uint32_t) && pass.rows > 0 &&
           pass.in_stride == pass.columns && pass.out_stride == pass.columns && are_byte_lines(pass.columns);
}

/* Of lines of as many words as there may be; all others have more rows to a tile. */
template <class SHAPE> static size_t most_pairs(const kernel_pass &pass) {
    const size_t rows = tile_rows<SHAPE>(MOST_BYTE_COLUMNS) * SHAPE::TILES;
    return byte_pairs<SHAPE>((pass.rows + rows - 1) / rows, pass);
}

size_t form_bytes::workspace(const kernel_pass *of) {
    const kernel_pass &pass = *of;
    if (!is_byte_pass(pass))
        return 0;
    const size_t fast = most_pairs<fast_lines>(pass), slow = most_pairs<slow_lines>(pass);
    return TICKET_BYTES + sizeof(word_pair) * (fast > slow ? fast : slow);
}

int form_bytes::run(const kernel_pass *of, const kernel_carry *carry, void *workspace) {
    const kernel_pass &pass = *of;
    const fused_call call = {carry->in, carry->out, workspace, pass.stream, true};
    if (!is_byte_pass(pass) || !allows_vectors(pass.in, 0, 1, WORD_BYTES) ||
        !allows_vectors(pass.out, 0, sizeof(uint32_t), WORD_BYTES))
        return static_cast<int>(cudaErrorNotSupported);
    switch (pass.columns) {
    case 1:
        return run_shape<byte_shape<1>>(pass, call);
    case 2:
        return run_shape<byte_shape<2>>(pass, call);
    case 3:
        return run_shape<byte_shape<3>>(pass, call);
    case 4:
        return run_shape<byte_shape<4>>(pass, call);
    case 5:
        return run_shape<byte_shape<5>>(pass, call);
    case 6:
        return run_shape<byte_shape<6>>(pass, call);
    case 7:
        return run_shape<byte_shape<7>>(pass, call);
    default:
        return run_lines(pass, call);
    }
}
