/* Small kernels in the manner of the real ones, for the emulator's own tests. */
#ifndef EXAMPLES_CUH
#define EXAMPLES_CUH

#include "device.cuh"

constexpr unsigned EXAMPLE_THREADS = 128, EXAMPLE_WARPS = EXAMPLE_THREADS / WARP_LANES;

/* The inclusive sum of one value a thread; shared has EXAMPLE_WARPS words. */
DEVICE uint32_t sum_of_block(uint32_t value, uint32_t *shared) {
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    for (unsigned by = 1; by < WARP_LANES; by *= 2) {
        const uint32_t left = warp_shuffle_up(WARP_ALL, value, by);
        if (lane >= by)
            value += left;
    }
    if (lane == WARP_LANES - 1)
        shared[warp] = value;
    block_barrier(); /* barrier A: the warps' totals are there */
    for (unsigned before = 0; before < warp; before++)
        value += shared[before];
    return value;
}

/* Decoupled look-back: tiles are drawn in order, each publishes its total at once and its prefix when it is known. */
struct tile_state {
    uint32_t flag; /* 0: nothing, 1: total, 2: prefix, published by a release */
    uint32_t total, prefix;
};

KERNEL lookback_kernel(const uint32_t *in, uint32_t *out, unsigned count, uint32_t *ticket, tile_state *states) {
    SHARED_ARRAY(uint32_t, totals, EXAMPLE_WARPS);
    SHARED_ARRAY(uint32_t, drawn, 2);
    if (thread_index() == 0)
        drawn[0] = atomic_add(ticket, 1u);
    block_barrier(); /* barrier B: the ticket is there */
    const unsigned tile = drawn[0], at = tile * EXAMPLE_THREADS + thread_index();
    const uint32_t sum = sum_of_block(at < count ? load_vector(&in[at]) : 0, totals);
    if (thread_index() == EXAMPLE_THREADS - 1) {
        uint32_t before = 0;
        store_vector(&states[tile].total, sum);
        store_release(&states[tile].flag, 1);
        for (unsigned look = tile; look > 0;) {
            const uint32_t flag = load_acquire(&states[look - 1].flag);
            if (flag == 0) {
                wait_a_little(20);
                continue;
            }
            before += flag == 2 ? load_vector(&states[look - 1].prefix) : load_vector(&states[look - 1].total);
            look = flag == 2 ? 0 : look - 1;
        }
        store_vector(&states[tile].prefix, before + sum);
        store_release(&states[tile].flag, 2);
        drawn[1] = before;
    }
    block_barrier(); /* barrier C: the sum of all tiles before is there */
    if (at < count)
        store_vector(&out[at], drawn[1] + sum);
}

/* Persistent blocks: bulk copies into the stages of a ring, from which threads store the values plus one. */
constexpr unsigned STAGES = 3, STAGE_WORDS = 512, STAGE_BYTES = STAGE_WORDS * 4;

KERNEL pipeline_kernel(const uint32_t *in, uint32_t *out, unsigned tiles) {
    SHARED_DYNAMIC(uint32_t, buffers);
    SHARED_ARRAY(bulk_barrier, full, STAGES);
    const bool leader = thread_index() == 0;
    const unsigned mine = (tiles - block_index() + block_count() - 1) / block_count();
    if (leader) {
        for (unsigned stage = 0; stage < STAGES; stage++)
            bulk_barrier_init(&full[stage], 1);
        for (unsigned k = 0; k < STAGES && k < mine; k++) {
            bulk_barrier_expect(&full[k], STAGE_BYTES);
            bulk_load(buffers + k * STAGE_WORDS, in + (block_index() + k * block_count()) * STAGE_WORDS, STAGE_BYTES,
                      &full[k]);
        }
    }
    block_barrier();
    for (unsigned k = 0; k < mine; k++) {
        uint32_t *const buffer = buffers + k % STAGES * STAGE_WORDS;
        while (!bulk_barrier_passed(&full[k % STAGES], k / STAGES % 2)) {
        }
        for (unsigned word = thread_index(); word < STAGE_WORDS; word += block_threads())
            store_vector(out + (block_index() + k * block_count()) * STAGE_WORDS + word, buffer[word] + 1);
        block_barrier();
        const unsigned next = k + STAGES;
        if (leader && next < mine) {
            bulk_barrier_expect(&full[next % STAGES], STAGE_BYTES);
            bulk_load(buffer, in + (block_index() + next * block_count()) * STAGE_WORDS, STAGE_BYTES,
                      &full[next % STAGES]);
        }
    }
}

/* Every block tells its number and waits for that of all others: they must be resident together. */
[[maybe_unused]] KERNEL exchange_kernel(word_pair *words, uint64_t *sums) {
    if (thread_index() == 0)
        store_pair_relaxed(&words[block_index()], word_pair{block_index() + 1u, 1});
    if (thread_index() < WARP_LANES) {
        uint64_t sum = 0;
        for (unsigned from = thread_index(); from < block_count(); from += WARP_LANES) {
            word_pair word;
            while ((word = load_pair_relaxed(&words[from])).status == 0)
                wait_a_little(20);
            sum += word.value;
        }
        for (unsigned flip = 1; flip < WARP_LANES; flip *= 2)
            sum += warp_shuffle_xor(WARP_ALL, sum, flip);
        if (thread_index() == 0)
            sums[block_index()] = sum;
    }
}

/* Every block writes its part of the words; all have met before any of them is read, each by another block. */
[[maybe_unused]] KERNEL meeting_kernel(uint32_t *words, uint32_t *seen) {
    const unsigned threads = block_count() * block_threads(), own = block_index() * block_threads() + thread_index();
    words[own] = own + 1;
    const unsigned arrival = grid_arrive();
    grid_meet(arrival);
    seen[own] = words[threads - 1 - own];
}

#endif
