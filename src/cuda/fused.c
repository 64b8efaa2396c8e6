#include "fused.h"

#include <limits.h>

#include "../checked.h"
#include "pass.h"
#include "runtime.h"

/* Kernels that were translated for an older GPU have no clusters, wherever they run. */
enum { OLDEST_PARKED = 9, OLDEST_CLUSTERS = TUPLESCAN_NEWEST_GPU >= 90 ? 9 : INT_MAX };

enum cuda_fused_form cuda_forced_form = CUDA_FUSED_BEST;

/* Of the device that the table is on, or else of the current one; 0 when it cannot be known. */
static int attribute(const struct scan *scan, enum cudaDeviceAttr which) {
    int device = scan->in.data ? backend_device_of(scan->in.data) : -1, value = 0;
    cudaError_t error = device >= 0 ? cudaSuccess : cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&value, which, device);
    if (error == cudaSuccess)
        return value;
    cudaGetLastError();
    return 0;
}

/* Room for either of the large forms. */
size_t cuda_fused_workspace(const struct scan *scan) {
    const size_t parked = kernel_fused_workspace(scan->chunks, scan->in.columns, scan->out.type);
    const size_t lookback = kernel_fused_lookback_workspace(scan->chunks, scan->in.columns, scan->out.type);
    return parked > lookback ? parked : lookback;
}

/* Whether the small form is worth trying: as long as each tile can have a multiprocessor to itself. */
static bool is_small(const struct scan *scan, int major) {
    const size_t row_bytes = scan->in.columns * table_type_size(scan->out.type);
    if (scan->chunks > (major >= OLDEST_CLUSTERS ? KERNEL_CLUSTER_CHUNKS : 1))
        return false;
    if (cuda_forced_form != CUDA_FUSED_BEST)
        return cuda_forced_form == CUDA_FUSED_SMALL;
    return divide_up(row_bytes, KERNEL_PANEL_BYTES) * scan->chunks <=
           (size_t)attribute(scan, cudaDevAttrMultiProcessorCount);
}

/* The kernels lower the overflow's word; it is set before. */
static int set_overflow(const struct scan *scan) {
    if (!scan->first_overflow)
        return cudaSuccess;
    return (int)cudaMemsetAsync(scan->first_overflow, 0xff, sizeof *scan->first_overflow, scan->stream);
}

static int run_large(const struct scan *scan, const struct kernel_pass *pass, bool parked, void *workspace) {
    const size_t bytes = parked ? kernel_fused_workspace(scan->chunks, scan->in.columns, scan->out.type)
                                : kernel_fused_lookback_workspace(scan->chunks, scan->in.columns, scan->out.type);
    const cudaError_t error = cudaMemsetAsync(workspace, 0, bytes, scan->stream);
    if (error != cudaSuccess)
        return (int)error;
    return parked ? kernel_fused(pass, scan->carry_in, scan->carry_out, workspace)
                  : kernel_fused_lookback(pass, scan->carry_in, scan->carry_out, workspace);
}

table_status cuda_fused(const struct scan *scan, void *workspace) {
    const struct kernel_pass pass = cuda_pass(scan);
    const int major = attribute(scan, cudaDevAttrComputeCapabilityMajor);
    const bool parked = major >= OLDEST_PARKED && cuda_forced_form != CUDA_FUSED_LOOKBACK;
    const bool small = is_small(scan, major);
    /* The small form sets the overflow's word itself where one cluster has all columns. */
    const bool sets_overflow = small && scan->in.columns * table_type_size(scan->out.type) <= KERNEL_PANEL_BYTES;
    int error = sets_overflow ? cudaSuccess : set_overflow(scan);
    if (error == cudaSuccess && small)
        error = kernel_fused_small(&pass, scan->carry_in, scan->carry_out);
    if (small && error != cudaErrorInvalidClusterSize)
        return cuda_check_launch(error, "the fused pass of a small table");
    if (small)
        error = sets_overflow ? set_overflow(scan) : cudaSuccess;
    if (error == cudaSuccess)
        error = run_large(scan, &pass, parked, workspace);
    return cuda_check_launch(error, "the fused pass");
}
