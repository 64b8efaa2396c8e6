/* The totals: the ranges of all ranks, joined. */
#include <stdio.h>

#include "call.h"

enum { TEXT = 256 };

static const char *const DETAIL_NAMES[RANKS_DETAILS] = {"reverse", "skip_nan"};

static table_status look_at_type(table_type out_type) {
    const table_type sums = table_sum_type(out_type);
    char text[TEXT];
    if (out_type == sums)
        return TABLE_OK;
    snprintf(text, sizeof text, "totals of %s are not kept; out_type %s is what its sums are kept in",
             table_type_name(out_type), table_type_name(sums));
    return table_error_set(TABLE_ERROR_TYPE, text);
}

/* Whether types, columns and options are possible at all. A table without rows stands for the rank's own, which is
 * looked at when it is summed, before anything is written. */
static table_status look_at_call(const struct ranks_call *call, const table_view *in, table_type out_type,
                                 void *totals) {
    const table_scan_options *options = &call->options;
    char text[TEXT];
    if (!in)
        return table_error_set(TABLE_ERROR_ARGUMENT, "in is a null pointer");
    table_status status = ranks_look_at_form(options);
    if (status != TABLE_OK)
        return status;
    if (options->exclusive || options->offsets || options->carry_out || options->first_overflow)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options: totals take backend, strategy, threads, carry_in, "
                                                     "state, reverse, skip_nan and skipped, and no others");
    status = ranks_look_at_words(call, in, out_type, NULL);
    if (status == TABLE_OK)
        status = look_at_type(out_type);
    if (status != TABLE_OK || (status = ranks_look_at_words(call, in, out_type, totals)) == TABLE_OK)
        return status;
    snprintf(text, sizeof text, "totals, as a carry out: %.200s", table_error_detail());
    return table_error_set(status, text);
}

static table_status work(struct ranks_call *call, const table_view *in, void *totals) {
    uint64_t skipped = 0;
    table_status status = ranks_make_range(call, in, true, call->plea.wants_skipped ? &skipped : NULL);
    const table_status joined = call->all->by->whole(call->all, call->range, call->before);
    if (joined != TABLE_OK)
        return joined;
    if (status == TABLE_OK)
        status = ranks_tell_end(call, totals, call->options.state);
    struct outcome outcome = {status, !call->is_lost, TABLE_NO_OVERFLOW, {.own = skipped}};
    status = together_end(call->all, &outcome);
    if (status == TABLE_OK && call->options.skipped)
        *call->options.skipped = outcome.skipped.total;
    return status;
}

table_status ranks_column_totals(struct together *all, const table_view *in, table_type out_type, void *totals,
                                 const table_scan_options *options) {
    struct ranks_call call;
    ranks_begin(&call, all, options);
    const table_scan_options *own = &call.options;
    call.plea = (struct plea){.status = look_at_call(&call, in, out_type, totals),
                              .call = RANKS_CALL_COLUMN_TOTALS,
                              .columns = in ? in->columns : 0,
                              .in = in ? in->type : 0,
                              .out = out_type,
                              .details = {own->reverse != 0, own->skip_nan != 0},
                              .detail_names = DETAIL_NAMES,
                              .wants_skipped = own->skipped != NULL,
                              .wants_end = totals != NULL};
    table_status status = ranks_agree(&call, in);
    if (status == TABLE_OK)
        status = work(&call, in, totals);
    ranks_close(&call);
    return status;
}
