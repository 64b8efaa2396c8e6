#include "dlpack.h"

static const uint8_t codes[TABLE_BF16 + 1] = {
    [TABLE_U8] = DLPACK_UINT,   [TABLE_U16] = DLPACK_UINT,  [TABLE_U32] = DLPACK_UINT,  [TABLE_U64] = DLPACK_UINT,
    [TABLE_I8] = DLPACK_INT,    [TABLE_I16] = DLPACK_INT,   [TABLE_I32] = DLPACK_INT,   [TABLE_I64] = DLPACK_INT,
    [TABLE_F16] = DLPACK_FLOAT, [TABLE_F32] = DLPACK_FLOAT, [TABLE_F64] = DLPACK_FLOAT, [TABLE_BF16] = DLPACK_BFLOAT,
    [TABLE_BOOL] = DLPACK_BOOL};

static table_type type_of(const struct dlpack_tensor *tensor) {
    if (tensor->type_lanes != 1)
        return 0;
    for (int type = TABLE_U8; type <= TABLE_BF16; type++)
        if (codes[type] == tensor->type_code && 8 * table_type_size((table_type)type) == tensor->type_bits)
            return (table_type)type;
    return 0;
}

uint8_t dlpack_code_of(table_type type) { return codes[type]; }

int dlpack_take_over(struct array *array, const struct dlpack_tensor *tensor, const char *name) {
    bool cuda = tensor->device_type == DLPACK_CUDA || tensor->device_type == DLPACK_CUDA_MANAGED;
    if (!cuda && tensor->device_type != DLPACK_CPU && tensor->device_type != DLPACK_CUDA_HOST) {
        PyErr_Format(PyExc_BufferError, "%s: is on a device of DLPack's type %d; host memory and CUDA are taken", name,
                     (int)tensor->device_type);
        return -1;
    }
    if (tensor->dims > ARRAY_DIMS_MOST) {
        PyErr_Format(PyExc_ValueError, "%s: %d dimensions are too many", name, (int)tensor->dims);
        return -1;
    }
    array->data = (char *)tensor->data + tensor->byte_offset;
    array->dims = tensor->dims;
    array->device = cuda ? tensor->device_id : -1;
    array->type = type_of(tensor);
    array->itemsize = tensor->type_bits / 8 * tensor->type_lanes;
    for (int i = 0; i < tensor->dims; i++) {
        array->shape[i] = tensor->shape[i];
        array->stride[i] = tensor->stride ? tensor->stride[i] * array->itemsize : 0;
    }
    if (!tensor->stride)
        array_side_by_side(array);
    return 0;
}

int dlpack_exchange_of(PyObject *type, const struct dlpack_exchange **exchange) {
    PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    if (!capsule) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    /* The table outlives the capsule: it lives as long as the process does. */
    *exchange = PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_DECREF(capsule);
    if (!*exchange) {
        PyErr_Clear();
        return 0;
    }
    return (*exchange)->version.major == DLPACK_MAJOR;
}

/* Whether the object is a pair of integers, but no bool, that can be a device: DLPack counts types from 1 on. */
static bool is_device(PyObject *device, int *kind, int *number) {
    return PyTuple_Check(device) && PyArg_ParseTuple(device, "ii", kind, number) && *kind > 0 && *number >= 0 &&
           !PyBool_Check(PyTuple_GetItem(device, 0)) && !PyBool_Check(PyTuple_GetItem(device, 1));
}

/* object.__dlpack__(max_version=(1, 3)), or without it for libraries from before DLPack 1.0; stream=-1 where the memory
 * is a GPU's: the call to come is queued on the library's own stream, so that nothing has to wait. */
static PyObject *capsule_of(PyObject *object, PyObject *method) {
    PyObject *arguments = PyTuple_New(0), *options = NULL, *capsule = NULL;
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    int kind = DLPACK_CPU, number = 0;
    if (!arguments || !device)
        goto end;
    if (!is_device(device, &kind, &number)) {
        PyErr_Clear(); /* or the representation of what it is would be asked for with an exception set */
        PyErr_Format(PyExc_TypeError, "%R: its __dlpack_device__() is %R, no pair of integers that stands for a device",
                     Py_TYPE(object), device);
        goto end;
    }
    options = Py_BuildValue("{s:(ii)}", "max_version", DLPACK_MAJOR, DLPACK_MINOR);
    PyObject *no_wait = PyLong_FromLong(-1);
    if (!options || !no_wait ||
        (kind != DLPACK_CPU && kind != DLPACK_CUDA_HOST && PyDict_SetItemString(options, "stream", no_wait) != 0)) {
        Py_XDECREF(no_wait);
        goto end;
    }
    Py_DECREF(no_wait);
    capsule = PyObject_Call(method, arguments, options);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        if (PyDict_DelItemString(options, "max_version") == 0)
            capsule = PyObject_Call(method, arguments, options);
    }
end:
    Py_XDECREF(arguments);
    Py_XDECREF(options);
    Py_XDECREF(device);
    return capsule;
}

/* The capsule keeps its name, so that its own destructor gives the memory back when array_close() drops it. */
static int open_capsule(struct array *array, PyObject *capsule, bool writable, const char *name) {
    array->capsule = capsule;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const struct dlpack_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (managed->version.major != DLPACK_MAJOR) {
            PyErr_Format(PyExc_BufferError, "%s: DLPack %u is not known here", name, (unsigned)managed->version.major);
            return -1;
        }
        if (writable && managed->flags & DLPACK_READ_ONLY) {
            PyErr_Format(PyExc_ValueError, "%s: is read-only", name);
            return -1;
        }
        return dlpack_take_over(array, &managed->tensor, name);
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        const struct dlpack_unversioned *managed = PyCapsule_GetPointer(capsule, "dltensor");
        return dlpack_take_over(array, &managed->tensor, name);
    }
    PyErr_Format(PyExc_TypeError, "%s: __dlpack__ did not return a tensor", name);
    return -1;
}

int array_open_dlpack(struct array *array, PyObject *object, bool writable, const char *name) {
    const struct dlpack_exchange *exchange = NULL;
    int there = dlpack_exchange_of((PyObject *)Py_TYPE(object), &exchange);
    if (there < 0)
        return -1;
    if (there && exchange->view_object) {
        struct dlpack_tensor tensor = {0};
        return exchange->view_object(object, &tensor) == 0 && dlpack_take_over(array, &tensor, name) == 0 ? 1 : -1;
    }
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError))
            return -1;
        PyErr_Clear();
        return 0;
    }
    PyObject *capsule = capsule_of(object, method);
    Py_DECREF(method);
    if (!capsule)
        return -1;
    if (open_capsule(array, capsule, writable, name) != 0) {
        array_close(array);
        return -1;
    }
    return 1;
}
