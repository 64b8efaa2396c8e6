/* The kernels of segments in one pass, in which a value is read once and written once, and their launches. */
#ifndef SEGMENTS_SEGMENT_LAUNCH_CUH
#define SEGMENTS_SEGMENT_LAUNCH_CUH

#include "operators/operator_launch.cuh"
#include "segments/segment_column.cuh"
#include "segments/segment_long.cuh"
#include "segments/segment_rounds.cuh"

constexpr unsigned LOG_MOST_LANES = 3;   /* side by side */
constexpr unsigned LOG_STAGED_LANES = 1; /* rows of more vectors are not staged */
constexpr unsigned SPLIT_WINDOW = 8192;  /* the most rows of a window whose passed pieces other tiles have */
constexpr size_t ENOUGH_TILES = 2;       /* for each multiprocessor */

/* Blocks take tiles in the order of rows, so that the units that a tile waits for are in its own or in tiles that
 * others have. In place is safe: no other block reads the rows of a tile. The next tile is fetched when all warps have
 * made their results, or, where FETCHES_FIRST, before: by the last warp, which has no more runs than others. */
template <class TILE> KERNEL LAUNCH_BOUNDS(SEGMENT_THREADS, TILE::BLOCKS) segment_results_kernel(segment_pass pass) {
    SHARED_DYNAMIC(unsigned char, memory);
    if (!pass.where.is_right() || pass.where.count() == 0)
        return;
    TILE tile(pass, memory);
    const unsigned passed = tile.passed_tiles(), tiles = tile.tiles();
    if (thread_index() == 0)
        tile.fetch(passed, tiles);
    block_barrier();
    KEEP_LOOP
    while (tile.list.words->number < tiles) {
        const bool has_runs = tile.go_to();
        if (has_runs)
            tile.take_all();
        if constexpr (!TILE::FETCHES_FIRST)
            block_barrier();
        if (thread_index_anew() == (TILE::FETCHES_FIRST ? block_threads() - WARP_LANES : 0))
            tile.fetch(passed, tiles);
        if constexpr (TILE::FETCHES_FIRST)
            block_barrier();
        if (has_runs && pass.cells.out.data && !pass.has_offsets)
            tile.store_cells();
        block_barrier();
    }
}

/* Launches as many of `most` blocks as run at once, for `tiles` tiles; most is 0 where there is nothing to do. */
static int launch_tiles(void (*kernel)(segment_pass), unsigned threads, size_t bytes, size_t tiles, size_t most,
                        void *stream, const segment_pass &pass) {
    unsigned blocks = 0;
    int error = allow_shared_bytes(kernel);
    if (error == 0 && tiles > INT32_MAX)
        error = static_cast<int>(cudaErrorInvalidConfiguration);
    if (error == 0)
        error = resident_blocks(kernel, threads, bytes, &blocks);
    blocks = blocks < most ? blocks : static_cast<unsigned>(most);
    return error == 0 && most > 0 ? launch(kernel, blocks, threads, bytes, stream, pass) : error;
}

/* Launches up to that many warps a block, of which each needs shared memory of its own. */
static inline int launch_warps(void (*kernel)(segment_pass), unsigned warps, size_t bytes, size_t tiles,
                               const segment_plan &plan, void *stream, const segment_pass &pass) {
    while (warps > 1 && warps * bytes > plan.shared_bytes)
        warps--;
    return launch_tiles(kernel, warps * WARP_LANES, warps * bytes, tiles, tiles > 0 ? tiles / warps + 1 : 0, stream,
                        pass);
}
template <class OPS>
static int launch_column(const kernel_segmented_pass &from, const segment_plan &plan, const segment_pass &pass) {
    typedef typename OPS::Value Value;
    const size_t rows = from.pass.rows, windows = rows > 0 ? rows / COLUMN_WINDOW + 1 : 0;
    const size_t tiles = rows > MOST_SHORT_ROWS ? rows / LONG_ROWS : 0;
    const int error = launch_warps(segment_long_kernel<OPS>, segment_long<OPS>::WARPS, segment_long<OPS>::bytes(),
                                   tiles, plan, from.pass.stream, pass);
    return error != 0
               ? error
               : launch_warps(segment_column_kernel<OPS>, SEGMENT_WARPS,
                              column_memory<Value>::bytes(pass.wants_segments), windows, plan, from.pass.stream, pass);
}

template <class TILE>
static int launch_segment_tiles(const kernel_segmented_pass &from, const segment_pass &pass, unsigned threads) {
    const size_t least = pass.split_window != 0 ? pass.split_window : pass.window; /* rows of a tile */
    const size_t tiles = (from.pass.rows / least * 2 + 2) * pass.panels;
    return launch_tiles(segment_results_kernel<TILE>, threads, TILE::shared_bytes(pass), tiles, tiles, from.pass.stream,
                        pass);
}

/* The pass, but for how tables are cut into tiles. */
static inline segment_pass segment_pass_of(const kernel_segmented_pass &from, const segment_plan &plan) {
    const kernel_pass &given = from.pass;
    segment_pass pass = {};
    pass.where = plan.where;
    pass.cells.columns = given.columns;
    pass.cells.exclusive = given.exclusive != 0;
    pass.owners = plan.owners;
    pass.unit_rows = plan.unit_rows;
    pass.wants_segments = has_rows_of_segments(from);
    pass.is_signed = type_is_signed_integer(given.out_type);
    pass.has_offsets = from.has_offsets != 0;
    pass.most_segments = from.segments.count;
    for (unsigned level = 0; level < BLOCK_LEVELS; level++)
        pass.level_rows[level] = plan.level_rows[level];
    pass.totals = plan.totals;
    pass.carry_in = plan.carry_in;
    pass.carry_out = from.carry_out;
    pass.first_overflow = given.first_overflow;
    return pass;
}

template <class OPS, segment_form FORM>
static segment_pass make_segment_pass(const kernel_segmented_pass &from, const segment_plan &plan) {
    typedef typename OPS::Value Value;
    const kernel_pass &given = from.pass;
    segment_pass pass = segment_pass_of(from, plan);
    unsigned rows = 0;
    const auto cut = [&](unsigned log_across, unsigned window) {
        const unsigned across = pass.across = segment_columns<Value, FORM>() << log_across;
        pass.cells.log_across = log_across;
        pass.cells.in = cells_in<Value>(given, 0, across);
        pass.cells.out = cells_out<Value>(given, 0, across);
        pass.panels = static_cast<unsigned>((given.columns + across - 1) / across);
        pass.split_window = is_staged(FORM) ? 0 : window;
        pass.window = is_staged(FORM) ? window : window * 4 < SPLIT_WINDOW ? window * 4 : SPLIT_WINDOW;
        rows = window;
    };
    const unsigned log_across = log_above((given.columns - 1) / segment_columns<Value, FORM>() + 1, LOG_MOST_LANES);
    cut(log_across, SEGMENT_THREADS * RUN_OF_PIECE >> log_across);
    /* Fewer lanes across, where a block has no room for a unit of more; and fewer threads, where there are few rows. */
    for (size_t most = plan.shared_bytes; segment_tile<OPS, FORM>::shared_bytes(pass) > most;)
        if (rows > UNIT_ROWS)
            cut(pass.cells.log_across, rows / 2);
        else
            cut(pass.cells.log_across - 1, rows);
    while (rows > UNIT_ROWS && given.rows / pass.window * pass.panels < plan.enough_tiles)
        cut(pass.cells.log_across, rows / 2);
    return pass;
}

/* Whether values of one column lie side by side, as they are kept. */
static inline bool is_column(const cell_table &table) {
    return table.access == cell_access::VALUES && table.stride == 1;
}
/* Whether the form can do all that the pass wants: vectors have no way to put results elsewhere. */
template <class VALUE, segment_form FORM>
static bool takes_pass(const kernel_segmented_pass &from, const segment_pass &pass) {
    if (FORM == segment_form::ONE_COLUMN)
        return from.pass.columns == 1 && !from.has_offsets && !from.pass.load.without_nan && is_column(pass.cells.in) &&
               (!from.pass.out || is_column(pass.cells.out));
    const cell_access in = FORM == segment_form::SMALL_VECTORS ? cell_access::SMALL_VECTORS : cell_access::VECTORS;
    const cell_access out = pass.cells.out.access;
    if (FORM == segment_form::STAGED_VECTORS && pass.cells.log_across > LOG_STAGED_LANES)
        return false;
    return !from.pass.first_overflow && !from.has_offsets && !from.carry_out && !from.pass.load.without_nan &&
           pass.cells.in.access == in && (out == cell_access::VECTORS || out == in);
}

template <class OPS> static int launch_ends(const kernel_segmented_pass &from, const segment_pass &pass) {
    return from.carry_out || from.has_offsets ? run_segment_ends(from, pass, OPS::start()) : 0;
}
/* Launches the pass in this form, unless the form cannot do it, or has no code for the device: LAUNCH_REFUSED. */
template <class OPS, segment_form FORM>
static int run_form(const kernel_segmented_pass &from, const segment_plan &plan) {
    const segment_pass pass = make_segment_pass<OPS, FORM>(from, plan);
    int error = takes_pass<typename OPS::Value, FORM>(from, pass) ? 0 : LAUNCH_REFUSED;
    if (error == 0)
        error = launch_ends<OPS>(from, pass);
    if (error != 0)
        return error;
    if constexpr (FORM == segment_form::ONE_COLUMN)
        return launch_column<OPS>(from, plan, pass);
    else
        return launch_segment_tiles<segment_results<OPS, FORM>>(from, pass, segment_threads(pass));
}

#endif
