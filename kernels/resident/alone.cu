/* The three stages for a table of at most a quarter of a chunk, by one block for each panel of columns, in one launch
 * with nothing before or after it: no workspace, nothing to clear, the start row and the totals straight from and to
 * the caller's rows. A cell is read once and written once.
 *
 * The launch is most of the time, and then the instructions of a block on one multiprocessor: so its tile is a quarter
 * of a chunk, which has a quarter of the code of a whole one. From there on a wave (wave.cu) takes the table, 0.3 to
 * 0.4 us later than a block with a whole chunk would in the first octave of sizes, which was not worth as many kernels
 * again (docs/tuning.md#alone); or where there are no waves, the separate stages. */
#include "resident/seed_from_start.cuh"

struct alone_launcher {
    static constexpr bool PARKS = false, TAKES_ANY = true;
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
        return launch(resident_kernel_for<share, seed_from_start<share>>(pass), pass.panels, BLOCK_THREADS,
                      staging_bytes<share>(), stream, pass,
                      start_and_end<Sum>{static_cast<const Sum *>(start), static_cast<Sum *>(end)});
    }
};

int form_alone::run(const kernel_pass *pass, const kernel_carry *carry, void *) {
    const alone_launcher launcher = {carry->in, carry->out, pass->stream};
    const int error = run_resident(*pass, launcher);
    return error == static_cast<int>(cudaErrorNotSupported) ? run_any(*pass, launcher) : error;
}
