#include "nccl.h"

#include <pthread.h>
#include <stdlib.h>

/* What the ranks of a communicator share. */
struct world {
    pthread_barrier_t barrier;
    int count, left; /* ranks, and those that were not destroyed */
    const void *from[];
};

struct ncclComm {
    struct world *world;
    int rank, device;
    unsigned fails_after; /* operations; 0: never */
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

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
    *error = comm->error;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
    return result == ncclSuccess       ? "no error"
           : result == ncclRemoteError ? "remote process exited or there was a network error"
                                       : "invalid argument";
}

void nccl_stub_fail(ncclComm_t comm, unsigned after) {
    comm->fails_after = after;
    comm->error = ncclSuccess;
}

/* Whether the operation is to be done, on the communicator's own device, after what its stream was given. */
static ncclResult_t begin(ncclComm_t comm, const void *from, const void *to, ncclDataType_t type, cudaStream_t stream) {
    struct cudaPointerAttributes attributes[2];
    int device = -1;
    if (comm->fails_after > 0 && --comm->fails_after == 0)
        comm->error = ncclRemoteError;
    if (comm->error != ncclSuccess)
        return ncclInProgress;
    if (type != ncclUint8 || cudaGetDevice(&device) != cudaSuccess || device != comm->device ||
        cudaPointerGetAttributes(&attributes[0], from) != cudaSuccess || attributes[0].device != device ||
        cudaPointerGetAttributes(&attributes[1], to) != cudaSuccess || attributes[1].device != device ||
        attributes[0].type != cudaMemoryTypeDevice || attributes[1].type != cudaMemoryTypeDevice ||
        cudaStreamSynchronize(stream) != cudaSuccess)
        return ncclInvalidArgument;
    comm->world->from[comm->rank] = from;
    pthread_barrier_wait(&comm->world->barrier);
    return ncclSuccess;
}

static ncclResult_t end(ncclComm_t comm) {
    pthread_barrier_wait(&comm->world->barrier);
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
    const ncclResult_t begun = begin(comm, from, to, type, stream);
    if (begun != ncclSuccess)
        return begun;
    cudaError_t error = cudaSuccess;
    for (int rank = 0; rank < comm->world->count; rank++)
        if (comm->world->from[rank] != (char *)to + (size_t)rank * count && error == cudaSuccess)
            error = cudaMemcpy((char *)to + (size_t)rank * count, comm->world->from[rank], count, cudaMemcpyDefault);
    const ncclResult_t ended = end(comm);
    return error == cudaSuccess ? ended : ncclUnhandledCudaError;
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
    const ncclResult_t begun = begin(comm, from, to, type, stream);
    if (begun != ncclSuccess)
        return begun;
    const cudaError_t error =
        comm->rank == root ? cudaSuccess : cudaMemcpy(to, comm->world->from[root], count, cudaMemcpyDefault);
    const ncclResult_t ended = end(comm);
    return error == cudaSuccess ? ended : ncclUnhandledCudaError;
}
