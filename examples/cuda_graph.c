/* A scan in a CUDA graph: the workspace is asked for and allocated once, the call is captured once, and each launch of
 * the graph sums what the table holds then. Nothing is allocated and nothing waits in between.
 *
 *     cc cuda_graph.c -o cuda_graph $(pkg-config --cflags --libs tuplescan) -lcudart
 *
 * prints
 *
 *     round 1: the last sum is 1000
 *     round 2: the last sum is 2000
 *     round 3: the last sum is 3000 */
#include <cuda_runtime_api.h>

#include "check.h"

enum { ROWS = 1000, COLUMNS = 4, VALUES = ROWS * COLUMNS, NO_GPU = 77 };

static void check_cuda(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static cudaGraphExec_t capture(const table_view *in, const table_view *out, const table_scan_options *options) {
    cudaStream_t stream = (cudaStream_t)options->stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t launchable = NULL;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check(table_prefix_sum_async(in, out, options));
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphInstantiateWithFlags(&launchable, graph, 0));
    check_cuda(cudaGraphDestroy(graph));
    return launchable;
}

int main(void) {
    static unsigned values[VALUES], sums[VALUES];
    cudaStream_t stream = NULL;
    if (table_cuda_unavailable()) {
        printf("%s\n", table_cuda_unavailable());
        return NO_GPU;
    }
    table_view in = {.rows = ROWS, .columns = COLUMNS, .type = TABLE_U32}, out = in;
    check_cuda(cudaMalloc(&in.data, sizeof values));
    check_cuda(cudaMalloc(&out.data, sizeof sums));
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    table_scan_options options = {.stream = stream};
    check(table_prefix_sum_workspace(&in, &out, &options, &options.workspace_bytes));
    check_cuda(cudaMalloc(&options.workspace, options.workspace_bytes ? options.workspace_bytes : 1));
    cudaGraphExec_t graph = capture(&in, &out, &options);

    for (unsigned round = 1; round <= 3; round++) {
        for (int i = 0; i < VALUES; i++)
            values[i] = round;
        check_cuda(cudaMemcpyAsync(in.data, values, sizeof values, cudaMemcpyHostToDevice, stream));
        check_cuda(cudaGraphLaunch(graph, stream));
        check_cuda(cudaMemcpyAsync(sums, out.data, sizeof sums, cudaMemcpyDeviceToHost, stream));
        check_cuda(cudaStreamSynchronize(stream));
        printf("round %u: the last sum is %u\n", round, sums[VALUES - 1]);
        if (sums[VALUES - 1] != round * ROWS)
            return 1;
    }
    check_cuda(cudaGraphExecDestroy(graph));
    check_cuda(cudaStreamDestroy(stream));
    check_cuda(cudaFree(options.workspace));
    check_cuda(cudaFree(out.data));
    check_cuda(cudaFree(in.data));
    return 0;
}
