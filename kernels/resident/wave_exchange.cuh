/* Stage 2 of wave.cu: from each tile's totals to its prefix. Every block looks at all totals above its own, and adds
 * them up by itself: integers from left to right, floats by the tree. A tile is a chunk or a share of one; each row of
 * tiles has a row of descriptors for its totals. To floats a chunk is no more than the tiles that share a unit, or one
 * tile.
 *
 * Every wait ends. A launch out of place `helps`: a thread that has looked in vain for long makes the totals itself, as
 * the blocks that should make them may not run before this one ends. A launch in place cannot, as the rows above may be
 * results by now; it is cooperative, so all its blocks run, and each publishes before it waits. */
#ifndef RESIDENT_WAVE_EXCHANGE_CUH
#define RESIDENT_WAVE_EXCHANGE_CUH

#include "persistent/descriptors/tile_descriptor.cuh"
#include "resident/resident_pass.cuh"
#include "resident/wave_epoch.cuh"

constexpr unsigned WAVE_DESCRIPTORS = 2; /* descriptors that a thread has under way, or else all shares' of a chunk */
constexpr unsigned WAVE_BATCH = 32;      /* bytes of totals that are added up in one go */
constexpr unsigned MOST_LEVELS = 16;     /* levels in the tree of a chunk */

template <class SUM> struct wave_state {
    wave_epoch epoch;
    word_pair *descriptors; /* the start row, and the totals of each row of tiles: one a column, a value and its tag */
    bool helps;             /* a thread may make the totals of other blocks: nothing that it reads is written */
    const SUM *carry_in;
    SUM *carry_out;
    unsigned pitch; /* of a column's totals in shared memory: a vector more, against bank conflicts */
    SUM *lasts;     /* the last rows of chunks, where floats are exclusive (tile/first_rows.cuh) */
};

/* A block's part of the exchange in shared memory: the totals of the shares of its chunk above its own, and the number
 * that it drew. */
template <class SHAPE, unsigned SHARES> struct wave_held {
    warp_row<SHAPE> lefts[SHARES];
    uint64_t draw, birth;
    bool clears;
};
template <class SHAPE, unsigned SHARES> using wave_shared = resident_shared<SHAPE, wave_held<SHAPE, SHARES>>;

template <class SUM> DEVICE word_pair tagged(SUM value, uint64_t tag) {
    return word_pair{reinterpret_cast<const typename bits_of_size<sizeof(SUM)>::type &>(value), tag};
}
template <class SUM> DEVICE SUM untagged(const word_pair &pair) {
    const typename bits_of_size<sizeof(SUM)>::type bits =
        static_cast<typename bits_of_size<sizeof(SUM)>::type>(pair.value);
    return reinterpret_cast<const SUM &>(bits);
}

template <class SUM> DEVICE SUM wait_for_tagged(const word_pair *descriptor, uint64_t tag) {
    for (;;) {
        const word_pair pair = load_pair_relaxed(descriptor);
        if (pair.status == tag)
            return untagged<SUM>(pair);
        wait_a_little(20);
    }
}

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

/* Clears the descriptors of some rows in the columns of the lane's panel. Row 0 is the start row. */
template <class SHAPE> DEVICE void clear_descriptors(const tile_pass &pass,
                                                     const wave_state<typename SHAPE::Sum> &state, unsigned panel,
                                                     unsigned first, unsigned end) {
    const wave_lane<SHAPE> lane = wave_lane_of<SHAPE>(pass, panel);
    KEEP_LOOP
    for (unsigned row = first + lane.down; lane.active && row < end; row += lane.DOWN)
        store_pair_relaxed(&state.descriptors[row * pass.columns + lane.column], word_pair{0, 0});
}

/* The tag of this launch, for all threads of a block, which all see the number that it drew. */
template <class SHAPE, unsigned SHARES> DEVICE uint64_t join_epoch(const tile_pass &pass,
                                                                   const wave_state<typename SHAPE::Sum> &state,
                                                                   unsigned panel, wave_held<SHAPE, SHARES> &held) {
    const wave_epoch &epoch = state.epoch;
    if (!has_key(held.draw, epoch.key)) {
        if (thread_index() == 0)
            held.clears = must_clear(epoch, panel);
        block_barrier();
        if (held.clears) {
            clear_descriptors<SHAPE>(pass, state, panel, 0, epoch.blocks + 1);
            block_barrier();
            if (thread_index() == 0)
                begin_anew(epoch, panel);
        }
        if (thread_index() == 0) {
            held.draw = begin_draw(epoch, panel);
            held.birth = birth_of(epoch, panel, held.draw);
        }
        block_barrier();
    }
    return tag_of(epoch, held.draw, held.birth);
}

/* Publishes the totals of a row of tiles, and with the first row's the start row, if others may not read it. */
template <class SHAPE> DEVICE void wave_publish(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state,
                                                unsigned row, unsigned panel, uint64_t tag,
                                                const warp_rows<SHAPE> &totals) {
    const wave_lane<SHAPE> lane = wave_lane_of<SHAPE>(pass, panel);
    if (lane.down != 0 || !lane.active)
        return;
    if (row == 0 && !state.helps)
        store_pair_relaxed(&state.descriptors[lane.column], tagged(load_carry(state.carry_in, lane.column), tag));
    store_pair_relaxed(&state.descriptors[(row + size_t(1)) * pass.columns + lane.column],
                       tagged(total_of_tile<SHAPE>(totals, lane.in_panel), tag));
}

/* A column of some tiles whose totals are missing. */
template <class INPUT> struct wave_missing {
    const INPUT *from;
    ptrdiff_t stride;
    size_t rows; /* of the table, from the first of these tiles on */
    unsigned tile_rows, tiles;
    word_pair *descriptors;
    size_t columns;
    uint64_t tag;
    value_kind kind;
};

/* Makes the totals, by the tree, and publishes them. Called by one thread that has waited long for others to do it.
 * That is hardly ever so, and it need not be fast. */
template <class INPUT, class SUM> DEVICE void make_totals_alone(wave_missing<INPUT> missing) {
    KEEP_LOOP
    for (unsigned tile = 0; tile < missing.tiles; tile++) {
        SUM left[MOST_LEVELS], sum = sum_identity<SUM>();
        KEEP_LOOP
        for (unsigned row = 0; row < missing.tile_rows; row++) {
            const size_t at = size_t(tile) * missing.tile_rows + row;
            sum = at < missing.rows
                      ? sum_of_value<SUM>(missing.from[static_cast<ptrdiff_t>(at) * missing.stride], missing.kind)
                      : sum_identity<SUM>();
            push_total(row, left, sum);
        }
        store_pair_relaxed(missing.descriptors + tile * missing.columns, tagged(sum, missing.tag));
    }
}

/* Looks in a column for the totals of COUNT rows of tiles, as far as they are before `end`, until all are there. */
template <class SHAPE, unsigned COUNT>
DEVICE void wave_look(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state, size_t column,
                      unsigned first, unsigned end, uint64_t tag, typename SHAPE::Sum (&values)[COUNT]) {
    typedef typename SHAPE::Sum Sum;
    typedef typename SHAPE::Input Input;
    word_pair *const descriptors = state.descriptors + (first + size_t(1)) * pass.columns + column;
    for (unsigned looks = 0;; looks++) {
        bool lacking = false;
        word_pair pairs[COUNT];
        UNROLL
        for (unsigned k = 0; k < COUNT; k++) {
            pairs[k] = word_pair{0, tag};
            if (first + k < end)
                pairs[k] = load_pair_relaxed(descriptors + k * pass.columns);
        }
        UNROLL
        for (unsigned k = 0; k < COUNT; k++) {
            values[k] = first + k < end ? untagged<Sum>(pairs[k]) : sum_identity<Sum>();
            lacking = lacking || pairs[k].status != tag;
        }
        if (!lacking)
            return;
        wait_a_little(20);
        if (looks < PATIENCE || !state.helps)
            continue;
        const size_t above = static_cast<size_t>(first) * SHAPE::TILE_ROWS;
        make_totals_alone<Input, Sum>(wave_missing<Input>{
            static_cast<const Input *>(pass.in) + static_cast<ptrdiff_t>(above) * pass.in_stride + column,
            pass.in_stride, pass.rows - above, SHAPE::TILE_ROWS, first + COUNT < end ? COUNT : end - first, descriptors,
            pass.columns, tag, pass.kind});
    }
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
    DEVICE SUM add(SUM prefix) const {
        UNROLL
        for (unsigned k = 0; k < TOTALS; k++)
            prefix = combine(prefix, vectors[k * sizeof(SUM) / 16].at[k % (16 / sizeof(SUM))]);
        return prefix;
    }
};

/* Totals of a column that a lane of add_tree() has at once; totals that all lanes have; and the most totals of a
 * column, two rounds of all lanes. */
constexpr unsigned TREE_EACH = 8, TREE_ROUND = TREE_EACH * WARP_LANES, MOST_TREE_CHUNKS = 2 * TREE_ROUND;

/* How many totals of a column are in shared memory: they are filled up with what changes no sum. */
template <class SHAPE> HOST_DEVICE unsigned wave_length(unsigned chunks) {
    if (!SHAPE::ADDS_ONCE)
        return (chunks / TREE_EACH + 1) * TREE_EACH;
    constexpr unsigned BATCH = wave_batch<typename SHAPE::Sum>::TOTALS;
    return (chunks + 2 * BATCH - 1) / (2 * BATCH) * (2 * BATCH) + BATCH;
}

/* Gathers all totals above the tile in shared memory, the totals of a whole chunk as one. The start row takes the
 * prefixes' place. */
template <class SHAPE, unsigned SHARES>
DEVICE void wave_gather(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state, unsigned row,
                        unsigned panel, uint64_t tag, wave_shared<SHAPE, SHARES> &shared, typename SHAPE::Sum *chunks) {
    typedef typename SHAPE::Sum Sum;
    constexpr unsigned AT_ONCE = SHARES < WAVE_DESCRIPTORS ? WAVE_DESCRIPTORS / SHARES : 1;
    const unsigned chunk = row / SHARES;
    const wave_lane<SHAPE> lane = wave_lane_of<SHAPE>(pass, panel);
    if (lane.active && lane.down == lane.DOWN - 1) { /* the one that has the least to do */
        if (state.helps)
            shared.prefixes[0][lane.in_panel] = load_carry(state.carry_in, lane.column);
        else
            shared.prefixes[0][lane.in_panel] = wait_for_tagged<Sum>(&state.descriptors[lane.column], tag);
    }
    const unsigned end = wave_length<SHAPE>(chunk);
    for (unsigned first = lane.down * AT_ONCE; lane.active && first < end; first += lane.DOWN * AT_ONCE) {
        Sum values[AT_ONCE * SHARES];
        wave_look<SHAPE>(pass, state, lane.column, first * SHARES, row, tag, values);
        UNROLL
        for (unsigned k = 0; k < AT_ONCE; k++) {
            UNROLL
            for (unsigned share = 0; share < SHARES && first + k == chunk; share++)
                shared.held.lefts[share][lane.in_panel] = values[k * SHARES + share];
            const Sum total = combine_halves<SHARES>(values + k * SHARES);
            chunks[lane.in_panel * state.pitch + first + k] = first + k < chunk ? total : sum_identity<Sum>();
        }
    }
}

/* Adds up the chunks above in one column; a batch is on its way while another one is added. */
template <class SUM> DEVICE SUM add_chunks(SUM prefix, const SUM *chunks, unsigned count) {
    constexpr unsigned BATCH = wave_batch<SUM>::TOTALS;
    wave_batch<SUM> even, odd;
    even.load(chunks);
    for (unsigned added = 0; added < count; added += 2 * BATCH) {
        odd.load(chunks + added + BATCH);
        prefix = even.add(prefix);
        even.load(chunks + added + 2 * BATCH);
        prefix = odd.add(prefix);
    }
    return prefix;
}

/* The sum of TREE_EACH chunks, by halves. */
template <class SUM> DEVICE SUM add_leaf(const SUM *chunks) {
    typedef vector_of<SUM, 16 / sizeof(SUM)> vector;
    SUM totals[TREE_EACH];
    UNROLL
    for (unsigned k = 0; k < TREE_EACH; k++)
        totals[k] = reinterpret_cast<const vector *>(chunks)[k * sizeof(SUM) / 16].at[k % (16 / sizeof(SUM))];
    return combine_halves<TREE_EACH>(totals);
}

/* The blocks of the binary digits of `count`, less than TREE_EACH, onto a prefix. */
template <class SUM> DEVICE SUM add_part_of_leaf(SUM prefix, const SUM *chunks, unsigned count) {
    if ((count & 4) != 0) {
        prefix = combine(prefix, combine(combine(chunks[0], chunks[1]), combine(chunks[2], chunks[3])));
        chunks += 4;
    }
    if ((count & 2) != 0) {
        prefix = combine(prefix, combine(chunks[0], chunks[1]));
        chunks += 2;
    }
    return (count & 1) != 0 ? combine(prefix, chunks[0]) : prefix;
}

/* Adds the blocks of the binary digits of `count`, at most TREE_ROUND, onto a prefix, largest first. A lane goes on
 * adding up with its neighbours as long as the block is no greater than the block of the digit that it is in. All lanes
 * of a warp call it together, and have the result. */
template <class SUM> DEVICE SUM add_tree_round(SUM prefix, const SUM *chunks, unsigned count) {
    const unsigned lane = thread_index() % WARP_LANES, lanes = count / TREE_EACH;
    SUM total = lane < lanes ? add_leaf(chunks + lane * TREE_EACH) : sum_identity<SUM>();
    UNROLL
    for (unsigned level = 0; 1u << level < WARP_LANES; level++) {
        const SUM other = warp_shuffle_xor(WARP_ALL, total, 1u << level);
        if ((lane ^ lanes) >> level > 1)
            total = combine(total, other);
    }
    UNROLL
    for (unsigned half = WARP_LANES; half > 0; half /= 2) {
        const SUM left = warp_shuffle(WARP_ALL, total, lanes & ~(2 * half - 1));
        if ((lanes & half) != 0)
            prefix = combine(prefix, left);
    }
    return add_part_of_leaf(prefix, chunks + lanes * TREE_EACH, count % TREE_EACH);
}

/* add_tree_round() of fewer than MOST_TREE_CHUNKS. */
template <class SUM> DEVICE SUM add_tree(SUM prefix, const SUM *chunks, unsigned count) {
    KEEP_LOOP
    for (; count >= TREE_ROUND; count -= TREE_ROUND, chunks += TREE_ROUND)
        prefix = add_tree_round(prefix, chunks, TREE_ROUND);
    return add_tree_round(prefix, chunks, count);
}

/* The total of a lane's unit in one column: of the tile, or of the tiles that share it. Lane k has row k of the tile's
 * totals. All lanes of a warp call it together. */
template <class SHAPE, unsigned SHARES>
DEVICE typename SHAPE::Sum wave_unit_total(const wave_shared<SHAPE, SHARES> &shared, unsigned share, unsigned column) {
    typename SHAPE::Sum total = shared.totals[thread_index() % WARP_LANES % SHAPE::TOTALS][column];
    UNROLL
    for (unsigned half = 1; half < SHAPE::UNIT_TOTALS; half *= 2)
        total = combine(total, warp_shuffle_xor(WARP_ALL, total, half));
    if constexpr (SHARES > 1) {
        typename SHAPE::Sum totals[SHARES];
        UNROLL
        for (unsigned k = 0; k < SHARES; k++)
            totals[k] = k == share ? total : shared.held.lefts[k][column];
        total = combine_halves<SHARES>(totals);
    }
    return total;
}

/* wave_fold() of floats: a warp takes a column, and its lanes make the prefixes of the tile's units. */
template <class SHAPE, unsigned SHARES>
DEVICE void wave_fold_tree(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state, unsigned row,
                           unsigned panel, wave_shared<SHAPE, SHARES> &shared, const typename SHAPE::Sum *chunks) {
    typedef typename SHAPE::Sum Sum;
    const unsigned lane = thread_index() % WARP_LANES, unit = lane / SHAPE::UNIT_TOTALS;
    const bool has_unit = lane < SHAPE::TOTALS && lane % SHAPE::UNIT_TOTALS == 0;
    const size_t left = pass.rows - static_cast<size_t>(row) * SHAPE::TILE_ROWS;
    const bool is_last = left <= SHAPE::TILE_ROWS;
    KEEP_LOOP
    for (unsigned column = thread_index() / WARP_LANES; column < pass.panel_columns; column += SHAPE::WARPS) {
        const size_t at = static_cast<size_t>(panel) * pass.panel_columns + column;
        if (at >= pass.columns)
            return;
        Sum prefix = add_tree(shared.prefixes[0][column], chunks + column * state.pitch, row / SHARES);
        warp_barrier(WARP_ALL); /* all lanes have read the start row; and the total is made now, for the registers */
        const Sum total = wave_unit_total<SHAPE, SHARES>(shared, row % SHARES, column);
        prefix = prefix_in_warp<SHAPE::UNITS, SHAPE::UNIT_TOTALS>(unit, total, prefix);
        if (has_unit)
            shared.prefixes[unit][column] = prefix;
        if (has_unit && is_last && state.carry_out && unit == (left - 1) / UNIT_ROWS)
            store_carry(state.carry_out, at, combine(prefix, total));
        if (has_unit && !is_last && pass.exclusive && unit == SHAPE::UNITS - 1 && row % SHARES == SHARES - 1)
            state.lasts[row / SHARES * pass.columns + at] = combine(prefix, total);
    }
}

/* The prefix of the chunk in each column, and below the last tile the end row. */
template <class SHAPE, unsigned SHARES>
DEVICE void wave_fold(const tile_pass &pass, const wave_state<typename SHAPE::Sum> &state, unsigned row, unsigned panel,
                      wave_shared<SHAPE, SHARES> &shared, const typename SHAPE::Sum *chunks) {
    typedef typename SHAPE::Sum Sum;
    const wave_lane<SHAPE> lane = wave_lane_of<SHAPE>(pass, panel);
    if (lane.down != 0 || !lane.active)
        return;
    const Sum prefix =
        add_chunks(shared.prefixes[0][lane.in_panel], chunks + lane.in_panel * state.pitch, row / SHARES);
    shared.prefixes[0][lane.in_panel] = prefix;
    if (!state.carry_out || pass.rows - static_cast<size_t>(row) * SHAPE::TILE_ROWS > SHAPE::TILE_ROWS)
        return;
    shared.held.lefts[row % SHARES][lane.in_panel] = total_of_tile<SHAPE>(shared.totals, lane.in_panel);
    store_carry(state.carry_out, lane.column,
                combine(prefix, total_of_warps<SHAPE, SHARES>(shared.held.lefts, 0, lane.in_panel)));
}

#endif
