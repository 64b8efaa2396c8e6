/* The device layer's other half: launches, and what the host may ask before. */
#ifndef LAUNCH_CUH
#define LAUNCH_CUH

#include <cstddef>

#include <cuda_runtime.h>

/* Launches: all return a cudaError_t as an int. `stream` is a cudaStream_t. */
template <class... P, class... A> static int launch(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                    size_t shared_bytes, void *stream, A... arguments) {
    kernel<<<blocks, threads, shared_bytes, static_cast<cudaStream_t>(stream)>>>(arguments...);
    return static_cast<int>(cudaGetLastError());
}

template <class... P, class... A> static int launch_with(const cudaLaunchAttribute &attribute, void (*kernel)(P...),
                                                         unsigned blocks, unsigned threads, size_t shared_bytes,
                                                         void *stream, A... arguments) {
    cudaLaunchAttribute attributes[] = {attribute};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = static_cast<cudaStream_t>(stream);
    config.attrs = attributes;
    config.numAttrs = 1;
    return static_cast<int>(cudaLaunchKernelEx(&config, kernel, P(arguments)...));
}

/* All blocks are resident at once, or the launch fails. */
template <class... P, class... A> static int launch_cooperative(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                                size_t shared_bytes, void *stream, A... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    return launch_with(attribute, kernel, blocks, threads, shared_bytes, stream, arguments...);
}

/* Launches that overlap (launch_early(), sm_90): a kernel may let the next one begin before it ends, and that one waits
 * until all of the first is done and seen, before it touches anything of it. */
DEVICE void dependents_may_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
DEVICE void wait_for_launch_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Begins when the launch before it in the stream allows it, on devices that can; the kernel calls
 * wait_for_launch_before(). The launch before is not itself such a one. */
template <class... P, class... A> static int launch_early(void (*kernel)(P...), unsigned blocks, unsigned threads,
                                                          size_t shared_bytes, void *stream, A... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return launch_with(attribute, kernel, blocks, threads, shared_bytes, stream, arguments...);
}

/* Dynamic shared memory beyond 48 KiB has to be allowed once for each kernel and device. */
template <class... P> static int allow_shared_bytes(void (*kernel)(P...), size_t bytes) {
    return static_cast<int>(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
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

/* How many blocks of the kernel the current device runs at once. */
template <class... P>
static int resident_blocks(void (*kernel)(P...), unsigned threads, size_t shared_bytes, unsigned *blocks) {
    int device = 0, processors = 0, each = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, static_cast<int>(threads), shared_bytes);
    *blocks = static_cast<unsigned>(each * processors);
    return static_cast<int>(error == cudaSuccess && *blocks == 0 ? cudaErrorInvalidConfiguration : error);
}

#endif
