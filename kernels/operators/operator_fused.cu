/* The stages of operators in one pass: a value is read once and written once. Blocks stay, and fetch tiles in the order
 * of rows, so that the tiles before a fetched one are fetched, too, by blocks that run (a cooperative launch). A tile
 * is in shared memory from its load until its results are written:
 *
 *   load       its cells into shared memory
 *   total      the element of each of its units, and of the tile
 *   exchange   publishes its run of tiles, and makes the prefixes of its units of other tiles' runs (runs.cuh)
 *   results    of its rows, in the place of its terms, written when the next tile is fetched
 *
 * Every wait ends: a tile's run waits for runs of earlier tiles alone, and is published before the tile waits for
 * anything else. */
#include "operators/fused_tile.cuh"
#include "operators/operator_launch.cuh"

/* All descriptors are cleared before any is looked at: first tiles are loaded meanwhile. */
template <class OPS, tile_layout LAYOUT> KERNEL LAUNCH_BOUNDS(most_threads<typename OPS::Value>(), 3)
    operator_fused_kernel(operator_pass pass, shared_runs<OPS> shared) {
    SHARED_DYNAMIC(unsigned char, memory);
    for (unsigned k = block_index() * block_threads() + thread_index(); k < shared.pairs;
         k += block_count() * block_threads())
        store_pair_kept(shared.runs + k, word_pair{0, 0});
    if (block_index() == 0 && thread_index() == 0)
        store_relaxed(shared.tile_counter, block_count());
    const unsigned arrival = grid_arrive();
    bool has_met = false, had_resets = false;
    KEEP_LOOP
    for (unsigned tile_number = block_index(); tile_number < shared.tiles;) {
        const fused_tile<OPS, LAYOUT> tile(pass, shared, memory, tile_number);
        tile.load();
        if (!has_met)
            grid_meet(arrival);
        has_met = true;
        block_barrier();
        const int rule = tile.make_totals(OPS::first_rule(pass.careful, had_resets), &had_resets);
        tile.exchange();
        tile.make_results(rule);
        tile.write();
        tile_number = *tile.memory.next;
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
template <class OPS> static auto kernel_of_layout(const operator_pass &pass)
    -> void (*)(operator_pass, shared_runs<OPS>) {
    const factor_table &factors = pass.factors;
    if (pass.log_across == log_most_across<typename OPS::Value>() && pass.log_units == 0) {
        if (!OPS::HAS_FACTORS || (factors.per_row && factors.per_column))
            return operator_fused_kernel<OPS, tile_layout::WIDE>;
        if constexpr (OPS::HAS_FACTORS)
            if (!factors.per_row)
                return operator_fused_kernel<OPS, tile_layout::WIDE_OF_ONE_ROW>;
    }
    return operator_fused_kernel<OPS, tile_layout::ANY>;
}
template <class OPS>
static int plan_fused(const kernel_operator_pass &given, const operator_pass &pass, fused_plan<OPS> *plan) {
    const size_t tiles = static_cast<size_t>(pass.panels) * pass.groups;
    if (given.ranges.count > INT32_MAX / 2 / tiles)
        return LAUNCH_REFUSED;
    plan->tiles = tiles * given.ranges.count;
    plan->bytes = fused_memory<OPS>::bytes(pass);
    plan->threads = fused_memory<OPS>::threads(pass);
    plan->kernel = kernel_of_layout<OPS>(pass);
    const int error = allow_shared_bytes(plan->kernel);
    return error != 0 ? error : resident_blocks(plan->kernel, plan->threads, plan->bytes, &plan->most_blocks);
}

/* Small tables are cut into smaller tiles, as long as a row of one is a vector, until there are ENOUGH_ROUNDS of them
 * for each block that the device runs. */
constexpr size_t ENOUGH_ROUNDS = 2;
template <class OPS>
static int cut_fused(const kernel_operator_pass &given, operator_pass *pass, fused_plan<OPS> *plan) {
    unsigned log_all = log_most_across<typename OPS::Value>();
    const unsigned least = log_above(VECTOR_BYTES / type_bytes(given.pass.in_type), log_all);
    int error = 0;
    do {
        error = fit_operator_pass<OPS, fused_memory<OPS>>(given, true, pass, log_all);
        if (error == 0)
            error = plan_fused<OPS>(given, *pass, plan);
    } while (error == 0 && plan->tiles < ENOUGH_ROUNDS * plan->most_blocks && log_all-- > least);
    return error;
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
    /* A thread looks for each digit of a tile's number. */
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
