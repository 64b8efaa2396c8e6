/* table_column_totals_mpi(): the ranges of all ranks, joined. */
#include <tuplescan/mpi.h>

#include "ranks_call.h"

/* Whether types, columns and options are possible at all. A table without rows stands for the rank's own, which is
 * looked at when it is summed, before anything is written. */
static table_status look_at_call(const struct ranks_call *call, const table_view *in, table_type out_type) {
    table_scan_options options = call->options;
    if (!in)
        return table_error_set(TABLE_ERROR_ARGUMENT, "in is a null pointer");
    if (options.reverse || options.offsets || options.skip_nan)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options->reverse, offsets and skip_nan are not for ranks");
    if (options.exclusive || options.carry_out || options.first_overflow || options.stream || options.workspace ||
        options.workspace_bytes)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options: totals take backend, strategy, threads, carry_in and "
                                                     "state, and no others");
    const table_view none = {.columns = in->columns, .type = in->type};
    const table_view no_sums = {.columns = in->columns, .type = out_type};
    size_t bytes;
    options.report = NULL;
    options.backend = TABLE_BACKEND_AUTO;
    return table_prefix_sum_workspace(&none, &no_sums, &options, &bytes);
}

static table_status work(struct ranks_call *call, const table_view *in, void *totals) {
    uint64_t unused = TABLE_NO_OVERFLOW;
    table_status status = ranks_make_range(call, in, true);
    if (status == TABLE_ERROR_MPI)
        return status;
    const table_status joined = exchange_whole(&call->all, &call->exchange, call->range, call->before);
    if (joined != TABLE_OK)
        return joined;
    if (status == TABLE_OK)
        status = ranks_tell_end(call, totals, call->options.state);
    return together_end(&call->all, status, !call->is_lost, &unused);
}

table_status table_column_totals_mpi(const table_view *in, table_type out_type, void *totals,
                                     const table_scan_options *options, MPI_Comm comm) {
    struct ranks_call call;
    table_status status = ranks_begin(&call, options, comm);
    if (status != TABLE_OK)
        return status;
    call.plea = (struct plea){.status = look_at_call(&call, in, out_type),
                              .call = MPI_CALL_COLUMN_TOTALS,
                              .columns = in ? in->columns : 0,
                              .in = in ? in->type : 0,
                              .out = out_type,
                              .detail_name = "exclusive"};
    status = ranks_agree(&call);
    if (status == TABLE_OK)
        status = work(&call, in, totals);
    ranks_close(&call);
    return status;
}
