/* As much of NCCL as src/nccl and its tests call, for the emulator: ranks are threads of one process, each with an
 * emulated device. Every other operation is done before its call returns; the rest are as with a communicator that does
 * not block: work put on the stream before ncclCommGetAsyncError() says that they are done may come before them. No
 * part of NCCL itself; it shows nothing of NCCL's kernels, times, or ways of failing but the one of
 * nccl_stub_fail(). */
#ifndef EMULATOR_NCCL_H
#define EMULATOR_NCCL_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "../emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm *ncclComm_t;
typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclInvalidArgument = 4,
    ncclRemoteError = 6,
    ncclInProgress = 7
} ncclResult_t;
typedef enum { ncclUint8 = 1 } ncclDataType_t;

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank);
ncclResult_t ncclCommCount(ncclComm_t comm, int *count);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error);
const char *ncclGetErrorString(ncclResult_t result);
ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream);

/* From the operation number `after` from now on, counted by each rank, all that is asked of the communicator fails, as
 * if a rank were gone: the operation is never done, and the communicator says so. */
void nccl_stub_fail(ncclComm_t comm, unsigned after);

#ifdef __cplusplus
}
#endif

#endif
