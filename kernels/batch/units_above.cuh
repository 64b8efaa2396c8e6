/* The prefix of a unit, or of a block of a power of two of them, that is added after all units above it. */
#ifndef BATCH_UNITS_ABOVE_CUH
#define BATCH_UNITS_ABOVE_CUH

#include "continued/unit_column.cuh"

/* The totals of blocks of units that stand above: a binary counter. Of integers, the sum so far will do. */
template <class SUM, bool IN_ANY_ORDER = may_reorder<SUM>()> struct units_above {
    SUM prefix;
    DEVICE explicit units_above(SUM start) : prefix(start) {}
    DEVICE void add(SUM, SUM last) { prefix = last; }
};
template <class SUM> struct units_above<SUM, false> {
    static constexpr unsigned LEVELS = 32; /* 2^41 rows are more than a device's memory holds */
    SUM prefix, start, totals[LEVELS];
    unsigned count = 0;
    DEVICE explicit units_above(SUM start) : prefix(start), start(start) {}
    DEVICE void add(SUM total, SUM) {
        const unsigned level = push_total(count, totals, total);
        count++;
        prefix = start;
        each_digit_down(count, bit_width(count), level, [&](unsigned k) { prefix = combine(prefix, totals[k]); });
    }
};

/* Scans the rows of a group of lanes that has a column. Of integers the sum to the left of a lane is added to the
 * prefix instead. */
template <class SUM, unsigned EACH> DEVICE void sum_column(SUM (&rows)[EACH], unsigned lanes, SUM &prefix) {
    if constexpr (may_reorder<SUM>()) {
        const unsigned lane = thread_index() % WARP_LANES;
        scan_in_lane(rows);
        SUM all = rows[EACH - 1];
        UNROLL
        for (unsigned apart = 1; apart < lanes; apart *= 2) {
            const SUM left = warp_shuffle_up(WARP_ALL, all, apart);
            all = combine((lane & (lanes - 1)) >= apart ? left : SUM(0), all);
        }
        prefix = combine(prefix, take_away(all, rows[EACH - 1]));
    } else {
        scan_lanes(rows, lanes);
    }
}

/* The total of a block of COUNT neighbours, given theirs, PITCH apart. */
template <unsigned COUNT, unsigned PITCH, class SUM> DEVICE SUM block_total(const SUM *totals) {
    if constexpr (COUNT == 1)
        return totals[0];
    else
        return combine(block_total<COUNT / 2, PITCH>(totals),
                       block_total<COUNT / 2, PITCH>(totals + COUNT / 2 * PITCH));
}

#endif
