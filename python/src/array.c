#include "array.h"

#include "call.h"

#include <string.h>

/* The type that a format of the struct module means, 0 if the library has none. numpy writes native types without a
 * byte order; '<' is native here, where the library is little-endian. */
static table_type type_of_format(const char *format, Py_ssize_t itemsize) {
    if (!format)
        return itemsize == 1 ? TABLE_U8 : 0;
    if (*format == '@' || *format == '=' || (*format == '<' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
        format++;
    if (!*format || format[1])
        return 0;
    static const struct {
        const char *formats;
        table_type of_bytes[9]; /* by itemsize */
    } types[] = {{"BHILQN", {[1] = TABLE_U8, [2] = TABLE_U16, [4] = TABLE_U32, [8] = TABLE_U64}},
                 {"bhilqn", {[1] = TABLE_I8, [2] = TABLE_I16, [4] = TABLE_I32, [8] = TABLE_I64}},
                 {"efd", {[2] = TABLE_F16, [4] = TABLE_F32, [8] = TABLE_F64}},
                 {"?", {[1] = TABLE_BOOL}}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strchr(types[i].formats, *format))
            return itemsize >= 1 && itemsize <= 8 ? types[i].of_bytes[itemsize] : 0;
    return 0;
}

void array_side_by_side(struct array *array) {
    Py_ssize_t below = array->itemsize;
    for (int i = array->dims - 1; i >= 0; i--) {
        array->stride[i] = below;
        below *= array->shape[i];
    }
}

static int open_buffer(struct array *array, PyObject *object, bool writable, const char *name) {
    Py_buffer *buffer = &array->buffer;
    if (PyObject_GetBuffer(object, buffer, PyBUF_FORMAT | PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0)) != 0)
        return -1;
    if (buffer->ndim > ARRAY_DIMS_MOST) {
        PyErr_Format(PyExc_ValueError, "%s: %d dimensions are too many", name, buffer->ndim);
        PyBuffer_Release(buffer);
        return -1;
    }
    array->data = buffer->buf;
    array->dims = buffer->ndim;
    array->device = -1;
    array->type = type_of_format(buffer->format, buffer->itemsize);
    array->itemsize = buffer->itemsize;
    const size_t bytes = (size_t)buffer->ndim * sizeof *buffer->shape;
    memcpy(array->shape, buffer->shape, bytes);
    if (buffer->strides)
        memcpy(array->stride, buffer->strides, bytes);
    else /* ctypes leaves them out, though it is asked for them */
        array_side_by_side(array);
    return 0;
}

/* (array, number of a table_type): an array whose elements are of that type. */
static int open_typed(struct array *array, PyObject *tuple, bool writable, const char *name) {
    PyObject *inner, *number;
    if (!PyArg_ParseTuple(tuple, "OO!", &inner, &PyLong_Type, &number) || PyTuple_Check(inner)) {
        PyErr_Format(PyExc_TypeError, "%s: is a tuple, but not of an array and a type", name);
        return -1;
    }
    const long type = PyLong_AsLong(number);
    if (array_open(array, inner, writable, name) != 0)
        return -1;
    if ((Py_ssize_t)table_type_size((table_type)type) == array->itemsize) {
        array->type = (table_type)type;
        return 0;
    }
    array_close(array);
    PyErr_Format(PyExc_TypeError, "%s: has elements of another size than type %ld", name, type);
    return -1;
}

int array_open(struct array *array, PyObject *object, bool writable, const char *name) {
    array->given = true;
    array->capsule = NULL;
    array->buffer.obj = NULL;
    if (PyTuple_Check(object))
        return open_typed(array, object, writable, name);
    if (PyObject_CheckBuffer(object)) {
        if (open_buffer(array, object, writable, name) == 0)
            return 0;
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear(); /* CuPy's arrays have a buffer that is refused, unless the host sees their memory */
    }
    int opened = array_open_dlpack(array, object, writable, name);
    if (opened == 0)
        PyErr_Format(PyExc_TypeError, "%s: %R is no array (it has neither the buffer protocol nor DLPack)", name,
                     (PyObject *)Py_TYPE(object));
    return opened == 1 ? 0 : -1;
}

void array_close(struct array *array) {
    if (array->buffer.obj)
        PyBuffer_Release(&array->buffer);
    Py_CLEAR(array->capsule);
}

int array_as_column(const struct array *array, table_type type, table_view *view, const char *name) {
    if (array->dims != 1 || (array->shape[0] > 1 && array->stride[0] != array->itemsize)) {
        PyErr_Format(PyExc_ValueError, "%s: must have one dimension and values that lie side by side", name);
        return -1;
    }
    if (!array->type || (type && array->type != type)) {
        PyErr_Format(PyExc_TypeError, "%s: has elements of the wrong type", name);
        return -1;
    }
    *view = (table_view){array->data, (size_t)array->shape[0], 1, 0, array->type};
    return 0;
}

int array_as_row(const struct array *array, const table_view *like, int device, const char *name, void **data) {
    table_view column = {0};
    if (array->given && array_as_column(array, like->type, &column, name) != 0)
        return -1;
    if (array->given && (column.rows != like->columns || array->device != device)) {
        PyErr_Format(PyExc_ValueError, "%s: must have %zu values, %s", name, like->columns,
                     device < 0 ? "in host memory" : "where out is");
        return -1;
    }
    *data = column.data;
    return 0;
}

int array_as_state(const struct array *array, table_operation operation, table_type type, size_t columns,
                   void **state) {
    table_view like = {.type = TABLE_U8};
    const table_status status = array->given ? table_state_bytes_of(operation, type, columns, &like.columns) : TABLE_OK;
    if (status == TABLE_OK)
        return array_as_row(array, &like, -1, "state", state);
    raise_status(status);
    return -1;
}

int arrays_open(struct arrays *arrays, PyObject *const *objects, const char *const *names, int count,
                unsigned written) {
    *arrays = (struct arrays){0};
    for (; arrays->count < count; arrays->count++) {
        const int i = arrays->count;
        if (objects[i] != Py_None && array_open(&arrays->at[i], objects[i], written >> i & 1, names[i]) != 0) {
            arrays_close(arrays);
            return -1;
        }
    }
    return 0;
}

void arrays_close(struct arrays *arrays) {
    while (arrays->count > 0)
        array_close(&arrays->at[--arrays->count]);
}

int columns_open(struct arrays *arrays, table_view *views, PyObject *const *objects, const char *const *names,
                 int count, unsigned written, bool anywhere) {
    if (arrays_open(arrays, objects, names, count, written) != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        const struct array *array = &arrays->at[i];
        views[i] = (table_view){0};
        if (!array->given || (array_as_column(array, 0, &views[i], names[i]) == 0 &&
                              array->device == (anywhere ? arrays->at[0].device : -1)))
            continue;
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "%s: must be %s", names[i], anywhere ? "where x is" : "in host memory");
        arrays_close(arrays);
        return -1;
    }
    return 0;
}
