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

/* The descriptor of a run, PAIRS words, by the type of elements. is_there() returns whether it was published when it
 * was loaded. */
template <unsigned COUNT> struct word_pairs { word_pair at[COUNT]; };
template <class ELEMENT> struct run_words {
    static constexpr unsigned PAIRS = 1;
    static DEVICE void put(word_pair *to, ELEMENT value) { store_pair_relaxed(to, word_pair{word_of(value), 1}); }
    static DEVICE bool is_there(const word_pairs<PAIRS> &loaded, ELEMENT *value) {
        *value = value_of_word<ELEMENT>(loaded.at[0].value);
        return loaded.at[0].status != 0;
    }
};
template <> struct run_words<map_f32> {
    static constexpr unsigned PAIRS = 1;
    static DEVICE void put(word_pair *to, const map_f32 &map) {
        const uint64_t status = map.reset ? 2 : 1;
        store_pair_relaxed(to,
                           word_pair{word_of(map.factor) | word_of(map.rest) << 32, word_of(map.term) | status << 32});
    }
    static DEVICE bool is_there(const word_pairs<PAIRS> &loaded, map_f32 *map) {
        const word_pair pair = loaded.at[0];
        map->factor = value_of_word<float>(pair.value);
        map->rest = value_of_word<float>(pair.value >> 32);
        map->term = value_of_word<float>(pair.status);
        map->reset = pair.status >> 32 == 2 ? -1 : 0;
        return pair.status >> 32 != 0;
    }
};
template <> struct run_words<map_f64> {
    static constexpr unsigned PAIRS = 3;
    static DEVICE void put(word_pair *to, const map_f64 &map) {
        const uint64_t status = map.reset ? 2 : 1;
        store_pair_relaxed(to, word_pair{word_of(map.factor), status});
        store_pair_relaxed(to + 1, word_pair{word_of(map.rest), status});
        store_pair_relaxed(to + 2, word_pair{word_of(map.term), status});
    }
    static DEVICE bool is_there(const word_pairs<PAIRS> &loaded, map_f64 *map) {
        const word_pair factor = loaded.at[0], rest = loaded.at[1], term = loaded.at[2];
        map->factor = value_of_word<double>(factor.value);
        map->rest = value_of_word<double>(rest.value);
        map->term = value_of_word<double>(term.value);
        map->reset = term.status == 2 ? -1 : 0;
        return factor.status != 0 && rest.status != 0 && term.status != 0;
    }
};
template <class ELEMENT> struct run_descriptor : run_words<ELEMENT> {
    typedef word_pairs<run_words<ELEMENT>::PAIRS> Loaded;
    static DEVICE Loaded load(const word_pair *from) {
        Loaded loaded;
        UNROLL
        for (unsigned k = 0; k < run_words<ELEMENT>::PAIRS; k++)
            loaded.at[k] = load_pair_relaxed(from + k);
        return loaded;
    }
    static DEVICE bool look(const word_pair *from, ELEMENT *run) {
        return run_words<ELEMENT>::is_there(load(from), run);
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
