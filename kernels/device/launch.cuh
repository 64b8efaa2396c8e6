/* The device layer's other half: launches, and the host's questions before them. */
#ifndef LAUNCH_CUH
#define LAUNCH_CUH

#include <atomic>
#include <cstddef>

#include <cuda_runtime.h>

/* A kernel without machine code for the device and without PTX becomes a refused launch: nothing is queued, and the
 * caller does the work in another way. */
constexpr int LAUNCH_REFUSED = static_cast<int>(cudaErrorNotSupported);
static inline int without_code(int error) {
    if (error != static_cast<int>(cudaErrorNoKernelImageForDevice) &&
        error != static_cast<int>(cudaErrorInvalidDeviceFunction))
        return error;
    cudaGetLastError(); /* so that the next launch does not find it */
    return LAUNCH_REFUSED;
}

/* Every launch returns a cudaError_t as an int. It is the error of this launch alone, without errors of the caller's
 * own calls, which cudaGetLastError() would return. `stream` is a cudaStream_t; there are `count` attributes. */
template <class... P, class... A> static int launch_with(cudaLaunchAttribute *attributes, unsigned count,
                                                         void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                         size_t shared_bytes, void *stream, A... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = static_cast<cudaStream_t>(stream);
    config.attrs = attributes;
    config.numAttrs = count;
    return without_code(static_cast<int>(cudaLaunchKernelEx(&config, kernel, P(arguments)...)));
}

template <class... P, class... A> static int launch(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                    size_t shared_bytes, void *stream, A... arguments) {
    return launch_with(nullptr, 0, kernel, blocks, threads, shared_bytes, stream, arguments...);
}

/* All blocks are resident at once, or the launch is refused, for whatever reason: the device has not the room, another
 * process has a part of it, or it has no cooperative launches. */
template <class... P, class... A> static int launch_cooperative(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                                size_t shared_bytes, void *stream, A... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    const int error = launch_with(&attribute, 1, kernel, blocks, threads, shared_bytes, stream, arguments...);
    if (error != static_cast<int>(cudaErrorCooperativeLaunchTooLarge) && error != LAUNCH_REFUSED)
        return error;
    cudaGetLastError(); /* clear the error */
    return LAUNCH_REFUSED;
}

/* Called first by a kernel that launch_early() starts (sm_90): it waits until the launch before it has ended, and all
 * that it wrote is seen. */
DEVICE void wait_for_launch_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Whether the code that a launch of the kernel would run on the current device was made for devices with bulk copies:
 * what copies_in_bulk() is in it. */
template <class... P> static int code_copies_in_bulk(void (*kernel)(P...), bool *copies) {
    cudaFuncAttributes attributes = {};
    const cudaError_t error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(kernel));
    *copies = attributes.ptxVersion >= 90;
    return without_code(static_cast<int>(error));
}

/* A launch that begins while the one before it in the stream ends, where its code can wait for that: its kernel calls
 * wait_for_launch_before(), which is nothing in code for older devices, that newer ones may run. The launch before it
 * is not an early one itself. */
template <class... P, class... A> static int launch_early(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                          size_t shared_bytes, void *stream, A... arguments) {
    bool waits = false;
    const int error = code_copies_in_bulk(kernel, &waits);
    if (error != 0)
        return error;
    if (!waits)
        return launch(kernel, blocks, threads, shared_bytes, stream, arguments...);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return launch_with(&attribute, 1, kernel, blocks, threads, shared_bytes, stream, arguments...);
}

/* The most dynamic shared memory that a block can be allowed to have on the current device. */
static inline int most_shared_bytes(size_t *bytes) {
    int device = 0, most = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *bytes = static_cast<size_t>(most);
    return static_cast<int>(error);
}

/* Dynamic shared memory beyond 48 KiB has to be allowed once for each kernel and device. It is always all that there
 * is: if it were less for a table that needs less, the launch of another thread would find it so. */
template <class... P> static int allow_shared_bytes(void (*kernel)(P...)) {
    const void *const function = reinterpret_cast<const void *>(kernel);
    cudaFuncAttributes attributes = {};
    size_t most = 0;
    cudaError_t error = static_cast<cudaError_t>(most_shared_bytes(&most));
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, function);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(most - attributes.sharedSizeBytes));
    return without_code(static_cast<int>(error));
}

/* How many bytes the device's memory moves at most in a microsecond for each multiprocessor; 0 where it cannot be
 * known. */
static inline size_t ask_memory_rate(int device) {
    int kilohertz = 0, bits = 0, processors = 0;
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess && processors > 0)
        return 2 * static_cast<size_t>(kilohertz) * (static_cast<size_t>(bits) / 8) / 1000 /
               static_cast<size_t>(processors);
    cudaGetLastError();
    return 0;
}

/* ask_memory_rate() of the current device. The driver takes a millisecond to read the clock, so it is asked once. */
static inline size_t memory_rate() {
    constexpr size_t UNKNOWN = ~size_t(0);
    constexpr int MOST_DEVICES = 64;
    static std::atomic<size_t> rates[MOST_DEVICES]; /* UNKNOWN once asked in vain; 0: not asked yet */
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device >= MOST_DEVICES) {
        cudaGetLastError();
        return 0;
    }
    size_t rate = rates[device].load(std::memory_order_relaxed);
    if (rate == 0) {
        rate = ask_memory_rate(device);
        rate = rate == 0 ? UNKNOWN : rate;
        rates[device].store(rate, std::memory_order_relaxed);
    }
    return rate == UNKNOWN ? 0 : rate;
}

/* What the current device has. */
static inline int multiprocessors(unsigned *count) {
    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    *count = static_cast<unsigned>(processors);
    return static_cast<int>(error);
}

/* How many blocks of the kernel the current device runs at once. */
template <class... P>
static int resident_blocks(void (*kernel)(P...), unsigned threads, size_t shared_bytes, unsigned *blocks) {
    int each = 0;
    unsigned processors = 0;
    cudaError_t error = static_cast<cudaError_t>(multiprocessors(&processors));
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, static_cast<int>(threads), shared_bytes);
    *blocks = static_cast<unsigned>(each) * processors;
    return without_code(static_cast<int>(error == cudaSuccess && *blocks == 0 ? cudaErrorInvalidConfiguration : error));
}

#endif
