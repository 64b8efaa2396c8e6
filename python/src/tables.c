#include "tables.h"

#include "call.h"

#include <string.h>

/* A call of the library takes 0.2 us, as long as it takes to sum some hundred values. Many tables with fewer that need
 * a call each are faster as the columns of one, though they must be copied: 2^20 tables of 4 x 1 take 300 ms one by
 * one, 10 ms in a buffer. */
enum { TABLE_VALUES_FEW = 1024, SMALL_TABLES_MOST = 16 };

/* The axes after `axis` as columns that lie side by side: their number, or -1. */
static Py_ssize_t columns_of(const struct array *array, int axis) {
    Py_ssize_t columns = 1;
    for (int i = array->dims - 1; i > axis; i--) {
        if (array->shape[i] != 1 && array->stride[i] != columns * array->itemsize)
            return -1;
        columns *= array->shape[i];
    }
    return columns;
}

bool tables_view(table_view *view, const struct array *array, int axis) {
    Py_ssize_t columns = columns_of(array, axis), rows = array->shape[axis], stride = 0;
    if (columns < 0 || !array->type)
        return false;
    if (rows > 1) {
        stride = array->stride[axis] / array->itemsize;
        if ((stride < columns && stride > -columns) || array->stride[axis] % array->itemsize != 0)
            return false;
    }
    *view = (table_view){array->data, (size_t)rows, (size_t)columns, (size_t)stride, array->type};
    return true;
}

/* Whether each table of `in` is the table of `out` at its place, or the two arrays have no byte in common. For a lone
 * pair the library looks itself, and more exactly. */
static bool apart_or_same(const struct array *in, const struct array *out) {
    if (in->data == out->data && in->type == out->type) {
        bool same = true;
        for (int i = 0; i < in->dims; i++)
            same &= in->shape[i] == 1 || in->stride[i] == out->stride[i];
        if (same)
            return true;
    }
    const struct array *arrays[2] = {in, out};
    const char *first[2], *behind[2];
    for (int a = 0; a < 2; a++) {
        first[a] = arrays[a]->data;
        behind[a] = arrays[a]->data + arrays[a]->itemsize;
        for (int i = 0; i < arrays[a]->dims; i++) {
            Py_ssize_t reach = (arrays[a]->shape[i] - 1) * arrays[a]->stride[i];
            *(reach < 0 ? &first[a] : &behind[a]) += reach;
        }
    }
    return behind[0] <= first[1] || behind[1] <= first[0];
}

/* The tables of one call: those along the last axis. */
static size_t at_once(const struct tables *tables) {
    return tables->dims > 0 ? (size_t)tables->shape[tables->dims - 1] : 1;
}

/* Adds an axis of tables after those that there are, which lie further apart. Two that lie as one, in both arrays,
 * become one. */
static void add_axis(struct tables *tables, Py_ssize_t extent, Py_ssize_t in_stride, Py_ssize_t out_stride) {
    const int last = tables->dims - 1;
    tables->count *= (size_t)extent;
    if (last >= 0 && tables->in_stride[last] == extent * in_stride && tables->out_stride[last] == extent * out_stride) {
        tables->shape[last] *= extent;
        tables->in_stride[last] = in_stride;
        tables->out_stride[last] = out_stride;
        return;
    }
    tables->shape[tables->dims] = extent;
    tables->in_stride[tables->dims] = in_stride;
    tables->out_stride[tables->dims] = out_stride;
    tables->dims++;
}

bool tables_describe(struct tables *tables, const struct array *in, const struct array *out, int axis,
                     table_operation operation) {
    tables->count = 0;
    tables->dims = 0;
    for (int i = 0; i < in->dims; i++)
        if (in->shape[i] == 0)
            return true;
    if (!tables_view(&tables->in, in, axis) || !tables_view(&tables->out, out, axis) ||
        !table_operation_supported(operation, in->type, out->type))
        return false;
    tables->count = 1;
    for (int i = 0; i < axis; i++) {
        if (in->shape[i] == 1)
            continue;
        if (in->stride[i] % in->itemsize != 0 || out->stride[i] % out->itemsize != 0)
            return false;
        add_axis(tables, in->shape[i], in->stride[i], out->stride[i]);
    }
    return tables->count == 1 || apart_or_same(in, out);
}

bool tables_same_shape(const struct array *in, const struct array *out) {
    return in->dims == out->dims && memcmp(in->shape, out->shape, sizeof in->shape[0] * (size_t)in->dims) == 0;
}

size_t tables_calls(const struct tables *tables) { return tables->count / at_once(tables); }

int tables_make(struct tables *tables, const struct array *in, const struct array *out, int axis,
                table_operation operation, bool one_by_one) {
    if (!tables_same_shape(in, out) || axis < 0 || axis >= in->dims || in->device != out->device) {
        PyErr_SetString(PyExc_ValueError, "in and out must have one shape, with that axis, on one device");
        return -1;
    }
    if (!tables_describe(tables, in, out, axis, operation))
        return 0;
    if (tables->count == 0)
        return 1;
    bool small = tables->in.rows * tables->in.columns < TABLE_VALUES_FEW;
    size_t calls = one_by_one ? tables->count : tables_calls(tables);
    return !small || calls <= SMALL_TABLES_MOST || in->device != -1;
}

/* The views of the table of that number, of which the last axis counts first. */
static void table_at(const struct tables *tables, size_t number, table_view *in, table_view *out) {
    Py_ssize_t in_offset = 0, out_offset = 0;
    for (int i = tables->dims - 1; i >= 0; i--) {
        const Py_ssize_t at = (Py_ssize_t)(number % (size_t)tables->shape[i]);
        number /= (size_t)tables->shape[i];
        in_offset += at * tables->in_stride[i];
        out_offset += at * tables->out_stride[i];
    }
    *in = tables->in;
    *out = tables->out;
    in->data = (char *)in->data + in_offset;
    out->data = (char *)out->data + out_offset;
}

static void note_overflow(struct tables_run *run, uint64_t first, size_t table, size_t columns) {
    size_t row = (size_t)(first / columns), column = (size_t)(first % columns) + table * columns;
    if (first != TABLE_NO_OVERFLOW && row < run->overflow_row) { /* of one row, the first table comes first */
        run->overflow_row = row;
        run->overflow_column = column;
    }
}

/* Has the options ask for all tables along the last axis, and gives their number; 1 where each table wants an answer of
 * its own. */
static size_t take_last_axis(const struct tables *tables, const struct tables_run *run, table_scan_options *options) {
    const int last = tables->dims - 1;
    if (last < 0 || run->check || options->first_overflow)
        return 1;
    options->tables = (size_t)tables->shape[last];
    options->in_step = tables->in_stride[last] / (Py_ssize_t)table_type_size(tables->in.type);
    options->out_step = tables->out_stride[last] / (Py_ssize_t)table_type_size(tables->out.type);
    return options->tables;
}

table_status tables_scan(const struct tables *tables, struct tables_run *run) {
    table_view in, out;
    table_scan_options options = run->options;
    const size_t row_bytes =
        tables->out.columns * table_type_size(table_kept_type(options.operation, tables->out.type));
    const size_t step = take_last_axis(tables, run, &options);
    uint64_t first, skipped;
    run->overflow_row = SIZE_MAX;
    run->skipped = 0;
    if (run->check)
        options.first_overflow = &first;
    if (!run->on_stream && options.skip_nan)
        options.skipped = &skipped;
    for (size_t i = 0; i < tables->count; i += step) {
        table_at(tables, i, &in, &out);
        table_status status =
            run->on_stream ? table_prefix_sum_async(&in, &out, &options) : table_prefix_sum(&in, &out, &options);
        if (status != TABLE_OK)
            return status;
        if (run->check)
            note_overflow(run, first, i, out.columns);
        if (options.skipped == &skipped)
            run->skipped += skipped;
        if (options.carry_in)
            options.carry_in = (const char *)options.carry_in + step * row_bytes;
        if (run->on_stream && options.first_overflow)
            options.first_overflow++;
        if (run->on_stream && options.skipped)
            options.skipped++;
    }
    return TABLE_OK;
}

table_status tables_scan_without_gil(const struct tables *tables, struct tables_run *run) {
    struct call call;
    if (!run->on_stream && tables->count * tables->in.rows * tables->in.columns < VALUES_WITH_GIL)
        return tables_scan(tables, run);
    return CALL(&call, &run->options.threads, tables_scan(tables, run));
}

table_status tables_workspace(const struct tables *tables, struct tables_run *run) {
    table_view in, out;
    table_scan_options options = run->options;
    const size_t step = take_last_axis(tables, run, &options);
    run->workspace_bytes = 0;
    /* One may be aligned better than another, and take another way. */
    for (size_t i = 0; i < tables->count; i += step) {
        size_t bytes = 0;
        table_at(tables, i, &in, &out);
        table_status status = table_prefix_sum_workspace(&in, &out, &options, &bytes);
        if (status != TABLE_OK)
            return status;
        if (bytes > run->workspace_bytes)
            run->workspace_bytes = bytes;
    }
    return TABLE_OK;
}

/* The workspace that the last call of one kind of tables needed, and which these were. */
struct memo {
    table_view in, out; /* instead of the data: where it lies in a line */
    table_scan_options options;
    size_t bytes;
};

static _Thread_local struct memo last;

static struct memo memo_of(const struct tables *tables, const struct tables_run *run) {
    struct memo memo;
    memset(&memo, 0, sizeof memo); /* its padding, too */
    const table_view *const from[] = {&tables->in, &tables->out};
    table_view *const to[] = {&memo.in, &memo.out};
    for (int i = 0; i < 2; i++) {
        to[i]->data = (void *)((uintptr_t)from[i]->data % TABLE_WORKSPACE_ALIGNMENT);
        to[i]->rows = from[i]->rows;
        to[i]->columns = from[i]->columns;
        to[i]->stride = from[i]->stride;
        to[i]->type = from[i]->type;
    }
    memo.options.exclusive = run->options.exclusive;
    memo.options.reverse = run->options.reverse;
    memo.options.operation = run->options.operation;
    take_last_axis(tables, run, &memo.options);
    memo.bytes = run->workspace_bytes;
    return memo;
}

/* tables_workspace(), without asking where the tables differ from the last ones in nothing but where they are. True: so
 * it was. If they need more for once, tables_scan() returns TABLE_ERROR_WORKSPACE, and nothing was done. */
static bool workspace_as_before(const struct tables *tables, struct tables_run *run) {
    run->workspace_bytes = last.bytes;
    const struct memo now = memo_of(tables, run);
    return last.in.type && tables_calls(tables) == 1 && memcmp(&now, &last, sizeof now) == 0;
}

bool memory_take(const struct tables_memory *memory, size_t bytes, table_scan_options *options, void **taken) {
    *taken = bytes > 0 ? memory->take(memory->context, bytes, &options->workspace) : NULL;
    options->workspace_bytes = bytes;
    return bytes == 0 || *taken;
}

static table_status queue_in_workspace(const struct tables *tables, struct tables_run *run,
                                       const struct tables_memory *memory) {
    void *taken;
    if (!memory_take(memory, run->workspace_bytes, &run->options, &taken))
        return TABLE_ERROR_DEVICE_MEMORY;
    const table_status status = tables_scan_without_gil(tables, run);
    if (taken)
        memory->release(taken);
    return status;
}

table_status tables_queue(const struct tables *tables, struct tables_run *run, const struct tables_memory *memory) {
    run->on_stream = true;
    if (workspace_as_before(tables, run)) {
        const table_status status = queue_in_workspace(tables, run, memory);
        if (status != TABLE_ERROR_WORKSPACE)
            return status;
    }
    const table_status status = tables_workspace(tables, run);
    if (status != TABLE_OK)
        return status;
    last = memo_of(tables, run);
    return queue_in_workspace(tables, run, memory);
}
