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

/* A row for each table, side by side, of the output's type and on its device. None: there is none. */
static int open_start(struct array *start, PyObject *object, const struct tables *tables, const struct array *out,
                      void **data) {
    *data = NULL;
    if (object == Py_None)
        return 0;
    if (array_open(start, object, false, "start") != 0)
        return -1;
    table_view column;
    if (array_as_column(start, out->type, &column, "start") == 0) {
        if (column.rows == tables->count * tables->out.columns && start->device == out->device) {
            *data = column.data;
            return 0;
        }
        PyErr_SetString(PyExc_ValueError, "start: must have a value for each column, where out is");
    }
    array_close(start);
    return -1;
}

/* The state of a sum that goes on. None: there is none. */
static int open_state(struct array *array, PyObject *object, const struct tables *tables, table_type type,
                      void **state) {
    *state = NULL;
    if (object == Py_None)
        return 0;
    if (tables->count == 1)
        return state_open(array, object, type, tables->out.columns, state);
    PyErr_SetString(PyExc_ValueError, "state: is of the sums of one table");
    return -1;
}

struct scan_arguments {
    PyObject *in, *out, *start, *state;
    int axis, exclusive, check;
};

static PyObject *scan_opened(const struct scan_arguments *arguments, const struct array *in, const struct array *out) {
    struct tables tables;
    int taken = tables_make(&tables, in, out, arguments->axis, arguments->check);
    if (taken < 0)
        return NULL;
    if (!taken)
        return PyBool_FromLong(0);
    struct tables_run run = {.options.exclusive = arguments->exclusive, .check = arguments->check};
    struct array start, state;
    void *start_data;
    if (tables.count == 0)
        Py_RETURN_NONE;
    if (open_start(&start, arguments->start, &tables, out, &start_data) != 0)
        return NULL;
    run.options.carry_in = start_data;
    PyObject *result = NULL;
    if (open_state(&state, arguments->state, &tables, out->type, &run.options.state) == 0) {
        table_status status = tables_scan_without_gil(&tables, &run);
        if (status != TABLE_OK)
            raise_status(status);
        else if (run.check && run.overflow_row != SIZE_MAX)
            result = Py_BuildValue("(nn)", (Py_ssize_t)run.overflow_row, (Py_ssize_t)run.overflow_column);
        else
            result = Py_NewRef(Py_None);
        if (run.options.state)
            array_close(&state);
    }
    if (start_data)
        array_close(&start);
    return result;
}

/* scan(x, out, axis, exclusive, start, state, check): False if the library cannot take the arrays as they lie,
 * None when done, (row, column) of the first overflow. */
PyObject *core_scan(PyObject *module, PyObject *tuple) {
    (void)module;
    struct scan_arguments arguments;
    struct array in, out;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(tuple, "OOipOOp", &arguments.in, &arguments.out, &arguments.axis, &arguments.exclusive,
                          &arguments.start, &arguments.state, &arguments.check) ||
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
    status = tables_scan_without_gil(tables, run);
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
    int taken = tables_make(&tables, &arrays[0], &arrays[1], axis, false);
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

struct totals_arguments {
    PyObject *x, *totals, *start, *state;
    int type;
};

static PyObject *totals_of(const struct totals_arguments *arguments, const table_view *view, void *totals,
                           void *start) {
    table_scan_options options = {.carry_in = start};
    table_type type = (table_type)arguments->type;
    struct array state;
    if (arguments->state != Py_None && state_open(&state, arguments->state, type, view->columns, &options.state) != 0)
        return NULL;
    table_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = table_column_totals(view, type, totals, &options);
    Py_END_ALLOW_THREADS;
    if (options.state)
        array_close(&state);
    return status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status);
}

/* A row of the sums' type in host memory, with a value for each column. None: there is none. */
static int open_row(struct array *array, PyObject *object, bool writable, const struct totals_arguments *arguments,
                    size_t columns, const char *name, void **data) {
    *array = (struct array){0};
    *data = NULL;
    if (object == Py_None)
        return 0;
    table_view row;
    if (array_open(array, object, writable, name) != 0)
        return -1;
    if (array_as_column(array, (table_type)arguments->type, &row, name) == 0) {
        *data = row.data;
        if (row.rows == columns && array->device == -1)
            return 0;
        PyErr_Format(PyExc_ValueError, "%s: must have a value for each column, in host memory", name);
    }
    array_close(array);
    return -1;
}

/* column_totals(x, type, totals, start, state): the column sums of a two-dimensional x whose values lie side by side,
 * in that type. False as scan(), None when done. totals, start and state may be None. */
PyObject *core_column_totals(PyObject *module, PyObject *tuple) {
    (void)module;
    struct totals_arguments arguments;
    PyObject *result = NULL;
    struct array x, totals, start;
    void *totals_data, *start_data;
    if (!PyArg_ParseTuple(tuple, "OiOOO", &arguments.x, &arguments.type, &arguments.totals, &arguments.start,
                          &arguments.state) ||
        array_open(&x, arguments.x, false, "x") != 0)
        return NULL;
    if (x.dims != 2 || x.device != -1 || (x.shape[0] > 1 && x.stride[0] != x.shape[1] * x.itemsize) ||
        (x.shape[1] > 1 && x.stride[1] != x.itemsize)) {
        PyErr_SetString(PyExc_ValueError, "x: must be a table in host memory whose values lie side by side");
        goto end;
    }
    table_view view = {x.data, (size_t)x.shape[0], (size_t)x.shape[1], 0, x.type};
    if (open_row(&totals, arguments.totals, true, &arguments, view.columns, "totals", &totals_data) != 0)
        goto end;
    if (open_row(&start, arguments.start, false, &arguments, view.columns, "start", &start_data) == 0) {
        if (!table_types_supported(x.type, (table_type)arguments.type) || (uintptr_t)x.data % (size_t)x.itemsize != 0)
            result = PyBool_FromLong(0);
        else
            result = totals_of(&arguments, &view, totals_data, start_data);
        array_close(&start);
    }
    array_close(&totals);
end:
    array_close(&x);
    return result;
}
