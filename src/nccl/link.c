/* NCCL has no scan: every rank is told the messages of all, and adds up those that concern it. */
#include "link.h"

#include <sched.h>
#include <string.h>

#include "../cuda/forget.h"
#include "../cuda/memory.h"
#include "../cuda/pinned.h"
#include "../cuda/stream.h"

enum { MESSAGE_LEAST = 512, ALIGNMENT = 64 };

_Static_assert(sizeof(struct survey) <= MESSAGE_LEAST, "a survey fits into the first messages");

static table_status failed(const char *name, const char *reason) {
    return ranks_fail(TABLE_ERROR_NCCL, "%s: %s", name, reason);
}

static table_status checked(const char *name, cudaError_t error) {
    if (error == cudaSuccess)
        return TABLE_OK;
    cuda_forget(error);
    return failed(name, cudaGetErrorString(error));
}

/* A stream that is not ready is no error that the caller should find. */
static cudaError_t query(cudaStream_t stream) {
    const cudaError_t error = cudaStreamQuery(stream);
    cuda_forget(error);
    return error;
}

static table_status nccl_checked(const char *name, ncclResult_t result) {
    return result == ncclSuccess || result == ncclInProgress ? TABLE_OK : failed(name, ncclGetErrorString(result));
}

/* Until the communicator is at nothing any more that it was asked for. */
static table_status settle(const struct nccl_link *link) {
    for (;;) {
        ncclResult_t result = ncclSuccess;
        TRY(nccl_checked("ncclCommGetAsyncError()", ncclCommGetAsyncError(link->comm, &result)));
        TRY(nccl_checked("the communicator", result));
        if (result != ncclInProgress)
            return TABLE_OK;
        sched_yield();
    }
}

/* A communicator that does not block may put its kernels on the stream later; nothing else is to come there before. */
static table_status nccl_done(const struct nccl_link *link, const char *name, ncclResult_t result) {
    TRY(nccl_checked(name, result));
    return result == ncclInProgress ? settle(link) : TABLE_OK;
}

/* For the stream, unless the communicator fails first, whose operation might never end. */
static table_status nccl_wait(const struct nccl_link *link) {
    for (;;) {
        TRY(settle(link));
        const cudaError_t error = query(link->stream);
        if (error != cudaErrorNotReady)
            return checked("cudaStreamQuery()", error);
        sched_yield();
    }
}

static void release(const struct nccl_link *link) {
    if (link->device != link->host)
        device_memory_release(link->device);
    pinned_release(link->host);
}

/* Room for a message of each rank, or as much as there was. NCCL takes page-locked memory as well, and is given it
 * where the device has no memory left: a rank that could not even say so would keep all others waiting. */
static table_status make_room(struct nccl_link *link, size_t bytes) {
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > SIZE_MAX / (size_t)link->all.ranks)
        return table_error_set(TABLE_ERROR_TOO_LARGE, "the states of all ranks do not fit in size_t");
    const size_t all = bytes * (size_t)link->all.ranks;
    void *device, *host;
    const cudaError_t error = device_memory_allocate(all, &device);
    if (error == cudaErrorMemoryAllocation)
        cuda_forget(error);
    else if (error != cudaSuccess)
        return checked("allocating device memory", error);
    host = pinned_allocate(all);
    if (!host) {
        device_memory_release(device);
        return table_error_set(TABLE_ERROR_HOST_MEMORY, "no page-locked memory for the states of all ranks");
    }
    release(link);
    link->device = device ? device : host;
    link->host = host;
    link->message = bytes;
    return TABLE_OK;
}

static void *message_of(void *memory, int rank, size_t bytes) { return (char *)memory + (size_t)rank * bytes; }

static table_status copy(const struct nccl_link *link, const char *name, void *to, const void *from, size_t bytes) {
    return to == from ? TABLE_OK : checked(name, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, link->stream));
}

/* Makes link->host the messages of all ranks, side by side, for which there is room: of one size on all of them. */
static table_status gather(const struct nccl_link *link, const void *mine, size_t bytes) {
    void *const host = message_of(link->host, link->all.rank, bytes);
    void *const device = message_of(link->device, link->all.rank, bytes);
    memcpy(host, mine, bytes);
    TRY(copy(link, "copying to the device", device, host, bytes));
    TRY(nccl_done(link, "ncclAllGather()",
                  ncclAllGather(device, link->device, bytes, ncclUint8, link->comm, link->stream)));
    TRY(copy(link, "copying from the device", link->host, link->device, bytes * (size_t)link->all.ranks));
    return nccl_wait(link);
}

static table_status nccl_survey(const struct together *all, uint64_t *words, int count, struct tally *tally) {
    const struct nccl_link *link = (const struct nccl_link *)all;
    const struct survey mine = survey_begin(words, count, tally->own);
    TRY(gather(link, &mine, sizeof mine));
    struct survey sum = {.sum = 0};
    for (int rank = 0; rank < all->ranks; rank++) {
        struct survey one;
        memcpy(&one, message_of(link->host, rank, sizeof one), sizeof one);
        if (rank == all->rank)
            tally->before = sum.sum;
        survey_add(&sum, &one);
    }
    memcpy(words, sum.words, (size_t)count * sizeof *words);
    tally->total = sum.sum;
    return TABLE_OK;
}

static table_status nccl_open(struct together *all, size_t state_bytes) {
    struct nccl_link *link = (struct nccl_link *)all;
    link->state_bytes = together_state_step(state_bytes);
    return link->state_bytes <= link->message ? TABLE_OK : make_room(link, link->state_bytes);
}

/* link->host has the ranges of all ranks: each becomes the rows of all ranks through its own, in the order of the sum,
 * as far as the rank at `place`, whose range is returned. */
static void *join_through(const struct nccl_link *link, int place) {
    void *joined = NULL;
    for (int i = 0; i <= place; i++) {
        void *const next = message_of(link->host, together_place(&link->all, i), link->state_bytes);
        if (joined)
            ranks_join(joined, next, link->state_bytes);
        joined = next;
    }
    return joined;
}

static table_status nccl_before(const struct together *all, const void *range, void *before) {
    const struct nccl_link *link = (const struct nccl_link *)all;
    const int place = together_place(all, all->rank);
    TRY(gather(link, range, link->state_bytes));
    if (place > 0)
        memcpy(before, join_through(link, place - 1), link->state_bytes);
    return TABLE_OK;
}

static table_status nccl_whole(const struct together *all, const void *range, void *whole) {
    const struct nccl_link *link = (const struct nccl_link *)all;
    TRY(gather(link, range, link->state_bytes));
    memcpy(whole, join_through(link, all->ranks - 1), link->state_bytes);
    return TABLE_OK;
}

static table_status nccl_tell(const struct together *all, void *memory, size_t bytes, int rank) {
    const struct nccl_link *link = (const struct nccl_link *)all;
    memcpy(link->host, memory, bytes);
    TRY(copy(link, "copying to the device", link->device, link->host, bytes));
    TRY(nccl_done(link, "ncclBroadcast()",
                  ncclBroadcast(link->device, link->device, bytes, ncclUint8, rank, link->comm, link->stream)));
    TRY(copy(link, "copying from the device", link->host, link->device, bytes));
    TRY(nccl_wait(link));
    memcpy(memory, link->host, bytes);
    return TABLE_OK;
}

static const struct transport nccl_transport = {
    .failure = TABLE_ERROR_NCCL,
    .survey = nccl_survey,
    .open = nccl_open,
    .before = nccl_before,
    .whole = nccl_whole,
    .tell = nccl_tell,
};

static table_status open_device(struct nccl_link *link) {
    int device = -1, before = -1;
    TRY(nccl_done(link, "ncclCommCuDevice()", ncclCommCuDevice(link->comm, &device)));
    TRY(checked("cudaGetDevice()", cudaGetDevice(&before)));
    if (device != before) {
        TRY(checked("cudaSetDevice()", cudaSetDevice(device)));
        link->device_before = before;
    }
    return checked("making a stream", stream_open(&link->stream));
}

table_status nccl_link_begin(struct nccl_link *link, ncclComm_t comm) {
    *link = (struct nccl_link){.all = {.by = &nccl_transport}, .comm = comm, .device_before = -1};
    if (!comm)
        return table_error_set(TABLE_ERROR_ARGUMENT, "comm is a null pointer");
    TRY(nccl_done(link, "ncclCommUserRank()", ncclCommUserRank(comm, &link->all.rank)));
    TRY(nccl_done(link, "ncclCommCount()", ncclCommCount(comm, &link->all.ranks)));
    TRY(open_device(link));
    return make_room(link, MESSAGE_LEAST);
}

/* What a communicator that failed has left on the stream may run at any time, or never: its memory is not for others,
 * and the driver keeps the stream until it has run. */
void nccl_link_close(struct nccl_link *link) {
    const bool is_busy = link->stream && query(link->stream) == cudaErrorNotReady;
    if (!is_busy)
        release(link);
    if (is_busy)
        stream_drop(link->stream);
    else
        stream_close(link->stream);
    if (link->device_before >= 0)
        cuda_forget(cudaSetDevice(link->device_before));
}
