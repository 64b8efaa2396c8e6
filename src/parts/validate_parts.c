/* The gate of tuplescan/devices.h: what a caller can get wrong in parts, each by itself and beside the others. */
#include "checked.h"
#include "part_options.h"
#include "parts.h"
#include "refusals.h"
#include "status.h"
#include "views.h"

/* The device for tables of the host, counted from 1; 0: none is named. */
static table_status choose_device(const table_part *given, struct call *call) {
    if (!call->backend->copy_rows || call->device >= 0)
        return TABLE_OK;
    if (given->device < 0 || (size_t)given->device >= backend_cuda_devices(NULL, 0))
        return status_fail(TABLE_ERROR_BACKEND, "device: there is no CUDA device %d", given->device);
    call->scan.on_device = given->device + 1;
    return TABLE_OK;
}

static table_status look_at_part(const table_part *given, const table_scan_options *options, bool is_last,
                                 struct call *call) {
    table_scan_options inner = *options;
    inner.backend = given->backend;
    part_options(&inner, is_last);
    for (int i = 0; i < TABLE_RESERVED_WORDS; i++)
        if (given->reserved[i] != 0)
            return status_fail(TABLE_ERROR_ARGUMENT, "reserved[%d] is not 0", i);
    TRY(validate_scan(NULL, &given->in, &given->out, &inner, CALL_AND_WAIT, call));
    return choose_device(given, call);
}

/* All parts are of one table. */
static table_status agree(const struct call *first, const struct call *other) {
    const struct scan *a = &first->scan, *b = &other->scan;
    if (a->in.columns != b->in.columns)
        return status_fail(TABLE_ERROR_SHAPE, "%zu columns, and part 0 has %zu", b->in.columns, a->in.columns);
    if (a->in.type != b->in.type || a->out.type != b->out.type)
        return status_fail(TABLE_ERROR_TYPE, "%s into %s, and part 0 is %s into %s", table_type_name(b->in.type),
                           table_type_name(b->out.type), table_type_name(a->in.type), table_type_name(a->out.type));
    return TABLE_OK;
}

/* `out` with the row beside it. */
static struct table_view written(const struct scan *scan) {
    struct table_view all = scan->out;
    if (scan->row_before)
        all.data = scan->row_before;
    all.rows += scan_has_rows_beside(scan);
    return all;
}

/* What part `a` writes may not be what part `b` reads or writes. */
static table_status apart(size_t a, const struct scan *of_a, size_t b, const struct scan *of_b) {
    const struct table_view out_a = written(of_a), out_b = written(of_b);
    if (!views_are_apart(&out_a, &of_b->in))
        return status_fail(TABLE_ERROR_OVERLAP, "out of part %zu and in of part %zu share memory", a, b);
    if (a < b && !views_are_apart(&out_a, &out_b))
        return status_fail(TABLE_ERROR_OVERLAP, "out of part %zu and out of part %zu share memory", a, b);
    return TABLE_OK;
}

static table_status look_at_rows(const struct parts *parts, size_t rows) {
    const struct scan *scan = &parts->part[0].call.scan;
    size_t values;
    if (scan->first_overflow && !checked_multiply(rows, scan->in.columns, &values))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->first_overflow: %zu rows of %zu columns cannot be counted",
                           rows, scan->in.columns);
    return refuse_float_products(CALLER_PARTS, scan->element->operation, scan->out.type);
}

table_status validate_parts(const table_part *given, const table_scan_options *options, struct parts *parts,
                            size_t *rows) {
    *rows = 0;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        part->number = i;
        part->is_timed = parts->report != NULL;
        table_status status = look_at_part(&given[i], options, i + 1 == parts->count, &part->call);
        if (status == TABLE_OK)
            status = agree(&parts->part[0].call, &part->call);
        if (status != TABLE_OK)
            return status_fail_at(status, "part", i);
        if (!checked_add(*rows, part->call.scan.in.rows, rows) || *rows > STATE_ROWS_MOST)
            return status_fail(TABLE_ERROR_TOO_LARGE, "the parts have more than 2^63 rows");
    }
    for (size_t i = 0; i < parts->count; i++)
        for (size_t j = 0; j < parts->count; j++)
            if (i != j && apart(i, &parts->part[i].call.scan, j, &parts->part[j].call.scan) != TABLE_OK)
                return TABLE_ERROR_OVERLAP;
    return look_at_rows(parts, *rows);
}
