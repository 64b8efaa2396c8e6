/* The fast way of cumsum() for CuPy's arrays, which have no exchange table of DLPack's: by the attributes that every
 * version of CuPy has. All that is not plain, and all errors, are for the general way. */
#include "module.h"

/* cupy_is_here(ndarray, empty, alloc, getDevice, get_current_stream). */
PyObject *core_cupy_is_here(PyObject *module, PyObject *tuple) {
    struct module_state *state = PyModule_GetState(module);
    static const char *const names[] = {"data", "ptr", "device_id", "shape", "strides", "dtype"};
    PyObject *objects[CUPY_DATA];
    if (!PyArg_ParseTuple(tuple, "O!OOOO", &PyType_Type, &objects[CUPY_NDARRAY], &objects[CUPY_EMPTY],
                          &objects[CUPY_ALLOC], &objects[CUPY_DEVICE], &objects[CUPY_STREAM]))
        return NULL;
    for (int i = CUPY_KEPT - 1; i >= 0; i--) { /* the type last: with it all is there */
        PyObject *old = state->cupy[i];
        PyObject *kept = i >= CUPY_DATA ? PyUnicode_InternFromString(names[i - CUPY_DATA]) : Py_NewRef(objects[i]);
        if (!kept)
            return NULL;
        state->cupy[i] = kept;
        Py_XDECREF(old);
    }
    Py_RETURN_NONE;
}

/* What an attribute is as a number; -1 and an exception if it is none. */
static Py_ssize_t number_of(PyObject *object, PyObject *name) {
    PyObject *attribute = PyObject_GetAttr(object, name);
    Py_ssize_t number = attribute ? PyLong_AsSsize_t(attribute) : -1;
    Py_XDECREF(attribute);
    return number;
}

/* A tuple of numbers, one for each dimension. */
static int extents_of(PyObject *object, PyObject *name, int *dims, Py_ssize_t *extents) {
    PyObject *tuple = PyObject_GetAttr(object, name);
    Py_ssize_t count = tuple ? PyTuple_Size(tuple) : -1;
    *dims = count >= 0 && count <= ARRAY_DIMS_MOST ? (int)count : -1;
    for (int i = 0; i < *dims; i++) {
        extents[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
        if (extents[i] == -1 && PyErr_Occurred())
            *dims = -1;
    }
    Py_XDECREF(tuple);
    return *dims < 0 ? -1 : 0;
}

static table_type type_of(const struct module_state *state, PyObject *array) {
    PyObject *dtype = PyObject_GetAttr(array, state->cupy[CUPY_DTYPE]);
    table_type found = 0;
    for (int type = TABLE_U8; dtype && !found && type <= TABLE_BF16; type++)
        if (dtype == state->types[type])
            found = (table_type)type;
    Py_XDECREF(dtype);
    return found;
}

/* Not to be closed. -1 if this is no array for here; perhaps with an exception. */
static int open_cupy(const struct module_state *state, struct array *array, PyObject *object) {
    int strides;
    *array = (struct array){.type = type_of(state, object)};
    PyObject *data = array->type ? PyObject_GetAttr(object, state->cupy[CUPY_DATA]) : NULL;
    if (!data)
        return -1;
    PyObject *address = PyObject_GetAttr(data, state->cupy[CUPY_PTR]);
    array->data = address ? PyLong_AsVoidPtr(address) : NULL;
    Py_XDECREF(address);
    array->device = (int)number_of(data, state->cupy[CUPY_DEVICE_ID]);
    Py_DECREF(data);
    array->itemsize = (Py_ssize_t)table_type_size(array->type);
    if (PyErr_Occurred() || array->device < 0)
        return -1;
    return extents_of(object, state->cupy[CUPY_SHAPE], &array->dims, array->shape) == 0 &&
                   extents_of(object, state->cupy[CUPY_STRIDES], &strides, array->stride) == 0 && strides == array->dims
               ? 0
               : -1;
}

static void *take(const void *context, size_t size, void **address) {
    const struct module_state *state = context;
    PyObject *bytes = PyLong_FromSize_t(size);
    PyObject *taken = bytes ? PyObject_CallFunctionObjArgs(state->cupy[CUPY_ALLOC], bytes, NULL) : NULL;
    Py_XDECREF(bytes);
    const Py_ssize_t number = taken ? number_of(taken, state->cupy[CUPY_PTR]) : -1;
    *address = (void *)number;
    if (number == -1)
        Py_CLEAR(taken);
    return taken;
}

static void release(void *taken) { Py_DECREF((PyObject *)taken); }

/* On CuPy's current stream. */
static table_status queue(struct module_state *state, const struct tables *tables, struct tables_run *run) {
    PyObject *stream = PyObject_CallNoArgs(state->cupy[CUPY_STREAM]);
    const Py_ssize_t number = stream ? number_of(stream, state->cupy[CUPY_PTR]) : -1;
    Py_XDECREF(stream);
    if (number == -1)
        return TABLE_ERROR_BACKEND;
    run->options.stream = (void *)number;
    const struct tables_memory memory = {take, release, state};
    return tables_queue(tables, run, &state->memo, &memory);
}

PyObject *cupy_sum(struct module_state *state, PyObject *x, PyObject *out, long axis,
                   const table_scan_options *options) {
    struct array in, out_array;
    struct tables tables;
    struct tables_run run = {.options = *options};
    if (open_cupy(state, &in, x) != 0)
        return NULL;
    axis += axis < 0 ? in.dims : 0;
    if (axis < 0 || axis >= in.dims || !device_is_current(state->cupy[CUPY_DEVICE], in.device))
        return Py_NewRef(Py_None);
    PyObject *sums = out ? Py_NewRef(out) : empty_for_sums(state, state->cupy[CUPY_EMPTY], &in);
    if (!sums || sums == Py_None)
        return sums;
    bool done = false;
    if (open_cupy(state, &out_array, sums) == 0 && tables_same_shape(&in, &out_array) &&
        tables_make(&tables, &in, &out_array, (int)axis, false) == 1 && tables_calls(&tables) <= LAUNCHES_MOST)
        done = tables.count == 0 || queue(state, &tables, &run) == TABLE_OK;
    if (done)
        return sums;
    Py_DECREF(sums);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}
