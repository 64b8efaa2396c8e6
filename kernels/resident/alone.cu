/* The three stages for a table of at most a quarter of a chunk, by one block for each panel of columns, in one launch
 * with nothing before or after it: no workspace, nothing to clear, the start row and the totals straight from and to
 * the caller's rows. A cell is read once and written once.
 *
 * The launch is most of the time, and then the instructions of a block on one multiprocessor: so its tile is a quarter
 * of a chunk, which has a quarter of the code of a whole one. Larger tables go to a wave (wave.cu), 0.3 to 0.4 us later
 * than a block with a whole chunk would take in the first octave of sizes, which was not worth doubling the kernels
 * (docs/tuning.md#alone); or where there are no waves, to the separate stages. */
#include "resident/resident_pass.cuh"

/* The prefixes are the caller's start row, or zeros where it is NULL; the totals go to the caller's end row, unless it
 * is NULL. Both may be the same row: all have read it when the block has met. */
template <class SUM> struct start_and_end {
    const SUM *start;
    SUM *end;
};

template <class SHAPE> struct prefix_from_start : resident_block<SHAPE, start_and_end<typename SHAPE::Sum>> {
    typedef typename SHAPE::Sum Sum;
    static constexpr unsigned BLOCKS = 1; /* a block may have the registers of two */
    static constexpr bool EITHER = is_rare<SHAPE>();
    static constexpr bool SKIPS = true; /* on one multiprocessor the instructions of all warps are most of the time */
    static constexpr bool KEEPS_PREFIX =
        SHAPE::UNITS > 1; /* each warp makes the prefixes of its units, and does not wait */
    Sum own = Sum(0);

    /* Where one block has the whole table, it sets the word of the first overflow to TABLE_NO_OVERFLOW. */
    DEVICE void begin(const tile_place &) {
        own = this->state.start ? this->value_of_row(this->state.start) : Sum(0);
        if (this->pass.first_overflow && this->pass.panels == 1 && thread_index() == 0)
            store_relaxed(this->pass.first_overflow, ~uint64_t(0));
    }
    DEVICE void put(const tile_place &) {
        if (thread_index() < SHAPE::PANEL)
            this->shared.prefixes[0][thread_index()] = own;
    }
    DEVICE void publish(const tile_place &place) {
        size_t column;
        if (this->state.end && this->column_of_thread(column))
            this->state.end[column] =
                ::end_of_unit<SHAPE>(this->shared.totals, last_unit<SHAPE>(place), thread_index(), own);
    }
    DEVICE void lane_prefix(const tile_place &place, unsigned unit, Sum (&prefix)[SHAPE::COLUMNS]) const {
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
            const unsigned column = place.across * SHAPE::COLUMNS + c;
            prefix[c] = prefix_of_unit<SHAPE>(this->shared.totals, unit, column, this->shared.prefixes[0][column]);
        }
    }
    DEVICE void above_unit(const tile_place &place, Sum (&before)[SHAPE::COLUMNS]) const {
        if constexpr (SHAPE::UNITS > 1) {
            const unsigned unit = unit_of_step<SHAPE>(0);
            if (unit == 0 || !begins_unit<SHAPE>(place))
                return;
            UNROLL
            for (unsigned c = 0; c < SHAPE::COLUMNS; c++) {
                const unsigned column = place.across * SHAPE::COLUMNS + c;
                before[c] =
                    ::end_of_unit<SHAPE>(this->shared.totals, unit - 1, column, this->shared.prefixes[0][column]);
            }
        }
    }
};

struct alone_launcher {
    static constexpr bool BUFFERS = false, TAKES_ANY = true;
    template <class SUM> using ragged = three_columns<SUM>;
    const void *start;
    void *end, *stream;

    static bool takes_ragged(const kernel_pass &) { return true; }

    /* Shapes of one step have no shares: their tiles are whole chunks. */
    template <class SHAPE> int run(const tile_pass &pass, unsigned) const {
        typedef typename SHAPE::template share<(SHAPE::STEPS < ALONE_SHARES ? SHAPE::STEPS : ALONE_SHARES)> share;
        typedef typename SHAPE::Sum Sum;
        if (pass.rows > share::TILE_ROWS)
            return static_cast<int>(cudaErrorNotSupported);
        return launch(resident_kernel_for<share, prefix_from_start<share>>(pass), pass.panels, BLOCK_THREADS,
                      staging_bytes<share>(), stream, pass,
                      start_and_end<Sum>{static_cast<const Sum *>(start), static_cast<Sum *>(end)});
    }
};

int algorithm_alone::run(const kernel_pass *pass, const kernel_carry *carry, void *) {
    const alone_launcher launcher = {carry->in, carry->out, pass->stream};
    const int error = run_resident(*pass, launcher);
    return error == static_cast<int>(cudaErrorNotSupported) ? run_any(*pass, launcher) : error;
}
