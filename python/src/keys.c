/* The pipelines on keys, on one-dimensional arrays in host memory. */
#include "module.h"

static PyObject *close_columns(struct columns *columns, table_status status) {
    columns_close(columns);
    return none_or(status);
}

/* histogram(values, weights, result, edges): edges None: bins of one integer each, from 0 on. */
PyObject *core_histogram(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[4];
    static const char *const names[] = {"values", "weights", "result", "edges"};
    struct columns columns;
    const table_view *const views = columns.views;
    if (!PyArg_ParseTuple(tuple, "OOOO", &objects[0], &objects[1], &objects[2], &objects[3]) ||
        columns_open(&columns, objects, names, 4, 1u << 2) != 0)
        return NULL;
    bool edges = objects[3] != Py_None;
    table_bins bins = {
        .kind = edges ? TABLE_BINS_EDGES : TABLE_BINS_INTEGER, .count = views[2].rows, .edges = views[3].data};
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

/* sort(keys, order, descending): in place; with `order` the keys stay, and their places are put there. */
PyObject *core_sort(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[2];
    static const char *const names[] = {"keys", "order"};
    struct columns columns;
    const table_view *const views = columns.views;
    table_sort_options options = {0};
    if (!PyArg_ParseTuple(tuple, "OOp", &objects[0], &objects[1], &options.descending) ||
        columns_open(&columns, objects, names, 2, objects[1] == Py_None ? 1 : 2) != 0)
        return NULL;
    struct call call;
    return close_columns(&columns, CALL(&call, &options.run.threads,
                                        objects[1] == Py_None ? table_radix_sort(&views[0], NULL, 0, &options)
                                                              : table_argsort(&views[0], &views[1], &options)));
}
