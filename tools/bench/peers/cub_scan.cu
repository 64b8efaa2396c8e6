/* CUB's DeviceScan on tables: a row is a struct, its addition goes value by value. This is what a user of CUB writes
 * for several columns, with the alignment that gives it the widest loads; a type that is widened goes through a
 * transform iterator. Compile time decides which columns there are.
 * CUB exchanges the rows of a block in the 48 KB of shared memory that need not be asked for, and its smallest block
 * has 32 threads: it takes rows of up to 1.5 KB, such as 256 columns of u32; 400 do not compile (CUB 3.0.1). */
#include "peers.h"

#include <cstdint>
#include <cstdio>
#include <limits>

#include <cub/device/device_scan.cuh>
#if __has_include(<cub/device/device_segmented_scan.cuh>)
#include <cub/device/device_segmented_scan.cuh>
#define HAS_SEGMENTS 1
#else
#define HAS_SEGMENTS 0
#endif
#include <cub/version.cuh>
#include <cuda/functional>
#include <thrust/iterator/transform_iterator.h>

namespace {

template <class T, int COLUMNS> struct row {
    static constexpr size_t bytes = sizeof(T) * COLUMNS;
    alignas(bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : sizeof(T)) T value[COLUMNS];
};

struct add_rows {
    template <class T, int COLUMNS>
    __host__ __device__ row<T, COLUMNS> operator()(const row<T, COLUMNS> &left, const row<T, COLUMNS> &right) const {
        row<T, COLUMNS> sum;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            sum.value[j] = left.value[j] + right.value[j];
        return sum;
    }
};

/* One scan, or with workspace == nullptr the question how much workspace it needs. */
struct request : peer_scan {
    void *workspace;
    size_t *workspace_bytes;
    int items() const { return static_cast<int>(rows); }
    cudaStream_t queue() const { return static_cast<cudaStream_t>(stream); }
};

template <class T> cudaError_t scan_segments(const request &what) {
#if HAS_SEGMENTS
    return cub::DeviceSegmentedScan::InclusiveSegmentedSum(
        what.workspace, *what.workspace_bytes, static_cast<const T *>(what.in), static_cast<T *>(what.out),
        what.offsets, what.offsets + 1, static_cast<int64_t>(what.segments), what.queue());
#else
    (void)what;
    return cudaErrorNotSupported;
#endif
}

template <class T, int COLUMNS> cudaError_t scan(const request &what) {
    if (what.offsets)
        return COLUMNS == 1 ? scan_segments<T>(what) : cudaErrorNotSupported;
    if constexpr (COLUMNS == 1) {
        return cub::DeviceScan::InclusiveScan(what.workspace, *what.workspace_bytes, static_cast<const T *>(what.in),
                                              static_cast<T *>(what.out), cuda::std::plus<T>{}, what.items(),
                                              what.queue());
    } else {
        typedef row<T, COLUMNS> item;
        return cub::DeviceScan::InclusiveScan(what.workspace, *what.workspace_bytes, static_cast<const item *>(what.in),
                                              static_cast<item *>(what.out), add_rows{}, what.items(), what.queue());
    }
}

template <class OUT> struct widen {
    template <class IN> __host__ __device__ OUT operator()(IN narrow) const { return narrow; }
};

template <class OUT, int COLUMNS> struct widen<row<OUT, COLUMNS>> {
    template <class IN> __host__ __device__ row<OUT, COLUMNS> operator()(const row<IN, COLUMNS> &narrow) const {
        row<OUT, COLUMNS> wide;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
            wide.value[j] = narrow.value[j];
        return wide;
    }
};

template <class IN, class OUT, class ADD> cudaError_t scan_widened(const request &what, ADD add) {
    const auto rows = thrust::make_transform_iterator(static_cast<const IN *>(what.in), widen<OUT>{});
    return cub::DeviceScan::InclusiveScan(what.workspace, *what.workspace_bytes, rows, static_cast<OUT *>(what.out),
                                          add, what.items(), what.queue());
}

/* That with as many columns, among those that there are. */
template <class T, int... COLUMNS> cudaError_t scan_one_of(const request &what) {
    cudaError_t error = cudaErrorNotSupported;
    (void)((what.columns == COLUMNS && (error = scan<T, COLUMNS>(what), true)) || ...);
    return error;
}

cudaError_t scan_bytes(const request &what) {
    return what.offsets        ? cudaErrorNotSupported
           : what.columns == 1 ? scan_widened<uint8_t, uint32_t>(what, cuda::std::plus<uint32_t>{})
           : what.columns == 4 ? scan_widened<row<uint8_t, 4>, row<uint32_t, 4>>(what, add_rows{})
                               : cudaErrorNotSupported;
}

cudaError_t dispatch(const request &what) {
    if (what.in_type != what.type)
        return what.in_type == TABLE_U8 && what.type == TABLE_U32 ? scan_bytes(what) : cudaErrorNotSupported;
    switch (what.type) {
    case TABLE_U32:
        return scan_one_of<uint32_t, 1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 64>(what);
    case TABLE_F32:
        return scan_one_of<float, 1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 64>(what);
    case TABLE_U64:
        return scan_one_of<uint64_t, 1, 2, 3, 4, 8>(what);
    case TABLE_F64:
        return scan_one_of<double, 1, 2, 3, 4, 8>(what);
    default:
        return cudaErrorNotSupported;
    }
}

bool fits(size_t rows) { return rows > 0 && rows <= static_cast<size_t>(std::numeric_limits<int>::max()); }

} // namespace

const char *peer_cub_version(void) {
    static char text[32]; /* the version's parts are expressions, so they cannot be pasted */
    std::snprintf(text, sizeof text, "%d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return text;
}

bool peer_cub_has_segments(void) { return HAS_SEGMENTS; }

int peer_cub_scan(const struct peer_scan *what, void *workspace, size_t *workspace_bytes) {
    return fits(what->rows) ? dispatch(request{*what, workspace, workspace_bytes}) : cudaErrorNotSupported;
}
