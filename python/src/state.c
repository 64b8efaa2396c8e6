/* Sums that go on (tuplescan/state.h). A state is an array of bytes of Python's, which is looked at before each use. */
#include "module.h"

/* The memory of a state whose header says no more than is there, so that the library may believe it. */
static int open_state(struct array *array, PyObject *object, bool writable, void **state, table_state_facts *facts) {
    size_t bytes;
    if (array_open(array, object, writable, "state") != 0)
        return -1;
    if (array_as_bytes(array, state, &bytes, "state") == 0) {
        table_status status = table_state_describe(*state, bytes, facts);
        if (status == TABLE_OK)
            return 0;
        raise_status(status);
    }
    array_close(array);
    return -1;
}

int state_open(struct array *array, PyObject *object, table_type type, size_t columns, void **state) {
    size_t bytes, wanted;
    *state = NULL;
    if (array_open(array, object, true, "state") != 0)
        return -1;
    if (array_as_bytes(array, state, &bytes, "state") == 0) {
        table_status status = table_state_bytes(type, columns, &wanted);
        if (status == TABLE_OK && bytes == wanted)
            return 0;
        if (status != TABLE_OK)
            raise_status(status);
        else
            PyErr_SetString(PyExc_ValueError, "state: has another size");
    }
    array_close(array);
    *state = NULL;
    return -1;
}

static PyObject *none_or(table_status status) { return status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status); }

/* state_bytes(type, columns): how many bytes a state has. */
PyObject *core_state_bytes(PyObject *module, PyObject *tuple) {
    (void)module;
    int type;
    Py_ssize_t columns;
    size_t bytes;
    if (!PyArg_ParseTuple(tuple, "in", &type, &columns))
        return NULL;
    if (columns < 0)
        columns = 0; /* which the library refuses */
    table_status status = table_state_bytes((table_type)type, (size_t)columns, &bytes);
    return status == TABLE_OK ? PyLong_FromSize_t(bytes) : raise_status(status);
}

/* state_begin(state, type, columns, first_row). */
PyObject *core_state_begin(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *object;
    int type;
    Py_ssize_t columns;
    unsigned long long first_row;
    struct array array;
    void *state;
    if (!PyArg_ParseTuple(tuple, "OinK", &object, &type, &columns, &first_row) ||
        state_open(&array, object, (table_type)type, (size_t)columns, &state) != 0)
        return NULL;
    table_status status = table_state_begin(state, (table_type)type, (size_t)columns, first_row);
    array_close(&array);
    return none_or(status);
}

/* state_facts(state): (type, columns, first_row, rows), all 0 if the sum has not begun. */
PyObject *core_state_facts(PyObject *module, PyObject *object) {
    (void)module;
    struct array array;
    void *state;
    table_state_facts facts;
    if (open_state(&array, object, false, &state, &facts) != 0)
        return NULL;
    array_close(&array);
    return Py_BuildValue("(inKK)", (int)facts.type, (Py_ssize_t)facts.columns, (unsigned long long)facts.first_row,
                         (unsigned long long)facts.rows);
}

/* state_sums(state, row): the running sums through the last row, into the row. */
PyObject *core_state_sums(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *state_object, *row_object, *result = NULL;
    struct array array, row;
    void *state;
    table_state_facts facts;
    table_view column;
    if (!PyArg_ParseTuple(tuple, "OO", &state_object, &row_object) ||
        open_state(&array, state_object, false, &state, &facts) != 0)
        return NULL;
    if (array_open(&row, row_object, true, "row") == 0) {
        if (array_as_column(&row, facts.type, &column, "row") == 0) {
            if (column.rows != facts.columns || row.device != -1)
                PyErr_SetString(PyExc_ValueError, "row: must have a value for each column, in host memory");
            else
                result = none_or(table_state_sums(state, column.data));
        }
        array_close(&row);
    }
    array_close(&array);
    return result;
}

/* state_save(state, to): the saved form, as many bytes. */
PyObject *core_state_save(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *state_object, *to_object, *result = NULL;
    struct array array, to;
    void *state, *saved;
    size_t bytes;
    table_state_facts facts;
    if (!PyArg_ParseTuple(tuple, "OO", &state_object, &to_object) ||
        open_state(&array, state_object, false, &state, &facts) != 0)
        return NULL;
    if (array_open(&to, to_object, true, "to") == 0) {
        if (array_as_bytes(&to, &saved, &bytes, "to") == 0)
            result = none_or(table_state_save(state, saved, bytes));
        array_close(&to);
    }
    array_close(&array);
    return result;
}

/* state_load(saved, state): the state, of as many bytes. */
PyObject *core_state_load(PyObject *module, PyObject *tuple) {
    (void)module;
    PyObject *saved_object, *state_object, *result = NULL;
    struct array from, array;
    void *saved, *state;
    size_t saved_bytes, bytes;
    if (!PyArg_ParseTuple(tuple, "OO", &saved_object, &state_object) ||
        array_open(&from, saved_object, false, "saved") != 0)
        return NULL;
    if (array_open(&array, state_object, true, "state") == 0) {
        if (array_as_bytes(&from, &saved, &saved_bytes, "saved") == 0 &&
            array_as_bytes(&array, &state, &bytes, "state") == 0) {
            if (saved_bytes != bytes)
                PyErr_SetString(PyExc_ValueError, "state: has another size than its saved form");
            else
                result = none_or(table_state_load(saved, bytes, state));
        }
        array_close(&array);
    }
    array_close(&from);
    return result;
}

/* Two states, of which the first one may be written. */
static int open_two(struct array *arrays, PyObject *tuple, bool writable, void **states) {
    PyObject *objects[2];
    table_state_facts facts;
    if (!PyArg_ParseTuple(tuple, "OO", &objects[0], &objects[1]) ||
        open_state(&arrays[0], objects[0], writable, &states[0], &facts) != 0)
        return -1;
    if (open_state(&arrays[1], objects[1], false, &states[1], &facts) == 0)
        return 0;
    array_close(&arrays[0]);
    return -1;
}

/* state_equal(a, b). */
PyObject *core_state_equal(PyObject *module, PyObject *tuple) {
    (void)module;
    struct array arrays[2];
    void *states[2];
    if (open_two(arrays, tuple, false, states) != 0)
        return NULL;
    int equal = table_state_equal(states[0], states[1]);
    array_close(&arrays[1]);
    array_close(&arrays[0]);
    return PyBool_FromLong(equal);
}

/* state_join(left, right): left followed by right. */
PyObject *core_state_join(PyObject *module, PyObject *tuple) {
    (void)module;
    struct array arrays[2];
    void *states[2];
    if (open_two(arrays, tuple, true, states) != 0)
        return NULL;
    table_status status = table_state_join(states[0], states[1]);
    array_close(&arrays[1]);
    array_close(&arrays[0]);
    return none_or(status);
}
