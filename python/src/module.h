/* The functions of tuplescan._core, by file. Each takes its arguments from Python as it gets them, checks what memory
 * safety needs, and calls the library once for each table. What numpy does beyond that is in the .py files. */
#ifndef TUPLESCAN_PYTHON_MODULE_H
#define TUPLESCAN_PYTHON_MODULE_H

#include "array.h"
#include "call.h"
#include "dlpack.h"
#include "tables.h"

enum {
    CUPY_NDARRAY,
    CUPY_EMPTY,
    CUPY_ALLOC,
    CUPY_DEVICE,
    CUPY_STREAM, /* types and functions */
    CUPY_DATA,
    CUPY_PTR,
    CUPY_DEVICE_ID,
    CUPY_SHAPE,
    CUPY_STRIDES,
    CUPY_DTYPE, /* names of attributes */
    CUPY_KEPT
};

/* What the module keeps; numpy's parts are there once the general way has been imported. */
struct module_state {
    PyObject *ndarray;               /* numpy.ndarray; NULL before numpy is known */
    PyObject *empty;                 /* numpy.empty */
    PyObject *types[TABLE_BF16 + 1]; /* numpy's dtype objects, by table_type; NULL for those that it has not */
    PyObject *general;               /* tuplescan._calls.cumsum; NULL before it is imported */

    /* What tensors.c sums; NULL before the general way has met such a tensor. */
    PyObject *tensor, *current_device;
    const struct dlpack_exchange *exchange;

    PyObject *cupy[CUPY_KEPT]; /* what cupy.c calls and asks for; NULL before the general way has met such an array */

    struct tables_memo memo; /* of calls on a stream */
};

/* NULL and the exception that the status stands for, with what exactly was wrong; or the one that is set already. */
PyObject *raise_status(table_status status);

/* Python's None if the status is OK. */
PyObject *none_or(table_status status);

/* cumsum.c */
PyObject *core_cumsum(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
extern const char core_cumsum_doc[];

/* The type into which sums of a type go by default. 0 for none. */
table_type table_type_promoted(table_type type);

/* A new array for the sums of `in`, by empty(shape, dtype) of numpy or CuPy; Python's None if that is for the general
 * way. */
PyObject *empty_for_sums(const struct module_state *state, PyObject *empty, const struct array *in);

/* tensors.c. tensors_sum(): NULL or Python's None if the call is one for the general way, which says what is wrong. */
PyObject *tensors_sum(struct module_state *state, PyObject *x, PyObject *out, long axis,
                      const table_scan_options *options);
PyObject *core_tensors_are_here(PyObject *module, PyObject *arguments);

/* Whether the device is the current one of a library, on which its calls on a stream work. `current_device()` is asked
 * anew each time: where there is one GPU alone that would not be needed, but to know it starts CUDA in this process. */
bool device_is_current(PyObject *current_device, int device);

/* cupy.c, which answers as tensors_sum() does. */
PyObject *cupy_sum(struct module_state *state, PyObject *x, PyObject *out, long axis,
                   const table_scan_options *options);
PyObject *core_cupy_is_here(PyObject *module, PyObject *arguments);

/* scan.c */
PyObject *core_scan(PyObject *module, PyObject *arguments);
PyObject *core_types_supported(PyObject *module, PyObject *arguments);
PyObject *core_scan_on_stream(PyObject *module, PyObject *arguments);
PyObject *core_column_totals(PyObject *module, PyObject *arguments);

/* columns.c */
PyObject *core_scan_columns(PyObject *module, PyObject *arguments);

/* state.c. state_open(): memory for a state of such sums, NULL for None; -1 and an exception if it has another size.
 * The array is for array_close() in any case. */
int state_open(struct array *array, PyObject *object, table_type type, size_t columns, void **state);
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

/* keys.c */
PyObject *core_histogram(PyObject *module, PyObject *arguments);
PyObject *core_sort(PyObject *module, PyObject *arguments);
PyObject *core_argsort(PyObject *module, PyObject *arguments);
PyObject *core_digit_counts(PyObject *module, PyObject *arguments);

#endif
