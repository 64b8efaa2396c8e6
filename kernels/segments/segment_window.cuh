/* A tile of a table that is cut into segments: the pieces that begin in a window of rows, by some columns. No piece is
 * in two tiles, and rows are read once, however short or long segments are. */
#ifndef SEGMENTS_SEGMENT_WINDOW_CUH
#define SEGMENTS_SEGMENT_WINDOW_CUH

#include "segments/segment_carries.cuh"
#include "segments/segment_units.cuh"

struct segment_window {
    const segment_pass &pass;
    segment_list list;
    size_t first_column;
    unsigned columns, first_row, end_row; /* of the pieces, counted from the window's first row */

    DEVICE segment_window(const segment_pass &pass_, unsigned char *memory)
        : pass(pass_), list(pass_, memory), first_column(0), columns(0), first_row(0), end_row(0) {}

    static HOST_DEVICE unsigned aligned_list_bytes(const segment_pass &pass) {
        return (segment_list_bytes(pass.window, pass.wants_segments) + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    }
    static DEVICE unsigned windows(uint64_t rows, unsigned window) {
        return static_cast<unsigned>((rows + window - 1) / window);
    }
    /* How many tiles there are, of passed pieces alone and in all. */
    DEVICE unsigned passed_tiles() const {
        return pass.split_window != 0 && load_vector(&pass.where.header->has_units) != 0
                   ? windows(pass.where.rows, pass.split_window) * pass.panels
                   : 0;
    }
    DEVICE unsigned tiles() const { return passed_tiles() + windows(pass.where.rows, pass.window) * pass.panels; }
    /* Fetches the next tile, by one thread. */
    DEVICE void fetch(unsigned passed_tiles_, unsigned tiles_) const {
        segment_words &words = *list.words;
        const unsigned number = atomic_add(pass.where.header->tile_counters, 1u);
        words.number = number;
        if (number >= tiles_)
            return;
        words.takes_passed = pass.split_window == 0 || number < passed_tiles_;
        words.takes_others = number >= passed_tiles_;
        const unsigned of_kind = number - (words.takes_others ? passed_tiles_ : 0), window = of_kind / pass.panels;
        words.panel = of_kind - window * pass.panels;
        list.find(window, words.takes_others ? pass.window : pass.split_window);
    }
    /* Goes to the tile that was fetched. False: it has no rows. */
    DEVICE bool take() {
        list.take();
        first_row = list.words->first_row;
        end_row = list.words->end_row;
        first_column = static_cast<size_t>(list.words->panel) * pass.across;
        const size_t left = pass.cells.columns - first_column;
        columns = static_cast<unsigned>(left < pass.across ? left : pass.across);
        return first_row < end_row;
    }
    DEVICE unsigned char *row_of(const cell_table &table, unsigned row, unsigned column) const {
        return table.data +
               (static_cast<ptrdiff_t>(list.top + row) * table.stride + static_cast<ptrdiff_t>(first_column + column)) *
                   static_cast<ptrdiff_t>(table.any.size);
    }
};

/* What the units of a tile have in shared memory, a row of the tile's columns each: what the unit begins with, and the
 * result above it. `parts` has room for those of blocks of units. */
template <class OPS> struct segment_prefixes {
    typedef typename OPS::Value Value;
    Value *begins, *befores, *parts;

    static HOST_DEVICE size_t values(const segment_pass &pass) {
        return 2 * segment_units(pass.window) * pass.across + BLOCK_PARTS * WARP_LANES;
    }
    DEVICE segment_prefixes(const segment_pass &pass, Value *memory)
        : begins(memory), befores(begins + segment_units(pass.window) * pass.across),
          parts(befores + segment_units(pass.window) * pass.across) {}

    /* Publishes the totals of passed pieces, which are total_of(unit, column), before it waits for any; and makes
     * prefixes of pieces that are not the first ones of their segments. There a lane of each warp has a piece and a
     * column. */
    template <class TOTAL> DEVICE void exchange(const segment_window &tile, const TOTAL &total_of) const {
        const unsigned across = tile.pass.across, passed = tile.list.passed_runs() / PIECE_RUNS;
        const unsigned first_later = tile.list.rows / UNIT_ROWS;
        KEEP_LOOP
        for (unsigned at = thread_index(); at < passed * across; at += block_threads()) {
            const unsigned number = at / across, column = at % across;
            const segment_unit unit = tile.list.units[number];
            if (column < tile.columns)
                exchange_of(tile, unit, column).put(0, unit.number, total_of(number, column));
        }
        KEEP_LOOP
        for (unsigned first = 0; first < 2 * first_later * across; first += WARP_LANES) {
            const unsigned at = first + thread_index() % WARP_LANES, number = at / across, column = at % across;
            const bool is_passed = number < passed && column < tile.columns;
            const bool is_there =
                is_passed || (number >= first_later && number < 2 * first_later && column < tile.columns);
            const segment_unit unit = is_there ? tile.list.units[number] : segment_unit{};
            if (warp_any(WARP_ALL, is_passed || unit.number > 0))
                exchange_unit(tile, unit, at, column, is_passed, [&] { return total_of(number, column); });
        }
        block_barrier();
    }
    DEVICE unit_exchange<OPS> exchange_of(const segment_window &tile, const segment_unit &unit, unsigned column) const {
        return unit_exchange<OPS>{tile.pass, parts, tile.list.top + unit.begin - (unit.number << UNIT_BITS),
                                  tile.first_column + column};
    }
    template <class TOTAL> DEVICE void exchange_unit(const segment_window &tile, const segment_unit &unit, unsigned at,
                                                     unsigned column, bool is_passed, const TOTAL &total_of) const {
        const bool leads = unit_exchange<OPS>::leads(), is_later = unit.number > 0;
        const bool ends_block = is_passed && unit.number % BLOCK_PARTS == BLOCK_PARTS - 1;
        const unit_exchange<OPS> own = exchange_of(tile, unit, column);
        Value start = 0;
        own.put_blocks(unit.number, ends_block, ends_block && leads ? total_of() : Value(0));
        if (is_later && leads)
            start =
                start_of<OPS>(tile.pass, tile.pass.carry_in ? tile.list.first_segment + unit.segment : 0, own.column);
        if (tile.pass.cells.exclusive) {
            const Value above = own.prefix_of(is_later ? unit.number - 1 : 0, start);
            if (is_later && leads)
                befores[at] = OPS::join(above, own.wait_for(0, unit.number - 1));
        }
        const Value prefix = own.prefix_of(unit.number, start);
        if (is_later && leads)
            begins[at] = prefix;
    }
};

#endif
