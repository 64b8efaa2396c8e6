/* The running sums of the rows of a tile (row_tile.cuh), and how they are written. */
#ifndef PERSISTENT_ROW_WRITE_CUH
#define PERSISTENT_ROW_WRITE_CUH

#include "persistent/row_tile.cuh"
#include "tile/store.cuh"

/* Calls add(left) for each total to the left of the strip's rows in the lane's columns, the lowest level first, the
 * prefix of their unit last. */
template <class SHAPE, class ADD> DEVICE void add_lefts(const row_place &place, const row_memory<SHAPE> &memory,
                                                        unsigned strip, unsigned lane, const ADD &add) {
    UNROLL
    for (unsigned half = 1; half < SHAPE::UNIT_STRIPS; half *= 2)
        if (strip & half)
            add(get_columns(memory, lane,
                            memory.totals + ((strip & ~(2 * half - 1)) + half - 1) * memory.across + lane));
    UNROLL
    for (unsigned half = 1, level = 1; half < SHAPE::SHARES; half *= 2, level++)
        if (place.row & half)
            add(get_columns(memory, lane, memory.lefts + level * memory.across + lane));
    const unsigned unit = SHAPE::UNITS > 1 ? strip / SHAPE::UNIT_STRIPS : 0;
    add(get_columns(memory, lane, memory.lefts + unit * memory.across + lane));
}

/* The value above a strip that begins a unit: the inclusive result of the last row of the unit above, which is the
 * strip's prefix only where that unit is a left half. */
template <class SHAPE>
DEVICE void take_end_above(const row_memory<SHAPE> &memory, unsigned lane, row_vector<SHAPE> &before) {
    const unsigned strip = strip_number(memory), unit = strip / SHAPE::UNIT_STRIPS;
    if (strip == 0 || strip % SHAPE::UNIT_STRIPS != 0)
        return;
    before = get_columns(memory, lane, memory.totals + (strip - 1) * memory.across + lane);
    add_to_right(row_vector<SHAPE>(get_columns(memory, lane, memory.lefts + (unit - 1) * memory.across + lane)),
                 before);
}

/* The scan of rows, which are joined in place. */
template <unsigned ROWS, class VECTOR> DEVICE void scan_rows(VECTOR (&sums)[ROWS]) {
    walk_scan<ROWS>([&](unsigned above, unsigned row) { add_to_right(sums[above], sums[row]); });
}

/* The sums of a group of rows in its strip, given the integers of its rows, scanned, and their sum above the group,
 * which becomes the one above the next. */
template <class SHAPE, value_kind KIND, unsigned ROWS> DEVICE void
sums_from_integers(inner_vector<SHAPE> (&integers)[ROWS], inner_vector<SHAPE> &above, row_vector<SHAPE> (&sums)[ROWS]) {
    UNROLL
    for (unsigned row = 0; row < ROWS; row++) {
        add_to_right(above, integers[row]);
        sums[row] = sums_of_strip<SHAPE, KIND>(integers[row]);
    }
    above = integers[ROWS - 1];
}

/* Adds the totals to the left of the group of rows in its strip, the lowest level first. From the first level on of
 * which the group is a left half, its last row is the total to the left of later groups. */
template <unsigned LEVELS, unsigned ROWS, class VECTOR>
DEVICE void add_groups(unsigned group, VECTOR (&totals)[LEVELS + 1], VECTOR (&sums)[ROWS]) {
    bool kept = false;
    UNROLL
    for (unsigned level = 1; level <= LEVELS; level++) {
        const bool right = (group >> (level - 1) & 1) != 0;
        UNROLL
        for (unsigned row = 0; right && row < ROWS; row++)
            add_to_right(totals[level], sums[row]);
        if (!right && !kept)
            totals[level] = sums[ROWS - 1];
        kept = kept || !right;
    }
}

/* Writes the lane's columns of a row of the table, given its first one there. APART, one by one: they begin in the
 * middle of a sector, the rest of which the same warp, or the one of the next piece, writes soon enough
 * (docs/tuning.md#columns-in-lanes). */
template <class SHAPE, class TARGET> DEVICE void store_columns(const row_memory<SHAPE> &memory, unsigned lane,
                                                               const TARGET &first, const row_vector<SHAPE> &sums) {
    if constexpr (!SHAPE::APART) {
        store_results(first, sums);
    } else {
        UNROLL
        for (unsigned c = 0; c < SHAPE::COUNT; c++)
            if (c == 0 || lane + c * WARP_LANES < memory.width)
                store_results(first + c * WARP_LANES, row_unit<SHAPE>{sums.at[c]});
    }
}

/* Writes the lane's sums of all rows of the strip; `exclusive`: each in the row below. RESULT: the kind of the results.
 * WHOLE: all of the rows are in the table. */
template <class SHAPE, value_kind KIND, value_kind RESULT, bool WHOLE>
DEVICE void write_lane(const tile_pass &pass, bool exclusive, const row_place &place, const row_memory<SHAPE> &memory,
                       unsigned lane) {
    typedef typename SHAPE::Sum Sum;
    typedef row_vector<SHAPE> vector;
    constexpr unsigned ROWS = SHAPE::ROWS_AT_ONCE, GROUPS = SHAPE::STRIP_ROWS / ROWS, LEVELS = levels_of(GROUPS);
    const row_input<SHAPE> *from = own_rows(pass, memory) + lane;
    auto to = target_of_kind<RESULT, Sum>(pass.out) +
              (static_cast<ptrdiff_t>(strip_row_of<SHAPE>(place, strip_number(memory))) * pass.out_stride +
               place.column + lane * SHAPE::UNIT);
    const unsigned rows = WHOLE ? SHAPE::STRIP_ROWS : strip_rows_of<SHAPE>(pass, place, strip_number(memory));
    vector before, totals[LEVELS + 1];
    [[maybe_unused]] inner_vector<SHAPE> above = {};
    UNROLL
    for (unsigned c = 0; c < SHAPE::COUNT; c++)
        before.at[c] = sum_identity<Sum>();
    const unsigned own = SHAPE::DENSE ? strip_number(memory) : 0; /* it takes three instructions to be found anew */
    const auto strip = [&] { return SHAPE::DENSE ? own : strip_number(memory); };
    if (exclusive || SHAPE::ADDS_ONCE)
        add_lefts(place, memory, strip(), lane, [&](const vector &left) { add_to_right(left, before); });
    if (SHAPE::UNITS > 2 && exclusive)
        take_end_above(memory, lane, before);
    KEEP_LOOP
    for (unsigned group = 0; group < GROUPS; group++) {
        vector sums[ROWS];
        if constexpr (is_from_integer<typename SHAPE::Input, Sum>()) {
            inner_vector<SHAPE> integers[ROWS];
            UNROLL
            for (unsigned row = 0; row < ROWS; row++, from += pass.row_step)
                integers[row] = get_values<SHAPE, KIND>(memory, lane, from);
            scan_rows(integers);
            sums_from_integers<SHAPE, KIND>(integers, above, sums);
        } else {
            UNROLL
            for (unsigned row = 0; row < ROWS; row++, from += pass.row_step)
                sums[row] = get_columns<SHAPE, KIND>(memory, lane, from);
            scan_rows(sums);
        }
        if constexpr (SHAPE::ADDS_ONCE) {
            UNROLL
            for (unsigned row = 0; row < ROWS; row++)
                add_to_right(before, sums[row]);
        } else {
            if constexpr (!is_from_integer<typename SHAPE::Input, Sum>())
                add_groups<LEVELS>(group, totals, sums);
            add_lefts(place, memory, strip(), lane, [&](const vector &left) {
                UNROLL
                for (unsigned row = 0; row < ROWS; row++)
                    add_to_right(left, sums[row]);
            });
        }
        if (exclusive) {
            UNROLL
            for (unsigned row = 0; row < ROWS; row++, to += pass.out_stride)
                if (WHOLE || group * ROWS + row < rows)
                    store_columns(memory, lane, to, row == 0 ? before : sums[row - 1]);
        } else {
            UNROLL
            for (unsigned row = 0; row < ROWS; row++, to += pass.out_stride)
                if (WHOLE || group * ROWS + row < rows)
                    store_columns(memory, lane, to, sums[row]);
        }
        before = sums[ROWS - 1];
    }
}

template <class SHAPE, value_kind KIND, value_kind RESULT>
DEVICE void write_as(const tile_pass &pass, bool exclusive, const row_place &place, const row_memory<SHAPE> &memory,
                     unsigned lane) {
    if (strip_rows_of<SHAPE>(pass, place, strip_number(memory)) == SHAPE::STRIP_ROWS)
        write_lane<SHAPE, KIND, RESULT, true>(pass, exclusive, place, memory, lane);
    else
        write_lane<SHAPE, KIND, RESULT, false>(pass, exclusive, place, memory, lane);
}

/* By all strips, each its own rows. Small floats become f32, or small floats of their own kind. */
template <class SHAPE>
DEVICE void write_rows(const tile_pass &pass, bool exclusive, const row_place &place, const row_memory<SHAPE> &memory) {
    const unsigned lane = strip_lane(memory);
    if (!has_columns(pass, place, memory))
        return;
    with_row_kind<SHAPE>(pass, [&](auto kind) {
        constexpr value_kind KIND = decltype(kind)::value;
        if (SHAPE::LOOSE && pass.result != value_kind::PLAIN)
            write_as<SHAPE, KIND, SHAPE::LOOSE ? KIND : value_kind::PLAIN>(pass, exclusive, place, memory, lane);
        else
            write_as<SHAPE, KIND, value_kind::PLAIN>(pass, exclusive, place, memory, lane);
    });
}

#endif
