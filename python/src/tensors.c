/* The fast way of cumsum() for tensors of a library that has DLPack's exchange table, in host memory and on CUDA: no
 * call of Python's but what the table does not tell. All that is not plain, and all errors, are for the general way. */
#include "dlpack.h"
#include "module.h"

/* tensors_are_here(type, current_device): sums tensors of exactly that type from now on, if it has an exchange table.
 * Whether that was not so before. current_device() is the number of the library's current CUDA device. */
PyObject *core_tensors_are_here(PyObject *module, PyObject *tuple) {
    struct module_state *state = PyModule_GetState(module);
    PyObject *type, *current_device;
    if (!PyArg_ParseTuple(tuple, "O!O", &PyType_Type, &type, &current_device))
        return NULL;
    int there = dlpack_exchange_of(type, &state->exchange);
    if (there < 0)
        return NULL;
    const bool news = there && state->exchange->view_object && !state->tensor;
    if (news) {
        state->current_device = Py_NewRef(current_device);
        state->tensor = Py_NewRef(type);
    }
    return PyBool_FromLong(news);
}

/* Whether what an attribute or method says of the tensor is false; not if it fails. */
static bool is_false(PyObject *tensor, const char *name, bool method) {
    PyObject *answer = method ? PyObject_CallMethod(tensor, name, NULL) : PyObject_GetAttrString(tensor, name);
    bool is = answer == Py_False;
    Py_XDECREF(answer);
    return is;
}

static int open_tensor(const struct module_state *state, struct array *array, struct dlpack_tensor *view,
                       PyObject *tensor) {
    *view = (struct dlpack_tensor){0};
    array->buffer.obj = NULL;
    array->capsule = NULL;
    if (!is_false(tensor, "requires_grad", false) || !is_false(tensor, "is_neg", true))
        return -1;
    return state->exchange->view_object(tensor, view) == 0 && dlpack_take_over(array, view, "x") == 0 ? 0 : -1;
}

bool device_is_current(PyObject *current_device, int device) {
    PyObject *number = PyObject_CallNoArgs(current_device);
    long current = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    return current == device;
}

static void set_error(void *context, const char *kind, const char *message) {
    (void)context, (void)kind;
    PyErr_SetString(PyExc_MemoryError, message);
}

static struct dlpack_versioned *allocate(const struct module_state *state, const struct dlpack_tensor *like,
                                         table_type type, int dims, int64_t *shape) {
    struct dlpack_tensor wanted = {.device_type = like->device_type,
                                   .device_id = like->device_id,
                                   .dims = dims,
                                   .type_code = dlpack_code_of(type),
                                   .type_bits = (uint8_t)(8 * table_type_size(type)),
                                   .type_lanes = 1,
                                   .shape = shape};
    struct dlpack_versioned *made = NULL;
    return state->exchange->allocate(&wanted, &made, NULL, set_error) == 0 ? made : NULL;
}

/* A new tensor for the sums. */
static PyObject *empty_like(const struct module_state *state, const struct dlpack_tensor *like, table_type type) {
    struct dlpack_versioned *made = allocate(state, like, type, like->dims, like->shape);
    void *tensor = NULL;
    return made && state->exchange->to_object(made, &tensor) == 0 ? tensor : NULL;
}

struct place {
    const struct module_state *state;
    const struct dlpack_tensor *like;
};

static void *take(const void *context, size_t size, void **address) {
    const struct place *place = context;
    int64_t bytes = (int64_t)size;
    struct dlpack_versioned *taken = allocate(place->state, place->like, TABLE_U8, 1, &bytes);
    if (taken)
        *address = (char *)taken->tensor.data + taken->tensor.byte_offset;
    return taken;
}

static void release(void *taken) {
    struct dlpack_versioned *workspace = taken;
    workspace->deleter(workspace);
}

/* On the library's current stream. */
static table_status queue(struct module_state *state, const struct dlpack_tensor *like, const struct tables *tables,
                          struct tables_run *run) {
    if (state->exchange->current_stream(like->device_type, like->device_id, &run->options.stream) != 0)
        return TABLE_ERROR_BACKEND;
    const struct place place = {state, like};
    const struct tables_memory memory = {take, release, &place};
    return tables_queue(tables, run, &state->memo, &memory);
}

/* None for the general way. */
static PyObject *sum(struct module_state *state, const struct array *in, const struct dlpack_tensor *like,
                     PyObject *out_tensor, int axis, const table_scan_options *options) {
    struct array out;
    struct dlpack_tensor out_view;
    struct tables tables;
    struct tables_run run = {.options = *options};
    if (open_tensor(state, &out, &out_view, out_tensor) != 0)
        return NULL;
    if ((!tables_same_shape(in, &out) || tables_make(&tables, in, &out, axis, false) != 1) ||
        (in->device >= 0 &&
         (tables_calls(&tables) > LAUNCHES_MOST || !device_is_current(state->current_device, in->device))))
        return Py_NewRef(Py_None);
    const table_status status =
        in->device >= 0 ? queue(state, like, &tables, &run) : tables_scan_without_gil(&tables, &run);
    return PyErr_Occurred() ? NULL : Py_NewRef(status == TABLE_OK ? out_tensor : Py_None);
}

PyObject *tensors_sum(struct module_state *state, PyObject *x, PyObject *out, long axis,
                      const table_scan_options *options) {
    struct array in;
    struct dlpack_tensor like;
    PyObject *result = NULL;
    if (open_tensor(state, &in, &like, x) != 0)
        return NULL;
    axis += axis < 0 ? in.dims : 0;
    table_type type = table_type_promoted(in.type);
    if (axis < 0 || axis >= in.dims || !type)
        return Py_NewRef(Py_None);
    PyObject *sums = out ? Py_NewRef(out) : empty_like(state, &like, type);
    if (sums)
        result = sum(state, &in, &like, sums, (int)axis, options);
    Py_XDECREF(sums);
    return result;
}
