#include "call.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../../tools/thread_limit.h"

static _Thread_local bool ended;

PyObject *raise_status(table_status status) {
    if (PyErr_Occurred()) /* by call_begin(), or a signal's handler */
        return NULL;
    PyObject *exception = PyExc_ValueError;
    switch (status) {
    case TABLE_ERROR_TYPE:
        exception = PyExc_TypeError;
        break;
    case TABLE_ERROR_HOST_MEMORY:
    case TABLE_ERROR_DEVICE_MEMORY:
        exception = PyExc_MemoryError;
        break;
    case TABLE_ERROR_BACKEND:
    case TABLE_ERROR_DEVICE:
    case TABLE_ERROR_WORKSPACE:
        exception = PyExc_RuntimeError;
        break;
    default:
        break;
    }
    return PyErr_Format(exception, "%s: %s", table_status_text(status), table_error_detail());
}

PyObject *none_or(table_status status) { return status == TABLE_OK ? Py_NewRef(Py_None) : raise_status(status); }

/* The most threads of all calls, and of one thread's calls; -1: not said, or not yet read. */
static atomic_long limit = -1;
static _Thread_local long limit_here = -1;

bool call_threads(unsigned *threads) {
    long most = limit_here >= 0 ? limit_here : atomic_load(&limit);
    if (most < 0) {
        if (!thread_limit(threads, true))
            return false;
        long not_read = -1;
        most = (long)*threads;
        atomic_compare_exchange_strong(&limit, &not_read, most);
    }
    *threads = (unsigned)most;
    return true;
}

long call_limit(long most) {
    const long before = limit_here;
    limit_here = most;
    return before;
}

long call_number(PyObject *threads) {
    if (threads == Py_None)
        return -1;
    PyObject *number = PyNumber_Index(threads);
    const long most = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    if (most >= 0 && most <= INT_MAX)
        return most;
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "threads: %R is not a number of threads, 0 to %d", threads, INT_MAX);
    return -2;
}

/* limit_threads(threads): call_limit(). */
PyObject *core_limit_threads(PyObject *module, PyObject *threads) {
    (void)module;
    const long most = call_number(threads), before = most == -2 ? most : call_limit(most);
    if (before == -2)
        return NULL;
    return before < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(before);
}

/* set_num_threads(threads): for all calls from now on; None and 0: what environment and control groups say. */
PyObject *core_set_num_threads(PyObject *module, PyObject *threads) {
    (void)module;
    const long most = call_number(threads);
    if (most == -2)
        return NULL;
    atomic_store(&limit, most > 0 ? most : -1);
    Py_RETURN_NONE;
}

static int raise_variable(void) {
    PyErr_Format(PyExc_ValueError, "%s=%s: not a number of threads, 0 to %d", THREAD_LIMIT_VARIABLE,
                 getenv(THREAD_LIMIT_VARIABLE), INT_MAX);
    return -1;
}

/* get_num_threads(): the most that calls of this thread use now. */
PyObject *core_get_num_threads(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    unsigned threads;
    if (!call_threads(&threads))
        return raise_variable(), NULL;
    table_device cpu;
    table_devices(&cpu, 1);
    return PyLong_FromLong(threads > 0 ? (long)threads : cpu.processors);
}

/* Asked by the library, in the thread that made the call. Signals are the main thread's: in others there are none. */
static int look_at_signals(void *context) {
    struct call *call = context;
    PyEval_RestoreThread(call->thread);
    ended = PyErr_CheckSignals() != 0;
    call->thread = PyEval_SaveThread();
    return ended;
}

int call_begin(struct call *call, unsigned *threads) {
    if (!call_threads(threads))
        return raise_variable();
    call->before = table_set_interrupt((table_interrupt){look_at_signals, call});
    call->thread = PyEval_SaveThread();
    return 0;
}

table_status call_end(struct call *call, table_status status) {
    PyEval_RestoreThread(call->thread);
    table_set_interrupt(call->before);
    return PyErr_Occurred() ? TABLE_ERROR_CANCELED : status;
}

bool call_was_ended(void) {
    const bool was = ended;
    ended = false;
    return was;
}
