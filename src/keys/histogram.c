/* The calls of tuplescan/histogram.h: each chunk's histogram is a row of a table, whose column totals are the whole. */
#include <math.h>

#include "checked.h"
#include "key_call.h"
#include "status.h"
#include "types.h"

/* A checked call, and where its pieces lie in the workspace. */
struct histogram_call {
    struct histogram_pass pass; /* result and outside of the pass are set when the workspace is known */
    struct table_view result;   /* the caller's */
    struct table_view outside;  /* likewise; no data: not wanted */
    bool direct;                /* the rows of the pass are the rows of the result */
    size_t edges_at, edges_bytes, outside_at, rows_at, pass_at;
    struct key_scan totals; /* of the chunks' rows */
};

static uint64_t *outside_of(const struct histogram_call *histogram, char *workspace) {
    return layout_at(workspace, histogram->outside_at);
}

/* Without values there is no pass; its result is nothing counted. */
static table_status count(struct key_call *call, void *context, char *workspace) {
    const struct histogram_call *histogram = context;
    const struct backend *backend = call->call.backend;
    struct histogram_pass pass = histogram->pass;
    pass.outside = outside_of(histogram, workspace);
    pass.result.data = histogram->direct ? histogram->result.data : layout_at(workspace, histogram->rows_at);
    if (histogram->edges_bytes > 0)
        pass.bins.edges = layout_at(workspace, histogram->edges_at);
    if (pass.chunks > 0)
        return backend->keys->histogram(&call->call.scan, &pass, layout_at(workspace, histogram->pass_at));
    return pass.result.rows > 0 ? backend->fill(&call->call.scan, pass.result.data, 0,
                                                pass.result.columns * table_type_size(pass.result.type))
                                : TABLE_OK;
}

static table_status add_up(struct key_call *call, void *context, char *workspace) {
    const struct histogram_call *histogram = context;
    return histogram->direct ? TABLE_OK
                             : key_scan_run(call, &histogram->totals, layout_at(workspace, histogram->rows_at), NULL,
                                            NULL, histogram->result.data, workspace);
}

static table_status work(struct key_call *call, void *context, char *workspace) {
    const struct histogram_call *histogram = context;
    const struct backend *backend = call->call.backend;
    const struct scan *scan = &call->call.scan;
    const size_t outside_bytes = TABLE_OUTSIDE_WORDS * sizeof(uint64_t);
    uint64_t *const outside = outside_of(histogram, workspace);
    TRY(backend->fill(scan, outside, 0, outside_bytes));
    if (histogram->edges_bytes > 0)
        TRY(backend->copy(scan, layout_at(workspace, histogram->edges_at), histogram->pass.bins.edges,
                          histogram->edges_bytes));
    TRY(key_call_steps(call, (key_work *const[STAGES]){count, add_up}, context, workspace));
    if (histogram->outside.data)
        TRY(backend->copy(scan, histogram->outside.data, outside, outside_bytes));
    return TABLE_OK;
}

/* The first edge that is less than the one before it, or NaN; count + 1 when there is none. */
#define DEFINE_BAD_EDGE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                              \
    static size_t bad_edge_##NAME(const C *edges, size_t count) {                                                      \
        size_t i = edges[0] == edges[0] ? 1 : 0;                                                                       \
        while (i > 0 && i <= count && edges[i - 1] <= edges[i])                                                        \
            i++;                                                                                                       \
        return i;                                                                                                      \
    }
TABLE_KEY_TYPES(DEFINE_BAD_EDGE)

#define BAD_EDGE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                     \
    case TABLE_##TYPE:                                                                                                 \
        return bad_edge_##NAME(edges, count);

static size_t bad_edge(const void *edges, size_t count, table_type type) {
    switch (type) {
        TABLE_KEY_TYPES(BAD_EDGE)
    default:
        return 0;
    }
}

static table_status validate_edges(const table_bins *bins, table_type type) {
    const size_t size = table_type_size(type);
    if (!bins->edges)
        return status_fail(TABLE_ERROR_ARGUMENT, "bins->edges is a null pointer");
    if ((uintptr_t)bins->edges % size != 0)
        return status_fail(TABLE_ERROR_ALIGNMENT, "bins->edges %p is not aligned to the %zu bytes of %s", bins->edges,
                           size, table_type_name(type));
    if (backend_device_of(bins->edges) >= 0)
        return status_fail(TABLE_ERROR_BACKEND, "bins->edges is device memory, and must be host memory");
    const size_t bad = bad_edge(bins->edges, bins->count, type);
    if (bad <= bins->count)
        return status_fail(TABLE_ERROR_ARGUMENT,
                           "bins->edges are not sorted: edge %zu is less than the one before it, or not a number", bad);
    return TABLE_OK;
}

static table_status validate_bins(const table_bins *bins, table_type type) {
    if (!bins)
        return status_fail(TABLE_ERROR_ARGUMENT, "bins is a null pointer");
    if (bins->count < 1 || bins->count > TABLE_BINS_MOST)
        return status_fail(TABLE_ERROR_ARGUMENT, "bins->count is %zu, not 1 to %d", bins->count, TABLE_BINS_MOST);
    switch (bins->kind) {
    case TABLE_BINS_EVEN:
        return even_bins_check(bins);
    case TABLE_BINS_EDGES:
        return validate_edges(bins, type);
    case TABLE_BINS_INTEGER:
        if (type_is_float(type))
            return status_fail(TABLE_ERROR_TYPE, "bins of single integers are not for values of %s",
                               table_type_name(type));
        return TABLE_OK;
    }
    return status_fail(TABLE_ERROR_ARGUMENT, "bins->kind %d is no kind of bins", (int)bins->kind);
}

static table_status validate_weights(const table_view *weights, struct histogram_call *histogram) {
    struct table_view *checked = &histogram->pass.weights;
    const size_t rows = histogram->pass.values.rows;
    if (!weights)
        return TABLE_OK;
    TRY(key_call_column("options->weights", weights, checked));
    if (!type_is_float(checked->type))
        return status_fail(TABLE_ERROR_TYPE, "options->weights are f32 or f64, not %s", table_type_name(checked->type));
    if (checked->rows != rows)
        return status_fail(TABLE_ERROR_SHAPE, "options->weights has %zu rows for %zu values", checked->rows, rows);
    return TABLE_OK;
}

static table_status validate_result(const table_view *result, bool weighted, size_t rows,
                                    struct histogram_call *histogram) {
    const struct histogram_pass *pass = &histogram->pass;
    struct table_view *view = &histogram->result;
    TRY(validate_view("result", result, view));
    if (weighted ? !table_types_supported(pass->weights.type, view->type)
                 : view->type != TABLE_U32 && view->type != TABLE_U64)
        return status_fail(TABLE_ERROR_TYPE, "result is %s; %s", table_type_name(view->type),
                           !weighted                         ? "counts are u32 or u64"
                           : pass->weights.type == TABLE_F32 ? "sums of f32 weights are f32 or f64"
                                                             : "sums of f64 weights are f64");
    if (view->rows != rows || view->columns != pass->bins.count)
        return status_fail(TABLE_ERROR_SHAPE, "result is %zu x %zu, and %zu x %zu is needed", view->rows, view->columns,
                           rows, pass->bins.count);
    if (view->type == TABLE_U32 && pass->values.rows > UINT32_MAX)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%zu values are too many for u32 counts", pass->values.rows);
    return TABLE_OK;
}

/* Integers of 16 bits and more in even bins over all that there are need no search: the bins begin at multiples of a
 * power of two, which are doubles. */
static unsigned digit_bits_of(const struct histogram_pass *pass) {
    const struct table_bins *bins = &pass->bins;
    const table_type type = pass->values.type;
    const unsigned width = 8 * (unsigned)table_type_size(type);
    const double all = ldexp(1, (int)width), least = type == TABLE_I32 || type == TABLE_I64 ? -all / 2 : 0;
    unsigned bits = 0;
    while (((size_t)1 << bits) < bins->count)
        bits++;
    if (type_is_float(type) || type == TABLE_U8 || pass->weights.data || bins->kind != TABLE_BINS_EVEN ||
        bins->low != least || bins->high - bins->low != all)
        return 0;
    return bins->count == (size_t)1 << bits && bits <= TABLE_DIGIT_BITS_MOST && bits <= width ? bits : 0;
}

/* Where only exact totals are wanted, the backend cuts the chunks as it likes, as long as a chunk has more values than
 * its row of counts. */
static void choose_chunks(struct key_call *call, const table_histogram_options *options, struct histogram_pass *pass) {
    const size_t rows = pass->values.rows, least = pass->bins.count * VALUES_PER_BIN;
    if (!options->per_chunk && !options->weights && rows > 0) {
        const size_t length = call->call.backend->keys->chunk_length(&call->call.scan, rows);
        pass->chunk_length = length > least ? length : least;
    }
    call->chunk_length = pass->chunk_length;
    call->chunks = pass->chunks = divide_up(rows, pass->chunk_length);
}

/* Trying a bin of even_bins.h takes about as long as what it saves with so many values. */
static size_t trials_of(const struct key_call *call) {
    enum { CPU_VALUES = 64, GPU_VALUES = 4096, MOST = 16384 };
    const size_t trials = call->call.scan.in.rows / (key_call_on_host(call) ? CPU_VALUES : GPU_VALUES);
    return trials < MOST ? trials : MOST;
}

static table_status plan_work(struct key_call *call, bool per_chunk, struct histogram_call *histogram) {
    const struct backend *backend = call->call.backend;
    struct histogram_pass *pass = &histogram->pass;
    struct layout *layout = &call->layout;
    histogram->direct = per_chunk || pass->chunks <= 1;
    pass->result = histogram->result;
    histogram->outside_at = layout_place(layout, TABLE_OUTSIDE_WORDS, sizeof(uint64_t));
    histogram->edges_bytes =
        pass->bins.kind == TABLE_BINS_EDGES ? (pass->bins.count + 1) * table_type_size(pass->values.type) : 0;
    histogram->edges_at = layout_place(layout, histogram->edges_bytes, 1);
    if (!histogram->direct) {
        size_t row_bytes = pass->bins.count * table_type_size(histogram->result.type);
        pass->result.rows = pass->chunks;
        pass->result.stride = pass->bins.count;
        histogram->rows_at = layout_place(layout, pass->chunks, row_bytes);
        TRY(key_scan_plan(call, &pass->result, &pass->result, true, &histogram->totals));
    }
    histogram->pass_at = layout_place(
        layout, backend->keys->histogram_workspace ? backend->keys->histogram_workspace(&call->call.scan, pass) : 0, 1);
    return TABLE_OK;
}

static table_status prepare_tables(const table_view *values, const table_bins *bins,
                                   const table_histogram_options *options, struct histogram_call *histogram) {
    struct histogram_pass *pass = &histogram->pass;
    if (options->per_chunk != 0 && options->per_chunk != 1)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->per_chunk is %d, not 0 or 1", options->per_chunk);
    TRY(validate_reserved("options", options->reserved, RESERVED_WORDS(options)));
    TRY(key_call_column("values", values, &pass->values));
    TRY(validate_bins(bins, pass->values.type));
    pass->bins = *bins;
    pass->chunk_length = options->chunk_length ? options->chunk_length : table_histogram_chunk_length(bins->count);
    return validate_weights(options->weights, histogram);
}

static table_status fill(const table_view *values, const table_bins *bins, const table_view *result,
                         const table_histogram_options *options, struct key_form form) {
    static const struct table_histogram_options defaults;
    struct key_call call;
    struct histogram_call histogram = {0};
    struct histogram_pass *const pass = &histogram.pass;
    const struct key_table tables[] = {{"values", &pass->values, KEYS_READ},
                                       {"result", &histogram.result, RESULT},
                                       {"options->weights", &pass->weights, KEYS_READ},
                                       {"options->outside", &histogram.outside, ROW_BESIDE}};
    options = options ? options : &defaults;
    TRY(key_call_begin(&call, &options->run, form));
    TRY(prepare_tables(values, bins, options, &histogram));
    TRY(validate_result(result, options->weights != NULL,
                        options->per_chunk ? divide_up(pass->values.rows, pass->chunk_length) : 1, &histogram));
    TRY(validate_row("options->outside", options->outside, TABLE_OUTSIDE_WORDS, TABLE_U64, &histogram.outside));
    TRY(key_call_tables(&call, tables, 4));
    pass->digit_bits = digit_bits_of(pass);
    if (bins->kind == TABLE_BINS_EVEN)
        pass->even = even_bins_make(bins, pass->values.type, trials_of(&call));
    choose_chunks(&call, options, pass);
    TRY(plan_work(&call, options->per_chunk, &histogram));
    return key_call_end(&call, work, &histogram);
}

table_status table_histogram(const table_view *values, const table_bins *bins, const table_view *result,
                             const table_histogram_options *options) {
    return fill(values, bins, result, options, KEY_AT_ONCE);
}

table_status table_histogram_workspace(const table_view *values, const table_bins *bins, const table_view *result,
                                       const table_histogram_options *options, size_t *bytes) {
    return fill(values, bins, result, options, KEY_ASKS(bytes));
}

table_status table_histogram_async(const table_view *values, const table_bins *bins, const table_view *result,
                                   const table_histogram_options *options) {
    return fill(values, bins, result, options, KEY_QUEUED);
}
