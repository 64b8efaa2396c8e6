#include "call.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

void ranks_begin(struct ranks_call *call, struct together *all, const table_view *in, table_type out_type,
                 enum plea_call which, const table_scan_options *options) {
    *call = (struct ranks_call){.all = all};
    if (options)
        call->options = *options;
    call->operation = which == RANKS_CALL_LINEAR_RECURRENCE ? TABLE_RECURRENCE : call->options.operation;
    options = &call->options;
    call->plea = (struct plea){.call = which,
                               .columns = in ? in->columns : 0,
                               .in = in ? in->type : 0,
                               .out = out_type,
                               .details = {options->exclusive != 0, options->reverse != 0, options->offsets != 0,
                                           options->skip_nan != 0, (uint64_t)options->operation,
                                           options->shifted_coefficients != 0},
                               .wants_overflow = options->first_overflow != NULL,
                               .wants_count = options->skipped != NULL};
    all->backwards = options->reverse != 0;
    call->is_first = together_place(all, all->rank) == 0;
    if (!call->is_first)
        call->options.carry_in = NULL;
}

table_status ranks_look_at_form(const struct ranks_call *call) {
    const table_scan_options *options = &call->options;
    if (call->plea.call == RANKS_CALL_COLUMN_TOTALS &&
        (options->exclusive || options->offsets || options->carry_out || options->first_overflow))
        return table_error_set(TABLE_ERROR_ARGUMENT, "options: totals take operation, backend, strategy, threads, "
                                                     "carry_in, state, reverse, skip_nan and skipped, and no others");
    if (options->tables > 1)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options->tables are not for ranks");
    return options->stream || options->workspace || options->workspace_bytes
               ? table_error_set(TABLE_ERROR_ARGUMENT, "options->stream and workspace are for the stream forms")
               : TABLE_OK;
}

table_status ranks_scan(const struct ranks_call *call, const table_view *in, const table_view *out,
                        const table_scan_options *options) {
    return call->plea.call == RANKS_CALL_LINEAR_RECURRENCE ? table_linear_recurrence(call->a, in, out, options)
                                                           : table_prefix_sum(in, out, options);
}

table_status ranks_look_at(const struct ranks_call *call, const table_view *a, const table_view *in,
                           const table_view *out, const table_scan_options *options) {
    size_t bytes;
    return call->plea.call == RANKS_CALL_LINEAR_RECURRENCE
               ? table_linear_recurrence_workspace(a, in, out, options, &bytes)
               : table_prefix_sum_workspace(in, out, options, &bytes);
}

static bool is_extreme(table_operation operation) { return operation == TABLE_MAXIMUM || operation == TABLE_MINIMUM; }

/* A table of no rows on the host, for the CPU, which says of what is in device memory that it cannot reach it. */
table_status ranks_look_at_words(const struct ranks_call *call, const table_view *in, table_type out_type,
                                 void *carry_out) {
    uint64_t places[2];
    const table_view none = {.data = &places[0], .columns = in->columns, .type = in->type};
    const table_view no_sums = {
        .data = &places[1], .columns = in->columns, .type = is_extreme(call->operation) ? in->type : out_type};
    table_scan_options options = call->options;
    table_view no_factors = call->a ? *call->a : none;
    if (no_factors.rows != 1)
        no_factors.rows = 0;
    options.backend = TABLE_BACKEND_CPU;
    options.offsets = 0; /* there are no rows of results */
    options.report = NULL;
    options.carry_out = carry_out;
    return ranks_look_at(call, &no_factors, &none, &no_sums, &options);
}

static void *allocate_state(size_t bytes) {
    const size_t room = together_state_step(bytes);
    void *state = room < bytes ? NULL : aligned_alloc(TABLE_STATE_ALIGNMENT, room);
    return state ? memset(state, 0, room) : NULL;
}

static table_status make_room(struct ranks_call *call) {
    call->sums = table_kept_type(call->operation, call->plea.out);
    table_status status = table_state_bytes_of(call->operation, call->sums, call->plea.columns, &call->state_bytes);
    if (status != TABLE_OK)
        return status;
    call->range = allocate_state(call->state_bytes);
    call->before = allocate_state(call->state_bytes);
    if (!call->range || !call->before)
        return table_error_set(TABLE_ERROR_HOST_MEMORY, "no memory for states");
    return call->all->by->open(call->all, call->state_bytes);
}

static table_status fail_for_range(table_status status, const char *what, const table_state_facts *facts) {
    return ranks_fail(status, "%s begins at row %llu, and the sums above it are not known", what,
                      (unsigned long long)facts->first_row);
}

/* The rows that this rank adds to the count: on the first one also those above the range of the state, and those that
 * it has summed. */
static table_status count_rows(struct ranks_call *call, const table_view *in) {
    const struct sum_state *state = call->is_first ? call->options.state : NULL;
    table_state_facts facts = {0};
    table_status status = TABLE_OK;
    if (state && state->magic != 0 && state->operation != (uint32_t)call->operation &&
        table_operation_name((table_operation)state->operation))
        status =
            ranks_fail(TABLE_ERROR_STATE, "options->state: is that of a %s, not of a %s",
                       table_operation_name((table_operation)state->operation), table_operation_name(call->operation));
    if (state && status == TABLE_OK)
        status = table_state_check(state, call->state_bytes, call->sums, call->plea.columns);
    if (state && status == TABLE_OK)
        status = table_state_describe(state, call->state_bytes, &facts);
    if (status == TABLE_OK && facts.version != 0 && call->options.shifted_coefficients &&
        !call->options.first_coefficients)
        status = table_error_set(TABLE_ERROR_ARGUMENT, "options->state has begun, and is not let through by "
                                                       "shifted_coefficients without first_coefficients");
    if (status == TABLE_OK && facts.first_row != 0 && call->plea.call != RANKS_CALL_COLUMN_TOTALS)
        status = fail_for_range(TABLE_ERROR_STATE, "options->state", &facts);
    call->plea.rows.own = in->rows + facts.first_row + facts.rows;
    return status;
}

table_status ranks_agree(struct ranks_call *call, const table_view *in) {
    if (call->plea.status == TABLE_OK)
        call->plea.status = make_room(call);
    if (call->plea.status == TABLE_OK)
        call->plea.status = count_rows(call, in);
    return together_agree(call->all, &call->plea);
}

void ranks_beginning(const struct ranks_call *call, void *state) {
    if (call->options.state)
        memcpy(state, call->options.state, call->state_bytes);
    else
        memset(state, 0, call->state_bytes);
}

void ranks_find(const struct ranks_call *call, struct found *found, table_scan_options *options) {
    options->first_overflow = call->plea.wants_overflow ? &found->first_overflow : NULL;
    options->skipped = call->plea.wants_count ? &found->counted : NULL;
}

table_status ranks_make_range(struct ranks_call *call, const table_view *in, bool is_asked, struct found *found) {
    const table_scan_options *from = &call->options;
    const struct tally *rows = &call->plea.rows;
    const uint64_t first = call->all->backwards ? rows->total - rows->before - rows->own : rows->before;
    table_scan_options options = {.operation = from->operation,
                                  .shifted_coefficients = from->shifted_coefficients,
                                  .first_coefficients = from->first_coefficients,
                                  .backend = from->backend,
                                  .strategy = from->strategy,
                                  .threads = from->threads,
                                  .carry_in = from->carry_in,
                                  .reverse = from->reverse,
                                  .skip_nan = from->skip_nan,
                                  .skipped = found && call->plea.wants_count ? &found->counted : NULL,
                                  .state = call->range};
    table_status status = TABLE_OK;
    if (call->is_first)
        ranks_beginning(call, call->range);
    else
        status = table_state_begin_of(call->range, call->operation, call->sums, call->plea.columns, first);
    if (status == TABLE_OK && is_asked)
        status = call->a ? table_linear_recurrence(call->a, in, NULL, &options)
                         : table_column_totals(in, call->sums, NULL, &options);
    if (status != TABLE_OK)
        ranks_lose(call->range, call->state_bytes, status);
    return status;
}

table_status ranks_find_lost(struct ranks_call *call) {
    const table_status status = ranks_lost(call->before);
    call->is_lost = status != TABLE_OK;
    if (status == TABLE_OK)
        return TABLE_OK;
    return table_error_set(status, status == TABLE_ERROR_HOST_MEMORY ? "no memory to join the states of the ranks"
                                                                     : "the states of the ranks do not join");
}

/* A range has no sums: all ranks see that, if one of them wants some. */
table_status ranks_tell_end(struct ranks_call *call, void *row, void *state) {
    table_state_facts facts;
    table_status status = ranks_find_lost(call);
    if (status == TABLE_OK)
        status = table_state_describe(call->before, call->state_bytes, &facts);
    if (status == TABLE_OK && facts.first_row != 0 && call->plea.wants_end)
        status = fail_for_range(TABLE_ERROR_ARGUMENT, "totals: options->state", &facts);
    if (status == TABLE_OK && row)
        status = table_state_sums(call->before, row);
    if (status == TABLE_OK && state)
        memcpy(state, call->before, call->state_bytes);
    return status;
}

table_status ranks_end(struct ranks_call *call, table_status status, const struct found *found) {
    struct outcome outcome = {status, !call->is_lost, found->first_overflow, {.own = found->counted}};
    status = together_end(call->all, &outcome);
    if (status == TABLE_OK && call->options.first_overflow)
        *call->options.first_overflow = outcome.first_overflow;
    if (status == TABLE_OK && call->options.skipped)
        *call->options.skipped = outcome.counted.total;
    return status;
}

void ranks_close(struct ranks_call *call) {
    free(call->range);
    free(call->before);
}
