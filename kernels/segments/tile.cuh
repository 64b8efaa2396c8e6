/* A tile of a table that is cut into segments: units that begin in a window of its rows, by some columns.
 *
 * A window has tile_rows rows, and a tile UNIT_ROWS more, so that each unit that begins in the window is in the tile
 * whole. No unit is in two tiles, and rows are read once, however short or long segments are. A thread has RUN_ROWS
 * rows of one column, and takes the runs that begin there: aligned runs of at most RUN_ROWS rows of a unit, counted
 * from the unit's first row. Runs that begin in a thread's rows begin a unit, all but the first one.
 *
 * The two bits of a row say whether a unit or a gap begins there; and whether it is marked, which each kernel means in
 * its own way. */
#ifndef SEGMENTS_TILE_CUH
#define SEGMENTS_TILE_CUH

#include "operators/cells.cuh"
#include "segments/plan.cuh"

constexpr unsigned RUN_BITS = 5, UNIT_RUN_BITS = UNIT_BITS - RUN_BITS, WORD_ROWS = 32, TWO_RUNS = 2 * RUN_ROWS;
static_assert(1u << RUN_BITS == RUN_ROWS, "a run is a power of two of rows");

enum class segment_role : uint8_t {
    TOTALS, /* marked are units that are followed by rows of the segment; above level 0 all units */
    RESULTS /* marked are rows where segments begin, or the last one ends */
};

/* What a block has in shared memory. */
struct segment_bits {
    uint32_t *units, *marks;
    uint32_t *segments; /* of a row that begins a unit: its segment, counted from the tile's first one */
    uint32_t *bounds;   /* the first row of the window that begins a unit, and the last one, as its complement */
};
template <class VALUE> struct segment_memory : segment_bits {
    VALUE *cells;
    DEVICE segment_memory(const segment_pass &pass, unsigned char *memory) {
        const unsigned rows = pass.tile_rows + UNIT_ROWS;
        cells = reinterpret_cast<VALUE *>(memory);
        units = reinterpret_cast<uint32_t *>(cells + cell_at(rows, 0, pass.cells.log_across));
        marks = units + rows / WORD_ROWS;
        bounds = marks + rows / WORD_ROWS;
        segments = bounds + 2;
    }
};

/* Joins a row, or a run, to what stands above it in its block: number q of 2^LEVELS. left[k] is the total of the last
 * whole block of 2^k. `aligned` is that of the longest aligned block that ends with q. */
template <class OPS, unsigned LEVELS> DEVICE typename OPS::Value
climb(unsigned q, typename OPS::Value value, typename OPS::Value (&left)[LEVELS], typename OPS::Value &aligned) {
    bool is_end = true;
    UNROLL
    for (unsigned k = 0; k < LEVELS; k++) {
        if (is_end)
            aligned = value;
        if (q >> k & 1) {
            value = OPS::join(left[k], value);
        } else {
            left[k] = is_end ? value : left[k];
            is_end = false;
        }
    }
    aligned = is_end ? value : aligned;
    return value;
}

template <class OPS, segment_role ROLE> struct segment_tile {
    typedef typename OPS::Value Value;
    const segment_pass &pass;
    const segment_memory<Value> memory;
    uint64_t first_segment;
    operator_place place;    /* of the rows that are taken */
    unsigned begin;          /* the window's row that is the place's first one */
    unsigned column, window; /* of the thread: its column, and the first of its rows */
    bool is_active;
    Value blocks[UNIT_RUN_BITS]; /* totals of the blocks of runs above the thread's first run */

    DEVICE segment_tile(const segment_pass &pass_, unsigned char *bytes) : pass(pass_), memory(pass_, bytes) {
        const unsigned tile = block_index() / pass.panels, panel = block_index() - tile * pass.panels;
        const size_t across = size_t(1) << pass.cells.log_across;
        place = operator_place{};
        place.first_row = static_cast<size_t>(tile) * pass.tile_rows;
        place.first_column = static_cast<size_t>(panel) * across;
        const size_t columns = pass.cells.columns - place.first_column;
        place.columns = static_cast<unsigned>(columns < across ? columns : across);
        first_segment = load_vector(pass.firsts + tile);
        column = thread_index() & ((1u << pass.cells.log_across) - 1);
        window = (thread_index() >> pass.cells.log_across) * RUN_ROWS;
        begin = 0;
        is_active = false;
        UNROLL
        for (unsigned k = 0; k < UNIT_RUN_BITS; k++)
            blocks[k] = OPS::nothing();
    }

    static DEVICE bool bit_of(const uint32_t *bits, unsigned row) {
        return (bits[row / WORD_ROWS] >> row % WORD_ROWS & 1) != 0;
    }
    static DEVICE void set_bit(uint32_t *bits, unsigned row) {
        atomic_or(&bits[row / WORD_ROWS], 1u << row % WORD_ROWS);
    }

    /* Sets the bits of a segment's units, and widens the bounds to those that begin in the window. */
    DEVICE void set_units(const segment_range &range, uint64_t segment, unsigned &first,
                          unsigned &last_inverted) const {
        const uint64_t top = place.first_row, bottom = top + pass.tile_rows + UNIT_ROWS, end = range.end();
        const uint64_t units = top > range.begin ? (top - range.begin + UNIT_ROWS - 1) / UNIT_ROWS : 0;
        KEEP_LOOP
        for (uint64_t row = range.begin + units * UNIT_ROWS; row < end && row < bottom; row += UNIT_ROWS) {
            const unsigned at = static_cast<unsigned>(row - top);
            const bool is_wanted = ROLE == segment_role::RESULTS || pass.level > 0 || row + UNIT_ROWS < end;
            set_bit(memory.units, at);
            if (ROLE == segment_role::RESULTS ? row == range.begin : is_wanted)
                set_bit(memory.marks, at);
            if (pass.wants_segments)
                memory.segments[at] = static_cast<uint32_t>(segment - first_segment);
            if (is_wanted && at < pass.tile_rows) {
                first = at < first ? at : first;
                last_inverted = ~at < last_inverted ? ~at : last_inverted;
            }
        }
        if (end >= top && end < bottom) {
            set_bit(memory.units, static_cast<unsigned>(end - top));
            if (ROLE == segment_role::RESULTS)
                set_bit(memory.marks, static_cast<unsigned>(end - top));
        }
    }

    /* Finds the units of the tile. False: there are none. */
    DEVICE bool find_units() {
        const uint64_t count = pass.where.count(), bottom = place.first_row + pass.tile_rows + UNIT_ROWS;
        const unsigned words = (pass.tile_rows + UNIT_ROWS) / WORD_ROWS;
        unsigned bounds[2] = {~0u, ~0u};
        for (unsigned word = thread_index(); word < 2 * words + 2; word += block_threads())
            memory.units[word] = word < 2 * words ? 0 : ~0u;
        block_barrier();
        KEEP_LOOP
        for (uint64_t segment = first_segment + thread_index(); segment < count; segment += block_threads()) {
            const segment_range range = pass.where.range(segment, pass.level);
            if (range.begin >= bottom)
                break;
            if (range.rows > 0)
                set_units(range, segment, bounds[0], bounds[1]);
        }
        UNROLL
        for (unsigned which = 0; which < 2; which++)
            if (bounds[which] != ~0u)
                atomic_min(&memory.bounds[which], bounds[which]);
        block_barrier();
        if (memory.bounds[0] == ~0u)
            return false;
        take_rows(memory.bounds[0], ~memory.bounds[1]);
        return true;
    }

    /* The rows of the units that begin from `first` to `last`. */
    DEVICE void take_rows(unsigned first, unsigned last) {
        unsigned end = last + 1;
        while (end < last + UNIT_ROWS && !bit_of(memory.units, end))
            end = end % WORD_ROWS == 0 && memory.units[end / WORD_ROWS] == 0 ? end + WORD_ROWS : end + 1;
        end = end < last + UNIT_ROWS ? end : last + UNIT_ROWS;
        const uint64_t below = pass.level_rows - place.first_row;
        end = end < below ? end : static_cast<unsigned>(below);
        begin = first;
        place.first_row += first;
        place.rows = end - first;
        is_active = column < place.columns && window < place.rows;
    }

    DEVICE void bring() const {
        bring_tile(pass.cells.in, pass.cells, place, OPS::nothing(), memory.cells, [](Value) {});
    }
    DEVICE Value &cell(unsigned row) const { return memory.cells[cell_at(row, column, pass.cells.log_across)]; }
    DEVICE bool begins_unit(unsigned row) const { return bit_of(memory.units, row + begin); }
    DEVICE bool is_marked(unsigned row) const { return bit_of(memory.marks, row + begin); }
    DEVICE uint64_t row_of_table(unsigned row) const { return place.first_row + row; }
    DEVICE uint64_t segment_of(unsigned unit) const { return first_segment + memory.segments[unit + begin]; }

    /* The first row of the unit that the row is in. The tile's first row begins one. */
    DEVICE unsigned unit_of(unsigned row) const {
        unsigned word = (row + begin) / WORD_ROWS;
        uint32_t bits = memory.units[word] & ~0u >> (WORD_ROWS - 1 - (row + begin) % WORD_ROWS);
        while (bits == 0)
            bits = memory.units[--word];
        return word * WORD_ROWS + bit_width(bits) - 1 - begin;
    }
    /* Whether the unit is one run. */
    DEVICE bool is_one_run(unsigned unit) const {
        const unsigned word = (unit + begin + 1) / WORD_ROWS, shift = (unit + begin + 1) % WORD_ROWS;
        const uint32_t below = shift > 0 ? memory.units[word + 1] << (WORD_ROWS - shift) : 0;
        return (memory.units[word] >> shift | below) != 0 || place.rows - unit <= RUN_ROWS;
    }
    /* Which of the TWO_RUNS rows from the thread's first one on begin a unit. */
    DEVICE uint64_t units_of_window() const {
        const unsigned words = (pass.tile_rows + UNIT_ROWS) / WORD_ROWS;
        const unsigned word = (window + begin) / WORD_ROWS, shift = (window + begin) % WORD_ROWS;
        uint64_t bits = memory.units[word];
        if (word + 1 < words)
            bits |= static_cast<uint64_t>(memory.units[word + 1]) << WORD_ROWS;
        bits >>= shift;
        if (shift > 0 && word + 2 < words)
            bits |= static_cast<uint64_t>(memory.units[word + 2]) << (2 * WORD_ROWS - shift);
        return bits;
    }

    /* The unit of the thread's first run, and the row where the run begins. */
    DEVICE unsigned first_run(uint64_t units, unsigned &unit) const {
        unit = unit_of(window);
        const unsigned row = unit + (window - unit + RUN_ROWS - 1) / RUN_ROWS * RUN_ROWS;
        const uint32_t between = static_cast<uint32_t>(units) & ((1u << (row - window)) - 1);
        if (between == 0 || row == window)
            return row;
        return unit = window + lowest_bit(between);
    }

    /* Calls enter(unit, row) where each run of the thread begins, and visit(row, its number in the unit) for each row
     * of it, unless enter() says that the run is not wanted. */
    template <class ENTER, class VISIT> DEVICE void each_run(const ENTER &enter, const VISIT &visit) const {
        if (!is_active)
            return;
        const uint64_t units = units_of_window();
        unsigned unit, row = first_run(units, unit);
        bool is_wanted = false;
        KEEP_LOOP
        for (; row < place.rows; row++) {
            const unsigned of_window = row - window;
            if (of_window < TWO_RUNS && (units >> of_window & 1) != 0)
                unit = row;
            if ((row - unit) % RUN_ROWS == 0) {
                if (of_window >= RUN_ROWS)
                    break;
                is_wanted = enter(unit, row);
            }
            if (is_wanted)
                visit(row, row - unit);
        }
    }

    /* Rows become what put(result in the run, total of the longest aligned block of rows that ends with the row, row,
     * its number in the unit) makes of them, in the runs that enter() wants. */
    template <class ENTER, class PUT> DEVICE void scan_runs(const ENTER &enter, const PUT &put) const {
        Value left[RUN_BITS] = {};
        each_run(enter, [&](unsigned row, unsigned number) {
            Value aligned;
            const Value result = climb<OPS, RUN_BITS>(number % RUN_ROWS, cell(row), left, aligned);
            cell(row) = put(result, aligned, row, number);
        });
    }

    /* Finds the blocks of runs above the thread's first run. */
    DEVICE void find_blocks() {
        if (!is_active)
            return;
        unsigned unit;
        const unsigned row = first_run(units_of_window(), unit);
        if (row >= place.rows || (ROLE == segment_role::TOTALS && !is_marked(unit)))
            return;
        KEEP_LOOP
        for (unsigned run = 0; run < (row - unit) / RUN_ROWS; run++) {
            Value aligned;
            climb<OPS, UNIT_RUN_BITS>(run, cell(unit + (run + 1) * RUN_ROWS - 1), blocks, aligned);
        }
    }
    /* Joins what ends in the run to the lowest blocks above it, as long as `goes_on` says. */
    template <class GOES_ON> DEVICE Value join_blocks(Value value, const GOES_ON &goes_on) const {
        UNROLL
        for (unsigned k = 0; k < UNIT_RUN_BITS; k++)
            value = goes_on(k) ? OPS::join(blocks[k], value) : value;
        return value;
    }
};

#endif
