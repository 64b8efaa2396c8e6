/* The sums of a piece of a table with segments. */
#include "scan.h"

#include <string.h>

#include <tuplescan/segmented_prefix_sum.h>

static bool is_recurrence(const struct scan_job *job) { return job->arguments.operation == TABLE_RECURRENCE; }

static char *value_at(const table_view *table, size_t row, size_t column) {
    const ptrdiff_t size = (ptrdiff_t)table_type_size(table->type);
    return (char *)table->data + ((ptrdiff_t)row * table->stride + (ptrdiff_t)column) * size;
}

static void turn(table_view *table) {
    if (table->rows > 1)
        table->data = value_at(table, table->rows - 1, 0);
    table->stride = -table->stride;
}

void scan_piece_turn(struct scan_piece *piece) {
    if (piece->a.data)
        turn(&piece->a);
    turn(&piece->in);
    turn(&piece->out);
}

/* A table in a table. Coefficients that are one row, or one column, for all stay so. */
static table_view within(const table_view *table, size_t first, size_t rows, const struct scan_part *part) {
    const bool is_row = table->rows == 1, is_column = table->columns == 1;
    table_view view = *table;
    view.data = value_at(table, is_row ? 0 : first, is_column ? 0 : part->first);
    view.rows = is_row ? 1 : rows;
    view.columns = is_column ? 1 : part->count;
    return view;
}

/* What was found in the rows of a part, of which the first one is row `above`. */
static void note(struct scan_job *job, const struct scan_part *part, uint64_t above, uint64_t overflow) {
    if (overflow == SCAN_NONE)
        return;
    overflow = (above + overflow / part->count) * job->out_layout.columns + part->first + overflow % part->count;
    if (overflow < job->first_overflow)
        job->first_overflow = overflow;
}

/* Rows of a part, which are segments, or, where these are NULL, one that goes on and began with row `above`. */
static table_status sum_rows(struct scan_job *job, const struct scan_part *part, const struct scan_piece *piece,
                             size_t first, size_t rows, const table_segments *segments, uint64_t above) {
    const table_view in = within(&piece->in, first, rows, part), out = within(&piece->out, first, rows, part);
    const struct scan_arguments *arguments = &job->arguments;
    uint64_t overflow = SCAN_NONE, skipped = 0;
    table_stream_report report = {0};
    const table_scan_options options = {.operation = is_recurrence(job) ? TABLE_SUM : arguments->operation,
                                        .exclusive = arguments->exclusive,
                                        .skip_nan = arguments->skip_nan,
                                        .skipped = arguments->skip_nan ? &skipped : NULL,
                                        .backend = arguments->common.backend,
                                        .threads = arguments->common.threads,
                                        .state = segments ? NULL : part->state,
                                        .first_overflow = job->checked ? &overflow : NULL,
                                        .report = &report.scan};
    table_status status;
    if (is_recurrence(job)) {
        const table_view a = within(&piece->a, first, rows, part);
        status = segments ? table_segmented_linear_recurrence(&a, &in, &out, segments, &options)
                          : table_linear_recurrence(&a, &in, &out, &options);
    } else {
        status = segments ? table_segmented_prefix_sum(&in, &out, segments, &options)
                          : table_prefix_sum(&in, &out, &options);
    }
    scan_add_report(&job->report, &report);
    job->skipped += skipped;
    note(job, part, above, overflow);
    return status;
}

/* The segment that goes on from the piece before, those that are whole in this one, and the one that goes on. */
static table_status sum_part(struct scan_job *job, const struct scan_part *part, const struct scan_piece *piece) {
    const struct scan_segments *segments = &job->segments;
    const size_t count = segments->count, rows = piece->in.rows, first = segments->goes_in;
    const bool begins = segments->goes_out && count > first;
    const int64_t *bounds = segments->bounds;
    const table_segments whole = {
        .kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = bounds + first, .count = count - first - begins};
    table_status status = TABLE_OK;
    if (segments->goes_in)
        status = sum_rows(job, part, piece, 0, (size_t)bounds[1], NULL, segments->begun);
    if (status == TABLE_OK && whole.count > 0)
        status = sum_rows(job, part, piece, 0, rows, &whole, piece->row);
    if (status != TABLE_OK || !begins)
        return status;
    const size_t last = (size_t)bounds[count - 1];
    memset(part->state, 0, part->state_bytes);
    return sum_rows(job, part, piece, last, rows - last, NULL, piece->row + last);
}

/* The keys as the maxima of segments of one row each, which keep -0.0, or as the sums, which have another type. */
static table_status take_keys(const struct scan_job *job, const struct scan_piece *piece) {
    const struct scan_part part = {.first = job->segments.by, .count = 1};
    const size_t rows = piece->in.rows;
    const table_view in = within(&piece->in, 0, rows, &part), out = within(&piece->out, 0, rows, &part);
    const table_segments each = {
        .kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = job->segments.bounds, .count = rows};
    const table_scan_options options = {.operation = in.type == out.type ? TABLE_MAXIMUM : TABLE_SUM,
                                        .backend = TABLE_BACKEND_CPU,
                                        .threads = job->arguments.common.threads};
    for (size_t i = 0; i <= rows; i++)
        job->segments.bounds[i] = (int64_t)i;
    return table_segmented_prefix_sum(&in, &out, &each, &options);
}

/* Rows that are in no segment. */
static void clear(const table_view *out, size_t first, size_t rows) {
    const size_t row = out->columns * table_type_size(out->type);
    if (rows > 0)
        memset(value_at(out, out->stride < 0 ? first + rows - 1 : first, 0), 0, rows * row);
}

table_status scan_segments_sum(struct scan_job *job, const struct scan_piece *piece) {
    struct scan_segments *segments = &job->segments;
    const size_t rows = piece->in.rows;
    table_status status = TABLE_OK;
    if (rows == 0 || piece->in.columns == 0)
        return TABLE_OK;
    scan_segments_find(segments, &job->arguments, piece, job->input->layout.rows);
    const size_t count = segments->count, end = (size_t)segments->bounds[count];
    clear(&piece->out, 0, (size_t)segments->bounds[0]);
    clear(&piece->out, end, rows - end);
    for (unsigned i = 0; i < 2 && status == TABLE_OK; i++)
        if (segments->parts[i].count > 0)
            status = sum_part(job, &segments->parts[i], piece);
    if (segments->goes_out && count > segments->goes_in)
        segments->begun = piece->row + (uint64_t)segments->bounds[count - 1];
    return status == TABLE_OK && job->arguments.by ? take_keys(job, piece) : status;
}
