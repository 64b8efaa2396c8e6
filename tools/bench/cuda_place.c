/* The memory of a GPU, its stream and its clock. */
#include <math.h>

#include <cuda_runtime_api.h>

#include "bench/peers/peers.h"
#include "bench/place.h"

/* More than the cache of any device holds, and long enough to queue the work meanwhile. */
enum { LEAD_READ = 256 << 20, LEAD_COPY = 128 << 20 };

static bool succeeded(struct bench_place *place, int error, const char *what) {
    if (error == cudaSuccess)
        return true;
    (void)cudaGetLastError(); /* it is no error of what follows */
    report_note(place->report, "%s: %s (%s)", what, cudaGetErrorString((cudaError_t)error),
                cudaGetErrorName((cudaError_t)error));
    return false;
}

#define CUDA(PLACE, CALL, ...) succeeded(PLACE, CALL(__VA_ARGS__), #CALL)

/* A call of the place's device, among places of several. */
#define HERE(PLACE, CALL, ...) (CUDA(PLACE, cudaSetDevice, (PLACE)->device) && CUDA(PLACE, CALL, __VA_ARGS__))

static bool cuda_open(struct bench_place *place) {
    cudaStream_t stream = NULL;
    cudaEvent_t begun = NULL, ended = NULL;
    const bool all = HERE(place, cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking) &&
                     CUDA(place, cudaEventCreate, &begun) && CUDA(place, cudaEventCreate, &ended);
    place->stream = stream;
    place->begun = begun;
    place->ended = ended;
    return all;
}

static void cuda_close(struct bench_place *place) {
    if (cudaSetDevice(place->device) != cudaSuccess)
        return;
    if (place->begun)
        cudaEventDestroy((cudaEvent_t)place->begun);
    if (place->ended)
        cudaEventDestroy((cudaEvent_t)place->ended);
    if (place->stream)
        cudaStreamDestroy((cudaStream_t)place->stream);
}

static void *cuda_allocate(struct bench_place *place, size_t bytes, bool on_host) {
    void *memory = NULL;
    if (on_host)
        return HERE(place, cudaMallocHost, &memory, bytes) ? memory : NULL;
    return HERE(place, cudaMalloc, &memory, bytes) ? memory : NULL;
}

static void cuda_release(struct bench_place *place, void *memory, bool on_host) {
    if (cudaSetDevice(place->device) == cudaSuccess)
        (void)(on_host ? cudaFreeHost(memory) : cudaFree(memory));
}

static bool cuda_copy(struct bench_place *place, void *to, const void *from, size_t pitch, size_t bytes, size_t rows) {
    if (pitch == bytes)
        return HERE(place, cudaMemcpyAsync, to, from, bytes * rows, cudaMemcpyDefault, place->stream);
    return HERE(place, cudaMemcpy2DAsync, to, pitch, from, pitch, bytes, rows, cudaMemcpyDefault, place->stream);
}

static bool cuda_clear(struct bench_place *place, void *memory, size_t bytes) {
    return HERE(place, cudaMemsetAsync, memory, 0, bytes, place->stream);
}

static bool cuda_wait(struct bench_place *place) { return HERE(place, cudaStreamSynchronize, place->stream); }

/* The memory is had when it is wanted first, which is no run that is timed. */
static bool cuda_cool(struct bench_place *place, bool by_reading) {
    if (!place->lead && ((place->lead = place_allocate(place, LEAD_READ + sizeof(long long), false)) == NULL ||
                         !HERE(place, cudaMemsetAsync, place->lead, 1, LEAD_READ, place->stream)))
        return false;
    char *const lead = place->lead;
    return by_reading ? succeeded(place, peer_read(lead, LEAD_READ, lead + LEAD_READ, place->stream), "reading ahead")
                      : HERE(place, cudaMemcpyAsync, lead + LEAD_COPY, lead, LEAD_COPY, cudaMemcpyDeviceToDevice,
                             place->stream);
}

static bool cuda_begin(struct bench_place *place) { return HERE(place, cudaEventRecord, place->begun, place->stream); }

static bool cuda_end(struct bench_place *place) { return HERE(place, cudaEventRecord, place->ended, place->stream); }

static bool cuda_elapsed(struct bench_place *place, double *ms) {
    float measured = NAN;
    const bool good = HERE(place, cudaEventElapsedTime, &measured, place->begun, place->ended);
    *ms = (double)measured;
    return good;
}

static void *cuda_capture(struct bench_place *place, bench_work *work, void *what, unsigned count) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    bool queued = true;
    if (!HERE(place, cudaStreamBeginCapture, place->stream, cudaStreamCaptureModeThreadLocal))
        return NULL;
    for (unsigned k = 0; k < count && queued; k++)
        queued = work(what);
    const cudaError_t ended = cudaStreamEndCapture(place->stream, &graph);
    if (queued && succeeded(place, ended, "cudaStreamEndCapture"))
        (void)(CUDA(place, cudaGraphInstantiateWithFlags, &ready, graph, 0) &&
               CUDA(place, cudaGraphUpload, ready, place->stream));
    (void)cudaGetLastError(); /* a capture that failed is no error of what follows */
    if (graph)
        cudaGraphDestroy(graph);
    return ready;
}

static bool cuda_replay(struct bench_place *place, void *graph) {
    return HERE(place, cudaGraphLaunch, graph, place->stream);
}

static void cuda_forget(void *graph) { cudaGraphExecDestroy(graph); }

const struct place_kind place_on_gpu = {.backend = TABLE_BACKEND_CUDA,
                                        .open = cuda_open,
                                        .close = cuda_close,
                                        .allocate = cuda_allocate,
                                        .release = cuda_release,
                                        .copy = cuda_copy,
                                        .clear = cuda_clear,
                                        .wait = cuda_wait,
                                        .cool = cuda_cool,
                                        .begin = cuda_begin,
                                        .end = cuda_end,
                                        .elapsed = cuda_elapsed,
                                        .capture = cuda_capture,
                                        .replay = cuda_replay,
                                        .forget = cuda_forget,
                                        .succeeded = succeeded};
