#include "ranks_call.h"

#include <stdlib.h>
#include <string.h>

table_status ranks_begin(struct ranks_call *call, const table_scan_options *options, MPI_Comm comm) {
    *call = (struct ranks_call){.exchange = {MPI_DATATYPE_NULL, MPI_OP_NULL}};
    if (options)
        call->options = *options;
    const table_status status = together_begin(&call->all, comm);
    if (status == TABLE_OK && call->all.rank != 0)
        call->options.carry_in = NULL;
    return status;
}

static void *allocate_state(size_t bytes) {
    const size_t unit = TABLE_STATE_ALIGNMENT;
    void *state = bytes > SIZE_MAX - unit ? NULL : aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
    if (state)
        memset(state, 0, bytes);
    return state;
}

static table_status make_room(struct ranks_call *call) {
    table_status status = table_state_bytes(call->plea.out, call->plea.columns, &call->state_bytes);
    if (status != TABLE_OK)
        return status;
    call->range = allocate_state(call->state_bytes);
    call->before = allocate_state(call->state_bytes);
    if (!call->range || !call->before)
        return table_error_set(TABLE_ERROR_HOST_MEMORY, "no memory for two states");
    return exchange_open(&call->exchange, call->state_bytes);
}

table_status ranks_agree(struct ranks_call *call) {
    if (call->plea.status == TABLE_OK)
        call->plea.status = make_room(call);
    return together_agree(&call->all, &call->plea);
}

void ranks_beginning(const struct ranks_call *call, void *state) {
    if (call->options.state)
        memcpy(state, call->options.state, call->state_bytes);
    else
        memset(state, 0, call->state_bytes);
}

/* The rows that this rank adds to the count: on rank 0 also those that were summed before. */
static table_status count_rows(const struct ranks_call *call, const table_view *in, uint64_t *rows) {
    uint64_t before = 0;
    table_status status = TABLE_OK;
    if (call->all.rank == 0 && call->options.state)
        status = table_state_rows(call->options.state, &before);
    *rows = in->rows + before;
    return status;
}

table_status ranks_make_range(struct ranks_call *call, const table_view *in, bool is_asked) {
    const table_scan_options *from = &call->options;
    table_scan_options options = {.backend = from->backend,
                                  .strategy = from->strategy,
                                  .threads = from->threads,
                                  .carry_in = from->carry_in,
                                  .state = call->range};
    uint64_t rows, first;
    table_status status = count_rows(call, in, &rows), exchanged = exchange_rows(&call->all, rows, &first);
    if (exchanged != TABLE_OK)
        return exchanged;
    if (call->all.rank == 0)
        ranks_beginning(call, call->range);
    else if (status == TABLE_OK)
        status = table_state_begin(call->range, call->plea.out, call->plea.columns, first);
    if (status == TABLE_OK && is_asked)
        status = table_column_totals(in, call->plea.out, NULL, &options);
    if (status != TABLE_OK)
        memset(call->range, 0, call->state_bytes);
    return status;
}

table_status ranks_find_lost(struct ranks_call *call) {
    call->is_lost = state_is_lost(call->before);
    if (!call->is_lost)
        return TABLE_OK;
    return table_error_set(TABLE_ERROR_HOST_MEMORY, "no memory to join the states of the ranks");
}

table_status ranks_tell_end(struct ranks_call *call, void *row, void *state) {
    table_status status = ranks_find_lost(call);
    if (status == TABLE_OK && row)
        status = table_state_sums(call->before, row);
    if (status == TABLE_OK && state)
        memcpy(state, call->before, call->state_bytes);
    return status;
}

void ranks_close(struct ranks_call *call) {
    exchange_close(&call->exchange);
    free(call->range);
    free(call->before);
}
