/* A tile of rows that are vectors of columns. A thread takes a run of a piece, of a vector of columns; a block takes
 * its runs in rounds, and whole pieces in each. What a run needs of the runs before it in its piece goes by way of
 * shared memory, and what a piece needs of the units before it in its segment by way of descriptors
 * (segment_units.cuh). */
#ifndef SEGMENTS_SEGMENT_TILE_CUH
#define SEGMENTS_SEGMENT_TILE_CUH

#include "segments/segment_window.cuh"

template <class OPS, segment_form FORM> struct segment_tile : segment_window {
    typedef typename OPS::Value Value;
    static constexpr unsigned COLUMNS = segment_columns<Value, FORM>(), BLOCKS = 2; /* of a multiprocessor */
    static constexpr bool FETCHES_FIRST = false;
    static constexpr bool IS_STAGED = is_staged(FORM), IS_SMALL = FORM == segment_form::SMALL_VECTORS;
    typedef vector_of<Value, COLUMNS> vector;
    typedef Value run_values[COLUMNS][RUN_OF_PIECE];

    vector *const totals; /* of each thread's run; then of the longest aligned block of runs that ends with it */
    const segment_prefixes<OPS> prefixes;
    vector *const cells;       /* of the tile, if they are staged */
    const unsigned lane, slot; /* lanes have columns, slots have runs */

    static size_t shared_bytes(const segment_pass &pass) {
        return aligned_list_bytes(pass) + segment_threads(pass) * sizeof(vector) +
               segment_prefixes<OPS>::values(pass) * sizeof(Value) +
               (IS_STAGED ? cell_at(pass.window + UNIT_ROWS, 0, pass.cells.log_across) * sizeof(vector) : 0);
    }

    DEVICE segment_tile(const segment_pass &pass_, unsigned char *memory)
        : segment_window(pass_, memory), totals(reinterpret_cast<vector *>(memory + aligned_list_bytes(pass_))),
          prefixes(pass_, reinterpret_cast<Value *>(totals + block_threads())),
          cells(reinterpret_cast<vector *>(prefixes.begins + segment_prefixes<OPS>::values(pass_))),
          lane(thread_index() & ((1u << log_across()) - 1)), slot(thread_index() >> log_across()) {}

    DEVICE unsigned log_across() const { return pass.cells.log_across; }

    /* Goes to the tile that was fetched, and lists its runs. False: there are none. */
    DEVICE bool go_to() {
        if (!take())
            return false;
        if constexpr (IS_STAGED)
            load_cells();
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
        for (unsigned at = (first_row << log_across()) + thread_index(); at < end_row << log_across();
             at += block_threads()) {
            const unsigned of_tile = at & ((1u << log_across()) - 1);
            if (of_tile * COLUMNS < columns)
                visit(at >> log_across(), of_tile);
        }
    }
    DEVICE void load_cells() const {
        each_cell([&](unsigned row, unsigned of_tile) {
            copy_ahead<sizeof(vector)>(cell(row, of_tile), row_of(pass.cells.in, row, of_tile * COLUMNS));
        });
    }
    DEVICE void store_cells() const {
        if constexpr (IS_STAGED)
            each_cell([&](unsigned row, unsigned of_tile) {
                store_vector(reinterpret_cast<vector *>(row_of(pass.cells.out, row, of_tile * COLUMNS)),
                             *cell(row, of_tile));
            });
    }
    DEVICE bool has_column() const { return lane * COLUMNS < columns; }
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
            const unsigned char *from = row_of(pass.cells.in, run.row, lane * COLUMNS);
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
            unsigned char *to = row_of(pass.cells.out, first, lane * COLUMNS);
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
