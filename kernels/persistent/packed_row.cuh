/* Sums of the four columns of a word of bytes, two of which share a word as long as they fit in half of it. */
#ifndef PERSISTENT_PACKED_ROW_CUH
#define PERSISTENT_PACKED_ROW_CUH

#include "device.cuh"

/* Columns 0 and 2, and 1 and 3: in the low half of a word, and in the high one. */
struct alignas(8) packed_row {
    uint32_t even, odd;
};
constexpr uint32_t LOW_HALF = 0xffff;

DEVICE packed_row operator+(const packed_row &a, const packed_row &b) {
    return packed_row{a.even + b.even, a.odd + b.odd};
}
DEVICE packed_row operator-(const packed_row &a, const packed_row &b) {
    return packed_row{a.even - b.even, a.odd - b.odd};
}

/* Sums over the lanes that have the same columns of other rows, `words` lanes apart, through this one. All lanes of the
 * warp call it together. */
DEVICE packed_row sum_over_groups(packed_row own, unsigned words, unsigned lanes) {
    for (unsigned apart = words; apart < lanes; apart *= 2) {
        const packed_row left = {warp_shuffle_up(WARP_ALL, own.even, apart), warp_shuffle_up(WARP_ALL, own.odd, apart)};
        if (thread_index() % WARP_LANES >= apart)
            own = own + left;
    }
    return own;
}

#endif
