/* The fake runtime: devices, streams, events, graphs, copies. A stream is a list of work. Its work is done when it is
 * waited for or, as the seed has it, at once: both are times at which a GPU might have done it. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <set>
#include <tuple>

#include "cuda_runtime.h"
#include "runtime.h"

using emulator::enqueue;

struct emulator_stream {
    std::deque<std::function<void()>> work;
    bool blocking = true; /* ordered with the default stream */
    bool running = false;
    int device = 0;
    struct emulator_graph *capture = nullptr;
    uint64_t put = 0, done = 0;
};
struct emulator_event {
    emulator_stream *stream = nullptr;
    uint64_t after = 0; /* so much of the stream's work */
    bool recorded = false;
    double seconds = 0;
};
struct emulator_graph {
    std::vector<std::function<void()>> work;
};

namespace {

int first_devices() {
    const char *const count = getenv("TUPLESCAN_EMULATOR_DEVICES");
    return count ? atoi(count) : 1;
}

thread_local int device_now = 0;
thread_local int last_error = cudaSuccess;

struct runtime_state {
    std::set<emulator_stream *> streams;
    std::set<emulator_event *> events;
    std::set<emulator_graph *> graphs;
    emulator_stream default_stream;
    int devices = first_devices();
    unsigned processors = 4, major = 9;
    size_t memory_rate = 0;
    int sticky = cudaSuccess; /* a kernel's failure: all calls fail from then on */
    uint64_t calls = 0, fail_at = 0;
    int fail_with = cudaSuccess;
    emulator::random_numbers random = {1};
};
runtime_state &state() {
    static runtime_state all;
    return all;
}

/* Launches run under it as well: the device is busy. */
std::recursive_mutex &calls() {
    static std::recursive_mutex lock;
    return lock;
}

cudaError_t keep(int error) {
    if (error != cudaSuccess)
        last_error = error;
    return static_cast<cudaError_t>(error);
}

/* Before the call takes its turn, so that calls of other threads may come first. */
std::atomic<void (*)(const char *)> hook{nullptr};
void call_hook(const char *name) {
    if (void (*const now)(const char *) = hook.load())
        now(name);
}

/* Every call of the runtime begins with it. */
#define CALL(name)                                                                                                     \
    call_hook(name);                                                                                                   \
    const std::lock_guard<std::recursive_mutex> one_at_a_time(calls());                                                \
    if (const int failed = emulator::runtime_call(name))                                                               \
    return keep(failed)

/* The same for what gives back or waits: it does so even when it fails, with the error of something else. */
#define CALL_AND_DO(name)                                                                                              \
    call_hook(name);                                                                                                   \
    const std::lock_guard<std::recursive_mutex> one_at_a_time(calls());                                                \
    const int failed = emulator::runtime_call(name)

double seconds_now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

emulator_stream &stream_of(cudaStream_t stream) { return stream ? *stream : state().default_stream; }

void drain(emulator_stream &stream, uint64_t until) {
    while (stream.done < until && !stream.work.empty()) {
        std::function<void()> next = std::move(stream.work.front());
        stream.work.pop_front();
        stream.done++;
        next();
    }
}
void drain(emulator_stream &stream) { drain(stream, stream.put); }
void drain_blocking() {
    drain(state().default_stream);
    for (emulator_stream *each : state().streams)
        if (each->blocking)
            drain(*each);
}
void drain_all() {
    drain(state().default_stream);
    for (emulator_stream *each : state().streams)
        drain(*each);
}

/* The default stream waits for the blocking ones and they for it. */
void order_with_default(emulator_stream &stream) {
    if (&stream == &state().default_stream)
        drain_blocking();
    else if (stream.blocking)
        drain(state().default_stream);
}

bool capturing(emulator_stream &stream) { return stream.capture != nullptr; }
bool capturing_any() {
    for (emulator_stream *each : state().streams)
        if (capturing(*each))
            return true;
    return false;
}

enum place_of_copy { FROM, TO };
bool place_fits(const void *address, cudaMemcpyKind kind, place_of_copy which) {
    const bool device = emulator::memory_is_device(address);
    switch (kind) {
    case cudaMemcpyHostToHost:
        return !device;
    case cudaMemcpyHostToDevice:
        return device == (which == TO);
    case cudaMemcpyDeviceToHost:
        return device == (which == FROM);
    case cudaMemcpyDeviceToDevice:
        return device;
    default:
        return true;
    }
}

/* Rows of `width` bytes. Device memory must hold all of them. */
bool in_bounds(const void *address, size_t pitch, size_t width, size_t rows) {
    const unsigned char *base;
    size_t bytes;
    if (width == 0 || rows == 0 || !emulator::allocation_of(address, &base, &bytes))
        return true;
    const size_t offset = static_cast<size_t>(static_cast<const unsigned char *>(address) - base);
    return pitch * (rows - 1) + width <= bytes - offset;
}

void copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows) {
    emulator::device_memory_reachable(true);
    for (size_t row = 0; row < rows; row++)
        memmove(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch, width);
    emulator::device_memory_reachable(false);
}

int put_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
             cudaMemcpyKind kind, cudaStream_t stream) {
    if (width == 0 || rows == 0)
        return cudaSuccess;
    if (!place_fits(to, kind, TO) || !place_fits(from, kind, FROM) || !in_bounds(to, to_pitch, width, rows) ||
        !in_bounds(from, from_pitch, width, rows) || (rows > 1 && (to_pitch < width || from_pitch < width)))
        return cudaErrorInvalidValue;
    /* From pageable memory the runtime takes the bytes before it returns, so that the caller may overwrite them. */
    if (!emulator::memory_is_device(from) && !emulator::memory_is_pinned(from) && !capturing(stream_of(stream))) {
        std::shared_ptr<std::vector<char>> kept(new std::vector<char>(width * rows));
        for (size_t row = 0; row < rows; row++)
            memcpy(kept->data() + row * width, static_cast<const char *>(from) + row * from_pitch, width);
        return enqueue(stream, [=] { copy_rows(to, to_pitch, kept->data(), width, width, rows); });
    }
    return enqueue(stream, [=] { copy_rows(to, to_pitch, from, from_pitch, width, rows); });
}

/* As cudaDevAttrMaxPitch is on all devices. */
constexpr size_t MOST_PITCH = 0x7fffffff;
int put_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
             cudaMemcpyKind kind, cudaStream_t stream) {
    if (to_pitch > MOST_PITCH || from_pitch > MOST_PITCH)
        return cudaErrorInvalidPitchValue;
    return put_copy(to, to_pitch, from, from_pitch, width, rows, kind, stream);
}

} // namespace

namespace emulator {

int runtime_call(const char *) {
    const std::lock_guard<std::recursive_mutex> one_at_a_time(calls());
    runtime_state &all = state();
    all.calls++;
    if (all.fail_at != 0 && all.calls == all.fail_at)
        return last_error = all.fail_with;
    return all.sticky;
}

int running_device = 0;
int current_device() { return device_now; }
int stream_device(void *stream) { return stream ? static_cast<cudaStream_t>(stream)->device : device_now; }

void device_failed() { state().sticky = cudaErrorLaunchFailure; }
bool device_has_failed() { return state().sticky != cudaSuccess; }

int enqueue(void *handle, std::function<void()> work) {
    const std::lock_guard<std::recursive_mutex> one_at_a_time(calls());
    emulator_stream &stream = stream_of(static_cast<cudaStream_t>(handle));
    if (capturing(stream)) {
        stream.capture->work.push_back(std::move(work));
        return cudaSuccess;
    }
    order_with_default(stream);
    stream.work.push_back([work = std::move(work)] {
        if (!device_has_failed())
            work();
    });
    stream.put++;
    if (state().random.one_in(2))
        drain(stream);
    return cudaSuccess;
}

} // namespace emulator

/* ---- emulator.h ---- */

void emulator_clear(void) {
    runtime_state &all = state();
    all.sticky = last_error = cudaSuccess;
    all.fail_at = all.calls = 0;
    emulator::report_clear();
}
void emulator_fail_call(uint64_t n, int error) {
    state().fail_at = n ? state().calls + n : 0;
    state().fail_with = error;
}
void emulator_on_call(void (*call)(const char *name)) { hook.store(call); }
uint64_t emulator_calls(void) { return state().calls; }
size_t emulator_objects(void) {
    return emulator::memory_objects() + state().streams.size() + state().events.size() + state().graphs.size();
}
void emulator_devices(int count) { state().devices = count; }
void emulator_device(unsigned processors, unsigned major) {
    state().processors = processors;
    state().major = major;
}
void emulator_memory_rate(size_t bytes) { state().memory_rate = bytes; }

namespace emulator {
unsigned processors() { return state().processors; }
size_t memory_rate() { return state().memory_rate; }
unsigned major_capability() { return state().major; }
bool copies_in_bulk() { return state().major >= 9; }
} // namespace emulator

/* ---- errors ---- */

static const std::tuple<cudaError_t, const char *, const char *> ERRORS[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
};
const char *cudaGetErrorName(cudaError_t error) {
    for (const auto &each : ERRORS)
        if (std::get<0>(each) == error)
            return std::get<1>(each);
    return "cudaErrorUnknown";
}
const char *cudaGetErrorString(cudaError_t error) {
    for (const auto &each : ERRORS)
        if (std::get<0>(each) == error)
            return std::get<2>(each);
    return "unknown error";
}
cudaError_t cudaPeekAtLastError(void) { return static_cast<cudaError_t>(state().sticky ? state().sticky : last_error); }
cudaError_t cudaGetLastError(void) {
    const cudaError_t last = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return last;
}

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *count) {
    CALL("cudaGetDeviceCount");
    if (state().devices == 0)
        return keep(cudaErrorInsufficientDriver); /* and the count stays as it was */
    *count = state().devices;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    CALL("cudaGetDevice");
    *device = device_now;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    CALL("cudaSetDevice");
    if (device < 0 || device >= state().devices)
        return keep(cudaErrorInvalidDevice);
    device_now = device;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    CALL("cudaGetDeviceProperties");
    if (device < 0 || device >= state().devices)
        return keep(cudaErrorInvalidDevice);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "emulator");
    properties->totalGlobalMem = size_t(1) << 30;
    properties->sharedMemPerBlock = emulator::STATIC_SHARED_LIMIT;
    properties->sharedMemPerBlockOptin = emulator::SHARED_LIMIT;
    properties->sharedMemPerMultiprocessor = emulator::PROCESSOR_SHARED;
    properties->major = static_cast<int>(state().major);
    properties->minor = state().major == 7 ? 5 : 0;
    properties->multiProcessorCount = static_cast<int>(state().processors);
    properties->maxThreadsPerBlock = emulator::MOST_THREADS;
    properties->maxThreadsPerMultiProcessor = emulator::PROCESSOR_THREADS;
    properties->warpSize = emulator::LANES;
    properties->cooperativeLaunch = 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    cudaDeviceProp all;
    const cudaError_t error = cudaGetDeviceProperties(&all, device);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = all.maxThreadsPerBlock;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = all.multiProcessorCount;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = all.maxThreadsPerMultiProcessor;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = all.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = all.minor;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = static_cast<int>(emulator::PROCESSOR_SHARED);
        break;
    case cudaDevAttrCooperativeLaunch:
        *value = 1;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = static_cast<int>(emulator::SHARED_LIMIT);
        break;
    default:
        return keep(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) {
    CALL_AND_DO("cudaDeviceSynchronize");
    if (capturing_any())
        return keep(cudaErrorStreamCaptureUnsupported);
    drain_all();
    return keep(failed ? failed : state().sticky);
}
cudaError_t cudaMemGetInfo(size_t *unused, size_t *total) {
    CALL("cudaMemGetInfo");
    *total = size_t(1) << 30;
    *unused = emulator::memory_left() < *total ? emulator::memory_left() : *total;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- streams and graphs ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    CALL("cudaStreamCreate");
    *stream = new emulator_stream;
    (*stream)->device = device_now;
    (*stream)->blocking = !(flags & cudaStreamNonBlocking);
    state().streams.insert(*stream);
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    CALL_AND_DO("cudaStreamDestroy");
    if (state().streams.count(stream) == 0)
        return keep(cudaErrorInvalidResourceHandle);
    drain(*stream);
    for (emulator_event *each : state().events)
        if (each->stream == stream)
            each->stream = nullptr;
    state().streams.erase(stream);
    delete stream;
    return keep(failed);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    CALL_AND_DO("cudaStreamSynchronize");
    if (capturing(stream_of(stream)))
        return keep(cudaErrorStreamCaptureUnsupported);
    order_with_default(stream_of(stream));
    drain(stream_of(stream));
    return keep(failed ? failed : state().sticky);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    CALL("cudaStreamQuery");
    emulator_stream &of = stream_of(stream);
    const bool waiting = !of.work.empty();
    drain(of, of.done + 1);
    return keep(waiting ? cudaErrorNotReady : state().sticky);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    CALL("cudaStreamIsCapturing");
    *status = capturing(stream_of(stream)) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode) {
    CALL("cudaStreamBeginCapture");
    if (!stream || capturing(*stream))
        return keep(cudaErrorStreamCaptureUnsupported);
    stream->capture = new emulator_graph;
    state().graphs.insert(stream->capture);
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    CALL("cudaStreamEndCapture");
    if (!stream || !capturing(*stream))
        return keep(cudaErrorInvalidValue);
    *graph = stream->capture;
    stream->capture = nullptr;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long) {
    CALL("cudaGraphInstantiate");
    *exec = new emulator_graph(*graph);
    state().graphs.insert(*exec);
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    CALL("cudaGraphGetNodes");
    if (nodes)
        return keep(cudaErrorNotSupported);
    *count = graph->work.size();
    return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
    CALL("cudaGraphUpload");
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    CALL("cudaGraphLaunch");
    for (const auto &work : exec->work)
        enqueue(stream, work);
    return cudaSuccess;
}
static cudaError_t destroy_graph(emulator_graph *graph, int failed) {
    if (state().graphs.erase(graph) == 0)
        return keep(cudaErrorInvalidValue);
    delete graph;
    return keep(failed);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    CALL_AND_DO("cudaGraphDestroy");
    return destroy_graph(graph, failed);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    CALL_AND_DO("cudaGraphExecDestroy");
    return destroy_graph(exec, failed);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    CALL("cudaEventCreate");
    *event = new emulator_event;
    state().events.insert(*event);
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    CALL_AND_DO("cudaEventDestroy");
    if (state().events.count(event) == 0)
        return keep(cudaErrorInvalidResourceHandle);
    if (event->stream)
        drain(*event->stream, event->after);
    state().events.erase(event);
    delete event;
    return keep(failed);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    CALL("cudaEventRecord");
    emulator_stream &of = stream_of(stream);
    if (capturing(of))
        return cudaSuccess;
    const int error = enqueue(stream, [event] { event->seconds = seconds_now(); });
    event->stream = &of;
    event->after = of.put;
    event->recorded = true;
    return keep(error);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    CALL_AND_DO("cudaEventSynchronize");
    if (event->stream)
        drain(*event->stream, event->after);
    return keep(failed ? failed : state().sticky);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    CALL("cudaEventQuery");
    const bool waiting = event->stream && event->stream->done < event->after;
    if (waiting)
        drain(*event->stream, event->stream->done + 1);
    return keep(waiting ? cudaErrorNotReady : state().sticky);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    CALL("cudaEventElapsedTime");
    if (!from->recorded || !to->recorded)
        return keep(cudaErrorInvalidResourceHandle);
    if ((from->stream && from->stream->done < from->after) || (to->stream && to->stream->done < to->after))
        return keep(cudaErrorNotReady);
    *milliseconds = static_cast<float>(1e3 * (to->seconds - from->seconds));
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    CALL("cudaStreamWaitEvent");
    emulator_stream *const other = event->stream;
    const uint64_t after = event->after;
    if (!other)
        return cudaSuccess;
    return keep(enqueue(stream, [other, after] { drain(*other, after); }));
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    CALL("cudaMalloc");
    return keep(emulator::memory_make(memory, bytes, true));
}
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t) {
    CALL("cudaMallocAsync");
    return keep(emulator::memory_make(memory, bytes, true));
}
cudaError_t cudaMallocHost(void **memory, size_t bytes) {
    CALL("cudaMallocHost");
    return keep(emulator::memory_make(memory, bytes, false));
}
cudaError_t cudaFree(void *memory) {
    CALL_AND_DO("cudaFree");
    drain_all();
    const int error = emulator::memory_free(memory, true);
    return keep(failed ? failed : error);
}
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
    CALL("cudaFreeAsync");
    return keep(enqueue(stream, [memory] { emulator::memory_free(memory, true); }));
}
cudaError_t cudaFreeHost(void *memory) {
    CALL_AND_DO("cudaFreeHost");
    drain_all();
    const int error = emulator::memory_free(memory, false);
    return keep(failed ? failed : error);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    CALL("cudaMemcpyAsync");
    return keep(put_copy(to, bytes, from, bytes, bytes, 1, kind, stream));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                              enum cudaMemcpyKind kind, cudaStream_t stream) {
    CALL("cudaMemcpy2DAsync");
    return keep(put_rows(to, to_pitch, from, from_pitch, width, rows, kind, stream));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                         enum cudaMemcpyKind kind) {
    CALL("cudaMemcpy2D");
    const int error = put_rows(to, to_pitch, from, from_pitch, width, rows, kind, nullptr);
    drain(state().default_stream);
    return keep(error ? error : state().sticky);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    CALL("cudaMemcpy");
    const int error = put_copy(to, bytes, from, bytes, bytes, 1, kind, nullptr);
    drain(state().default_stream);
    return keep(error ? error : state().sticky);
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream) {
    CALL("cudaMemsetAsync");
    if (bytes > 0 && (!emulator::memory_is_device(to) || !in_bounds(to, bytes, bytes, 1)))
        return keep(cudaErrorInvalidValue);
    return keep(enqueue(stream, [=] {
        emulator::device_memory_reachable(true);
        memset(to, byte, bytes);
        emulator::device_memory_reachable(false);
    }));
}
cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
    CALL("cudaMemset");
    const cudaError_t error = cudaMemsetAsync(to, byte, bytes, nullptr);
    drain(state().default_stream);
    return error;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    CALL("cudaPointerGetAttributes");
    memset(attributes, 0, sizeof *attributes);
    const bool device = emulator::memory_is_device(pointer), pinned = emulator::memory_is_pinned(pointer);
    attributes->type = device ? cudaMemoryTypeDevice : pinned ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    attributes->device = emulator::memory_device(pointer);
    attributes->devicePointer = device || pinned ? const_cast<void *>(pointer) : nullptr;
    attributes->hostPointer = pinned ? const_cast<void *>(pointer) : nullptr;
    return cudaSuccess;
}
