/* The one kernel of the algorithms whose tiles wait for their prefixes in registers: a block a tile. Each value is read
 * once and written once. A block goes through these stages:
 *
 * - load: the tile is read into registers.
 * - scan: each warp scans its rows, and puts its total into shared memory.
 * - publish: the block has met, and the tile's totals are complete.
 * - prefix: the warps add the sums above them in the tile, and the sums above the tile arrive.
 * - finish: the prefix is added, and the results are written.
 * - check: if a sum may have left its type, the results are read once more.
 *
 * A policy says where the prefix comes from. It is a resident_block with these parts, which the kernel calls in this
 * order; all threads of a block call each of them, and each may use `shared` as the parts before have left it:
 *
 * - begin(place) begins loads that can be under way while the tile is read.
 * - put(place) puts the values of begin() into shared memory; all loads of the tile are under way.
 * - publish(place) is called when the block has met, and shared.totals is complete.
 * - prefix(place, values) fills shared.prefixes, and adds to the values the sums above the tile in its chunk or unit.
 * - above(place, before) adds to a sum of rows the sums that prefix() added to the values, for exclusive results.
 * - lane_prefix(place, unit, prefix) gives finish_tile() the prefix of a unit of the tile, above_unit(place, before)
 *   the value above a unit for exclusive results of floats; leave_last_row(place) is called before they are finished.
 * - base(c) is the sum of all rows above the tile in column c of the panel, prefix included.
 *
 * A policy also has constants: BLOCKS, how many of its blocks a multiprocessor has room for; SKIPS, whether warps
 * without rows do nothing; PUBLISHES_FIRST, whether totals are made and published before the tile is scanned;
 * KEEPS_PREFIX, whether a lane keeps its prefix in registers (finish_tile()); EITHER, whether there is one kernel for
 * both kinds of results.
 *
 * Exclusive and inclusive passes are one kernel: the choice is a branch around finish_tile() that all threads take
 * together. The sum above a warp, which exclusive results alone need, is made again after that branch, so that it is
 * not kept in registers. */
#ifndef RESIDENT_RESIDENT_PASS_CUH
#define RESIDENT_RESIDENT_PASS_CUH

#include "overflow/in_tile.cuh"
#include "resident/run_resident.cuh"
#include "tile/finish.cuh"

/* Whether small tables of this number of columns may take a little longer. */
template <class SHAPE> HOST_DEVICE constexpr bool is_rare() { return SHAPE::PANEL != 1 && SHAPE::PANEL != FEW_COLUMNS; }

/* A block's shared memory. HELD is the policy's own part. */
template <class SHAPE, class HELD> struct resident_shared {
    warp_rows<SHAPE> totals;
    warp_row<SHAPE> prefixes[SHAPE::UNITS];
    tile_magnitude magnitudes;
    HELD held;
};

/* A policy that keeps nothing of its own in shared memory. */
struct holds_nothing {};

/* The base of a policy, with the default of each part. STATE is an argument of the kernel. */
template <class SHAPE, class STATE, class HELD = holds_nothing> struct resident_block {
    typedef typename SHAPE::Sum Sum;
    typedef STATE State;
    typedef HELD Held;
    static constexpr unsigned BLOCKS = 2;
    static constexpr bool SKIPS = false, PUBLISHES_FIRST = false, EITHER = false, KEEPS_PREFIX = false;

    const tile_pass &pass;
    const State &state;
    resident_shared<SHAPE, Held> &shared;
    unsigned char *memory;     /* the dynamic part of shared memory, which finish_tile() overwrites */
    const unsigned row, panel; /* of the block's tile */

    DEVICE void begin(const tile_place &) {}
    DEVICE void put(const tile_place &) {}
    DEVICE void publish(const tile_place &) {}
    DEVICE void prefix(const tile_place &, tile_values<SHAPE> &) {}
    DEVICE void above(const tile_place &, Sum (&)[SHAPE::COLUMNS]) {}
    DEVICE Sum base(unsigned c) const { return shared.prefixes[0][c]; }

    DEVICE void lane_prefix(const tile_place &place, unsigned unit, Sum (&prefix)[SHAPE::COLUMNS]) const {
        ::lane_prefix<SHAPE>(place, shared.prefixes[unit], prefix);
    }
    DEVICE void above_unit(const tile_place &place, Sum (&before)[SHAPE::COLUMNS]) const {
        if constexpr (SHAPE::UNITS > 1) {
            const unsigned unit = unit_of_step<SHAPE>(0);
            if (unit == 0 || !begins_unit<SHAPE>(place))
                return;
            UNROLL
            for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
                before[c] = end_of_unit(unit - 1, place.across * SHAPE::COLUMNS + c);
        }
    }
    DEVICE void leave_last_row(const tile_place &) {}
    /* The sum below the last row of a unit: the inclusive result of that row. */
    DEVICE Sum end_of_unit(unsigned unit, unsigned column) const {
        return combine(shared.prefixes[unit][column], total_of_unit<SHAPE>(shared.totals, unit, column));
    }

    /* Where the calling lane is. */
    DEVICE tile_place place() const { return tile_place_at<SHAPE>(pass, row, panel); }

    /* Thread c has column c of the panel. False: it has none. */
    DEVICE bool column_of_thread(size_t &column) const {
        column = static_cast<size_t>(panel) * pass.panel_columns + thread_index();
        return thread_index() < SHAPE::PANEL && thread_index() < pass.panel_columns && column < pass.columns;
    }
    /* The value of a row of prefixes in the thread's column. */
    DEVICE Sum value_of_row(const Sum *row) const {
        size_t column;
        return column_of_thread(column) ? row[column] : sum_identity<Sum>();
    }
};

/* The totals of a warp that has no rows. */
template <class SHAPE>
DEVICE void put_nothing(const tile_place &place, warp_rows<SHAPE> &totals, tile_magnitude &magnitudes) {
    const unsigned warp = thread_index() / WARP_LANES;
    if (thread_index() % WARP_LANES == 0)
        magnitudes[warp] = 0;
    UNROLL
    for (unsigned unit = 0; unit < SHAPE::WARP_UNITS; unit++)
        UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS && place.part == 0 && place.phase == 0; c++)
        totals[warp * SHAPE::WARP_UNITS + unit][place.across * SHAPE::COLUMNS + c] =
            sum_identity<typename SHAPE::Sum>();
}

/* The totals of a warp. FIRST: they are made of a copy of its values; if not, the values are scanned on the way. */
template <class SHAPE, bool FIRST>
DEVICE void put_totals(const tile_place &place, tile_values<SHAPE> &values, warp_rows<SHAPE> &totals) {
    if constexpr (FIRST) {
        tile_values<SHAPE> copy;
        UNROLL
        for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k++)
            value_of<SHAPE>(copy, k) = value_of<SHAPE>(values, k);
        make_totals<SHAPE>(place, copy, totals);
    } else {
        scan_warp<SHAPE>(place, values);
        put_warp_totals<SHAPE>(place, values, totals);
    }
}

/* From the table to the running sums of the tile, with its prefixes in shared memory. */
template <class SHAPE, class PREFIX> DEVICE void resident_begin(PREFIX &from, bool works, tile_values<SHAPE> &values) {
    typename SHAPE::Sum before[SHAPE::COLUMNS];
    const tile_place place = from.place();
    from.begin(place);
    if (works)
        tile_load<SHAPE>(from.pass, place, values);
    loads_before_sums(place.end == 0);
    from.put(place);
    if (works) {
        if (PREFIX::SKIPS)
            warp_barrier(
                WARP_ALL); /* shows the compiler that all lanes are here: shuffles take half the instructions */
        tile_convert<SHAPE>(from.pass, values);
        put_magnitude<SHAPE>(from.pass, from.pass.first_overflow, values, from.shared.magnitudes);
        put_totals<SHAPE, PREFIX::PUBLISHES_FIRST>(place, values, from.shared.totals);
    } else {
        put_nothing<SHAPE>(place, from.shared.totals, from.shared.magnitudes);
    }
    block_barrier();
    from.publish(place);
    if (PREFIX::PUBLISHES_FIRST) {
        warp_barrier(WARP_ALL); /* or else the lanes that publish and the others run apart, shuffle by shuffle */
        scan_warp<SHAPE>(place, values);
    }
    if (works)
        scan_warps<SHAPE>(place, from.shared.totals, values, before);
    from.prefix(place, values);
}

/* From the running sums of the tile to its results. */
template <class SHAPE, bool ABOVE, class PREFIX> DEVICE void resident_finish(PREFIX &from, tile_values<SHAPE> &values) {
    typename SHAPE::Sum before[SHAPE::COLUMNS];
    const tile_place place = from.place();
    tile_staging<SHAPE> &staging = *reinterpret_cast<tile_staging<SHAPE> *>(from.memory);
    if (ABOVE) {
        warps_before<SHAPE>(place, from.shared.totals, before);
        from.above(place, before);
        from.leave_last_row(place);
    }
    finish_tile<SHAPE, ABOVE>(from.pass, place, staging, from, values, before);
}

template <class SHAPE, class PREFIX, results RESULTS> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, PREFIX::BLOCKS)
    resident_kernel(tile_pass pass, typename PREFIX::State state) {
    typedef resident_shared<SHAPE, typename PREFIX::Held> shared_type;
    SHARED_ARRAY(shared_type, shared, 1);
    SHARED_DYNAMIC(unsigned char, memory);
    const unsigned row = tile_row_of(pass, block_index());
    PREFIX from = {{pass, state, shared[0], memory, row, block_index() - row * pass.panels}};
    tile_values<SHAPE> values;
    const unsigned end = from.place().end;
    const bool works = !PREFIX::SKIPS || thread_index() / WARP_LANES * SHAPE::WARP_ROWS < end;
    resident_begin<SHAPE>(from, works, values);
    if (works) {
        if (makes_exclusive<RESULTS>(pass))
            resident_finish<SHAPE, true>(from, values);
        else
            resident_finish<SHAPE, false>(from, values);
    }
    check_tile<SHAPE>(
        pass, block_index(), shared[0].magnitudes, [&](unsigned c) { return from.base(c); },
        [&](unsigned c) { return total_of_tile<SHAPE>(shared[0].totals, c); });
}

/* The kernel for a pass. Floats are added a level of the tree at a time, which leaves no register for a branch where
 * a multiprocessor has two blocks: so they have a kernel for each kind of results there, but where f32 becomes f64 in
 * few lanes. So have integers of 1 and of 4 columns that are as wide as their sums, where it is worth 0.1 to 0.3 us of
 * a small table. Widened integers, and values of ANY type, have one for both. */
template <class SHAPE, class PREFIX> static auto resident_kernel_for(const tile_pass &pass) {
    if constexpr (SHAPE::ANY || PREFIX::EITHER || (SHAPE::WIDENED && (SHAPE::ADDS_ONCE || SHAPE::LANES <= 4)))
        return resident_kernel<SHAPE, PREFIX, results::EITHER>;
    else
        return pass.exclusive ? resident_kernel<SHAPE, PREFIX, results::EXCLUSIVE>
                              : resident_kernel<SHAPE, PREFIX, results::INCLUSIVE>;
}

/* Dynamic shared memory that a block needs at least, for finish_tile(). */
template <class SHAPE> constexpr size_t staging_bytes() { return sizeof(tile_staging<SHAPE>); }

#endif
