/* Sums that go on (tuplescan/state.h). A state is an array of bytes of Python's, which is looked at before each use. */
#include "module.h"

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
    static const char *const names[] = {"state"};
    PyObject *object;
    int type, operation;
    Py_ssize_t columns;
    unsigned long long first_row;
    struct arrays arrays;
    void *state;
    if (!PyArg_ParseTuple(tuple, "OinKi", &object, &type, &columns, &first_row, &operation) ||
        arrays_open(&arrays, &object, names, 1, 1) != 0)
        return NULL;
    PyObject *result = NULL;
    if (array_as_state(arrays.at, (table_operation)operation, (table_type)type, (size_t)columns, &state) == 0)
        result = none_or(
            table_state_begin_of(state, (table_operation)operation, (table_type)type, (size_t)columns, first_row));
    arrays_close(&arrays);
    return result;
}

/* Calls of one state or two arguments. Those whose bits are in `states` must be states whose headers say no more than
 * is there, so that the library may believe them. */
enum state_call { FACTS, SUMS, SAVE, LOAD, EQUAL, JOIN };
static const struct {
    const char *names[2];
    unsigned written, states;
} calls[] = {
    [FACTS] = {{"state"}, 0, 1},         [SUMS] = {{"state", "row"}, 2, 1}, [SAVE] = {{"state", "to"}, 2, 1},
    [LOAD] = {{"saved", "state"}, 2, 0}, [EQUAL] = {{"a", "b"}, 0, 3},      [JOIN] = {{"left", "right"}, 1, 3}};

/* What a call answers, of arguments that are looked at. */
static PyObject *answer(enum state_call which, const struct array *arrays, const table_view *views,
                        const table_state_facts *facts) {
    const table_view row = {.columns = facts->columns, .type = facts->type};
    const table_view saved = {.columns = views[0].rows, .type = TABLE_U8};
    void *data;
    switch (which) {
    case FACTS:
        return Py_BuildValue("(inKKi)", (int)facts->type, (Py_ssize_t)facts->columns,
                             (unsigned long long)facts->first_row, (unsigned long long)facts->rows,
                             (int)facts->operation);
    case SUMS:
        return array_as_row(&arrays[1], &row, -1, "row", &data) == 0 ? none_or(table_state_sums(views[0].data, data))
                                                                     : NULL;
    case SAVE:
        return none_or(table_state_save(views[0].data, views[1].data, views[1].rows));
    case LOAD:
        return array_as_row(&arrays[0], &saved, -1, "saved", &data) == 0 &&
                       array_as_row(&arrays[1], &saved, -1, "state", &data) == 0
                   ? none_or(table_state_load(views[0].data, views[0].rows, data))
                   : NULL;
    case EQUAL:
        return PyBool_FromLong(table_state_equal(views[0].data, views[1].data));
    default:
        return none_or(table_state_join(views[0].data, views[1].data));
    }
}

static PyObject *call(enum state_call which, PyObject *arguments) {
    const char *const *names = calls[which].names;
    const int count = which == FACTS ? 1 : 2;
    PyObject *objects[2] = {arguments};
    table_state_facts facts = {0};
    table_view views[2] = {0};
    struct arrays arrays;
    if ((count == 2 && !PyArg_ParseTuple(arguments, "OO", &objects[0], &objects[1])) ||
        columns_open(&arrays, views, objects, names, count, calls[which].written, false) != 0)
        return NULL;
    for (int i = 0; i < count && !PyErr_Occurred(); i++)
        if (calls[which].states >> i & 1 && views[i].type == TABLE_U8)
            Py_XDECREF(none_or(table_state_describe(views[i].data, views[i].rows, &facts)));
        else if (calls[which].states >> i & 1)
            PyErr_Format(PyExc_TypeError, "%s: has elements of the wrong type", names[i]);
    PyObject *const result = PyErr_Occurred() ? NULL : answer(which, arrays.at, views, &facts);
    arrays_close(&arrays);
    return result;
}

/* state_facts(state): (type, columns, first_row, rows, operation), all 0 if the sum has not begun. */
PyObject *core_state_facts(PyObject *module, PyObject *state) { return (void)module, call(FACTS, state); }

/* state_sums(state, row): the running sums through the last row, into the row. */
PyObject *core_state_sums(PyObject *module, PyObject *tuple) { return (void)module, call(SUMS, tuple); }

/* state_save(state, to): the saved form, as many bytes. */
PyObject *core_state_save(PyObject *module, PyObject *tuple) { return (void)module, call(SAVE, tuple); }

/* state_load(saved, state): the state, of as many bytes. */
PyObject *core_state_load(PyObject *module, PyObject *tuple) { return (void)module, call(LOAD, tuple); }

/* state_equal(a, b). */
PyObject *core_state_equal(PyObject *module, PyObject *tuple) { return (void)module, call(EQUAL, tuple); }

/* state_join(left, right): left followed by right. */
PyObject *core_state_join(PyObject *module, PyObject *tuple) { return (void)module, call(JOIN, tuple); }
