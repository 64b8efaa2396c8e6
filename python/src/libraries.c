/* Libraries whose plain calls are made at once, a row for each: numpy; any with DLPack's exchange table, such as torch;
 * and CuPy, which has none, by the attributes that every version of it has. */
#include "dlpack.h"
#include "module.h"

#include <string.h>

/* numpy_is_here(ndarray, empty, {table_type: dtype}). */
PyObject *core_numpy_is_here(PyObject *module, PyObject *tuple) {
    struct module_state *state = PyModule_GetState(module);
    PyObject *ndarray, *empty, *types;
    if (!PyArg_ParseTuple(tuple, "OOO!", &ndarray, &empty, &PyDict_Type, &types))
        return NULL;
    for (int type = TABLE_U8; type <= TABLE_BF16; type++) {
        PyObject *number = PyLong_FromLong(type);
        PyObject *found = number ? PyDict_GetItemWithError(types, number) : NULL;
        Py_XDECREF(number);
        if (!found && PyErr_Occurred())
            return NULL;
        keep(state, TYPES + type, Py_XNewRef(found));
    }
    keep(state, NUMPY_EMPTY, Py_NewRef(empty));
    keep(state, NUMPY_NDARRAY, Py_NewRef(ndarray)); /* last: with it all is there */
    Py_RETURN_NONE;
}

/* Keeps the names of attributes from `which` on, as strings that are looked up fast. */
static int keep_names(struct module_state *state, int which, const char *const *names, int count) {
    for (int i = 0; i < count; i++) {
        PyObject *name = PyUnicode_InternFromString(names[i]);
        if (!name)
            return -1;
        keep(state, which + i, name);
    }
    return 0;
}

/* tensors_are_here(type, current_device): sums tensors of exactly that type from now on, if it has an exchange table.
 * Whether that was not so before. current_device() is the number of the library's current CUDA device. */
PyObject *core_tensors_are_here(PyObject *module, PyObject *tuple) {
    struct module_state *state = PyModule_GetState(module);
    PyObject *type, *current_device;
    if (!PyArg_ParseTuple(tuple, "O!O", &PyType_Type, &type, &current_device))
        return NULL;
    const struct dlpack_exchange *exchange = NULL, *none = NULL;
    const int there = dlpack_exchange_of(type, &exchange);
    if (there < 0)
        return NULL;
    static const char *const names[] = {"requires_grad", "is_neg"};
    const bool news = there && exchange->view_object && !kept(state, TENSOR);
    if (news && keep_names(state, TENSOR_REQUIRES_GRAD, names, 2) != 0)
        return NULL;
    if (news) {
        __atomic_compare_exchange_n(&state->exchange, &none, exchange, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        keep(state, TENSOR_DEVICE, Py_NewRef(current_device));
        keep(state, TENSOR, Py_NewRef(type));
    }
    return PyBool_FromLong(news);
}

/* cupy_is_here(ndarray, empty, alloc, getDevice, get_current_stream). */
PyObject *core_cupy_is_here(PyObject *module, PyObject *tuple) {
    struct module_state *state = PyModule_GetState(module);
    static const char *const names[] = {"data", "ptr", "device_id", "shape", "strides", "dtype"};
    PyObject *objects[CUPY_DATA - CUPY_NDARRAY];
    if (!PyArg_ParseTuple(tuple, "O!OOOO", &PyType_Type, &objects[0], &objects[1], &objects[2], &objects[3],
                          &objects[4]))
        return NULL;
    if (keep_names(state, CUPY_DATA, names, CUPY_DTYPE + 1 - CUPY_DATA) != 0)
        return NULL;
    for (int i = CUPY_DATA - 1; i >= CUPY_NDARRAY; i--) /* the type last */
        keep(state, i, Py_NewRef(objects[i - CUPY_NDARRAY]));
    Py_RETURN_NONE;
}

/* The type of results by default: extremes have that of the values. */
static table_type promoted(table_operation operation, table_type type) {
    if (operation != TABLE_SUM && operation != TABLE_PRODUCT)
        return type;
    switch (type) {
    case TABLE_U8:
    case TABLE_U16:
    case TABLE_U32:
        return TABLE_U64;
    case TABLE_BOOL:
    case TABLE_I8:
    case TABLE_I16:
    case TABLE_I32:
        return TABLE_I64;
    default:
        return type;
    }
}

/* What numpy and CuPy have alike: empty(shape, dtype). NULL without an exception where numpy has not the type. */
static PyObject *empty_by(const struct module_state *state, int empty, const struct array *like, table_type type) {
    PyObject *shape = state->kept[TYPES + type] ? PyTuple_New(like->dims) : NULL, *result = NULL;
    for (int i = 0; shape && i < like->dims; i++) {
        PyObject *extent = PyLong_FromSsize_t(like->shape[i]);
        if (!extent)
            Py_CLEAR(shape);
        else
            PyTuple_SetItem(shape, i, extent);
    }
    if (shape)
        result = PyObject_CallFunctionObjArgs(state->kept[empty], shape, state->kept[TYPES + type], NULL);
    Py_XDECREF(shape);
    return result;
}

/* What an array is opened for; that it is new is known of it, and not asked. */
enum use { TO_READ, TO_WRITE, TO_WRITE_NEW };

static int open_numpy(const struct module_state *state, struct array *array, PyObject *object, enum use use) {
    (void)state;
    return array_open(array, object, use != TO_READ, use == TO_READ ? "x" : "out");
}

/* Whether what an attribute or method says of the tensor is false; not if it fails. */
static bool is_false(PyObject *tensor, PyObject *name, bool method) {
    PyObject *answer = method ? PyObject_CallMethodObjArgs(tensor, name, NULL) : PyObject_GetAttr(tensor, name);
    const bool is = answer == Py_False;
    Py_XDECREF(answer);
    return is;
}

static int open_tensor(const struct module_state *state, struct array *array, PyObject *tensor, enum use use) {
    struct dlpack_tensor view = {0};
    array->buffer.obj = NULL;
    array->capsule = NULL;
    if (use != TO_WRITE_NEW && (!is_false(tensor, state->kept[TENSOR_REQUIRES_GRAD], false) ||
                                !is_false(tensor, state->kept[TENSOR_IS_NEG], true)))
        return -1;
    return state->exchange->view_object(tensor, &view) == 0 && dlpack_take_over(array, &view, "x") == 0 ? 0 : -1;
}

static void set_error(void *context, const char *kind, const char *message) {
    (void)context, (void)kind;
    PyErr_SetString(PyExc_MemoryError, message);
}

static struct dlpack_versioned *allocate(const struct module_state *state, const struct array *like, table_type type,
                                         int dims, int64_t *shape) {
    struct dlpack_tensor wanted = {.device_type = like->device >= 0 ? DLPACK_CUDA : DLPACK_CPU,
                                   .device_id = like->device >= 0 ? like->device : 0,
                                   .dims = dims,
                                   .type_code = dlpack_code_of(type),
                                   .type_bits = (uint8_t)(8 * table_type_size(type)),
                                   .type_lanes = 1,
                                   .shape = shape};
    struct dlpack_versioned *made = NULL;
    return state->exchange->allocate(&wanted, &made, NULL, set_error) == 0 ? made : NULL;
}

static PyObject *empty_tensor(const struct module_state *state, const struct array *like, table_type type) {
    int64_t shape[ARRAY_DIMS_MOST];
    for (int i = 0; i < like->dims; i++)
        shape[i] = like->shape[i];
    struct dlpack_versioned *made = allocate(state, like, type, like->dims, shape);
    void *tensor = NULL;
    return made && state->exchange->to_object(made, &tensor) == 0 ? tensor : NULL;
}

static int stream_of_tensor(const struct module_state *state, const struct array *array, void **stream) {
    return state->exchange->current_stream(DLPACK_CUDA, array->device, stream);
}

/* What a library's workspace is taken for. */
struct place {
    const struct module_state *state;
    const struct array *like;
};

static void *take_tensor(const void *context, size_t size, void **address) {
    const struct place *place = context;
    int64_t bytes = (int64_t)size;
    struct dlpack_versioned *taken = allocate(place->state, place->like, TABLE_U8, 1, &bytes);
    if (taken)
        *address = (char *)taken->tensor.data + taken->tensor.byte_offset;
    return taken;
}

static void release_tensor(void *taken) {
    struct dlpack_versioned *workspace = taken;
    workspace->deleter(workspace);
}

/* What an attribute is as a number; -1 and an exception if it is none. */
static Py_ssize_t number_of(PyObject *object, PyObject *name) {
    PyObject *attribute = PyObject_GetAttr(object, name);
    const Py_ssize_t number = attribute ? PyLong_AsSsize_t(attribute) : -1;
    Py_XDECREF(attribute);
    return number;
}

/* A tuple of numbers, one for each dimension. */
static int extents_of(PyObject *object, PyObject *name, int *dims, Py_ssize_t *extents) {
    PyObject *tuple = PyObject_GetAttr(object, name);
    const Py_ssize_t count = tuple ? PyTuple_Size(tuple) : -1;
    *dims = count >= 0 && count <= ARRAY_DIMS_MOST ? (int)count : -1;
    for (int i = 0; i < *dims; i++) {
        extents[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
        if (extents[i] == -1 && PyErr_Occurred())
            *dims = -1;
    }
    Py_XDECREF(tuple);
    return *dims < 0 ? -1 : 0;
}

static table_type type_of_cupy(const struct module_state *state, PyObject *array) {
    PyObject *dtype = PyObject_GetAttr(array, state->kept[CUPY_DTYPE]);
    table_type found = 0;
    for (int type = TABLE_U8; dtype && !found && type <= TABLE_BF16; type++)
        if (dtype == state->kept[TYPES + type])
            found = (table_type)type;
    Py_XDECREF(dtype);
    return found;
}

static int open_cupy(const struct module_state *state, struct array *array, PyObject *object, enum use use) {
    (void)use;
    PyObject *const *kept = state->kept;
    int strides;
    *array = (struct array){.type = type_of_cupy(state, object)};
    PyObject *data = array->type ? PyObject_GetAttr(object, kept[CUPY_DATA]) : NULL;
    if (!data)
        return -1;
    PyObject *address = PyObject_GetAttr(data, kept[CUPY_PTR]);
    array->data = address ? PyLong_AsVoidPtr(address) : NULL;
    Py_XDECREF(address);
    array->device = (int)number_of(data, kept[CUPY_DEVICE_ID]);
    Py_DECREF(data);
    array->itemsize = (Py_ssize_t)table_type_size(array->type);
    if (PyErr_Occurred() || array->device < 0)
        return -1;
    return extents_of(object, kept[CUPY_SHAPE], &array->dims, array->shape) == 0 &&
                   extents_of(object, kept[CUPY_STRIDES], &strides, array->stride) == 0 && strides == array->dims
               ? 0
               : -1;
}

static int stream_of_cupy(const struct module_state *state, const struct array *array, void **stream) {
    (void)array;
    PyObject *current = PyObject_CallNoArgs(state->kept[CUPY_STREAM]);
    *stream = current ? (void *)number_of(current, state->kept[CUPY_PTR]) : NULL;
    Py_XDECREF(current);
    return PyErr_Occurred() ? -1 : 0;
}

static void *take_cupy(const void *context, size_t size, void **address) {
    const struct place *place = context;
    PyObject *bytes = PyLong_FromSize_t(size);
    PyObject *taken = bytes ? PyObject_CallFunctionObjArgs(place->state->kept[CUPY_ALLOC], bytes, NULL) : NULL;
    Py_XDECREF(bytes);
    const Py_ssize_t number = taken ? number_of(taken, place->state->kept[CUPY_PTR]) : -1;
    *address = (void *)number;
    if (number == -1)
        Py_CLEAR(taken);
    return taken;
}

static void release_cupy(void *taken) { Py_DECREF((PyObject *)taken); }

static const struct library {
    int type, current_device, empty; /* places in module_state.kept; empty 0: by DLPack */
    int (*open)(const struct module_state *state, struct array *array, PyObject *object, enum use use);

    /* For arrays on CUDA. */
    int (*current_stream)(const struct module_state *state, const struct array *array, void **stream);
    void *(*take)(const void *place, size_t bytes, void **address);
    void (*release)(void *taken);
} libraries[] = {
    {NUMPY_NDARRAY, 0, NUMPY_EMPTY, open_numpy, NULL, NULL, NULL},
    {TENSOR, TENSOR_DEVICE, 0, open_tensor, stream_of_tensor, take_tensor, release_tensor},
    {CUPY_NDARRAY, CUPY_DEVICE, CUPY_EMPTY, open_cupy, stream_of_cupy, take_cupy, release_cupy},
};

const struct library *library_of(const struct module_state *state, PyObject *x) {
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if ((PyObject *)Py_TYPE(x) == kept(state, libraries[i].type))
            return &libraries[i];
    return NULL;
}

/* Whether the device is the current one of the library, on which its calls on a stream work. It is asked anew for each
 * call, unless there is one GPU alone beside the host. */
static bool is_current(PyObject *current_device, int device) {
    if (table_devices(NULL, 0) <= 2)
        return true;
    PyObject *number = PyObject_CallNoArgs(current_device);
    const long current = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    return current == device;
}

/* Has the options name the library's stream, if a call on CUDA can be queued there. */
static bool has_stream(const struct module_state *state, const struct library *library, const struct array *array,
                       table_scan_options *options) {
    return library->take && is_current(state->kept[library->current_device], array->device) &&
           library->current_stream(state, array, &options->stream) == 0;
}

/* Whether the results are in `out`. */
static bool scan_opened(const struct module_state *state, const struct library *library, const struct array *in,
                        const struct array *out, int axis, const table_scan_options *options) {
    const struct place place = {state, in};
    const struct tables_memory memory = {library->take, library->release, &place};
    struct tables tables;
    struct tables_run run = {.options = *options};
    table_status status;
    if (!tables_same_shape(in, out) || tables_make(&tables, in, out, axis, options->operation, false) != 1)
        return false;
    if (tables.count == 0)
        return true;
    if (in->device >= 0)
        return tables_calls(&tables) <= LAUNCHES_MOST && has_stream(state, library, in, &run.options) &&
               tables_queue(&tables, &run, &memory) == TABLE_OK;
    status = tables_scan_without_gil(&tables, &run);
    if (status == TABLE_ERROR_HOST_MEMORY)
        raise_status(status);
    return status == TABLE_OK;
}

/* Has the options begin with `start`, if that is a row for each table, side by side. */
static bool take_start(table_scan_options *options, const struct array *start, const struct array *x, int axis) {
    Py_ssize_t below = start->itemsize;
    if (start->type != table_kept_type(TABLE_RECURRENCE, x->type) || start->dims != x->dims - 1 ||
        start->device != x->device)
        return false;
    for (int i = start->dims - 1; i >= 0; i--) {
        const Py_ssize_t extent = x->shape[i < axis ? i : i + 1];
        if (start->shape[i] != extent || (extent != 1 && start->stride[i] != below))
            return false;
        below *= extent;
    }
    options->carry_in = start->data;
    return true;
}

/* Whether the results are in `out`, of a table in host memory alone: of several the general way knows which is faster.
 */
static bool recur_opened(const struct module_state *state, const struct library *library, struct array *arrays,
                         bool has_start, int axis, const table_scan_options *options) {
    struct array *const a = &arrays[OF_A], *const b = &arrays[OF_X], *const out = &arrays[OF_OUT];
    const struct place place = {state, b};
    const struct tables_memory memory = {library->take, library->release, &place};
    struct recurrence of = {.options = *options};
    const bool is_factor = a->type == b->type || (!a->dims && a->type == table_kept_type(TABLE_RECURRENCE, b->type));
    if (!is_factor || out->type != b->type || a->device != b->device || out->device != b->device ||
        (has_start && !take_start(&of.options, &arrays[OF_START], b, axis)) ||
        !recurrence_of_axes(&of, a, b, out, axis) || of.options.tables * of.b.rows * of.b.columns == 0)
        return false;
    if (b->device >= 0)
        return has_stream(state, library, b, &of.options) && recurrence_queue(&of, &memory) == TABLE_OK;
    return of.options.tables == 1 && recurrence_run_here(&of) == TABLE_OK;
}

/* `out`, or a new array of the type of results by default. NULL, perhaps with an exception: there is no such axis or
 * type. */
static PyObject *results_for(const struct module_state *state, const struct library *library, const struct array *x,
                             PyObject *const *objects, long axis, table_operation operation) {
    const table_type type = objects[OF_A] ? x->type : promoted(operation, x->type);
    if (axis < 0 || axis >= x->dims || !type)
        return NULL;
    if (objects[OF_OUT])
        return Py_NewRef(objects[OF_OUT]);
    return library->empty ? empty_by(state, library->empty, x, type) : empty_tensor(state, x, type);
}

PyObject *library_run(const struct module_state *state, const struct library *library, PyObject *const *objects,
                      long axis, const table_scan_options *options) {
    struct array arrays[OBJECTS], *const x = &arrays[OF_X];
    const enum use out_use = objects[OF_OUT] ? TO_WRITE : TO_WRITE_NEW;
    PyObject *all[OBJECTS];
    int opened = OF_X + 1;
    bool done = false;
    if (library->open(state, x, objects[OF_X], TO_READ) != 0)
        return NULL;
    axis += axis < 0 ? x->dims : 0;
    memcpy(all, objects, sizeof all);
    all[OF_OUT] = results_for(state, library, x, objects, axis, options->operation);
    for (bool is_open = all[OF_OUT] != NULL; is_open && opened < OBJECTS; opened += is_open)
        is_open = !all[opened] ||
                  library->open(state, &arrays[opened], all[opened], opened == OF_OUT ? out_use : TO_READ) == 0;
    if (opened == OBJECTS && all[OF_A])
        done = recur_opened(state, library, arrays, all[OF_START], (int)axis, options);
    else if (opened == OBJECTS)
        done = scan_opened(state, library, x, &arrays[OF_OUT], (int)axis, options);
    while (opened-- > 0)
        if (all[opened])
            array_close(&arrays[opened]);
    if (!done)
        Py_CLEAR(all[OF_OUT]);
    return all[OF_OUT];
}
