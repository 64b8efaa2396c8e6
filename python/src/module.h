/* The functions of tuplescan._core, by file. Each takes its arguments from Python as it gets them, checks what memory
 * safety needs, and calls the library once for each table. What numpy does beyond that is in the .py files. */
#ifndef TUPLESCAN_PYTHON_MODULE_H
#define TUPLESCAN_PYTHON_MODULE_H

#include "array.h"
#include "call.h"
#include "tables.h"

/* What the module keeps of libraries, once the general way has met an array of them; NULL before. */
enum {
    GENERAL, /* tuplescan._calls.cumsum */
    NUMPY_NDARRAY,
    NUMPY_EMPTY,
    TENSOR,               /* a type that has DLPack's exchange table */
    TENSOR_DEVICE,        /* the function that tells its library's current device */
    TENSOR_REQUIRES_GRAD, /* names of attributes */
    TENSOR_IS_NEG,
    CUPY_NDARRAY, /* types and functions of CuPy */
    CUPY_EMPTY,
    CUPY_ALLOC,
    CUPY_DEVICE,
    CUPY_STREAM,
    CUPY_DATA, /* names of attributes */
    CUPY_PTR,
    CUPY_DEVICE_ID,
    CUPY_SHAPE,
    CUPY_STRIDES,
    CUPY_DTYPE,
    TYPES, /* numpy's dtype objects, by table_type; NULL for types that it has not */
    KEPT = TYPES + TABLE_BF16 + 1
};

/* An object once kept stays, so that threads may read it while others make the same one. */
struct module_state {
    PyObject *kept[KEPT];
    const struct dlpack_exchange *exchange; /* of TENSOR */
};

/* A kept object; all that was kept before it is seen, too. */
static inline PyObject *kept(const struct module_state *state, int which) {
    return __atomic_load_n(&state->kept[which], __ATOMIC_ACQUIRE);
}

/* Keeps `by`, whose reference it takes over, unless there is something already. */
static inline void keep(struct module_state *state, int which, PyObject *by) {
    PyObject *none = NULL;
    if (!__atomic_compare_exchange_n(&state->kept[which], &none, by, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        Py_XDECREF(by);
}

/* What a call asks for, as bits of one number, in which a table_operation begins at bit FLAG_OPERATION; _types.py has
 * them, too. */
enum { FLAG_EXCLUSIVE = 1, FLAG_REVERSE = 2, FLAG_CHECK = 4, FLAG_SKIP_NAN = 8, FLAG_OFFSETS = 16 };
enum { FLAGS_OF_SCANS = 15, FLAG_SHIFTED = 32, FLAG_TOTALS = 64, FLAG_KEPT_F64 = 128, FLAG_OPERATION = 8 };

/* Has the options ask for that. -1 and an exception for bits that are not among the known ones. */
int flags_read(table_scan_options *options, int flags, int known);

/* cumsum.c */
PyObject *core_cumsum(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
PyObject *core_at_once(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
extern const char core_cumsum_doc[];

/* libraries.c */
PyObject *core_numpy_is_here(PyObject *module, PyObject *arguments);
PyObject *core_tensors_are_here(PyObject *module, PyObject *arguments);
PyObject *core_cupy_is_here(PyObject *module, PyObject *arguments);

/* The library of which x is an array of exactly its type; NULL if the general way has not met one yet. */
struct library;
const struct library *library_of(const struct module_state *state, PyObject *x);

/* The running results of x, or with `a` its recurrence, in `out` or a new array of the library. Objects not given are
 * NULL. Returns NULL, perhaps with an exception, if the call is one for the general way, which takes calls that are not
 * plain and reports errors. */
enum { OF_X, OF_OUT, OF_A, OF_START, OBJECTS };
PyObject *library_run(const struct module_state *state, const struct library *library, PyObject *const *objects,
                      long axis, const table_scan_options *options);

/* scan.c */
PyObject *core_scan(PyObject *module, PyObject *arguments);
PyObject *core_types_supported(PyObject *module, PyObject *arguments);
PyObject *core_kept_type(PyObject *module, PyObject *arguments);
PyObject *core_column_totals(PyObject *module, PyObject *arguments);

/* recurrence.c */
PyObject *core_recurrence(PyObject *module, PyObject *arguments);
PyObject *core_extreme_rows(PyObject *module, PyObject *arguments);

/* segments.c */
PyObject *core_segments(PyObject *module, PyObject *arguments);
PyObject *core_argsort(PyObject *module, PyObject *arguments);

/* columns.c */
PyObject *core_scan_columns(PyObject *module, PyObject *arguments);

/* state.c */
PyObject *core_state_bytes(PyObject *module, PyObject *arguments);
PyObject *core_state_begin(PyObject *module, PyObject *arguments);
PyObject *core_state_facts(PyObject *module, PyObject *state);
PyObject *core_state_sums(PyObject *module, PyObject *arguments);
PyObject *core_state_save(PyObject *module, PyObject *arguments);
PyObject *core_state_load(PyObject *module, PyObject *arguments);
PyObject *core_state_equal(PyObject *module, PyObject *arguments);
PyObject *core_state_join(PyObject *module, PyObject *arguments);

/* xla.c */
PyObject *core_xla_handlers(PyObject *module, PyObject *nothing);

#endif
