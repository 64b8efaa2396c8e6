/* The calls of tuplescan/radix_sort.h: what they check, and where everything lies. The passes: sort_passes.c. */
#include "checked.h"
#include "sort_passes.h"
#include "status.h"

/* Bits of a digit at most: 256 places to write to, whose lines fit in a first cache. */
enum { DIGIT_BITS = 8 };

/* Bits of keys that are sorted by counting each of their values, and how many of them there are for each value. */
enum { COUNTED_BITS = 16, KEYS_PER_VALUE = 4 };

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
    const struct table_view counters = sort_counters(sort, 0, NULL), ranks = sort_ranks(sort, NULL);
    sort->ranks_at = layout_place(&call->layout, sort->pass.chunks, row_bytes);
    sort->totals_at = layout_place(&call->layout, 1, row_bytes);
    return key_scan_plan(call, &counters, &ranks, false, &sort->ranks);
}

static void choose_kind_of_pass(const struct backend *backend, struct sort_call *sort) {
    const unsigned bits = sort->end_bit - sort->first_bit;
    sort->is_filled = backend->keys->digit_fill && sort->kind == SORT_KEYS && bits <= COUNTED_BITS &&
                      bits == 8 * table_type_size(sort->pass.keys.type) &&
                      sort->pass.keys.rows >= (size_t)KEYS_PER_VALUE << bits;
    sort->pass.is_moved = !sort->is_filled;
    if (sort->is_filled) {
        sort->passes = 1;
        sort->pass.bits = bits;
    }
}

/* Where everything lies. */
static table_status plan_work(struct key_call *call, struct sort_call *sort) {
    const struct backend *backend = call->call.backend;
    struct digit_pass *pass = &sort->pass;
    struct layout *layout = &call->layout;
    const size_t keys = pass->keys.rows, key_bytes = table_type_size(pass->keys.type);
    choose_kind_of_pass(backend, sort);
    sort->counter_type = keys <= UINT32_MAX ? TABLE_U32 : TABLE_U64;
    pass->chunk_length = keys > 0 ? backend->keys->chunk_length(&call->call.scan, keys) : 1;
    pass->chunks = divide_up(keys, pass->chunk_length);
    sort->at_once =
        pass->chunks <= 1 && sort->passes > 1 && pass->bits * sort->passes == sort->end_bit - sort->first_bit;
    for (unsigned side = 0; side < 2; side++) {
        const bool own_keys = (side == 1 && !sort->is_filled) || sort->kind == SORT_ORDER;
        const bool own_values = sort->kind != SORT_KEYS && (side == 1 || sort->kind == SORT_INDEXED);
        sort->keys_at[side] = layout_place(layout, own_keys ? keys : 0, key_bytes);
        sort->values_at[side] = layout_place(layout, own_values ? keys : 0, sort->moved_bytes);
    }
    sort->gathered_at = layout_place(layout, sort->kind == SORT_INDEXED ? keys : 0, sort->values.columns);
    const size_t row_bytes = table_type_size(sort->counter_type) << pass->bits;
    sort->counters_at = layout_place(layout, pass->chunks, row_bytes * (sort->at_once ? sort->passes : 1));
    struct digit_pass widest = *pass;
    widest.digits = sort->at_once ? sort->passes : 1;
    sort->pass_at = layout_place(layout, backend->keys->digit_workspace(&call->call.scan, &widest), 1);
    return pass->chunks > 1 ? plan_ranks(call, sort, row_bytes) : TABLE_OK;
}

static table_status begin(const table_view *keys, const table_sort_options *options, struct key_form form,
                          struct key_call *call, struct sort_call *sort) {
    static const struct table_sort_options defaults;
    *sort = (struct sort_call){0};
    options = options ? options : &defaults;
    TRY(key_call_begin(call, &options->run, form));
    TRY(validate_reserved("options", options->reserved, RESERVED_WORDS(options)));
    TRY(key_call_column("keys", keys, &sort->pass.keys));
    return validate_options(options, sort->pass.keys.type, sort);
}

static table_status finish(struct key_call *call, struct sort_call *sort) {
    const bool orders = sort->kind == SORT_ORDER;
    const struct key_table tables[] = {{"keys", &sort->pass.keys, orders ? KEYS_READ : KEYS_MOVED},
                                       {orders ? "order" : "values", &sort->values, orders ? RESULT : KEYS_MOVED}};
    TRY(key_call_tables(call, tables, 2));
    TRY(plan_work(call, sort));
    call->chunk_length = sort->pass.chunk_length;
    call->chunks = sort->pass.chunks;
    return key_call_end(call, sort_work, sort);
}

static table_status validate_values(void *values, size_t value_bytes, struct sort_call *sort) {
    const size_t rows = sort->pass.keys.rows;
    const struct table_view view = {.data = values, .rows = rows, .columns = value_bytes, .type = TABLE_U8};
    if (!values && value_bytes == 0)
        return TABLE_OK;
    if (value_bytes == 0 || (!values && rows > 0))
        return status_fail(TABLE_ERROR_ARGUMENT, "value_bytes is %zu and values is %s", value_bytes,
                           values ? "given" : "a null pointer");
    const bool moves = (value_bytes == 4 || value_bytes == 8) && (uintptr_t)values % value_bytes == 0;
    sort->kind = moves ? SORT_PAIRS : SORT_INDEXED;
    sort->moved_bytes = sort->kind == SORT_PAIRS ? value_bytes : rows <= UINT32_MAX ? 4 : 8;
    return validate_view("values", &view, &sort->values);
}

static table_status sort_keys(const table_view *keys, void *values, size_t value_bytes,
                              const table_sort_options *options, struct key_form form) {
    struct key_call call;
    struct sort_call sort;
    TRY(begin(keys, options, form, &call, &sort));
    TRY(validate_values(values, value_bytes, &sort));
    return finish(&call, &sort);
}

table_status table_radix_sort(const table_view *keys, void *values, size_t value_bytes,
                              const table_sort_options *options) {
    return sort_keys(keys, values, value_bytes, options, KEY_AT_ONCE);
}

table_status table_radix_sort_workspace(const table_view *keys, void *values, size_t value_bytes,
                                        const table_sort_options *options, size_t *bytes) {
    return sort_keys(keys, values, value_bytes, options, KEY_ASKS(bytes));
}

table_status table_radix_sort_async(const table_view *keys, void *values, size_t value_bytes,
                                    const table_sort_options *options) {
    return sort_keys(keys, values, value_bytes, options, KEY_QUEUED);
}

static table_status sort_order(const table_view *keys, const table_view *order, const table_sort_options *options,
                               struct key_form form) {
    struct key_call call;
    struct sort_call sort;
    struct table_view *const checked = &sort.values;
    TRY(begin(keys, options, form, &call, &sort));
    TRY(key_call_column("order", order, checked));
    if (checked->type != TABLE_U32 && checked->type != TABLE_U64)
        return status_fail(TABLE_ERROR_TYPE, "order is u32 or u64, not %s", table_type_name(checked->type));
    if (checked->rows != sort.pass.keys.rows)
        return status_fail(TABLE_ERROR_SHAPE, "order has %zu rows for %zu keys", checked->rows, sort.pass.keys.rows);
    if (checked->type == TABLE_U32 && checked->rows > 0 && checked->rows - 1 > UINT32_MAX)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%zu keys are too many for an order of u32", checked->rows);
    sort.kind = SORT_ORDER;
    sort.moved_bytes = table_type_size(checked->type);
    return finish(&call, &sort);
}

table_status table_argsort(const table_view *keys, const table_view *order, const table_sort_options *options) {
    return sort_order(keys, order, options, KEY_AT_ONCE);
}

table_status table_argsort_workspace(const table_view *keys, const table_view *order, const table_sort_options *options,
                                     size_t *bytes) {
    return sort_order(keys, order, options, KEY_ASKS(bytes));
}

table_status table_argsort_async(const table_view *keys, const table_view *order, const table_sort_options *options) {
    return sort_order(keys, order, options, KEY_QUEUED);
}
