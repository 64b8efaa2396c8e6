/* A pass of maps over segments: recurrences and products of floats (operators/operator_ops.cuh). Its tables, and what
 * units of a segment need of those before them.
 *
 * The table of totals has a row for each unit of a segment that another unit of it follows: a **passed** unit. The row
 * has the map of the longest aligned block of units that ends with it, of 2^k units where 2^k is the greatest power of
 * two that divides the unit's number, counted from 1. So the prefix of a unit is made of one row for each binary digit
 * of its number: a Fenwick tree, whose **blocks** operators/runs.cuh calls runs. A run of segments is 16 rows or 8. */
#ifndef SEGMENTS_MAP_PASS_CUH
#define SEGMENTS_MAP_PASS_CUH

#include "operators/operator_launch.cuh"
#include "segments/segment_carries.cuh"
#include "segments/segment_list.cuh"

constexpr unsigned MAP_ACROSS_BYTES = 64, MAP_WINDOW = 4096, MAP_WALKED = 16; /* units of a segment of one column */
constexpr size_t MAP_TILES = 2;                                               /* for each warp */
/* A lane has the rows of a run in registers: 16 of f32, unless segments are short, and otherwise 8. What was measured
 * of this and of the numbers above: docs/lab/2026-11-30.md#recurrences-of-segments-on-a-gpu */
constexpr unsigned LONG_MAP_RUN_BITS = 4, SHORT_MAP_RUN_BITS = 3, LEAST_MAP_ROWS = 16; /* of segments on average */

/* Windows of rows. There is one for segments of no rows, too. */
HOST_DEVICE unsigned map_windows(uint64_t rows, unsigned window) {
    return rows == 0 ? 1 : static_cast<unsigned>((rows - 1) / window) + 1;
}

/* Cells of a table, as a pass reads or writes them. */
struct map_cells {
    unsigned char *data;
    ptrdiff_t row_bytes, column_bytes; /* from one to the next; 0 where all are the same */
    ptrdiff_t step_bytes;              /* from a cell that a lane reads to the next one */
    any_type any;
    bool is_direct; /* values as they are kept, and a step has 32 bits */
    bool is_small;  /* f16 or bf16, and a step has 32 bits */
    bool shifted, skips_nan;
};

struct map_pass {
    segment_where where;
    const uint32_t *owners;
    size_t unit_rows; /* of the table of units (segment_plan.cuh) */
    size_t columns;
    map_cells terms, factors, out; /* of products the factors are the values */
    const void *carry_in;
    void *carry_out;
    void *totals, *lasts; /* of passed units; lasts: their last results, of long segments and exclusive results */
    uint64_t most_walked; /* a segment of more rows is long: its totals are made before its results */
    unsigned window, panels, log_across, gap_shift, gap;
    bool exclusive, is_product;
};

/* A unit of a segment. */
struct map_unit {
    segment_range range; /* of its segment */
    uint64_t number, place;
    bool is_there; /* it is passed, and its segment is long */
};

template <class OPS> struct map_column {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef typename OPS::Stored Stored;
    const map_pass &pass;
    size_t column;

    DEVICE Stored *total_at(uint64_t place) const {
        return static_cast<Stored *>(pass.totals) + place * pass.columns + column;
    }
    DEVICE Value *last_at(uint64_t place) const {
        return static_cast<Value *>(pass.lasts) + place * pass.columns + column;
    }
    DEVICE size_t row_of_segment(uint64_t segment) const {
        return pass.where.number_of(segment) * pass.columns + column;
    }
    DEVICE Value start_of(uint64_t segment) const {
        return pass.carry_in ? load_vector(static_cast<const Value *>(pass.carry_in) + row_of_segment(segment))
                             : OPS::start(pass.is_product ? MAP_PRODUCT : MAP_CAREFUL);
    }
    DEVICE void put_end(uint64_t segment, Value value) const {
        store_vector(static_cast<Value *>(pass.carry_out) + row_of_segment(segment), value);
    }

    DEVICE void put_result(uint64_t row, Value value) const {
        put_cell(pass.out.data + static_cast<ptrdiff_t>(row) * pass.out.row_bytes +
                     static_cast<ptrdiff_t>(column) * pass.out.column_bytes,
                 value, pass.out.any);
    }

    /* Puts the total of a passed unit, given its place; of a segment whose units come one after the other, joined with
     * the blocks that end before it. */
    template <int RULE> DEVICE void put_total(uint64_t number, uint64_t place, Element total, bool is_joined) const {
        total = OPS::template settle<RULE>(total);
        KEEP_LOOP
        for (unsigned level = 0; is_joined && (number >> level & 1) != 0; level++)
            total = join_settled<OPS, RULE>()(OPS::read(total_at(place - (uint64_t(1) << level))), total);
        OPS::write(total_at(place), total);
    }
    /* What a unit of a segment begins with; `first` is the place of the segment's first one. Rows are read four at a
     * time. */
    template <int RULE> DEVICE Value prefix_of(uint64_t first, uint64_t number, Value start) const {
        constexpr unsigned AT_ONCE = 4;
        uint64_t left = number, above = 0;
        KEEP_LOOP
        while (left != 0) {
            Element blocks[AT_ONCE];
            UNROLL
            for (unsigned k = 0; k < AT_ONCE; k++) {
                blocks[k] = OPS::template identity<RULE>();
                if (left == 0)
                    continue;
                const unsigned high = static_cast<unsigned>(left >> 32);
                const unsigned digit = high != 0 ? 31 + bit_width(high) : bit_width(static_cast<unsigned>(left)) - 1;
                above |= uint64_t(1) << digit;
                left ^= uint64_t(1) << digit;
                blocks[k] = OPS::read(total_at(first + above - 1));
            }
            UNROLL
            for (unsigned k = 0; k < AT_ONCE; k++)
                start = OPS::template apply<RULE>(blocks[k], start);
        }
        return start;
    }
};

/* The passed unit of a long segment at a place. */
DEVICE map_unit unit_at(const map_pass &pass, uint64_t place) {
    map_unit unit = {};
    if (place >= pass.unit_rows)
        return unit;
    unit.range = pass.where.range(load_vector(pass.owners + place));
    const uint64_t first = unit.range.begin >> UNIT_BITS;
    unit.place = place;
    unit.number = place - first;
    unit.is_there =
        first <= place && unit.range.rows > (unit.number + 1) << UNIT_BITS && unit.range.rows > pass.most_walked;
    return unit;
}

#endif
