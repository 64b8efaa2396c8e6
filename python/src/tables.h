/* An N-dimensional array seen as tables: the axes before the one that is summed along count tables, the axes after it
 * make up the columns. */
#ifndef TUPLESCAN_PYTHON_TABLES_H
#define TUPLESCAN_PYTHON_TABLES_H

#include "array.h"

struct tables {
    size_t count;       /* how many tables; 0 if there is no value */
    table_view in, out; /* the first ones */
    int dims;           /* the axes before the summed one, with more than one place */
    Py_ssize_t shape[ARRAY_DIMS_MOST], in_stride[ARRAY_DIMS_MOST], out_stride[ARRAY_DIMS_MOST]; /* in bytes */
};

/* 1; or 0 if the library cannot take the arrays as they lie: columns or bytes apart, rows over each other, types,
 * tables that may share memory, many small tables in host memory that need a call each. one_by_one: all need one. -1
 * and an exception if the arguments contradict each other. */
int tables_make(struct tables *tables, const struct array *in, const struct array *out, int axis,
                table_operation operation, bool one_by_one);

/* The same for arrays of one shape that has that axis, without the GIL, and for small tables in any number: whether the
 * library can take them as they lie. */
bool tables_describe(struct tables *tables, const struct array *in, const struct array *out, int axis,
                     table_operation operation);
bool tables_view(table_view *view, const struct array *array, int axis);
size_t tables_calls(const struct tables *tables); /* of the library */
bool tables_same_shape(const struct array *in, const struct array *out);

/* What one call of the library gets for each table; carry rows lie side by side, table after table, and on a stream the
 * words for overflows, call after call, and for counts of skipped values. */
struct tables_run {
    table_scan_options options;
    bool on_stream;
    size_t workspace_bytes;               /* the answer of tables_workspace() */
    bool check;                           /* host memory only */
    size_t overflow_row, overflow_column; /* with `check`: the first in row order; row SIZE_MAX if there was none */
    uint64_t skipped;                     /* with skip_nan, in host memory */
};

/* Above this many calls on a stream, one of a copy with the axis in front is faster. */
enum { LAUNCHES_MOST = 32 };

/* Calls of fewer values than this keep the GIL: releasing it takes 50 ns, summing them some microseconds. */
enum { VALUES_WITH_GIL = 8192 };

/* tables_scan(), without the GIL where that is worth it. */
table_status tables_scan_without_gil(const struct tables *tables, struct tables_run *run);

/* Memory on the device from the library whose arrays are summed. take(): what release() gives back, and the address;
 * NULL if there is none, perhaps with an exception. */
struct tables_memory {
    void *(*take)(const void *context, size_t bytes, void **address);
    void (*release)(void *taken);
    const void *context;
};

/* Has the options name that much workspace, for which *taken is to be released, unless it is NULL. */
bool memory_take(const struct tables_memory *memory, size_t bytes, table_scan_options *options, void **taken);

/* Queues a call on run->options.stream. Its workspace is given back at once: its next user queues after this call. */
table_status tables_queue(const struct tables *tables, struct tables_run *run, const struct tables_memory *memory);

/* One call of a linear recurrence: of all tables of an array. h.type is 0 where no results are written. */
struct recurrence {
    table_view a, b, h;
    table_scan_options options;
};

/* Whether arrays of three axes, tables, rows and columns, can be taken as they lie; `h` may be NULL. With no table
 * there is nothing to do. */
bool recurrence_describe(struct recurrence *of, const struct array *a, const struct array *b, const struct array *h);
table_status recurrence_workspace(const struct recurrence *of, size_t *bytes);
table_status recurrence_run(const struct recurrence *of, bool on_stream);

/* Arrays of any axes, along one of b's, as recurrence_describe() takes them: whether they lie so. `a` broadcasts to b,
 * and all become arrays of three axes. */
bool recurrence_of_axes(struct recurrence *of, struct array *a, struct array *b, struct array *h, int axis);

/* recurrence_run() in host memory, without the GIL where that is worth it; and tables_queue() for it. */
table_status recurrence_run_here(struct recurrence *of);
table_status recurrence_queue(struct recurrence *of, const struct tables_memory *memory);

/* Both need no GIL. */
table_status tables_scan(const struct tables *tables, struct tables_run *run);
table_status tables_workspace(const struct tables *tables, struct tables_run *run);

#endif
