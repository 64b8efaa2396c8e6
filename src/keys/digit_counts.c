/* The digit counts of tuplescan/digit_counts.h; chunk_ranks.c is the other half. And the lengths of chunks. */
#include "checked.h"
#include "key_call.h"
#include "status.h"

/* How keys are cut where nothing else says so. */
enum { LEAST_KEYS = 16384, KEYS_PER_COUNTER = 16, LEAST_VALUES = 65536 };

size_t table_digit_chunk_length(unsigned bits) {
    if (bits < 1 || bits > TABLE_DIGIT_BITS_MOST)
        return 0;
    const size_t length = (size_t)KEYS_PER_COUNTER << bits;
    return length > LEAST_KEYS ? length : LEAST_KEYS;
}

size_t table_digit_chunks(size_t keys, size_t chunk_length, unsigned bits) {
    const size_t length = chunk_length ? chunk_length : table_digit_chunk_length(bits);
    return length ? divide_up(keys, length) : 0;
}

size_t table_histogram_chunk_length(size_t bins) {
    size_t length;
    if (!checked_multiply(bins, VALUES_PER_BIN, &length))
        return SIZE_MAX;
    return length > LEAST_VALUES ? length : LEAST_VALUES;
}

struct counts_call {
    struct digit_pass pass;
    struct table_view counters;
};

static table_status count(struct key_call *call, void *context, char *workspace) {
    const struct counts_call *counts = context;
    return counts->pass.chunks > 0
               ? call->call.backend->keys->digit_counts(&call->call.scan, &counts->pass, &counts->counters, workspace)
               : TABLE_OK;
}

static table_status work(struct key_call *call, void *context, char *workspace) {
    return key_call_steps(call, (key_work *const[STAGES]){count}, context, workspace);
}

static table_status validate_digit(const table_digit *digit, table_type type) {
    const size_t width = 8 * table_type_size(type);
    if (!digit)
        return status_fail(TABLE_ERROR_ARGUMENT, "digit is a null pointer");
    if (digit->bits < 1 || digit->bits > TABLE_DIGIT_BITS_MOST)
        return status_fail(TABLE_ERROR_ARGUMENT, "digit->bits is %u, not 1 to %d", digit->bits, TABLE_DIGIT_BITS_MOST);
    if (digit->first_bit >= width)
        return status_fail(TABLE_ERROR_ARGUMENT, "digit->first_bit is %u, and %s has the bits 0 to %zu",
                           digit->first_bit, table_type_name(type), width - 1);
    if (digit->descending != 0 && digit->descending != 1)
        return status_fail(TABLE_ERROR_ARGUMENT, "digit->descending is %d, not 0 or 1", digit->descending);
    return TABLE_OK;
}

static table_status validate_counters(const table_view *counters, struct counts_call *counts) {
    struct table_view *view = &counts->counters;
    TRY(validate_view("counters", counters, view));
    if (view->type != TABLE_U32 && view->type != TABLE_U64)
        return status_fail(TABLE_ERROR_TYPE, "counters are u32 or u64, not %s", table_type_name(view->type));
    if (view->rows != counts->pass.chunks || view->columns != (size_t)1 << counts->pass.bits)
        return status_fail(TABLE_ERROR_SHAPE,
                           "counters is %zu x %zu; %zu keys in chunks of %zu, and %u bits, need %zu x %zu", view->rows,
                           view->columns, counts->pass.keys.rows, counts->pass.chunk_length, counts->pass.bits,
                           counts->pass.chunks, (size_t)1 << counts->pass.bits);
    if (view->type == TABLE_U32 && counts->pass.keys.rows > UINT32_MAX)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%zu keys are too many for u32 counters", counts->pass.keys.rows);
    return TABLE_OK;
}

static table_status call_counts(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                const table_view *counters, const table_pipeline_options *options,
                                struct key_form form) {
    struct key_call call;
    struct counts_call counts = {0};
    struct digit_pass *const pass = &counts.pass;
    TRY(key_call_begin(&call, options, form));
    TRY(key_call_column("keys", keys, &pass->keys));
    TRY(validate_digit(digit, pass->keys.type));
    pass->first_bit = digit->first_bit;
    pass->bits = digit->bits;
    pass->digits = 1;
    pass->descending = digit->descending;
    pass->chunk_length = chunk_length ? chunk_length : table_digit_chunk_length(digit->bits);
    pass->chunks = divide_up(pass->keys.rows, pass->chunk_length);
    call.chunk_length = pass->chunk_length;
    call.chunks = pass->chunks;
    const struct key_table tables[] = {{"keys", &pass->keys, KEYS_READ}, {"counters", &counts.counters, RESULT}};
    TRY(validate_counters(counters, &counts));
    TRY(key_call_tables(&call, tables, 2));
    layout_place(&call.layout, call.call.backend->keys->digit_workspace(&call.call.scan, pass), 1);
    return key_call_end(&call, work, &counts);
}

table_status table_digit_counts(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                const table_view *counters, const table_pipeline_options *options) {
    return call_counts(keys, digit, chunk_length, counters, options, KEY_AT_ONCE);
}

table_status table_digit_counts_workspace(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                          const table_view *counters, const table_pipeline_options *options,
                                          size_t *bytes) {
    return call_counts(keys, digit, chunk_length, counters, options, KEY_ASKS(bytes));
}

table_status table_digit_counts_async(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                      const table_view *counters, const table_pipeline_options *options) {
    return call_counts(keys, digit, chunk_length, counters, options, KEY_QUEUED);
}
