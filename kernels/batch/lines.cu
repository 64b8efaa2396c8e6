/* Several tables in one pass, where all that a block takes at a time, its tile, is one line of memory or a few of one
 * length: the three stages of a column of a table by a group of lanes. A tile comes in the order of memory and goes in
 * it, by way of shared memory, where it lies as in the table; so nothing is reckoned for a value alone. Several tables
 * are a tile, or a panel of one; of a table that is longer than a tile, a block takes one tile after the other, each of
 * units one below the other. All that batch.cu does beyond this, it does alone. */
#include "batch/lines.h"
#include "batch/units_above.cuh"
#include "choose/dispatch.cuh"

constexpr unsigned FEW_ROWS = 4;
constexpr unsigned LINES_VALUES = COLUMN_WARPS * UNIT_ROWS; /* of a tile */
constexpr size_t FEWEST_PANEL_VALUES = LINES_VALUES / 4;    /* of a tile that is a line for each row */

/* Lines of a tile in a table: offsets in elements from the value of the lowest address of table 0. */
struct line_layout {
    ptrdiff_t table, row; /* from one to the next; rows go up in memory */
    ptrdiff_t line;       /* from one line of a tile to the next */
};

struct lines_pass {
    const void *in;
    void *out; /* the lowest addresses of table 0 */
    line_layout from, to;
    size_t tables, rows, columns;
    const void *carry_in;
    void *carry_out;
    value_kind kind, result;
    bool exclusive;
    bool flip;         /* rows are summed from the highest address down */
    bool vectors;      /* every line begins on a vector, here and there */
    unsigned lanes;    /* of a group: a power of two, and enough for all rows or for a unit */
    unsigned across;   /* columns of a tile */
    unsigned together; /* tables of a tile */
    unsigned groups;   /* units of all tables of a tile, where these have more than one */
    unsigned down;     /* rows of a tile: all of a table, or a power of two of units */
    unsigned long_as;  /* what a line of a tile has: ROW, TABLE or TILE */
    size_t panels, blocks;
};
enum : unsigned { LINE_IS_ROW, LINE_IS_TABLE, LINE_IS_TILE };

/* A tile: how much of the table it has, and where it begins. */
struct lines_place {
    size_t first_table, first_column, begin_row;
    unsigned tables, columns, rows;
    unsigned length; /* of a line */

    DEVICE lines_place(const lines_pass &pass, size_t number) {
        const size_t group = pass.panels == 1 ? number : number / pass.panels;
        first_table = group * pass.together;
        first_column = (number - group * pass.panels) * pass.across;
        tables = least(pass.together, pass.tables - first_table);
        columns = least(pass.across, pass.columns - first_column);
        go_to(pass, 0);
    }
    DEVICE void go_to(const lines_pass &pass, size_t row) {
        begin_row = row;
        rows = least(pass.down, pass.rows - row);
        length = pass.long_as == LINE_IS_ROW ? columns : rows * columns * (pass.long_as == LINE_IS_TILE ? tables : 1);
    }
    DEVICE static unsigned least(unsigned most, size_t left) {
        return left < most ? static_cast<unsigned>(left) : most;
    }
    DEVICE unsigned values() const { return tables * rows * columns; }
    DEVICE ptrdiff_t begin(const lines_pass &pass, const line_layout &layout) const {
        const size_t lowest = pass.flip ? pass.rows - begin_row - rows : begin_row;
        return static_cast<ptrdiff_t>(first_table) * layout.table + static_cast<ptrdiff_t>(lowest) * layout.row +
               static_cast<ptrdiff_t>(first_column);
    }
};

/* Calls visit(k, number, offset) for the thread's vectors of a tile: k counts them, `number` is that of the first value
 * in the tile, and `offset` where it lies in the table. */
template <unsigned V, class VISIT>
DEVICE void each_vector(const lines_place &place, const line_layout &layout, const VISIT &visit) {
    constexpr unsigned ROUND = COLUMN_THREADS * V;
    unsigned in_line = thread_index() * V;
    ptrdiff_t offset = in_line;
    if (place.length == place.values()) {
        UNROLL
        for (unsigned k = 0; k < LINES_VALUES / ROUND; k++)
            visit(k, in_line + k * ROUND, offset + k * ROUND);
        return;
    }
    const unsigned lines = in_line / place.length, more = ROUND / place.length;
    in_line -= lines * place.length;
    offset = static_cast<ptrdiff_t>(lines) * layout.line + in_line;
    const unsigned rest = ROUND - more * place.length;
    const ptrdiff_t step = static_cast<ptrdiff_t>(more) * layout.line + rest;
    UNROLL
    for (unsigned k = 0; k < LINES_VALUES / ROUND; k++) {
        visit(k, thread_index() * V + k * ROUND, offset);
        in_line += rest;
        offset += step;
        if (in_line >= place.length) {
            in_line -= place.length;
            offset += layout.line - static_cast<ptrdiff_t>(place.length);
        }
    }
}

/* A tile in shared memory, with a value more for each row of banks, against conflicts. */
template <class SUM> struct lines_memory {
    static constexpr unsigned BANKS = LINE_BYTES / sizeof(SUM);
    static constexpr unsigned SIZE = LINES_VALUES + LINES_VALUES / BANKS;
    SUM *values, *totals; /* totals: of the units, one below the other, a column for each warp of one */
    DEVICE SUM &operator[](unsigned number) const { return values[number + number / BANKS]; }
    /* The first value of the thread's vector k, behind which the others lie. */
    template <unsigned V> DEVICE SUM *vector(unsigned k) const {
        constexpr unsigned ROUND = COLUMN_THREADS * V;
        static_assert(BANKS % V == 0 && ROUND % BANKS == 0, "whole vectors in a row of banks");
        return &(*this)[thread_index() * V] + k * (ROUND + ROUND / BANKS);
    }
};

template <class INPUT, class SUM, unsigned V>
DEVICE void bring_lines(const lines_pass &pass, const lines_place &place, const lines_memory<SUM> &memory) {
    const INPUT *from = static_cast<const INPUT *>(pass.in) + place.begin(pass, pass.from);
    const unsigned values = place.values();
    vector_of<INPUT, V> read[LINES_VALUES / COLUMN_THREADS / V];
    each_vector<V>(place, pass.from, [&](unsigned k, unsigned number, ptrdiff_t offset) {
        if (number + V <= values)
            read[k] = load_vector(reinterpret_cast<const vector_of<INPUT, V> *>(from + offset));
        else if (V > 1)
            UNROLL
        for (unsigned j = 0; j < V; j++)
            if (number + j < values)
                read[k].at[j] = from[offset + j];
    });
    SUM sums[LINES_VALUES / COLUMN_THREADS];
    UNROLL
    for (unsigned k = 0; k < LINES_VALUES / COLUMN_THREADS; k++)
        sums[k] = raw_sum<SUM>(read[k / V].at[k % V]);
    if constexpr (may_convert<INPUT, SUM>())
        with_kind<INPUT>(pass.kind, [&](auto kind) {
            UNROLL
            for (unsigned k = 0; k < LINES_VALUES / COLUMN_THREADS; k++)
                sums[k] = converted<decltype(kind)::value, INPUT>(sums[k]);
        });
    UNROLL
    for (unsigned k = 0; k < LINES_VALUES / COLUMN_THREADS; k++)
        memory.template vector<V>(k / V)[k % V] = sums[k];
}

template <class INPUT, class SUM> using lines_target =
    typename std::conditional<input_traits<INPUT>::LOOSE, loose_target<SUM>, SUM *>::type;

template <class INPUT, class SUM, unsigned V>
DEVICE void write_lines(const lines_pass &pass, const lines_place &place, const lines_memory<SUM> &memory) {
    const unsigned values = place.values();
    lines_target<INPUT, SUM> to;
    if constexpr (input_traits<INPUT>::LOOSE)
        to = loose_target<SUM>{static_cast<unsigned char *>(pass.out), pass.result, false};
    else
        to = static_cast<SUM *>(pass.out);
    to += place.begin(pass, pass.to);
    each_vector<V>(place, pass.to, [&](unsigned k, unsigned number, ptrdiff_t offset) {
        vector_of<SUM, V> part;
        UNROLL
        for (unsigned j = 0; j < V; j++)
            part.at[j] = memory.template vector<V>(k)[j];
        if (number + V <= values)
            store_results(to + offset, part);
        else if (V > 1)
            UNROLL
        for (unsigned j = 0; j < V; j++)
            if (number + j < values)
                store_result(to + (offset + j), part.at[j]);
    });
}

/* The values of a lane, EACH rows of a column one below the other. */
template <class SUM, unsigned EACH> struct lane_column {
    const lines_memory<SUM> &memory;
    unsigned rows; /* that are there, at most EACH */
    unsigned first, step;

    DEVICE lane_column(const lines_memory<SUM> &memory_, const lines_pass &pass, const lines_place &place,
                       unsigned table, unsigned column, unsigned row, bool active)
        : memory(memory_) {
        const unsigned left = row < place.rows && active ? place.rows - row : 0;
        rows = left < EACH ? left : EACH;
        first = (table * place.rows + (pass.flip ? place.rows - 1 - row : row)) * place.columns + column;
        step = pass.flip ? 0 - place.columns : place.columns;
    }
    DEVICE void take(SUM (&values)[EACH]) const {
        UNROLL
        for (unsigned k = 0; k < EACH; k++)
            values[k] = k < rows ? memory[first + k * step] : sum_identity<SUM>();
    }
    /* Adds what is to the left of the lane's sums. `above`: what stands above the first row, if results are exclusive.
     * The places are found anew, or else they would take as many registers as the sums. */
    DEVICE void put(const SUM (&sums)[EACH], SUM seed, bool exclusive, SUM above) const {
        const unsigned again = found_anew(first);
        SUM before = above;
        UNROLL
        for (unsigned k = 0; k < EACH; k++) {
            const SUM sum = combine(seed, sums[k]);
            if (k < rows)
                memory[again + k * step] = exclusive ? before : sum;
            before = sum;
        }
    }
};

/* The sums of a group of lanes that has a column. Integers take what is to the left of a lane with the seed. */
template <class SUM, unsigned EACH> DEVICE void sum_column(SUM (&rows)[EACH], unsigned lanes, SUM &seed) {
    if constexpr (may_reorder<SUM>()) {
        const unsigned lane = thread_index() % WARP_LANES;
        UNROLL
        for (unsigned k = 1; k < EACH; k++)
            rows[k] = combine(rows[k - 1], rows[k]);
        SUM all = rows[EACH - 1];
        UNROLL
        for (unsigned apart = 1; apart < lanes; apart *= 2) {
            const SUM left = warp_shuffle_up(WARP_ALL, all, apart);
            all = combine((lane & (lanes - 1)) >= apart ? left : SUM(0), all);
        }
        seed = combine(seed, take_away(all, rows[EACH - 1]));
    } else {
        scan_lanes(rows, lanes);
    }
}

template <class SUM> DEVICE SUM carried(const lines_pass &pass, size_t column_of_table) {
    return pass.carry_in ? static_cast<const SUM *>(pass.carry_in)[column_of_table] : SUM(0);
}

/* Whole tables of one unit at most, EACH rows a lane. */
template <class SUM, unsigned EACH>
DEVICE void sum_short(const lines_pass &pass, const lines_place &place, const lines_memory<SUM> &memory) {
    const unsigned in_group = thread_index() % pass.lanes, slots = COLUMN_THREADS / pass.lanes;
    const unsigned all = place.tables * place.columns;
    KEEP_LOOP
    for (unsigned first = 0; first < all; first += slots) {
        const unsigned slot = first + thread_index() / pass.lanes;
        const unsigned table = place.columns == 1 ? slot : slot / place.columns, column = slot - table * place.columns;
        const size_t of_table = (place.first_table + table) * pass.columns + place.first_column + column;
        const lane_column<SUM, EACH> own(memory, pass, place, table, column, in_group * EACH, slot < all);
        SUM rows[EACH];
        own.take(rows);
        const SUM start = slot < all ? carried<SUM>(pass, of_table) : SUM(0);
        SUM seed = start;
        sum_column(rows, pass.lanes, seed);
        const SUM last = combine(seed, rows[EACH - 1]);
        const SUM left = warp_shuffle_up(WARP_ALL, last, 1);
        own.put(rows, seed, pass.exclusive, in_group == 0 ? start : left);
        if (slot < all && in_group == pass.lanes - 1 && pass.carry_out)
            static_cast<SUM *>(pass.carry_out)[of_table] = last;
    }
}

/* The total of a block of COUNT units, given those of its units. */
template <unsigned COUNT, class SUM> DEVICE SUM block_of_units(const SUM *totals) {
    if constexpr (COUNT == 1)
        return totals[0];
    else
        return combine(block_of_units<COUNT / 2>(totals), block_of_units<COUNT / 2>(totals + COUNT / 2 * COLUMN_WARPS));
}

/* The seed of a unit of the tile, given what is left of the tile: the blocks of the binary digits of its number. */
template <class SUM> DEVICE SUM seed_in_tile(SUM left, const SUM *totals, unsigned unit) {
    static_assert(COLUMN_WARPS == 8, "three digits");
    if ((unit & 4) != 0)
        left = combine(left, block_of_units<4>(totals));
    if ((unit & 2) != 0)
        left = combine(left, block_of_units<2>(totals + (unit & 4) * COLUMN_WARPS));
    if ((unit & 1) != 0)
        left = combine(left, totals[(unit & 6) * COLUMN_WARPS]);
    return left;
}
template <class SUM> DEVICE SUM total_of_tile(const SUM *totals, unsigned units) {
    return units == 8   ? block_of_units<8>(totals)
           : units == 4 ? block_of_units<4>(totals)
           : units == 2 ? block_of_units<2>(totals)
                        : totals[0];
}

/* A column of a longer table, as far as the block has come; every warp that has units of the column knows all of it. */
template <class SUM> struct long_column {
    units_above<SUM> tiles;
    SUM last; /* the inclusive result of the row before the tile */
    DEVICE explicit long_column(SUM start) : tiles(start), last(start) {}
};

/* Which unit of a tile the calling warp has, and in which column of which table. */
struct warp_unit {
    unsigned units; /* of a table in the tile */
    unsigned table, unit, column;
    bool active;
    DEVICE warp_unit(const lines_pass &pass, const lines_place &place) {
        const unsigned warp = thread_index() / WARP_LANES, across = COLUMN_WARPS / pass.groups;
        units = pass.down / UNIT_ROWS;
        column = warp % across;
        unit = warp / across % units;
        table = warp / across / units;
        active = column < place.columns && table < place.tables;
    }
    /* Where the totals of the table's units are in this column. */
    template <class SUM> DEVICE SUM *totals(const lines_memory<SUM> &memory) const {
        return memory.totals + table * units * COLUMN_WARPS + column;
    }
};

/* A tile of longer tables. */
template <class SUM> DEVICE void sum_long(const lines_pass &pass, const lines_place &place, const warp_unit &at,
                                          const lines_memory<SUM> &memory, long_column<SUM> &column) {
    const unsigned lane = thread_index() % WARP_LANES;
    const lane_column<SUM, UNIT_EACH> own(memory, pass, place, at.table, at.column,
                                          at.unit * UNIT_ROWS + lane * UNIT_EACH, at.active);
    lane_rows<SUM> rows;
    own.take(rows);
    SUM *const totals = at.totals(memory);
    SUM left_lanes = SUM(0);
    sum_column(rows, WARP_LANES, left_lanes);
    if (lane == WARP_LANES - 1)
        totals[at.unit * COLUMN_WARPS] =
            may_reorder<SUM>() ? combine(left_lanes, rows[UNIT_EACH - 1]) : rows[UNIT_EACH - 1];
    block_barrier();
    const auto end_of = [&](unsigned unit) {
        return combine(seed_in_tile<SUM>(column.tiles.seed, totals, unit), totals[unit * COLUMN_WARPS]);
    };
    SUM seed = seed_in_tile<SUM>(column.tiles.seed, totals, at.unit);
    if (may_reorder<SUM>())
        seed = combine(seed, left_lanes);
    const SUM above = at.unit > 0 ? end_of(at.unit - 1) : column.last;
    const SUM left = warp_shuffle_up(WARP_ALL, combine(seed, rows[UNIT_EACH - 1]), 1);
    own.put(rows, seed, pass.exclusive, lane == 0 ? above : left);
    column.last = end_of((place.rows - 1) / UNIT_ROWS);
    if (place.begin_row + place.rows < pass.rows)
        column.tiles.add(total_of_tile<SUM>(totals, at.units), column.last);
}

template <class INPUT, class SUM, unsigned V>
DEVICE void lines_block(const lines_pass &pass, lines_place place, const lines_memory<SUM> &memory) {
    if (pass.rows <= UNIT_ROWS) {
        bring_lines<INPUT, SUM, V>(pass, place, memory);
        block_barrier();
        if (pass.rows <= FEW_ROWS)
            sum_short<SUM, FEW_ROWS>(pass, place, memory);
        else
            sum_short<SUM, UNIT_EACH>(pass, place, memory);
        block_barrier();
        write_lines<INPUT, SUM, V>(pass, place, memory);
        return;
    }
    const warp_unit at(pass, place);
    const size_t of_table = (place.first_table + at.table) * pass.columns + place.first_column + at.column;
    long_column<SUM> column(at.active ? carried<SUM>(pass, of_table) : SUM(0));
    KEEP_LOOP
    for (size_t row = 0; row < pass.rows; row += pass.down) {
        place.go_to(pass, row);
        bring_lines<INPUT, SUM, V>(pass, place, memory);
        block_barrier();
        sum_long<SUM>(pass, place, at, memory, column);
        block_barrier();
        write_lines<INPUT, SUM, V>(pass, place, memory);
        block_barrier();
    }
    if (at.active && pass.carry_out && at.unit == 0 && thread_index() % WARP_LANES == 0)
        static_cast<SUM *>(pass.carry_out)[of_table] = column.last;
}

template <class INPUT, class SUM, unsigned V> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, sizeof(SUM) == 4 ? 4 : 3)
    lines_kernel(lines_pass pass) {
    SHARED_ARRAY(SUM, values, lines_memory<SUM>::SIZE);
    SHARED_ARRAY(SUM, totals, COLUMN_WARPS * COLUMN_WARPS);
    const lines_memory<SUM> memory = {values, totals};
    KEEP_LOOP
    for (size_t number = block_index(); number < pass.blocks; number += block_count()) {
        lines_block<INPUT, SUM, V>(pass, lines_place(pass, number), memory);
        block_barrier();
    }
}

/* The layout of a side, rows going up; NULL data moves to the lowest address of table 0. */
static line_layout layout_of(const kernel_batch &batch, ptrdiff_t stride, ptrdiff_t step) {
    line_layout layout;
    layout.table = step;
    layout.row = batch.rows == 1 ? static_cast<ptrdiff_t>(batch.columns) : stride < 0 ? -stride : stride;
    layout.line = 0;
    return layout;
}

static bool is_joined(const lines_pass &pass, const line_layout &layout) {
    return is_side_by_side(layout.row, pass.columns) &&
           (pass.tables == 1 || layout.table == static_cast<ptrdiff_t>(pass.rows * pass.columns));
}

/* How large tiles are, and what their lines are, given the values of a vector. False: lines would be short. */
static bool make_tiles(lines_pass &pass, unsigned count) {
    const bool gapless = is_side_by_side(pass.from.row, pass.columns) && is_side_by_side(pass.to.row, pass.columns);
    pass.together = 1;
    pass.across = static_cast<unsigned>(pass.columns < COLUMN_WARPS ? pass.columns : COLUMN_WARPS);
    pass.groups = COLUMN_WARPS / power_of_two_above(pass.across);
    pass.down = static_cast<unsigned>(pass.rows < UNIT_ROWS ? pass.rows : UNIT_ROWS);
    if (pass.rows > UNIT_ROWS) {
        while (pass.down < pass.rows && pass.down < pass.groups * UNIT_ROWS)
            pass.down *= 2;
    } else if (pass.rows * pass.columns <= LINES_VALUES) {
        pass.across = static_cast<unsigned>(pass.columns);
    } else {
        pass.across = LINES_VALUES / pass.down / COLUMN_WARPS * COLUMN_WARPS;
    }
    pass.panels = (pass.columns + pass.across - 1) / pass.across;
    pass.long_as = gapless && pass.panels == 1 ? LINE_IS_TABLE : LINE_IS_ROW;
    if (pass.long_as == LINE_IS_ROW)
        return size_t(pass.down) * pass.across >= FEWEST_PANEL_VALUES;
    const size_t most =
        pass.rows > UNIT_ROWS ? pass.groups * UNIT_ROWS / pass.down : LINES_VALUES / (pass.rows * pass.columns);
    pass.together = static_cast<unsigned>(most < pass.tables ? most : pass.tables);
    if (pass.together > count)
        pass.together -= pass.together % count;
    if (pass.together == 1 || (is_joined(pass, pass.from) && is_joined(pass, pass.to)))
        pass.long_as = LINE_IS_TILE;
    return true;
}

/* Whether every line of a side begins on a vector of `count` elements, and but for that of a tile has whole ones. */
static bool are_vectors(const lines_pass &pass, const line_layout &layout, const void *data, size_t element,
                        unsigned count) {
    const size_t table = static_cast<size_t>(layout.table), row = static_cast<size_t>(layout.row);
    if (reinterpret_cast<uintptr_t>(data) % (element * count) != 0)
        return false;
    if (pass.long_as == LINE_IS_ROW)
        return table % count == 0 && row % count == 0 && pass.columns % count == 0 && pass.across % count == 0;
    if (pass.long_as == LINE_IS_TABLE)
        return table % count == 0 && pass.rows * row % count == 0;
    return pass.together * table % count == 0 && (!pass.flip || pass.rows * row % count == 0);
}

static bool make_lines(const kernel_batch &batch, lines_pass &pass) {
    const size_t in_bytes = type_bytes(batch.in_type), out_bytes = type_bytes(batch.out_type);
    const unsigned count = VECTOR_BYTES / static_cast<unsigned>(kernel_sum_bytes(batch.out_type));
    if (batch.skip_nan || batch.first_overflow || !is_aligned(batch.in, batch.in_type) ||
        !is_aligned(batch.out, batch.out_type))
        return false;
    pass.flip = batch.rows > 1 && batch.in_stride < 0;
    if (batch.rows > 1 && pass.flip != (batch.out_stride < 0))
        return false;
    const ptrdiff_t down = pass.flip ? static_cast<ptrdiff_t>(batch.rows - 1) : 0;
    pass.in = static_cast<const unsigned char *>(batch.in) + down * batch.in_stride * static_cast<ptrdiff_t>(in_bytes);
    pass.out = static_cast<unsigned char *>(batch.out) + down * batch.out_stride * static_cast<ptrdiff_t>(out_bytes);
    pass.tables = batch.tables;
    pass.rows = batch.rows;
    pass.columns = batch.columns;
    pass.from = layout_of(batch, batch.in_stride, batch.in_step);
    pass.to = layout_of(batch, batch.out_stride, batch.out_step);
    if (!make_tiles(pass, count))
        return false;
    pass.from.line = pass.long_as == LINE_IS_ROW ? pass.from.row : pass.from.table;
    pass.to.line = pass.long_as == LINE_IS_ROW ? pass.to.row : pass.to.table;
    pass.vectors = are_vectors(pass, pass.from, pass.in, in_bytes, count) &&
                   are_vectors(pass, pass.to, pass.out, out_bytes, count);
    pass.kind = kind_of_type(batch.in_type);
    pass.result = kind_of_result(batch.out_type);
    pass.exclusive = batch.exclusive != 0;
    pass.carry_in = batch.carry_in;
    pass.carry_out = batch.carry_out;
    pass.lanes = 1;
    while (pass.lanes < WARP_LANES && pass.lanes * UNIT_EACH < batch.rows)
        pass.lanes *= 2;
    pass.blocks = (batch.tables + pass.together - 1) / pass.together * pass.panels;
    return true;
}

int run_batch_lines(const kernel_batch &batch) {
    constexpr size_t MOST_BLOCKS = size_t(1) << 30;
    lines_pass pass = {};
    kernel_pass types = {};
    if (!make_lines(batch, pass))
        return static_cast<int>(cudaErrorNotSupported);
    types.in = batch.in;
    types.out = batch.out;
    types.in_type = batch.in_type;
    types.out_type = batch.out_type;
    const unsigned blocks = static_cast<unsigned>(pass.blocks < MOST_BLOCKS ? pass.blocks : MOST_BLOCKS);
    return run_types(types, [&](auto pair) {
        typedef typename decltype(pair)::Input Input;
        typedef typename decltype(pair)::Sum Sum;
        constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Sum);
        return pass.vectors ? launch(lines_kernel<Input, Sum, COUNT>, blocks, COLUMN_THREADS, 0, batch.stream, pass)
                            : launch(lines_kernel<Input, Sum, 1>, blocks, COLUMN_THREADS, 0, batch.stream, pass);
    });
}
