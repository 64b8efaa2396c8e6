/* How resident blocks hand each other totals and seeds: one word a column and chunk in global memory, a value and the
 * mark that it is there, written and read as one, so that no fence is needed. A word of zeros says: not there yet. */
#ifndef EXCHANGE_CUH
#define EXCHANGE_CUH

#include "device.cuh"

template <class SUM, unsigned BYTES = sizeof(SUM)> struct exchange_word;

template <class SUM> struct exchange_word<SUM, 4> { uint64_t bits; /* the value below, the mark above */ };
template <class SUM> struct exchange_word<SUM, 8> { word_pair pair; };

template <class SUM> DEVICE void publish(exchange_word<SUM, 4> *word, SUM value) {
    store_relaxed(&word->bits, (uint64_t(1) << 32) | reinterpret_cast<const uint32_t &>(value));
}
template <class SUM> DEVICE bool look(const exchange_word<SUM, 4> *word, SUM *value) {
    const uint64_t bits = load_relaxed(&word->bits);
    const uint32_t low = static_cast<uint32_t>(bits);
    *value = reinterpret_cast<const SUM &>(low);
    return bits >> 32 != 0;
}
template <class SUM> DEVICE void publish(exchange_word<SUM, 8> *word, SUM value) {
    const word_pair pair = {reinterpret_cast<const uint64_t &>(value), 1};
    store_pair_relaxed(&word->pair, pair);
}
template <class SUM> DEVICE bool look(const exchange_word<SUM, 8> *word, SUM *value) {
    const word_pair pair = load_pair_relaxed(&word->pair);
    *value = reinterpret_cast<const SUM &>(pair.value);
    return pair.mark != 0;
}

#endif
