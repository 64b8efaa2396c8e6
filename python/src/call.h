/* A call of the library that may take long: without the GIL, and ended where a signal's handler raises an exception. */
#ifndef TUPLESCAN_PYTHON_CALL_H
#define TUPLESCAN_PYTHON_CALL_H

#include "array.h"

struct call {
    PyThreadState *thread;
    table_interrupt before;
};

/* Between the two nothing of Python's may be touched. call_end() gives back the status of the call in between, or
 * CANCELED, with the handler's exception set, which raise_status() leaves as it is. */
void call_begin(struct call *call);
table_status call_end(struct call *call, table_status status);

/* Whether an exception of a signal's handler ended a call in this thread since it was last asked. */
bool call_was_ended(void);

#endif
