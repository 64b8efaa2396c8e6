/* CUB's DeviceScan on tables: a row is a struct, its addition goes value by value. This is what a user of CUB writes
 * for several columns, with the alignment that gives it the widest loads. */
#include "peers.h"

#include <cstdint>
#include <cstdio>
#include <limits>

#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <cuda/functional>

namespace {

template <class T, int COLUMNS> struct row {
    static constexpr size_t bytes = sizeof(T) * COLUMNS;
    alignas(bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : sizeof(T)) T value[COLUMNS];
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
struct request {
    const void *in;
    void *out;
    void *workspace;
    size_t *workspace_bytes;
    int rows;
    cudaStream_t stream;
};

template <class T, int COLUMNS> cudaError_t scan(const request &what) {
    if constexpr (COLUMNS == 1) {
        return cub::DeviceScan::InclusiveScan(what.workspace, *what.workspace_bytes, static_cast<const T *>(what.in),
                                              static_cast<T *>(what.out), cuda::std::plus<T>{}, what.rows, what.stream);
    } else {
        typedef row<T, COLUMNS> item;
        return cub::DeviceScan::InclusiveScan(what.workspace, *what.workspace_bytes, static_cast<const item *>(what.in),
                                              static_cast<item *>(what.out), add_rows{}, what.rows, what.stream);
    }
}

template <class T> cudaError_t scan_narrow(const request &what, size_t columns) {
    switch (columns) {
    case 1:
        return scan<T, 1>(what);
    case 4:
        return scan<T, 4>(what);
    default:
        return cudaErrorNotSupported;
    }
}

template <class T> cudaError_t scan_any(const request &what, size_t columns) {
    switch (columns) {
    case 2:
        return scan<T, 2>(what);
    case 3:
        return scan<T, 3>(what);
    case 8:
        return scan<T, 8>(what);
    case 16:
        return scan<T, 16>(what);
    case 32:
        return scan<T, 32>(what);
    case 64:
        return scan<T, 64>(what);
    default:
        return scan_narrow<T>(what, columns);
    }
}

cudaError_t dispatch(table_type type, const request &what, size_t columns) {
    switch (type) {
    case TABLE_U32:
        return scan_any<uint32_t>(what, columns);
    case TABLE_F32:
        return scan_any<float>(what, columns);
    case TABLE_U64:
        return scan_narrow<uint64_t>(what, columns);
    case TABLE_F64:
        return scan_narrow<double>(what, columns);
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

int peer_cub_workspace(table_type type, size_t rows, size_t columns, size_t *bytes) {
    if (!fits(rows))
        return cudaErrorNotSupported;
    *bytes = 0;
    return dispatch(type, request{nullptr, nullptr, nullptr, bytes, static_cast<int>(rows), nullptr}, columns);
}

int peer_cub_scan(table_type type, size_t rows, size_t columns, const void *in, void *out, void *workspace,
                  size_t workspace_bytes, void *stream) {
    if (!fits(rows) || !workspace)
        return fits(rows) ? cudaErrorInvalidValue : cudaErrorNotSupported;
    return dispatch(
        type, request{in, out, workspace, &workspace_bytes, static_cast<int>(rows), static_cast<cudaStream_t>(stream)},
        columns);
}
