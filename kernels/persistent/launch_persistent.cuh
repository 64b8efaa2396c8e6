/* The launcher of all persistent policies. */
#ifndef PERSISTENT_LAUNCH_PERSISTENT_CUH
#define PERSISTENT_LAUNCH_PERSISTENT_CUH

#include "overflow/after_pass.cuh"
#include "persistent/persistent_pass.cuh"
#include "tile/first_rows.cuh"

/* At most one block of PREFIX_BLOCKS_SHARE does stage 2. A table so wide that it would take more has so many panels
 * that the chunk before a tile's is long done; there buffered tiles hand on the prefixes themselves, in a chain. */
constexpr unsigned PREFIX_BLOCKS_SHARE = 8;
constexpr size_t MOST_PREFIX_BLOCKS =
    COUNTER_BYTES / sizeof(uint32_t) - 1; /* prefix blocks whose multiprocessors have a place there */

static inline bool are_few_prefix_blocks(size_t prefix_blocks, unsigned blocks) {
    return prefix_blocks * PREFIX_BLOCKS_SHARE <= blocks && prefix_blocks <= MOST_PREFIX_BLOCKS;
}

/* At most POLICY::PREFIX_BLOCKS_ALONE prefix blocks have a multiprocessor each to themselves, and only with this number
 * of blocks for each: four are the most that a multiprocessor holds, so that half of them are left for tiles in any
 * case. docs/tuning.md#stage-2 */
constexpr unsigned BLOCKS_FOR_ALONE = 8;

/* The descriptors and magnitudes of a pass, which are to be cleared, in pairs; the last one may end beyond them.
 * `blocks`: rows of descriptors after the chunks'. */
static inline size_t shared_pairs(size_t chunks, size_t shares, size_t columns, size_t sum_bytes, bool checked,
                                  size_t blocks = 0) {
    const size_t words = (shares * chunks + 1 + blocks) * columns * 2 * sum_bytes;
    const size_t magnitudes = checked ? chunks * sizeof(uint32_t) : 0;
    return (words + magnitudes + sizeof(word_pair) - 1) / sizeof(word_pair);
}

/* How many blocks the device runs at once; cudaErrorNotSupported: it has not as much shared memory as is `needed`. */
template <class KERNEL_TYPE>
static int blocks_at_once(KERNEL_TYPE kernel, unsigned threads, size_t shared, size_t needed, unsigned *blocks) {
    size_t most = 0;
    int error = most_shared_bytes(&most);
    if (error == 0 && needed > most)
        error = static_cast<int>(cudaErrorNotSupported);
    if (error == 0)
        error = allow_shared_bytes(kernel);
    if (error == 0)
        error = resident_blocks(kernel, threads, shared, blocks);
    return error;
}

/* The arguments of a pass. */
struct persistent_call {
    const void *carry_in;
    void *carry_out, *workspace, *stream;
    const kernel_carry_state *carry_state; /* or NULL */

    persistent_call(const kernel_pass &pass, const kernel_carry &carry, void *workspace_)
        : carry_in(carry.in), carry_out(carry.out), workspace(workspace_), stream(pass.stream),
          carry_state(carry.carry_state) {}

    template <class SUM> tree_carry<SUM> carry_state_of(unsigned chunk_rows) const {
        if (!carry_state)
            return tree_carry<SUM>{};
        return tree_carry<SUM>{carry_state->first, static_cast<const SUM *>(carry_state->rows),
                               static_cast<SUM *>(carry_state->left), tree_level_of(chunk_rows / UNIT_ROWS)};
    }
    /* The rows of results above the first rows of `tiles` tiles. */
    template <class SUM>
    last_rows<SUM> lasts_of(const SUM *rows, const tile_pass &pass, size_t tiles, unsigned tile_rows) const {
        return last_rows<SUM>{rows, carry_above<SUM>(carry_state, pass.columns), pass.columns, tiles, tile_rows};
    }

    /* The descriptors of a pass in the workspace, all of them prefixes yet, and magnitudes nowhere. */
    template <class SUM> pass_state<SUM> state_for() const {
        pass_state<SUM> state;
        state.tile_counter = static_cast<uint32_t *>(workspace);
        state.parts = state.tile_counter + 1;
        state.totals = state.prefixes =
            reinterpret_cast<tile_descriptor<SUM> *>(static_cast<char *>(workspace) + COUNTER_BYTES);
        state.magnitudes = nullptr;
        state.carry_in = static_cast<const SUM *>(carry_in);
        state.carry_out = static_cast<SUM *>(carry_out);
        state.alone = false;
        return state;
    }
    /* The descriptors of a pass with a row of totals for each of `rows` tiles one below the other, and after them
     * magnitudes; or of floats, `blocks` rows of blocks, and the ends of chunks. */
    template <class SUM> pass_state<SUM> state_of_chunks(const tile_pass &pass, size_t rows, size_t blocks) const {
        pass_state<SUM> state = state_for<SUM>();
        state.totals = state.prefixes + pass.columns;
        if (pass.first_overflow)
            state.magnitudes = reinterpret_cast<uint32_t *>(state.totals + rows * pass.columns);
        state.put_blocks(state.totals + rows * pass.columns, blocks * pass.columns);
        return state;
    }
};

/* What the launcher has to know of a policy. */
struct policy_facts {
    unsigned threads, prefix_blocks_alone, value_bytes;
    bool chains;
};

/* Launches a policy's kernel on a table, one function for all kernels with states and plans of one type. The plan gives
 * the numbers of `tiles` and `prefix_blocks`; the shared memory of a block, and the bytes of it that are `needed` on a
 * device; pairs(most), the pairs to be cleared where `most` blocks run at once; state(call, most, takers, pairs), the
 * policy's state where `takers` blocks take tiles; and prefixes(state), for the check. cudaErrorNotSupported: stage 2
 * would be too large a share of the device, or the device is too small. */
template <class PLAN, class STATE>
static __attribute__((noinline)) int launch_kernel_of(void (*kernel)(tile_pass, STATE, unsigned, unsigned, unsigned),
                                                      const policy_facts &policy, const persistent_call &call,
                                                      const tile_pass &pass, const PLAN &plan) {
    unsigned most;
    int error = blocks_at_once(kernel, policy.threads, plan.shared, plan.needed, &most);
    if (error != 0)
        return error;
    const bool few = are_few_prefix_blocks(plan.prefix_blocks, most);
    if (!few && (!policy.chains || call.carry_state)) /* no chain goes on from a carry state */
        return static_cast<int>(cudaErrorNotSupported);
    const unsigned prefix_blocks = few ? static_cast<unsigned>(plan.prefix_blocks) : 0;
    const unsigned blocks = plan.tiles < most - prefix_blocks ? plan.tiles + prefix_blocks : most;
    const size_t pairs = plan.pairs(most);
    if (pairs > INT32_MAX)
        return static_cast<int>(policy.chains ? cudaErrorInvalidConfiguration : cudaErrorNotSupported);
    STATE state = plan.state(call, most, blocks - prefix_blocks, pairs);
    state.alone = prefix_blocks <= policy.prefix_blocks_alone && blocks >= prefix_blocks * BLOCKS_FOR_ALONE;
    tile_pass made = pass;
    if (prefix_blocks == 0)
        made.overlap = 0; /* in a chain one tile hands on a prefix */
    error = launch_cooperative(kernel, blocks, policy.threads, plan.shared, call.stream, made, state, plan.tiles,
                               prefix_blocks, static_cast<unsigned>(pairs));
    if constexpr (is_checked<typename PLAN::Sum>())
        if (error == 0 && pass.first_overflow)
            return check_after_pass(pass, plan.prefixes(state), policy.value_bytes, call.stream);
    return error;
}

template <class POLICY, class PLAN>
static int launch_persistent(const persistent_call &call, const tile_pass &pass, const PLAN &plan) {
    const policy_facts facts = {POLICY::THREADS, POLICY::PREFIX_BLOCKS_ALONE, sizeof(typename POLICY::Input),
                                POLICY::CHAINS};
    return launch_kernel_of<PLAN, typename POLICY::State>(persistent_kernel<POLICY>, facts, call, pass, plan);
}

#endif
