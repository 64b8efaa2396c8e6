/* How resident blocks hand each other totals and seeds: one word a column and chunk in global memory, a value and the
 * mark that it is there, written and read as one, so that no fence is needed. A word of zeros says: not there yet. */
#ifndef PERSISTENT_WORDS_MARKED_CUH
#define PERSISTENT_WORDS_MARKED_CUH

#include "device.cuh"

/* The bytes of the ticket and of what else is counted, at the beginning of the workspace; the words behind are aligned.
 */
constexpr size_t TICKET_BYTES = 256;

template <class SUM, unsigned BYTES = sizeof(SUM)> struct exchange_word;

template <class SUM> struct exchange_word<SUM, 4> { uint64_t bits; /* the value below, the mark above */ };
template <class SUM> struct exchange_word<SUM, 8> { word_pair pair; };

template <class SUM> DEVICE uint64_t exchange_bits(SUM value, uint32_t mark) {
    return (uint64_t(mark) << 32) | reinterpret_cast<const uint32_t &>(value);
}
template <class SUM> DEVICE uint32_t exchange_mark(uint64_t bits, SUM *value) {
    const uint32_t low = static_cast<uint32_t>(bits);
    *value = reinterpret_cast<const SUM &>(low);
    return static_cast<uint32_t>(bits >> 32);
}
template <class SUM> DEVICE word_pair exchange_pair(SUM value, uint32_t mark) {
    return word_pair{reinterpret_cast<const uint64_t &>(value), mark};
}
template <class SUM> DEVICE uint32_t exchange_mark(const word_pair &pair, SUM *value) {
    *value = reinterpret_cast<const SUM &>(pair.value);
    return static_cast<uint32_t>(pair.mark);
}

/* What is in a word: a chunk's total; or, in its place, the next one's seed, which is the sum through that chunk. */
constexpr uint32_t MARK_TOTAL = 1, MARK_SEED = 2;

/* Between blocks. look(): the mark, 0 as long as there is no value. */
template <class SUM> DEVICE void publish(exchange_word<SUM, 4> *word, SUM value, uint32_t mark) {
    store_relaxed(&word->bits, exchange_bits(value, mark));
}
template <class SUM> DEVICE uint32_t look(const exchange_word<SUM, 4> *word, SUM *value) {
    return exchange_mark(load_relaxed(&word->bits), value);
}
template <class SUM> DEVICE void publish(exchange_word<SUM, 8> *word, SUM value, uint32_t mark) {
    store_pair_relaxed(&word->pair, exchange_pair(value, mark));
}
template <class SUM> DEVICE uint32_t look(const exchange_word<SUM, 8> *word, SUM *value) {
    return exchange_mark(load_pair_relaxed(&word->pair), value);
}

/* The caller's rows of carries; NULL: zeros, or not wanted. Both may be the same row, which one block reads and another
 * one writes, as soon as what the first made of it has come to it by way of the words above. */
template <unsigned BYTES> struct carry_bits { typedef uint32_t type; };
template <> struct carry_bits<8> { typedef uint64_t type; };

template <class SUM> DEVICE SUM load_carry(const SUM *row, size_t column) {
    typedef typename carry_bits<sizeof(SUM)>::type word;
    const word bits = row ? load_relaxed(reinterpret_cast<const word *>(row) + column) : word(0);
    return reinterpret_cast<const SUM &>(bits);
}
template <class SUM> DEVICE void store_carry(SUM *row, size_t column, SUM value) {
    typedef typename carry_bits<sizeof(SUM)>::type word;
    if (row)
        store_relaxed(reinterpret_cast<word *>(row) + column, reinterpret_cast<const word &>(value));
}

/* Between threads of a block, in shared memory. The mark says whose value it is; 0: nobody's. */
template <class SUM> DEVICE void put(exchange_word<SUM, 4> *word, SUM value, uint32_t mark) {
    store_relaxed_block(&word->bits, exchange_bits(value, mark));
}
template <class SUM> DEVICE uint32_t mark_of(const exchange_word<SUM, 4> *word, SUM *value) {
    return exchange_mark(load_relaxed_block(&word->bits), value);
}
template <class SUM> DEVICE void put(exchange_word<SUM, 8> *word, SUM value, uint32_t mark) {
    store_pair_relaxed_block(&word->pair, exchange_pair(value, mark));
}
template <class SUM> DEVICE uint32_t mark_of(const exchange_word<SUM, 8> *word, SUM *value) {
    return exchange_mark(load_pair_relaxed_block(&word->pair), value);
}

#endif
