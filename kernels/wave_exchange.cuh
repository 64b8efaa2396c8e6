/* Stage 2 of fused_wave.cu: from each tile's totals to its seed. Every block looks at all totals above its own, and
 * adds them up from left to right by itself. Shares of a chunk are tile rows: their totals are a row of words each. */
#ifndef WAVE_EXCHANGE_CUH
#define WAVE_EXCHANGE_CUH

#include "exchange.cuh"
#include "overflow.cuh"

constexpr unsigned WAVE_WORDS = 4;     /* that a thread has under way */
constexpr unsigned WAVE_PATIENCE = 64; /* so many looks */
constexpr unsigned WAVE_BATCH = 32;    /* bytes of totals that are added up in one go */
constexpr unsigned NOTHING_MISSING = 0xffffffffu;

template <class SUM> struct wave_state {
    uint32_t *ticket;          /* NULL: each block has the tile of its number, and may help others */
    exchange_word<SUM> *words; /* a row of columns each: the carry in, and the totals of each share of a chunk */
    const SUM *carry_in;
    SUM *carry_out;
    unsigned pitch; /* of a column's totals in shared memory: a vector more, against bank conflicts */
};

/* What all shares of chunks before this one add up to, chunk by chunk, and those of this chunk before this share. */
template <class SHAPE, unsigned SHARES> struct wave_shared {
    warp_rows<SHAPE> totals;
    warp_row<SHAPE> lefts[SHARES], seeds;
    tile_magnitude magnitudes;
    unsigned tile;
    unsigned missing; /* the first tile row whose totals do not come */
};

/* Where a thread stands in the exchange: its column of the panel, and its place down the rows. */
template <class SHAPE> struct wave_lane {
    static constexpr unsigned ACROSS = power_of_two_above(SHAPE::PANEL), DOWN = BLOCK_THREADS / ACROSS;
    unsigned in_panel, down;
    size_t column;
    bool active;
};
template <class SHAPE> DEVICE wave_lane<SHAPE> wave_lane_of(const tile_pass &pass, unsigned panel) {
    wave_lane<SHAPE> lane;
    lane.in_panel = thread_index() % lane.ACROSS;
    lane.down = thread_index() / lane.ACROSS;
    lane.column = static_cast<size_t>(panel) * pass.panel_columns + lane.in_panel;
    lane.active = lane.in_panel < pass.panel_columns && lane.column < pass.columns;
    return lane;
}

/* Publishes the totals of a tile row; `helping`: unless somebody has. The first one brings the carry with it. */
template <class SHAPE> DEVICE void wave_publish(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state,
                                                unsigned tile, bool helping, const warp_rows<SHAPE> &totals) {
    typename SHAPE::Sum known;
    const unsigned row = tile / pass.panels;
    const wave_lane<SHAPE> lane = wave_lane_of<SHAPE>(pass, tile % pass.panels);
    if (lane.down != 0 || !lane.active)
        return;
    exchange_word<typename SHAPE::Sum> *word = &state.words[(row + size_t(1)) * pass.columns + lane.column];
    if (helping && look(word, &known))
        return;
    if (row == 0)
        publish(&state.words[lane.column], load_carry(state.carry_in, lane.column));
    publish(word, total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, lane.in_panel));
}

/* Looks for COUNT words a row apart, those before `end`, until all are there; gives up with the first that does not
 * come. */
template <class SUM, unsigned COUNT> DEVICE void wave_look(const exchange_word<SUM> *words, size_t stride,
                                                           unsigned first, unsigned end, bool helps, unsigned *missing,
                                                           SUM (&values)[COUNT]) {
    unsigned lacking = 0;
    for (unsigned looks = 0; looks < WAVE_PATIENCE || !helps; looks++) {
        lacking = 0;
        UNROLL
        for (unsigned k = 0; k < COUNT; k++) {
            values[k] = sum_identity<SUM>();
            if (first + k < end && !look(words + (first + k) * stride, &values[k]))
                lacking |= 1u << k;
        }
        if (lacking == 0)
            return;
        wait_a_little(20);
    }
    atomic_min(missing, first + lowest_bit(lacking));
}

/* Some totals of one column, to be added up in one go. */
template <class SUM> struct wave_batch {
    typedef vector_of<SUM, 16 / sizeof(SUM)> vector;
    static constexpr unsigned TOTALS = WAVE_BATCH / sizeof(SUM), VECTORS = WAVE_BATCH / sizeof(vector);
    vector vectors[VECTORS];
    DEVICE void load(const SUM *from) {
        UNROLL
        for (unsigned v = 0; v < VECTORS; v++)
            vectors[v] = reinterpret_cast<const vector *>(from)[v];
    }
    DEVICE SUM add(SUM seed) const {
        UNROLL
        for (unsigned k = 0; k < TOTALS; k++)
            seed = seed + vectors[k * sizeof(SUM) / 16].at[k % (16 / sizeof(SUM))];
        return seed;
    }
};

/* So many totals of a column are in shared memory for add_chunks(), filled up with what changes no sum. */
template <class SUM> HOST_DEVICE unsigned wave_length(unsigned chunks) {
    constexpr unsigned BATCH = wave_batch<SUM>::TOTALS;
    return (chunks + 2 * BATCH - 1) / (2 * BATCH) * (2 * BATCH) + BATCH;
}

/* All totals above the tile row, into shared memory: those of whole chunks as one. The carry takes the seeds' place. */
template <class SHAPE, unsigned SHARES>
DEVICE void wave_gather(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state, unsigned tile,
                        wave_shared<SHAPE, SHARES> &shared, typename SHAPE::Sum *chunks) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned AT_ONCE = WAVE_WORDS / SHARES;
    const unsigned row = tile / pass.panels, chunk = row / SHARES;
    const wave_lane<SHAPE> lane = wave_lane_of<SHAPE>(pass, tile % pass.panels);
    const exchange_word<Sum> *words = state.words + pass.columns + lane.column;
    if (lane.active && lane.down == lane.DOWN - 1) { /* the one that has the least to do */
        Sum carry[1];
        wave_look(state.words + lane.column, 0, 0, 1, !state.ticket, &shared.missing, carry);
        shared.seeds[lane.in_panel] = carry[0];
    }
    const unsigned end = wave_length<Sum>(chunk);
    for (unsigned first = lane.down * AT_ONCE; lane.active && first < end; first += lane.DOWN * AT_ONCE) {
        Sum values[AT_ONCE * SHARES];
        wave_look(words, pass.columns, first * SHARES, row, !state.ticket, &shared.missing, values);
        UNROLL
        for (unsigned k = 0; k < AT_ONCE; k++) {
            UNROLL
            for (unsigned share = 0; share < SHARES && first + k == chunk; share++)
                shared.lefts[share][lane.in_panel] = values[k * SHARES + share];
            UNROLL
            for (unsigned half = 1; half < SHARES; half *= 2)
                UNROLL
            for (unsigned share = 0; share < SHARES; share += 2 * half)
                values[k * SHARES + share] += values[k * SHARES + share + half];
            chunks[lane.in_panel * state.pitch + first + k] =
                first + k < chunk ? values[k * SHARES] : sum_identity<Sum>();
        }
    }
}

/* Adds up the chunks above in one column; a batch is on its way while another one is added. */
template <class SUM> DEVICE SUM add_chunks(SUM seed, const SUM *chunks, unsigned count) {
    constexpr unsigned BATCH = wave_batch<SUM>::TOTALS;
    wave_batch<SUM> even, odd;
    even.load(chunks);
    for (unsigned added = 0; added < count; added += 2 * BATCH) {
        odd.load(chunks + added + BATCH);
        seed = even.add(seed);
        even.load(chunks + added + 2 * BATCH);
        seed = odd.add(seed);
    }
    return seed;
}

/* The seed of the chunk in each column, and after the last tile row the carry out. */
template <class SHAPE, unsigned SHARES>
DEVICE void wave_fold(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state, unsigned tile,
                      wave_shared<SHAPE, SHARES> &shared, const typename SHAPE::Sum *chunks) {
    typedef typename SHAPE::Sum Sum;
    const unsigned row = tile / pass.panels;
    const wave_lane<SHAPE> lane = wave_lane_of<SHAPE>(pass, tile % pass.panels);
    if (lane.down != 0 || !lane.active)
        return;
    const Sum seed = add_chunks(shared.seeds[lane.in_panel], chunks + lane.in_panel * state.pitch, row / SHARES);
    shared.seeds[lane.in_panel] = seed;
    if (!state.carry_out || pass.rows - static_cast<size_t>(row) * SHAPE::CHUNK_ROWS > SHAPE::CHUNK_ROWS)
        return;
    shared.lefts[row % SHARES][lane.in_panel] = total_of_warps<SHAPE, SHAPE::WARPS>(shared.totals, 0, lane.in_panel);
    store_carry(state.carry_out, lane.column,
                Sum(seed + total_of_warps<SHAPE, SHARES>(shared.lefts, 0, lane.in_panel)));
}

#endif
