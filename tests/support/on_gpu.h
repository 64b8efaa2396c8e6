/* What tests that CUDA has to itself do by its runtime: all of it must succeed. */
#ifndef ON_GPU_H
#define ON_GPU_H

#include <cuda_runtime_api.h>

#include "memory.h"
#include "test.h"

#define REQUIRE_CUDA(call) assert_int_equal(call, cudaSuccess)

/* Copies between any two memories; to a device on a stream; and back, and waits for it. */
static inline void copy(void *to, const void *from, size_t bytes) {
    REQUIRE_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

static inline void send(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    REQUIRE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
}

static inline void fetch(void *to, const void *from, size_t bytes, cudaStream_t stream) {
    REQUIRE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
}

/* What a call queues on the stream between the two becomes a graph, whose nodes are counted, unless `nodes` is NULL. */
static inline void begin_capture(cudaStream_t stream) {
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

static inline cudaGraphExec_t end_capture(cudaStream_t stream, table_status status, size_t *nodes) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable = NULL;
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
    assert_int_equal(status, TABLE_OK);
    if (nodes)
        REQUIRE_CUDA(cudaGraphGetNodes(graph, NULL, nodes));
    REQUIRE_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
    return executable;
}

#endif
