#include "module.h"

PyObject *raise_status(table_status status) {
    if (PyErr_Occurred()) /* by call_begin(), or a signal's handler */
        return NULL;
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

PyObject *none_or(table_status status) { return status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status); }

/* What a call asks for, as bits of one number. */
enum { EXCLUSIVE = 1, REVERSE = 2, CHECK = 4, SKIP_NAN = 8, OFFSETS = 16, FLAGS_ALL = 31 };

static int set_flags(struct tables_run *run, int flags) {
    if (flags & ~FLAGS_ALL) {
        PyErr_Format(PyExc_ValueError, "flags: %d has bits that are not known", flags);
        return -1;
    }
    run->options.exclusive = (flags & EXCLUSIVE) != 0;
    run->options.reverse = (flags & REVERSE) != 0;
    run->options.skip_nan = (flags & SKIP_NAN) != 0;
    run->options.offsets = (flags & OFFSETS) != 0;
    run->check = (flags & CHECK) != 0;
    return 0;
}

/* tables_make(), also for offsets: of one table, with one row more in `out`. */
static int make(struct tables *tables, const struct array *in, struct array *out, int axis,
                const struct tables_run *run) {
    if (!run->options.offsets)
        return tables_make(tables, in, out, axis, run->check);
    if (axis < 0 || axis >= out->dims || out->shape[axis] == 0) {
        PyErr_SetString(PyExc_ValueError, "out: must have one place more along that axis");
        return -1;
    }
    const bool ascends = out->stride[axis] >= 0;
    out->shape[axis]--;
    const int taken = ascends ? tables_make(tables, in, out, axis, run->check) : 0;
    out->shape[axis]++;
    if (taken != 1 || tables->count != 1)
        return taken < 0 ? -1 : 0;
    tables->out.rows++;
    if (tables->out.rows == 2) /* of one row it said nothing */
        tables->out.stride = out->stride[axis] / out->itemsize;
    return tables->out.stride >= (ptrdiff_t)tables->out.columns && out->stride[axis] % out->itemsize == 0;
}

struct scan_arguments {
    PyObject *in, *out, *start, *state;
    int axis, flags;
};

static PyObject *answer(const struct tables_run *run, table_status status) {
    if (status != TABLE_OK)
        return raise_status(status);
    if (run->options.skip_nan)
        return PyLong_FromUnsignedLongLong(run->skipped);
    if (run->check && run->overflow_row != SIZE_MAX)
        return Py_BuildValue("(nn)", (Py_ssize_t)run->overflow_row, (Py_ssize_t)run->overflow_column);
    return Py_NewRef(Py_None);
}

static PyObject *scan_opened(const struct scan_arguments *arguments, const struct array *in, struct array *out) {
    struct tables tables;
    struct tables_run run = {0};
    int taken = set_flags(&run, arguments->flags) == 0 ? make(&tables, in, out, arguments->axis, &run) : -1;
    if (taken < 0)
        return NULL;
    if (!taken)
        return PyBool_FromLong(0);
    if (tables.count == 0)
        return answer(&run, TABLE_OK);
    struct array start = {0}, state = {0};
    void *start_data;
    const table_type kept = table_sum_type(out->type);
    const table_view rows = {.columns = tables.count * tables.out.columns, .type = kept};
    PyObject *result = NULL;
    if (tables.count > 1 && arguments->state != Py_None)
        PyErr_SetString(PyExc_ValueError, "state: is of the sums of one table");
    else if (array_open_row(&start, arguments->start, false, &rows, out->device, "start", &start_data) == 0 &&
             state_open(&state, arguments->state, kept, tables.out.columns, &run.options.state) == 0) {
        run.options.carry_in = start_data;
        result = answer(&run, tables_scan_without_gil(&tables, &run));
    }
    array_close(&state);
    array_close(&start);
    return result;
}

/* scan(x, out, axis, flags, start, state): False if the library cannot take the arrays as they lie; with SKIP_NAN how
 * many were skipped; otherwise None when done, (row, column) of the first overflow. */
PyObject *core_scan(PyObject *module, PyObject *tuple) {
    (void)module;
    struct scan_arguments arguments;
    struct array in, out;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(tuple, "OOiiOO", &arguments.in, &arguments.out, &arguments.axis, &arguments.flags,
                          &arguments.start, &arguments.state) ||
        array_open(&in, arguments.in, false, "x") != 0)
        return NULL;
    if (array_open(&out, arguments.out, true, "out") == 0) {
        result = scan_opened(&arguments, &in, &out);
        array_close(&out);
    }
    array_close(&in);
    return result;
}

/* types_supported(number, number): whether the library sums tables of the first type into the second one. */
PyObject *core_types_supported(PyObject *module, PyObject *tuple) {
    (void)module;
    int in, out;
    if (!PyArg_ParseTuple(tuple, "ii", &in, &out))
        return NULL;
    return PyBool_FromLong(table_types_supported((table_type)in, (table_type)out));
}

static PyObject *queue_opened(const struct tables *tables, struct tables_run *run) {
    table_status status;
    if (!run->options.workspace_bytes) {
        status = tables_workspace(tables, run);
        if (status == TABLE_OK && run->workspace_bytes)
            return PyLong_FromSize_t(run->workspace_bytes);
        if (status == TABLE_OK)
            status = tables_scan_without_gil(tables, run);
    } else
        status = tables_scan_without_gil(tables, run);
    if (status == TABLE_ERROR_OVERLAP)
        return PyBool_FromLong(0);
    return none_or(status);
}

enum { ON_STREAM_X, ON_STREAM_OUT, ON_STREAM_START, ON_STREAM_FIRST, ON_STREAM_SKIPPED, ON_STREAM_WORKSPACE, ARRAYS };

/* The words of an array that the stream form fills, one for each call. None: there are none. */
static int words_of(const struct array *array, PyObject *object, size_t calls, const char *name, uint64_t **words) {
    table_view column;
    *words = NULL;
    if (object == Py_None)
        return 0;
    if (array_as_column(array, TABLE_I64, &column, name) != 0)
        return -1;
    if (column.rows < calls) {
        PyErr_Format(PyExc_ValueError, "%s: has fewer words than there are calls", name);
        return -1;
    }
    *words = column.data;
    return 0;
}

static PyObject *queue_arrays(struct array *arrays, PyObject *const *objects, int axis, struct tables_run *run) {
    struct tables tables;
    run->check = objects[ON_STREAM_FIRST] != Py_None; /* a call for each table */
    const int taken = make(&tables, &arrays[ON_STREAM_X], &arrays[ON_STREAM_OUT], axis, run);
    if (taken < 0)
        return NULL;
    const size_t calls = !taken || tables.count == 0 ? 0 : run->check ? tables.count : tables_calls(&tables);
    run->check = false;
    if (!taken || calls > LAUNCHES_MOST)
        return PyBool_FromLong(0);
    if (tables.count == 0)
        Py_RETURN_NONE;
    table_view start = {0}, workspace = {0};
    const table_type kept = table_sum_type(arrays[ON_STREAM_OUT].type);
    if ((objects[ON_STREAM_START] != Py_None &&
         array_as_column(&arrays[ON_STREAM_START], kept, &start, "start") != 0) ||
        (objects[ON_STREAM_WORKSPACE] != Py_None &&
         array_as_column(&arrays[ON_STREAM_WORKSPACE], TABLE_U8, &workspace, "workspace") != 0) ||
        words_of(&arrays[ON_STREAM_FIRST], objects[ON_STREAM_FIRST], calls, "first_overflow",
                 &run->options.first_overflow) != 0 ||
        words_of(&arrays[ON_STREAM_SKIPPED], objects[ON_STREAM_SKIPPED], calls, "skipped", &run->options.skipped) != 0)
        return NULL;
    if (start.data && start.rows != tables.count * tables.out.columns) {
        PyErr_SetString(PyExc_ValueError, "start: must have a value for each column");
        return NULL;
    }
    run->options.carry_in = start.data;
    run->options.workspace = workspace.data;
    run->options.workspace_bytes = workspace.rows;
    return queue_opened(&tables, run);
}

/* scan_on_stream(x, out, axis, flags, start, first_overflow, skipped, stream, workspace): device arrays. False as
 * scan(), where it would take many calls, and for arrays that share memory; the bytes of workspace that are needed, if
 * `workspace` is None and the call needs one; None when queued. start: None or a carry row for each table;
 * first_overflow: None or an i64 for each table, -1 afterwards if there was none; skipped: None or LAUNCHES_MOST zeros
 * of i64, which add up to how many were skipped; workspace: None or device memory. */
PyObject *core_scan_on_stream(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[ARRAYS] = {"x", "out", "start", "first_overflow", "skipped", "workspace"};
    PyObject *objects[ARRAYS] = {0}, *result = NULL;
    int axis, flags, opened = 0;
    struct array arrays[ARRAYS];
    unsigned long long stream;
    struct tables_run run = {0};
    if (!PyArg_ParseTuple(tuple, "OOiiOOOKO", &objects[ON_STREAM_X], &objects[ON_STREAM_OUT], &axis, &flags,
                          &objects[ON_STREAM_START], &objects[ON_STREAM_FIRST], &objects[ON_STREAM_SKIPPED], &stream,
                          &objects[ON_STREAM_WORKSPACE]) ||
        set_flags(&run, flags) != 0)
        return NULL;
    for (; opened < ARRAYS; opened++) {
        arrays[opened] = (struct array){0};
        const bool writable = opened != ON_STREAM_X && opened != ON_STREAM_START;
        if (objects[opened] != Py_None && array_open(&arrays[opened], objects[opened], writable, names[opened]) != 0)
            goto end;
    }
    run.on_stream = true;
    run.options.stream = (void *)(uintptr_t)stream;
    result = queue_arrays(arrays, objects, axis, &run);
end:
    while (opened-- > 0)
        array_close(&arrays[opened]);
    return result;
}

struct totals_arguments {
    PyObject *x, *totals, *start, *state;
    int type;
};

static PyObject *totals_of(const struct totals_arguments *arguments, const table_view *view) {
    const table_type type = (table_type)arguments->type;
    const table_view row = {.columns = view->columns, .type = type};
    table_scan_options options = {0};
    struct array arrays[3] = {0};
    void *totals, *start;
    PyObject *result = NULL;
    if (array_open_row(&arrays[0], arguments->totals, true, &row, -1, "totals", &totals) == 0 &&
        array_open_row(&arrays[1], arguments->start, false, &row, -1, "start", &start) == 0 &&
        state_open(&arrays[2], arguments->state, type, view->columns, &options.state) == 0) {
        struct call call;
        options.carry_in = start;
        result = none_or(call_begin(&call, &options.threads) == 0
                             ? call_end(&call, table_column_totals(view, type, totals, &options))
                             : TABLE_ERROR_ARGUMENT);
    }
    for (int i = 0; i < 3; i++)
        array_close(&arrays[i]);
    return result;
}

/* column_totals(x, type, totals, start, state): the column sums of a two-dimensional x whose values lie side by side,
 * in that type. False as scan(), None when done, also on a device. totals, start and state lie in host memory; each may
 * be None. */
PyObject *core_column_totals(PyObject *module, PyObject *tuple) {
    (void)module;
    struct totals_arguments arguments;
    PyObject *result = NULL;
    struct array x;
    if (!PyArg_ParseTuple(tuple, "OiOOO", &arguments.x, &arguments.type, &arguments.totals, &arguments.start,
                          &arguments.state) ||
        array_open(&x, arguments.x, false, "x") != 0)
        return NULL;
    const bool empty = x.dims == 2 && (x.shape[0] == 0 || x.shape[1] == 0); /* its strides may be anything */
    if (x.dims != 2 || (!empty && ((x.shape[0] > 1 && x.stride[0] != x.shape[1] * x.itemsize) ||
                                   (x.shape[1] > 1 && x.stride[1] != x.itemsize))))
        PyErr_SetString(PyExc_ValueError, "x: must be a table whose values lie side by side");
    else if (!table_types_supported(x.type, (table_type)arguments.type))
        result = PyBool_FromLong(0);
    else
        result = totals_of(&arguments, &(table_view){x.data, (size_t)x.shape[0], (size_t)x.shape[1], 0, x.type});
    array_close(&x);
    return result;
}
