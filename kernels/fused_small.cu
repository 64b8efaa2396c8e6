/* The three stages for a table of few chunks, in one launch with nothing before or after it: no workspace, nothing to
 * clear, carries straight from and to the caller's rows. For small tables the launch is most of the time, and then the
 * instructions of a block on one multiprocessor: so blocks share a chunk as long as there are few.
 *
 * All blocks of a panel are one cluster: each writes its column totals into the shared memory of those after it, all
 * meet, and each adds up what came before it: by the tree in its chunk, from left to right before. One block needs no
 * cluster. It may have a multiprocessor to itself, so that it has the registers of two. */
#include "dispatch.cuh"
#include "overflow.cuh"
#include "tile_finish.cuh"

constexpr unsigned MOST_BLOCKS = BLOCK_WARPS; /* of a cluster: 8 on every device that has clusters */
constexpr unsigned MOST_SHARES = 4;           /* of a chunk */
constexpr unsigned SHARED_BLOCKS = 128;       /* no more blocks than this in all where they share chunks */

/* The totals of all blocks of the cluster, one below the other; scan_level() adds them up as it does those of warps. */
template <class SHAPE> using block_totals = warp_row<SHAPE>[MOST_BLOCKS];

/* All threads of the block, after the cluster has met once. A warp for each block after this one. */
template <class SHAPE> DEVICE void send_totals(const tile_pass &pass, unsigned block, unsigned blocks,
                                               const warp_rows<SHAPE> &totals, block_totals<SHAPE> &received) {
    const unsigned column = thread_index() % WARP_LANES, to = block + 1 + thread_index() / WARP_LANES;
    if (column < pass.panel_columns && to < blocks)
        cluster_store(&received[block][column], to, total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, column));
}

/* The seed of this chunk in one column of the panel, from that of the first chunk. */
template <class SHAPE, unsigned SHARES> DEVICE typename SHAPE::Sum
add_received(typename SHAPE::Sum seed, unsigned chunk, const block_totals<SHAPE> &received, unsigned column) {
    for (unsigned before = 0; before < chunk; before++)
        seed = seed + total_of_warps<SHAPE, SHARES>(received, before * SHARES, column);
    return seed;
}

/* The last block: thread c has column c of the panel. */
template <class SHAPE, unsigned SHARES>
DEVICE void put_carry_out(const tile_pass &pass, unsigned panel, unsigned block, const warp_rows<SHAPE> &totals,
                          block_totals<SHAPE> &received, const warp_row<SHAPE> &carries,
                          typename SHAPE::Sum *carry_out) {
    const size_t column = static_cast<size_t>(panel) * pass.panel_columns + thread_index();
    if (thread_index() >= pass.panel_columns || column >= pass.columns)
        return;
    received[block][thread_index()] = total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, thread_index());
    for (unsigned after = block + 1; after % SHARES != 0; after++)
        received[after][thread_index()] = sum_identity<typename SHAPE::Sum>();
    carry_out[column] =
        add_received<SHAPE, SHARES>(carries[thread_index()], block / SHARES + 1, received, thread_index());
}

/* The carry in, for what is done by column: thread c has column c of the panel. */
template <class SHAPE> DEVICE void put_carries(const tile_pass &pass, unsigned panel,
                                               const typename SHAPE::Sum *carry_in, warp_row<SHAPE> &carries) {
    const size_t column = static_cast<size_t>(panel) * pass.panel_columns + thread_index();
    if (thread_index() < pass.panel_columns && column < pass.columns)
        carries[thread_index()] = carry_in ? carry_in[column] : typename SHAPE::Sum(0);
}

/* A block of the cluster that has no rows, after it has arrived: it meets the others as often as they meet. */
DEVICE void meet_twice() {
    cluster_wait();
    cluster_arrive();
    cluster_wait();
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

/* carry_in NULL: zeros. carry_out NULL: not wanted; it may be carry_in, which all have read when the cluster, or the
 * block that is alone, has met. The overflow's word is set here where one cluster has the whole table. */
template <class SHAPE, bool ABOVE, unsigned SHARES> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 1)
    fused_small_kernel(tile_pass pass, const typename SHAPE::Sum *carry_in, typename SHAPE::Sum *carry_out,
                       unsigned blocks, unsigned cluster) {
    typedef typename SHAPE::Sum Sum;
    SHARED_ARRAY(warp_row<SHAPE>, totals, BLOCK_WARPS);
    SHARED_ARRAY(warp_row<SHAPE>, received, MOST_BLOCKS);
    SHARED_ARRAY(warp_row<SHAPE>, carries, 1);
    SHARED_ARRAY(tile_staging<SHAPE>, staging, 1);
    SHARED_ARRAY(uint32_t, magnitudes, BLOCK_WARPS);
    const unsigned block = cluster_rank(), panel = block_index() / cluster;
    if (blocks > 1)
        cluster_arrive();
    if (block >= blocks)
        return meet_twice();
    const unsigned tile = block * pass.panels + panel;
    const tile_place place = tile_place_of<SHAPE>(pass, tile);
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
    if (pass.first_overflow && pass.panels == 1 && block == 0 && thread_index() == 0)
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
    if (blocks > 1) {
        cluster_wait();
        send_totals<SHAPE>(pass, block, blocks, totals, received);
        cluster_arrive();
    }
    if (has_rows)
        scan_warps<SHAPE>(place, totals, values, before);
    if (blocks > 1)
        cluster_wait();
    if (carry_out && block + 1 == blocks)
        put_carry_out<SHAPE, SHARES>(pass, panel, block, totals, received, carries[0], carry_out);
    if (has_rows) {
        if (SHARES > 1)
            scan_level<SHAPE, 1>(place, block, received, values, before);
        if (SHARES > 2)
            scan_level<SHAPE, 2>(place, block, received, values, before);
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            seed[c] = add_received<SHAPE, SHARES>(seed[c], block / SHARES, received, place.across * SHAPE::COLUMNS + c);
        finish_tile<SHAPE, ABOVE>(pass, place, staging[0], seed, values, before);
    }
    check_tile<SHAPE>(
        pass, tile, magnitudes, [&](unsigned c) { return add_received<SHAPE, 1>(carries[0][c], block, received, c); },
        [&](unsigned c) { return total_of_warps<SHAPE, SHAPE::WARPS>(totals, 0, c); });
}

struct fused_small_launcher {
    static constexpr bool PARKS = false;
    const void *carry_in;
    void *carry_out, *stream;
    unsigned most_blocks;

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        constexpr unsigned SHARES = SHAPE::STEPS < MOST_SHARES ? SHAPE::STEPS : MOST_SHARES;
        const unsigned chunks = tiles / pass.panels;
        const unsigned most = most_blocks < MOST_BLOCKS ? most_blocks : MOST_BLOCKS;
        int error = static_cast<int>(cudaErrorInvalidClusterSize);
        if (SHARES > 1 && chunks <= most / SHARES && tiles <= SHARED_BLOCKS / SHARES)
            error = run_shares<SHAPE, SHARES>(pass);
        if (error == static_cast<int>(cudaErrorInvalidClusterSize) && chunks <= most)
            error = run_shares<SHAPE, 1>(pass);
        return error;
    }

    template <class SHAPE, unsigned SHARES> int run_shares(const tile_pass &pass) const {
        typedef typename SHAPE::Sum Sum;
        typedef typename SHAPE::template share<SHARES> share;
        const auto kernel =
            pass.exclusive ? fused_small_kernel<share, true, SHARES> : fused_small_kernel<share, false, SHARES>;
        const unsigned blocks = static_cast<unsigned>((pass.rows + share::CHUNK_ROWS - 1) / share::CHUNK_ROWS);
        const unsigned cluster = power_of_two_above(blocks);
        const Sum *from = static_cast<const Sum *>(carry_in);
        Sum *to = static_cast<Sum *>(carry_out);
        if (pass.panels > static_cast<unsigned>(INT32_MAX) / cluster)
            return static_cast<int>(cudaErrorInvalidClusterSize);
        if (blocks == 1)
            return launch(kernel, pass.panels, BLOCK_THREADS, 0, stream, pass, from, to, blocks, cluster);
        return launch_clusters(kernel, pass.panels * cluster, BLOCK_THREADS, cluster, stream, pass, from, to, blocks,
                               cluster);
    }
};

int kernel_fused_small(const kernel_pass *pass, const void *carry_in, void *carry_out, unsigned most_blocks) {
    return run_pass(*pass, fused_small_launcher{carry_in, carry_out, pass->stream, most_blocks});
}
