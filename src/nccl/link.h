/* NCCL as a transport between ranks. */
#ifndef NCCL_LINK_H
#define NCCL_LINK_H

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "together.h"

struct nccl_link {
    struct together all;
    ncclComm_t comm;
    int device_before; /* the caller's current device, put back at the end; -1: it is the communicator's own */
    cudaStream_t stream;
    size_t message;      /* bytes that fit into each of these, once for each rank */
    void *device, *host; /* the messages: device memory, and page-locked memory; or that, twice */
    size_t state_bytes;
};

/* Looks at the communicator. This alone may fail on some ranks only, which are no part of it then. */
table_status nccl_link_begin(struct nccl_link *link, ncclComm_t comm);

/* Harmless after a begin() or open() that failed. */
void nccl_link_close(struct nccl_link *link);

#endif
