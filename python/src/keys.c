/* The pipelines on keys, on one-dimensional arrays in host memory. */
#include "module.h"

/* Opens up to three columns; an object that is None leaves an empty view. `written` is a bit for each of them. */
static int open_columns(struct array *arrays, table_view *views, PyObject *const *objects, const char *const *names,
                        int count, unsigned written) {
    for (int i = 0; i < count; i++) {
        arrays[i] = (struct array){0};
        views[i] = (table_view){0};
    }
    for (int i = 0; i < count; i++) {
        if (objects[i] == Py_None)
            continue;
        if (array_open(&arrays[i], objects[i], written >> i & 1, names[i]) != 0)
            goto fail;
        if (array_as_column(&arrays[i], 0, &views[i], names[i]) != 0)
            goto fail;
        if (arrays[i].device != -1) {
            PyErr_Format(PyExc_ValueError, "%s: must be in host memory", names[i]);
            goto fail;
        }
    }
    return 0;
fail:
    for (int i = 0; i < count; i++)
        array_close(&arrays[i]);
    return -1;
}

static PyObject *close_columns(struct array *arrays, int count, table_status status) {
    PyObject *result = status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status);
    for (int i = 0; i < count; i++)
        array_close(&arrays[i]);
    return result;
}

/* histogram(values, weights, result, edges, first): edges None: bins of one integer each, the first counts `first`. */
PyObject *core_histogram(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[4];
    static const char *const names[] = {"values", "weights", "result", "edges"};
    struct array arrays[4];
    table_view views[4];
    long long first;
    if (!PyArg_ParseTuple(tuple, "OOOOL", &objects[0], &objects[1], &objects[2], &objects[3], &first) ||
        open_columns(arrays, views, objects, names, 4, 1u << 2) != 0)
        return NULL;
    bool edges = objects[3] != Py_None;
    table_bins bins = {.kind = edges ? TABLE_BINS_EDGES : TABLE_BINS_INTEGER,
                       .count = views[2].rows,
                       .edges = views[3].data,
                       .first = first};
    if (edges && (views[3].type != views[0].type || views[3].rows != bins.count + 1)) {
        Py_DECREF(close_columns(arrays, 4, TABLE_OK));
        PyErr_SetString(PyExc_ValueError, "edges: must be one more than the bins, of the type of the values");
        return NULL;
    }
    table_view result = {views[2].data, 1, views[2].rows, 0, views[2].type};
    table_histogram_options options = {.weights = objects[1] == Py_None ? NULL : &views[1]};
    struct call call;
    const table_status status = call_begin(&call, &options.run.threads) == 0
                                    ? call_end(&call, table_histogram(&views[0], &bins, &result, &options))
                                    : TABLE_ERROR_ARGUMENT;
    return close_columns(arrays, 4, status);
}

/* sort(keys, descending): in place. */
PyObject *core_sort(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *object;
    static const char *const names[] = {"keys"};
    struct array array;
    table_view keys;
    table_sort_options options = {0};
    if (!PyArg_ParseTuple(tuple, "Op", &object, &options.descending) ||
        open_columns(&array, &keys, &object, names, 1, 1) != 0)
        return NULL;
    struct call call;
    const table_status status = call_begin(&call, &options.run.threads) == 0
                                    ? call_end(&call, table_radix_sort(&keys, NULL, 0, &options))
                                    : TABLE_ERROR_ARGUMENT;
    return close_columns(&array, 1, status);
}

/* argsort(keys, order, descending). */
PyObject *core_argsort(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[2];
    static const char *const names[] = {"keys", "order"};
    struct array arrays[2];
    table_view views[2];
    table_sort_options options = {0};
    if (!PyArg_ParseTuple(tuple, "OOp", &objects[0], &objects[1], &options.descending) ||
        open_columns(arrays, views, objects, names, 2, 2) != 0)
        return NULL;
    struct call call;
    const table_status status = call_begin(&call, &options.run.threads) == 0
                                    ? call_end(&call, table_argsort(&views[0], &views[1], &options))
                                    : TABLE_ERROR_ARGUMENT;
    return close_columns(arrays, 2, status);
}

/* digit_counts(keys, counters, first_bit, bits, descending, chunk_length): counters is the table, row after row, or
 * None to ask how many rows it has. */
PyObject *core_digit_counts(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[2];
    static const char *const names[] = {"keys", "counters"};
    struct array arrays[2];
    table_view views[2];
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
    if (open_columns(arrays, views, objects, names, 2, 2) != 0)
        return NULL;
    size_t chunks = table_digit_chunks(views[0].rows, (size_t)chunk_length, digit.bits);
    if (objects[1] == Py_None) {
        Py_DECREF(close_columns(arrays, 2, TABLE_OK));
        return PyLong_FromSize_t(chunks);
    }
    table_view counters = {views[1].data, chunks, (size_t)1 << digit.bits, 0, views[1].type};
    if (views[1].rows != chunks << digit.bits) {
        Py_DECREF(close_columns(arrays, 2, TABLE_OK));
        return PyErr_Format(PyExc_ValueError, "counters: must have %zu rows of 2^%u", chunks, digit.bits);
    }
    table_pipeline_options options = {0};
    struct call call;
    const table_status status =
        call_begin(&call, &options.threads) == 0
            ? call_end(&call, table_digit_counts(&views[0], &digit, (size_t)chunk_length, &counters, &options))
            : TABLE_ERROR_ARGUMENT;
    return close_columns(arrays, 2, status);
}
