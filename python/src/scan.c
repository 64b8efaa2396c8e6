#include "module.h"

PyObject *raise_status(table_status status) {
    if (PyErr_Occurred()) /* a signal's handler raised it */
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

/* A row for each table, side by side, of the type that the sums are kept in, on their device. None: there is none. */
static int open_start(struct array *start, PyObject *object, const struct tables *tables, const struct array *out,
                      void **data) {
    *data = NULL;
    if (object == Py_None)
        return 0;
    if (array_open(start, object, false, "start") != 0)
        return -1;
    table_view column;
    if (array_as_column(start, table_sum_type(out->type), &column, "start") == 0) {
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
        return state_open(array, object, table_sum_type(type), tables->out.columns, state);
    PyErr_SetString(PyExc_ValueError, "state: is of the sums of one table");
    return -1;
}

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
    struct array start, state;
    void *start_data;
    if (tables.count == 0)
        return answer(&run, TABLE_OK);
    if (open_start(&start, arguments->start, &tables, out, &start_data) != 0)
        return NULL;
    run.options.carry_in = start_data;
    PyObject *result = NULL;
    if (open_state(&state, arguments->state, &tables, out->type, &run.options.state) == 0) {
        table_status status = tables_scan_without_gil(&tables, &run);
        result = answer(&run, status);
        if (run.options.state)
            array_close(&state);
    }
    if (start_data)
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
    return status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status);
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

static PyObject *totals_of(const struct totals_arguments *arguments, const table_view *view, void *totals,
                           void *start) {
    table_scan_options options = {.carry_in = start};
    table_type type = (table_type)arguments->type;
    struct array state;
    if (arguments->state != Py_None && state_open(&state, arguments->state, type, view->columns, &options.state) != 0)
        return NULL;
    struct call call;
    const table_status status = call_begin(&call, &options.threads) == 0
                                    ? call_end(&call, table_column_totals(view, type, totals, &options))
                                    : TABLE_ERROR_ARGUMENT;
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
 * in that type. False as scan(), None when done, also on a device. totals, start and state lie in host memory; each may
 * be None. */
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
    const bool empty = x.dims == 2 && (x.shape[0] == 0 || x.shape[1] == 0); /* its strides may be anything */
    if (x.dims != 2 || (!empty && ((x.shape[0] > 1 && x.stride[0] != x.shape[1] * x.itemsize) ||
                                   (x.shape[1] > 1 && x.stride[1] != x.itemsize)))) {
        PyErr_SetString(PyExc_ValueError, "x: must be a table whose values lie side by side");
        goto end;
    }
    table_view view = {x.data, (size_t)x.shape[0], (size_t)x.shape[1], 0, x.type};
    if (open_row(&totals, arguments.totals, true, &arguments, view.columns, "totals", &totals_data) != 0)
        goto end;
    if (open_row(&start, arguments.start, false, &arguments, view.columns, "start", &start_data) == 0) {
        if (!table_types_supported(x.type, (table_type)arguments.type))
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
