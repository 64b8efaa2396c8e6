/* The gate of recurrences: what a caller can get wrong in coefficients (tuplescan/linear_recurrence.h). */

#include "status.h"
#include "validate.h"
#include "views.h"

/* What the shape of `a` says its coefficients are. */
table_status validate_factors(const struct table_view *a, const struct table_scan_options *options, struct call *call) {
    struct scan *scan = &call->scan;
    const struct range_list *ranges = &scan->ranges;
    const struct table_view *b = &scan->in;
    struct table_view hulls[2];
    TRY(validate_table("a", a, &call->a));
    if (a->type != b->type && a->type != scan->element->type)
        return status_fail(TABLE_ERROR_TYPE, "a->type is %s, and b->type %s: it is not that, nor %s",
                           table_type_name(a->type), table_type_name(b->type), table_type_name(scan->element->type));
    if ((a->rows != 1 && a->rows != b->rows) || (a->columns != 1 && a->columns != b->columns))
        return status_fail(TABLE_ERROR_SHAPE,
                           "a is %zu x %zu and b is %zu x %zu: it is no number, row, column or "
                           "table of coefficients",
                           a->rows, a->columns, b->rows, b->columns);
    if (b->rows > 0 && b->columns > 0 && !ranges_hull(&call->a, ranges->count, options->coefficient_step, &hulls[0]))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->coefficient_step %td: a of %zu tables cannot be addressed",
                           options->coefficient_step, ranges->count);
    if (call->turned)
        view_mirror(&call->a);
    scan->factors = (struct scan_factors){.data = call->a.data,
                                          .stride = a->rows > 1 ? call->a.stride : 0,
                                          .step = options->coefficient_step,
                                          .type = a->type,
                                          .per_column = a->columns > 1 || b->columns == 1,
                                          .shifted = options->shifted_coefficients,
                                          .first = options->first_coefficients};
    const struct table_view *const all = ranges_hull(&call->a, ranges->count, scan->factors.step, &hulls[0]);
    const struct table_view *const results = ranges_hull(&scan->out, ranges->count, ranges->out, &hulls[1]);
    if (all) /* or `b` has no values, and no coefficient is read */
        call->a = *all;
    return scan->out.data ? validate_apart("a", &call->a, "h", results, false) : TABLE_OK;
}

/* Where coefficients are, and what does not begin as it has to. */
table_status validate_factors_reached(const struct call *call) {
    const struct scan *scan = &call->scan;
    const struct {
        const char *name;
        const void *memory;
    } read[] = {{"a", scan->factors.data}, {"options->first_coefficients", scan->factors.first}};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        const int device = read[i].memory ? backend_device_of(read[i].memory) : call->device;
        if (scan->chunks == 0 || device == call->device)
            continue;
        if (device >= 0)
            return status_fail(TABLE_ERROR_BACKEND, "%s is memory of CUDA device %d, and b is not", read[i].name,
                               device);
        return status_fail(TABLE_ERROR_BACKEND, "%s is in host memory, and b on CUDA device %d", read[i].name,
                           call->device);
    }
    if (scan->factors.shifted && !scan->factors.first && scan->carry_in)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->carry_in is not let through by shifted_coefficients without "
                                                 "first_coefficients");
    return TABLE_OK;
}
