/* How the tiles of a fused pass exchange their elements. A tile publishes the element of the longest aligned run of
 * tiles that ends with it: of 2^k tiles, where its number, counted from 1, is a multiple of 2^k and of no more. The
 * prefix of a tile is joined of the runs of the binary digits of its number, which are the runs that ended with the
 * tiles before each digit (Fenwick, A new data structure for cumulative frequency tables, 1994). So a tile looks at one
 * descriptor a digit, all at once, and no value is handed on from tile to tile.
 *
 * Descriptors are zeros until they are published. Each is read and written as one access, value and status, so that no
 * fence is needed. */
#ifndef OPERATORS_RUNS_CUH
#define OPERATORS_RUNS_CUH

#include "operators/operator_ops.cuh"
#include "persistent/descriptors/tile_descriptor.cuh"

/* The bits of a value in the lowest bytes of a word, and back. */
template <class VALUE> DEVICE uint64_t word_of(VALUE value) {
    typename bits_of_size<sizeof(VALUE)>::type bits;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class VALUE> DEVICE VALUE value_of_word(uint64_t word) {
    const auto bits = static_cast<typename bits_of_size<sizeof(VALUE)>::type>(word);
    VALUE value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The descriptor of a run, PAIRS words, by the type of elements. look() returns whether it is published. */
template <class ELEMENT> struct run_descriptor {
    static constexpr unsigned PAIRS = 1;
    static DEVICE void put(word_pair *to, ELEMENT value) { store_pair_relaxed(to, word_pair{word_of(value), 1}); }
    static DEVICE bool look(const word_pair *from, ELEMENT *value) {
        const word_pair pair = load_pair_relaxed(from);
        *value = value_of_word<ELEMENT>(pair.value);
        return pair.status != 0;
    }
};
template <> struct run_descriptor<map_f32> {
    static constexpr unsigned PAIRS = 1;
    static DEVICE void put(word_pair *to, const map_f32 &map) {
        const uint64_t status = map.reset ? 2 : 1;
        store_pair_relaxed(to,
                           word_pair{word_of(map.factor) | word_of(map.rest) << 32, word_of(map.term) | status << 32});
    }
    static DEVICE bool look(const word_pair *from, map_f32 *map) {
        const word_pair pair = load_pair_relaxed(from);
        map->factor = value_of_word<float>(pair.value);
        map->rest = value_of_word<float>(pair.value >> 32);
        map->term = value_of_word<float>(pair.status);
        map->reset = pair.status >> 32 == 2 ? -1 : 0;
        return pair.status >> 32 != 0;
    }
};
template <> struct run_descriptor<map_f64> {
    static constexpr unsigned PAIRS = 3;
    static DEVICE void put(word_pair *to, const map_f64 &map) {
        const uint64_t status = map.reset ? 2 : 1;
        store_pair_relaxed(to, word_pair{word_of(map.factor), status});
        store_pair_relaxed(to + 1, word_pair{word_of(map.rest), status});
        store_pair_relaxed(to + 2, word_pair{word_of(map.term), status});
    }
    static DEVICE bool look(const word_pair *from, map_f64 *map) {
        const word_pair factor = load_pair_relaxed(from), rest = load_pair_relaxed(from + 1),
                        term = load_pair_relaxed(from + 2);
        map->factor = value_of_word<double>(factor.value);
        map->rest = value_of_word<double>(rest.value);
        map->term = value_of_word<double>(term.value);
        map->reset = term.status == 2 ? -1 : 0;
        return factor.status != 0 && rest.status != 0 && term.status != 0;
    }
};

/* The memory that the blocks of a pass share. Descriptors of a column's tiles lie side by side. */
template <class OPS> struct shared_runs {
    typedef run_descriptor<typename OPS::Element> Run;
    typedef run_descriptor<typename OPS::Value> End;
    uint32_t *tile_counter;
    word_pair *runs, *ends; /* ends: the result of each tile's last row; NULL, unless the pass is exclusive */
    const typename OPS::Value *carry_in;
    typename OPS::Value *carry_out;
    unsigned tiles, pairs; /* pairs: of runs and ends */
};

#endif
