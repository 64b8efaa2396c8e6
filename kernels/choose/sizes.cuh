/* Choices by a size alone: words by their bytes, and the blocks of a grid. */
#ifndef CHOOSE_SIZES_CUH
#define CHOOSE_SIZES_CUH

#include "device.cuh"

/* The unsigned integer of a size. */
template <unsigned BYTES> struct bits_of_size;
template <> struct bits_of_size<1> { typedef uint8_t type; };
template <> struct bits_of_size<2> { typedef uint16_t type; };
template <> struct bits_of_size<4> { typedef uint32_t type; };
template <> struct bits_of_size<8> { typedef uint64_t type; };

/* Calls run(an unsigned integer of 1, 2, 4 or 8 bytes). */
template <class RUN> static int with_word(size_t bytes, const RUN &run) {
    switch (bytes) {
    case 1:
        return run(uint8_t());
    case 2:
        return run(uint16_t());
    case 4:
        return run(uint32_t());
    default:
        return run(uint64_t());
    }
}

/* The blocks of a grid whose threads share out `count` things: at most `most`, and one at least. */
static inline unsigned grid_for(uint64_t count, unsigned threads, uint64_t most) {
    const uint64_t blocks = (count + threads - 1) / threads;
    return static_cast<unsigned>(blocks == 0 ? 1 : blocks < most ? blocks : most);
}

#endif
