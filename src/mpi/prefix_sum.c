/* table_prefix_sum_mpi(): totals of each rank's rows, an exclusive scan of them over the ranks, and the rank's own. */
#include <tuplescan/mpi.h>

#include <string.h>

#include "ranks_call.h"

/* All that table_prefix_sum() would find before it writes, but for what is in a state. To ask for the workspace of a
 * stream form is to have everything looked at; these forms know no tables that are taken through a device, and are
 * asked about the side that such tables are on. */
static table_status look_at_call(const struct ranks_call *call, const table_view *in, const table_view *out) {
    table_scan_options options = call->options;
    size_t bytes;
    if (options.reverse || options.offsets || options.skip_nan)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options->reverse, offsets and skip_nan are not for ranks");
    if (options.stream || options.workspace || options.workspace_bytes)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options->stream and workspace are for the stream forms");
    options.report = NULL;
    if (options.backend == TABLE_BACKEND_CUDA)
        options.backend = TABLE_BACKEND_AUTO;
    return table_prefix_sum_workspace(in, out, &options, &bytes);
}

static void describe_call(struct ranks_call *call, const table_view *in, const table_view *out) {
    call->plea = (struct plea){.status = look_at_call(call, in, out),
                               .call = MPI_CALL_PREFIX_SUM,
                               .columns = in ? in->columns : 0,
                               .in = in ? in->type : 0,
                               .out = out ? out->type : 0,
                               .detail = call->options.exclusive != 0,
                               .detail_name = "exclusive",
                               .wants_overflow = call->options.first_overflow != NULL,
                               .wants_end = call->options.carry_out || call->options.state};
}

/* Makes call->before the state of all rows before this rank's: on rank 0, what the sum begins with. Nobody comes after
 * the last rank, so its own rows are not summed for others. */
static table_status find_before(struct ranks_call *call, const table_view *in) {
    const struct together *all = &call->all;
    table_status status = TABLE_OK;
    if (all->ranks > 1) {
        status = ranks_make_range(call, in, all->rank < all->ranks - 1);
        if (status == TABLE_ERROR_MPI)
            return status;
        const table_status exchanged = exchange_before(all, &call->exchange, call->range, call->before);
        if (exchanged != TABLE_OK)
            return exchanged;
    }
    if (all->rank == 0)
        ranks_beginning(call, call->before);
    else if (status == TABLE_OK)
        status = ranks_find_lost(call);
    return status;
}

/* This rank's rows, from call->before on, which is left behind them. */
static table_status scan_rows(const struct ranks_call *call, const table_view *in, const table_view *out,
                              uint64_t *first_overflow) {
    table_scan_options options = call->options;
    options.state = call->before;
    options.carry_out = NULL;
    options.first_overflow = call->plea.wants_overflow ? first_overflow : NULL;
    return table_prefix_sum(in, out, &options);
}

static table_status work(struct ranks_call *call, const table_view *in, const table_view *out) {
    uint64_t first_overflow = TABLE_NO_OVERFLOW;
    table_status status = find_before(call, in);
    if (status == TABLE_OK)
        status = scan_rows(call, in, out, &first_overflow);
    if (status == TABLE_ERROR_MPI)
        return status;
    if (status != TABLE_OK)
        memset(call->before, 0, call->state_bytes);
    if (call->plea.wants_end) {
        const table_status told = exchange_end(&call->all, &call->exchange, call->before);
        if (told != TABLE_OK)
            return told;
        if (status == TABLE_OK)
            status = ranks_tell_end(call, call->options.carry_out, call->options.state);
    }
    status = together_end(&call->all, status, !call->is_lost, &first_overflow);
    if (status == TABLE_OK && call->options.first_overflow)
        *call->options.first_overflow = first_overflow;
    return status;
}

table_status table_prefix_sum_mpi(const table_view *in, const table_view *out, const table_scan_options *options,
                                  MPI_Comm comm) {
    struct ranks_call call;
    table_status status = ranks_begin(&call, options, comm);
    if (status != TABLE_OK)
        return status;
    describe_call(&call, in, out);
    status = ranks_agree(&call);
    if (status == TABLE_OK)
        status = work(&call, in, out);
    ranks_close(&call);
    return status;
}
