/* The strips of a tile of bytes (byte_tile.cuh): their running sums, and how they are written. */
#ifndef PERSISTENT_BYTE_STRIP_CUH
#define PERSISTENT_BYTE_STRIP_CUH

#include "persistent/byte_tile.cuh"

/* Running sums of the warp's strip, exclusive ones if ABOVE, and its totals. */
template <class SHAPE, bool ABOVE> DEVICE void sum_strip(const byte_layout &layout, const byte_lane &lane,
                                                         byte_block<SHAPE> &shared, byte_turn<SHAPE> &turn) {
    const unsigned warp = thread_index() / WARP_LANES;
    const bool active = thread_index() % WARP_LANES < layout.lanes;
    const unsigned first = (active ? lane.group * SHAPE::RUN : 0) * layout.words + lane.word;
    word_sums sums[SHAPE::RUN], own = {0, 0};
    UNROLL
    for (unsigned k = 0; k < SHAPE::RUN; k++)
        own = sums[k] = own + sums_of_word(shared.bytes[warp][first + k * layout.words]);
    const word_sums total = sum_over_groups(own, layout.words, layout.lanes), above = total - own;
    if (!active)
        return;
    if ((lane.group + 1) * layout.words == layout.lanes)
        turn.strip_totals[warp][lane.word] = total;
    word_sums *const to = &shared.sums[warp][first];
    UNROLL
    for (unsigned k = 0; k < SHAPE::RUN; k++)
        to[k * layout.words] = !ABOVE ? above + sums[k] : k == 0 ? above : above + sums[k - 1];
}

/* Sums through each byte of a lane's lines, of few columns. */
template <class SHAPE, unsigned COUNT>
DEVICE void sum_lane(const uint32_t (&bytes)[COUNT], word_sums (&sums)[COUNT], uint32_t (&totals)[SHAPE::COLUMNS]) {
    constexpr unsigned COLUMNS = SHAPE::COLUMNS, BOTH = 0x10001; /* a factor: in both halves */
    UNROLL
    for (unsigned c = 0; c < COLUMNS; c++)
        totals[c] = 0;
    UNROLL
    for (unsigned k = 0; k < COUNT; k++) {
        const word_sums own = sums_of_word(bytes[k]);
        if constexpr (COLUMNS == 1) {
            const uint32_t pairs = own.even + own.odd, base = (pairs << 16) + totals[0] * BOTH;
            sums[k] = word_sums{own.even + base, pairs + base};
            totals[0] = sums[k].odd >> 16;
        } else if constexpr (COLUMNS == 2) {
            sums[k] = word_sums{own.even * BOTH + totals[0] * BOTH, own.odd * BOTH + totals[1] * BOTH};
            totals[0] = sums[k].even >> 16;
            totals[1] = sums[k].odd >> 16;
        } else if constexpr (COLUMNS == WORD_BYTES) {
            sums[k] = k == 0 ? own : sums[k - 1] + own;
            if (k + 1 == COUNT)
                add_word(sums[k], totals);
        } else {
            uint32_t value[WORD_BYTES];
            UNROLL
            for (unsigned b = 0; b < WORD_BYTES; b++)
                value[b] = totals[(k * WORD_BYTES + b) % COLUMNS] += choose_bytes(bytes[k], 0x4440 + b);
            sums[k] = word_sums{value[0] + (value[2] << 16), value[1] + (value[3] << 16)};
        }
    }
}

/* The sums of a word of four values, given the sums of the columns that they belong to. */
template <class SHAPE> DEVICE word_sums word_of_columns(const uint32_t (&columns)[SHAPE::COLUMNS], unsigned word) {
    const unsigned first = word * WORD_BYTES;
    return word_sums{columns[first % SHAPE::COLUMNS] + (columns[(first + 2) % SHAPE::COLUMNS] << 16),
                     columns[(first + 1) % SHAPE::COLUMNS] + (columns[(first + 3) % SHAPE::COLUMNS] << 16)};
}

/* Turns a lane's totals into the totals of the lanes before it in the strip, two columns at a time, and puts the
 * strip's into `turn`. */
template <class SHAPE>
DEVICE void sum_lanes(uint32_t (&totals)[SHAPE::COLUMNS], unsigned strip, byte_turn<SHAPE> &turn) {
    const bool last = thread_index() % WARP_LANES == WARP_LANES - 1;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c += 2) {
        const unsigned next = c + 1 < SHAPE::COLUMNS ? c + 1 : c; /* c: there is none */
        const uint32_t own = totals[c] + (next > c ? totals[next] << 16 : 0), all = sum_in_warp(own);
        if (last)
            turn.column_totals[c][strip] = all & LOW_HALF;
        if (last && next > c)
            turn.column_totals[next][strip] = all >> 16;
        totals[next] = (all - own) >> 16;
        totals[c] = (all - own) & LOW_HALF;
    }
}

/* sum_strip() of few columns. */
template <class SHAPE, bool ABOVE> DEVICE void sum_few(byte_block<SHAPE> &shared, byte_turn<SHAPE> &turn) {
    constexpr unsigned COUNT = SHAPE::RUN * SHAPE::WORDS, VECTOR = power_of_two_in(COUNT);
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    UNROLL
    for (unsigned s = 0; s < SHAPE::STRIPS; s++) {
        const unsigned first = (s * WARP_LANES + lane) * COUNT;
        uint32_t bytes[COUNT], totals[SHAPE::COLUMNS];
        word_sums sums[COUNT];
        UNROLL
        for (unsigned k = 0; k < COUNT; k += VECTOR) {
            const auto part = *reinterpret_cast<const vector_of<uint32_t, VECTOR> *>(&shared.bytes[warp][first + k]);
            UNROLL
            for (unsigned v = 0; v < VECTOR; v++)
                bytes[k + v] = part.at[v];
        }
        sum_lane<SHAPE>(bytes, sums, totals);
        sum_lanes<SHAPE>(totals, warp * SHAPE::STRIPS + s, turn);
        UNROLL
        for (unsigned k = 0; k < COUNT; k++) {
            const word_sums sum = sums[k] + word_of_columns<SHAPE>(totals, k % SHAPE::WORDS);
            shared.sums[warp][first + k] = ABOVE ? sum - sums_of_word(bytes[k]) : sum;
        }
    }
}

typedef vector_of<uint32_t, WORD_BYTES> sums_vector;
DEVICE void write_word(uint32_t *to, const word_sums &word, const uint32_t (&base)[WORD_BYTES], uint32_t bias) {
    sums_vector sums;
    UNROLL
    for (unsigned c = 0; c < WORD_BYTES; c++)
        sums.at[c] = base[c] - bias;
    add_word(word, sums.at);
    store_passing(reinterpret_cast<sums_vector *>(to), sums);
}

/* Where a tile ends beyond the table: writes the part of a word that is in the table; `number` counts the sums before
 * the word. */
DEVICE void write_last_word(const tile_pass &pass, size_t number, const word_sums &word,
                            const uint32_t (&base)[WORD_BYTES], uint32_t bias) {
    const size_t all = pass.rows * pass.columns;
    uint32_t sums[WORD_BYTES] = {base[0] - bias, base[1] - bias, base[2] - bias, base[3] - bias};
    add_word(word, sums);
    UNROLL
    for (unsigned c = 0; c < WORD_BYTES; c++)
        if (number + c < all)
            static_cast<uint32_t *>(pass.out)[number + c] = sums[c];
}

/* Adds the sums above the warp's strip to the sums of a word. The totals of half the strips may fit in half a word. */
template <class SHAPE> DEVICE void add_strips_above(const byte_layout &layout, const byte_turn<SHAPE> &turn,
                                                    unsigned word, uint32_t (&sums)[WORD_BYTES]) {
    constexpr unsigned HALF = SHAPE::WARPS / 2;
    const unsigned warp = thread_index() / WARP_LANES;
    if (HALF * SHAPE::RUN * layout.lanes < MOST_HALF_ROWS * layout.words) {
        word_sums upper = {0, 0}, lower = {0, 0};
        UNROLL
        for (unsigned k = 0; k < HALF; k++)
            if (k < warp)
                upper = upper + turn.strip_totals[k][word];
        UNROLL
        for (unsigned k = HALF; k < SHAPE::WARPS - 1; k++)
            if (k < warp)
                lower = lower + turn.strip_totals[k][word];
        add_word(upper, sums);
        add_word(lower, sums);
    } else {
        UNROLL_SOME
        for (unsigned k = 0; k < warp; k++)
            add_word(turn.strip_totals[k][word], sums);
    }
}

/* Writes the warp's strip; the sums are exclusive if ABOVE. */
template <class SHAPE, bool ABOVE>
DEVICE void write_strip(const tile_pass &pass, const byte_layout &layout, const byte_lane &lane, unsigned tile,
                        const byte_block<SHAPE> &shared, const byte_turn<SHAPE> &turn) {
    const unsigned in_warp = thread_index() % WARP_LANES;
    if (in_warp >= layout.lanes)
        return;
    uint32_t base[WORD_BYTES];
    UNROLL
    for (unsigned c = 0; c < WORD_BYTES; c++)
        base[c] = turn.prefixes[lane.word * WORD_BYTES + c];
    add_strips_above<SHAPE>(layout, turn, lane.word, base);
    const word_sums *from = shared.sums[thread_index() / WARP_LANES] + in_warp;
    const size_t first = (first_word<SHAPE>(layout, tile) + in_warp) * WORD_BYTES;
    const unsigned groups = layout.lanes / layout.words; /* lines that a warp writes at a time */
    const unsigned rows = thread_index() / WARP_LANES * SHAPE::RUN * groups + lane.group + (ABOVE ? 0 : 1);
    const auto bias = [&](unsigned k) { return bias_of_rows(pass.widen, rows + k * groups); };
    if (tile < layout.whole_tiles) {
        uint32_t *const to = static_cast<uint32_t *>(pass.out) + first;
        UNROLL
        for (unsigned k = 0; k < SHAPE::RUN; k++)
            write_word(to + k * layout.lanes * WORD_BYTES, from[k * layout.lanes], base, bias(k));
    } else {
        for (unsigned k = 0; k < SHAPE::RUN; k++)
            write_last_word(pass, first + k * layout.lanes * WORD_BYTES, from[k * layout.lanes], base, bias(k));
    }
}

/* The sums above the warp's first strip, prefix and all, of the column that a lane's place in a line has. */
template <class SHAPE> DEVICE uint32_t sum_above_strips(const byte_turn<SHAPE> &turn) {
    const unsigned warp = thread_index() / WARP_LANES, lane = thread_index() % WARP_LANES;
    uint32_t mine = 0;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
        uint32_t sum = 0;
        UNROLL
        for (unsigned first = 0; first < SHAPE::WARPS * SHAPE::STRIPS; first += WARP_LANES)
            if (first + lane < warp * SHAPE::STRIPS)
                sum += turn.column_totals[c][first + lane];
        const uint32_t base = turn.prefixes[c] + warp_sum(WARP_ALL, sum);
        mine = lane % SHAPE::COLUMNS == c ? base : mine;
    }
    return mine;
}

/* Writes one of a lane's vectors of few columns: vector `number` of the warp, `in_strip` of its strip. */
template <class SHAPE, bool SIGNED> DEVICE void write_few_word(const tile_pass &pass, bool whole, size_t first,
                                                               unsigned number, unsigned in_strip,
                                                               const byte_block<SHAPE> &shared) {
    const unsigned warp = thread_index() / WARP_LANES, word = number % SHAPE::WORDS;
    const uint32_t bias = SIGNED ? bias_of_rows(pass.widen, in_strip / SHAPE::WORDS * SHAPE::UNIT) : 0;
    uint32_t base[WORD_BYTES];
    UNROLL
    for (unsigned c = 0; c < WORD_BYTES; c++)
        base[c] = shared.bases[warp][word * WORD_BYTES + c];
    if (whole)
        write_word(static_cast<uint32_t *>(pass.out) + first + number * WORD_BYTES, shared.sums[warp][number], base,
                   bias);
    else
        write_last_word(pass, first + number * WORD_BYTES, shared.sums[warp][number], base, bias);
}

/* write_strip() of few columns; the bytes have a sign if SIGNED: asked here, that cost .07 of memcpy with 1 column. */
template <class SHAPE, bool ABOVE, bool SIGNED> DEVICE void write_few(const tile_pass &pass, const byte_layout &layout,
                                                                      unsigned tile, byte_block<SHAPE> &shared,
                                                                      const byte_turn<SHAPE> &turn) {
    const unsigned warp = thread_index() / WARP_LANES, lane = thread_index() % WARP_LANES;
    const size_t first = first_word<SHAPE>(layout, tile) * WORD_BYTES;
    uint32_t mine = sum_above_strips<SHAPE>(turn);
    for (unsigned s = 0; s < SHAPE::STRIPS; s++) {
        const unsigned strip = s * SHAPE::STRIP_WORDS + lane;
        const unsigned above = (warp * SHAPE::STRIPS + s) * SHAPE::STRIP_ROWS; /* rows of the tile */
        warp_barrier(WARP_ALL);
        shared.bases[warp][lane] =
            SIGNED ? mine - bias_of_rows(pass.widen, above + lane / SHAPE::COLUMNS + (ABOVE ? 0 : 1)) : mine;
        warp_barrier(WARP_ALL);
        mine += turn.column_totals[lane % SHAPE::COLUMNS][warp * SHAPE::STRIPS + s];
        if (tile < layout.whole_tiles) {
            UNROLL
            for (unsigned k = 0; k < SHAPE::STRIP_WORDS; k += WARP_LANES)
                write_few_word<SHAPE, SIGNED>(pass, true, first, strip + k, lane + k, shared);
        } else {
            for (unsigned k = 0; k < SHAPE::STRIP_WORDS; k += WARP_LANES)
                write_few_word<SHAPE, SIGNED>(pass, false, first, strip + k, lane + k, shared);
        }
    }
}

#endif
