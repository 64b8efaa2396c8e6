/* Bytes: the algorithm for large tables of bytes that become sums of 4 bytes, in rows side by side, of few columns or
 * of whole words. Every GPU from 8.0 on.
 *
 *   a tile waits in   nothing: it is read twice, the second time from the device's cache. After the first reading its
 *                     totals are published; when stage 2 has made prefixes of them, some microseconds later, the second
 *                     reading makes its sums (byte_tile.cuh, byte_strip.cuh); LAG n: byte_layout::ahead tiles
 *   it is loaded      into registers
 *   bytes a cell      one read from memory and one from the cache, one write; two descriptors a column and chunk, and
 *                     each tile but the last of a chunk half a descriptor a column (descriptors/per_tile.cuh)
 *   stage 2           a prefix warp (stage2/prefix_warp.cuh)
 *
 * A table of bytes is a fifth of the traffic, so that reading it twice is cheap. Tiles can be small and are written
 * close to each other, on which the speed of such a pass depends; and no block waits for prefixes
 * (docs/tuning.md#bytes).
 *
 * This algorithm has a loop of its own, in another order than persistent_pass.cuh's: a fetched number stands for two
 * tiles, one to publish and one to write, and the next two are loaded before these are published and written. Loading
 * them after that, as the other policies do, would leave no load under way meanwhile. */
#include "choose/dispatch.cuh"
#include "choose/tuning.h"
#include "persistent/byte_strip.cuh"
#include "persistent/descriptors/per_tile.cuh"
#include "persistent/launch_persistent.cuh"
#include "persistent/stage2/prefix_blocks.cuh"

constexpr unsigned AHEAD_WORDS = 14; /* of each thread: so far is the first reading ahead of the second */

/* The two tiles that a thread has read: the one that is read for the first time, which may lie beyond the table, and
 * the one that is to be written, if `writes`. */
template <class SHAPE> struct byte_reading {
    byte_words<SHAPE> first, second;
    byte_prefix<SHAPE> prefix;
    unsigned looked, written;
    bool looks, writes;
};

/* ABOVE: results are exclusive, each the inclusive one of the row above. One kernel for both costs up to 0.03 of memcpy
 * (u8 to u32 on an H200, 4 columns 0.907 to 0.886, 7 columns 0.896 to 0.865). */
template <class SHAPE, bool ABOVE> struct bytes_policy {
    typedef uint8_t Input;
    typedef byte_state State;
    static constexpr unsigned THREADS = SHAPE::THREADS, BLOCKS = 2, PREFIX_BLOCKS_ALONE = 0;
    static constexpr bool CHAINS = false, MAY_CHECK = true;

    const tile_pass &pass;
    const State &state;
    const byte_layout &layout;
    const unsigned prefix_blocks, arrival;
    unsigned char *const memory;

    DEVICE bytes_policy(const tile_pass &pass_, const State &state_, unsigned char *memory_, unsigned,
                        unsigned prefix_blocks_, unsigned arrival_)
        : pass(pass_), state(state_), layout(state_.layout), prefix_blocks(prefix_blocks_), arrival(arrival_),
          memory(memory_) {}

    DEVICE bool scans_totals() const { return block_index() < prefix_blocks; }
    DEVICE void scan_totals() {
        grid_meet(arrival);
        add_chunks<SHAPE>(state, memory, pass.columns, layout.tiles / SHAPE::TILES, block_index());
    }
    /* The first tiles are read while the shared descriptors are cleared: a prefix seen then is none. */
    DEVICE void take() {
        byte_block<SHAPE> &shared = *reinterpret_cast<byte_block<SHAPE> *>(memory);
        const unsigned thread = thread_index();
        const byte_lane lane = byte_lane_of<SHAPE>(layout);
        byte_reading<SHAPE> read;
        if (thread < MOST_BYTE_COLUMNS)
            shared.turns[0].tile_totals[thread % WORD_BYTES][thread / WORD_BYTES] =
                shared.turns[1].tile_totals[thread % WORD_BYTES][thread / WORD_BYTES] = 0;
        load(block_index() - prefix_blocks, read);
        read.prefix.status = 0;
        grid_meet(arrival);
        for (unsigned number = 0; read.looks || read.writes; number ^= 1)
            take_two(lane, read, shared, shared.turns[number]);
    }

    /* Fetches a number, makes totals of the one tile and sums of the other, loads the next two tiles, and publishes and
     * writes. */
    DEVICE void take_two(const byte_lane &lane, byte_reading<SHAPE> &read, byte_block<SHAPE> &shared,
                         byte_turn<SHAPE> &turn) {
        constexpr unsigned PUBLISHERS = SHAPE::THREADS - MOST_BYTE_COLUMNS; /* from there on */
        const unsigned thread = thread_index();
        uint32_t next = 0;
        if (thread == 0)
            next = atomic_add(state.tile_counter, 1u);
        if (read.writes)
            poll(lane, read, shared, turn);
        if (read.looks)
            add_tile_totals<SHAPE>(layout, read.first, turn);
        if (thread == 0)
            turn.next_tile = next;
        block_barrier();
        const unsigned looked = read.looked, written = read.written;
        const bool looks = read.looks, writes = read.writes;
        load(turn.next_tile, read);
        if (looks && thread >= PUBLISHERS)
            publish_tile_totals<SHAPE>(pass, state, layout, looked, thread - PUBLISHERS, turn);
        if (writes)
            write(lane, written, shared, turn);
    }

    DEVICE void load(unsigned fetched, byte_reading<SHAPE> &read) {
        read.looked = fetched;
        read.looks = fetched < layout.tiles;
        read.written = fetched - layout.ahead;
        read.writes = fetched >= layout.ahead && read.written < layout.tiles;
        if (read.looks)
            read_words<SHAPE, true>(pass, layout, read.looked, read.first);
        if (!read.writes)
            return;
        read_words<SHAPE, false>(pass, layout, read.written, read.second);
        if (thread_index() < MOST_BYTE_COLUMNS)
            look_for_prefix(pass, state, layout, read.written, read.prefix);
    }
    DEVICE void poll(const byte_lane &lane, byte_reading<SHAPE> &read, byte_block<SHAPE> &shared,
                     byte_turn<SHAPE> &turn) {
        put_words<SHAPE>(layout, read.second, shared);
        if constexpr (SHAPE::FEW)
            sum_few<SHAPE, ABOVE>(shared, turn);
        else
            sum_strip<SHAPE, ABOVE>(layout, lane, shared, turn);
        if (thread_index() < MOST_BYTE_COLUMNS)
            put_prefix<SHAPE>(pass, state, layout, read.written, read.prefix, turn);
    }
    DEVICE void write(const byte_lane &lane, unsigned tile, byte_block<SHAPE> &shared, const byte_turn<SHAPE> &turn) {
        if constexpr (!SHAPE::FEW)
            write_strip<SHAPE, ABOVE>(pass, layout, lane, tile, shared, turn);
        else if (pass.kind == value_kind::SIGNED)
            write_few<SHAPE, ABOVE, true>(pass, layout, tile, shared, turn);
        else
            write_few<SHAPE, ABOVE, false>(pass, layout, tile, shared, turn);
    }
};

/* The descriptors of a pass that are to be cleared, in pairs: stage 2's, and after them the tiles'. */
template <class SHAPE> static size_t byte_pairs(size_t chunks, size_t columns, bool checked) {
    const size_t of_column = sizeof(uint64_t) + (SHAPE::TILES - 1) * sizeof(uint32_t);
    return shared_pairs(chunks, 1, columns, sizeof(uint32_t), checked) +
           (chunks * columns * of_column + sizeof(word_pair) - 1) / sizeof(word_pair);
}

/* Rows of a tile. */
template <class SHAPE> static size_t byte_tile_rows(size_t columns) {
    const size_t words = SHAPE::FEW ? SHAPE::WORDS : columns / WORD_BYTES;
    return SHAPE::WARPS * SHAPE::UNIT *
           (SHAPE::FEW ? SHAPE::WARP_WORDS / SHAPE::WORDS : SHAPE::RUN * (WARP_LANES / words));
}

/* The plan of a pass of bytes, for the launcher. */
template <class SHAPE> struct bytes_plan {
    typedef uint32_t Sum;
    const tile_pass &pass;
    const size_t rows, chunks; /* rows: of a tile */
    const unsigned tiles;
    const size_t prefix_blocks, shared, needed;

    size_t pairs(unsigned) const { return byte_pairs<SHAPE>(chunks, pass.columns, pass.first_overflow); }

    byte_state state(const persistent_call &call, unsigned, unsigned takers, size_t) const {
        byte_state state;
        static_cast<pass_state<uint32_t> &>(state) = call.state_of_chunks<uint32_t>(pass, chunks, 0);
        byte_layout &layout = state.layout;
        layout.words = SHAPE::FEW ? SHAPE::WORDS : static_cast<unsigned>(pass.columns) / WORD_BYTES;
        layout.lanes = WARP_LANES / layout.words * layout.words;
        layout.tile_words = static_cast<unsigned>(rows * pass.columns / WORD_BYTES);
        layout.tile_rows = static_cast<unsigned>(rows);
        layout.whole_tiles = static_cast<unsigned>(pass.rows / rows);
        layout.tiles = tiles;
        const unsigned ahead = AHEAD_WORDS * SHAPE::THREADS * takers / layout.tile_words;
        layout.ahead = ahead < layout.tiles ? ahead : layout.tiles;
        layout.chunk_totals =
            reinterpret_cast<uint64_t *>(reinterpret_cast<word_pair *>(state.prefixes) +
                                         shared_pairs(chunks, 1, pass.columns, sizeof(uint32_t), pass.first_overflow));
        layout.tile_totals = reinterpret_cast<uint32_t *>(layout.chunk_totals + chunks * pass.columns);
        return state;
    }
    checked_prefixes<uint32_t> prefixes(const byte_state &state) const {
        return checked_prefixes<uint32_t>{state.prefixes, state.magnitudes, pass.columns,
                                          static_cast<unsigned>(rows) * SHAPE::TILES, chunks};
    }
};

template <class SHAPE> static int run_byte_shape(const kernel_pass &pass, const persistent_call &call) {
    const size_t rows = byte_tile_rows<SHAPE>(pass.columns), chunk = rows * SHAPE::TILES;
    const size_t chunks = (pass.rows + chunk - 1) / chunk;
    const size_t block = sizeof(byte_block<SHAPE>), ring = sizeof(ring_of<SHAPE>), shared = block > ring ? block : ring;
    if (chunks > INT32_MAX / SHAPE::TILES)
        return static_cast<int>(cudaErrorNotSupported);
    const tile_pass made = make_tile_pass(pass, SHAPE::PANEL, 1);
    const bytes_plan<SHAPE> plan = {
        made,   rows,  chunks, static_cast<unsigned>(chunks) * SHAPE::TILES, prefix_blocks_of<SHAPE>(pass.columns),
        shared, shared};
    return pass.exclusive ? launch_persistent<bytes_policy<SHAPE, true>>(call, made, plan)
                          : launch_persistent<bytes_policy<SHAPE, false>>(call, made, plan);
}

/* Lines of whole words have tiles by the speed of memory. docs/tuning.md#bytes */
typedef byte_shape<0, true> fast_lines;
typedef byte_shape<0, false> slow_lines;

/* Walks the shapes of few columns. */
template <unsigned FEW = 1> static int run_byte_columns(const kernel_pass &pass, const persistent_call &call) {
    if constexpr (FEW < FEWEST_BYTE_WORDS * WORD_BYTES) {
        return pass.columns == FEW ? run_byte_shape<byte_shape<FEW>>(pass, call)
                                   : run_byte_columns<FEW + 1>(pass, call);
    } else {
        return memory_rate() >= FAST_MEMORY ? run_byte_shape<fast_lines>(pass, call)
                                            : run_byte_shape<slow_lines>(pass, call);
    }
}

/* Pairs for tiles of the fewest rows, which the longest lines have. */
template <class SHAPE> static size_t most_byte_pairs(const kernel_pass &pass) {
    const size_t chunk = byte_tile_rows<SHAPE>(MOST_BYTE_COLUMNS) * SHAPE::TILES;
    return byte_pairs<SHAPE>((pass.rows + chunk - 1) / chunk, pass.columns, pass.first_overflow != nullptr);
}

/* By strides alone, as the table may be anywhere. */
size_t algorithm_bytes::workspace(const kernel_pass *pass) {
    const kernel_problem problem = kernel_problem_of(pass, 0, 0);
    if (!bytes_can(&problem))
        return 0;
    const size_t fast = most_byte_pairs<fast_lines>(*pass), slow = most_byte_pairs<slow_lines>(*pass);
    return COUNTER_BYTES + sizeof(word_pair) * (fast > slow ? fast : slow);
}

int algorithm_bytes::run(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const kernel_problem problem = kernel_problem_of(pass, 0, 0);
    if (!bytes_can(&problem) || problem.in_start < WORD_BYTES || problem.out_start < VECTOR_BYTES)
        return static_cast<int>(cudaErrorNotSupported);
    return run_byte_columns(*pass, persistent_call(*pass, *carry, workspace));
}
