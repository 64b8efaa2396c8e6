/* Sums of the four columns of a word of bytes, two of which share a word as long as they fit in half of it. */
#ifndef PERSISTENT_WORD_SUMS_CUH
#define PERSISTENT_WORD_SUMS_CUH

#include "choose/tuning.h"
#include "tile/value.cuh"

/* Columns 0 and 2, and 1 and 3: in the low half of a word, and in the high one. */
struct alignas(8) word_sums {
    uint32_t even, odd;
};
constexpr uint32_t LOW_HALF = 0xffff;
constexpr unsigned MOST_HALF_ROWS = 257; /* whose sums fit in half a word */

DEVICE word_sums operator+(const word_sums &a, const word_sums &b) { return word_sums{a.even + b.even, a.odd + b.odd}; }
DEVICE word_sums operator-(const word_sums &a, const word_sums &b) { return word_sums{a.even - b.even, a.odd - b.odd}; }

/* The four columns of a word of bytes, by one instruction for each pair. */
DEVICE word_sums sums_of_word(uint32_t bytes) {
    return word_sums{choose_bytes(bytes, 0x4240), choose_bytes(bytes, 0x4341)};
}
DEVICE void add_word(const word_sums &word, uint32_t (&sums)[WORD_BYTES]) {
    sums[0] += word.even & LOW_HALF;
    sums[1] += word.odd & LOW_HALF;
    sums[2] += word.even >> 16;
    sums[3] += word.odd >> 16;
}

/* Bytes with a sign share words as if they had none, when their highest bits are flipped (widening::flip): each counts
 * 128 more. The excess of `rows` of them is subtracted where sums no longer share words. */
DEVICE uint32_t bias_of_rows(const widening &how, unsigned rows) { return (how.flip & UINT8_MAX) * rows; }

/* Sums over the lanes that have the same columns of other rows, `words` lanes apart, through this one. All lanes of the
 * warp call it together. */
DEVICE word_sums sum_over_groups(word_sums own, unsigned words, unsigned lanes) {
    for (unsigned apart = words; apart < lanes; apart *= 2) {
        const word_sums left = {warp_shuffle_up(WARP_ALL, own.even, apart), warp_shuffle_up(WARP_ALL, own.odd, apart)};
        if (thread_index() % WARP_LANES >= apart)
            own = own + left;
    }
    return own;
}

#endif
