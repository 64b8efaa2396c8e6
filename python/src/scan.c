/* Sums of arrays into others, and column totals. */
#include "module.h"

int flags_read(table_scan_options *options, int flags, int known) {
    options->operation = (table_operation)(flags >> FLAG_OPERATION);
    if (flags & ((1 << FLAG_OPERATION) - 1) & ~known || !table_operation_name(options->operation)) {
        PyErr_Format(PyExc_ValueError, "flags: %d has bits that are not known", flags);
        return -1;
    }
    options->exclusive = (flags & FLAG_EXCLUSIVE) != 0;
    options->reverse = (flags & FLAG_REVERSE) != 0;
    options->skip_nan = (flags & FLAG_SKIP_NAN) != 0;
    options->offsets = (flags & FLAG_OFFSETS) != 0;
    options->shifted_coefficients = (flags & FLAG_SHIFTED) != 0;
    options->kept = flags & FLAG_KEPT_F64 ? TABLE_F64 : (table_type)0;
    return 0;
}

enum { X, OUT, START, STATE, FIRST, SKIPPED, WORKSPACE, ARRAYS };
static const char *const names[ARRAYS] = {"x", "out", "start", "state", "first_overflow", "skipped", "workspace"};

/* The words of an array that the stream form fills, one for each call. None: there are none. */
static int words_of(const struct array *array, size_t calls, const char *name, uint64_t **words) {
    table_view column = {0};
    if (array->given && array_as_column(array, TABLE_I64, &column, name) != 0)
        return -1;
    if (array->given && column.rows < calls) {
        PyErr_Format(PyExc_ValueError, "%s: has fewer words than there are calls", name);
        return -1;
    }
    *words = column.data;
    return 0;
}

/* Has the options ask for what the arrays beside the two tables are. */
static int set_arrays(const struct array *arrays, const struct tables *tables, size_t calls,
                      table_scan_options *options) {
    const struct array *out = &arrays[OUT];
    const table_type kept = options->kept ? options->kept : table_kept_type(options->operation, out->type);
    const table_view row = {.columns = tables->count * tables->out.columns, .type = kept};
    table_view workspace = {0};
    void *start = NULL;
    if (arrays[STATE].given && tables->count > 1) {
        PyErr_SetString(PyExc_ValueError, "state: is of the sums of one table");
        return -1;
    }
    if (array_as_row(&arrays[START], &row, out->device, names[START], &start) != 0 ||
        array_as_state(&arrays[STATE], options->operation, kept, tables->out.columns, &options->state) != 0 ||
        (arrays[WORKSPACE].given && array_as_column(&arrays[WORKSPACE], TABLE_U8, &workspace, names[WORKSPACE]) != 0) ||
        words_of(&arrays[FIRST], calls, names[FIRST], &options->first_overflow) != 0 ||
        words_of(&arrays[SKIPPED], calls, names[SKIPPED], &options->skipped) != 0)
        return -1;
    options->carry_in = start;
    options->workspace = workspace.data;
    options->workspace_bytes = workspace.rows;
    return 0;
}

/* Asks for the workspace if there is none yet. */
static PyObject *queue(const struct tables *tables, struct tables_run *run) {
    if (!run->options.workspace_bytes) {
        const table_status status = tables_workspace(tables, run);
        if (status == TABLE_OK && run->workspace_bytes)
            return PyLong_FromSize_t(run->workspace_bytes);
        if (status != TABLE_OK)
            return status == TABLE_ERROR_OVERLAP ? PyBool_FromLong(0) : raise_status(status);
    }
    const table_status status = tables_scan_without_gil(tables, run);
    return status == TABLE_ERROR_OVERLAP ? PyBool_FromLong(0) : none_or(status);
}

static PyObject *sum(const struct tables *tables, struct tables_run *run) {
    const table_status status = tables_scan_without_gil(tables, run);
    if (status != TABLE_OK)
        return raise_status(status);
    if (run->options.skip_nan)
        return PyLong_FromUnsignedLongLong(run->skipped);
    if (run->check && run->overflow_row != SIZE_MAX)
        return Py_BuildValue("(nn)", (Py_ssize_t)run->overflow_row, (Py_ssize_t)run->overflow_column);
    return Py_NewRef(Py_None);
}

static PyObject *scan_opened(const struct array *arrays, int axis, struct tables_run *run) {
    struct tables tables;
    const bool one_by_one = run->check || arrays[FIRST].given; /* a call for each table */
    const int taken = tables_make(&tables, &arrays[X], &arrays[OUT], axis, run->options.operation, one_by_one);
    if (taken < 0)
        return NULL;
    const size_t calls = !taken || tables.count == 0 ? 0 : one_by_one ? tables.count : tables_calls(&tables);
    if (!taken || (run->on_stream && calls > LAUNCHES_MOST))
        return PyBool_FromLong(0);
    if (tables.count == 0)
        return run->options.skip_nan && !run->on_stream ? PyLong_FromLong(0) : Py_NewRef(Py_None);
    if (set_arrays(arrays, &tables, calls, &run->options) != 0)
        return NULL;
    return (run->on_stream ? queue : sum)(&tables, run);
}

/* scan(x, out, axis, flags, start, state, first_overflow, skipped, stream, workspace): the last four for device arrays
 * alone, where the stream is a number. False if the library cannot take the arrays as they lie, or on a stream in many
 * calls, or for arrays that share memory; with SKIP_NAN in host memory how many were skipped; on a stream the bytes of
 * workspace that are needed, if `workspace` is None and the call needs one; otherwise None when done or queued, (row,
 * column) of the first overflow. start: None or a carry row for each table; first_overflow: None or an i64 for each
 * table, -1 afterwards if there was none; skipped: None or LAUNCHES_MOST zeros of i64, which add up to how many were
 * skipped; workspace: None or device memory. */
PyObject *core_scan(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[ARRAYS] = {[FIRST] = Py_None, [SKIPPED] = Py_None, [WORKSPACE] = Py_None}, *stream = Py_None;
    int axis, flags;
    struct tables_run run = {0};
    struct arrays arrays;
    if (!PyArg_ParseTuple(tuple, "OOiiOO|OOOO", &objects[X], &objects[OUT], &axis, &flags, &objects[START],
                          &objects[STATE], &objects[FIRST], &objects[SKIPPED], &stream, &objects[WORKSPACE]))
        return NULL;
    run.on_stream = stream != Py_None;
    run.check = (flags & FLAG_CHECK) != 0;
    run.options.stream = run.on_stream ? PyLong_AsVoidPtr(stream) : NULL;
    if (PyErr_Occurred() || flags_read(&run.options, flags, FLAGS_OF_SCANS | FLAG_KEPT_F64) != 0 ||
        arrays_open(&arrays, objects, names, ARRAYS, ~(1U << X | 1U << START)) != 0)
        return NULL;
    PyObject *const result = scan_opened(arrays.at, axis, &run);
    arrays_close(&arrays);
    return result;
}

/* types_supported(number, number, operation): whether the library joins rows of the first type into the second one. */
PyObject *core_types_supported(PyObject *module, PyObject *tuple) {
    (void)module;
    int in, out, operation;
    if (!PyArg_ParseTuple(tuple, "iii", &in, &out, &operation))
        return NULL;
    return PyBool_FromLong(table_operation_supported((table_operation)operation, (table_type)in, (table_type)out));
}

/* kept_type(number, operation): the number of the type that results of a type are kept in; 0 for none. */
PyObject *core_kept_type(PyObject *module, PyObject *tuple) {
    (void)module;
    int out, operation;
    if (!PyArg_ParseTuple(tuple, "ii", &out, &operation))
        return NULL;
    return PyLong_FromLong((long)table_kept_type((table_operation)operation, (table_type)out));
}

/* The table that a two-dimensional array is whose values lie side by side. -1 and an exception for any other. */
static int as_whole_table(const struct array *x, table_view *view) {
    const bool two = x->dims == 2, empty = two && (x->shape[0] == 0 || x->shape[1] == 0); /* strides may be anything */
    if (!two || (!empty && ((x->shape[0] > 1 && x->stride[0] != x->shape[1] * x->itemsize) ||
                            (x->shape[1] > 1 && x->stride[1] != x->itemsize)))) {
        PyErr_SetString(PyExc_ValueError, "x: must be a table whose values lie side by side");
        return -1;
    }
    *view = (table_view){x->data, (size_t)x->shape[0], (size_t)x->shape[1], 0, x->type};
    return 0;
}

/* column_totals(x, type, totals, start, state, operation): the last row of a two-dimensional x whose values lie side by
 * side, in that type. False as scan(), None when done, also on a device. totals, start and state lie in host memory;
 * each may be None. */
PyObject *core_column_totals(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const arrays_names[] = {"x", "totals", "start", "state"};
    PyObject *objects[4], *result = NULL;
    struct arrays arrays;
    table_scan_options options = {0};
    table_view view;
    void *totals, *start;
    int type, operation;
    if (!PyArg_ParseTuple(tuple, "OiOOOi", &objects[0], &type, &objects[1], &objects[2], &objects[3], &operation) ||
        arrays_open(&arrays, objects, arrays_names, 4, 1 << 1 | 1 << 3) != 0)
        return NULL;
    options.operation = (table_operation)operation;
    const bool whole = as_whole_table(&arrays.at[0], &view) == 0;
    const table_view row = {.columns = whole ? view.columns : 0, .type = (table_type)type};
    struct call call;
    if (whole && !table_operation_supported(options.operation, view.type, row.type))
        result = PyBool_FromLong(0);
    else if (whole && array_as_row(&arrays.at[1], &row, -1, "totals", &totals) == 0 &&
             array_as_row(&arrays.at[2], &row, -1, "start", &start) == 0 &&
             array_as_state(&arrays.at[3], options.operation, row.type, row.columns, &options.state) == 0) {
        options.carry_in = start;
        result = none_or(CALL(&call, &options.threads, table_column_totals(&view, row.type, totals, &options)));
    }
    arrays_close(&arrays);
    return result;
}
