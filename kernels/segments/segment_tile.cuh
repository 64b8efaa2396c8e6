/* A tile of a table that is cut into segments: the pieces that begin in a window of rows, by some columns. A thread
 * takes a run of a piece, of one column or of a vector of them; a block takes its runs in rounds, and whole pieces in
 * each. What a run needs of the runs before it in its piece goes by way of shared memory, and what a piece needs of
 * the units before it in its segment by way of descriptors (segment_units.cuh).
 *
 * No piece is in two tiles, and rows are read once, however short or long segments are. */
#ifndef SEGMENTS_SEGMENT_TILE_CUH
#define SEGMENTS_SEGMENT_TILE_CUH

#include "segments/segment_units.cuh"

template <class OPS, segment_form FORM> struct segment_tile {
    typedef typename OPS::Value Value;
    static constexpr unsigned COLUMNS = segment_columns<Value, FORM>();
    static constexpr bool IS_STAGED = is_staged(FORM), IS_SMALL = FORM == segment_form::SMALL_VECTORS;
    typedef vector_of<Value, COLUMNS> vector;
    typedef Value run_values[COLUMNS][RUN_OF_PIECE];

    const segment_pass &pass;
    segment_list list;
    vector *const totals; /* of each thread's run; then of the longest aligned block of runs that ends with it */
    vector *const begins, *const befores; /* of each unit of the list and lane: its prefix; the result above it */
    Value *const parts;                   /* of blocks of units */
    vector *const cells;                  /* of the tile, if they are staged */
    operator_place place;
    const unsigned lane, slot; /* lanes have columns, slots have runs */
    size_t column;

    static HOST_DEVICE unsigned aligned_list_bytes(unsigned window, bool wants_segments) {
        return (segment_list_bytes(window, wants_segments) + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    }
    static size_t shared_bytes(const segment_pass &pass) {
        const unsigned log_across = pass.cells.log_across, units = segment_units(pass.window) << log_across;
        /* load_cell_tile() has RUN_ROWS cells for each thread. */
        const unsigned rows = FORM != segment_form::CELLS ? pass.window + UNIT_ROWS : 2 * pass.window;
        return aligned_list_bytes(pass.window, pass.wants_segments) +
               (segment_threads(pass) + 2 * units) * sizeof(vector) + BLOCK_PARTS * WARP_LANES * sizeof(Value) +
               (IS_STAGED ? cell_at(rows, 0, log_across) * sizeof(vector) : 0);
    }

    DEVICE segment_tile(const segment_pass &pass_, unsigned char *memory)
        : pass(pass_), list(pass_, memory),
          totals(reinterpret_cast<vector *>(memory + aligned_list_bytes(pass_.window, pass_.wants_segments))),
          begins(totals + block_threads()), befores(begins + (segment_units(pass_.window) << log_across())),
          parts(reinterpret_cast<Value *>(befores + (segment_units(pass_.window) << log_across()))),
          cells(reinterpret_cast<vector *>(parts + BLOCK_PARTS * WARP_LANES)),
          lane(thread_index() & ((1u << log_across()) - 1)), slot(thread_index() >> log_across()) {
        place = operator_place{};
        column = 0;
    }

    DEVICE unsigned log_across() const { return pass.cells.log_across; }

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
    /* Goes to the tile that was fetched, and lists its runs. False: there are none. */
    DEVICE bool go_to() {
        const unsigned across = COLUMNS << log_across();
        list.take();
        place.first_row = static_cast<size_t>(list.top);
        place.first_column = static_cast<size_t>(list.words->panel) * across;
        const size_t columns = pass.cells.columns - place.first_column;
        place.columns = static_cast<unsigned>(columns < across ? columns : across);
        place.missing = list.words->first_row;
        place.rows = list.words->end_row;
        column = place.first_column + lane * COLUMNS;
        if (place.rows <= place.missing)
            return false;
        if constexpr (IS_STAGED)
            load_cells_of_tile();
        list.list();
        if constexpr (IS_STAGED)
            copies_ahead_wait();
        block_barrier();
        return list.all_runs() != 0;
    }

    DEVICE vector *cell(unsigned row, unsigned of_tile) const { return cells + cell_at(row, of_tile, log_across()); }
    /* Calls visit(row, lane) for the rows of pieces and the lanes that have columns. */
    template <class VISIT> DEVICE void each_cell(const VISIT &visit) const {
        UNROLL_SOME
        for (unsigned at = (place.missing << log_across()) + thread_index(); at < place.rows << log_across();
             at += block_threads()) {
            const unsigned of_tile = at & ((1u << log_across()) - 1);
            if (of_tile * COLUMNS < place.columns)
                visit(at >> log_across(), of_tile);
        }
    }
    DEVICE void load_cells_of_tile() const {
        const cell_access access = pass.cells.in.access;
        if (FORM == segment_form::CELLS && (access != cell_access::VALUES || pass.cells.in.any.without_nan))
            return load_cell_tile(pass.cells.in, pass.cells, place, OPS::nothing(), &cells->at[0], [](Value) {});
        each_cell([&](unsigned row, unsigned of_tile) {
            copy_ahead<sizeof(vector)>(cell(row, of_tile), row_of(pass.cells.in, row, of_tile));
        });
    }
    DEVICE void store_cells_of_tile() const {
        if constexpr (FORM == segment_form::CELLS)
            store_cell_tile<Value>(pass.cells.out, pass.cells, place, [&](unsigned row, unsigned from, auto count) {
                vector_of<Value, decltype(count)::value> results;
                UNROLL
                for (unsigned k = 0; k < decltype(count)::value; k++)
                    results.at[k] = cell(row, from + k)->at[0];
                return results;
            });
        else
            each_cell([&](unsigned row, unsigned of_tile) {
                store_vector(reinterpret_cast<vector *>(row_of(pass.cells.out, row, of_tile)), *cell(row, of_tile));
            });
    }
    DEVICE bool has_column() const { return lane * COLUMNS < place.columns; }
    /* Calls visit(number, its cell) for the rows that a run may have, from a row on, or for the first half of them. */
    template <class VISIT> DEVICE void walk_cells(unsigned row, bool is_long, const VISIT &visit) const {
        const unsigned down = 1u << log_across(), rows_to_gap = RUN_ROWS - row % RUN_ROWS;
        vector *next = cell(row, lane);
        UNROLL
        for (unsigned k = 0; k < RUN_OF_PIECE; k++) {
            if (k == RUN_OF_PIECE / 2 && !is_long)
                break;
            next += k == rows_to_gap ? down : 0;
            visit(k, next + (k << log_across()));
        }
    }
    DEVICE unsigned char *row_of(const cell_table &table, unsigned row, unsigned of_tile) const {
        const ptrdiff_t of_column = static_cast<ptrdiff_t>(place.first_column + of_tile * COLUMNS);
        return table.data + (static_cast<ptrdiff_t>(place.first_row + row) * table.stride + of_column) *
                                static_cast<ptrdiff_t>(table.any.size);
    }

    /* Whatever follows the rows of a run, other threads may be writing, and no sum of it is used. */
    DEVICE void load_run(const segment_run &run, bool is_long, run_values &values) const {
        if constexpr (IS_STAGED) {
            walk_cells(run.row, is_long, [&](unsigned k, const vector *of_row) {
                const vector row = load_if_wanted(of_row, k < run.rows);
                UNROLL
                for (unsigned c = 0; c < COLUMNS; c++)
                    values[c][k] = row.at[c];
            });
        } else {
            typedef vector_of<typename std::conditional<IS_SMALL, uint16_t, Value>::type, COLUMNS> vector_in;
            const unsigned char *from = row_of(pass.cells.in, run.row, lane);
            const ptrdiff_t down = pass.cells.in.stride * static_cast<ptrdiff_t>(pass.cells.in.any.size);
            vector_in rows[RUN_OF_PIECE];
            UNROLL
            for (unsigned k = 0; k < RUN_OF_PIECE; k++, from += down) {
                rows[k] = vector_in{};
                if (k < run.rows)
                    rows[k] = load_vector(reinterpret_cast<const vector_in *>(from));
            }
            loads_before_sums(pass.panels == 0);
            UNROLL
            for (unsigned k = 0; k < RUN_OF_PIECE; k++)
                UNROLL
            for (unsigned c = 0; c < COLUMNS; c++) {
                if constexpr (IS_SMALL)
                    values[c][k] = small_value(rows[k].at[c], pass.cells.in.any.type);
                else
                    values[c][k] = rows[k].at[c];
            }
        }
    }
    /* Exclusive results are the inclusive ones, each in the row below, and above them what the piece begins with. */
    DEVICE void store_run(const segment_run &run, bool is_long, const run_values &results, const vector &above) const {
        const unsigned below = pass.cells.exclusive ? 1 : 0, first = run.row + below;
        const unsigned rows = run.rows - (run.ends_piece ? below : 0);
        if constexpr (IS_STAGED) {
            if (below != 0 && run.number == 0)
                *cell(run.row, lane) = above;
            walk_cells(first, is_long, [&](unsigned k, vector *of_row) {
                if (k < rows)
                    *of_row = row_of_results(results, k);
            });
        } else {
            unsigned char *to = row_of(pass.cells.out, first, lane);
            const ptrdiff_t down = pass.cells.out.stride * static_cast<ptrdiff_t>(pass.cells.out.any.size);
            if (below != 0 && run.number == 0)
                store_row(to - down, above);
            UNROLL
            for (unsigned k = 0; k < RUN_OF_PIECE; k++, to += down) {
                if (k == RUN_OF_PIECE / 2 && !is_long)
                    break;
                if (k < rows)
                    store_row(to, row_of_results(results, k));
            }
        }
    }
    DEVICE static vector row_of_results(const run_values &results, unsigned k) {
        vector row;
        UNROLL
        for (unsigned c = 0; c < COLUMNS; c++)
            row.at[c] = results[c][k];
        return row;
    }
    DEVICE void store_row(unsigned char *to, const vector &row) const {
        if constexpr (IS_SMALL)
            if (pass.cells.out.any.size < sizeof(Value)) {
                const auto small = small_results(row, pass.cells.out.any.type);
                typedef typename std::remove_const<decltype(small)>::type small_vector;
                return store_vector(reinterpret_cast<small_vector *>(to), small);
            }
        store_vector(reinterpret_cast<vector *>(to), row);
    }
};

#endif
