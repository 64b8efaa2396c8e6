/* The pipelines on keys, on one-dimensional arrays in host memory. */
#include "module.h"

static PyObject *close_columns(struct columns *columns, table_status status) {
    columns_close(columns);
    return none_or(status);
}

/* histogram(values, weights, result, edges, first): edges None: bins of one integer each, the first counts `first`. */
PyObject *core_histogram(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[4];
    static const char *const names[] = {"values", "weights", "result", "edges"};
    struct columns columns;
    const table_view *const views = columns.views;
    long long first;
    if (!PyArg_ParseTuple(tuple, "OOOOL", &objects[0], &objects[1], &objects[2], &objects[3], &first) ||
        columns_open(&columns, objects, names, 4, 1u << 2) != 0)
        return NULL;
    bool edges = objects[3] != Py_None;
    table_bins bins = {.kind = edges ? TABLE_BINS_EDGES : TABLE_BINS_INTEGER,
                       .count = views[2].rows,
                       .edges = views[3].data,
                       .first = first};
    if (edges && (views[3].type != views[0].type || views[3].rows != bins.count + 1)) {
        columns_close(&columns);
        PyErr_SetString(PyExc_ValueError, "edges: must be one more than the bins, of the type of the values");
        return NULL;
    }
    table_view result = {views[2].data, 1, views[2].rows, 0, views[2].type};
    table_histogram_options options = {.weights = objects[1] == Py_None ? NULL : &views[1]};
    struct call call;
    return close_columns(&columns,
                         CALL(&call, &options.run.threads, table_histogram(&views[0], &bins, &result, &options)));
}

/* sort(keys, descending): in place. */
PyObject *core_sort(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *object;
    static const char *const names[] = {"keys"};
    struct columns columns;
    const table_view *const views = columns.views;
    table_sort_options options = {0};
    if (!PyArg_ParseTuple(tuple, "Op", &object, &options.descending) ||
        columns_open(&columns, &object, names, 1, 1) != 0)
        return NULL;
    struct call call;
    return close_columns(&columns, CALL(&call, &options.run.threads, table_radix_sort(&views[0], NULL, 0, &options)));
}

/* argsort(keys, order, descending). */
PyObject *core_argsort(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[2];
    static const char *const names[] = {"keys", "order"};
    struct columns columns;
    const table_view *const views = columns.views;
    table_sort_options options = {0};
    if (!PyArg_ParseTuple(tuple, "OOp", &objects[0], &objects[1], &options.descending) ||
        columns_open(&columns, objects, names, 2, 2) != 0)
        return NULL;
    struct call call;
    return close_columns(&columns, CALL(&call, &options.run.threads, table_argsort(&views[0], &views[1], &options)));
}

/* digit_counts(keys, counters, first_bit, bits, descending, chunk_length): counters is the table, row after row, or
 * None to ask how many rows it has. */
PyObject *core_digit_counts(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[2];
    static const char *const names[] = {"keys", "counters"};
    struct columns columns;
    const table_view *const views = columns.views;
    table_digit digit = {0};
    Py_ssize_t first_bit, bits, chunk_length;
    if (!PyArg_ParseTuple(tuple, "OOnnpn", &objects[0], &objects[1], &first_bit, &bits, &digit.descending,
                          &chunk_length))
        return NULL;
    if (bits < 1 || bits > TABLE_DIGIT_BITS_MOST || first_bit < 0 || first_bit >= 64 || chunk_length < 0)
        return PyErr_Format(PyExc_ValueError, "bits must be 1 to %d, first_bit 0 to 63, chunk_length not negative",
                            TABLE_DIGIT_BITS_MOST);
    digit.first_bit = (unsigned)first_bit;
    digit.bits = (unsigned)bits;
    if (columns_open(&columns, objects, names, 2, 2) != 0)
        return NULL;
    size_t chunks = table_digit_chunks(views[0].rows, (size_t)chunk_length, digit.bits);
    if (objects[1] == Py_None) {
        columns_close(&columns);
        return PyLong_FromSize_t(chunks);
    }
    table_view counters = {views[1].data, chunks, (size_t)1 << digit.bits, 0, views[1].type};
    if (views[1].rows != chunks << digit.bits) {
        columns_close(&columns);
        return PyErr_Format(PyExc_ValueError, "counters: must have %zu rows of 2^%u", chunks, digit.bits);
    }
    table_pipeline_options options = {0};
    struct call call;
    return close_columns(&columns,
                         CALL(&call, &options.threads,
                              table_digit_counts(&views[0], &digit, (size_t)chunk_length, &counters, &options)));
}
