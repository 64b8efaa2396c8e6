/* Custom calls of XLA, for tuplescan.jax: sums of one row-major array into another, on the CPU or on a stream. */
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

static bool array_of(struct array *array, const struct xla_buffers *buffers, bool on_stream) {
    if (buffers->count != 1 || buffers->kinds[0] != XLA_BUFFER)
        return false;
    const struct xla_buffer *buffer = buffers->items[0];
    table_type type = type_of(buffer->type);
    if (!type || buffer->dims > ARRAY_DIMS_MOST)
        return false;
    *array = (struct array){.data = buffer->data,
                            .dims = (int)buffer->dims,
                            .device = on_stream ? 0 : -1, /* which one the stream knows */
                            .type = type,
                            .itemsize = (Py_ssize_t)table_type_size(type)};
    Py_ssize_t stride = array->itemsize;
    for (int i = array->dims - 1; i >= 0; i--) {
        array->shape[i] = (Py_ssize_t)buffer->shape[i];
        array->stride[i] = stride;
        stride *= array->shape[i];
    }
    return true;
}

/* XLA refuses to be asked for more than this, whatever its memory is aligned to. */
enum { XLA_ALIGNMENT_MOST = 16 };

static void *aligned(void *memory) { return (char *)memory + (-(uintptr_t)memory & (TABLE_WORKSPACE_ALIGNMENT - 1)); }

/* XLA's memory is given back before the work that was queued is done: who gets it next queues behind that. */
static struct xla_error *queue(const struct xla_call *call, const struct tables *tables, struct tables_run *run) {
    struct xla_stream_get get = {.size = XLA_SIZE(struct xla_stream_get, stream), .context = call->context};
    struct xla_error *failed = call->api->stream_get(&get);
    if (failed)
        return failed;
    run->on_stream = true;
    run->options.stream = get.stream;
    table_status status = tables_workspace(tables, run);
    if (status != TABLE_OK)
        return error_of(call, status);
    size_t bytes = run->workspace_bytes ? run->workspace_bytes + TABLE_WORKSPACE_ALIGNMENT : 0;
    struct xla_memory_allocate allocate = {.size = XLA_SIZE(struct xla_memory_allocate, data),
                                           .context = call->context,
                                           .bytes = bytes,
                                           .alignment = XLA_ALIGNMENT_MOST};
    if (bytes > 0) {
        if ((failed = call->api->memory_allocate(&allocate)) != NULL)
            return failed;
        run->options.workspace = aligned(allocate.data);
        run->options.workspace_bytes = run->workspace_bytes;
    }
    status = tables_scan(tables, run);
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

static struct xla_error *sum(const struct xla_call *call, bool on_stream) {
    if (is_question(call))
        return NULL;
    const int64_t *axis = attribute(call, "axis", XLA_INT64);
    const uint8_t *exclusive = attribute(call, "exclusive", XLA_BOOL), *reverse = attribute(call, "reverse", XLA_BOOL);
    struct array in, out;
    struct tables tables;
    if (!axis || !exclusive || !reverse || !array_of(&in, &call->arguments, on_stream) ||
        !array_of(&out, &call->results, on_stream) || !tables_same_shape(&in, &out) || *axis < 0 || *axis >= in.dims ||
        !tables_describe(&tables, &in, &out, (int)*axis, TABLE_SUM))
        return error(call, XLA_INVALID_ARGUMENT, "tuplescan: has other arguments than it is made for");
    struct tables_run run = {.options = {.exclusive = *exclusive != 0, .reverse = *reverse != 0}};
    if (tables.count == 0)
        return NULL;
    if (on_stream)
        return queue(call, &tables, &run);
    if (!call_threads(&run.options.threads))
        return error(call, XLA_INVALID_ARGUMENT, "tuplescan: TUPLESCAN_NUM_THREADS is not a number of threads");
    table_status status = tables_scan(&tables, &run);
    return status == TABLE_OK ? NULL : error_of(call, status);
}

/* XLA's threads take very small numbers for zeros, which would change bits. */
static struct xla_error *sum_on_cpu(struct xla_call *call) {
    fenv_t environment;
    const bool kept = fegetenv(&environment) == 0 && fesetenv(FE_DFL_ENV) == 0;
    struct xla_error *failed = sum(call, false);
    if (kept)
        fesetenv(&environment);
    return failed;
}

static struct xla_error *sum_on_stream(struct xla_call *call) { return sum(call, true); }

/* xla_handlers(): (on the CPU, on CUDA), capsules for jax.ffi.register_ffi_target(). */
PyObject *core_xla_handlers(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    PyObject *cpu = PyCapsule_New((void *)sum_on_cpu, NULL, NULL);
    PyObject *cuda = PyCapsule_New((void *)sum_on_stream, NULL, NULL);
    PyObject *both = cpu && cuda ? PyTuple_Pack(2, cpu, cuda) : NULL;
    Py_XDECREF(cpu);
    Py_XDECREF(cuda);
    return both;
}
