/* Making keys where they are needed, looking at whether they were sorted, and reading. */
#include "device_keys.h"

#include "device_words.cuh"

namespace {

const unsigned BLOCKS_MOST = 8192;

template <class KEY> KERNEL fill(KEY *keys, spread how, size_t count) {
    for (size_t i = first_index(); i < count; i += index_step())
        keys[i] = static_cast<KEY>(spread_key(how, i, count, 8 * sizeof(KEY)));
}

template <class KEY> KERNEL count_unsorted(const KEY *keys, size_t count, uint64_t *unsorted) {
    uint64_t mine = 0;
    for (size_t i = first_index() + 1; i < count; i += index_step())
        mine += keys[i - 1] > keys[i];
    if (mine != 0)
        atomic_add(unsorted, mine);
}

template <class VALUE> KERNEL fill_indices(VALUE *values, size_t count) {
    for (size_t i = first_index(); i < count; i += index_step())
        values[i] = static_cast<VALUE>(i);
}

/* Keys that ascend, each from another place: equal ones come in the order of their indices, so none comes twice. */
template <class KEY, class VALUE>
KERNEL count_misplaced(const KEY *given, const KEY *keys, const VALUE *values, size_t count, uint64_t *misplaced) {
    uint64_t mine = 0;
    for (size_t i = first_index(); i < count; i += index_step()) {
        const KEY key = keys[i];
        const VALUE from = values[i];
        const bool after = i == 0 || keys[i - 1] < key || (keys[i - 1] == key && values[i - 1] < from);
        mine += !(after && from < count && given[from] == key);
    }
    if (mine != 0)
        atomic_add(misplaced, mine);
}

/* The sum over `keys` minus that over `given`, modulo 2^64. */
template <class KEY> KERNEL compare_sums(const KEY *given, const KEY *keys, size_t count, uint64_t *difference) {
    uint64_t mine = 0;
    for (size_t i = first_index(); i < count; i += index_step())
        mine += splitmix64_at(0, keys[i]) - splitmix64_at(0, given[i]);
    if (mine != 0)
        atomic_add(difference, mine);
}

/* The store, which hardly ever happens, keeps the loads. */
KERNEL read_all(const uint4 *words, size_t count, unsigned long long *never) {
    unsigned mixed = 0;
#pragma unroll 8
    for (size_t i = first_index(); i < count; i += index_step()) {
        const uint4 word = words[i];
        mixed ^= word.x ^ word.y ^ word.z ^ word.w;
    }
    if (mixed == 0x9E3779B9u)
        *never = mixed;
}

} // namespace

int device_fill_keys(void *keys, spread how, size_t count, size_t size, void *stream) {
    return with_word(size, [&](auto word) {
        typedef decltype(word) key;
        return launch_over(count, BLOCKS_MOST, stream, fill<key>, static_cast<key *>(keys), how, count);
    });
}

int device_fill_indices(void *values, size_t count, size_t value_bytes, void *stream) {
    return with_word(value_bytes, [&](auto word) {
        typedef decltype(word) value;
        return launch_over(count, BLOCKS_MOST, stream, fill_indices<value>, static_cast<value *>(values), count);
    });
}

namespace {

template <class KEY> int count_wrong(const device_sorted &sorted, uint64_t *wrong, void *stream) {
    const KEY *given = static_cast<const KEY *>(sorted.given), *keys = static_cast<const KEY *>(sorted.keys);
    const size_t count = sorted.count;
    if (sorted.value_bytes != 0)
        return with_word(sorted.value_bytes, [&](auto word) {
            typedef decltype(word) value;
            return launch_over(count, BLOCKS_MOST, stream, count_misplaced<KEY, value>, given, keys,
                               static_cast<const value *>(sorted.values), count, wrong);
        });
    const int error = launch_over(count, BLOCKS_MOST, stream, count_unsorted<KEY>, keys, count, wrong);
    return error ? error : launch_over(count, BLOCKS_MOST, stream, compare_sums<KEY>, given, keys, count, wrong + 1);
}

} // namespace

int device_count_wrong(const device_sorted *sorted, unsigned long long wrong[2], void *stream) {
    const cudaError_t cleared = cudaMemsetAsync(wrong, 0, 2 * sizeof *wrong, static_cast<cudaStream_t>(stream));
    if (cleared != cudaSuccess)
        return cleared;
    return with_word(sorted->key_bytes, [&](auto word) {
        return count_wrong<decltype(word)>(*sorted, reinterpret_cast<uint64_t *>(wrong), stream);
    });
}

int device_read(const void *memory, size_t bytes, unsigned long long *never, void *stream) {
    const size_t count = bytes / sizeof(uint4);
    return launch_over(count, BLOCKS_MOST, stream, read_all, static_cast<const uint4 *>(memory), count, never);
}
