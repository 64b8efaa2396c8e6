/* The three stages for a table of one chunk, by one block for each panel of columns, in one launch with nothing before
 * or after it: no workspace, nothing to clear, carries straight from and to the caller's rows. The launch is most of
 * the time, and then the instructions of a block on one multiprocessor: so a wave (wave.cu) is faster from half a
 * chunk on, where there is that form, and a quarter of a chunk has kernels of a quarter of the code. A block may have a
 * multiprocessor to itself, so that it has the registers of two. */
#include "choose/dispatch.cuh"
#include "overflow/in_tile.cuh"
#include "tile/finish.cuh"

constexpr unsigned SMALL_SHARES = 4; /* to a chunk, at most */

/* Thread c has column c of the panel. */
template <class SHAPE> DEVICE void put_carry_out(const tile_pass &pass, unsigned panel, const warp_rows<SHAPE> &totals,
                                                 const warp_row<SHAPE> &carries, typename SHAPE::Sum *carry_out) {
    const size_t column = static_cast<size_t>(panel) * pass.panel_columns + thread_index();
    if (thread_index() < pass.panel_columns && column < pass.columns)
        carry_out[column] = carries[thread_index()] + total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, thread_index());
}

/* The carry in, for what is done by column: thread c has column c of the panel. */
template <class SHAPE> DEVICE void put_carries(const tile_pass &pass, unsigned panel,
                                               const typename SHAPE::Sum *carry_in, warp_row<SHAPE> &carries) {
    const size_t column = static_cast<size_t>(panel) * pass.panel_columns + thread_index();
    if (thread_index() < pass.panel_columns && column < pass.columns)
        carries[thread_index()] = carry_in ? carry_in[column] : typename SHAPE::Sum(0);
}

/* A warp without rows. */
template <class SHAPE>
DEVICE void put_nothing(const tile_place &place, warp_rows<SHAPE> &totals, tile_magnitude &magnitudes) {
    const unsigned warp = thread_index() / WARP_LANES;
    if (thread_index() % WARP_LANES == 0)
        magnitudes[warp] = 0;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS && place.part == 0 && place.phase == 0; c++)
        totals[warp][place.across * SHAPE::COLUMNS + c] = sum_identity<typename SHAPE::Sum>();
}

/* carry_in NULL: zeros. carry_out NULL: not wanted; it may be carry_in, which all have read when the block has met. The
 * overflow's word is set here where one block has the whole table. */
template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 1)
    fused_small_kernel(tile_pass pass, const typename SHAPE::Sum *carry_in, typename SHAPE::Sum *carry_out) {
    typedef typename SHAPE::Sum Sum;
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, carries, 1);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    SHARED_ARRAY(uint32_t, magnitudes, BLOCK_WARPS);
    const unsigned panel = block_index();
    const tile_place place = tile_place_of<SHAPE>(pass, panel);
    Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS];
    /* On one multiprocessor the instructions of all warps are most of the time: those without rows do nothing. */
    const bool has_rows = thread_index() / WARP_LANES * SHAPE::WARP_ROWS < place.end;
    tile_values<SHAPE> values;
    if (has_rows)
        tile_load<SHAPE>(pass, place, values);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seed[c] = carry_in && place.active ? carry_in[place.column + c] : Sum(0);
    put_carries<SHAPE>(pass, panel, carry_in, carries[0]);
    if (pass.first_overflow && pass.panels == 1 && thread_index() == 0)
        store_relaxed(pass.first_overflow, ~uint64_t(0)); /* TABLE_NO_OVERFLOW */
    if (has_rows) {
        warp_barrier(WARP_ALL); /* tells the compiler that all lanes are here: shuffles take half the instructions */
        put_magnitude<SHAPE>(pass, pass.first_overflow, values, magnitudes);
        scan_warp<SHAPE>(place, values);
        put_warp_totals<SHAPE>(place, values, totals);
    } else {
        put_nothing<SHAPE>(place, totals, magnitudes);
    }
    block_barrier();
    if (carry_out)
        put_carry_out<SHAPE>(pass, panel, totals, carries[0], carry_out);
    if (has_rows) {
        scan_warps<SHAPE>(place, totals, values, before);
        finish_tile<SHAPE, ABOVE>(pass, place, staging[0], seed, values, before);
    }
    check_tile<SHAPE>(
        pass, panel, magnitudes, [&](unsigned c) { return carries[0][c]; },
        [&](unsigned c) { return total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, c); });
}

struct fused_small_launcher {
    static constexpr bool PARKS = false;
    const void *carry_in;
    void *carry_out, *stream;

    template <class SHAPE> int run(const tile_pass &pass, unsigned) const {
        typedef typename SHAPE::template share<(SHAPE::STEPS < SMALL_SHARES ? SHAPE::STEPS : SMALL_SHARES)> share;
        if (pass.rows <= share::CHUNK_ROWS)
            return run_share<share>(pass);
        return pass.rows <= SHAPE::TILE_ROWS ? run_share<SHAPE>(pass) : static_cast<int>(cudaErrorNotSupported);
    }

    template <class SHAPE> int run_share(const tile_pass &pass) const {
        const auto kernel = pass.exclusive ? fused_small_kernel<SHAPE, true> : fused_small_kernel<SHAPE, false>;
        return launch(kernel, pass.panels, BLOCK_THREADS, 0, stream, pass,
                      static_cast<const typename SHAPE::Sum *>(carry_in),
                      static_cast<typename SHAPE::Sum *>(carry_out));
    }
};

int form_alone::run(const kernel_pass *pass, const kernel_carry *carry, void *) {
    return run_pass(*pass, fused_small_launcher{carry->in, carry->out, pass->stream});
}
