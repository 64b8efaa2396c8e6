#include "validate.h"

#include "checked.h"
#include "plan.h"
#include "refusals.h"
#include "state/state_call.h"
#include "status.h"
#include "views.h"

static table_status validate_aligned(const char *name, const void *data, table_type type) {
    const size_t size = table_type_size(type);
    if (view_is_aligned(data, type))
        return TABLE_OK;
    return status_fail(TABLE_ERROR_ALIGNMENT, "%s %p is not aligned to the %zu bytes of %s", name, data, size,
                       table_type_name(type));
}

table_status validate_table(const char *name, const struct table_view *view, struct table_view *checked) {
    if (!view)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", name);
    *checked = *view;
    const size_t size = table_type_size(view->type);
    if (size == 0)
        return status_fail(TABLE_ERROR_TYPE, "%s->type %d is no element type", name, (int)view->type);
    if (view->rows > 1 && view->stride != 0 && view_length(view->stride) < view->columns)
        return status_fail(TABLE_ERROR_SHAPE, "%s->stride %td is less than its columns %zu", name, view->stride,
                           view->columns);
    if (view->stride == 0 || view->rows <= 1 || view->columns == 0) /* nothing is where the stride leads to */
        checked->stride = view->columns <= PTRDIFF_MAX ? (ptrdiff_t)view->columns : PTRDIFF_MAX;
    if (view->rows > 0 && view->columns > 0 && !view->data)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s->data is a null pointer", name);
    if (!view_fits(checked))
        return status_fail(TABLE_ERROR_TOO_LARGE,
                           "%s: %zu rows with a stride of %td times %zu bytes cannot be addressed", name, view->rows,
                           checked->stride, size);
    return TABLE_OK;
}

table_status validate_view(const char *name, const struct table_view *view, struct table_view *checked) {
    TRY(validate_table(name, view, checked));
    if (view->type > TABLE_F64)
        return status_fail(TABLE_ERROR_TYPE, "%s->type is %s, which is for running sums alone", name,
                           table_type_name(view->type));
    if (view->columns == 0)
        return status_fail(TABLE_ERROR_SHAPE, "%s->columns is 0", name);
    if (checked->stride < 0)
        return status_fail(TABLE_ERROR_SHAPE, "%s->stride is %td, and rows must follow each other", name, view->stride);
    return validate_aligned(name, view->data, view->type);
}

table_status validate_apart(const char *name_a, const struct table_view *a, const char *name_b,
                            const struct table_view *b, bool same_allowed) {
    if (views_are_apart(a, b) || (same_allowed && views_are_same(a, b)))
        return TABLE_OK;
    return status_fail(TABLE_ERROR_OVERLAP, "%s and %s share memory%s", name_a, name_b,
                       same_allowed ? " and are not the same table (same data, type and stride)" : "");
}

table_status validate_row(const char *name, const void *row, size_t columns, table_type type, struct table_view *view) {
    *view = (struct table_view){.data = (void *)(uintptr_t)row, .rows = row != NULL, .columns = columns, .type = type};
    TRY(validate_aligned(name, row, type));
    return validate_table(name, view, view);
}

/* The carries may be the same row. */
table_status validate_named(const struct call *call, const struct table_view *out, const struct plan_memory *named,
                            unsigned count) {
    const struct scan *scan = &call->scan;
    struct table_view read, written, views[VALIDATE_NAMED_MOST] = {{0}};
    const struct table_view *const in = ranges_hull(&scan->in, scan->ranges.count, scan->ranges.in, &read);
    const struct table_view *const whole = ranges_hull(out, scan->ranges.count, scan->ranges.out, &written);
    for (unsigned i = 0; i < count; i++) {
        const struct plan_memory *one = &named[i];
        if (!one->memory)
            continue;
        TRY(validate_row(one->name, one->memory, one->count, one->type, &views[i]));
        if (!one->is_of_inputs)
            TRY(validate_apart(one->name, &views[i], call->in_name, in, false));
        if (out->data)
            TRY(validate_apart(one->name, &views[i], call->out_name, whole, false));
        if (call->a.data && !one->is_of_inputs)
            TRY(validate_apart(one->name, &views[i], "a", &call->a, false));
        for (unsigned j = 0; j < i; j++)
            if (one->is_written || named[j].is_written)
                TRY(validate_apart(one->name, &views[i], named[j].name, &views[j], i == NAMED_CARRY_OUT));
    }
    return TABLE_OK;
}

static table_status validate_state(const struct scan *scan) {
    size_t bytes;
    if ((uintptr_t)scan->state % TABLE_STATE_ALIGNMENT != 0)
        return status_fail(TABLE_ERROR_ALIGNMENT, "options->state %p is not aligned to %d bytes", (void *)scan->state,
                           TABLE_STATE_ALIGNMENT);
    return state_bytes(scan->element, scan->in.columns, &bytes);
}

/* What the options name, as the caller calls it. */
static void list_named(const struct scan *scan, enum call_form form, struct plan_memory named[NAMED_MOST]) {
    plan_list_named(scan, scan->ranges.count, named);
    if (form == CALL_FOR_TOTALS && !scan->factors.type)
        named[NAMED_CARRY_OUT].name = "totals";
}

static table_status validate_options_rows(const struct call *call, const struct table_view *out, enum call_form form) {
    const struct scan *scan = &call->scan;
    const table_type type = scan->element->type;
    if (scan->state)
        TRY(validate_state(scan));
    if (scan->first_overflow && scan->element->check == CHECKS_NOTHING)
        return scan->element->ordered
                   ? status_fail(TABLE_ERROR_ARGUMENT, "options->first_overflow is for integers, and out is %s",
                                 table_type_name(type))
                   : status_fail(TABLE_ERROR_ARGUMENT, "options->first_overflow: no %s leaves its type",
                                 table_operation_name(scan->element->operation));
    if (scan->load.without_nan && !scan->element->has_nan)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->skip_nan is for floats, and out is %s",
                           table_type_name(type));
    if (!scan_names_memory(scan) && !scan->factors.first)
        return TABLE_OK;
    size_t sums; /* in all carries: of ranges without rows nothing else bounds it */
    if ((scan->carry_in || scan->carry_out || scan->factors.first) &&
        !checked_multiply(scan->in.columns, scan->ranges.count, &sums))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->tables: carries of %zu tables cannot be addressed",
                           scan->ranges.count);
    struct plan_memory named[NAMED_MOST];
    list_named(scan, form, named);
    return validate_named(call, out, named, NAMED_MOST);
}

/* Totals of maxima and minima have the type that these are kept in, though no results of it are made of such values. */
static bool is_kept_as(table_operation operation, table_type in, table_type kept) {
    return table_operation_supported(operation, in, in) && table_kept_type(operation, in) == kept;
}

static table_status validate_types(struct scan *scan, table_operation operation, table_type kept, enum call_form form) {
    const table_type in = scan->in.type, out = scan->out.type;
    const struct element *element = scan->element = element_of(operation, out, kept);
    if (!element && element_of(operation, out, 0))
        return refuse_kept(operation, out, kept);
    if (form != CALL_FOR_TOTALS)
        return element && element_takes(element, in, out) ? TABLE_OK : refuse_types(operation, in, out, "out->type");
    if (element && out == element->type && is_kept_as(operation, in, out))
        return TABLE_OK;
    TRY(refuse_types(operation, in, out, "totals of"));
    if (out != element->type)
        return status_fail(TABLE_ERROR_TYPE, "totals of %s are not kept; out_type %s is what its %s are kept in",
                           table_type_name(out), table_type_name(element->type), element_plural(element));
    return TABLE_OK;
}

/* Checks where all ranges lie, given all rows of results of the first one. A range may be read and written where
 * `is_same`; nothing else that is read lies among the results. */
static table_status validate_ranges(struct call *call, const struct table_view *out, bool is_same, const char *but) {
    struct scan *scan = &call->scan;
    struct range_list *ranges = &scan->ranges;
    struct table_view hulls[2];
    size_t values;
    if (scan_is_batch(scan) &&
        (!checked_multiply(ranges->count, out->rows, &values) || !checked_multiply(values, out->columns, &values) ||
         !checked_multiply(values, sizeof(uint64_t), &values)))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->tables: %zu tables of %zu x %zu values cannot be addressed",
                           ranges->count, out->rows, out->columns);
    if (scan->in.rows == 0) /* nothing is where the step leads to */
        ranges->in = 0;
    const struct table_view *const read = ranges_hull(&scan->in, ranges->count, ranges->in, &hulls[0]);
    const struct table_view *const written = ranges_hull(out, ranges->count, ranges->out, &hulls[1]);
    if (!read || !written)
        return status_fail(TABLE_ERROR_TOO_LARGE, "options: %zu tables with steps of %td and %td cannot be addressed",
                           ranges->count, ranges->in, ranges->out);
    if (scan_is_batch(scan) && !ranges_are_apart(out, ranges->count, ranges->out))
        return status_fail(TABLE_ERROR_OVERLAP, "options->out_step %td: its tables share elements", ranges->out);
    if ((is_same && ranges->in == ranges->out) || views_are_apart(read, written))
        return TABLE_OK;
    return status_fail(TABLE_ERROR_OVERLAP, "%s and %s share memory, and %s is not %s%s (same data, type%s)",
                       call->in_name, call->out_name, call->in_name, call->out_name, but,
                       scan_is_batch(scan) ? ", stride and step" : " and stride");
}

/* `all` has one row more than `in`. Its last row is the total after an exclusive scan, which can be done where in is
 * out as well; where in begins at the second row, its first one is the start before an inclusive scan. */
static table_status validate_offsets(struct call *call, const struct table_view *all) {
    struct scan *scan = &call->scan;
    if (all->rows == 0 || all->rows - 1 != scan->in.rows || all->columns != scan->in.columns)
        return status_fail(TABLE_ERROR_SHAPE,
                           "in is %zu x %zu and out is %zu x %zu, and with options->offsets it has "
                           "one row more",
                           scan->in.rows, scan->in.columns, all->rows, all->columns);
    const struct table_view rest = view_rows(all, 1, all->rows - 1);
    scan->out = view_rows(all, 0, all->rows - 1);
    scan->exclusive = true;
    scan->row_after = all->data;
    if (all->columns > 0)
        scan->row_after = (char *)all->data + (ptrdiff_t)(all->rows - 1) * view_step(all);
    const bool is_rest = views_are_same(&scan->in, &rest), is_same = views_are_same(&scan->in, &scan->out);
    TRY(validate_ranges(call, all, is_rest || is_same, " without its last row or without its first"));
    if (is_same || !is_rest)
        return TABLE_OK;
    scan->out = rest;
    scan->exclusive = false;
    scan->row_before = all->data;
    scan->row_after = NULL;
    return TABLE_OK;
}

static table_status validate_tables(struct call *call, const struct table_view *in, struct table_view *out,
                                    const struct table_scan_options *options, enum call_form form,
                                    table_operation operation) {
    struct scan *scan = &call->scan;
    table_status status = validate_table(call->in_name, in, &scan->in);
    if (status == TABLE_OK)
        status = validate_table(call->out_name, out, out);
    scan->out = *out;
    if (status == TABLE_OK)
        status = validate_types(scan, operation, options->kept, form);
    if (status != TABLE_OK)
        return status;
    if (call->turned) {
        view_mirror(&scan->in);
        view_mirror(out);
        scan->out = *out;
    }
    if (form == CALL_FOR_TOTALS)
        return TABLE_OK;
    if (options->offsets)
        return validate_offsets(call, out);
    if (scan->in.rows != out->rows || scan->in.columns != out->columns)
        return status_fail(TABLE_ERROR_SHAPE, "%s is %zu x %zu and %s is %zu x %zu", call->in_name, scan->in.rows,
                           scan->in.columns, call->out_name, out->rows, out->columns);
    return validate_ranges(call, out, views_are_same(&scan->in, out), "");
}

table_status validate_backend(const void *first, const void *second, table_backend wanted, struct call *call) {
    const int first_device = first ? backend_device_of(first) : -1;
    const int second_device = second ? backend_device_of(second) : first_device;
    const char *reason = NULL;
    call->device = first ? first_device : second_device;
    if (first && second && first_device != second_device)
        return status_fail(TABLE_ERROR_BACKEND, "the tables are not on the same side: devices %d and %d (-1: the host)",
                           first_device, second_device);
    if (wanted == TABLE_BACKEND_CPU && call->device >= 0)
        return status_fail(TABLE_ERROR_BACKEND, "the CPU backend cannot reach memory of CUDA device %d", call->device);
    if (wanted == TABLE_BACKEND_CUDA || call->device >= 0) {
        call->backend = backend_cuda(&reason);
        return call->backend ? TABLE_OK : status_fail(TABLE_ERROR_BACKEND, "the CUDA backend: %s", reason);
    }
    call->backend = backend_cpu();
    return TABLE_OK;
}

table_status validate_reach(const struct backend *backend, const char *name, const void *row) {
    const int device = row && !backend->copy_rows ? backend_device_of(row) : -1;
    return device < 0 ? TABLE_OK
                      : status_fail(TABLE_ERROR_BACKEND,
                                    "%s is memory of CUDA device %d, which the CPU backend cannot reach", name, device);
}

table_status validate_words(const struct table_scan_options *options) {
    struct table_view word;
    TRY(validate_reach(backend_cpu(), "options->first_overflow", options->first_overflow));
    TRY(validate_row("options->first_overflow", options->first_overflow, 1, TABLE_U64, &word));
    TRY(validate_reach(backend_cpu(), "options->skipped", options->skipped));
    return validate_row("options->skipped", options->skipped, 1, TABLE_U64, &word);
}

table_status validate_on_host(const struct table_scan_options *options) {
    TRY(validate_reach(backend_cpu(), "options->carry_in", options->carry_in));
    TRY(validate_reach(backend_cpu(), "options->carry_out", options->carry_out));
    TRY(validate_reach(backend_cpu(), "options->state", options->state));
    return validate_words(options);
}

/* Where no table says on which side it is, memory of the options on a device does. */
static table_status validate_scan_backend(table_backend wanted, enum call_form form, struct call *call) {
    const struct scan *scan = &call->scan;
    const void *const row = scan->row_before ? scan->row_before : scan->row_after;
    const void *const result = row ? row : scan->out.data, *first = scan->in.data;
    struct plan_memory named[NAMED_MOST];
    const unsigned count = scan_names_memory(scan) ? NAMED_MOVED : 0;
    if (count > 0)
        list_named(scan, form, named);
    for (unsigned i = 0; i < count && !scan->in.data && !result && !first; i++)
        if (named[i].memory && backend_device_of(named[i].memory) >= 0)
            first = named[i].memory;
    TRY(validate_backend(first, result, wanted, call));
    call->scan.device = scan->in.data ? call->device + 1 : 0;
    for (unsigned i = 0; i < count; i++)
        TRY(validate_reach(call->backend, named[i].name, named[i].memory));
    return TABLE_OK;
}

/* The host does not look at a state that only the stream will have got to. */
static table_status validate_stream_state(const struct call *call) {
    return call->backend->copy_rows && backend_device_of(call->scan.state) < 0
               ? status_fail(TABLE_ERROR_BACKEND, "options->state: the stream forms on CUDA need it in device memory")
               : TABLE_OK;
}

table_status validate_scan(const struct table_view *a, const struct table_view *in, const struct table_view *out,
                           const struct table_scan_options *options, enum call_form form, struct call *call) {
    struct scan *scan = &call->scan;
    options = options_of(options);
    const table_operation operation = a ? TABLE_RECURRENCE : options->operation;
    *call = (struct call){.in_name = a ? "b" : "in",
                          .out_name = a ? "h" : "out",
                          .turned = options->reverse,
                          .strategy = options->strategy,
                          .form = form,
                          .scan = {.ranges = ranges_of(options),
                                   .exclusive = options->exclusive,
                                   .load = {options->skip_nan, options->skipped},
                                   .carry_in = options->carry_in,
                                   .carry_out = options->carry_out,
                                   .first_overflow = options->first_overflow,
                                   .state = options->state,
                                   .stream = options->stream}};
    TRY(refuse_wrong_options(options, form, a != NULL));
    if (!out)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", in ? call->out_name : call->in_name);
    struct table_view all = *out;
    TRY(validate_tables(call, in, &all, options, form, operation));
    if (options->offsets)
        TRY(refuse_float_products(CALLER_OFFSETS, operation, out->type));
    if (a)
        TRY(validate_factors(a, options, call));
    scan->threads = options->threads ? options->threads : backend_cpu_processors();
    plan_chunks(scan);
    TRY(validate_options_rows(call, &all, form));
    TRY(validate_scan_backend(options->backend, form, call));
    if (a)
        TRY(validate_factors_reached(call));
    if (form == CALL_ON_STREAM && call->backend->copy_rows)
        TRY(refuse_host_tables(CALLER_STREAM_FORM,
                               call->device < 0 && (scan->chunks > 0 || scan_has_rows_beside(scan))));
    if (form == CALL_ON_STREAM && call->backend->copy_rows && scan_is_batch(scan) && scan_has_rows_beside(scan) &&
        scan_finds(scan))
        return status_fail(TABLE_ERROR_BACKEND, "options->offsets of several tables: the stream forms on CUDA have "
                                                "neither first_overflow nor skipped for them");
    return form == CALL_ON_STREAM && scan->state ? validate_stream_state(call) : TABLE_OK;
}

table_status validate_recurrence(const struct table_view *a, const struct table_view *b, const struct table_view *h,
                                 const struct table_scan_options *options, enum call_form form, struct call *call) {
    struct table_view nowhere = {0};
    if (!a)
        return status_fail(TABLE_ERROR_ARGUMENT, "a is a null pointer");
    if (h || !b || form == CALL_ON_STREAM)
        return validate_scan(a, b, h, options, form, call);
    if (!options || (!options->carry_out && !options->state))
        return status_fail(TABLE_ERROR_ARGUMENT, "h is a null pointer, and there is no carry_out and no state");
    TRY(refuse(CALLER_LAST_VALUES, options));
    nowhere.columns = b->columns;
    nowhere.type = type_of_sums(b->type);
    return validate_scan(a, b, &nowhere, options, CALL_FOR_TOTALS, call);
}

table_status validate_workspace(const void *workspace, size_t bytes, size_t needed) {
    if (!workspace && needed == 0)
        return TABLE_OK;
    if (!workspace)
        return status_fail(TABLE_ERROR_WORKSPACE, "options->workspace is missing, %zu bytes are needed", needed);
    if ((uintptr_t)workspace % TABLE_WORKSPACE_ALIGNMENT != 0)
        return status_fail(TABLE_ERROR_WORKSPACE, "options->workspace %p is not aligned to %d bytes", workspace,
                           TABLE_WORKSPACE_ALIGNMENT);
    if (bytes < needed)
        return status_fail(TABLE_ERROR_WORKSPACE, "options->workspace_bytes is %zu, %zu are needed", bytes, needed);
    return TABLE_OK;
}
