/* Columns that lie apart, for tuplescan.frames. */
#include "module.h"

#include <stdlib.h>

/* One side of the call: arrays of one dimension, with the same length, type and memory. */
struct side {
    Py_ssize_t count, opened;
    struct array *arrays;
    table_column *columns;
    table_columns table;
};

static void side_close(struct side *side) {
    while (side->opened > 0)
        array_close(&side->arrays[--side->opened]);
    free(side->arrays);
    free(side->columns);
}

/* The stride is in elements, also of an array whose bytes lie so that there is none: then the library cannot take it.
 * */
static int put_column(struct side *side, const char *name) {
    const struct array *array = &side->arrays[side->opened - 1], *first = &side->arrays[0];
    if (array->dims != 1 || array->device != -1) {
        PyErr_Format(PyExc_ValueError, "%s: must have one dimension, in host memory", name);
        return -1;
    }
    if (array->shape[0] != first->shape[0] || array->type != first->type) {
        PyErr_Format(PyExc_ValueError, "%s: must have one length and one type", name);
        return -1;
    }
    if (!array->type || (array->shape[0] > 1 && (array->stride[0] == 0 || array->stride[0] % array->itemsize != 0)))
        return 0;
    side->columns[side->opened - 1] =
        (table_column){array->data, array->shape[0] > 1 ? array->stride[0] / array->itemsize : 0};
    return 1;
}

/* 1; 0 if the library cannot take the arrays as they lie; -1 and an exception. */
static int side_open(struct side *side, PyObject *list, bool writable, const char *name) {
    side->count = PyList_Size(list);
    if (side->count <= 0) {
        if (side->count == 0)
            PyErr_Format(PyExc_ValueError, "%s: no columns", name);
        return -1;
    }
    side->arrays = calloc((size_t)side->count, sizeof *side->arrays);
    side->columns = calloc((size_t)side->count, sizeof *side->columns);
    if (!side->arrays || !side->columns) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t j = 0; j < side->count; j++) {
        if (array_open(&side->arrays[j], PyList_GetItem(list, j), writable, name) != 0)
            return -1;
        side->opened++;
        const int taken = put_column(side, name);
        if (taken <= 0)
            return taken;
    }
    side->table =
        (table_columns){side->columns, (size_t)side->count, (size_t)side->arrays[0].shape[0], side->arrays[0].type};
    return 1;
}

static PyObject *scan_opened(const table_columns *in, const table_columns *out, table_scan_options *options,
                             bool check) {
    uint64_t first = TABLE_NO_OVERFLOW;
    struct call call;
    if (check)
        options->first_overflow = &first;
    const table_status status = CALL(&call, &options->threads, table_prefix_sum_columns(in, out, options));
    if (status != TABLE_OK)
        return raise_status(status);
    if (first == TABLE_NO_OVERFLOW)
        Py_RETURN_NONE;
    return Py_BuildValue("(nn)", (Py_ssize_t)(first / in->count), (Py_ssize_t)(first % in->count));
}

/* scan_columns(in, out, flags, start, state): lists of arrays of one dimension, in host memory,
 * of one type each. False as scan(), None when done, (row, column) of the first overflow. start and state may be
 * None. */
PyObject *core_scan_columns(PyObject *module, PyObject *tuple) {
    (void)module;
    struct side in = {0}, out = {0};
    table_scan_options options = {0};
    static const char *const names[] = {"start", "state"};
    PyObject *in_list, *out_list, *objects[2], *result = NULL;
    struct arrays rows;
    void *carry;
    int flags;
    if (!PyArg_ParseTuple(tuple, "O!O!iOO", &PyList_Type, &in_list, &PyList_Type, &out_list, &flags, &objects[0],
                          &objects[1]) ||
        flags_read(&options, flags, FLAG_EXCLUSIVE | FLAG_CHECK) != 0 ||
        arrays_open(&rows, objects, names, 2, 1 << 1) != 0)
        return NULL;
    int taken = side_open(&in, in_list, false, "columns");
    if (taken > 0)
        taken = side_open(&out, out_list, true, "out");
    if (taken > 0 && !table_operation_supported(options.operation, in.table.type, out.table.type))
        taken = 0;
    if (taken == 0)
        result = PyBool_FromLong(0);
    else if (taken > 0) {
        const table_type kept = table_kept_type(options.operation, out.table.type);
        const table_view row = {.columns = out.table.count, .type = kept};
        if (array_as_row(&rows.at[0], &row, -1, "start", &carry) == 0 &&
            array_as_state(&rows.at[1], options.operation, kept, out.table.count, &options.state) == 0) {
            options.carry_in = carry;
            result = scan_opened(&in.table, &out.table, &options, flags & FLAG_CHECK);
        }
    }
    arrays_close(&rows);
    side_close(&in);
    side_close(&out);
    return result;
}
