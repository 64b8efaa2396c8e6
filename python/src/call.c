#include "call.h"

static _Thread_local bool ended;

/* Asked by the library, in the thread that made the call. Signals are the main thread's: in others there are none. */
static int look_at_signals(void *context) {
    struct call *call = context;
    PyEval_RestoreThread(call->thread);
    ended = PyErr_CheckSignals() != 0;
    call->thread = PyEval_SaveThread();
    return ended;
}

void call_begin(struct call *call) {
    call->before = table_set_interrupt((table_interrupt){look_at_signals, call});
    call->thread = PyEval_SaveThread();
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
