#include "nccl.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* What the ranks of a communicator share. */
struct world {
    pthread_barrier_t barrier;
    int count, left; /* ranks, and those that were not destroyed */
    const void *from[];
};

enum { POLLS = 3 };

/* Bytes of each rank to all, or of one of them. */
struct operation {
    const void *from;
    void *to;
    size_t bytes;
    int root; /* -1: an all-gather */
    cudaStream_t stream;
};

struct ncclComm {
    struct world *world;
    int rank, device;
    unsigned fails_after; /* operations; 0: never */
    unsigned operations;  /* how many were begun */
    struct operation pending;
    unsigned polls; /* of ncclCommGetAsyncError() until it is done; 0: nothing is pending */
    ncclResult_t error;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices) {
    struct world *world = calloc(1, sizeof *world + (size_t)count * sizeof *world->from);
    if (!world || pthread_barrier_init(&world->barrier, NULL, (unsigned)count) != 0)
        abort();
    world->count = world->left = count;
    for (int rank = 0; rank < count; rank++) {
        comms[rank] = calloc(1, sizeof *comms[rank]);
        if (!comms[rank])
            abort();
        *comms[rank] = (struct ncclComm){.world = world, .rank = rank, .device = devices[rank]};
    }
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    struct world *world = comm->world;
    pthread_mutex_lock(&guard);
    const int left = --world->left;
    pthread_mutex_unlock(&guard);
    free(comm);
    if (left > 0)
        return ncclSuccess;
    pthread_barrier_destroy(&world->barrier);
    free(world);
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
    *rank = comm->rank;
    return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
    *count = comm->world->count;
    return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device) {
    *device = comm->device;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
    return result == ncclSuccess       ? "no error"
           : result == ncclRemoteError ? "remote process exited or there was a network error"
                                       : "invalid argument";
}

void nccl_stub_fail(ncclComm_t comm, unsigned after) {
    comm->fails_after = after;
    comm->polls = 0;
    comm->error = ncclSuccess;
}

/* Device memory of the communicator's own device, or page-locked memory of the host. */
static bool is_reached(ncclComm_t comm, const void *memory) {
    struct cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
           (attributes.type == cudaMemoryTypeHost ||
            (attributes.type == cudaMemoryTypeDevice && attributes.device == comm->device));
}

static cudaError_t copy_from(ncclComm_t comm, int rank, void *to, size_t bytes) {
    const void *from = comm->world->from[rank];
    return from == to ? cudaSuccess : cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

/* Does the operation, on the communicator's own device, after what its stream has been given by now. */
static ncclResult_t run(ncclComm_t comm, const struct operation *operation) {
    cudaError_t error = cudaSuccess;
    int device = -1;
    if (cudaGetDevice(&device) != cudaSuccess || device != comm->device || !is_reached(comm, operation->from) ||
        !is_reached(comm, operation->to) || cudaStreamSynchronize(operation->stream) != cudaSuccess)
        return ncclInvalidArgument;
    comm->world->from[comm->rank] = operation->from;
    pthread_barrier_wait(&comm->world->barrier);
    for (int rank = 0; rank < comm->world->count && error == cudaSuccess; rank++)
        if (operation->root < 0)
            error = copy_from(comm, rank, (char *)operation->to + (size_t)rank * operation->bytes, operation->bytes);
        else if (rank == operation->root && rank != comm->rank)
            error = copy_from(comm, rank, operation->to, operation->bytes);
    pthread_barrier_wait(&comm->world->barrier);
    return error == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/* Every other operation is still to be done when the call returns. */
static ncclResult_t start(ncclComm_t comm, const struct operation *operation) {
    if (comm->fails_after > 0 && --comm->fails_after == 0)
        comm->error = ncclRemoteError;
    if (comm->error != ncclSuccess)
        return comm->error == ncclInProgress ? ncclInvalidArgument : ncclInProgress;
    if (comm->operations++ % 2 == 0)
        return run(comm, operation);
    comm->pending = *operation;
    comm->polls = POLLS;
    return comm->error = ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
    if (comm->polls > 0 && --comm->polls == 0)
        comm->error = run(comm, &comm->pending);
    *error = comm->error;
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    return type == ncclUint8 ? start(comm, &(struct operation){from, to, count, -1, stream}) : ncclInvalidArgument;
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
    return type == ncclUint8 ? start(comm, &(struct operation){from, to, count, root, stream}) : ncclInvalidArgument;
}
