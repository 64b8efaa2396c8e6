/* A tile of a table that is cut into segments: the pieces of segments that begin in a window of its rows, by some
 * columns.
 *
 * A piece is a segment of at most piece_rows rows, or a unit of a longer one. A tile has piece_rows rows below its
 * window, so that each piece that begins in the window is in the tile whole. No piece is in two tiles, and rows are
 * read once, however short or long segments are.
 *
 * Runs are RUN_ROWS rows of a piece, counted from its first one; the last run may have fewer. A thread scans a run of
 * one column: the additions of each row are known when the kernel is compiled. All runs are listed, so that threads
 * have nearly equally many, whatever the lengths of segments are. No two full runs begin within RUN_ROWS rows of the
 * tile, and each has the gap below these rows (operators/cells.cuh) for its total.
 *
 * The two bits of a row say whether a piece or a gap begins there; and whether it is marked, which each kernel means in
 * its own way. */
#ifndef SEGMENTS_SEGMENT_TILE_CUH
#define SEGMENTS_SEGMENT_TILE_CUH

#include "segments/segment_pieces.cuh"

/* Joins a row, or a run, to the rows or runs above it in its block: number q of 2^LEVELS. left[k] is the total of the
 * last whole block of 2^k. `aligned` is the total of the longest aligned block that ends with q. */
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

template <class OPS, segment_role ROLE> struct segment_tile : segment_pieces<OPS, ROLE> {
    typedef typename OPS::Value Value;
    typedef segment_pieces<OPS, ROLE> pieces;
    using pieces::column;
    using pieces::memory;
    using pieces::pass;
    using pieces::place;
    static constexpr unsigned VECTOR = VECTOR_BYTES / sizeof(Value);

    DEVICE segment_tile(const segment_pass &pass_, unsigned char *bytes) : pieces(pass_, bytes) {}

    /* Goes to a tile, and finds its runs. False: there are none. */
    DEVICE bool go_to(unsigned number) {
        if (!pieces::find(number))
            return false;
        load();
        pieces::list_runs();
        block_barrier();
        return true;
    }

    DEVICE Value &cell(unsigned row) const { return memory.cells[cell_at(row, column, pass.cells.log_across)]; }
    /* The gap below the rows of a word of bits. */
    DEVICE Value &gap(unsigned word) const {
        return memory.cells[((word * (RUN_ROWS + 1) + RUN_ROWS) << pass.cells.log_across) + column];
    }
    /* Calls visit(number in the run, value, cell) for the rows of a run, of which some are read ahead; and for some
     * rows below it, whose cells are nullptr. */
    template <class VISIT> DEVICE void walk_run(unsigned row, unsigned count, const VISIT &visit) const {
        const unsigned down = 1u << pass.cells.log_across, rows_to_gap = RUN_ROWS - row % RUN_ROWS;
        Value *next = &cell(row);
        UNROLL
        for (unsigned first = 0; first < RUN_ROWS; first += ROWS_AHEAD) {
            Value *cells[ROWS_AHEAD], values[ROWS_AHEAD] = {};
            if (first >= count)
                break;
            UNROLL
            for (unsigned k = 0; k < ROWS_AHEAD; k++) {
                cells[k] = next;
                if (first + k < count)
                    values[k] = *next;
                next += down;
                if (first + k + 1 == rows_to_gap)
                    next += down;
            }
            UNROLL
            for (unsigned k = 0; k < ROWS_AHEAD; k++)
                visit(first + k, values[k], first + k < count ? cells[k] : nullptr);
        }
    }
    /* Puts the totals of full runs into the gaps, and joins them to the totals of the longest aligned blocks of runs
     * that end with each. Returns the number of the full run that begins in the thread's word, in its marked piece; or
     * NO_RUN. */
    static constexpr unsigned NO_RUN = ~0u;
    DEVICE unsigned join_runs() const {
        const unsigned word = thread_index() >> pass.cells.log_across;
        const unsigned row = pieces::last_run(word);
        unsigned number = NO_RUN;
        if (column < place.columns && memory.runs[word] != 0 && pieces::is_full(row)) {
            const unsigned of_piece = pieces::piece_of(row);
            if (ROLE == segment_role::RESULTS || pieces::is_marked(of_piece))
                number = (row - of_piece) / RUN_ROWS;
        }
        if (number != NO_RUN) {
            Value left[RUN_BITS] = {}, total;
            walk_run(row, RUN_ROWS,
                     [&](unsigned of_run, Value value, Value *) { climb<OPS>(of_run, value, left, total); });
            gap(word) = total;
        }
        const unsigned numbers = warp_or(WARP_ALL, number != NO_RUN ? number : 0);
        if (thread_index() % WARP_LANES == 0 && numbers != 0)
            atomic_or(memory.depth, numbers);
        block_barrier();
        const unsigned depth = bit_width(*memory.depth);
        KEEP_LOOP
        for (unsigned k = 0; k < depth; k++) {
            if (number != NO_RUN && (~number & ((2u << k) - 1)) == 0)
                gap(word) = OPS::join(gap(word - (1u << k)), gap(word));
            block_barrier();
        }
        return number;
    }

    DEVICE void load() const {
        if (!pass.is_flat_in)
            return load_cell_tile(pass.cells.in, pass.cells, place, OPS::nothing(), memory.cells, [](Value) {});
        constexpr unsigned EACH = RUN_ROWS / VECTOR;
        const bool skips = pass.cells.in.any.without_nan;
        const Value *const from = reinterpret_cast<const Value *>(pass.cells.in.data) + place.first_row;
        vector_of<Value, VECTOR> vectors[EACH];
        UNROLL
        for (unsigned k = 0; k < EACH; k++) {
            const unsigned row = (thread_index() + k * block_threads()) * VECTOR;
            if (row >= place.missing && row + VECTOR <= place.rows)
                vectors[k] = load_vector(reinterpret_cast<const vector_of<Value, VECTOR> *>(from + row));
            else
                for (unsigned j = 0; j < VECTOR; j++)
                    vectors[k].at[j] = place.has_row(row + j) ? load_vector(from + row + j) : OPS::nothing();
        }
        UNROLL
        for (unsigned k = 0; k < EACH; k++) {
            const unsigned row = (thread_index() + k * block_threads()) * VECTOR;
            Value *const cells = memory.cells + cell_at(row, 0, 0);
            if (skips)
                for (unsigned j = 0; j < VECTOR; j++)
                    vectors[k].at[j] = vectors[k].at[j] != vectors[k].at[j] ? OPS::nothing() : vectors[k].at[j];
            UNROLL
            for (unsigned j = 0; j < VECTOR; j++)
                cells[j] = vectors[k].at[j];
        }
    }
    /* Writes what result(row, column of the tile) says. */
    template <class RESULT> DEVICE void store(const RESULT &result) const {
        if (!pass.is_flat_out)
            return store_cell_tile<Value>(pass.cells.out, pass.cells, place,
                                          [&](unsigned row, unsigned from, auto count) {
                                              vector_of<Value, decltype(count)::value> results;
                                              UNROLL
                                              for (unsigned k = 0; k < decltype(count)::value; k++)
                                                  results.at[k] = result(row, from + k);
                                              return results;
                                          });
        Value *const to = reinterpret_cast<Value *>(pass.cells.out.data) + place.first_row;
        KEEP_LOOP
        for (unsigned row = thread_index() * VECTOR; row < place.rows; row += block_threads() * VECTOR) {
            vector_of<Value, VECTOR> results;
            const bool is_whole = row >= place.missing && row + VECTOR <= place.rows;
            for (unsigned j = 0; j < VECTOR && is_whole && !pass.cells.exclusive; j++)
                results.at[j] = memory.cells[cell_at(row, 0, 0) + j];
            for (unsigned j = 0; j < VECTOR && !(is_whole && !pass.cells.exclusive); j++)
                if (place.has_row(row + j)) {
                    results.at[j] = result(row + j, 0);
                    if (!is_whole)
                        store_vector(to + row + j, results.at[j]);
                }
            if (is_whole)
                store_vector(reinterpret_cast<vector_of<Value, VECTOR> *>(to + row), results);
        }
    }
};

#endif
