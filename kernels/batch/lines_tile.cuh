/* A tile of tables whose values lie in lines without gaps: how it is loaded in the order of memory, how it lies in
 * shared memory, and how it is written. */
#ifndef BATCH_LINES_TILE_CUH
#define BATCH_LINES_TILE_CUH

#include "batch/units_above.cuh"
#include "batch/vector_read.cuh"
#include "choose/dispatch.cuh"
#include "tile/store.cuh"

constexpr unsigned LINES_VALUES = COLUMN_WARPS * UNIT_ROWS; /* of a tile */
constexpr size_t FEWEST_PANEL_VALUES = LINES_VALUES / 4;    /* of a tile that is a line for each row */

/* Lines of a tile in a table: offsets in elements from the value of the lowest address of table 0. */
struct line_layout {
    ptrdiff_t table, row; /* from one to the next; rows go up in memory */
    ptrdiff_t line;       /* from one line of a tile to the next */
    bool vectors;         /* the lowest address is aligned to a vector */
};

struct lines_pass {
    const void *in;
    void *out; /* the lowest addresses of table 0 */
    line_layout from, to;
    size_t count, rows, columns; /* tables, and the extent of one */
    const void *carry_in;
    void *carry_out;
    value_reading reading;
    value_kind result;
    bool exclusive;
    bool flip;         /* rows are summed from the highest address down */
    bool vectors;      /* every line begins on a vector, here and there */
    unsigned lanes;    /* of a group: a power of two, and enough for all rows or for a unit */
    unsigned across;   /* columns of a tile */
    unsigned together; /* tables of a tile */
    unsigned groups;   /* units of all tables of a tile, where these have more than one */
    unsigned down;     /* rows of a tile: all of a table, or a power of two of units */
    unsigned long_as;  /* the extent of a tile's lines: ROW, TABLE or TILE */
    size_t panels, blocks;
};
enum : unsigned { LINE_IS_ROW, LINE_IS_TABLE, LINE_IS_TILE };

/* A tile: how much of the table it has, and where it begins. */
struct lines_place {
    size_t first_table, first_column, begin_row;
    unsigned count, columns, rows; /* tables, and of one of them */
    unsigned length;               /* of a line */

    DEVICE lines_place(const lines_pass &pass, size_t number) {
        const size_t group = pass.panels == 1 ? number : number / pass.panels;
        first_table = group * pass.together;
        first_column = (number - group * pass.panels) * pass.across;
        count = least(pass.together, pass.count - first_table);
        columns = least(pass.across, pass.columns - first_column);
        go_to(pass, 0);
    }
    DEVICE void go_to(const lines_pass &pass, size_t row) {
        begin_row = row;
        rows = least(pass.down, pass.rows - row);
        length = pass.long_as == LINE_IS_ROW ? columns : rows * columns * (pass.long_as == LINE_IS_TILE ? count : 1);
    }
    DEVICE static unsigned least(unsigned most, size_t left) {
        return left < most ? static_cast<unsigned>(left) : most;
    }
    DEVICE unsigned values() const { return count * rows * columns; }
    DEVICE ptrdiff_t begin(const lines_pass &pass, const line_layout &layout) const {
        const size_t lowest = pass.flip ? pass.rows - begin_row - rows : begin_row;
        return static_cast<ptrdiff_t>(first_table) * layout.table + static_cast<ptrdiff_t>(lowest) * layout.row +
               static_cast<ptrdiff_t>(first_column);
    }
};

/* Calls visit(k, number, offset) for the thread's vectors of a tile: k counts them, `number` is the first value's
 * number in the tile, and `offset` its place in the table. */
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
    /* The first value of the thread's vector k; the others follow it. A thread writes the same places of the table that
     * it has loaded, so that the next tile may be loaded as soon as the thread has written. */
    template <unsigned V> DEVICE SUM *vector(unsigned k) const {
        constexpr unsigned ROUND = COLUMN_THREADS * V;
        static_assert(BANKS % V == 0 && ROUND % BANKS == 0, "whole vectors in a row of banks");
        return &(*this)[thread_index() * V] + k * (ROUND + ROUND / BANKS);
    }
};

template <class INPUT, class SUM, unsigned V>
DEVICE void load_lines(const lines_pass &pass, const lines_place &place, const lines_memory<SUM> &memory) {
    const INPUT *from = static_cast<const INPUT *>(pass.in) + place.begin(pass, pass.from);
    const unsigned values = place.values();
    read_vector<INPUT, V> read[LINES_VALUES / COLUMN_THREADS / V];
    each_vector<V>(place, pass.from, [&](unsigned k, unsigned number, ptrdiff_t offset) {
        if (number + V <= values)
            read[k] = load_whole<INPUT, V>(from + offset);
        else if (V > 1)
            load_some<INPUT, V>(from + offset, number < values ? values - number : 0, read[k]);
    });
    SUM sums[LINES_VALUES / COLUMN_THREADS];
    each_sum<SUM, INPUT, V>(pass.reading, read, [&](unsigned k, unsigned j, SUM sum) { sums[k * V + j] = sum; });
    UNROLL
    for (unsigned k = 0; k < LINES_VALUES / COLUMN_THREADS; k++)
        memory.template vector<V>(k / V)[k % V] = sums[k];
}

template <unsigned V, class SUM, class TARGET> DEVICE void
write_lines_to(const TARGET &to, const lines_pass &pass, const lines_place &place, const lines_memory<SUM> &memory) {
    const unsigned values = place.values();
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

template <class INPUT, class SUM, unsigned V>
DEVICE void write_lines(const lines_pass &pass, const lines_place &place, const lines_memory<SUM> &memory) {
    with_result<input_traits<INPUT>::LOOSE>(pass.result, [&](auto kind) {
        const auto first = target_of_kind<decltype(kind)::value, SUM>(pass.out);
        write_lines_to<V>(first + place.begin(pass, pass.to), pass, place, memory);
    });
}

/* The values of a lane, EACH rows of a column one below the other. */
template <class SUM, unsigned EACH> struct lane_column {
    const lines_memory<SUM> &memory;
    unsigned rows; /* that are there, at most EACH */
    unsigned first, step;
    bool straight; /* all lanes have EACH neighbours in a row of banks, or nothing */

    DEVICE lane_column(const lines_memory<SUM> &memory_, const lines_pass &pass, const lines_place &place,
                       unsigned table, unsigned column, unsigned row, bool active)
        : memory(memory_) {
        const unsigned left = row < place.rows && active ? place.rows - row : 0;
        rows = left < EACH ? left : EACH;
        first = (table * place.rows + (pass.flip ? place.rows - 1 - row : row)) * place.columns + column;
        step = pass.flip ? 0 - place.columns : place.columns;
        straight = step == 1 && place.rows % EACH == 0;
        static_assert(lines_memory<SUM>::BANKS % EACH == 0, "in a row of banks");
    }
    DEVICE void take(SUM (&values)[EACH]) const {
        if (straight) {
            const SUM *const from = &memory[rows > 0 ? first : 0];
            UNROLL
            for (unsigned k = 0; k < EACH; k++)
                values[k] = rows > 0 ? from[k] : sum_identity<SUM>();
            return;
        }
        UNROLL
        for (unsigned k = 0; k < EACH; k++)
            values[k] = k < rows ? memory[first + k * step] : sum_identity<SUM>();
    }
    /* Adds the prefix to the lane's sums and puts them into shared memory. `above`: the value above the first row, if
     * results are exclusive. The places are computed again, or else they would take as many registers as the sums. */
    DEVICE void put(const SUM (&sums)[EACH], SUM prefix, bool exclusive, SUM above) const {
        const unsigned again = found_anew(first);
        SUM before = above;
        if (straight && !exclusive) {
            SUM *const to = &memory[again];
            UNROLL
            for (unsigned k = 0; k < EACH && rows > 0; k++)
                to[k] = combine(prefix, sums[k]);
            return;
        }
        UNROLL
        for (unsigned k = 0; k < EACH; k++) {
            const SUM sum = combine(prefix, sums[k]);
            if (k < rows)
                memory[again + k * step] = exclusive ? before : sum;
            before = sum;
        }
    }
};

template <class SUM> DEVICE SUM carried(const lines_pass &pass, size_t column_of_table) {
    return pass.carry_in ? static_cast<const SUM *>(pass.carry_in)[column_of_table] : SUM(0);
}

#endif
