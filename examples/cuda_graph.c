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
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include <tuplescan/tuplescan.h>

enum { ROWS = 1000, COLUMNS = 4, VALUES = ROWS * COLUMNS, NO_GPU = 77 };

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static void check_table(table_status status) {
    if (status != TABLE_OK) {
        fprintf(stderr, "%s: %s\n", table_status_name(status), table_error_detail());
        exit(1);
    }
}

static cudaGraphExec_t capture(const table_view *in, const table_view *out, const table_scan_options *options) {
    cudaStream_t stream = (cudaStream_t)options->stream;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t launchable = NULL;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check_table(table_prefix_sum_async(in, out, options));
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiateWithFlags(&launchable, graph, 0));
    check(cudaGraphDestroy(graph));
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
    check(cudaMalloc(&in.data, sizeof values));
    check(cudaMalloc(&out.data, sizeof sums));
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    table_scan_options options = {.stream = stream};
    check_table(table_prefix_sum_workspace(&in, &out, &options, &options.workspace_bytes));
    check(cudaMalloc(&options.workspace, options.workspace_bytes ? options.workspace_bytes : 1));
    cudaGraphExec_t graph = capture(&in, &out, &options);

    for (unsigned round = 1; round <= 3; round++) {
        for (int i = 0; i < VALUES; i++)
            values[i] = round;
        check(cudaMemcpyAsync(in.data, values, sizeof values, cudaMemcpyHostToDevice, stream));
        check(cudaGraphLaunch(graph, stream));
        check(cudaMemcpyAsync(sums, out.data, sizeof sums, cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        printf("round %u: the last sum is %u\n", round, sums[VALUES - 1]);
        if (sums[VALUES - 1] != round * ROWS)
            return 1;
    }
    check(cudaGraphExecDestroy(graph));
    check(cudaStreamDestroy(stream));
    check(cudaFree(options.workspace));
    check(cudaFree(out.data));
    check(cudaFree(in.data));
    return 0;
}
