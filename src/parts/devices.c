/* The call of tuplescan/devices.h: all parts are checked, then summed. */
#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "devices_parts.h"
#include "part_options.h"
#include "refusals.h"
#include "seconds.h"
#include "status.h"
#include "views.h"

/* Puts the part's number in front of the reason. */
static table_status fail_part(size_t number, table_status status) {
    char detail[DETAIL_BYTES];
    memcpy(detail, table_error_detail(), strlen(table_error_detail()) + 1);
    return status_fail(status, "part %zu: %s", number, detail);
}

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
    table_status status = validate_scan(NULL, &given->in, &given->out, &inner, CALL_AND_WAIT, call);
    return status == TABLE_OK ? choose_device(given, call) : status;
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

static table_status look_at_options(const table_scan_options *options) {
    const struct backend *host = backend_cpu();
    table_status status = refuse(CALLER_PARTS, options);
    if (status == TABLE_OK)
        status = validate_reach(host, "options->carry_in", options->carry_in);
    if (status == TABLE_OK)
        status = validate_reach(host, "options->carry_out", options->carry_out);
    if (status == TABLE_OK)
        status = validate_reach_words(options);
    return status == TABLE_OK ? validate_reach(host, "options->state", options->state) : status;
}

static table_status look_at_rows(const struct parts *parts, size_t rows) {
    const struct scan *scan = &parts->part[0].call.scan;
    size_t values;
    if (scan->first_overflow && !checked_multiply(rows, scan->in.columns, &values))
        return status_fail(TABLE_ERROR_TOO_LARGE, "options->first_overflow: %zu rows of %zu columns cannot be counted",
                           rows, scan->in.columns);
    return refuse_float_products(CALLER_PARTS, scan->element->operation, scan->out.type);
}

/* Makes parts->part[i] the checked part i. */
static table_status look_at_parts(const table_part *given, const table_scan_options *options, struct parts *parts,
                                  size_t *rows) {
    *rows = 0;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        part->number = i;
        table_status status = look_at_part(&given[i], options, i + 1 == parts->count, &part->call);
        if (status == TABLE_OK)
            status = agree(&parts->part[0].call, &part->call);
        if (status != TABLE_OK)
            return fail_part(i, status);
        if (!checked_add(*rows, part->call.scan.in.rows, rows) || *rows > STATE_ROWS_MOST)
            return status_fail(TABLE_ERROR_TOO_LARGE, "the parts have more than 2^63 rows");
    }
    for (size_t i = 0; i < parts->count; i++)
        for (size_t j = 0; j < parts->count; j++)
            if (i != j && apart(i, &parts->part[i].call.scan, j, &parts->part[j].call.scan) != TABLE_OK)
                return TABLE_ERROR_OVERLAP;
    return look_at_rows(parts, *rows);
}

/* Parts without rows to read or write have been looked at, and that was all. One is left if no part has rows. */
static void drop_empty(struct parts *parts) {
    size_t kept = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].call.scan.in.rows > 0 || scan_has_rows_beside(&parts->part[i].call.scan))
            parts->part[kept++] = parts->part[i];
    parts->count = kept > 0 ? kept : 1;
}

static void turn_around(struct parts *parts) {
    for (size_t i = 0, j = parts->count; i + 1 < j; i++) {
        const struct part part = parts->part[--j];
        parts->part[j] = parts->part[i];
        parts->part[i] = part;
    }
}

/* The whole sum's beginning and end, on the host. */
static table_status run_all(struct parts *parts, size_t rows) {
    struct state_image image = {0};
    struct call *whole = &parts->whole;
    *whole = parts->part[0].call;
    whole->backend = backend_cpu();
    whole->scan.in.rows = whole->scan.out.rows = rows;
    table_status status = state_inspect(whole);
    if (status == TABLE_OK)
        status = state_image_open(whole, &image);
    parts->image = &image;
    if (status == TABLE_OK)
        status = parts_run(parts);
    if (status == TABLE_OK)
        status = state_image_keep(whole, &image);
    state_image_close(&image);
    return status;
}

/* From here on parts are in the order in which they are summed. */
static table_status run_checked(struct parts *parts, size_t rows, bool reverse) {
    const double begun = seconds_now();
    drop_empty(parts);
    if (reverse)
        turn_around(parts);
    if (parts->report)
        *parts->report = (table_devices_report){.devices = 1};
    struct part *alone = &parts->part[0];
    const table_status status = parts->count == 1 ? run_scan(&alone->call, NULL) : run_all(parts, rows);
    if (parts->report)
        parts->report->seconds = seconds_now() - begun;
    if (parts->report && parts->count == 1)
        parts->report->scan_seconds = parts->report->seconds;
    return status;
}

table_status table_prefix_sum_devices(const table_part *given, size_t count, const table_scan_options *options,
                                      table_devices_report *report) {
    static const table_scan_options defaults;
    struct parts parts = {.count = count, .report = report};
    size_t rows, bytes;
    options = options ? options : &defaults;
    if (!given || count == 0)
        return status_fail(TABLE_ERROR_ARGUMENT, given ? "count is 0" : "parts is a null pointer");
    table_status status = look_at_options(options);
    if (status != TABLE_OK)
        return status;
    parts.part = checked_multiply(count, sizeof *parts.part, &bytes) ? calloc(count, sizeof *parts.part) : NULL;
    if (!parts.part)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no host memory for %zu parts", count);
    status = look_at_parts(given, options, &parts, &rows);
    if (status == TABLE_OK)
        status = run_checked(&parts, rows, options->reverse);
    free(parts.part);
    return status;
}
