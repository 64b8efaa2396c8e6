/* How launches of wave.cu share a workspace that nothing is cleared in before them.
 *
 * A workspace may hold anything: what this call left there when the graph was replayed before, what another one did, or
 * whoever else used the memory. So each word of the exchange has a tag beside its value, and a launch looks for its
 * own, as a barrier that reverses its sense from use to use needs no reset between them. The tag is that of the
 * launch's epoch, which is counted in one word for each panel: its upper 44 bits are a key, made of the workspace's
 * address and of where words lie in it; in the lower ones the blocks of the panel draw, one each, so that every launch
 * adds the same number. A block that finds another key waits until one of those that do has cleared the panel's words
 * and begun to count anew, as they also do when the count has run over into the key. */
#ifndef RESIDENT_WAVE_EPOCH_CUH
#define RESIDENT_WAVE_EPOCH_CUH

#include "device.cuh"

constexpr unsigned DRAW_BITS = 20;
constexpr uint64_t DRAW_MASK = (uint64_t(1) << DRAW_BITS) - 1;

struct wave_epoch {
    uint64_t *draws;        /* a word for each panel */
    uint64_t *overflow_set; /* the tag of the launch that has set the word of the first overflow */
    uint64_t key;
    unsigned blocks, each; /* of a panel; what a launch adds, a power of two */
};

/* Of the words in which panels draw, and the one more; those of the exchange are behind them. */
static inline size_t draw_bytes(size_t panels) {
    constexpr size_t ALIGNMENT = 256;
    return ((panels + 1) * sizeof(uint64_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* No word of zeros has it. */
static inline uint64_t epoch_key(const void *workspace, uint64_t rows, uint64_t columns, uint64_t panel_columns) {
    uint64_t key = reinterpret_cast<uintptr_t>(workspace);
    for (const uint64_t part : {rows, columns, panel_columns}) {
        key = (key ^ part) * 0x9e3779b97f4a7c15u; /* the golden ratio, as in Fibonacci hashing */
        key ^= key >> 32;
    }
    return (key | uint64_t(1) << 63) & ~DRAW_MASK;
}

DEVICE bool has_key(uint64_t word, uint64_t key) { return ((word ^ key) & ~DRAW_MASK) == 0; }

/* The tag of all who drew in one launch; 0 is none. */
DEVICE uint64_t tag_of(const wave_epoch &epoch, uint64_t draw) { return draw | (epoch.each - 1); }

/* The block draws, by its first thread, which does something else until it looks at what came. In the first epoch after
 * words were cleared, that may have been in this launch, and is to be seen. */
DEVICE uint64_t begin_draw(const wave_epoch &epoch, unsigned panel) {
    return thread_index() == 0 ? atomic_add(&epoch.draws[panel], uint64_t(1)) : 0;
}
DEVICE uint64_t end_draw(const wave_epoch &epoch, unsigned panel, uint64_t draw) {
    if (has_key(draw, epoch.key) && (draw & DRAW_MASK) < epoch.each)
        load_acquire(&epoch.draws[panel]);
    return draw;
}

/* Whether no block of the launch and the panel drew before. */
DEVICE bool drew_first(const wave_epoch &epoch, uint64_t draw) { return (draw & (epoch.each - 1)) == 0; }

/* The last one to draw fills up what its launch adds. By one thread. */
DEVICE void fill_up(const wave_epoch &epoch, unsigned panel, uint64_t draw) {
    if ((draw & (epoch.each - 1)) == epoch.blocks - 1 && epoch.each > epoch.blocks)
        atomic_add(&epoch.draws[panel], uint64_t(epoch.each - epoch.blocks));
}

/* Whether the block is to clear the words, and then to store the key; if not, another one has. By one thread, whose
 * draw had another key. While somebody clears, the word has the key's complement. */
DEVICE bool must_clear(const wave_epoch &epoch, unsigned panel) {
    uint64_t *const word = &epoch.draws[panel];
    const uint64_t busy = ~epoch.key & ~DRAW_MASK;
    uint64_t seen = load_acquire(word);
    while (!has_key(seen, epoch.key)) {
        if (has_key(seen, busy)) {
            wait_a_little(20);
            seen = load_acquire(word);
            continue;
        }
        const uint64_t before = atomic_cas(word, seen, busy);
        if (before == seen)
            return true;
        seen = before;
    }
    return false;
}

#endif
