/* How launches of wave.cu share a workspace in which nothing is cleared before them.
 *
 * A workspace may hold anything: the descriptors of this call when the graph was replayed before, or the data of
 * another call or another user of the memory. So each descriptor has a tag for its status, and a launch looks for its
 * own tag, as a barrier that reverses its sense from use to use needs no reset between them. A panel has a word in
 * which its blocks draw numbers, one each, and every launch adds the same power of two to it. The word is a key, made
 * of the workspace's address and of the layout of descriptors, and the count of the numbers drawn, which is in the
 * lower 16 bits of both halves of the word. A second word of the panel is the count's birth: the nanosecond at which it
 * began. A tag is the birth and the last number of the launch. A block that finds another key, or two counts that
 * differ, clears the panel's descriptors and begins a new count, or waits until another block has done it. The same
 * happens when the count has run over into the key.
 *
 * Whatever a workspace holds, each wait here ends, and the results are right unless it was made to look like this
 * launch's own. Epochs are for launches out of place, in which a thread that has looked in vain for long makes the
 * totals itself (wave_exchange.cuh). So an epoch only has to keep a block from taking a descriptor of another launch
 * for a total of this one; a total that is lost costs time and nothing else. No descriptor of another launch has a tag
 * of this one, for these reasons:
 *
 * - A launch that continues a count draws greater numbers than each launch before it that continued the same count, so
 *   its tag differs from theirs.
 * - A launch that begins a count gives it a birth within the launch. An earlier count was born in an earlier launch, at
 *   an earlier time, so its tags differ, whether or not the descriptors in between were cleared. (Births repeat after
 *   2^48 nanoseconds, which are three days, and then for one nanosecond. Where the clock is too coarse to tell two
 *   launches apart, the descriptors have been cleared: all of them before the first compare-and-swap, by the block that
 *   did it.)
 * - The blocks of a launch draw numbers of one epoch, as the count stands at the end of an epoch when a launch begins.
 *   A call that writes 1, 2 or 4 bytes over the word, say a table of one value, leaves the key or a part of it, but the
 *   two counts then differ. It was otherwise when the word had one count: a byte written over it set the count back, so
 *   that a launch had the tag of the launch before (docs/lab/2026-11-28.md).
 * - A write over the birth changes the tag of all blocks alike, and the numbers still grow.
 *
 * Several blocks may clear:
 *
 * - While a block clears, the word has the key's complement. Contents that were crafted, or are left from a launch that
 *   was torn, may look like that while no block clears. So a block looks PATIENCE times, and then clears, too.
 * - Then one may clear late, when others have begun to publish in the new epoch. It takes totals away, which are made
 *   again by the threads that miss them. It adds nothing, as the zeros that it writes have no tag. It may change the
 *   birth, to another one within the launch: blocks that read it before and after miss each other's totals.
 * - The new count begins once: by a compare-and-swap from the complement to the key. A late block finds the key there
 *   and leaves the count alone, so no block draws a number twice.
 *
 * Contents crafted with the key and two counts alike could hold anything under the right tag, and no launch can tell.
 *
 * Launches in place cannot make totals again, and so they do not count: they are cooperative, each block clears its own
 * descriptors, and all meet before the first of them is published. */
#ifndef RESIDENT_WAVE_EPOCH_CUH
#define RESIDENT_WAVE_EPOCH_CUH

#include "device.cuh"

constexpr unsigned DRAW_BITS = 16;
constexpr uint64_t DRAW_MASK = (uint64_t(1) << DRAW_BITS) - 1;
constexpr uint64_t DRAW = (uint64_t(1) << 32) + 1; /* a block adds one to each of the two counts */

struct wave_epoch {
    uint64_t *draws;  /* a word for each panel */
    uint64_t *births; /* another one for each panel */
    uint64_t key;
    unsigned blocks, each; /* blocks of a panel; and the number that a launch adds to the count, a power of two */
};

/* The bytes of the words of a wave_epoch. The descriptors come after them. */
static inline size_t draw_bytes(size_t panels) {
    constexpr size_t ALIGNMENT = 256;
    return (2 * panels * sizeof(uint64_t) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* A word of zeros never has a key. Neither has one with a tile number of another call, or ones alone, in its lower or
 * upper half: the highest bit of each half is set in a key, and the second highest is not. So its complement,
 * busy_key(), is no such word either. */
static inline uint64_t epoch_key(const void *workspace, uint64_t rows, uint64_t columns, uint64_t panel_columns) {
    uint64_t key = reinterpret_cast<uintptr_t>(workspace);
    for (const uint64_t part : {rows, columns, panel_columns}) {
        key = (key ^ part) * 0x9e3779b97f4a7c15u; /* the golden ratio, as in Fibonacci hashing */
        key ^= key >> 32;
    }
    constexpr uint64_t SET = DRAW << 31, CLEAR = DRAW << 30;
    return (key | SET) & ~(CLEAR | DRAW_MASK * DRAW);
}

/* Whether the word is the key and two equal counts. */
DEVICE bool has_key(uint64_t word, uint64_t key) { return word - (word & DRAW_MASK) * DRAW == key; }

/* A panel's word without its counts, while a block clears its descriptors. */
DEVICE uint64_t busy_key(const wave_epoch &epoch) { return ~epoch.key & ~(DRAW_MASK * DRAW); }

/* The tag of all blocks that drew in one launch. A cleared descriptor has the tag 0, which no launch has. */
DEVICE uint64_t tag_of(const wave_epoch &epoch, uint64_t draw, uint64_t birth) {
    return (birth & ~DRAW_MASK) | (draw & DRAW_MASK) | (epoch.each - 1);
}

/* The block draws a number, by its first thread, which does other work before it uses the number. */
DEVICE uint64_t begin_draw(const wave_epoch &epoch, unsigned panel) {
    return thread_index() == 0 ? atomic_add(&epoch.draws[panel], DRAW) : 0;
}

/* The birth of the count that the calling thread drew from. In the first epoch of a count the same launch cleared the
 * descriptors and wrote the birth: a block that drew in it has to see both. */
DEVICE uint64_t birth_of(const wave_epoch &epoch, unsigned panel, uint64_t draw) {
    if ((draw & DRAW_MASK) < epoch.each)
        fence_device();
    return load_relaxed(&epoch.births[panel]);
}

/* The last block to draw fills up its launch's share of the count. Called by one thread. */
DEVICE void fill_up(const wave_epoch &epoch, unsigned panel, uint64_t draw) {
    if ((draw & (epoch.each - 1)) == epoch.blocks - 1 && epoch.each > epoch.blocks)
        atomic_add(&epoch.draws[panel], (epoch.each - epoch.blocks) * DRAW);
}

/* Whether the block is to clear the panel's descriptors, and then to call begin_anew(). If not, another block has done
 * both. Called by one thread, whose draw had another key. */
DEVICE bool must_clear(const wave_epoch &epoch, unsigned panel) {
    uint64_t *const word = &epoch.draws[panel];
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

/* Begins the count anew, after the panel's descriptors were cleared, unless another block has. Called by one thread. */
DEVICE void begin_anew(const wave_epoch &epoch, unsigned panel) {
    uint64_t *const word = &epoch.draws[panel];
    store_relaxed(&epoch.births[panel], nanoseconds() << DRAW_BITS);
    fence_device();
    uint64_t seen = load_acquire(word);
    while (has_key(seen, busy_key(epoch))) {
        const uint64_t before = atomic_cas(word, seen, epoch.key);
        if (before == seen)
            return;
        seen = before;
    }
}

#endif
