/* Where the sums of a table begin anew: by offsets, or where a column changes. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "message.h"
#include "number.h"
#include "text/field.h"

void scan_segments_check(const struct scan_arguments *arguments) {
    const char *const option = arguments->segments ? "--segments" : "--by";
    const struct {
        bool is_there;
        const char *name;
    } others[] = {{arguments->segments && arguments->by, "--by"},
                  {arguments->offsets, "--offsets"},
                  {arguments->carry_in, "--carry-in"},
                  {arguments->carry_out, "--carry-out"},
                  {arguments->state, "--continue"},
                  {arguments->devices.count > 0, "--devices"},
                  {arguments->common.backend == TABLE_BACKEND_CUDA, "--backend cuda"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].is_there)
            die(EX_USAGE, "%s and %s: only one of them", option, others[i].name);
}

/* Offsets are mapped where they can be, so that they may be larger than memory. */
static void open_offsets(struct scan_job *job) {
    const struct input_request request = {.type = TABLE_I64,
                                          .columns = 1,
                                          .type_is_a_hint = true,
                                          .memory = scan_memory_left(job),
                                          .tells = !job->arguments.common.quiet};
    struct input_file *const file = &job->segments.file;
    input_open(file, job->arguments.segments, &request);
    const struct table_layout *layout = &file->layout;
    if (layout->type != TABLE_I32 && layout->type != TABLE_I64)
        die(EX_DATAERR, "%s: its type is %s, and offsets are i32 or i64", file->name, table_type_name(layout->type));
    if (layout->columns != 1 || layout->rows == 0)
        die(EX_DATAERR, "%s: has %zu x %zu values, and offsets are a column of at least one", file->name, layout->rows,
            layout->columns);
    if (file->data && !file->mapping)
        scan_keep(job, file->name, layout->bytes);
}

/* By its name, as --field takes it, without quotes, or else its number. */
static size_t find_column(const struct scan_job *job) {
    const struct table_layout *in = &job->inputs[0].layout;
    const char *const by = job->arguments.by, *names = in->names;
    uint64_t number;
    for (size_t column = 0, length; names && column < in->columns; column++) {
        const char *name = text_next_name(&names, &length);
        if (strlen(by) == length && memcmp(name, by, length) == 0)
            return column;
    }
    if (!parse_number(by, SIZE_MAX, &number) || number >= in->columns)
        die(EX_USAGE, "--by %s: is none of the %zu columns of %s", by, in->columns, job->name);
    return (size_t)number;
}

void scan_segments_open(struct scan_job *job) {
    struct scan_segments *segments = &job->segments;
    const size_t columns = job->inputs[0].layout.columns;
    segments->parts[0].count = columns;
    if (job->arguments.by) {
        const size_t by = segments->parts[0].count = segments->by = find_column(job);
        segments->parts[1] = (struct scan_part){.first = by + 1, .count = columns - by - 1};
    } else {
        open_offsets(job);
    }
}

/* At any address. */
static int64_t offset_at(const struct scan_segments *segments, size_t i) {
    int32_t narrow;
    int64_t wide;
    if (segments->file.layout.type == TABLE_I32) {
        memcpy(&narrow, (const char *)segments->file.data + i * sizeof narrow, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, (const char *)segments->file.data + i * sizeof wide, sizeof wide);
    return wide;
}

void scan_segments_look(const struct scan_job *job, uint64_t rows) {
    const struct scan_segments *const segments = &job->segments;
    const struct input_file *const file = &segments->file;
    int64_t before = 0;
    for (size_t i = 0; i < file->layout.rows; i++) {
        const int64_t offset = offset_at(segments, i);
        if (offset < before || (uint64_t)offset > rows)
            die(EX_DATAERR,
                "%s: offset %zu, counted from 0 on, is less than the one before it, or lies outside of the "
                "%llu rows of %s",
                file->name, i, (unsigned long long)rows, job->name);
        before = offset;
    }
}

/* Offset i in the order of the rows. */
static int64_t ordered_at(const struct scan_segments *segments, size_t i, const uint64_t *rows) {
    return rows ? (int64_t)*rows - offset_at(segments, segments->file.layout.rows - 1 - i) : offset_at(segments, i);
}

/* Segments without rows are left out. Whatever another process writes to the offsets meanwhile, bounds grow, and none
 * is beyond the piece. */
static void find_by_offsets(struct scan_segments *segments, const struct scan_piece *piece, const uint64_t *rows) {
    const size_t all = segments->file.layout.rows;
    const int64_t first = (int64_t)piece->row, count = (int64_t)piece->in.rows, end = first + count;
    int64_t *bound = segments->bounds, next = segments->next < all ? ordered_at(segments, segments->next, rows) : 0;
    *bound = 0;
    segments->goes_in = segments->next > 0 && segments->next < all && next > first;
    if (segments->next == 0 && next < end)
        *bound = next > first ? next - first : 0;
    while (segments->next < all && (next = ordered_at(segments, segments->next, rows)) < end) {
        bound[1] = next - first;
        bound += bound[1] > bound[0];
        segments->next++;
    }
    const bool is_within = segments->next > 0 && segments->next < all;
    if (is_within) {
        bound[1] = count;
        bound += bound[1] > bound[0];
    }
    segments->count = (size_t)(bound - segments->bounds);
    segments->goes_in = segments->goes_in && segments->count > 0;
    segments->goes_out = is_within && segments->count > 0 && next > end && !piece->is_last;
}

/* Sizes are known where the compiler can make one load of it. */
static uint64_t bits_of(const void *value, size_t size) {
    uint64_t bits = 0;
    if (size == 8)
        memcpy(&bits, value, 8);
    else if (size == 4)
        memcpy(&bits, value, 4);
    else
        memcpy(&bits, value, size == 2 ? 2 : 1);
    return bits;
}

/* The last segment may go on in the next piece. */
static void find_by_keys(struct scan_segments *segments, const struct scan_piece *piece) {
    const size_t size = table_type_size(piece->in.type);
    const ptrdiff_t step = piece->in.stride * (ptrdiff_t)size;
    const char *key = (const char *)piece->in.data + segments->by * size;
    uint64_t bits = bits_of(key, size);
    int64_t *bound = segments->bounds;
    *bound = 0;
    segments->goes_in = piece->row > 0 && bits == segments->last_key;
    for (size_t i = 1; i < piece->in.rows; i++) {
        const uint64_t before = bits;
        key += step;
        bits = bits_of(key, size);
        bound[1] = (int64_t)i;
        bound += bits != before;
    }
    *++bound = (int64_t)piece->in.rows;
    segments->count = (size_t)(bound - segments->bounds);
    segments->last_key = bits;
    segments->goes_out = !piece->is_last;
}

void scan_segments_find(struct scan_job *job, const struct scan_piece *piece) {
    const uint64_t rows = job->input->layout.rows;
    if (job->arguments.by)
        find_by_keys(&job->segments, piece);
    else
        find_by_offsets(&job->segments, piece, job->arguments.reverse ? &rows : NULL);
}

size_t scan_segments_bytes(size_t rows) {
    size_t bytes;
    return rows < SIZE_MAX && size_multiply(rows + 1, sizeof(int64_t), &bytes) ? bytes : SIZE_MAX;
}

void scan_segments_close(struct scan_segments *segments) {
    input_release(&segments->file);
    free(segments->bounds);
    free(segments->in);
    for (unsigned i = 0; i < 2; i++)
        free(segments->parts[i].state);
}
