/* A tile of bytes that become sums of 4 bytes: some lines of the table, one below the other. A line is a row in whole
 * words of four columns each; or, of a few columns, the fewest rows that fill whole words. Lines lie side by side in
 * memory.
 *
 * A warp has a strip of lines, or several, one below the other, and sums them up in shared memory of its own. The rows
 * of a strip are so few that their sums fit in half a word: two columns share one until they are written. Integers
 * wrap, so that neither the order of their additions nor the size of a chunk can be seen. */
#ifndef PERSISTENT_BYTE_TILE_CUH
#define PERSISTENT_BYTE_TILE_CUH

#include "persistent/stage2/prefix_warp.cuh"
#include "persistent/word_sums.cuh"

/* FEW: the number of columns, of which a lane has all; or 0: a lane has a word of a line. RUN lines of a strip, one
 * below the other, are a lane's. Each lane has 4 words of a tile, or the few more that whole lines need: the smaller
 * tiles are, the closer to each other they are written. But where memory is FAST, tiles that small come too fast for
 * their exchange, and a lane has 7 lines (docs/tuning.md#bytes). */
template <unsigned FEW_, bool FAST = true> struct byte_shape {
    typedef uint8_t Input;
    typedef uint32_t Sum;
    static constexpr bool WIDENED = true, PACKED = true;
    static constexpr unsigned FEW = FEW_, WARPS = BLOCK_WARPS, THREADS = BLOCK_THREADS;
    static constexpr unsigned SHARES = 1, PANEL = MOST_BYTE_COLUMNS; /* for stage 2 */
    static constexpr unsigned COLUMNS = FEW ? FEW : unsigned(WORD_BYTES);
    static constexpr unsigned UNIT = COLUMNS % 4 == 0 ? 1 : COLUMNS % 2 == 0 ? 2 : 4; /* rows of a line */
    static constexpr unsigned WORDS = COLUMNS * UNIT / WORD_BYTES;                    /* of a line, if FEW */
    static constexpr unsigned RUN = FEW == 1 || FEW == 6 ? 2 : FEW == 2 || FEW == 4 ? 4 : UNIT > 1 ? 1 : FAST ? 7 : 4;
    static constexpr unsigned STRIPS = FEW == 1 || FEW == 3 ? 2 : 1; /* of a warp */
    static constexpr unsigned TILES = FAST ? 4 : 8;                  /* of a chunk */
    static constexpr unsigned STRIP_WORDS = RUN * WORDS * WARP_LANES, WARP_WORDS = STRIPS * STRIP_WORDS;
    static constexpr unsigned LANES = WARP_LANES / WORDS * WORDS; /* that read whole lines, if FEW */
    static constexpr unsigned STEPS = FEW ? (WARP_WORDS + LANES - 1) / LANES : RUN;
    static constexpr unsigned STRIP_ROWS = RUN * UNIT * WARP_LANES; /* at most */
    static_assert(STRIP_ROWS < MOST_HALF_ROWS && STEPS * (WARP_LANES / WORDS) < MOST_HALF_ROWS, "sums of half a word");
};

/* The layout that all tiles of a pass share. */
struct byte_layout {
    unsigned words;              /* of a line */
    unsigned lanes;              /* of a warp that have a word each of the lines that it reads at a time */
    unsigned tiles, whole_tiles; /* the table has all of these; the last ones may lie beyond it */
    unsigned ahead;              /* tiles that the first reading is ahead of the second */
    unsigned tile_words, tile_rows;
    uint32_t *tile_totals;  /* of all tiles of a chunk but the last, marked */
    uint64_t *chunk_totals; /* as far as they are known, and above of how many tiles that is */
};

struct byte_state : pass_state<uint32_t> {
    byte_layout layout;
};

/* The calling warp's words. */
template <class SHAPE> DEVICE unsigned words_of_warp(const byte_layout &layout) {
    return SHAPE::FEW ? SHAPE::WARP_WORDS : layout.lanes * SHAPE::RUN;
}
template <class SHAPE> DEVICE size_t first_word(const byte_layout &layout, unsigned tile) {
    return static_cast<size_t>(tile) * layout.tile_words + thread_index() / WARP_LANES * words_of_warp<SHAPE>(layout);
}

/* A lane's word in a line, and the number of the line among the lines that its warp reads at a time. */
struct byte_lane {
    unsigned word, group;
};
template <class SHAPE> DEVICE byte_lane byte_lane_of(const byte_layout &layout) {
    const unsigned lane = thread_index() % WARP_LANES, words = SHAPE::FEW ? SHAPE::WORDS : layout.words;
    return byte_lane{lane % words, lane / words};
}
template <class SHAPE> DEVICE unsigned lanes_of(const byte_layout &layout) {
    return SHAPE::FEW ? SHAPE::LANES : layout.lanes;
}

/* A lane's bytes, a word a step. */
template <class SHAPE> using byte_words = uint32_t[SHAPE::STEPS];

/* Flips the highest bits of bytes with a sign, in all words of the tile, and counts truth values. */
template <class SHAPE>
DEVICE void count_kind(const tile_pass &pass, const byte_layout &layout, byte_words<SHAPE> &words) {
    const unsigned lane = thread_index() % WARP_LANES, lanes = lanes_of<SHAPE>(layout);
    count_truths(pass.kind, words);
    if (pass.kind == value_kind::SIGNED)
        UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        if (lane < lanes && step * lanes + lane < words_of_warp<SHAPE>(layout))
            words[step] ^= pass.widen.flip;
}

/* A word that may end beyond the table: zeros there. */
DEVICE uint32_t read_last_word(const uint8_t *from, size_t bytes) {
    uint32_t word = 0;
    for (unsigned k = 0; k < WORD_BYTES && k < bytes; k++)
        word |= static_cast<uint32_t>(from[k]) << 8 * k;
    return word;
}

/* The words of a tile that may end beyond the table. */
template <class SHAPE>
DEVICE void read_last_words(const tile_pass &pass, const byte_layout &layout, unsigned tile, byte_words<SHAPE> &words) {
    const unsigned lane = thread_index() % WARP_LANES, lanes = lanes_of<SHAPE>(layout);
    const size_t first = (first_word<SHAPE>(layout, tile) + lane) * WORD_BYTES, all = pass.rows * pass.columns;
    const uint8_t *const in = static_cast<const uint8_t *>(pass.in);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++) {
        const unsigned number = step * lanes;
        const size_t at = first + number * WORD_BYTES;
        words[step] = 0;
        if (lane < lanes && number + lane < words_of_warp<SHAPE>(layout) && at < all)
            words[step] = read_last_word(in + at, all - at);
    }
}

/* KEPT: the words will be read once more. Lanes without words of their own read the same as another lane. */
template <class SHAPE, bool KEPT>
DEVICE void read_words(const tile_pass &pass, const byte_layout &layout, unsigned tile, byte_words<SHAPE> &words) {
    if (tile >= layout.whole_tiles) {
        read_last_words<SHAPE>(pass, layout, tile, words);
        count_kind<SHAPE>(pass, layout, words);
        return;
    }
    const unsigned lane = thread_index() % WARP_LANES, lanes = lanes_of<SHAPE>(layout);
    const uint32_t *from =
        static_cast<const uint32_t *>(pass.in) + first_word<SHAPE>(layout, tile) + (lane < lanes ? lane : 0);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++) {
        constexpr unsigned LAST = SHAPE::WARP_WORDS - (SHAPE::STEPS - 1) * SHAPE::LANES; /* of a last step, if FEW */
        const bool there = !SHAPE::FEW || step + 1 < SHAPE::STEPS || lane < LAST;
        words[step] = 0;
        if (there)
            words[step] = KEPT ? load_kept(from + step * lanes) : load_passing(from + step * lanes);
    }
    count_kind<SHAPE>(pass, layout, words);
}

/* Shared memory of a block: of each warp; and the exchange between warps, used in turns. */
template <class SHAPE> struct byte_turn {
    word_sums strip_totals[SHAPE::WARPS][MOST_BYTE_WORDS]; /* or, if FEW: */
    uint32_t column_totals[SHAPE::COLUMNS][SHAPE::WARPS * SHAPE::STRIPS];
    uint32_t prefixes[MOST_BYTE_COLUMNS];
    uint32_t tile_totals[WORD_BYTES][MOST_BYTE_WORDS]; /* of the tile that is read for the first time */
    uint32_t next_tile;
};
template <class SHAPE> struct byte_block {
    word_sums sums[SHAPE::WARPS][SHAPE::WARP_WORDS];   /* of a strip, through each word */
    uint32_t bytes[SHAPE::WARPS][SHAPE::WARP_WORDS];   /* as they were read */
    uint32_t bases[SHAPE::WARPS][2 * MOST_BYTE_WORDS]; /* of a line */
    byte_turn<SHAPE> turns[2];
};

/* Adds the columns' totals in the words to the tile's totals. */
template <class SHAPE>
DEVICE void add_tile_totals(const byte_layout &layout, const byte_words<SHAPE> &words, byte_turn<SHAPE> &turn) {
    const unsigned lane = thread_index() % WARP_LANES, lanes = lanes_of<SHAPE>(layout);
    const unsigned across = SHAPE::FEW ? SHAPE::WORDS : layout.words;
    word_sums total = {0, 0};
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        total = total + sums_of_word(words[step]);
    total = sum_over_groups(total, across, lanes);
    if (lane + across < lanes || lane >= lanes)
        return;
    uint32_t sums[WORD_BYTES] = {};
    add_word(total, sums);
    UNROLL
    for (unsigned c = 0; c < WORD_BYTES; c++)
        atomic_add(&turn.tile_totals[c][lane - (lanes - across)], sums[c]);
}

/* Puts the words into shared memory, where the warp sums them up. */
template <class SHAPE>
DEVICE void put_words(const byte_layout &layout, const byte_words<SHAPE> &words, byte_block<SHAPE> &shared) {
    const unsigned lane = thread_index() % WARP_LANES, lanes = lanes_of<SHAPE>(layout);
    uint32_t *const to = shared.bytes[thread_index() / WARP_LANES] + lane;
    warp_barrier(WARP_ALL);
    UNROLL
    for (unsigned step = 0; step < SHAPE::STEPS; step++)
        if (lane < lanes && (!SHAPE::FEW || step * lanes + lane < SHAPE::WARP_WORDS))
            to[step * lanes] = words[step];
    warp_barrier(WARP_ALL);
}

#endif
