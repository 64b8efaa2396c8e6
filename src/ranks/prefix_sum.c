/* The running sums: totals of each rank's rows, an exclusive scan of them over the ranks, and the rank's own. */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "join.h"
#include "parts/part_options.h"
#include "thread.h"

enum { TEXT = 256 };

/* Whether this rank has the whole table's last rows. */
static bool has_last_rows(const struct together *all) { return all->rank == all->ranks - 1; }

/* Other operations than sums have no states on CUDA. */
static table_status look_at_operation(const struct ranks_call *call, const char *last) {
    char text[TEXT];
    if (call->operation == TABLE_SUM || (call->is_on_host && call->options.backend != TABLE_BACKEND_CUDA))
        return table_error_set(TABLE_OK, last);
    snprintf(text, sizeof text, "a %s over ranks is for tables in host memory, and the CPU",
             table_operation_name(call->operation));
    return table_error_set(TABLE_ERROR_BACKEND, text);
}

/* Whether the tables lie on the host; there the state is looked at beside them. That they do not is no failure of the
 * caller's, whose last one is left as it was. */
static table_status find_side(struct ranks_call *call, const table_view *in, const table_view *out,
                              table_scan_options *options) {
    char last[TEXT];
    snprintf(last, sizeof last, "%s", table_error_detail());
    options->backend = TABLE_BACKEND_CPU;
    const table_status status = ranks_look_at(call, call->a, in, out, options);
    call->is_on_host = status == TABLE_OK;
    if (status == TABLE_OK || status == TABLE_ERROR_BACKEND)
        return look_at_operation(call, last);
    return status;
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

/* A rank's rows, from call->before on, which is left behind them. */
struct scanning {
    const struct ranks_call *call;
    const table_view *in, *out;
    struct found found;
    table_status status;
    char detail[TEXT];
};

static void *scan_rows(void *argument) {
    struct scanning *scanning = argument;
    const struct ranks_call *call = scanning->call;
    table_scan_options options = call->options;
    options.state = call->before;
    options.carry_out = NULL;
    ranks_find(call, &scanning->found, &options);
    part_options(&options, has_last_rows(call->all));
    scanning->status = ranks_scan(call, scanning->in, scanning->out, &options);
    if (scanning->status != TABLE_OK)
        snprintf(scanning->detail, sizeof scanning->detail, "%s", table_error_detail());
    return NULL;
}

/* Whether the CPU is going to sum. A device takes longer to serve one more thread than the exchange takes. */
static bool is_for_cpu(const struct ranks_call *call) {
    return call->is_on_host && call->options.backend != TABLE_BACKEND_CUDA;
}

/* The first rank knows what it begins with. It sums in a thread of its own, while this one, from which alone MPI may be
 * called, gets on with the exchange. */
static bool start_early(const struct ranks_call *call, struct scanning *scanning, pthread_t *thread) {
    sigset_t signals;
    if (!call->is_first || !call->all->by->in_background || !is_for_cpu(call))
        return false;
    thread_block_signals(&signals);
    const bool started = thread_start(thread, scan_rows, scanning);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
    return started;
}

/* Sums the rows between the totals of others and the exchange, or behind both. Nobody comes after the last rank, so its
 * own rows are not summed for others. */
static table_status scan_among_others(struct ranks_call *call, struct scanning *scanning) {
    const struct together *all = call->all;
    const bool is_last = together_place(all, all->rank) == all->ranks - 1;
    pthread_t thread;
    table_status status = ranks_make_range(call, scanning->in, !is_last, NULL);
    if (call->is_first)
        ranks_beginning(call, call->before);
    const bool early = status == TABLE_OK && start_early(call, scanning, &thread);
    const table_status told = all->by->before(all, call->range, call->is_first ? call->aside : call->before);
    if (early)
        pthread_join(thread, NULL);
    if (told != TABLE_OK)
        return told;
    if (status == TABLE_OK && !call->is_first)
        status = ranks_find_lost(call);
    if (status == TABLE_OK && !early)
        scan_rows(scanning);
    return status;
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
    struct scanning scanning = {.call = call, .in = in, .out = out, .found = {.first_overflow = TABLE_NO_OVERFLOW}};
    table_status status = TABLE_OK;
    if (call->all->ranks > 1) {
        status = scan_among_others(call, &scanning);
    } else {
        ranks_beginning(call, call->before);
        scan_rows(&scanning);
    }
    if (status == call->all->by->failure)
        return status;
    if (status == TABLE_OK && scanning.status != TABLE_OK)
        status = table_error_set(scanning.status, scanning.detail);
    const table_status told = put_end(call, &status);
    if (told != TABLE_OK)
        return told;
    return ranks_end(call, status, &scanning.found);
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
