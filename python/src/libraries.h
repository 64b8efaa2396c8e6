/* Arrays of libraries that this extension knows beyond the buffer protocol and DLPack, for plain calls of cumsum(). */
#ifndef TUPLESCAN_PYTHON_LIBRARIES_H
#define TUPLESCAN_PYTHON_LIBRARIES_H

#include "module.h"

struct library;

/* The library of which x is an array of exactly its type; NULL if the general way has not met one yet. */
const struct library *library_of(const struct module_state *state, PyObject *x);

/* `out`, or a new array of the library. NULL, perhaps with an exception, if the call is one for the general way, which
 * knows what is not plain and says what is wrong. */
PyObject *library_sum(struct module_state *state, const struct library *library, PyObject *x, PyObject *out, long axis,
                      const table_scan_options *options);

/* What a library's workspace is taken for. */
struct place {
    const struct module_state *state;
    const struct array *like;
};

#endif
