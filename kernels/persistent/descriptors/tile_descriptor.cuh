/* How resident blocks hand each other totals and prefixes: one tile descriptor a column and chunk in global memory, a
 * value and its status, written and read as one access, so that no fence is needed. A descriptor of zeros says: not
 * there yet. */
#ifndef PERSISTENT_DESCRIPTORS_TILE_DESCRIPTOR_CUH
#define PERSISTENT_DESCRIPTORS_TILE_DESCRIPTOR_CUH

#include "choose/sizes.cuh"

/* The bytes of the tile counter and of other counters, at the beginning of the workspace; the descriptors after them
 * are aligned. */
constexpr size_t COUNTER_BYTES = 256;

template <class SUM, unsigned BYTES = sizeof(SUM)> struct tile_descriptor;

template <class SUM> struct tile_descriptor<SUM, 4> { uint64_t bits; /* the value below, the status above */ };
template <class SUM> struct tile_descriptor<SUM, 8> { word_pair pair; };

template <class SUM> DEVICE uint64_t descriptor_bits(SUM value, uint32_t status) {
    return (uint64_t(status) << 32) | reinterpret_cast<const uint32_t &>(value);
}
template <class SUM> DEVICE uint32_t descriptor_status(uint64_t bits, SUM *value) {
    const uint32_t low = static_cast<uint32_t>(bits);
    *value = reinterpret_cast<const SUM &>(low);
    return static_cast<uint32_t>(bits >> 32);
}
template <class SUM> DEVICE word_pair descriptor_pair(SUM value, uint32_t status) {
    return word_pair{reinterpret_cast<const uint64_t &>(value), status};
}
template <class SUM> DEVICE uint32_t descriptor_status(const word_pair &pair, SUM *value) {
    *value = reinterpret_cast<const SUM &>(pair.value);
    return static_cast<uint32_t>(pair.status);
}

/* The status: the value is a chunk's total; or, in the same place, the next chunk's prefix, which is the sum through
 * the chunk. */
constexpr uint32_t STATUS_TOTAL = 1, STATUS_PREFIX = 2;

/* Between blocks. look(): the status, 0 as long as there is no value. */
template <class SUM> DEVICE void publish(tile_descriptor<SUM, 4> *descriptor, SUM value, uint32_t status) {
    store_relaxed(&descriptor->bits, descriptor_bits(value, status));
}
template <class SUM> DEVICE uint32_t look(const tile_descriptor<SUM, 4> *descriptor, SUM *value) {
    return descriptor_status(load_relaxed(&descriptor->bits), value);
}
template <class SUM> DEVICE void publish(tile_descriptor<SUM, 8> *descriptor, SUM value, uint32_t status) {
    store_pair_relaxed(&descriptor->pair, descriptor_pair(value, status));
}
template <class SUM> DEVICE uint32_t look(const tile_descriptor<SUM, 8> *descriptor, SUM *value) {
    return descriptor_status(load_pair_relaxed(&descriptor->pair), value);
}

/* The caller's rows of carries; NULL: zeros, or not wanted. Both may be the same row, which one block reads and another
 * one writes, as soon as values made of the first have reached it by way of descriptors. */
template <class SUM> DEVICE SUM load_carry(const SUM *row, size_t column) {
    typedef typename bits_of_size<sizeof(SUM)>::type word;
    const word bits = row ? load_relaxed(reinterpret_cast<const word *>(row) + column) : word(0);
    return reinterpret_cast<const SUM &>(bits);
}
template <class SUM> DEVICE void store_carry(SUM *row, size_t column, SUM value) {
    typedef typename bits_of_size<sizeof(SUM)>::type word;
    if (row)
        store_relaxed(reinterpret_cast<word *>(row) + column, reinterpret_cast<const word &>(value));
}

/* Between threads of a block, in shared memory. The status names the value; 0: none. */
template <class SUM> DEVICE void put(tile_descriptor<SUM, 4> *descriptor, SUM value, uint32_t status) {
    store_relaxed_block(&descriptor->bits, descriptor_bits(value, status));
}
template <class SUM> DEVICE uint32_t status_of(const tile_descriptor<SUM, 4> *descriptor, SUM *value) {
    return descriptor_status(load_relaxed_block(&descriptor->bits), value);
}
template <class SUM> DEVICE void put(tile_descriptor<SUM, 8> *descriptor, SUM value, uint32_t status) {
    store_pair_relaxed_block(&descriptor->pair, descriptor_pair(value, status));
}
template <class SUM> DEVICE uint32_t status_of(const tile_descriptor<SUM, 8> *descriptor, SUM *value) {
    return descriptor_status(load_pair_relaxed_block(&descriptor->pair), value);
}

#endif
