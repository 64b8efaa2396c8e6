/* CUB's DeviceRadixSort and DeviceHistogram, as a user of CUB calls them. */
#include "peers.h"

#include <cstdint>

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>

namespace {

template <class KEY> cudaError_t sort_keys(const peer_keys &what, void *workspace, size_t *bytes) {
    return cub::DeviceRadixSort::SortKeys(workspace, *bytes, static_cast<const KEY *>(what.keys),
                                          static_cast<KEY *>(what.sorted), what.count, 0, 8 * sizeof(KEY),
                                          static_cast<cudaStream_t>(what.stream));
}

template <class KEY, class VALUE> cudaError_t sort_pairs(const peer_keys &what, void *workspace, size_t *bytes) {
    return cub::DeviceRadixSort::SortPairs(workspace, *bytes, static_cast<const KEY *>(what.keys),
                                           static_cast<KEY *>(what.sorted), static_cast<const VALUE *>(what.values),
                                           static_cast<VALUE *>(what.sorted_values), what.count, 0, 8 * sizeof(KEY),
                                           static_cast<cudaStream_t>(what.stream));
}

template <class KEY> cudaError_t sort_any(const peer_keys &what, void *workspace, size_t *bytes) {
    switch (what.value_bytes) {
    case 0:
        return sort_keys<KEY>(what, workspace, bytes);
    case 4:
        return sort_pairs<KEY, uint32_t>(what, workspace, bytes);
    case 8:
        return sort_pairs<KEY, uint64_t>(what, workspace, bytes);
    default:
        return cudaErrorNotSupported;
    }
}

template <class KEY, class LEVEL> cudaError_t histogram(const peer_keys &what, void *workspace, size_t *bytes) {
    return cub::DeviceHistogram::HistogramEven(workspace, *bytes, static_cast<const KEY *>(what.keys),
                                               static_cast<unsigned *>(what.sorted), static_cast<int>(what.bins) + 1,
                                               static_cast<LEVEL>(what.low), static_cast<LEVEL>(what.high), what.count,
                                               static_cast<cudaStream_t>(what.stream));
}

} // namespace

int peer_cub_sort(const peer_keys *what, void *workspace, size_t *workspace_bytes) {
    return what->type == TABLE_U32   ? sort_any<uint32_t>(*what, workspace, workspace_bytes)
           : what->type == TABLE_U64 ? sort_any<uint64_t>(*what, workspace, workspace_bytes)
                                     : cudaErrorNotSupported;
}

int peer_cub_histogram(const peer_keys *what, void *workspace, size_t *workspace_bytes) {
    switch (what->type) {
    case TABLE_U8:
        return histogram<uint8_t, int>(*what, workspace, workspace_bytes);
    case TABLE_U32:
        return histogram<uint32_t, int64_t>(*what, workspace, workspace_bytes);
    case TABLE_F32:
        return histogram<float, float>(*what, workspace, workspace_bytes);
    default:
        return cudaErrorNotSupported;
    }
}
