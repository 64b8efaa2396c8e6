/* The running sums: totals of each rank's rows, an exclusive scan of them over the ranks, and the rank's own. And the
 * totals of all ranks. */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "part_options.h"

enum { TEXT = 256 };

/* Whether this rank has the whole table's last rows. */
static bool has_last_rows(const struct together *all) { return all->rank == all->ranks - 1; }

/* Other operations than sums have no states on CUDA. */
static table_status look_at_operation(const struct ranks_call *call, bool is_on_host, const char *last) {
    if (call->operation == TABLE_SUM || (is_on_host && call->options.backend != TABLE_BACKEND_CUDA))
        return table_error_set(TABLE_OK, last);
    return ranks_fail(TABLE_ERROR_BACKEND, "a %s over ranks is for tables in host memory, and the CPU",
                      table_operation_name(call->operation));
}

/* Whether the tables lie on the host; there the state is looked at beside them. That they do not is no failure of the
 * caller's, whose last one is left as it was. */
static table_status find_side(const struct ranks_call *call, const table_view *in, const table_view *out,
                              table_scan_options *options) {
    char last[TEXT];
    snprintf(last, sizeof last, "%s", table_error_detail());
    options->backend = TABLE_BACKEND_CPU;
    const table_status status = ranks_look_at(call, call->a, in, out, options);
    return status == TABLE_OK || status == TABLE_ERROR_BACKEND ? look_at_operation(call, status == TABLE_OK, last)
                                                               : status;
}

/* All that table_prefix_sum() would find before it writes, but for what is in a state. To ask for the workspace of a
 * stream form is to have everything looked at; these forms know no tables that are taken through a device, and are
 * asked about the side that such tables are on. Nor do they know a state on the host beside tables on a device: it is
 * left out where there are no tables on the host, which it could share memory with. */
static table_status look_at_call(struct ranks_call *call, const table_view *in, const table_view *out) {
    table_scan_options options = call->options;
    table_status status = ranks_look_at_form(call);
    if (status == TABLE_OK && options.shifted_coefficients && !options.first_coefficients && !call->is_first)
        status = table_error_set(TABLE_ERROR_ARGUMENT, "options->first_coefficients is a null pointer, and not for the "
                                                       "rank that the recurrence begins with");
    if (status != TABLE_OK)
        return status;
    options.report = NULL;
    if (options.backend == TABLE_BACKEND_CUDA && table_cuda_unavailable())
        return table_error_set(TABLE_ERROR_BACKEND, table_cuda_unavailable());
    if (options.backend == TABLE_BACKEND_CUDA)
        options.backend = TABLE_BACKEND_AUTO;
    options.state = NULL;
    part_options(&options, has_last_rows(call->all));
    status = ranks_look_at(call, call->a, in, out, &options);
    if (status == TABLE_OK)
        status = ranks_look_at_words(call, in, out->type, options.carry_out);
    options.state = call->options.state;
    return status == TABLE_OK ? find_side(call, in, out, &options) : status;
}

/* This rank's rows, from call->before on, which is left at their end. */
static table_status scan_rows(const struct ranks_call *call, const table_view *in, const table_view *out,
                              struct found *found) {
    table_scan_options options = call->options;
    options.state = call->before;
    options.carry_out = NULL;
    ranks_find(call, found, &options);
    part_options(&options, has_last_rows(call->all));
    return ranks_scan(call, in, out, &options);
}

/* No rank comes after the last one, so its own rows are not summed for others. What the transport leaves on the first
 * one, which knows what it begins with, means nothing. */
static table_status find_before(struct ranks_call *call, const table_view *in) {
    const struct together *all = call->all;
    const bool is_last = together_place(all, all->rank) == all->ranks - 1;
    const table_status status = all->ranks > 1 ? ranks_make_range(call, in, !is_last, NULL) : TABLE_OK;
    const table_status told = all->ranks > 1 ? all->by->before(all, call->range, call->before) : TABLE_OK;
    if (call->is_first)
        ranks_beginning(call, call->before);
    if (told != TABLE_OK || status != TABLE_OK)
        return told != TABLE_OK ? told : status;
    return call->is_first ? TABLE_OK : ranks_find_lost(call);
}

/* TABLE_OK, or the transport's own failure. */
static table_status put_end(struct ranks_call *call, table_status *status) {
    const struct together *all = call->all;
    if (*status != TABLE_OK)
        ranks_lose(call->before, call->state_bytes, *status);
    if (!call->plea.wants_end)
        return TABLE_OK;
    const int last = together_place(all, all->ranks - 1);
    const table_status told = all->by->tell(all, call->before, call->state_bytes, last);
    if (told == TABLE_OK && *status == TABLE_OK)
        *status = ranks_tell_end(call, call->options.carry_out, call->options.state);
    return told;
}

static table_status work(struct ranks_call *call, const table_view *in, const table_view *out) {
    struct found found = {.first_overflow = TABLE_NO_OVERFLOW};
    table_status status = find_before(call, in);
    if (status == TABLE_OK)
        status = scan_rows(call, in, out, &found);
    if (status == call->all->by->failure)
        return status;
    const table_status told = put_end(call, &status);
    return told == TABLE_OK ? ranks_end(call, status, &found) : told;
}

static table_status run(struct ranks_call *call, const table_view *in, const table_view *out) {
    call->plea.status = look_at_call(call, in, out);
    call->plea.wants_end = call->options.carry_out || call->options.state;
    table_status status = ranks_agree(call, in);
    if (status == TABLE_OK)
        status = work(call, in, out);
    ranks_close(call);
    return status;
}

table_status ranks_prefix_sum(struct together *all, const table_view *in, const table_view *out,
                              const table_scan_options *options) {
    struct ranks_call call;
    ranks_begin(&call, all, in, out ? out->type : 0, RANKS_CALL_PREFIX_SUM, options);
    return run(&call, in, out);
}

/* A rank without rows has none that takes the coefficients of the row before, so it is not asked for them. */
table_status ranks_linear_recurrence(struct together *all, const table_view *a, const table_view *b,
                                     const table_view *h, const table_scan_options *options) {
    struct ranks_call call;
    ranks_begin(&call, all, b, h ? h->type : 0, RANKS_CALL_LINEAR_RECURRENCE, options);
    call.a = a;
    if (b && b->rows == 0) {
        call.options.shifted_coefficients = 0;
        call.options.first_coefficients = NULL;
    }
    return run(&call, b, h);
}

/* Totals are the ranges of all ranks, joined. */
static table_status look_at_type(const struct ranks_call *call, table_type out_type) {
    const table_type sums = table_kept_type(call->operation, out_type);
    return out_type == sums
               ? TABLE_OK
               : ranks_fail(TABLE_ERROR_TYPE, "totals of %s are not kept; out_type %s is what its %ss are kept in",
                            table_type_name(out_type), table_type_name(sums), table_operation_name(call->operation));
}

/* Whether types, columns and options are possible at all. A table without rows stands for the rank's own, which is
 * looked at when it is summed, before anything is written. */
static table_status look_at_totals(const struct ranks_call *call, const table_view *in, table_type out_type,
                                   void *totals) {
    char detail[TEXT];
    if (!in)
        return table_error_set(TABLE_ERROR_ARGUMENT, "in is a null pointer");
    table_status status = ranks_look_at_form(call);
    if (status == TABLE_OK)
        status = ranks_look_at_words(call, in, out_type, NULL);
    if (status == TABLE_OK)
        status = look_at_type(call, out_type);
    if (status != TABLE_OK || (status = ranks_look_at_words(call, in, out_type, totals)) == TABLE_OK)
        return status;
    snprintf(detail, sizeof detail, "%s", table_error_detail());
    return ranks_fail(status, "totals, as a carry out: %.200s", detail);
}

static table_status work_on_totals(struct ranks_call *call, const table_view *in, void *totals) {
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
    call.plea.status = look_at_totals(&call, in, out_type, totals);
    call.plea.wants_end = totals != NULL;
    table_status status = ranks_agree(&call, in);
    if (status == TABLE_OK)
        status = work_on_totals(&call, in, totals);
    ranks_close(&call);
    return status;
}
