/* The gate of calls on segments: the tables are checked as in a plain call, and memory with a row for each segment
 * here. */
#include <string.h>

#include "../checked.h"
#include "../refusals.h"
#include "../status.h"
#include "../views.h"
#include "segments.h"

bool segments_values(const struct segments *segments, size_t rows, size_t *values) {
    switch (segments->kind) {
    case TABLE_SEGMENT_OFFSETS:
        return checked_add(segments->count, segments->data || segments->count > 0, values);
    case TABLE_SEGMENT_LENGTHS:
        *values = segments->count;
        return true;
    default:
        *values = rows;
        return true;
    }
}

static table_status validate_kind(const table_segments *segments) {
    const bool counted = !segments_have_rows(segments->kind);
    const table_type type = segments->type;
    if (segments->kind < TABLE_SEGMENT_OFFSETS || segments->kind > TABLE_SEGMENT_HEADS)
        return status_fail(TABLE_ERROR_ARGUMENT, "segments->kind %d is no kind of segments", (int)segments->kind);
    if (table_type_size(type) == 0)
        return status_fail(TABLE_ERROR_TYPE, "segments->type %d is no element type", (int)type);
    if (counted && type != TABLE_I32 && type != TABLE_I64)
        return status_fail(TABLE_ERROR_TYPE, "segments->type is %s, and offsets and lengths are i32 or i64",
                           table_type_name(type));
    if (segments->kind == TABLE_SEGMENT_HEADS && type != TABLE_U8 && type != TABLE_BOOL)
        return status_fail(TABLE_ERROR_TYPE, "segments->type is %s, and flags are u8 or bool", table_type_name(type));
    if (!counted && segments->count_at)
        return status_fail(TABLE_ERROR_ARGUMENT, "segments->count_at is for offsets and lengths");
    return validate_reserved("segments", segments->reserved, RESERVED_WORDS(segments));
}

/* Where nothing has rows for each segment, the caller's count says nothing of keys and flags, which begin at most a
 * segment a row. */
static struct segments take_segments(const table_segments *segments, size_t rows, const table_scan_options *options) {
    const bool is_counted = options->carry_in || options->carry_out || options->offsets;
    return (struct segments){.kind = segments->kind,
                             .type = segments->type,
                             .data = segments->data,
                             .count = segments_have_rows(segments->kind) && !is_counted ? rows : segments->count,
                             .count_at = segments->count_at,
                             .found = segments->found,
                             .wrong = segments->wrong,
                             .is_counted = is_counted,
                             .mirrored = options->reverse != 0,
                             .has_row_before = options->offsets != 0};
}

/* `all` has rows for the segments, and the plain call none: it is checked with the first rows of it. */
static table_status validate_tables(const table_view *a, const table_view *in, const table_view *out, size_t segments,
                                    const table_scan_options *options, enum call_form form, struct call *call) {
    struct table_scan_options plain = *options;
    struct table_view all, rows = *out;
    size_t wanted;
    plain.carry_in = NULL;
    plain.carry_out = NULL;
    plain.offsets = 0;
    if (form == CALL_FOR_TOTALS) {
        plain.stream = NULL;
        plain.workspace = NULL;
        plain.workspace_bytes = 0;
    }
    if (!options->offsets)
        return validate_scan(a, in, out, &plain, form, call);
    TRY(validate_table("out", out, &all));
    if (!checked_add(in->rows, segments, &wanted) || out->rows != wanted)
        return status_fail(TABLE_ERROR_SHAPE,
                           "in is %zu x %zu and out is %zu x %zu, and with options->offsets it has a row more for "
                           "each of %zu segments",
                           in->rows, in->columns, out->rows, out->columns, segments);
    rows = view_rows(&all, 0, in->rows);
    TRY(validate_scan(a, in, &rows, &plain, form, call));
    TRY(validate_apart("in", &call->scan.in, "out", &all, false));
    TRY(refuse_float_products(CALLER_OFFSETS, options->operation, out->type));
    if (options->reverse)
        view_mirror(&all);
    call->scan.out = all;
    return TABLE_OK;
}

table_status segments_list_named(const struct scan *scan, const struct segments *segments,
                                 struct plan_memory named[SEGMENTS_NAMED]) {
    size_t carried, values;
    if (!checked_multiply(segments->count, scan->in.columns, &carried) ||
        !segments_values(segments, scan->in.rows, &values))
        return status_fail(TABLE_ERROR_TOO_LARGE, "segments->count %zu: rows of %zu columns cannot be addressed",
                           segments->count, scan->in.columns);
    if (values > 0 && !segments->data)
        return status_fail(TABLE_ERROR_ARGUMENT, "segments->data is a null pointer");
    const struct plan_memory own[] = {{"segments->data", segments->data, values, segments->type, false, true},
                                      {"segments->count_at", segments->count_at, 1, TABLE_U64, false, true},
                                      {"segments->found", segments->found, 1, TABLE_U64, true, false},
                                      {"segments->wrong", segments->wrong, 1, TABLE_U64, true, false}};
    plan_list_named(scan, segments->count, named);
    memcpy(named + NAMED_STATE, own, sizeof own); /* after the carries and the words */
    return TABLE_OK;
}

static table_status validate_segments_backend(const struct call *call, const struct segments *segments,
                                              enum call_form form) {
    if (!call->backend->copy_rows)
        return TABLE_OK;
    TRY(refuse_segments(call, segments_have_rows(segments->kind) ? call->scan.in.rows : segments->count));
    const struct table_view *out = &call->scan.out;
    const bool has_starts = segments->has_row_before && out->rows > 0 && out->columns > 0;
    if (call->scan.chunks == 0 && !has_starts)
        return TABLE_OK;
    TRY(refuse_host_tables(CALLER_SEGMENTS,
                           call->scan.chunks > 0 ? call->device < 0 : backend_device_of(out->data) < 0));
    if (form != CALL_ON_STREAM)
        return TABLE_OK;
    if ((segments->data && backend_device_of(segments->data) < 0) ||
        (segments->count_at && backend_device_of(segments->count_at) < 0))
        return status_fail(TABLE_ERROR_BACKEND, "segments: the stream forms on CUDA need them in device memory");
    return TABLE_OK;
}

static bool is_for_totals(const table_view *in, const table_view *out, const table_scan_options *options) {
    return in && out && !out->data && out->rows == 0 && in->rows > 0 && options->carry_out;
}

table_status validate_segments(const table_view *a, const table_view *in, const table_view *out,
                               const table_segments *segments, const table_scan_options *options, enum call_form form,
                               struct call *call, struct segments *checked) {
    struct plan_memory named[SEGMENTS_NAMED];
    if (!in || !out || !segments)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", !in ? "in" : !out ? "out" : "segments");
    const bool totals = is_for_totals(in, out, options);
    table_status status = refuse_wrong_options(options, form, a != NULL);
    if (status == TABLE_OK)
        status = refuse(totals ? CALLER_TOTALS_OF_SEGMENTS : CALLER_SEGMENTS, options);
    if (status == TABLE_OK)
        status = validate_kind(segments);
    if (status != TABLE_OK)
        return status;
    *checked = take_segments(segments, in->rows, options);
    status = validate_tables(a, in, out, segments->count, options, totals ? CALL_FOR_TOTALS : form, call);
    if (status != TABLE_OK)
        return status;
    call->scan.carry_in = options->carry_in;
    call->scan.carry_out = options->carry_out;
    call->scan.stream = options->stream;
    call->form = form;
    if (options->shifted_coefficients && options->carry_in)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->carry_in is not let through by shifted_coefficients, which "
                                                 "are 0 where a segment begins");
    status = segments_list_named(&call->scan, checked, named);
    if (status == TABLE_OK)
        status = validate_named(call, &call->scan.out, named, SEGMENTS_NAMED);
    for (unsigned i = 0; i < SEGMENTS_NAMED && status == TABLE_OK; i++)
        status = validate_reach(call->backend, named[i].name, named[i].memory);
    return status == TABLE_OK ? validate_segments_backend(call, checked, form) : status;
}
