/* The totals: the ranges of all ranks, joined. */
#include <stdio.h>

#include "call.h"

enum { TEXT = 256 };

static table_status look_at_type(const struct ranks_call *call, table_type out_type) {
    const table_type sums = table_kept_type(call->operation, out_type);
    char text[TEXT];
    if (out_type == sums)
        return TABLE_OK;
    snprintf(text, sizeof text, "totals of %s are not kept; out_type %s is what its %ss are kept in",
             table_type_name(out_type), table_type_name(sums), table_operation_name(call->operation));
    return table_error_set(TABLE_ERROR_TYPE, text);
}

/* Whether types, columns and options are possible at all. A table without rows stands for the rank's own, which is
 * looked at when it is summed, before anything is written. */
static table_status look_at_call(const struct ranks_call *call, const table_view *in, table_type out_type,
                                 void *totals) {
    char text[TEXT];
    if (!in)
        return table_error_set(TABLE_ERROR_ARGUMENT, "in is a null pointer");
    table_status status = ranks_look_at_form(call);
    if (status == TABLE_OK)
        status = ranks_look_at_words(call, in, out_type, NULL);
    if (status == TABLE_OK)
        status = look_at_type(call, out_type);
    if (status != TABLE_OK || (status = ranks_look_at_words(call, in, out_type, totals)) == TABLE_OK)
        return status;
    snprintf(text, sizeof text, "totals, as a carry out: %.200s", table_error_detail());
    return table_error_set(status, text);
}

static table_status work(struct ranks_call *call, const table_view *in, void *totals) {
    struct found found = {.first_overflow = TABLE_NO_OVERFLOW};
    table_status status = ranks_make_range(call, in, true, &found);
    const table_status joined = call->all->by->whole(call->all, call->range, call->before);
    if (joined != TABLE_OK)
        return joined;
    if (status == TABLE_OK)
        status = ranks_tell_end(call, totals, call->options.state);
    return ranks_end(call, status, &found);
}

table_status ranks_column_totals(struct together *all, const table_view *in, table_type out_type, void *totals,
                                 const table_scan_options *options) {
    struct ranks_call call;
    ranks_begin(&call, all, in, out_type, RANKS_CALL_COLUMN_TOTALS, options);
    call.plea.status = look_at_call(&call, in, out_type, totals);
    call.plea.wants_end = totals != NULL;
    table_status status = ranks_agree(&call, in);
    if (status == TABLE_OK)
        status = work(&call, in, totals);
    ranks_close(&call);
    return status;
}
