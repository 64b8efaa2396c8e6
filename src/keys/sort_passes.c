/* The passes of a sort. For each digit, from the least: count (chunks x digits), scan that table down its rows, and
 * move every key to its place, from one buffer to another and back. */
#include "sort_passes.h"

#include "checked.h"
#include "pipeline.h"
#include "status.h"

/* Keys, and what moves with them. */
struct side {
    void *keys, *values;
};

/* The bits of a pass: as even as they can be, the first ones wider. */
static void choose_digit(const struct sort_call *sort, unsigned number, struct digit_pass *pass) {
    const unsigned bits = sort->end_bit - sort->first_bit;
    const unsigned narrow = bits / sort->passes, wider = bits % sort->passes;
    pass->bits = narrow + (number < wider);
    pass->first_bit = sort->first_bit + number * narrow + (number < wider ? number : wider);
}

struct table_view sort_counters(const struct sort_call *sort, unsigned number, char *workspace) {
    const size_t columns = (size_t)1 << sort->pass.bits, size = table_type_size(sort->counter_type);
    return (struct table_view){
        .data = layout_at(workspace, sort->counters_at + (sort->at_once ? number * columns * size : 0)),
        .rows = sort->pass.chunks,
        .columns = columns,
        .stride = sort->at_once ? columns * sort->passes : columns,
        .type = sort->counter_type};
}

struct table_view sort_ranks(const struct sort_call *sort, char *workspace) {
    const size_t columns = (size_t)1 << sort->pass.bits;
    return (struct table_view){.data = layout_at(workspace, sort->ranks_at),
                               .rows = sort->pass.chunks,
                               .columns = columns,
                               .stride = columns,
                               .type = sort->counter_type};
}

/* The counters of a digit with fewer bits than the others have columns in which nothing is counted. */
static table_status clear_unused(const struct key_call *call, const struct sort_call *sort,
                                 const struct digit_pass *pass, const struct table_view *counters) {
    const size_t bytes = counters->rows * counters->stride * table_type_size(counters->type);
    return pass->bits < sort->pass.bits ? call->call.backend->fill(&call->call.scan, counters->data, 0, bytes)
                                        : TABLE_OK;
}

/* One pass of a sort. */
struct sort_pass {
    const struct sort_call *sort;
    unsigned number;
    struct digit_pass pass;
    struct digit_move move;
    bool must, moved; /* whether the keys are to be moved in any case; and whether they were */
};

static table_status count(struct key_call *call, void *context, char *workspace) {
    const struct sort_pass *own = context;
    const struct sort_call *sort = own->sort;
    struct digit_pass counted = own->pass;
    struct table_view counters = sort_counters(sort, 0, workspace);
    if (sort->at_once && own->number > 0)
        return TABLE_OK;
    counted.digits = sort->at_once ? sort->passes : 1;
    counters.columns = (size_t)counted.digits << counted.bits;
    TRY(clear_unused(call, sort, &counted, &counters));
    return call->call.backend->keys->digit_counts(&call->call.scan, &counted, &counters,
                                                  layout_at(workspace, sort->pass_at));
}

/* The ranks are the prefix sums of the counters; one chunk has no keys before it, and all of them itself. */
static table_status rank(struct key_call *call, void *context, char *workspace) {
    struct sort_pass *own = context;
    const struct sort_call *sort = own->sort;
    const void *const counters = sort_counters(sort, own->number, workspace).data;
    void *const totals = layout_at(workspace, sort->totals_at);
    own->move.totals = sort->pass.chunks > 1 ? totals : counters;
    if (sort->pass.chunks == 1)
        return TABLE_OK;
    own->move.ranks = sort_ranks(sort, workspace);
    return key_scan_run(call, &sort->ranks, counters, own->move.ranks.data, NULL, totals, workspace);
}

/* Whether all keys have the same digit, as far as the host can see it. */
static bool is_sorted_already(const struct key_call *call, const struct sort_call *sort, const void *totals) {
    const size_t keys = sort->pass.keys.rows;
    if (!key_call_on_host(call))
        return false;
    for (size_t digit = 0; digit < (size_t)1 << sort->pass.bits; digit++) {
        const uint64_t total =
            sort->counter_type == TABLE_U32 ? ((const uint32_t *)totals)[digit] : ((const uint64_t *)totals)[digit];
        if (total > 0)
            return total == keys;
    }
    return true;
}

static table_status move(struct key_call *call, void *context, char *workspace) {
    struct sort_pass *own = context;
    const struct sort_call *sort = own->sort;
    const struct key_backend *keys = call->call.backend->keys;
    own->moved = own->must || !is_sorted_already(call, sort, own->move.totals);
    if (!own->moved)
        return TABLE_OK;
    if (call->report)
        call->report->passes++;
    return sort->is_filled
               ? keys->digit_fill(&call->call.scan, &own->pass, &own->move)
               : keys->digit_scatter(&call->call.scan, &own->pass, &own->move, layout_at(workspace, sort->pass_at));
}

/* The keys, and what moves with them, on the side where the last pass left them, and where the caller wants them. */
struct homecoming {
    const struct sort_call *sort;
    const struct side *last, *home;
};

static table_status bring_home(struct key_call *call, void *context, char *workspace) {
    const struct homecoming *own = context;
    const struct sort_call *sort = own->sort;
    const struct side *last = own->last, *home = own->home;
    const struct backend *backend = call->call.backend;
    const struct scan *scan = &call->call.scan;
    const size_t keys = sort->pass.keys.rows, key_bytes = keys * table_type_size(sort->pass.keys.type);
    const struct gather gather = {.to = layout_at(workspace, sort->gathered_at),
                                  .from = sort->values.data,
                                  .value_bytes = sort->values.columns,
                                  .count = keys,
                                  .order = last->values,
                                  .order_bytes = sort->moved_bytes};
    if (sort->kind != SORT_ORDER && last->keys != home->keys)
        TRY(backend->copy(scan, home->keys, last->keys, key_bytes));
    if (sort->kind == SORT_INDEXED) {
        TRY(backend->keys->gather(scan, &gather));
        return backend->copy(scan, sort->values.data, gather.to, keys * sort->values.columns);
    }
    return sort->kind != SORT_KEYS && last->values != home->values
               ? backend->copy(scan, home->values, last->values, keys * sort->moved_bytes)
               : TABLE_OK;
}

static table_status run_passes(struct key_call *call, const struct sort_call *sort, const struct side sides[2],
                               const struct side *first, char *workspace) {
    struct side from = *first;
    const bool indexed = sort->kind == SORT_INDEXED || sort->kind == SORT_ORDER;
    /* A pass may not write where it reads; and if all passes are run, the order of the keys ends on the side of its
     * own. */
    unsigned next = sort->kind == SORT_ORDER ? sort->passes % 2 == 0 : 1;
    for (unsigned number = 0; number < sort->passes; number++) {
        struct sort_pass pass = {.sort = sort,
                                 .number = number,
                                 .pass = sort->pass,
                                 .move = {.type = sort->counter_type,
                                          .keys = sides[next].keys,
                                          .values_from = from.values,
                                          .values = sides[next].values,
                                          .value_bytes = sort->moved_bytes},
                                 .must = indexed && !from.values && number + 1 == sort->passes};
        choose_digit(sort, number, &pass.pass);
        pass.pass.keys.data = from.keys;
        TRY(key_call_steps(call, (key_work *const[STAGES]){count, rank, move}, &pass, workspace));
        if (pass.moved) {
            from = sides[next];
            next = !next;
        }
    }
    struct homecoming home = {sort, &from, &sides[0]};
    return key_call_steps(call, (key_work *const[STAGES]){NULL, NULL, bring_home}, &home, workspace);
}

struct look {
    struct digit_pass all;
    bool ascends;
};

static table_status look_at_order(struct key_call *call, void *context, char *workspace) {
    struct look *look = context;
    (void)workspace;
    return call->call.backend->keys->digit_order(&call->call.scan, &look->all, &look->ascends);
}

/* Equal keys keep their order, so that nothing moves; on the host. */
static table_status keep_order(const struct sort_call *sort) {
    const size_t keys = sort->kind == SORT_ORDER ? sort->pass.keys.rows : 0;
    for (size_t i = 0; i < keys && sort->moved_bytes == 4; i++)
        ((uint32_t *)sort->values.data)[i] = (uint32_t)i;
    for (size_t i = 0; i < keys && sort->moved_bytes == 8; i++)
        ((uint64_t *)sort->values.data)[i] = i;
    return TABLE_OK;
}

table_status sort_work(struct key_call *call, void *context, char *workspace) {
    const struct sort_call *sort = context;
    void *const keys = sort->pass.keys.data;
    const bool own_keys = sort->kind == SORT_ORDER, own_values = sort->kind == SORT_INDEXED;
    const bool has_values = sort->kind != SORT_KEYS;
    const struct side sides[2] = {
        {.keys = own_keys ? layout_at(workspace, sort->keys_at[0]) : keys,
         .values = own_values ? layout_at(workspace, sort->values_at[0]) : sort->values.data},
        {.keys = sort->is_filled ? keys : layout_at(workspace, sort->keys_at[1]),
         .values = has_values ? layout_at(workspace, sort->values_at[1]) : NULL},
    };
    const struct side first = {.keys = keys, .values = sort->kind == SORT_PAIRS ? sort->values.data : NULL};
    struct look look = {.all = sort->pass, .ascends = sort->pass.keys.rows == 0};
    look.all.first_bit = sort->first_bit;
    look.all.bits = sort->end_bit - sort->first_bit;
    if (!look.ascends && call->call.backend->keys->digit_order) /* seldom more than the first keys are looked at */
        TRY(key_call_steps(call, (key_work *const[STAGES]){look_at_order}, &look, workspace));
    return look.ascends ? keep_order(sort) : run_passes(call, sort, sides, &first, workspace);
}
