/* A call of the library that may take long: without the GIL, on as many threads as are allowed, and ended where a
 * signal's handler raises an exception. */
#ifndef TUPLESCAN_PYTHON_CALL_H
#define TUPLESCAN_PYTHON_CALL_H

#include "array.h"

struct call {
    PyThreadState *thread;
    table_interrupt before;
};

/* NULL and the exception that the status stands for, with what exactly was wrong; or the one that is set already. */
PyObject *raise_status(table_status status);

/* Python's None if the status is OK. */
PyObject *none_or(table_status status);

/* Sets the most threads that the call is to use. -1 and an exception, which raise_status() leaves as it is, if the
 * environment says no number; then no call_end(). */
int call_begin(struct call *call, unsigned *threads);

/* Between the two nothing of Python's may be touched. Gives back the status of the call in between, or CANCELED, with
 * the handler's exception set, which raise_status() leaves as it is. */
table_status call_end(struct call *call, table_status status);

/* The status of an expression that is a call of the library. */
#define CALL(call, threads, expression)                                                                                \
    (call_begin(call, threads) == 0 ? call_end(call, expression) : TABLE_ERROR_ARGUMENT)

/* The most threads, also without the GIL; 0: as many as help. False: the environment says no number. */
bool call_threads(unsigned *threads);

/* What calls of this thread are limited to, whatever set_num_threads() says; -1: to nothing. Gives back what it was. */
long call_limit(long most);

/* The number of threads that an argument is; -1 for None, -2 and an exception for anything else. */
long call_number(PyObject *threads);

PyObject *core_limit_threads(PyObject *module, PyObject *threads);
PyObject *core_set_num_threads(PyObject *module, PyObject *threads);
PyObject *core_get_num_threads(PyObject *module, PyObject *nothing);

/* Whether an exception of a signal's handler ended a call in this thread since it was last asked. */
bool call_was_ended(void);

#endif
