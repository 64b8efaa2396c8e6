#include "pass.h"
#include "runtime.h"

/* The kernel is built for compute capability 9.0 and later, and for tables that are summed into their own type. */
bool cuda_has_fused(const struct scan *scan) {
    enum { OLDEST_FUSED = 9 };
    int device = scan->in.data ? backend_device_of(scan->in.data) : -1, major = 0;
    cudaError_t error = device >= 0 ? cudaSuccess : cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess)
        cudaGetLastError();
    return major >= OLDEST_FUSED && scan->in.type == scan->out.type;
}

size_t cuda_fused_workspace(const struct scan *scan) {
    return kernel_fused_workspace(scan->chunks, scan->in.columns, scan->out.type);
}

table_status cuda_fused(const struct scan *scan, void *workspace) {
    const struct kernel_pass pass = cuda_pass(scan);
    const table_status status =
        cuda_check(cudaMemsetAsync(workspace, 0, cuda_fused_workspace(scan), scan->stream), "clearing the workspace");
    if (status != TABLE_OK)
        return status;
    return cuda_check_launch(kernel_fused(&pass, scan->carry_in, scan->carry_out, workspace), "the fused pass");
}
