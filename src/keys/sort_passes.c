/* The passes of a sort. For each digit, from the least: count (chunks x digits), scan that table down its rows, and
 * move every key to its place, from one buffer to another and back. */
#include "sort_passes.h"

#include "pipeline.h"

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

/* A place in the workspace; NULL while that is not known yet. */
static void *place(char *workspace, size_t offset) { return workspace ? workspace + offset : NULL; }

struct table_view sort_counters(const struct sort_call *sort, unsigned number, char *workspace) {
    const size_t columns = (size_t)1 << sort->pass.bits, size = table_type_size(sort->counter_type);
    return (struct table_view){.data =
                                   place(workspace, sort->counters_at + (sort->at_once ? number * columns * size : 0)),
                               .rows = sort->pass.chunks,
                               .columns = columns,
                               .stride = sort->at_once ? columns * sort->passes : columns,
                               .type = sort->counter_type};
}

struct table_view sort_ranks(const struct sort_call *sort, char *workspace) {
    const size_t columns = (size_t)1 << sort->pass.bits;
    return (struct table_view){.data = place(workspace, sort->ranks_at),
                               .rows = sort->pass.chunks,
                               .columns = columns,
                               .stride = columns,
                               .type = sort->counter_type};
}

/* The counters of a digit with fewer bits than the others have columns that nobody counts into. */
static table_status clear_unused(const struct key_call *call, const struct sort_call *sort,
                                 const struct digit_pass *pass, const struct table_view *counters) {
    const size_t bytes = counters->rows * counters->stride * table_type_size(counters->type);
    return pass->bits < sort->pass.bits ? call->call.backend->fill(&call->call.scan, counters->data, 0, bytes)
                                        : TABLE_OK;
}

static table_status count(const struct key_call *call, const struct sort_call *sort, unsigned number,
                          const struct digit_pass *pass, char *workspace) {
    struct digit_pass counted = *pass;
    struct table_view counters = sort_counters(sort, 0, workspace);
    if (sort->at_once && number > 0)
        return TABLE_OK;
    counted.digits = sort->at_once ? sort->passes : 1;
    counters.columns = (size_t)counted.digits << pass->bits;
    const table_status status = clear_unused(call, sort, pass, &counters);
    return status == TABLE_OK ? call->call.backend->keys->digit_counts(&call->call.scan, &counted, &counters,
                                                                       workspace + sort->pass_at)
                              : status;
}

/* The ranks are the prefix sums of the counters; one chunk has no keys before it, and all of them itself. */
static table_status rank(const struct key_call *call, const struct sort_call *sort, const struct table_view *counters,
                         struct digit_move *move, char *workspace) {
    struct scan ranks = sort->ranks;
    move->totals = counters->data;
    if (sort->pass.chunks == 1)
        return TABLE_OK;
    move->ranks = sort_ranks(sort, workspace);
    move->totals = workspace + sort->totals_at;
    ranks.in.data = counters->data;
    ranks.out.data = move->ranks.data;
    ranks.carry_out = workspace + sort->totals_at;
    ranks.stream = call->call.scan.stream;
    return pipeline_run(call->call.backend, &sort->ranks_plan, &ranks, workspace + sort->scan_at);
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

/* One digit: `from` to `to`. *moved: whether there was anything to do, which `must` makes sure of. */
static table_status run_pass(struct key_call *call, const struct sort_call *sort, unsigned number,
                             const struct side *from, const struct side *to, bool must, char *workspace, bool *moved) {
    struct digit_pass pass = sort->pass;
    const struct table_view counters = sort_counters(sort, number, workspace);
    struct digit_move move = {.type = sort->counter_type,
                              .keys = to->keys,
                              .values_from = from->values,
                              .values = to->values,
                              .value_bytes = sort->moved_bytes};
    choose_digit(sort, number, &pass);
    pass.keys.data = from->keys;
    table_status status = key_call_mark(call, 0);
    if (status == TABLE_OK)
        status = count(call, sort, number, &pass, workspace);
    if (status == TABLE_OK)
        status = key_call_mark(call, 1);
    if (status == TABLE_OK)
        status = rank(call, sort, &counters, &move, workspace);
    if (status == TABLE_OK)
        status = key_call_mark(call, 2);
    *moved = status == TABLE_OK && (must || !is_sorted_already(call, sort, move.totals));
    if (*moved)
        status = sort->is_filled ? call->call.backend->keys->digit_fill(&call->call.scan, &pass, &move)
                                 : call->call.backend->keys->digit_scatter(&call->call.scan, &pass, &move,
                                                                           workspace + sort->pass_at);
    if (status == TABLE_OK)
        status = key_call_mark(call, 3);
    if (status == TABLE_OK)
        status = key_call_lap(call);
    if (call->report && *moved)
        call->report->passes++;
    return status;
}

/* Brings keys and values from the side where the last pass left them to where the caller wants them. */
static table_status bring_home(const struct key_call *call, const struct sort_call *sort, const struct side *last,
                               const struct side *home, char *workspace) {
    const struct backend *backend = call->call.backend;
    const struct scan *scan = &call->call.scan;
    const size_t keys = sort->pass.keys.rows, key_bytes = keys * table_type_size(sort->pass.keys.type);
    const struct gather gather = {.to = workspace + sort->gathered_at,
                                  .from = sort->values,
                                  .value_bytes = sort->value_bytes,
                                  .count = keys,
                                  .order = last->values,
                                  .order_bytes = sort->moved_bytes};
    table_status status = TABLE_OK;
    if (sort->kind != SORT_ORDER && last->keys != home->keys)
        status = backend->copy(scan, home->keys, last->keys, key_bytes);
    if (status == TABLE_OK && sort->kind == SORT_INDEXED) {
        status = backend->keys->gather(scan, &gather);
        if (status == TABLE_OK)
            status = backend->copy(scan, sort->values, gather.to, keys * sort->value_bytes);
    } else if (status == TABLE_OK && sort->kind != SORT_KEYS && last->values != home->values) {
        status = backend->copy(scan, home->values, last->values, keys * sort->moved_bytes);
    }
    return status;
}

static table_status run_passes(struct key_call *call, const struct sort_call *sort, const struct side sides[2],
                               const struct side *first, char *workspace) {
    struct side from = *first;
    const bool indexed = sort->kind == SORT_INDEXED || sort->kind == SORT_ORDER;
    /* A pass may not write where it reads; and if all passes are run, the order of the keys ends on the side of its
     * own. */
    unsigned next = sort->kind == SORT_ORDER ? sort->passes % 2 == 0 : 1;
    table_status status = TABLE_OK;
    for (unsigned number = 0; number < sort->passes && status == TABLE_OK; number++) {
        const bool must = indexed && !from.values && number + 1 == sort->passes;
        bool moved = false;
        status = run_pass(call, sort, number, &from, &sides[next], must, workspace, &moved);
        if (moved) {
            from = sides[next];
            next = !next;
        }
    }
    for (unsigned mark = 0; mark < STAGES && status == TABLE_OK; mark++)
        status = key_call_mark(call, mark);
    if (status == TABLE_OK)
        status = bring_home(call, sort, &from, &sides[0], workspace);
    if (status == TABLE_OK)
        status = key_call_mark(call, STAGES);
    return status == TABLE_OK ? key_call_lap(call) : status;
}

/* One look, which keys that are not in order seldom need more of than their first ones. */
static table_status look_at_order(struct key_call *call, const struct sort_call *sort, bool *ascends) {
    struct digit_pass all = sort->pass;
    all.first_bit = sort->first_bit;
    all.bits = sort->end_bit - sort->first_bit;
    table_status status = key_call_mark(call, 0);
    if (status == TABLE_OK)
        status = call->call.backend->keys->digit_order(&call->call.scan, &all, ascends);
    for (unsigned mark = 1; mark <= STAGES && status == TABLE_OK; mark++)
        status = key_call_mark(call, mark);
    return status == TABLE_OK ? key_call_lap(call) : status;
}

/* Equal keys keep their order, so that nothing moves; on the host. */
static table_status keep_order(const struct sort_call *sort) {
    const size_t keys = sort->kind == SORT_ORDER ? sort->pass.keys.rows : 0;
    for (size_t i = 0; i < keys && sort->moved_bytes == 4; i++)
        ((uint32_t *)sort->values)[i] = (uint32_t)i;
    for (size_t i = 0; i < keys && sort->moved_bytes == 8; i++)
        ((uint64_t *)sort->values)[i] = i;
    return TABLE_OK;
}

table_status sort_work(struct key_call *call, const void *context, char *workspace) {
    const struct sort_call *sort = context;
    void *const keys = sort->pass.keys.data;
    const bool own_keys = sort->kind == SORT_ORDER, own_values = sort->kind == SORT_INDEXED;
    const bool has_values = sort->kind != SORT_KEYS;
    const struct side sides[2] = {
        {.keys = own_keys ? workspace + sort->keys_at[0] : keys,
         .values = own_values ? workspace + sort->values_at[0] : sort->values},
        {.keys = sort->is_filled ? keys : workspace + sort->keys_at[1],
         .values = has_values ? workspace + sort->values_at[1] : NULL},
    };
    const struct side first = {.keys = keys, .values = sort->kind == SORT_PAIRS ? sort->values : NULL};
    if (call->report) {
        call->report->chunk_length = sort->pass.chunk_length;
        call->report->chunks = sort->pass.chunks;
    }
    bool ascends = sort->pass.keys.rows == 0;
    table_status status = TABLE_OK;
    if (!ascends && call->call.backend->keys->digit_order)
        status = look_at_order(call, sort, &ascends);
    if (status != TABLE_OK)
        return status;
    return ascends ? keep_order(sort) : run_passes(call, sort, sides, &first, workspace);
}
