/* How tiles of rows publish and wait: descriptors of a ring. */
#ifndef PERSISTENT_DESCRIPTORS_PER_ROW_TILE_CUH
#define PERSISTENT_DESCRIPTORS_PER_ROW_TILE_CUH

#include "persistent/descriptors/descriptor_ring.cuh"
#include "persistent/row_tile.cuh"

template <class SHAPE> DEVICE row_slot slot_of(const ring_state<typename SHAPE::Sum> &state, const row_place &place) {
    return row_slot_of(state.ring, place.row / SHAPE::SHARES);
}
template <class SHAPE>
DEVICE tile_descriptor<typename SHAPE::Sum> *total_descriptor(const tile_pass &pass,
                                                              const ring_state<typename SHAPE::Sum> &state,
                                                              const row_slot &slot, unsigned share, size_t column) {
    return state.totals + (static_cast<size_t>(slot.number) * SHAPE::SHARES + share) * pass.columns + column;
}

/* The tile's totals and magnitude. Thread c has column c of the panel. */
template <class SHAPE> DEVICE void publish_rows(const tile_pass &pass, const ring_state<typename SHAPE::Sum> &state,
                                                const row_place &place, const row_memory<SHAPE> &memory,
                                                const row_block<SHAPE> &block) {
    const unsigned thread = thread_index_anew();
    const row_slot slot = slot_of<SHAPE>(state, place);
    if (thread < units_of<SHAPE>(pass, place) * SHAPE::UNIT)
        publish_kept(total_descriptor<SHAPE>(pass, state, slot, place.row % SHAPE::SHARES, place.column + thread),
                     total_of_rows<SHAPE>(memory, thread), slot.status);
    if (!looks_at_values<SHAPE>() || !state.magnitudes || thread / WARP_LANES != SHAPE::WARPS - 1)
        return;
    const uint32_t magnitude = warp_or(WARP_ALL, block.magnitudes[thread % SHAPE::STRIPS]);
    if (thread % WARP_LANES == 0 && magnitude != 0)
        atomic_or(&state.magnitudes[place.row / SHAPE::SHARES], magnitude);
}

/* The descriptors that a thread looks for. Number 0: the chunk's prefix. Numbers h to 2h - 1: totals of the h tiles of
 * a left half, if this tile is in its right half. */
template <class SHAPE> struct row_looks {
    typename SHAPE::Sum value[SHAPE::SHARES];
    unsigned missing;
};
template <class SHAPE> DEVICE void begin_looks(const row_place &place, row_looks<SHAPE> &looks) {
    looks.missing = 1;
    looks.value[0] = sum_identity<typename SHAPE::Sum>();
    UNROLL
    for (unsigned half = 1; half < SHAPE::SHARES; half *= 2)
        if (place.row & half)
            looks.missing |= ((1u << half) - 1) << half;
}

/* One look at all that is missing. */
template <class SHAPE> DEVICE void look_for_lefts(const tile_pass &pass, const ring_state<typename SHAPE::Sum> &state,
                                                  const row_place &place, const row_slot &slot, size_t column,
                                                  row_looks<SHAPE> &looks) {
    const unsigned share = place.row % SHAPE::SHARES;
    uint32_t status[SHAPE::SHARES] = {};
    if (looks.missing & 1)
        status[0] =
            look_kept(state.prefixes + static_cast<size_t>(slot.number) * pass.columns + column, &looks.value[0]);
    UNROLL
    for (unsigned half = 1; half < SHAPE::SHARES; half *= 2)
        UNROLL
    for (unsigned k = 0; k < half; k++)
        if (looks.missing >> (half + k) & 1)
            status[half + k] =
                look_kept(total_descriptor<SHAPE>(pass, state, slot, (share & ~(2 * half - 1)) + k, column),
                          &looks.value[half + k]);
    UNROLL
    for (unsigned k = 0; k < SHAPE::SHARES; k++)
        looks.missing &= status[k] == slot.status ? ~(1u << k) : ~0u;
}

/* The total of a unit of the tile in a column, as total_of_rows() left it. */
template <class SHAPE>
DEVICE typename SHAPE::Sum row_unit_total(const row_memory<SHAPE> &memory, unsigned column, unsigned unit) {
    const typename SHAPE::Sum *const totals = reinterpret_cast<const typename SHAPE::Sum *>(memory.totals) + column;
    return totals[((unit + 1) * SHAPE::UNIT_STRIPS - 1) * memory.across * SHAPE::UNIT];
}

/* The prefixes of all units of a tile but the first, whose prefix is the tile's, as tree_prefixes() makes them, but
 * each is stored at once. By the thread that has made the column's totals. */
template <class SHAPE>
DEVICE void make_row_unit_prefixes(const row_memory<SHAPE> &memory, unsigned column, typename SHAPE::Sum prefix) {
    typedef typename SHAPE::Sum Sum;
    Sum prefixes[SHAPE::UNITS], blocks[SHAPE::UNITS];
    UNROLL
    for (unsigned unit = 0; unit < SHAPE::UNITS; unit++)
        blocks[unit] = row_unit_total<SHAPE>(memory, column, unit);
    tree_totals<SHAPE::UNITS>(blocks);
    prefixes[0] = prefix;
    UNROLL
    for (unsigned unit = 1; unit < SHAPE::UNITS; unit++) {
        prefixes[unit] = combine(prefixes[unit & (unit - 1)], blocks[unit - 1]);
        (reinterpret_cast<Sum *>(memory.lefts) + column)[unit * memory.across * SHAPE::UNIT] = prefixes[unit];
    }
}

/* Waits for all that is to the left of the tile, and puts it into shared memory. */
template <class SHAPE> DEVICE void wait_for_lefts(const tile_pass &pass, const ring_state<typename SHAPE::Sum> &state,
                                                  const row_place &place, const row_memory<SHAPE> &memory) {
    typedef typename SHAPE::Sum Sum;
    const unsigned thread = thread_index_anew();
    if (thread >= units_of<SHAPE>(pass, place) * SHAPE::UNIT)
        return;
    const row_slot slot = slot_of<SHAPE>(state, place);
    row_looks<SHAPE> looks;
    begin_looks<SHAPE>(place, looks);
    while (looks.missing != 0)
        look_for_lefts<SHAPE>(pass, state, place, slot, place.column + thread, looks);
    Sum *const lefts = reinterpret_cast<Sum *>(memory.lefts) + thread;
    lefts[0] = looks.value[0];
    if constexpr (SHAPE::UNITS > 1)
        make_row_unit_prefixes<SHAPE>(memory, thread, looks.value[0]);
    if (place.row % SHAPE::SHARES == 0)
        keep_prefix(state, place.row / SHAPE::SHARES, place.column + thread, pass.columns, looks.value[0]);
    UNROLL
    for (unsigned half = 1, level = 1; half < SHAPE::SHARES; half *= 2, level++) {
        UNROLL
        for (unsigned step = 1; step < half; step *= 2)
            UNROLL
        for (unsigned k = half; k < 2 * half; k += 2 * step)
            looks.value[k] = looks.value[k] + looks.value[k + step];
        if (place.row & half)
            lefts[level * memory.across * SHAPE::UNIT] = looks.value[half];
    }
}

/* Leaves the sums of a tile's last row, which are no prefix where floats are added: the table's last tile carries them
 * out, and the last tile of a chunk leaves them as the values above the chunk below, if the pass is exclusive. All
 * threads call it, when everything to the left of the tile is there. */
template <class SHAPE> DEVICE void leave_last_row(const tile_pass &pass, const ring_state<typename SHAPE::Sum> &state,
                                                  bool exclusive, const row_place &place,
                                                  const row_memory<SHAPE> &memory) {
    typedef typename SHAPE::Sum Sum;
    const bool stands_above = exclusive && (place.row + 1) % SHAPE::SHARES == 0;
    const size_t left = pass.rows - static_cast<size_t>(place.row) * SHAPE::TILE_ROWS;
    const bool ends = left <= SHAPE::TILE_ROWS;
    const unsigned unit = SHAPE::UNITS > 1 && ends ? static_cast<unsigned>(left - 1) / UNIT_ROWS : SHAPE::UNITS - 1;
    const unsigned thread = thread_index_anew(), across = memory.across * SHAPE::UNIT;
    if ((!stands_above && !ends) || thread >= units_of<SHAPE>(pass, place) * SHAPE::UNIT)
        return;
    const Sum *const lefts = reinterpret_cast<const Sum *>(memory.lefts) + thread;
    Sum sum = row_unit_total<SHAPE>(memory, thread, unit);
    UNROLL
    for (unsigned half = 1, level = 1; half < SHAPE::SHARES; half *= 2, level++)
        if (place.row & half)
            sum = combine(lefts[level * across], sum);
    sum = combine(lefts[unit * across], sum);
    if (stands_above)
        state.lasts[static_cast<size_t>(place.row / SHAPE::SHARES) * pass.columns + place.column + thread] = sum;
    if (ends)
        store_carry(state.carry_out, place.column + thread, sum);
}

#endif
