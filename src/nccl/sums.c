/* The calls of tuplescan/nccl.h. */
#include <tuplescan/nccl.h>

#include "../cuda/memory.h"
#include "../cuda/pinned.h"
#include "../cuda/stream.h"
#include "call.h"
#include "link.h"

static table_status run(ncclComm_t comm, const struct ranks_given *given) {
    struct nccl_link link;
    table_status status = nccl_link_begin(&link, comm);
    if (status == TABLE_OK)
        status = ranks_run(&link.all, given);
    nccl_link_close(&link);
    return status;
}

table_status table_prefix_sum_nccl(const table_view *in, const table_view *out, const table_scan_options *options,
                                   ncclComm_t comm) {
    return run(comm, &(struct ranks_given){RANKS_CALL_PREFIX_SUM, .in = in, .out = out, .options = options});
}

table_status table_linear_recurrence_nccl(const table_view *a, const table_view *b, const table_view *h,
                                          const table_scan_options *options, ncclComm_t comm) {
    return run(comm, &(struct ranks_given){RANKS_CALL_LINEAR_RECURRENCE, a, b, h, .options = options});
}

table_status table_column_totals_nccl(const table_view *in, table_type out_type, void *totals,
                                      const table_scan_options *options, ncclComm_t comm) {
    return run(comm, &(struct ranks_given){RANKS_CALL_COLUMN_TOTALS, .in = in, .out_type = out_type, .totals = totals,
                                           .options = options});
}

void table_trim_memory_nccl(void) {
    device_memory_trim();
    pinned_trim();
    stream_trim();
}
