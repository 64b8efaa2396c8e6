/* Between tables and a warp's shared memory: the cells of the rows of a round, which follow each other. Lanes side by
 * side read and write neighbours. */
#ifndef SEGMENTS_MAP_CELLS_CUH
#define SEGMENTS_MAP_CELLS_CUH

#include "segments/map_pass.cuh"

constexpr unsigned MAP_WARPS = 8;
static_assert(MAP_WARPS == TILE_COUNTERS, "each warp of a block has a counter of tiles");

/* The shared memory of a warp. Cells lie row after row, with gaps (place_of()), so that lanes read from different
 * banks; results take the place of terms. And for each level and column the block of 2^level runs that the next round
 * may need, twice, so that a round that is done again finds what it has found before. */
template <class OPS, unsigned RUN_BITS> struct map_memory {
    static constexpr unsigned RUN = 1 << RUN_BITS, LEVELS = UNIT_BITS - RUN_BITS, PLACES = WARP_LANES * (RUN + 1);
    static constexpr unsigned ACROSS = MAP_ACROSS_BYTES / sizeof(typename OPS::Value); /* the most columns of a round */
    typename OPS::Kept blocks[LEVELS][2][ACROSS];
    typename OPS::Value terms[PLACES], factors[PLACES];
};

template <class OPS, unsigned RUN_BITS> struct map_cells_of_warp : map_column<OPS> {
    typedef typename OPS::Value Value;
    using map_column<OPS>::column;
    using map_column<OPS>::pass;
    static constexpr unsigned RUN = 1 << RUN_BITS;
    map_memory<OPS, RUN_BITS> &memory;
    const unsigned lane, across; /* across: columns of a round, which are a power of two */
    unsigned first_row;          /* of the round, in the window */
    unsigned char *at_terms, *at_factors, *at_out;
    bool has_column;
    uint64_t top; /* of the window */

    DEVICE map_cells_of_warp(const map_pass &pass_, map_memory<OPS, RUN_BITS> *memories)
        : map_column<OPS>{pass_, 0}, memory(memories[thread_index() / WARP_LANES]), lane(thread_index() % WARP_LANES),
          across(1u << pass_.log_across), first_row(0), at_terms(nullptr), at_factors(nullptr), at_out(nullptr),
          has_column(false), top(0) {
        KEEP_LOOP
        for (unsigned k = lane; k < map_memory<OPS, RUN_BITS>::PLACES; k += WARP_LANES) {
            memory.terms[k] = 0;
            memory.factors[k] = 1;
        }
        warp_barrier(WARP_ALL);
    }
    /* Goes to a window of rows, and columns. */
    DEVICE void go_to(unsigned window, unsigned panel) {
        top = static_cast<uint64_t>(window) * pass.window;
        column = (static_cast<size_t>(panel) << pass.log_across) + (lane & (across - 1));
        has_column = column < pass.columns;
        at_terms = address_in(pass.terms);
        at_factors = address_in(pass.factors);
        at_out = address_in(pass.out);
        if (pass.factors.row_bytes == 0) {
            first_row = 0;
            warp_barrier(WARP_ALL);
            load(pass.factors, at_factors, RUN * runs_of_round(), OPS::no_factor(), memory.factors);
        }
    }
    DEVICE unsigned run_of_round() const { return lane >> pass.log_across; }
    DEVICE unsigned runs_of_round() const { return WARP_LANES >> pass.log_across; }
    /* The lane of the round's last run in the lane's column. */
    DEVICE unsigned last_lane() const { return WARP_LANES - across + (lane & (across - 1)); }

    /* Where in shared memory the column's cell of a row of the round is. Rows follow each other, with a gap after
     * 2^gap_shift of them, so that lanes read from different banks; WARP_LANES cells have WARP_LANES / RUN of gaps. */
    DEVICE unsigned place_of(unsigned row) const {
        return row * across + (lane & (across - 1)) + (row >> pass.gap_shift) * pass.gap;
    }
    static constexpr unsigned PLACES_APART = WARP_LANES + WARP_LANES / RUN;
    /* The lane's first cell of the window. */
    DEVICE unsigned char *address_in(const map_cells &cells) const {
        return cells.data + static_cast<ptrdiff_t>(top + run_of_round()) * cells.row_bytes +
               static_cast<ptrdiff_t>(column) * cells.column_bytes;
    }
    /* Calls visit(k, place in shared memory, address, whether the cell is in the table) for each cell of a round that a
     * lane reads and writes. `first` is its address_in(). */
    template <bool IS_DIRECT, class VISIT>
    DEVICE void each_cell(const map_cells &cells, unsigned char *first, unsigned rows, const VISIT &visit) const {
        const int left = has_column ? static_cast<int>(rows * across) - static_cast<int>(lane) : 0;
        const unsigned place = place_of(run_of_round());
        unsigned char *at = first + static_cast<ptrdiff_t>(first_row) * cells.row_bytes;
        if constexpr (IS_DIRECT) {
            const int step = static_cast<int>(cells.step_bytes);
            UNROLL
            for (unsigned k = 0; k < RUN; k++)
                visit(k, place + k * PLACES_APART, at + static_cast<int64_t>(static_cast<int>(k)) * step,
                      left > static_cast<int>(k * WARP_LANES));
        } else {
            KEEP_LOOP
            for (unsigned k = 0; k < RUN; k++, at += cells.step_bytes)
                visit(k, place + k * PLACES_APART, at, left > static_cast<int>(k * WARP_LANES));
        }
    }
    /* Begins to read the cells of a round. What is in the place of others may be anything. Shifted cells of the table's
     * first row would be of a row before it. */
    DEVICE void load(const map_cells &cells, unsigned char *first, unsigned rows, Value nothing, Value *to) const {
        const bool is_above = cells.shifted && cells.row_bytes != 0 && top + first_row == 0;
        if (cells.is_direct && !is_above)
            return each_cell<true>(cells, first, rows, [&](unsigned, unsigned place, const void *at, bool is_there) {
                if (is_there)
                    copy_ahead<sizeof(Value)>(to + place, at);
            });
        const auto value_of = [&](Value value) { return cells.skips_nan && value != value ? nothing : value; };
        if constexpr (std::is_same<Value, float>::value)
            if (cells.is_small && !is_above) {
                uint16_t bits[RUN];
                each_cell<true>(cells, first, rows, [&](unsigned k, unsigned, const void *at, bool is_there) {
                    bits[k] = is_there ? load_vector(static_cast<const uint16_t *>(at)) : uint16_t(0);
                });
                return each_cell<true>(cells, first, rows,
                                       [&](unsigned k, unsigned place, const void *, bool is_there) {
                                           if (is_there)
                                               to[place] = value_of(small_value(bits[k], cells.any.type));
                                       });
            }
        each_cell<false>(cells, first, rows, [&](unsigned, unsigned place, const void *at, bool is_there) {
            if (is_there && !(is_above && place < across))
                to[place] = value_of(any_value_at<Value>(at, 0, cells.any));
        });
    }
    DEVICE void store(unsigned rows) const {
        const map_cells &cells = pass.out;
        if (cells.is_direct)
            return each_cell<true>(cells, at_out, rows, [&](unsigned, unsigned place, void *at, bool is_there) {
                const Value value = memory.terms[place];
                if (is_there)
                    store_vector(static_cast<Value *>(at), value);
            });
        if constexpr (std::is_same<Value, float>::value)
            if (cells.is_small)
                return each_cell<true>(cells, at_out, rows, [&](unsigned, unsigned place, void *at, bool is_there) {
                    const Value value = memory.terms[place];
                    const uint16_t bits = cells.any.type == TABLE_F16 ? f16_of_float(value) : bf16_of_float(value);
                    if (is_there)
                        store_vector(static_cast<uint16_t *>(at), bits);
                });
        each_cell<false>(cells, at_out, rows, [&](unsigned, unsigned place, unsigned char *at, bool is_there) {
            if (is_there)
                put_cell(at, memory.terms[place], cells.any);
        });
    }
};

#endif
