/* The launcher of all persistent forms. */
#ifndef PERSISTENT_LAUNCH_CUH
#define PERSISTENT_LAUNCH_CUH

#include <type_traits>

#include "overflow/after_pass.cuh"
#include "persistent/persistent_pass.cuh"
#include "tile/first_rows.cuh"

/* At most one block of ADDERS_SHARE does stage 2. A table so wide that it would take more has so many panels that the
 * chunk before a tile's is long done; there parked tiles hand on the seeds themselves, in a chain. */
constexpr unsigned ADDERS_SHARE = 8;
constexpr size_t MOST_ADDERS = TICKET_BYTES / sizeof(uint32_t) - 1; /* words for their multiprocessors */

static inline bool are_few_adders(size_t adders, unsigned blocks) {
    return adders * ADDERS_SHARE <= blocks && adders <= MOST_ADDERS;
}

/* At most FORM::ADDERS_ALONE adding blocks have a multiprocessor each to themselves, and only with this number of
 * blocks for each: four are the most that a multiprocessor holds, so that half of them are left for tiles in any case.
 * docs/tuning.md#stage-2 */
constexpr unsigned BLOCKS_FOR_ALONE = 8;

/* The words and magnitudes of a pass, which are to be cleared, in pairs; the last one may end beyond them. `blocks`:
 * rows of words behind those of chunks. */
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

/* Where the check for overflow finds the seeds of a pass: `apart` words from chunk to chunk. */
template <class SUM> struct checked_seeds {
    const exchange_word<SUM> *seeds;
    size_t apart;
    unsigned chunk_rows;
    size_t chunks;
};

/* What a pass is called with. */
struct persistent_call {
    const void *carry_in;
    void *carry_out, *workspace, *stream;
    const kernel_stack *stack; /* or NULL */

    persistent_call(const kernel_pass &pass, const kernel_carry &carry, void *workspace_)
        : carry_in(carry.in), carry_out(carry.out), workspace(workspace_), stream(pass.stream), stack(carry.stack) {}

    template <class SUM> tree_stack<SUM> stack_of(unsigned chunk_rows) const {
        if (!stack)
            return tree_stack<SUM>{};
        return tree_stack<SUM>{stack->first, static_cast<const SUM *>(stack->rows), static_cast<SUM *>(stack->left),
                               tree_level_of(chunk_rows / UNIT_ROWS)};
    }
    /* The rows of results above the first rows of tiles, of which there are so many. */
    template <class SUM>
    last_rows<SUM> lasts_of(const SUM *rows, const tile_pass &pass, size_t tiles, unsigned tile_rows) const {
        return last_rows<SUM>{rows, stack_above<SUM>(stack, pass.columns), pass.columns, tiles, tile_rows};
    }

    /* The words of a pass in the workspace, all of them seeds yet, and magnitudes nowhere. */
    template <class SUM> pass_state<SUM> state_for() const {
        pass_state<SUM> state;
        state.ticket = static_cast<uint32_t *>(workspace);
        state.parts = state.ticket + 1;
        state.totals = state.seeds =
            reinterpret_cast<exchange_word<SUM> *>(static_cast<char *>(workspace) + TICKET_BYTES);
        state.magnitudes = nullptr;
        state.carry_in = static_cast<const SUM *>(carry_in);
        state.carry_out = static_cast<SUM *>(carry_out);
        state.alone = false;
        return state;
    }
    /* The words of a pass with a row of totals for each of `rows` tiles one below the other, and behind them
     * magnitudes; or of floats, so many rows of blocks, and the ends of chunks. */
    template <class SUM> pass_state<SUM> state_of_chunks(const tile_pass &pass, size_t rows, size_t blocks) const {
        pass_state<SUM> state = state_for<SUM>();
        state.totals = state.seeds + pass.columns;
        if (pass.first_overflow)
            state.magnitudes = reinterpret_cast<uint32_t *>(state.totals + rows * pass.columns);
        if constexpr (!may_reorder<SUM>()) {
            state.blocks = state.totals + rows * pass.columns;
            state.lasts = reinterpret_cast<SUM *>(state.blocks + blocks * pass.columns);
        }
        return state;
    }

    /* Queues the check for overflow behind the pass. Devices that copy in bulk have launches that overlap, too: that of
     * the check then costs a microsecond or two less (docs/tuning.md#overflow-check). */
    template <class INPUT, class SUM>
    int check(const tile_pass &pass, const uint32_t *magnitudes, const checked_seeds<SUM> &from) const {
        const unsigned groups = static_cast<unsigned>((pass.columns + WARP_LANES - 1) / WARP_LANES);
        const size_t threads = from.chunks * groups * WARP_LANES;
        const unsigned blocks = static_cast<unsigned>((threads + CHECK_THREADS - 1) / CHECK_THREADS);
        if constexpr (std::is_integral<SUM>::value) {
            return launch_early(overflow_check_kernel<INPUT, SUM>, blocks, CHECK_THREADS, 0, stream, pass, from.seeds,
                                magnitudes, from.apart, from.chunk_rows, from.chunks, groups);
        }
        return 0;
    }
};

/* Launches a form on a table. The plan says how many `tiles` and `adders` there are; how much shared memory a block
 * has, and how much of it is `needed` on a device; pairs(most), what is to be cleared where `most` blocks run at once;
 * state(call, most, takers, pairs), the form's state where `takers` blocks take tiles; and seeds(state), for the check.
 * cudaErrorNotSupported: stage 2 would be too large a share of the device, or the device is too small. */
template <class FORM, class PLAN>
static int launch_persistent(const persistent_call &call, const tile_pass &pass, const PLAN &plan) {
    const auto kernel = persistent_kernel<FORM>;
    unsigned most;
    int error = blocks_at_once(kernel, FORM::THREADS, plan.shared, plan.needed, &most);
    if (error != 0)
        return error;
    const bool few = are_few_adders(plan.adders, most);
    if (!few && (!FORM::CHAINS || call.stack)) /* no chain goes on from a stack */
        return static_cast<int>(cudaErrorNotSupported);
    const unsigned adders = few ? static_cast<unsigned>(plan.adders) : 0;
    const unsigned blocks = plan.tiles < most - adders ? plan.tiles + adders : most;
    const size_t pairs = plan.pairs(most);
    if (pairs > INT32_MAX)
        return static_cast<int>(FORM::CHAINS ? cudaErrorInvalidConfiguration : cudaErrorNotSupported);
    auto state = plan.state(call, most, blocks - adders, pairs);
    state.alone = adders <= FORM::ADDERS_ALONE && blocks >= adders * BLOCKS_FOR_ALONE;
    tile_pass made = pass;
    if (adders == 0)
        made.overlap = 0; /* in a chain a seed has one tile that hands it on */
    error = launch_cooperative(kernel, blocks, FORM::THREADS, plan.shared, call.stream, made, state, plan.tiles, adders,
                               static_cast<unsigned>(pairs));
    if (error != 0 || !pass.first_overflow)
        return error;
    return call.check<typename FORM::Input>(pass, state.magnitudes, plan.seeds(state));
}

#endif
