/* Sums that go on (tuplescan/state.h). A state is an array of bytes of Python's, which is looked at before each use. */
#include "module.h"

static int wrong(PyObject *exception, const char *name, const char *what) {
    PyErr_Format(exception, "%s: %s", name, what);
    return -1;
}

/* state_bytes(type, columns, operation): how many bytes a state has. */
PyObject *core_state_bytes(PyObject *module, PyObject *tuple) {
    (void)module;
    int type, operation;
    Py_ssize_t columns;
    size_t bytes;
    if (!PyArg_ParseTuple(tuple, "ini", &type, &columns, &operation))
        return NULL;
    if (columns < 0)
        columns = 0; /* which the library refuses */
    table_status status = table_state_bytes_of((table_operation)operation, (table_type)type, (size_t)columns, &bytes);
    return status == TABLE_OK ? PyLong_FromSize_t(bytes) : raise_status(status);
}

/* state_begin(state, type, columns, first_row, operation). */
PyObject *core_state_begin(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *object;
    int type, operation;
    Py_ssize_t columns;
    unsigned long long first_row;
    struct array array;
    void *state;
    if (!PyArg_ParseTuple(tuple, "OinKi", &object, &type, &columns, &first_row, &operation) ||
        array_open_state(&array, object, (table_operation)operation, (table_type)type, (size_t)columns, &state) != 0)
        return NULL;
    const table_status status =
        table_state_begin_of(state, (table_operation)operation, (table_type)type, (size_t)columns, first_row);
    array_close(&array);
    return none_or(status);
}

/* Opens the two arguments of a call (or one, which is no tuple). Those whose bits are in `states` must be states whose
 * headers say no more than is there, so that the library may believe them. */
static int open_states(struct columns *columns, PyObject *arguments, const char *const *names, unsigned written,
                       unsigned states, table_state_facts *facts) {
    PyObject *objects[2] = {arguments};
    const int count = PyTuple_Check(arguments) ? 2 : 1;
    if ((count == 2 && !PyArg_ParseTuple(arguments, "OO", &objects[0], &objects[1])) ||
        columns_open(columns, objects, names, count, written, false) != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        const table_view *view = &columns->views[i];
        if (states >> i & 1 && view->type != TABLE_U8)
            wrong(PyExc_TypeError, names[i], "has elements of the wrong type");
        else if (states >> i & 1)
            Py_XDECREF(none_or(table_state_describe(view->data, view->rows, facts)));
    }
    if (!PyErr_Occurred())
        return 0;
    columns_close(columns);
    return -1;
}

static PyObject *close_states(struct columns *columns, table_status status) {
    columns_close(columns);
    return none_or(status);
}

/* state_facts(state): (type, columns, first_row, rows, operation), all 0 if the sum has not begun. */
PyObject *core_state_facts(PyObject *module, PyObject *object) {
    (void)module;
    static const char *const names[] = {"state"};
    struct columns columns;
    table_state_facts facts;
    if (open_states(&columns, object, names, 0, 1, &facts) != 0)
        return NULL;
    columns_close(&columns);
    return Py_BuildValue("(inKKi)", (int)facts.type, (Py_ssize_t)facts.columns, (unsigned long long)facts.first_row,
                         (unsigned long long)facts.rows, (int)facts.operation);
}

/* state_sums(state, row): the running sums through the last row, into the row. */
PyObject *core_state_sums(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[] = {"state", "row"};
    struct columns columns;
    table_state_facts facts;
    if (open_states(&columns, tuple, names, 2, 1, &facts) != 0)
        return NULL;
    const table_view *row = &columns.views[1];
    if (row->type == facts.type && row->rows == facts.columns)
        return close_states(&columns, table_state_sums(columns.views[0].data, row->data));
    wrong(row->type == facts.type ? PyExc_ValueError : PyExc_TypeError, "row",
          row->type == facts.type ? "must have a value for each column" : "has elements of the wrong type");
    columns_close(&columns);
    return NULL;
}

/* state_save(state, to): the saved form, as many bytes. */
PyObject *core_state_save(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[] = {"state", "to"};
    struct columns columns;
    table_state_facts facts;
    if (open_states(&columns, tuple, names, 2, 1, &facts) != 0)
        return NULL;
    const table_view *views = columns.views;
    return close_states(&columns, table_state_save(views[0].data, views[1].data, views[1].rows));
}

/* state_load(saved, state): the state, of as many bytes. */
PyObject *core_state_load(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[] = {"saved", "state"};
    struct columns columns;
    if (open_states(&columns, tuple, names, 2, 0, NULL) != 0)
        return NULL;
    const table_view *views = columns.views;
    if (views[0].type == TABLE_U8 && views[1].type == TABLE_U8 && views[0].rows == views[1].rows)
        return close_states(&columns, table_state_load(views[0].data, views[0].rows, views[1].data));
    wrong(PyExc_ValueError, "state", "has another size than its saved form");
    columns_close(&columns);
    return NULL;
}

/* state_equal(a, b). */
PyObject *core_state_equal(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[] = {"a", "b"};
    struct columns columns;
    table_state_facts facts;
    if (open_states(&columns, tuple, names, 0, 3, &facts) != 0)
        return NULL;
    const int equal = table_state_equal(columns.views[0].data, columns.views[1].data);
    columns_close(&columns);
    return PyBool_FromLong(equal);
}

/* state_join(left, right): left followed by right. */
PyObject *core_state_join(PyObject *module, PyObject *tuple) {
    (void)module;
    static const char *const names[] = {"left", "right"};
    struct columns columns;
    table_state_facts facts;
    if (open_states(&columns, tuple, names, 1, 3, &facts) != 0)
        return NULL;
    return close_states(&columns, table_state_join(columns.views[0].data, columns.views[1].data));
}
