/* Bytes: the form for large tables of bytes that become sums of 4 bytes, in rows side by side, of few columns or of
 * whole words. Every GPU from 8.0 on.
 *
 *   a tile waits in   nothing: it is read twice, the second time from the device's cache. The first time tells its
 *                     totals; when stage 2 has made seeds of them, some microseconds later, the second one makes its
 *                     sums (byte_tile.cuh, byte_strip.cuh); LAG n: byte_layout::ahead tiles
 *   it is brought     into registers
 *   bytes a cell      one read from memory and one from the cache, one write; two words a column and chunk, and for
 *                     each tile but the last of a chunk half a word a column (words/per_tile.cuh)
 *   who adds          an adding warp (adds/adding_warp.cuh)
 *
 * A table of bytes is a fifth of the traffic, so that reading it twice is cheap: tiles can be small and are written one
 * close to the other, which is what the speed of such a pass depends on; and nobody waits for seeds
 * (docs/tuning.md#bytes).
 *
 * This form has a loop of its own, in another order than persistent_pass.cuh's: a ticket stands for two tiles, one to
 * tell and one to write, and the next two are brought before these are told and written. To bring them where the other
 * forms do, behind that, would leave nothing under way meanwhile. */
#include "choose/dispatch.cuh"
#include "choose/shapes.h"
#include "persistent/adds/adders.cuh"
#include "persistent/byte_strip.cuh"
#include "persistent/launch.cuh"
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

/* ABOVE: exclusive results, what stands one row above. One kernel for both costs up to 0.03 of memcpy (u8 to u32 on an
 * H200, 4 columns 0.907 to 0.886, 7 columns 0.896 to 0.865). */
template <class SHAPE, bool ABOVE> struct bytes_form {
    typedef uint8_t Input;
    typedef byte_state State;
    static constexpr unsigned THREADS = SHAPE::THREADS, BLOCKS = 2, ADDERS_ALONE = 0;
    static constexpr bool CHAINS = false, MAY_CHECK = true;

    const tile_pass &pass;
    const State &state;
    const byte_layout &layout;
    const unsigned adders, arrival;
    unsigned char *const memory;

    DEVICE bytes_form(const tile_pass &pass_, const State &state_, unsigned char *memory_, unsigned, unsigned adders_,
                      unsigned arrival_)
        : pass(pass_), state(state_), layout(state_.layout), adders(adders_), arrival(arrival_), memory(memory_) {}

    DEVICE bool adds() const { return block_index() < adders; }
    DEVICE void add() {
        grid_meet(arrival);
        add_chunks<SHAPE>(state, memory, pass.columns, layout.tiles / SHAPE::TILES, block_index());
    }
    /* The first tiles are read while the words are cleared that the blocks share: a seed seen then is none. */
    DEVICE void take() {
        byte_block<SHAPE> &shared = *reinterpret_cast<byte_block<SHAPE> *>(memory);
        const unsigned thread = thread_index();
        const byte_lane lane = byte_lane_of<SHAPE>(layout);
        byte_reading<SHAPE> read;
        if (thread < MOST_BYTE_COLUMNS)
            shared.turns[0].tile_totals[thread % WORD_BYTES][thread / WORD_BYTES] =
                shared.turns[1].tile_totals[thread % WORD_BYTES][thread / WORD_BYTES] = 0;
        bring(block_index() - adders, read);
        read.seed.mark = 0;
        grid_meet(arrival);
        for (unsigned number = 0; read.looks || read.writes; number ^= 1)
            take_two(lane, read, shared, shared.turns[number]);
    }

    /* Draws, makes totals of the one tile and sums of the other, brings the next two, and tells and writes. */
    DEVICE void take_two(const byte_lane &lane, byte_reading<SHAPE> &read, byte_block<SHAPE> &shared,
                         byte_turn<SHAPE> &turn) {
        constexpr unsigned TELLERS = SHAPE::THREADS - MOST_BYTE_COLUMNS; /* from there on */
        const unsigned thread = thread_index();
        uint32_t next = 0;
        if (thread == 0)
            next = atomic_add(state.ticket, 1u);
        if (read.writes)
            wait(lane, read, shared, turn);
        if (read.looks)
            add_tile_totals<SHAPE>(layout, read.first, turn);
        if (thread == 0)
            turn.ticket = next;
        block_barrier();
        const unsigned looked = read.looked, written = read.written;
        const bool looks = read.looks, writes = read.writes;
        bring(turn.ticket, read);
        if (looks && thread >= TELLERS)
            tell_totals<SHAPE>(pass, state, layout, looked, thread - TELLERS, turn);
        if (writes)
            write(lane, written, shared, turn);
    }

    DEVICE void bring(unsigned ticket, byte_reading<SHAPE> &read) {
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
    DEVICE void wait(const byte_lane &lane, byte_reading<SHAPE> &read, byte_block<SHAPE> &shared,
                     byte_turn<SHAPE> &turn) {
        put_words<SHAPE>(layout, read.second, shared);
        if constexpr (SHAPE::FEW)
            sum_few<SHAPE, ABOVE>(shared, turn);
        else
            sum_strip<SHAPE, ABOVE>(layout, lane, shared, turn);
        if (thread_index() < MOST_BYTE_COLUMNS)
            put_seed<SHAPE>(pass, state, layout, read.written, read.seed, turn);
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

/* The words of a pass that are to be cleared, in pairs: those of stage 2, and behind them those of tiles. */
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

/* What the launcher asks of a pass of bytes. */
template <class SHAPE> struct bytes_plan {
    const tile_pass &pass;
    const size_t rows, chunks; /* rows: of a tile */
    const unsigned tiles;
    const size_t adders, shared, needed;

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
            reinterpret_cast<uint64_t *>(reinterpret_cast<word_pair *>(state.seeds) +
                                         shared_pairs(chunks, 1, pass.columns, sizeof(uint32_t), pass.first_overflow));
        layout.tile_totals = reinterpret_cast<uint32_t *>(layout.chunk_totals + chunks * pass.columns);
        return state;
    }
    checked_seeds<uint32_t> seeds(const byte_state &state) const {
        return checked_seeds<uint32_t>{state.seeds, pass.columns, static_cast<unsigned>(rows) * SHAPE::TILES, chunks};
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
        made,   rows,  chunks, static_cast<unsigned>(chunks) * SHAPE::TILES, adders_of<SHAPE>(pass.columns),
        shared, shared};
    return pass.exclusive ? launch_persistent<bytes_form<SHAPE, true>>(call, made, plan)
                          : launch_persistent<bytes_form<SHAPE, false>>(call, made, plan);
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

/* For tiles of the fewest rows, which are those of the longest lines. */
template <class SHAPE> static size_t most_byte_pairs(const kernel_pass &pass) {
    const size_t chunk = byte_tile_rows<SHAPE>(MOST_BYTE_COLUMNS) * SHAPE::TILES;
    return byte_pairs<SHAPE>((pass.rows + chunk - 1) / chunk, pass.columns, pass.first_overflow != nullptr);
}

/* By strides alone, as the table may be anywhere. */
size_t form_bytes::workspace(const kernel_pass *pass) {
    const kernel_facts facts = kernel_facts_of(pass, 0, 0);
    if (!bytes_can(&facts))
        return 0;
    const size_t fast = most_byte_pairs<fast_lines>(*pass), slow = most_byte_pairs<slow_lines>(*pass);
    return TICKET_BYTES + sizeof(word_pair) * (fast > slow ? fast : slow);
}

int form_bytes::run(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const kernel_facts facts = kernel_facts_of(pass, 0, 0);
    if (!bytes_can(&facts) || facts.in_start < WORD_BYTES || facts.out_start < VECTOR_BYTES)
        return static_cast<int>(cudaErrorNotSupported);
    return run_byte_columns(*pass, persistent_call(*pass, *carry, workspace));
}
