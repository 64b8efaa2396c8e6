/* cumsum() itself: the calls that are a table prefix sum as they stand, at once; all others go to tuplescan._arrays,
 * which knows numpy. */
#include "module.h"

const char core_cumsum_doc[] = "cumsum(x, axis=0, dtype=None, out=None, *, exclusive=False, reverse=False, "
                               "start=None, check_overflow=False, stream=None, state=None, threads=None)\n"
                               "--\n\n"
                               "Running sums along an axis: numpy.cumsum() with the first axis as the default.\n"
                               "\n"
                               "result[i] = start + x[0] + ... + x[i], for each place of the other axes. Float\n"
                               "results have the same bits on every machine and with any number of threads.\n"
                               "\n"
                               "Parameters\n"
                               "----------\n"
                               "x : array of any shape\n"
                               "    A numpy array or what numpy.asarray() takes; a CuPy, torch or JAX array on CUDA.\n"
                               "    bool, integers of 8 to 64 bits, floats of 16, 32 and 64, bfloat16, complex\n"
                               "    numbers of 64 and 128 (not on CUDA). Written only if it is out, too.\n"
                               "axis : int or None\n"
                               "    The axis to sum along; None: x as one axis, in row-major order.\n"
                               "dtype : dtype, optional\n"
                               "    What x is converted to before it is summed, and the type of the sums. By\n"
                               "    default as numpy has it: that of out, if given; otherwise 64 bits for\n"
                               "    integers and bool, x's own type for floats. Integers wrap.\n"
                               "out : array of the result's shape, optional\n"
                               "    Where to put the result, cast as numpy casts it. May be x itself.\n"
                               "exclusive : bool\n"
                               "    result[i] = start + x[0] + ... + x[i - 1] instead.\n"
                               "reverse : bool\n"
                               "    Sum from the last place to the first.\n"
                               "start : scalar or array, optional\n"
                               "    What the sums begin with; its shape must broadcast to x's without the axis.\n"
                               "check_overflow : bool\n"
                               "    Integers only: raise OverflowAt if a sum leaves its type; what x loses when\n"
                               "    it is converted to dtype is not looked at. out is written, and the state\n"
                               "    goes on. With a state, rows are counted from the first one of\n"
                               "    all, in the order in which they are summed.\n"
                               "stream : int or object with __cuda_stream__, optional\n"
                               "    Arrays on CUDA only: the stream to work on, instead of the current one of\n"
                               "    x's library.\n"
                               "state : State, optional\n"
                               "    Go on from the rows that it has summed, and leave it after x's last row:\n"
                               "    pieces of an array have the bits of the whole, wherever it is cut. Only for\n"
                               "    axis 0, integers and real floats, of all libraries; arrays on CUDA\n"
                               "    are waited for. start only in the first call. Sums of 8 and 16 bits\n"
                               "    have a state of 64-bit integers or float32, in which they are added.\n"
                               "threads : int, optional\n"
                               "    The most threads of the CPU to use, whatever set_num_threads() says; 0: as many\n"
                               "    as help.\n"
                               "\n"
                               "Returns\n"
                               "-------\n"
                               "out, or a new array of x's library\n"
                               "    Of x's shape, (1,) for a scalar.\n"
                               "\n"
                               "Raises\n"
                               "------\n"
                               "TypeError\n"
                               "    For types that are not summed here (object, longdouble, times, text; complex\n"
                               "    on CUDA).\n"
                               "ValueError\n"
                               "    For shapes that do not match, what contradicts itself and a state that does\n"
                               "    not fit.\n"
                               "numpy.exceptions.AxisError\n"
                               "    For an axis that is not there.\n"
                               "OverflowAt\n"
                               "    With check_overflow.\n"
                               "RuntimeError\n"
                               "    If the CUDA backend fails or is not there.\n"
                               "\n"
                               "Examples\n"
                               "--------\n"
                               ">>> import numpy as np\n"
                               ">>> tuplescan.cumsum(np.array([[1, 2], [3, 4], [5, 6]]))\n"
                               "array([[ 1,  2],\n"
                               "       [ 4,  6],\n"
                               "       [ 9, 12]])\n"
                               ">>> tuplescan.cumsum([1.0, 2.0, 3.0], exclusive=True, start=10)\n"
                               "array([10., 11., 13.])\n";

enum { X, AXIS, DTYPE, OUT, EXCLUSIVE, REVERSE, START, CHECK_OVERFLOW, STREAM, STATE, THREADS, PARAMETERS };
enum { POSITIONAL = OUT + 1 };
static const char *const parameter_names[PARAMETERS] = {
    "x", "axis", "dtype", "out", "exclusive", "reverse", "start", "check_overflow", "stream", "state", "threads"};

static int parameter_of(PyObject *name) {
    for (int i = 0; i < PARAMETERS; i++)
        if (PyUnicode_CompareWithASCIIString(name, parameter_names[i]) == 0)
            return i;
    return -1;
}

/* Sorts the arguments by parameter; those not given stay NULL. */
static int read_arguments(PyObject **values, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    if (count > POSITIONAL) {
        PyErr_Format(PyExc_TypeError, "cumsum() takes at most %d positional arguments, %zd were given", POSITIONAL,
                     count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        values[i] = arguments[i];
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        int parameter = parameter_of(name);
        if (parameter < 0 || values[parameter]) {
            PyErr_Format(PyExc_TypeError,
                         parameter < 0 ? "cumsum() got an unexpected keyword argument %R"
                                       : "cumsum() got several values for %R",
                         name);
            return -1;
        }
        values[parameter] = arguments[count + i];
    }
    if (!values[X])
        PyErr_SetString(PyExc_TypeError, "cumsum() misses its argument x");
    return values[X] ? 0 : -1;
}

/* The rest of numpy's behaviour, in Python. */
static PyObject *general(struct module_state *state, PyObject *const *values) {
    if (!kept(state, GENERAL)) {
        PyObject *calls = PyImport_ImportModule("tuplescan._calls");
        PyObject *cumsum = calls ? PyObject_GetAttrString(calls, "cumsum") : NULL;
        Py_XDECREF(calls);
        if (!cumsum)
            return NULL;
        keep(state, GENERAL, cumsum);
    }
    PyObject *options = PyDict_New(), *result = NULL;
    PyObject *x = PyTuple_Pack(1, values[X]);
    for (int i = AXIS; options && i < THREADS; i++)
        if (values[i] && PyDict_SetItemString(options, parameter_names[i], values[i]) != 0)
            Py_CLEAR(options);
    if (options && x)
        result = PyObject_Call(state->kept[GENERAL], x, options);
    Py_XDECREF(x);
    Py_XDECREF(options);
    return result;
}

static bool left_out(PyObject *value, PyObject *usual) { return !value || value == Py_None || value == usual; }

static bool is_flag(PyObject *value) { return left_out(value, Py_False) || value == Py_True; }

/* Whether nothing is asked that only the general way does; exclusive and reversed sums may be. */
static bool is_plain(PyObject *const *values) {
    return left_out(values[DTYPE], NULL) && is_flag(values[EXCLUSIVE]) && is_flag(values[REVERSE]) &&
           left_out(values[START], NULL) && left_out(values[CHECK_OVERFLOW], Py_False) &&
           left_out(values[STREAM], NULL) && left_out(values[STATE], NULL);
}

/* NULL, with an exception if that is not for the general way to tell: it is to make the call. */
static PyObject *run_at_once(const struct module_state *state, PyObject *const *objects, PyObject *axis,
                             const table_scan_options *options) {
    const struct library *library = library_of(state, objects[OF_X]);
    bool is_plain = library && (!axis || PyLong_CheckExact(axis));
    for (int i = OF_X + 1; i < OBJECTS; i++)
        is_plain &= !objects[i] || Py_TYPE(objects[i]) == Py_TYPE(objects[OF_X]);
    if (!is_plain)
        return NULL;
    call_was_ended(); /* an earlier one */
    const long along = axis ? PyLong_AsLong(axis) : 0;
    const bool is_number = along != -1 || !PyErr_Occurred();
    PyObject *result = is_number ? library_run(state, library, objects, along, options) : NULL;
    if (!result && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_MemoryError) && !call_was_ended())
        PyErr_Clear(); /* the general way reports the error in numpy's words */
    return result;
}

static PyObject *none_as_null(PyObject *value) { return value == Py_None ? NULL : value; }

static PyObject *sum(struct module_state *state, PyObject *const *values) {
    const table_scan_options options = {.exclusive = values[EXCLUSIVE] == Py_True,
                                        .reverse = values[REVERSE] == Py_True};
    PyObject *const objects[OBJECTS] = {[OF_X] = values[X], [OF_OUT] = none_as_null(values[OUT])};
    PyObject *result = is_plain(values) ? run_at_once(state, objects, values[AXIS], &options) : NULL;
    return result || PyErr_Occurred() ? result : general(state, values);
}

/* at_once(x, axis, out, flags, a, start): running results of x, or, if there is an `a`, its recurrence. `out` and start
 * may be None. The answer is None if it is for the general way to make the call. */
PyObject *core_at_once(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (count != 4 && count != 6)
        return PyErr_Format(PyExc_TypeError, "at_once() takes 4 or 6 arguments, %zd were given", count);
    table_scan_options options = {0};
    PyObject *const objects[OBJECTS] = {[OF_X] = arguments[0],
                                        [OF_OUT] = none_as_null(arguments[2]),
                                        [OF_A] = count > 4 ? arguments[4] : NULL,
                                        [OF_START] = count > 4 ? none_as_null(arguments[5]) : NULL};
    const long flags = PyLong_AsLong(arguments[3]);
    if (PyErr_Occurred() || flags_read(&options, (int)flags, FLAG_EXCLUSIVE | FLAG_REVERSE) != 0)
        return NULL;
    PyObject *result = run_at_once(PyModule_GetState(module), objects, arguments[1], &options);
    return result || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

PyObject *core_cumsum(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {
    struct module_state *state = PyModule_GetState(module);
    PyObject *values[PARAMETERS] = {0};
    if (read_arguments(values, arguments, count, names) != 0)
        return NULL;
    if (left_out(values[THREADS], NULL))
        return sum(state, values);
    const long most = call_number(values[THREADS]);
    if (most == -2)
        return NULL;
    const long before = call_limit(most);
    PyObject *result = sum(state, values);
    call_limit(before);
    return result;
}
