/* Linear recurrences of arrays of three axes, tables, rows and columns: all tables by one call; and the rows of
 * extremes of such arrays. */
#include "module.h"

#include <string.h>

enum { A, B, H, START, STATE, WORKSPACE, ARRAYS };

static bool tables_of(table_view *view, ptrdiff_t *step, const struct array *array) {
    if (array->dims != 3 || !tables_view(view, array, 1) || array->stride[0] % array->itemsize != 0)
        return false;
    *step = array->shape[0] > 1 ? array->stride[0] / array->itemsize : 0;
    return true;
}

bool recurrence_describe(struct recurrence *of, const struct array *a, const struct array *b, const struct array *h) {
    if (!tables_of(&of->a, &of->options.coefficient_step, a) || !tables_of(&of->b, &of->options.in_step, b) ||
        (h && !tables_of(&of->h, &of->options.out_step, h)))
        return false;
    of->options.tables = (size_t)b->shape[0];
    for (int i = 0; i < 3; i++)
        if ((a->shape[i] != 1 && a->shape[i] != b->shape[i]) || (h && h->shape[i] != b->shape[i]))
            return false;
    return true;
}

table_status recurrence_workspace(const struct recurrence *of, size_t *bytes) {
    return table_linear_recurrence_workspace(&of->a, &of->b, &of->h, &of->options, bytes);
}

table_status recurrence_run(const struct recurrence *of, bool on_stream) {
    const table_view *const h = of->h.type ? &of->h : NULL;
    return (on_stream ? table_linear_recurrence_async : table_linear_recurrence)(&of->a, &of->b, h, &of->options);
}

/* The axes from one up to another as one, `which` of three; whether they lie so. */
static bool join_axes(const struct array *array, int from, int to, int which, struct array *three) {
    Py_ssize_t extent = 1, stride = 0;
    for (int i = to - 1; i >= from; i--) {
        if (array->shape[i] == 1)
            continue;
        if (extent > 1 && array->stride[i] != extent * stride)
            return false;
        stride = extent > 1 ? stride : array->stride[i];
        extent *= array->shape[i];
    }
    three->shape[which] = extent;
    three->stride[which] = stride;
    return true;
}

static bool in_three_axes(struct array *array, int axis) {
    struct array three = {.dims = 3};
    if (!join_axes(array, 0, axis, 0, &three) || !join_axes(array, axis, axis + 1, 1, &three) ||
        !join_axes(array, axis + 1, array->dims, 2, &three))
        return false;
    array->dims = three.dims;
    memcpy(array->shape, three.shape, 3 * sizeof *three.shape);
    memcpy(array->stride, three.stride, 3 * sizeof *three.stride);
    return true;
}

/* Adds axes of one place in front, so that there are as many as b has. Whether `a` broadcasts to b. */
static bool broadcast(struct array *a, const struct array *b) {
    const int more = b->dims - a->dims;
    if (more < 0)
        return false;
    for (int i = b->dims - 1; i >= 0; i--) {
        a->shape[i] = i < more ? 1 : a->shape[i - more];
        a->stride[i] = i < more ? 0 : a->stride[i - more];
        if (a->shape[i] != 1 && a->shape[i] != b->shape[i])
            return false;
    }
    a->dims = b->dims;
    return true;
}

bool recurrence_of_axes(struct recurrence *of, struct array *a, struct array *b, struct array *h, int axis) {
    return broadcast(a, b) && tables_same_shape(b, h) && in_three_axes(a, axis) && in_three_axes(b, axis) &&
           in_three_axes(h, axis) && recurrence_describe(of, a, b, h);
}

table_status recurrence_run_here(struct recurrence *of) {
    struct call call;
    if (of->options.tables * of->b.rows * of->b.columns < VALUES_WITH_GIL)
        return recurrence_run(of, false);
    return CALL(&call, &of->options.threads, recurrence_run(of, false));
}

table_status recurrence_queue(struct recurrence *of, const struct tables_memory *memory) {
    struct call call;
    void *taken;
    size_t bytes = 0;
    table_status status = recurrence_workspace(of, &bytes);
    if (status != TABLE_OK)
        return status;
    if (!memory_take(memory, bytes, &of->options, &taken))
        return TABLE_ERROR_DEVICE_MEMORY;
    status = CALL(&call, &of->options.threads, recurrence_run(of, true));
    if (taken)
        memory->release(taken);
    return status;
}

/* False: h shares memory with a or b, but is not b. */
static PyObject *none_or_false(table_status status) {
    return status == TABLE_ERROR_OVERLAP ? PyBool_FromLong(0) : none_or(status);
}

/* Asks for the workspace if there is none yet. */
static PyObject *queue(struct recurrence *of, const struct array *workspace) {
    struct call call;
    table_view column = {0};
    size_t bytes = 0;
    if (workspace->given && array_as_column(workspace, TABLE_U8, &column, "workspace") != 0)
        return NULL;
    of->options.workspace = column.data;
    of->options.workspace_bytes = column.rows;
    if (!column.rows) {
        const table_status status = recurrence_workspace(of, &bytes);
        if (status != TABLE_OK || bytes)
            return status == TABLE_OK ? PyLong_FromSize_t(bytes) : none_or_false(status);
    }
    return none_or_false(CALL(&call, &of->options.threads, recurrence_run(of, true)));
}

static PyObject *recur_opened(const struct array *arrays, struct recurrence *of, bool on_stream) {
    const struct array *const b = &arrays[B], *const h = arrays[H].given ? &arrays[H] : NULL;
    if (!recurrence_describe(of, &arrays[A], b, h))
        return PyErr_Format(PyExc_ValueError, "a, b and out: must be tables, rows and columns that lie side by side");
    if (of->options.tables == 0)
        Py_RETURN_NONE;
    const table_type kept = of->options.kept ? of->options.kept : table_kept_type(TABLE_RECURRENCE, b->type);
    const table_view row = {.columns = of->b.columns * of->options.tables, .type = kept};
    void *start;
    if (array_as_row(&arrays[START], &row, b->device, "start", &start) != 0 ||
        array_as_state(&arrays[STATE], TABLE_RECURRENCE, kept, row.columns, &of->options.state) != 0)
        return NULL;
    of->options.carry_in = start;
    if (on_stream)
        return queue(of, &arrays[WORKSPACE]);
    struct call call;
    return none_or(CALL(&call, &of->options.threads, recurrence_run(of, false)));
}

/* recurrence(a, b, out, flags, start, state, stream, workspace): out[:, i] = a[:, i] * out[:, i - 1] + b[:, i]. Each
 * extent of `a` is 1 or b's. start has a row for each table; out may be None where there is a state. stream: None for
 * host memory. The answer is None when done or queued, or the bytes of a workspace that is needed and not given; False
 * on a stream where out shares memory with `a` or b, unless it is b. */
PyObject *core_recurrence(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[ARRAYS] = {"a", "b", "out", "start", "state", "workspace"};
    PyObject *objects[ARRAYS], *stream;
    struct arrays arrays;
    struct recurrence of = {0};
    int flags;
    if (!PyArg_ParseTuple(tuple, "OOOiOOOO", &objects[A], &objects[B], &objects[H], &flags, &objects[START],
                          &objects[STATE], &stream, &objects[WORKSPACE]) ||
        flags_read(&of.options, flags, FLAG_EXCLUSIVE | FLAG_REVERSE | FLAG_SHIFTED | FLAG_KEPT_F64) != 0)
        return NULL;
    of.options.operation = TABLE_SUM; /* the call has no other */
    of.options.stream = stream == Py_None ? NULL : PyLong_AsVoidPtr(stream);
    if (PyErr_Occurred() || arrays_open(&arrays, objects, names, ARRAYS, 1 << H | 1 << STATE | 1 << WORKSPACE) != 0)
        return NULL;
    PyObject *const result = recur_opened(arrays.at, &of, stream != Py_None);
    arrays_close(&arrays);
    return result;
}

/* extreme_rows(extremes, x, rows): writes which row of x each of its running extremes is, an i64, for arrays of tables,
 * rows and columns. */
PyObject *core_extreme_rows(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[] = {"extremes", "x", "rows"};
    PyObject *objects[H + 1], *result = NULL;
    struct arrays arrays;
    struct recurrence of = {0};
    struct call call;
    if (!PyArg_ParseTuple(tuple, "OOO", &objects[A], &objects[B], &objects[H]) ||
        arrays_open(&arrays, objects, names, H + 1, 1 << H) != 0)
        return NULL;
    if (!recurrence_describe(&of, &arrays.at[A], &arrays.at[B], &arrays.at[H]) || of.options.tables == 0 ||
        of.options.coefficient_step != of.options.out_step) {
        PyErr_SetString(PyExc_ValueError, "extremes, x and rows: must be the same tables, side by side");
    } else {
        of.options.coefficient_step = 0;
        result = none_or(CALL(&call, &of.options.threads, table_extreme_rows(&of.b, &of.a, &of.h, 0, &of.options)));
    }
    arrays_close(&arrays);
    return result;
}
