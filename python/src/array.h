/* Arrays of other libraries, seen without a copy: by the buffer protocol, DLPack's C exchange table or __dlpack__. */
#ifndef TUPLESCAN_PYTHON_ARRAY_H
#define TUPLESCAN_PYTHON_ARRAY_H

#include <Python.h>
#include <stdbool.h>

#include <tuplescan/tuplescan.h>

enum { ARRAY_DIMS_MOST = 64 };

struct array {
    bool given; /* not None */
    char *data;
    int dims;
    int device;      /* the CUDA device's number; -1 for host memory */
    table_type type; /* 0 for an element type that the library does not have */
    Py_ssize_t itemsize;
    Py_ssize_t shape[ARRAY_DIMS_MOST];
    Py_ssize_t stride[ARRAY_DIMS_MOST]; /* in bytes */

    /* Given back by array_close(), if any. */
    Py_buffer buffer;
    PyObject *capsule;
};

/* Fills in `array`, which array_close() gives back; `name` is the argument's, for messages. The object is an array, or
 * a tuple of an array and the number of a table_type, for elements that the array's own library has no name for. -1 and
 * an exception if it is neither, has its memory elsewhere, or is to be written and cannot be. */
int array_open(struct array *array, PyObject *object, bool writable, const char *name);
void array_close(struct array *array);

/* As array_open(), for objects with DLPack. 0 and no exception if `object` has none. */
int array_open_dlpack(struct array *array, PyObject *object, bool writable, const char *name);

/* Strides of an array whose values lie side by side, by its shape. */
void array_side_by_side(struct array *array);

/* The values of a one-dimensional array whose values lie side by side, as a table of one column. `type` 0: of any type
 * that the library has. -1 and an exception for any other array. */
int array_as_column(const struct array *array, table_type type, table_view *view, const char *name);

/* Where the values of a row lie: as many as `like` has columns, of its type, side by side, on a device (-1: in host
 * memory); NULL of an array that is not given. -1 and an exception for any other array. */
int array_as_row(const struct array *array, const table_view *like, int device, const char *name, void **data);

/* Where the memory of a state of an operation lies, whose `columns` columns are kept as `type`: in host memory; NULL of
 * an array that is not given. -1 and an exception for any other array. */
int array_as_state(const struct array *array, table_operation operation, table_type type, size_t columns, void **state);

/* Arguments that are arrays or None, for arrays_close(). `written`: a bit for each of them. */
enum { ARRAYS_MOST = 7 };
struct arrays {
    int count;
    struct array at[ARRAYS_MOST];
};
int arrays_open(struct arrays *arrays, PyObject *const *objects, const char *const *names, int count, unsigned written);
void arrays_close(struct arrays *arrays);

/* arrays_open() of arrays of one dimension, each a table of one column in `views`: all in host memory, or with
 * `anywhere` all where the first one is. The view of an argument that is None is empty. */
enum { COLUMNS_MOST = 4 };
int columns_open(struct arrays *arrays, table_view *views, PyObject *const *objects, const char *const *names,
                 int count, unsigned written, bool anywhere);

#endif
