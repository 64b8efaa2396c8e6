/* Linear recurrences of two-dimensional arrays in host memory, along their first axis. */
#include "module.h"

enum { A, B, H, START, STATE, ARRAYS };

static PyObject *recur_opened(struct array *arrays, PyObject *const *objects, table_scan_options *options) {
    static const char *const names[] = {"a", "b", "out"};
    table_view views[START];
    for (int i = A; i <= H; i++) {
        if (array_open(&arrays[i], objects[i], i == H, names[i]) != 0)
            return NULL;
        if (arrays[i].dims != 2 || arrays[i].device != -1 || !tables_view(&views[i], &arrays[i], 0)) {
            PyErr_Format(PyExc_ValueError, "%s: must be a table in host memory, its columns side by side", names[i]);
            return NULL;
        }
    }
    const table_type kept = table_sum_type(views[H].type);
    const table_view row = {.columns = views[H].columns, .type = kept};
    void *start;
    if (array_open_row(&arrays[START], objects[START], false, &row, -1, "start", &start) != 0 ||
        array_open_state(&arrays[STATE], objects[STATE], TABLE_RECURRENCE, kept, row.columns, &options->state) != 0)
        return NULL;
    options->carry_in = start;
    struct call call;
    return none_or(CALL(&call, &options->threads, table_linear_recurrence(&views[A], &views[B], &views[H], options)));
}

/* recurrence(a, b, out, exclusive, reverse, start, state): out[i] = a[i] * out[i - 1] + b[i]. `a` has one row or those
 * of b, and one column or those of b; start and state may be None. */
PyObject *core_recurrence(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *objects[ARRAYS];
    struct array arrays[ARRAYS] = {0};
    table_scan_options options = {0};
    if (!PyArg_ParseTuple(tuple, "OOOppOO", &objects[A], &objects[B], &objects[H], &options.exclusive, &options.reverse,
                          &objects[START], &objects[STATE]))
        return NULL;
    PyObject *result = recur_opened(arrays, objects, &options);
    for (int i = 0; i < ARRAYS; i++)
        array_close(&arrays[i]);
    return result;
}
