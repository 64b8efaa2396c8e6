/* Custom calls of XLA, for tuplescan.jax, of row-major arrays on the CPU or on a stream: running results of one array,
 * linear recurrences, and running sums of segments. */
#include "xla.h"

#include "module.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>

static table_type type_of(int type) {
    static const table_type types[XLA_BFLOAT16 + 1] = {
        [XLA_BOOL] = TABLE_BOOL,    [XLA_INT8] = TABLE_I8,     [XLA_INT16] = TABLE_I16,   [XLA_INT32] = TABLE_I32,
        [XLA_INT64] = TABLE_I64,    [XLA_UINT8] = TABLE_U8,    [XLA_UINT16] = TABLE_U16,  [XLA_UINT32] = TABLE_U32,
        [XLA_UINT64] = TABLE_U64,   [XLA_FLOAT16] = TABLE_F16, [XLA_FLOAT32] = TABLE_F32, [XLA_FLOAT64] = TABLE_F64,
        [XLA_BFLOAT16] = TABLE_BF16};
    return type >= 0 && type <= XLA_BFLOAT16 ? types[type] : 0;
}

static struct xla_error *error(const struct xla_call *call, int code, const char *message) {
    struct xla_error_create create = {
        .size = XLA_SIZE(struct xla_error_create, code), .message = message, .code = code};
    return call->api->error_create(&create);
}

static struct xla_error *error_of(const struct xla_call *call, table_status status) {
    char message[512];
    snprintf(message, sizeof message, "tuplescan: %s: %s", table_status_text(status), table_error_detail());
    bool memory = status == TABLE_ERROR_HOST_MEMORY || status == TABLE_ERROR_DEVICE_MEMORY;
    return error(call, memory ? XLA_RESOURCE_EXHAUSTED : XLA_INTERNAL, message);
}

/* Answers the question that comes first: for which version this is made. */
static bool is_question(const struct xla_call *call) {
    struct xla_extension *extension = call->extension;
    if (!extension || extension->type != XLA_METADATA)
        return false;
    struct xla_metadata *metadata = ((struct xla_metadata_extension *)extension)->metadata;
    const struct xla_version *theirs = &call->api->version;
    bool older = theirs->major_version == XLA_MAJOR && theirs->minor_version < XLA_MINOR;
    metadata->version.major_version = XLA_MAJOR;
    metadata->version.minor_version = older ? theirs->minor_version : XLA_MINOR;
    metadata->traits = 0;
    return true;
}

/* The value of an attribute of that type; NULL if there is none. */
static const void *attribute(const struct xla_call *call, const char *name, int type) {
    const struct xla_attributes *all = &call->attributes;
    for (int64_t i = 0; i < all->count; i++) {
        const struct xla_scalar *scalar = all->values[i];
        if (all->names[i]->length == strlen(name) && memcmp(all->names[i]->text, name, strlen(name)) == 0)
            return all->kinds[i] == XLA_SCALAR && scalar->type == type ? scalar->value : NULL;
    }
    return NULL;
}

static bool array_of(struct array *array, const struct xla_buffers *buffers, int64_t at, bool on_stream) {
    if (at >= buffers->count || buffers->kinds[at] != XLA_BUFFER)
        return false;
    const struct xla_buffer *buffer = buffers->items[at];
    table_type type = type_of(buffer->type);
    if (!type || buffer->dims > ARRAY_DIMS_MOST)
        return false;
    *array = (struct array){.data = buffer->data,
                            .dims = (int)buffer->dims,
                            .device = on_stream ? 0 : -1, /* which one the stream knows */
                            .type = type,
                            .itemsize = (Py_ssize_t)table_type_size(type)};
    for (int i = 0; i < array->dims; i++)
        array->shape[i] = (Py_ssize_t)buffer->shape[i];
    array_side_by_side(array);
    return true;
}

/* XLA refuses to be asked for more than this, whatever its memory is aligned to. */
enum { XLA_ALIGNMENT_MOST = 16 };

static void *aligned(void *memory) { return (char *)memory + (-(uintptr_t)memory & (TABLE_WORKSPACE_ALIGNMENT - 1)); }

enum kind { SCAN, RECURRENCE, SEGMENTS };

/* The arguments of one call of the library. */
struct work {
    enum kind kind;
    struct tables tables;
    struct tables_run run; /* its options serve segments, too */
    struct recurrence recurrence;
    table_view in, out;
    table_segments segments;
};

static table_scan_options *options_of(struct work *work) {
    return work->kind == RECURRENCE ? &work->recurrence.options : &work->run.options;
}

static bool is_empty(const struct work *work) {
    if (work->kind == SEGMENTS)
        return work->in.rows == 0 || work->in.columns == 0;
    return (work->kind == RECURRENCE ? work->recurrence.options.tables : work->tables.count) == 0;
}

static table_status workspace_of(struct work *work, size_t *bytes) {
    if (work->kind == RECURRENCE)
        return recurrence_workspace(&work->recurrence, bytes);
    if (work->kind == SEGMENTS)
        return table_segmented_prefix_sum_workspace(&work->in, &work->out, &work->segments, &work->run.options, bytes);
    const table_status status = tables_workspace(&work->tables, &work->run);
    *bytes = work->run.workspace_bytes;
    return status;
}

static table_status run(struct work *work, bool on_stream) {
    if (work->kind == RECURRENCE)
        return recurrence_run(&work->recurrence, on_stream);
    if (work->kind == SCAN)
        return tables_scan(&work->tables, &work->run);
    return (on_stream ? table_segmented_prefix_sum_async
                      : table_segmented_prefix_sum)(&work->in, &work->out, &work->segments, &work->run.options);
}

/* XLA's memory is given back before the work that was queued is done: its next user queues after that work. */
static struct xla_error *queue(const struct xla_call *call, struct work *work) {
    table_scan_options *const options = options_of(work);
    struct xla_stream_get get = {.size = XLA_SIZE(struct xla_stream_get, stream), .context = call->context};
    struct xla_error *failed = call->api->stream_get(&get);
    if (failed)
        return failed;
    options->stream = get.stream;
    size_t needed = 0;
    table_status status = workspace_of(work, &needed);
    if (status != TABLE_OK)
        return error_of(call, status);
    size_t bytes = needed ? needed + TABLE_WORKSPACE_ALIGNMENT : 0;
    struct xla_memory_allocate allocate = {.size = XLA_SIZE(struct xla_memory_allocate, data),
                                           .context = call->context,
                                           .bytes = bytes,
                                           .alignment = XLA_ALIGNMENT_MOST};
    if (bytes > 0) {
        if ((failed = call->api->memory_allocate(&allocate)) != NULL)
            return failed;
        options->workspace = aligned(allocate.data);
        options->workspace_bytes = needed;
    }
    status = run(work, true);
    struct xla_error *answer = status == TABLE_OK ? NULL : error_of(call, status);
    if (bytes > 0) {
        struct xla_memory_free give_back = {.size = XLA_SIZE(struct xla_memory_free, data),
                                            .context = call->context,
                                            .bytes = bytes,
                                            .data = allocate.data};
        failed = call->api->memory_free(&give_back);
        answer = answer ? answer : failed;
    }
    return answer;
}

static bool scan_of(struct work *work, const struct xla_call *call, bool on_stream) {
    const int64_t *axis = attribute(call, "axis", XLA_INT64), *operation = attribute(call, "operation", XLA_INT64);
    const uint8_t *exclusive = attribute(call, "exclusive", XLA_BOOL), *reverse = attribute(call, "reverse", XLA_BOOL);
    struct array in, out;
    if (!axis || !exclusive || !reverse || call->arguments.count != 1 || call->results.count != 1 ||
        !array_of(&in, &call->arguments, 0, on_stream) || !array_of(&out, &call->results, 0, on_stream) ||
        !tables_same_shape(&in, &out) || *axis < 0 || *axis >= in.dims)
        return false;
    table_scan_options *options = &work->run.options;
    options->exclusive = *exclusive != 0;
    options->reverse = *reverse != 0;
    options->operation = operation ? (table_operation)*operation : TABLE_SUM;
    work->run.on_stream = on_stream;
    return tables_describe(&work->tables, &in, &out, (int)*axis, options->operation);
}

/* The arguments are `a` and `b` of tables, rows and columns, and a row to start with for each table, if any. */
static bool recurrence_of(struct work *work, const struct xla_call *call, bool on_stream) {
    const uint8_t *shifted = attribute(call, "shifted", XLA_BOOL), *reverse = attribute(call, "reverse", XLA_BOOL);
    struct recurrence *const of = &work->recurrence;
    const struct xla_buffers *const given = &call->arguments;
    struct array a, b, h, start;
    if (!shifted || !reverse || given->count > 3 || call->results.count != 1 || !array_of(&a, given, 0, on_stream) ||
        !array_of(&b, given, 1, on_stream) || !array_of(&h, &call->results, 0, on_stream) ||
        !recurrence_describe(of, &a, &b, &h))
        return false;
    const table_view row = {.columns = of->options.tables * of->b.columns,
                            .type = table_kept_type(TABLE_RECURRENCE, h.type)};
    of->options.reverse = *reverse != 0;
    of->options.shifted_coefficients = *shifted != 0;
    if (given->count < 3)
        return true;
    const bool is_row = array_of(&start, given, 2, on_stream) && start.type == row.type && start.dims == 1 &&
                        (size_t)start.shape[0] == row.columns;
    of->options.carry_in = is_row ? start.data : NULL;
    return is_row;
}

/* The arguments are the offsets of segments, a column, and a table. */
static bool segments_of(struct work *work, const struct xla_call *call, bool on_stream) {
    const uint8_t *exclusive = attribute(call, "exclusive", XLA_BOOL), *reverse = attribute(call, "reverse", XLA_BOOL);
    struct array offsets, in, out;
    if (!exclusive || !reverse || call->arguments.count != 2 || call->results.count != 1 ||
        !array_of(&offsets, &call->arguments, 0, on_stream) || !array_of(&in, &call->arguments, 1, on_stream) ||
        !array_of(&out, &call->results, 0, on_stream) || !tables_same_shape(&in, &out) || in.dims != 2 ||
        offsets.dims != 2 || offsets.shape[0] < 1 || offsets.shape[1] != 1)
        return false;
    work->in = (table_view){in.data, (size_t)in.shape[0], (size_t)in.shape[1], 0, in.type};
    work->out = (table_view){out.data, work->in.rows, work->in.columns, 0, out.type};
    work->segments = (table_segments){.kind = TABLE_SEGMENT_OFFSETS,
                                      .type = offsets.type,
                                      .data = offsets.data,
                                      .count = (size_t)offsets.shape[0] - 1};
    work->run.options.exclusive = *exclusive != 0;
    work->run.options.reverse = *reverse != 0;
    return true;
}

static struct xla_error *work_on(const struct xla_call *call, enum kind kind, bool on_stream) {
    static bool (*const readers[])(struct work *, const struct xla_call *,
                                   bool) = {[SCAN] = scan_of, [RECURRENCE] = recurrence_of, [SEGMENTS] = segments_of};
    struct work work = {.kind = kind};
    if (is_question(call))
        return NULL;
    if (!readers[kind](&work, call, on_stream))
        return error(call, XLA_INVALID_ARGUMENT, "tuplescan: has other arguments than it is made for");
    if (is_empty(&work))
        return NULL;
    if (on_stream)
        return queue(call, &work);
    if (!call_threads(&options_of(&work)->threads))
        return error(call, XLA_INVALID_ARGUMENT, "tuplescan: TUPLESCAN_NUM_THREADS is not a number of threads");
    table_status status = run(&work, false);
    return status == TABLE_OK ? NULL : error_of(call, status);
}

/* XLA's threads take very small numbers for zeros, which would change bits. */
static struct xla_error *work_on_cpu(const struct xla_call *call, enum kind kind) {
    fenv_t environment;
    const bool kept = fegetenv(&environment) == 0 && fesetenv(FE_DFL_ENV) == 0;
    struct xla_error *failed = work_on(call, kind, false);
    if (kept)
        fesetenv(&environment);
    return failed;
}

static struct xla_error *scan_on_cpu(struct xla_call *call) { return work_on_cpu(call, SCAN); }
static struct xla_error *scan_on_stream(struct xla_call *call) { return work_on(call, SCAN, true); }
static struct xla_error *recurrence_on_cpu(struct xla_call *call) { return work_on_cpu(call, RECURRENCE); }
static struct xla_error *recurrence_on_stream(struct xla_call *call) { return work_on(call, RECURRENCE, true); }
static struct xla_error *segments_on_cpu(struct xla_call *call) { return work_on_cpu(call, SEGMENTS); }
static struct xla_error *segments_on_stream(struct xla_call *call) { return work_on(call, SEGMENTS, true); }

/* xla_handlers(): capsules for jax.ffi.register_ffi_target(), of scans on the CPU and on CUDA, of recurrences, and of
 * segments. */
PyObject *core_xla_handlers(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    struct xla_error *(*const handlers[])(struct xla_call *) = {
        scan_on_cpu, scan_on_stream, recurrence_on_cpu, recurrence_on_stream, segments_on_cpu, segments_on_stream};
    enum { HANDLERS = sizeof handlers / sizeof *handlers };
    PyObject *all = PyTuple_New(HANDLERS);
    for (Py_ssize_t i = 0; all && i < HANDLERS; i++) {
        PyObject *capsule = PyCapsule_New((void *)handlers[i], NULL, NULL);
        if (!capsule || PyTuple_SetItem(all, i, capsule) != 0)
            Py_CLEAR(all);
    }
    return all;
}
