/* The three stages for a table of few chunks, in one launch with nothing before or after it: no workspace, nothing to
 * clear, carries straight from and to the caller's rows. For small tables the launch is most of the time.
 *
 * A block a tile. The chunks of a panel are one cluster: each block writes its column totals into the shared memory of
 * those after it, all meet, and each adds up what came before it, from left to right. One chunk needs no cluster. A
 * block may have a multiprocessor to itself, so that it has the registers of two. */
#include "dispatch.cuh"
#include "tile_finish.cuh"

constexpr unsigned MOST_CHUNKS = 16; /* 8 on every device that has clusters */

/* All threads of the block, after the cluster has met once. A warp for each block after this one. */
template <class SHAPE> DEVICE void send_totals(const tile_pass &pass, unsigned chunk, unsigned chunks,
                                               const warp_row<SHAPE> (&totals)[BLOCK_WARPS],
                                               warp_row<SHAPE> (&received)[MOST_CHUNKS]) {
    const unsigned column = thread_index() % WARP_LANES, to = chunk + 1 + thread_index() / WARP_LANES;
    if (column < pass.panel_columns && to < chunks)
        cluster_store(&received[chunk][column], to, total_of_warps<SHAPE, BLOCK_WARPS>(totals, 0, column));
}

/* The seed of this chunk in one column of the panel, from that of the first chunk. */
template <class SHAPE> DEVICE typename SHAPE::Sum add_received(typename SHAPE::Sum seed, unsigned chunk,
                                                               const warp_row<SHAPE> (&received)[MOST_CHUNKS],
                                                               unsigned column) {
    for (unsigned before = 0; before < chunk; before++)
        seed = seed + received[before][column];
    return seed;
}

/* The block of the last chunk: thread c has column c of the panel, and its carry in. */
template <class SHAPE> DEVICE void put_carry_out(const tile_pass &pass, unsigned panel, unsigned chunk,
                                                 const warp_row<SHAPE> (&totals)[BLOCK_WARPS],
                                                 const warp_row<SHAPE> (&received)[MOST_CHUNKS],
                                                 typename SHAPE::Sum carry, typename SHAPE::Sum *carry_out) {
    const size_t column = static_cast<size_t>(panel) * pass.panel_columns + thread_index();
    if (thread_index() < pass.panel_columns && column < pass.columns)
        carry_out[column] = add_received<SHAPE>(carry, chunk, received, thread_index()) +
                            total_of_warps<SHAPE, BLOCK_WARPS>(totals, 0, thread_index());
}

/* carry_in NULL: zeros. carry_out NULL: not wanted; it may be carry_in, which all have read when the cluster, or the
 * block that is alone, has met. The overflow's word is set here where one cluster has the whole table. */
template <class SHAPE, bool ABOVE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 1)
    fused_small_kernel(tile_pass pass, const typename SHAPE::Sum *carry_in, typename SHAPE::Sum *carry_out,
                       unsigned chunks, unsigned cluster) {
    typedef typename SHAPE::Sum Sum;
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, received, MOST_CHUNKS);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    const unsigned chunk = cluster_rank(), panel = block_index() / cluster;
    if (chunks > 1)
        cluster_arrive();
    if (chunk >= chunks) {
        cluster_wait();
        cluster_arrive();
        cluster_wait();
        return;
    }
    const tile_place place = tile_place_of<SHAPE>(pass, static_cast<size_t>(chunk) * pass.panels + panel);
    Sum seed[SHAPE::COLUMNS], before[SHAPE::COLUMNS], carry = Sum(0);
    /* On one multiprocessor the instructions of all warps are most of the time: those without rows do nothing. */
    const bool has_rows = place.row - place.phase * SHAPE::ROWS < place.end;
    tile_values<SHAPE> values;
    if (has_rows)
        tile_load<SHAPE>(pass, place, values);
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seed[c] = carry_in && place.active ? carry_in[place.column + c] : Sum(0);
    const size_t column = static_cast<size_t>(panel) * pass.panel_columns + thread_index();
    if (carry_in && carry_out && thread_index() < pass.panel_columns && column < pass.columns)
        carry = carry_in[column];
    if (ABOVE && pass.first_overflow && pass.panels == 1 && chunk == 0 && thread_index() == 0)
        store_relaxed(pass.first_overflow, ~uint64_t(0)); /* TABLE_NO_OVERFLOW */
    if (has_rows) {
        scan_warp<SHAPE>(place, values);
        put_warp_totals<SHAPE>(place, values, totals);
    } else if (place.phase == 0) {
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            totals[thread_index() / WARP_LANES][place.across * SHAPE::COLUMNS + c] = sum_identity<Sum>();
    }
    block_barrier();
    if (chunks > 1) {
        cluster_wait();
        send_totals<SHAPE>(pass, chunk, chunks, totals, received);
        cluster_arrive();
    }
    if (has_rows)
        scan_warps<SHAPE>(place, totals, values, before);
    if (chunks > 1)
        cluster_wait();
    if (carry_out && chunk + 1 == chunks)
        put_carry_out<SHAPE>(pass, panel, chunk, totals, received, carry, carry_out);
    if (!has_rows)
        return;
    UNROLL
    for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
        seed[c] = add_received<SHAPE>(seed[c], chunk, received, place.across * SHAPE::COLUMNS + c);
    finish_tile<SHAPE, ABOVE>(pass, place, staging[0], seed, values, before);
}

struct fused_small_launcher {
    const void *carry_in;
    void *carry_out, *stream;

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        const auto kernel =
            pass.exclusive || pass.first_overflow ? fused_small_kernel<SHAPE, true> : fused_small_kernel<SHAPE, false>;
        const unsigned chunks = tiles / pass.panels, cluster = power_of_two_above(chunks);
        const Sum *from = static_cast<const Sum *>(carry_in);
        Sum *to = static_cast<Sum *>(carry_out);
        if (chunks > MOST_CHUNKS || pass.panels > static_cast<unsigned>(INT32_MAX) / cluster)
            return static_cast<int>(cudaErrorInvalidClusterSize);
        if (chunks == 1)
            return launch(kernel, tiles, BLOCK_THREADS, 0, stream, pass, from, to, chunks, cluster);
        return launch_clusters(kernel, pass.panels * cluster, BLOCK_THREADS, cluster, stream, pass, from, to, chunks,
                               cluster);
    }
};

int kernel_fused_small(const kernel_pass *pass, const void *carry_in, void *carry_out) {
    return run_pass(*pass, fused_small_launcher{carry_in, carry_out, pass->stream});
}
