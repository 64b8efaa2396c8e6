/* Running sums of segments: of the rows of columns, which make up tables here; and the order that puts the rows of a
 * group side by side. */
#include "module.h"

enum { X, OUT, SEGMENTS, START, ARGUMENTS };

/* The values at `data` that there are to be; -1 and an exception where the array has others. */
static int check_length(const table_view *view, size_t rows, size_t columns, const char *name) {
    if (view->rows == rows * columns)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: has %zu values, and not %zu x %zu", name, view->rows, rows, columns);
    return -1;
}

static table_view as_table(const table_view *column, size_t rows, size_t columns) {
    return (table_view){.data = column->data, .rows = rows, .columns = columns, .type = column->type};
}

static PyObject *run(const table_view *views, size_t columns, table_segments *segments, int flags) {
    uint64_t overflow = TABLE_NO_OVERFLOW, skipped = 0;
    const size_t rows = views[X].rows / columns, count = segments->count;
    const bool totals = flags & FLAG_TOTALS;
    const table_view in = as_table(&views[X], rows, columns);
    const size_t out_rows = totals ? count : flags & FLAG_OFFSETS ? rows + count : rows;
    table_view out = as_table(&views[OUT], out_rows, columns);
    table_scan_options options = {.carry_in = views[START].data,
                                  .first_overflow = flags & FLAG_CHECK ? &overflow : NULL,
                                  .skipped = flags & FLAG_SKIP_NAN ? &skipped : NULL};
    const bool of_rows = segments->kind == TABLE_SEGMENT_KEYS || segments->kind == TABLE_SEGMENT_HEADS;
    const size_t values = of_rows ? rows : segments->kind == TABLE_SEGMENT_OFFSETS ? count + 1 : count;
    segments->data = views[SEGMENTS].data;
    segments->type = views[SEGMENTS].type;
    if (flags_read(&options, flags, FLAGS_OF_SCANS | FLAG_OFFSETS | FLAG_TOTALS) != 0 ||
        check_length(&views[SEGMENTS], values, 1, "segments") != 0 ||
        check_length(&views[OUT], out_rows, columns, "out") != 0 ||
        (views[START].data && check_length(&views[START], count, columns, "start") != 0))
        return NULL;
    if (totals) {
        options.carry_out = out.data;
        out = (table_view){.columns = columns, .type = views[OUT].type};
    }
    struct call call;
    const table_status status =
        CALL(&call, &options.threads, table_segmented_prefix_sum(&in, &out, segments, &options));
    if (status != TABLE_OK)
        return raise_status(status);
    if (flags & FLAG_SKIP_NAN)
        return PyLong_FromUnsignedLongLong(skipped);
    if (overflow == TABLE_NO_OVERFLOW)
        Py_RETURN_NONE;
    const size_t row = (size_t)overflow / columns;
    return Py_BuildValue("(nn)", (Py_ssize_t)(options.reverse ? rows - 1 - row : row),
                         (Py_ssize_t)((size_t)overflow % columns));
}

/* segments(x, out, segments, start, columns, count, kind, flags): x, out, segments and start are one-dimensional, side
 * by side, all in host memory or on one device, whose work on them the caller has waited for; x and out have rows of
 * `columns` values, start `count` such rows. With TOTALS so has out. The answer, once the work is done, is None, the
 * (row, column) of the first overflow, or with SKIP_NAN how many were skipped. */
PyObject *core_segments(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[ARGUMENTS] = {"x", "out", "segments", "start"};
    PyObject *objects[ARGUMENTS];
    table_view views[ARGUMENTS];
    struct arrays arrays;
    Py_ssize_t columns, count;
    int kind, flags;
    if (!PyArg_ParseTuple(tuple, "OOOOnnii", &objects[X], &objects[OUT], &objects[SEGMENTS], &objects[START], &columns,
                          &count, &kind, &flags))
        return NULL;
    if (columns < 1 || count < 0)
        return PyErr_Format(PyExc_ValueError, "columns and count must not be negative, nor columns 0");
    if (columns_open(&arrays, views, objects, names, ARGUMENTS, 1 << OUT, true) != 0)
        return NULL;
    table_segments segments = {.kind = (table_segment_kind)kind, .count = (size_t)count};
    PyObject *const result = views[X].rows % (size_t)columns == 0
                                 ? run(views, (size_t)columns, &segments, flags)
                                 : PyErr_Format(PyExc_ValueError, "x: has no whole rows of %zd", columns);
    arrays_close(&arrays);
    return result;
}

/* argsort(keys, order): the places of one-dimensional keys in their order, of equal ones in that of the array. */
PyObject *core_argsort(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[2];
    static const char *const names[] = {"keys", "order"};
    table_view views[2];
    struct arrays arrays;
    table_sort_options options = {0};
    if (!PyArg_ParseTuple(tuple, "OO", &objects[0], &objects[1]) ||
        columns_open(&arrays, views, objects, names, 2, 1 << 1, false) != 0)
        return NULL;
    struct call call;
    const table_status status = CALL(&call, &options.run.threads, table_argsort(&views[0], &views[1], &options));
    arrays_close(&arrays);
    return none_or(status);
}
