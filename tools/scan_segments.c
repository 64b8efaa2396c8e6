#include "scan_segments.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "number.h"

int scan_segments_check(const struct scan_arguments *arguments) {
    const char *const option = arguments->segments ? "--segments" : "--by";
    const struct {
        bool is_there;
        const char *name;
    } others[] = {{arguments->segments && arguments->by, "--by"},
                  {arguments->decay, "--decay"},
                  {arguments->decay_file, "--decay-file"},
                  {arguments->offsets, "--offsets"},
                  {arguments->carry_in, "--carry-in"},
                  {arguments->carry_out, "--carry-out"},
                  {arguments->state, "--continue"},
                  {arguments->common.kept.count > 0, "--keep"},
                  {arguments->devices.count > 0, "--devices"},
                  {arguments->common.backend == TABLE_BACKEND_CUDA, "--backend cuda"},
                  {arguments->common.input_count > 1, "several inputs"}};
    for (size_t i = 0; scan_has_segments(arguments) && i < sizeof others / sizeof *others; i++)
        if (others[i].is_there)
            return fail(EX_USAGE, "%s and %s: only one of them", option, others[i].name);
    return EX_OK;
}

static int open_offsets(struct scan_segments *segments, const char *path, size_t most, bool tells) {
    const struct input_request request = {
        .like = TABLE_I64, .raw_type = TABLE_I64, .memory = most, .whole = true, .own = true, .tells = tells};
    struct input_file *const file = &segments->file;
    const int code = input_open(file, path, &request);
    const struct table_layout *layout = &file->layout;
    if (code != EX_OK)
        return code;
    if (layout->type != TABLE_I32 && layout->type != TABLE_I64)
        return fail(EX_DATAERR, "%s: its type is %s, and offsets are i32 or i64", file->name,
                    table_type_name(layout->type));
    if (layout->columns != 1 || layout->rows == 0)
        return fail(EX_DATAERR, "%s: has %zu x %zu values, and offsets are a column of at least one", file->name,
                    layout->rows, layout->columns);
    return EX_OK;
}

/* By its name, or else its number. */
static int find_column(struct scan_segments *segments, const char *by, const char *name,
                       const struct table_layout *in) {
    const char *at = in->names;
    uint64_t number;
    for (size_t column = 0; at && column < in->columns; column++, at += strlen(at) + 1)
        if (strcmp(at, by) == 0) {
            segments->by = column;
            return EX_OK;
        }
    if (!parse_number(by, SIZE_MAX, &number) || number >= in->columns)
        return fail(EX_USAGE, "--by %s: is none of the %zu columns of %s", by, in->columns, name);
    segments->by = (size_t)number;
    return EX_OK;
}

int scan_segments_open(struct scan_segments *segments, const struct scan_arguments *arguments, const char *name,
                       const struct table_layout *in, size_t most) {
    return arguments->segments ? open_offsets(segments, arguments->segments, most, !arguments->common.quiet)
           : arguments->by     ? find_column(segments, arguments->by, name, in)
                               : EX_OK;
}

size_t scan_segments_bytes(const struct scan_arguments *arguments, const table_view *in) {
    return arguments->by ? in->rows * (table_type_size(in->type) + 1) : 0;
}

static table_view columns_of(const table_view *table, size_t first, size_t count) {
    return (table_view){.data = (char *)table->data + first * table_type_size(table->type),
                        .rows = table->rows,
                        .columns = count,
                        .stride = (ptrdiff_t)table->columns,
                        .type = table->type};
}

/* Adds what was found in the columns from `first` on to what was found before. */
static table_status sum_columns(const table_view *in, const table_view *out, size_t first, size_t count,
                                const table_segments *segments, const table_scan_options *options) {
    const table_view from = columns_of(in, first, count), to = columns_of(out, first, count);
    table_scan_options own = *options;
    uint64_t overflow = TABLE_NO_OVERFLOW, skipped = 0;
    if (count == 0)
        return TABLE_OK;
    own.first_overflow = options->first_overflow ? &overflow : NULL;
    own.skipped = options->skipped ? &skipped : NULL;
    const table_status status = table_segmented_prefix_sum(&from, &to, segments, &own);
    if (options->skipped)
        *options->skipped += skipped;
    if (overflow == TABLE_NO_OVERFLOW)
        return status;
    overflow = overflow / count * in->columns + first + overflow % count;
    if (overflow < *options->first_overflow)
        *options->first_overflow = overflow;
    return status;
}

/* The keys side by side, and the sums of the columns on both sides; the keys go through as segments of one row. */
static table_status sum_by(size_t by, const table_view *in, const table_view *out, const table_scan_options *options) {
    const size_t size = table_type_size(in->type);
    char *const keys = malloc(in->rows * (size + 1) + 1), *const heads = keys + in->rows * size;
    const table_segments of_keys = {.kind = TABLE_SEGMENT_KEYS, .type = in->type, .data = keys};
    const table_segments of_rows = {.kind = TABLE_SEGMENT_HEADS, .type = TABLE_U8, .data = heads};
    table_scan_options through = *options;
    if (!keys)
        return table_error_set(TABLE_ERROR_HOST_MEMORY, "the keys do not fit in memory");
    for (size_t i = 0; i < in->rows; i++)
        memcpy(keys + i * size, (const char *)in->data + (i * in->columns + by) * size, size);
    memset(heads, 1, in->rows);
    through.exclusive = through.skip_nan = 0;
    through.first_overflow = through.skipped = NULL;
    table_status status = sum_columns(in, out, 0, by, &of_keys, options);
    if (status == TABLE_OK)
        status = sum_columns(in, out, by + 1, in->columns - by - 1, &of_keys, options);
    if (status == TABLE_OK)
        status = sum_columns(in, out, by, 1, &of_rows, &through);
    free(keys);
    return status;
}

table_status scan_segments_sum(struct scan_segments *segments, const struct scan_arguments *arguments,
                               const table_view *in, const table_view *out, const table_scan_options *options) {
    const struct input_file *file = &segments->file;
    table_segments offsets = {.kind = TABLE_SEGMENT_OFFSETS, .type = file->layout.type, .data = file->data};
    segments->wrong = TABLE_SEGMENTS_RIGHT;
    if (options->first_overflow)
        *options->first_overflow = TABLE_NO_OVERFLOW;
    if (arguments->by)
        return sum_by(segments->by, in, out, options);
    memset(out->data, 0, out->rows * out->columns * table_type_size(out->type));
    offsets.count = file->layout.rows - 1;
    offsets.wrong = &segments->wrong;
    return sum_columns(in, out, 0, in->columns, &offsets, options);
}

int scan_segments_fail(const struct scan_segments *segments, const struct input_file *input, table_status status) {
    if (segments->wrong == TABLE_SEGMENTS_RIGHT)
        return fail_status(input->name, status);
    return fail(EX_DATAERR,
                "%s: offset %" PRIu64 ", counted from 0 on, is less than the one before it, or lies outside of the %zu "
                "rows of %s",
                segments->file.name, segments->wrong, input->layout.rows, input->name);
}
