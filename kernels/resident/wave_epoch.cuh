/* How launches of wave.cu share a workspace that nothing is cleared in before them.
 *
 * A workspace may hold anything: what this call left there when the graph was replayed before, what another one did, or
 * whoever else used the memory. So each word of the exchange has a tag beside its value, and a launch looks for its
 * own, as a barrier that reverses its sense from use to use needs no reset between them. The tag is that of the
 * launch's epoch, which is counted in one word for each panel: its upper 44 bits are a key, made of the workspace's
 * address and of where words lie in it; in the lower 20 the blocks of the panel draw, one each, so that every launch
 * adds the same number. A block that finds another key clears the panel's words and begins to count anew, or waits
 * until another block has done it; so it is, too, when the count has run over into the key.
 *
 * Whatever a workspace holds, each wait here ends, and the results are right unless it was made to look like this
 * launch's own. Epochs are for launches out of place, in which a thread that has looked in vain for long makes the
 * totals itself (wave_exchange.cuh). So an epoch only has to keep a block from taking for a total of this launch what
 * is none; a total that is lost costs time and nothing else.
 *
 * - While a block clears, the word has the key's complement. Contents that were crafted, or are left from a launch that
 *   was torn, may look like that while nobody clears. So a block looks PATIENCE times, and then clears, too.
 * - Then several may clear, one late, when others have begun to publish in the new epoch. What it takes away are
 *   totals, which are made again by who misses them. It adds nothing, as the words that it writes have no tag.
 * - The new count begins once: by a compare-and-swap from the complement to the key. A late block finds the key there
 *   and leaves the count alone, so no block draws a number twice, and the tags of a launch are those of one epoch. All
 *   words were cleared before the first compare-and-swap by the block that did it, so no tag of an earlier life of
 *   the epoch is left.
 * - Contents crafted with the key itself could hold anything under the right tag, and no launch can tell. Where the
 *   count is in the middle of an epoch, the blocks of a launch have two tags. All of it ends, as who misses totals
 *   makes them, but they may be those of the launch before.
 *
 * Launches in place cannot make totals again, and so they do not count: they are cooperative, each block clears its own
 * words, and all meet before the first of them is published. */
#ifndef RESIDENT_WAVE_EPOCH_CUH
#define RESIDENT_WAVE_EPOCH_CUH

#include "device.cuh"

constexpr unsigned DRAW_BITS = 20;
constexpr uint64_t DRAW_MASK = (uint64_t(1) << DRAW_BITS) - 1;

struct wave_epoch {
    uint64_t *draws;        /* a word for each panel */
    uint64_t *overflow_set; /* the tag of the launch that has set the word of the first overflow */
    uint64_t key;
    unsigned blocks, each; /* blocks of a panel; and what a launch adds to the count, a power of two */
};

/* The bytes of the words in which panels draw, and of overflow_set. The words of the exchange are behind them. */
static inline size_t draw_bytes(size_t panels) {
    constexpr size_t ALIGNMENT = 256;
    return ((panels + 1) * sizeof(uint64_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A word of zeros never has a key. Neither has one in whose lower or upper half another call has written a ticket, or
 * ones alone: the highest bit of each half is set in a key, and the second highest of the lower half is not. So its
 * complement, busy_key(), is no such word either. */
static inline uint64_t epoch_key(const void *workspace, uint64_t rows, uint64_t columns, uint64_t panel_columns) {
    uint64_t key = reinterpret_cast<uintptr_t>(workspace);
    for (const uint64_t part : {rows, columns, panel_columns}) {
        key = (key ^ part) * 0x9e3779b97f4a7c15u; /* the golden ratio, as in Fibonacci hashing */
        key ^= key >> 32;
    }
    constexpr uint64_t SET = uint64_t(1) << 63 | uint64_t(1) << 31, CLEAR = uint64_t(1) << 30;
    return (key | SET) & ~(CLEAR | DRAW_MASK);
}

DEVICE bool has_key(uint64_t word, uint64_t key) { return ((word ^ key) & ~DRAW_MASK) == 0; }

/* What the upper bits of a panel's word are while a block clears its words. */
DEVICE uint64_t busy_key(const wave_epoch &epoch) { return ~epoch.key & ~DRAW_MASK; }

/* The tag of all who drew in one launch. A cleared word has the tag 0, which no launch has. */
DEVICE uint64_t tag_of(const wave_epoch &epoch, uint64_t draw) { return draw | (epoch.each - 1); }

/* The block draws, by its first thread, which does something else until it looks at what came. In the first two epochs
 * of a count, one of which is the first after words were cleared, that may have been in this launch, and has to be
 * seen. */
DEVICE uint64_t begin_draw(const wave_epoch &epoch, unsigned panel) {
    return thread_index() == 0 ? atomic_add(&epoch.draws[panel], uint64_t(1)) : 0;
}
DEVICE uint64_t end_draw(const wave_epoch &epoch, unsigned panel, uint64_t draw) {
    if (has_key(draw, epoch.key) && (draw & DRAW_MASK) < 2 * epoch.each)
        load_acquire(&epoch.draws[panel]);
    return draw;
}

/* Whether no block of the launch and the panel drew before. */
DEVICE bool drew_first(const wave_epoch &epoch, uint64_t draw) { return (draw & (epoch.each - 1)) == 0; }

/* The last block to draw fills up what its launch adds to the count. Called by one thread. */
DEVICE void fill_up(const wave_epoch &epoch, unsigned panel, uint64_t draw) {
    if ((draw & (epoch.each - 1)) == epoch.blocks - 1 && epoch.each > epoch.blocks)
        atomic_add(&epoch.draws[panel], uint64_t(epoch.each - epoch.blocks));
}

/* Whether the block is to clear the panel's words, and then to call begin_anew(). If not, another block has done both.
 * Called by one thread, whose draw had another key. `overflow_set` becomes what that word was before the count began.
 */
DEVICE bool must_clear(const wave_epoch &epoch, unsigned panel, uint64_t &overflow_set) {
    uint64_t *const word = &epoch.draws[panel];
    overflow_set = load_acquire(epoch.overflow_set);
    uint64_t seen = load_acquire(word);
    for (unsigned looks = 0; !has_key(seen, epoch.key); looks++) {
        if (!has_key(seen, busy_key(epoch))) {
            if (atomic_cas(word, seen, busy_key(epoch)) == seen)
                return true;
            seen = load_acquire(word); /* the swap orders nothing, and another block may have cleared by now */
        } else if (looks >= PATIENCE) {
            return true; /* the one that clears is late, or there is none */
        } else {
            wait_a_little(20);
            seen = load_acquire(word);
        }
    }
    return false;
}

/* The panel's words are cleared: its count begins anew, if it has not by another block. Called by one thread. The word
 * overflow_set is left as it is, and the count begins where no tag is what that word holds. */
DEVICE void begin_anew(const wave_epoch &epoch, unsigned panel, uint64_t overflow_set) {
    uint64_t *const word = &epoch.draws[panel];
    const uint64_t begin = overflow_set == tag_of(epoch, epoch.key) ? epoch.key + epoch.each : epoch.key;
    fence_device();
    uint64_t seen = load_acquire(word);
    while (has_key(seen, busy_key(epoch))) {
        const uint64_t before = atomic_cas(word, seen, begin);
        if (before == seen)
            return;
        seen = before;
    }
}

#endif
