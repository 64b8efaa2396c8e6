/* The calls on sums over ranks. Each rank's rows become a range, and ranges are joined: running sums are totals of each
 * rank's rows, an exclusive scan of them over the ranks, and the rank's own. */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part_options.h"
#include "state.h"

enum { TEXT = 256 };

struct ranks_call {
    struct together *all;
    const table_view *a; /* the coefficients of this rank's rows, or NULL */
    table_operation operation;
    table_scan_options options; /* this rank's */
    struct plea plea;
    table_type sums; /* what states are of */
    size_t state_bytes;
    bool is_first, is_last; /* in the order of the sum, and of the whole table's rows */
    void *range;            /* the state of this rank's rows */
    void *before;           /* the state of all rows before them; later of other rows */
    bool is_lost;           /* `before` is */
};

/* The order of the sum is known from then on, and options that are not this rank's are gone. The plea lacks what the
 * rank has looked at, and whether it wants the end. */
static void ranks_begin(struct ranks_call *call, struct together *all, const struct ranks_given *given) {
    const table_view *const in = given->in;
    const table_scan_options *options = given->options;
    const bool is_recurrence = given->call == RANKS_CALL_LINEAR_RECURRENCE;
    *call = (struct ranks_call){.all = all, .a = given->a};
    if (options)
        call->options = *options;
    call->operation = is_recurrence ? TABLE_RECURRENCE : call->options.operation;
    options = &call->options;
    call->plea = (struct plea){.call = given->call,
                               .columns = in ? in->columns : 0,
                               .in = in ? in->type : 0,
                               .out = given->out ? given->out->type : given->out_type,
                               .details = {options->exclusive != 0, options->reverse != 0, options->offsets != 0,
                                           options->skip_nan != 0, (uint64_t)options->operation,
                                           options->shifted_coefficients != 0},
                               .wants_overflow = options->first_overflow != NULL,
                               .wants_count = options->skipped != NULL};
    all->backwards = options->reverse != 0;
    call->is_first = together_place(all, all->rank) == 0;
    call->is_last = all->rank == all->ranks - 1;
    if (!call->is_first)
        call->options.carry_in = NULL;
    if (is_recurrence && in && in->rows == 0) { /* no row takes the factors of the one before */
        call->options.shifted_coefficients = 0;
        call->options.first_coefficients = NULL;
    }
}

/* What the calls refuse of the options. */
static table_status ranks_refuse(const struct ranks_call *call) {
    const table_scan_options *options = &call->options;
    const bool totals = call->plea.call == RANKS_CALL_COLUMN_TOTALS;
    const struct {
        const char *name, *caller;
        bool is_refused;
    } refusals[] = {{"exclusive", "totals", totals && options->exclusive},
                    {"offsets", "totals", totals && options->offsets},
                    {"carry_out", "totals", totals && options->carry_out},
                    {"first_overflow", "totals", totals && options->first_overflow},
                    {"tables", "calls", options->tables > 1},
                    {"kept", "calls", options->kept != 0},
                    {"stream", "calls", options->stream != NULL},
                    {"workspace", "calls", options->workspace || options->workspace_bytes}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].is_refused)
            return ranks_fail(TABLE_ERROR_ARGUMENT, "options->%s is not for %s over ranks", refusals[i].name,
                              refusals[i].caller);
    return TABLE_OK;
}

/* The question for the workspace of the library's call, by which tables and options are looked at. */
static table_status ranks_look_at(const struct ranks_call *call, const table_view *a, const table_view *in,
                                  const table_view *out, const table_scan_options *options) {
    size_t bytes;
    return call->plea.call == RANKS_CALL_LINEAR_RECURRENCE
               ? table_linear_recurrence_workspace(a, in, out, options, &bytes)
               : table_prefix_sum_workspace(in, out, options, &bytes);
}

/* Whether types, columns and options are possible, apart from what the rank's own tables have to do with them, and all
 * memory that the options name is the host's: by a table of no rows on the host, for the CPU, which says of device
 * memory that it cannot reach it. */
static table_status ranks_look_at_words(const struct ranks_call *call, const table_view *in, table_type out_type,
                                        void *carry_out) {
    uint64_t places[2];
    const table_view none = {.data = &places[0], .columns = in->columns, .type = in->type};
    const bool is_extreme = call->operation == TABLE_MAXIMUM || call->operation == TABLE_MINIMUM;
    const table_view no_sums = {.data = &places[1], .columns = in->columns, .type = is_extreme ? in->type : out_type};
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
    TRY(table_state_bytes_of(call->operation, call->sums, call->plea.columns, &call->state_bytes));
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
    if (state && state->magic != 0 && state->operation != (uint32_t)call->operation &&
        table_operation_name((table_operation)state->operation))
        return ranks_fail(TABLE_ERROR_STATE, "options->state: is that of a %s, not of a %s",
                          table_operation_name((table_operation)state->operation),
                          table_operation_name(call->operation));
    if (state) {
        TRY(table_state_check(state, call->state_bytes, call->sums, call->plea.columns));
        TRY(table_state_describe(state, call->state_bytes, &facts));
    }
    if (facts.version != 0 && call->options.shifted_coefficients && !call->options.first_coefficients)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options->state has begun, and is not let through by "
                                                     "shifted_coefficients without first_coefficients");
    if (facts.first_row != 0 && call->plea.call != RANKS_CALL_COLUMN_TOTALS)
        return fail_for_range(TABLE_ERROR_STATE, "options->state", &facts);
    call->plea.rows.own = in->rows + facts.first_row + facts.rows;
    return TABLE_OK;
}

/* Agrees, with the plea filled in, on the rows of `in`, and makes room for states. All ranks get the same status. */
static table_status ranks_agree(struct ranks_call *call, const table_view *in) {
    if (call->plea.status == TABLE_OK)
        call->plea.status = make_room(call);
    if (call->plea.status == TABLE_OK)
        call->plea.status = count_rows(call, in);
    return together_agree(call->all, &call->plea);
}

/* Makes `state` what the sum begins with: the first rank's options->state, or zeros. */
static void ranks_beginning(const struct ranks_call *call, void *state) {
    if (call->options.state)
        memcpy(state, call->options.state, call->state_bytes);
    else
        memset(state, 0, call->state_bytes);
}

/* Makes `range` the state of the rows of `in`; on the first rank it goes on from what the sum begins with. is_asked:
 * whether a rank will ask for that range; otherwise its rows are not looked at. found: NULL, or the values that were no
 * numbers. When something fails, call->range is lost, and the rank takes part in the next steps. */
static table_status ranks_make_range(struct ranks_call *call, const table_view *in, bool is_asked,
                                     struct outcome *found) {
    const struct tally *rows = &call->plea.rows;
    const uint64_t first = call->all->backwards ? rows->total - rows->before - rows->own : rows->before;
    table_scan_options options = call->options;
    options.exclusive = options.offsets = 0;
    options.carry_out = NULL;
    options.first_overflow = NULL;
    options.report = NULL;
    options.skipped = found && call->plea.wants_count ? &found->counted.own : NULL;
    options.state = call->range;
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

/* Whether call->before is lost, as a rank that failed has made it; TABLE_OK, or the error of this rank if no rank has
 * one of its own: then a join has failed. */
static table_status ranks_find_lost(struct ranks_call *call) {
    const table_status status = ranks_lost(call->before);
    const char *const why = status == TABLE_ERROR_HOST_MEMORY ? "no memory to join the states of the ranks"
                                                              : "the states of the ranks do not join";
    call->is_lost = status != TABLE_OK;
    return call->is_lost ? table_error_set(status, why) : TABLE_OK;
}

/* Writes what the caller is to be told of the end of the sum, call->before, unless that is lost. A range has no sums:
 * all ranks see that, if one of them wants some. */
static table_status ranks_tell_end(struct ranks_call *call, void *row, void *state) {
    table_state_facts facts;
    TRY(ranks_find_lost(call));
    TRY(table_state_describe(call->before, call->state_bytes, &facts));
    if (facts.first_row != 0 && call->plea.wants_end)
        return fail_for_range(TABLE_ERROR_ARGUMENT, "totals: options->state", &facts);
    if (row)
        TRY(table_state_sums(call->before, row));
    if (state)
        memcpy(state, call->before, call->state_bytes);
    return TABLE_OK;
}

/* Ends the work with the status of this rank. All ranks get the same one, and what all of them have found is told. */
static table_status ranks_end(struct ranks_call *call, table_status status, struct outcome *found) {
    found->status = status;
    found->is_own = !call->is_lost;
    status = together_end(call->all, found);
    if (status == TABLE_OK && call->options.first_overflow)
        *call->options.first_overflow = found->first_overflow;
    if (status == TABLE_OK && call->options.skipped)
        *call->options.skipped = found->counted.total;
    return status;
}

/* Whether the tables lie on the host; there the state is looked at beside them. That they do not is no failure of the
 * caller's, whose last one is left as it was. Tables on CUDA are for sums alone. */
static table_status find_side(const struct ranks_call *call, const table_view *in, const table_view *out,
                              table_scan_options *options) {
    char last[TEXT];
    snprintf(last, sizeof last, "%s", table_error_detail());
    options->backend = TABLE_BACKEND_CPU;
    const table_status status = ranks_look_at(call, call->a, in, out, options);
    if (status != TABLE_OK && status != TABLE_ERROR_BACKEND)
        return status;
    if (call->operation == TABLE_SUM || (status == TABLE_OK && call->options.backend != TABLE_BACKEND_CUDA))
        return table_error_set(TABLE_OK, last);
    return ranks_fail(TABLE_ERROR_BACKEND, "a %s over ranks is for tables in host memory, and the CPU",
                      table_operation_name(call->operation));
}

/* All that table_prefix_sum() would find before it writes, but for faults in a state. To ask for the workspace of a
 * stream form is to have everything looked at; these forms know no tables that are taken through a device, and are
 * asked about the side that such tables are on. Nor do they know a state on the host beside tables on a device: it is
 * left out where there are no tables on the host, which it could share memory with. */
static table_status look_at_call(struct ranks_call *call, const table_view *in, const table_view *out) {
    table_scan_options options = call->options;
    TRY(ranks_refuse(call));
    if (options.shifted_coefficients && !options.first_coefficients && !call->is_first)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options->first_coefficients is a null pointer, and not for the "
                                                     "rank that the recurrence begins with");
    options.report = NULL;
    if (options.backend == TABLE_BACKEND_CUDA && table_cuda_unavailable())
        return table_error_set(TABLE_ERROR_BACKEND, table_cuda_unavailable());
    if (options.backend == TABLE_BACKEND_CUDA)
        options.backend = TABLE_BACKEND_AUTO;
    options.state = NULL;
    part_options(&options, call->is_last);
    TRY(ranks_look_at(call, call->a, in, out, &options));
    TRY(ranks_look_at_words(call, in, out->type, options.carry_out));
    options.state = call->options.state;
    return find_side(call, in, out, &options);
}

/* This rank's rows, from call->before on, which is left at their end. */
static table_status scan_rows(const struct ranks_call *call, const table_view *in, const table_view *out,
                              struct outcome *found) {
    table_scan_options options = call->options;
    options.state = call->before;
    options.carry_out = NULL;
    options.first_overflow = call->plea.wants_overflow ? &found->first_overflow : NULL;
    options.skipped = call->plea.wants_count ? &found->counted.own : NULL;
    part_options(&options, call->is_last);
    return call->a ? table_linear_recurrence(call->a, in, out, &options) : table_prefix_sum(in, out, &options);
}

/* No rank comes after the last one, so its own rows are not summed for others. What the transport leaves on the first
 * one, which knows what it begins with, means nothing. */
static table_status find_before(struct ranks_call *call, const table_view *in) {
    const struct together *all = call->all;
    const bool is_asked = together_place(all, all->rank) != all->ranks - 1;
    const table_status status = all->ranks > 1 ? ranks_make_range(call, in, is_asked, NULL) : TABLE_OK;
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
    struct outcome found = {.first_overflow = TABLE_NO_OVERFLOW};
    table_status status = find_before(call, in);
    if (status == TABLE_OK)
        status = scan_rows(call, in, out, &found);
    if (status == call->all->by->failure)
        return status;
    const table_status told = put_end(call, &status);
    return told == TABLE_OK ? ranks_end(call, status, &found) : told;
}

/* Whether types, columns and options are possible at all. A table without rows stands for the rank's own, which is
 * looked at when it is summed, before anything is written. */
static table_status look_at_totals(const struct ranks_call *call, const table_view *in, table_type out_type,
                                   void *totals) {
    const table_type sums = table_kept_type(call->operation, out_type);
    if (!in)
        return table_error_set(TABLE_ERROR_ARGUMENT, "in is a null pointer");
    table_status status = ranks_refuse(call);
    if (status == TABLE_OK)
        status = ranks_look_at_words(call, in, out_type, NULL);
    if (status == TABLE_OK && out_type != sums)
        status = ranks_fail(TABLE_ERROR_TYPE, "totals of %s are not kept; out_type %s is what its %ss are kept in",
                            table_type_name(out_type), table_type_name(sums), table_operation_name(call->operation));
    if (status != TABLE_OK || (status = ranks_look_at_words(call, in, out_type, totals)) == TABLE_OK)
        return status;
    return ranks_fail(status, "totals, as a carry out: %.200s", table_error_detail());
}

static table_status work_on_totals(struct ranks_call *call, const table_view *in, void *totals) {
    struct outcome found = {.first_overflow = TABLE_NO_OVERFLOW};
    table_status status = ranks_make_range(call, in, true, &found);
    const table_status joined = call->all->by->whole(call->all, call->range, call->before);
    if (joined != TABLE_OK)
        return joined;
    if (status == TABLE_OK)
        status = ranks_tell_end(call, totals, call->options.state);
    return ranks_end(call, status, &found);
}

table_status ranks_run(struct together *all, const struct ranks_given *given) {
    const bool totals = given->call == RANKS_CALL_COLUMN_TOTALS;
    const table_view *const in = given->in, *const out = given->out;
    struct ranks_call call;
    ranks_begin(&call, all, given);
    call.plea.status =
        totals ? look_at_totals(&call, in, given->out_type, given->totals) : look_at_call(&call, in, out);
    call.plea.wants_end = totals ? given->totals != NULL : call.options.carry_out || call.options.state;
    table_status status = ranks_agree(&call, in);
    if (status == TABLE_OK)
        status = totals ? work_on_totals(&call, in, given->totals) : work(&call, in, out);
    free(call.range);
    free(call.before);
    return status;
}
