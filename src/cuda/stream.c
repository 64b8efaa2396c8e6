/* Streams for the time of a call. The driver takes longer to make and destroy one than to launch a kernel, so a few are
 * kept for the next calls, each with the device that it is of. */
#include "stream.h"

#include <pthread.h>

#include "forget.h"

enum { MOST_STREAMS = 32 /* of all devices */, ANY_DEVICE = -1 };

struct kept {
    cudaStream_t stream; /* NULL: none */
    int device;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept[MOST_STREAMS];

static cudaStream_t take(int device) {
    cudaStream_t stream = NULL;
    pthread_mutex_lock(&guard);
    for (struct kept *each = kept; each < kept + MOST_STREAMS && !stream; each++)
        if (each->stream && (device == ANY_DEVICE || each->device == device)) {
            stream = each->stream;
            each->stream = NULL;
        }
    pthread_mutex_unlock(&guard);
    return stream;
}

cudaError_t stream_open(cudaStream_t *stream) {
    int device;
    *stream = NULL;
    const cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess)
        return error;
    *stream = take(device);
    return *stream ? cudaSuccess : cudaStreamCreate(stream);
}

void stream_close(cudaStream_t stream) {
    int device = 0;
    const cudaError_t error = cudaGetDevice(&device);
    cuda_forget(error);
    pthread_mutex_lock(&guard);
    for (struct kept *each = kept; error == cudaSuccess && each < kept + MOST_STREAMS && stream; each++)
        if (!each->stream) {
            *each = (struct kept){stream, device};
            stream = NULL;
        }
    pthread_mutex_unlock(&guard);
    if (stream)
        cuda_forget(cudaStreamDestroy(stream));
}

void stream_trim(void) {
    for (int i = 0; i < MOST_STREAMS; i++) {
        const cudaStream_t stream = take(ANY_DEVICE);
        if (stream)
            cuda_forget(cudaStreamDestroy(stream));
    }
}
