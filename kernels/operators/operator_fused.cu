/* The stages of operators in one pass: a value is read once and written once. Blocks stay, and fetch tiles in the order
 * of rows, so that the tiles before a fetched one are fetched, too, by blocks that run (a cooperative launch). A tile
 * is in shared memory from its load until its results are written:
 *
 *   load       its cells into shared memory
 *   elements   of each run of rows, of its units, and of the tile
 *   exchange   publishes its run of tiles, and makes the prefixes of its units of other tiles' runs (runs.cuh)
 *   results    of its rows, in the place of its terms; meanwhile the next tile is fetched
 *   write      them; a warp then loads its part of the next tile
 *
 * Every wait ends: a tile's run waits for runs of earlier tiles alone, and is published before the tile waits for
 * anything else. */
#include "operators/fused_tile.cuh"
#include "operators/operator_launch.cuh"

/* How many blocks share a multiprocessor: as many as have room there for a tile of two tables of four bytes a cell, or
 * of one. With four of them, whose threads have 64 registers, recurrences spill, and are slower. */
template <class OPS> HOST_DEVICE constexpr unsigned blocks_together() {
    return OPS::HAS_FACTORS || sizeof(typename OPS::Value) > 4 ? 3 : 4;
}

/* All descriptors are cleared before any is looked at: first tiles are loaded meanwhile. */
template <class OPS, tile_layout LAYOUT, class CELL>
KERNEL LAUNCH_BOUNDS(most_threads<typename OPS::Value>(), blocks_together<OPS>())
    operator_fused_kernel(operator_pass pass, shared_runs<OPS> shared) {
    SHARED_DYNAMIC(unsigned char, memory);
    for (unsigned k = block_index() * block_threads() + thread_index(); k < shared.pairs;
         k += block_count() * block_threads())
        store_pair_kept(shared.runs + k, word_pair{0, 0});
    if (block_index() == 0 && thread_index() == 0)
        store_relaxed(shared.tile_counter, block_count());
    const unsigned arrival = grid_arrive();
    typedef fused_tile<OPS, LAYOUT, CELL> Tile;
    const typename Tile::Memory of_block(pass, memory);
    if (thread_index() == 0)
        Tile::put_fetched(pass, shared, of_block, 0, block_index());
    block_barrier();
    int rule = OPS::first_rule(pass.careful);
    bool has_met = false;
    unsigned turn = 0;
    KEEP_LOOP
    for (; Tile::fetched_at(of_block, turn).is_there; turn ^= 1) {
        const Tile tile(pass, shared, memory, turn);
        tile.load(!has_met);
        if (!has_met)
            grid_meet(arrival);
        tile.end_load(!has_met);
        has_met = true;
        bool lacks = false;
        const int right = tile.make_elements(rule, lacks);
        tile.exchange(lacks);
        tile.make_results(right, turn);
        tile.write();
    }
}

/* Descriptors for `rows` tiles of each table. SIZE_MAX: too many. */
template <class OPS> static size_t fused_pairs(const kernel_operator_pass &given, size_t rows, size_t pairs) {
    const size_t count = given.ranges.count, columns = given.pass.columns;
    return rows != 0 && columns > INT32_MAX / rows / pairs / count ? SIZE_MAX : count * columns * rows * pairs;
}

size_t kernel_operator_fused_workspace(const kernel_operator_pass *given) {
    size_t bytes = 0;
    if (given->from || given->pass.first_overflow)
        return 0;
    with_ops(given->operation, given->kept, [&](auto ops) {
        typedef shared_runs<decltype(ops)> Shared;
        const size_t units = (given->pass.rows + UNIT_ROWS - 1) / UNIT_ROWS;
        const size_t pairs =
            fused_pairs<decltype(ops)>(*given, units, Shared::Run::PAIRS + (given->pass.exclusive != 0));
        bytes = pairs == SIZE_MAX ? 0 : COUNTER_BYTES + pairs * sizeof(word_pair);
        return 0;
    });
    return bytes;
}

/* The plan of a launch. */
template <class OPS> struct fused_plan {
    void (*kernel)(operator_pass, shared_runs<OPS>);
    size_t tiles; /* of all tables */
    size_t bytes; /* of shared memory */
    unsigned threads, most_blocks;
};
/* Whether all three tables are small floats of the type, by vectors, and a tile's results are needed in it alone. */
static inline bool is_raw(const kernel_operator_pass &given, const operator_pass &pass, table_type type) {
    const cell_table *const tables[] = {&pass.in, &pass.out, &pass.factors.cells};
    bool is_all = given.operation == KERNEL_LINEAR && !pass.exclusive && !pass.in.any.without_nan && !given.carry_out;
    for (const cell_table *table : tables)
        is_all = is_all && table->any.type == type && table->access == cell_access::SMALL_VECTORS;
    return is_all;
}

/* Calls run(a layout, a cell), as the kernel knows them. */
template <class OPS, class RUN>
static int with_layout(const kernel_operator_pass &given, const operator_pass &pass, const RUN &run) {
    typedef typename OPS::Value Value;
    const factor_table &factors = pass.factors;
    if (pass.log_across + pass.log_units == log_most_across<Value>()) {
        typedef std::integral_constant<tile_layout, tile_layout::WIDE> wide;
        const bool is_wide = !OPS::HAS_FACTORS || (factors.per_row && factors.per_column);
        if constexpr (OPS::HAS_FACTORS && std::is_same<Value, float>::value) {
            if (is_wide && is_raw(given, pass, TABLE_BF16))
                return run(wide(), small_cell<TABLE_BF16>());
            if (is_wide && is_raw(given, pass, TABLE_F16))
                return run(wide(), small_cell<TABLE_F16>());
        }
        if (is_wide)
            return run(wide(), Value());
        if constexpr (OPS::HAS_FACTORS)
            if (!factors.per_row)
                return factors.per_column
                           ? run(std::integral_constant<tile_layout, tile_layout::WIDE_OF_ONE_ROW>(), Value())
                           : run(std::integral_constant<tile_layout, tile_layout::WIDE_OF_ONE_FACTOR>(), Value());
    }
    return run(std::integral_constant<tile_layout, tile_layout::ANY>(), Value());
}
template <class OPS>
static int plan_fused(const kernel_operator_pass &given, const operator_pass &pass, fused_plan<OPS> *plan) {
    const size_t tiles = static_cast<size_t>(pass.panels) * pass.groups;
    if (given.ranges.count > INT32_MAX / 2 / tiles)
        return LAUNCH_REFUSED;
    plan->tiles = tiles * given.ranges.count;
    return with_layout<OPS>(given, pass, [&](auto layout, auto cell) {
        typedef fused_memory<OPS, decltype(layout)::value, decltype(cell)> Memory;
        plan->bytes = Memory::bytes(pass);
        plan->threads = Memory::threads(pass);
        plan->kernel = operator_fused_kernel<OPS, decltype(layout)::value, decltype(cell)>;
        const int error = allow_shared_bytes(plan->kernel);
        return error != 0 ? error : resident_blocks(plan->kernel, plan->threads, plan->bytes, &plan->most_blocks);
    });
}

/* Small tables are cut into smaller tiles until there are ENOUGH_ROUNDS of them for each block that the device may run:
 * of smaller tiles more blocks have room. A row of a tile stays a vector, and a sector if the table's row is one. The
 * runtime is asked about the one kernel that is launched, as its answers take as long as such a table does. */
constexpr size_t ENOUGH_ROUNDS = 2;
template <class OPS>
static int cut_fused(const kernel_operator_pass &given, operator_pass *pass, fused_plan<OPS> *plan) {
    const unsigned log_most = log_most_across<typename OPS::Value>();
    const size_t of_sector = SECTOR_BYTES / sizeof(typename OPS::Value);
    const size_t of_vector = VECTOR_BYTES / type_bytes(given.pass.in_type);
    const bool has_sector = given.pass.columns >= of_sector && of_sector > of_vector;
    const unsigned least = log_above(has_sector ? of_sector : of_vector, log_most);
    unsigned processors = 0, log_all = log_most;
    size_t tiles, enough;
    int error = multiprocessors(&processors);
    if (error != 0)
        return error;
    do {
        error = fit_operator_pass<OPS, fused_memory<OPS, tile_layout::ANY, typename OPS::Value>>(given, true, pass,
                                                                                                 log_all);
        if (given.operation == KERNEL_LINEAR) /* no result beyond the table's end is used, as in stage 1 */
            pass->factors.per_row = rows_differ(given.factors);
        tiles = static_cast<size_t>(pass->panels) * pass->groups * given.ranges.count;
        enough = ENOUGH_ROUNDS * blocks_together<OPS>() * processors << (log_most - log_all);
    } while (error == 0 && tiles < enough && log_all-- > least);
    return error != 0 ? error : plan_fused<OPS>(given, *pass, plan);
}

template <class OPS> static int launch_fused(const kernel_operator_pass &given, void *workspace) {
    typedef typename OPS::Value Value;
    typedef shared_runs<OPS> Shared;
    operator_pass pass;
    fused_plan<OPS> plan;
    const int error = cut_fused<OPS>(given, &pass, &plan);
    if (error != 0)
        return error;
    const size_t runs = fused_pairs<OPS>(given, pass.groups, Shared::Run::PAIRS);
    const size_t ends = given.pass.exclusive ? fused_pairs<OPS>(given, pass.groups, 1) : 0;
    if (runs > INT32_MAX || ends > INT32_MAX - runs || plan.threads >> pass.log_across < log_above(pass.groups, 32))
        return LAUNCH_REFUSED;
    Shared shared = {};
    shared.tile_counter = static_cast<uint32_t *>(workspace);
    shared.runs = reinterpret_cast<word_pair *>(static_cast<char *>(workspace) + COUNTER_BYTES);
    shared.ends = ends != 0 ? shared.runs + runs : nullptr;
    shared.carry_in = static_cast<const Value *>(given.carry_in);
    shared.carry_out = static_cast<Value *>(given.carry_out);
    shared.tiles = static_cast<unsigned>(plan.tiles);
    shared.pairs = static_cast<unsigned>(runs + ends);
    return launch_cooperative(plan.kernel, plan.tiles < plan.most_blocks ? shared.tiles : plan.most_blocks,
                              plan.threads, plan.bytes, given.pass.stream, pass, shared);
}

int kernel_operator_fused(const kernel_operator_pass *given, void *workspace) {
    if (given->pass.rows == 0 || given->pass.columns == 0 || !given->pass.out ||
        kernel_operator_fused_workspace(given) == 0)
        return LAUNCH_REFUSED;
    return with_ops(given->operation, given->kept,
                    [&](auto ops) { return launch_fused<decltype(ops)>(*given, workspace); });
}
