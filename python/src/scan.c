#include "module.h"
#include "tables.h"

PyObject *raise_status(table_status status) {
    PyObject *exception = PyExc_ValueError;
    switch (status) {
    case TABLE_ERROR_TYPE:
        exception = PyExc_TypeError;
        break;
    case TABLE_ERROR_HOST_MEMORY:
    case TABLE_ERROR_DEVICE_MEMORY:
        exception = PyExc_MemoryError;
        break;
    case TABLE_ERROR_BACKEND:
    case TABLE_ERROR_DEVICE:
    case TABLE_ERROR_WORKSPACE:
        exception = PyExc_RuntimeError;
        break;
    default:
        break;
    }
    return PyErr_Format(exception, "%s: %s", table_status_text(status), table_error_detail());
}

/* A row for each table, side by side, of the output's type and on its device: a carry. None: there is none. */
static int open_carry(struct array *carry, PyObject *object, bool writable, const struct tables *tables,
                      const struct array *out, const char *name, void **data) {
    *data = NULL;
    if (object == Py_None)
        return 0;
    if (array_open(carry, object, writable, name) != 0)
        return -1;
    table_view column;
    if (array_as_column(carry, out->type, &column, name) == 0) {
        if (column.rows == tables->count * tables->out.columns && carry->device == out->device) {
            *data = column.data;
            return 0;
        }
        PyErr_Format(PyExc_ValueError, "%s: must have a value for each column, where out is", name);
    }
    array_close(carry);
    return -1;
}

struct scan_arguments {
    PyObject *in, *out, *start, *carry_out;
    int axis, exclusive, check;
};

static table_status scan_without_gil(const struct tables *tables, struct tables_run *run) {
    table_status status;
    if (!run->on_stream && tables->count * tables->in.rows * tables->in.columns < VALUES_WITH_GIL)
        return tables_scan(tables, run);
    Py_BEGIN_ALLOW_THREADS;
    status = tables_scan(tables, run);
    Py_END_ALLOW_THREADS;
    return status;
}

static PyObject *scan_opened(const struct scan_arguments *arguments, const struct array *in, const struct array *out) {
    struct tables tables;
    int taken = tables_make(&tables, in, out, arguments->axis);
    if (taken < 0)
        return NULL;
    if (!taken)
        return PyBool_FromLong(0);
    struct tables_run run = {.options.exclusive = arguments->exclusive, .check = arguments->check};
    struct array start, carry;
    void *start_data, *carry_data;
    if (tables.count == 0)
        Py_RETURN_NONE;
    if (open_carry(&start, arguments->start, false, &tables, out, "start", &start_data) != 0)
        return NULL;
    run.options.carry_in = start_data;
    PyObject *result = NULL;
    if (open_carry(&carry, arguments->carry_out, true, &tables, out, "carry_out", &carry_data) == 0) {
        run.options.carry_out = carry_data;
        table_status status = scan_without_gil(&tables, &run);
        if (status != TABLE_OK)
            raise_status(status);
        else if (run.check && run.overflow_row != SIZE_MAX)
            result = Py_BuildValue("(nn)", (Py_ssize_t)run.overflow_row, (Py_ssize_t)run.overflow_column);
        else
            result = Py_NewRef(Py_None);
        if (carry_data)
            array_close(&carry);
    }
    if (start_data)
        array_close(&start);
    return result;
}

/* scan(x, out, axis, exclusive, start, carry_out, check): False if the library cannot take the arrays as they lie,
 * None when done, (row, column) of the first overflow. */
PyObject *core_scan(PyObject *module, PyObject *tuple) {
    (void)module;
    struct scan_arguments arguments;
    struct array in, out;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(tuple, "OOipOOp", &arguments.in, &arguments.out, &arguments.axis, &arguments.exclusive,
                          &arguments.start, &arguments.carry_out, &arguments.check) ||
        array_open(&in, arguments.in, false, "x") != 0)
        return NULL;
    if (array_open(&out, arguments.out, true, "out") == 0) {
        result = scan_opened(&arguments, &in, &out);
        array_close(&out);
    }
    array_close(&in);
    return result;
}

static PyObject *queue_opened(const struct tables *tables, struct tables_run *run) {
    table_status status;
    if (!run->options.workspace_bytes) {
        status = tables_workspace(tables, run);
        if (status == TABLE_OK && run->workspace_bytes)
            return PyLong_FromSize_t(run->workspace_bytes);
        if (status != TABLE_OK)
            return raise_status(status);
    }
    status = scan_without_gil(tables, run);
    return status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status);
}

/* scan_on_stream(x, out, axis, exclusive, start, first_overflow, stream, workspace): device arrays. False as scan();
 * the bytes of workspace that are needed, if `workspace` is None and the call needs one; None when queued. start: None
 * or a carry row for each table; first_overflow: None or an i64 for each table, -1 afterwards if there was none;
 * workspace: None or device memory. */
PyObject *core_scan_on_stream(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[5] = {0}, *result = NULL;
    int axis, opened = 0;
    static const char *const names[5] = {"x", "out", "start", "first_overflow", "workspace"};
    struct array arrays[5];
    unsigned long long stream;
    struct tables_run run = {.on_stream = true};
    if (!PyArg_ParseTuple(tuple, "OOipOOKO", &objects[0], &objects[1], &axis, &run.options.exclusive, &objects[2],
                          &objects[3], &stream, &objects[4]))
        return NULL;
    for (; opened < 5; opened++) {
        arrays[opened] = (struct array){0};
        if (objects[opened] != Py_None &&
            array_open(&arrays[opened], objects[opened], opened != 0 && opened != 2, names[opened]) != 0)
            goto end;
    }
    struct tables tables;
    int taken = tables_make(&tables, &arrays[0], &arrays[1], axis);
    if (taken < 0)
        goto end;
    size_t columns = tables.count * tables.out.columns;
    table_view start = {0}, first = {0}, workspace = {0};
    if (taken && ((objects[2] != Py_None && array_as_column(&arrays[2], arrays[1].type, &start, "start") != 0) ||
                  (objects[3] != Py_None && array_as_column(&arrays[3], TABLE_I64, &first, "first_overflow") != 0) ||
                  (objects[4] != Py_None && array_as_column(&arrays[4], TABLE_U8, &workspace, "workspace") != 0)))
        goto end;
    if ((start.data && start.rows != columns) || (first.data && first.rows != tables.count)) {
        PyErr_SetString(PyExc_ValueError, "start or first_overflow: has another size");
        goto end;
    }
    run.options.carry_in = start.data;
    run.options.first_overflow = first.data;
    run.options.stream = (void *)(uintptr_t)stream;
    run.options.workspace = workspace.data;
    run.options.workspace_bytes = workspace.rows;
    result = !taken ? PyBool_FromLong(0) : tables.count == 0 ? Py_NewRef(Py_None) : queue_opened(&tables, &run);
end:
    while (opened-- > 0)
        array_close(&arrays[opened]);
    return result;
}

/* column_totals(x, totals, start): the column sums of a two-dimensional x. False as scan(), None when done. */
PyObject *core_column_totals(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *x_object, *totals_object, *start_object, *result = NULL;
    struct array x, totals, start = {0};
    if (!PyArg_ParseTuple(tuple, "OOO", &x_object, &totals_object, &start_object) ||
        array_open(&x, x_object, false, "x") != 0)
        return NULL;
    if (array_open(&totals, totals_object, true, "totals") != 0) {
        array_close(&x);
        return NULL;
    }
    table_view row, carry = {0};
    struct tables tables;
    if (array_as_column(&totals, 0, &row, "totals") != 0 ||
        (start_object != Py_None && (array_open(&start, start_object, false, "start") != 0 ||
                                     array_as_column(&start, row.type, &carry, "start") != 0)))
        goto end;
    struct array out = x; /* only its shape matters: no table is written */
    out.type = row.type;
    out.itemsize = (Py_ssize_t)table_type_size(row.type);
    out.data = NULL;
    out.dims = x.dims;
    if (x.dims != 2 || x.device != -1 || totals.device != -1 || (Py_ssize_t)row.rows != x.shape[1] ||
        (carry.data && carry.rows != row.rows)) {
        PyErr_SetString(PyExc_ValueError, "x must be a table in host memory, totals and start have its columns");
        goto end;
    }
    if (x.shape[0] > 1)
        out.stride[0] = x.shape[1] * out.itemsize;
    out.stride[1] = out.itemsize;
    int taken = tables_make(&tables, &x, &out, 0);
    if (taken == 1 && tables.count) {
        table_status status;
        table_scan_options options = {.carry_in = carry.data};
        Py_BEGIN_ALLOW_THREADS;
        status = table_column_totals(&tables.in, row.type, row.data, &options);
        Py_END_ALLOW_THREADS;
        result = status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status);
    } else if (taken >= 0)
        result = PyBool_FromLong(0);
end:
    array_close(&start);
    array_close(&totals);
    array_close(&x);
    return result;
}
