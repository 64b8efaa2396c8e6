/* The calls of tuplescan/nccl.h. */
#include <tuplescan/nccl.h>

#include "../cuda/memory.h"
#include "../cuda/pinned.h"
#include "../cuda/stream.h"
#include "call.h"
#include "link.h"

table_status table_prefix_sum_nccl(const table_view *in, const table_view *out, const table_scan_options *options,
                                   ncclComm_t comm) {
    struct nccl_link link;
    table_status status = nccl_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_prefix_sum(&link.all, in, out, options);
    nccl_link_close(&link);
    return status;
}

table_status table_linear_recurrence_nccl(const table_view *a, const table_view *b, const table_view *h,
                                          const table_scan_options *options, ncclComm_t comm) {
    struct nccl_link link;
    table_status status = nccl_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_linear_recurrence(&link.all, a, b, h, options);
    nccl_link_close(&link);
    return status;
}

table_status table_column_totals_nccl(const table_view *in, table_type out_type, void *totals,
                                      const table_scan_options *options, ncclComm_t comm) {
    struct nccl_link link;
    table_status status = nccl_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_column_totals(&link.all, in, out_type, totals, options);
    nccl_link_close(&link);
    return status;
}

void table_trim_memory_nccl(void) {
    device_memory_trim();
    pinned_trim();
    stream_trim();
}
