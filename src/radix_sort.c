/* The calls of tuplescan/radix_sort.h. For each digit, from the least: count (chunks x digits), scan that table down
 * its rows, and move every key to its place, from one buffer to another and back. */
#include "checked.h"
#include "key_call.h"
#include "status.h"

/* Bits of a digit at most: 256 places to write to, whose lines fit in a first cache. */
enum { DIGIT_BITS = 8 };

/* What moves with the keys. */
enum sort_kind {
    SORT_KEYS,    /* nothing */
    SORT_PAIRS,   /* the values */
    SORT_INDEXED, /* the keys' indices, which then fetch the values */
    SORT_ORDER    /* the keys' indices, which are the result; the keys stay where they are */
};

struct sort_call {
    enum sort_kind kind;
    struct digit_pass pass;
    unsigned first_bit, end_bit, passes;
    bool at_once; /* one chunk: the counts of all digits, taken together, hold for all passes */
    void *values; /* the caller's values, or the order */
    size_t value_bytes;
    size_t moved_bytes; /* of what moves beside a key: a value, an index, nothing */
    table_type counter_type;
    size_t keys_at[2], values_at[2]; /* offsets in the workspace, where the sides are not the caller's memory */
    size_t gathered_at, counters_at, pass_at;
    struct scan ranks; /* of several chunks: each chunk's ranks among the keys of a digit, and the totals */
    struct plan ranks_plan;
    size_t ranks_at, totals_at, scan_at;
};

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

/* The counters of digit `number`, in the place that it has in the table. */
static struct table_view counters_of(const struct sort_call *sort, unsigned number, char *workspace) {
    const size_t columns = (size_t)1 << sort->pass.bits, size = table_type_size(sort->counter_type);
    return (struct table_view){.data =
                                   place(workspace, sort->counters_at + (sort->at_once ? number * columns * size : 0)),
                               .rows = sort->pass.chunks,
                               .columns = columns,
                               .stride = sort->at_once ? columns * sort->passes : columns,
                               .type = sort->counter_type};
}

static struct table_view ranks_of(const struct sort_call *sort, char *workspace) {
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
    struct table_view counters = counters_of(sort, 0, workspace);
    if (sort->at_once && number > 0)
        return TABLE_OK;
    counted.digits = sort->at_once ? sort->passes : 1;
    counters.columns = (size_t)counted.digits << pass->bits;
    const table_status status = clear_unused(call, sort, pass, &counters);
    return status == TABLE_OK
               ? call->call.backend->digit_counts(&call->call.scan, &counted, &counters, workspace + sort->pass_at)
               : status;
}

/* The ranks are the prefix sums of the counters; one chunk has no keys before it, and all of them itself. */
static table_status rank(const struct key_call *call, const struct sort_call *sort, const struct table_view *counters,
                         struct digit_move *move, char *workspace) {
    struct scan ranks = sort->ranks;
    move->totals = counters->data;
    if (sort->pass.chunks == 1)
        return TABLE_OK;
    move->ranks = ranks_of(sort, workspace);
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
    const struct table_view counters = counters_of(sort, number, workspace);
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
        status = call->call.backend->digit_scatter(&call->call.scan, &pass, &move, workspace + sort->pass_at);
    if (status == TABLE_OK)
        status = key_call_mark(call, 3);
    if (status == TABLE_OK)
        status = key_call_lap(call);
    if (call->report && *moved)
        call->report->passes++;
    return status;
}

/* From the side where the last pass left them to where the caller wants them. */
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
        status = backend->gather(scan, &gather);
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

static table_status work(struct key_call *call, const void *context, char *workspace) {
    const struct sort_call *sort = context;
    void *const keys = sort->pass.keys.data;
    const bool own_keys = sort->kind == SORT_ORDER, own_values = sort->kind == SORT_INDEXED;
    const bool has_values = sort->kind != SORT_KEYS;
    const struct side sides[2] = {
        {.keys = own_keys ? workspace + sort->keys_at[0] : keys,
         .values = own_values ? workspace + sort->values_at[0] : sort->values},
        {.keys = workspace + sort->keys_at[1], .values = has_values ? workspace + sort->values_at[1] : NULL},
    };
    const struct side first = {.keys = keys, .values = sort->kind == SORT_PAIRS ? sort->values : NULL};
    if (call->report) {
        call->report->chunk_length = sort->pass.chunk_length;
        call->report->chunks = sort->pass.chunks;
    }
    return sort->pass.keys.rows > 0 ? run_passes(call, sort, sides, &first, workspace) : TABLE_OK;
}

static table_status validate_options(const table_sort_options *options, table_type type, struct sort_call *sort) {
    const unsigned width = 8 * (unsigned)table_type_size(type);
    if (options->descending != 0 && options->descending != 1)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->descending is %d, not 0 or 1", options->descending);
    if (options->first_bit >= width || options->bits > width - options->first_bit)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->first_bit %u and bits %u reach beyond the %u bits of %s",
                           options->first_bit, options->bits, width, table_type_name(type));
    sort->first_bit = options->first_bit;
    sort->end_bit = options->bits ? options->first_bit + options->bits : width;
    sort->passes = (unsigned)divide_up(sort->end_bit - sort->first_bit, DIGIT_BITS);
    sort->pass.bits = (unsigned)divide_up(sort->end_bit - sort->first_bit, sort->passes);
    sort->pass.first_bit = sort->first_bit;
    sort->pass.digits = 1;
    sort->pass.descending = options->descending;
    return TABLE_OK;
}

static table_status plan_ranks(struct key_call *call, struct sort_call *sort, size_t row_bytes) {
    const struct table_view counters = counters_of(sort, 0, NULL), ranks = ranks_of(sort, NULL);
    sort->ranks_at = layout_place(&call->layout, sort->pass.chunks, row_bytes);
    sort->totals_at = layout_place(&call->layout, 1, row_bytes);
    sort->ranks = key_call_scan(call, &counters, &ranks);
    sort->ranks.exclusive = true;
    const table_status status =
        plan_make(call->call.backend, &sort->ranks, TABLE_STRATEGY_AUTO, false, &sort->ranks_plan);
    sort->scan_at = layout_place(&call->layout, sort->ranks_plan.bytes, 1);
    return status;
}

/* Where everything lies. */
static table_status plan_work(struct key_call *call, struct sort_call *sort) {
    const struct backend *backend = call->call.backend;
    struct digit_pass *pass = &sort->pass;
    struct layout *layout = &call->layout;
    const size_t keys = pass->keys.rows, key_bytes = table_type_size(pass->keys.type);
    sort->counter_type = keys <= UINT32_MAX ? TABLE_U32 : TABLE_U64;
    pass->chunk_length = keys > 0 ? backend->chunk_length(&call->call.scan, keys) : 1;
    pass->chunks = divide_up(keys, pass->chunk_length);
    sort->at_once =
        pass->chunks <= 1 && sort->passes > 1 && pass->bits * sort->passes == sort->end_bit - sort->first_bit;
    for (unsigned side = 0; side < 2; side++) {
        const bool own_keys = side == 1 || sort->kind == SORT_ORDER;
        const bool own_values = sort->kind != SORT_KEYS && (side == 1 || sort->kind == SORT_INDEXED);
        sort->keys_at[side] = layout_place(layout, own_keys ? keys : 0, key_bytes);
        sort->values_at[side] = layout_place(layout, own_values ? keys : 0, sort->moved_bytes);
    }
    sort->gathered_at = layout_place(layout, sort->kind == SORT_INDEXED ? keys : 0, sort->value_bytes);
    const size_t row_bytes = table_type_size(sort->counter_type) << pass->bits;
    sort->counters_at = layout_place(layout, pass->chunks, row_bytes * (sort->at_once ? sort->passes : 1));
    struct digit_pass widest = *pass;
    widest.digits = sort->at_once ? sort->passes : 1;
    sort->pass_at = layout_place(layout, backend->digit_workspace(&call->call.scan, &widest), 1);
    const table_status status = pass->chunks > 1 ? plan_ranks(call, sort, row_bytes) : TABLE_OK;
    return status == TABLE_OK ? key_call_layout(call) : status;
}

static table_status begin(const table_view *keys, const table_sort_options *options, enum call_form form,
                          struct key_call *call, struct sort_call *sort) {
    static const struct table_sort_options defaults;
    *sort = (struct sort_call){0};
    options = options ? options : &defaults;
    table_status status = key_call_begin(call, &options->run, form);
    if (status == TABLE_OK)
        status = key_call_column("keys", keys, &sort->pass.keys);
    if (status == TABLE_OK)
        status = validate_options(options, sort->pass.keys.type, sort);
    return status;
}

static table_status finish(struct key_call *call, struct sort_call *sort) {
    table_status status = key_call_backend(call, "keys", &sort->pass.keys, sort->values);
    if (status == TABLE_OK)
        status = key_call_same_side(call, sort->kind == SORT_ORDER ? "order" : "values", sort->values);
    if (status != TABLE_OK)
        return status;
    key_call_stage_table(call, &sort->pass.keys, true, sort->kind != SORT_ORDER);
    key_call_stage(call, &sort->values,
                   sort->kind == SORT_ORDER ? sort->pass.keys.rows * sort->moved_bytes
                                            : sort->pass.keys.rows * sort->value_bytes,
                   sort->kind != SORT_ORDER, true);
    return plan_work(call, sort);
}

static table_status validate_values(void *values, size_t value_bytes, struct sort_call *sort) {
    const size_t rows = sort->pass.keys.rows;
    struct table_view view = {.data = values, .rows = rows, .columns = value_bytes, .type = TABLE_U8};
    if (!values && value_bytes == 0)
        return TABLE_OK;
    if (value_bytes == 0 || (!values && rows > 0))
        return status_fail(TABLE_ERROR_ARGUMENT, "value_bytes is %zu and values is %s", value_bytes,
                           values ? "given" : "a null pointer");
    const table_status status = validate_view("values", &view, &view);
    sort->values = values;
    sort->value_bytes = value_bytes;
    const bool moves = (value_bytes == 4 || value_bytes == 8) && (uintptr_t)values % value_bytes == 0;
    sort->kind = moves ? SORT_PAIRS : SORT_INDEXED;
    sort->moved_bytes = sort->kind == SORT_PAIRS ? value_bytes : rows <= UINT32_MAX ? 4 : 8;
    return status == TABLE_OK ? validate_apart("values", &view, "keys", &sort->pass.keys, false) : status;
}

static table_status prepare_sort(const table_view *keys, void *values, size_t value_bytes,
                                 const table_sort_options *options, enum call_form form, struct key_call *call,
                                 struct sort_call *sort) {
    table_status status = begin(keys, options, form, call, sort);
    if (status == TABLE_OK)
        status = validate_values(values, value_bytes, sort);
    return status == TABLE_OK ? finish(call, sort) : status;
}

table_status table_radix_sort(const table_view *keys, void *values, size_t value_bytes,
                              const table_sort_options *options) {
    struct key_call call;
    struct sort_call sort;
    const table_status status = prepare_sort(keys, values, value_bytes, options, CALL_AND_WAIT, &call, &sort);
    return status == TABLE_OK ? key_call_run(&call, work, &sort) : status;
}

table_status table_radix_sort_workspace(const table_view *keys, void *values, size_t value_bytes,
                                        const table_sort_options *options, size_t *bytes) {
    struct key_call call;
    struct sort_call sort;
    if (!bytes)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
    const table_status status = prepare_sort(keys, values, value_bytes, options, CALL_ON_STREAM, &call, &sort);
    if (status == TABLE_OK)
        *bytes = call.layout.bytes;
    return status;
}

table_status table_radix_sort_async(const table_view *keys, void *values, size_t value_bytes,
                                    const table_sort_options *options) {
    struct key_call call;
    struct sort_call sort;
    const table_status status = prepare_sort(keys, values, value_bytes, options, CALL_ON_STREAM, &call, &sort);
    return status == TABLE_OK ? key_call_queue(&call, work, &sort) : status;
}

static table_status prepare_argsort(const table_view *keys, const table_view *order, const table_sort_options *options,
                                    enum call_form form, struct key_call *call, struct sort_call *sort) {
    struct table_view checked;
    table_status status = begin(keys, options, form, call, sort);
    if (status == TABLE_OK)
        status = key_call_column("order", order, &checked);
    if (status != TABLE_OK)
        return status;
    if (checked.type != TABLE_U32 && checked.type != TABLE_U64)
        return status_fail(TABLE_ERROR_TYPE, "order is u32 or u64, not %s", table_type_name(checked.type));
    if (checked.rows != sort->pass.keys.rows)
        return status_fail(TABLE_ERROR_SHAPE, "order has %zu rows for %zu keys", checked.rows, sort->pass.keys.rows);
    if (checked.type == TABLE_U32 && checked.rows > 0 && checked.rows - 1 > UINT32_MAX)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%zu keys are too many for an order of u32", checked.rows);
    status = validate_apart("order", &checked, "keys", &sort->pass.keys, false);
    sort->kind = SORT_ORDER;
    sort->values = checked.data;
    sort->moved_bytes = table_type_size(checked.type);
    return status == TABLE_OK ? finish(call, sort) : status;
}

table_status table_argsort(const table_view *keys, const table_view *order, const table_sort_options *options) {
    struct key_call call;
    struct sort_call sort;
    const table_status status = prepare_argsort(keys, order, options, CALL_AND_WAIT, &call, &sort);
    return status == TABLE_OK ? key_call_run(&call, work, &sort) : status;
}

table_status table_argsort_workspace(const table_view *keys, const table_view *order, const table_sort_options *options,
                                     size_t *bytes) {
    struct key_call call;
    struct sort_call sort;
    if (!bytes)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
    const table_status status = prepare_argsort(keys, order, options, CALL_ON_STREAM, &call, &sort);
    if (status == TABLE_OK)
        *bytes = call.layout.bytes;
    return status;
}

table_status table_argsort_async(const table_view *keys, const table_view *order, const table_sort_options *options) {
    struct key_call call;
    struct sort_call sort;
    const table_status status = prepare_argsort(keys, order, options, CALL_ON_STREAM, &call, &sort);
    return status == TABLE_OK ? key_call_queue(&call, work, &sort) : status;
}
