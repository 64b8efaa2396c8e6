/* Tables with segments: the sums of a piece, and files that are read, summed and written in pieces. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

#include <tuplescan/segmented_prefix_sum.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "seconds.h"

/* PIECE_BYTES: what a thread has of the table and its sums at a time, so that they stay in its caches. */
enum { PIECE_BYTES = 1 << 20, PAGE = 4096, PADDING = 3 * PAGE };

static char *value_at(const table_view *table, size_t row, size_t column) {
    const ptrdiff_t size = (ptrdiff_t)table_type_size(table->type);
    return (char *)table->data + ((ptrdiff_t)row * table->stride + (ptrdiff_t)column) * size;
}

static void turn(table_view *table) {
    if (table->rows > 1)
        table->data = value_at(table, table->rows - 1, 0);
    table->stride = -table->stride;
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

/* Notes an overflow in the rows of a part, of which the first one is row `above`. */
static void note(struct scan_job *job, const struct scan_part *part, uint64_t above, uint64_t overflow) {
    if (overflow == SCAN_NONE)
        return;
    overflow = (above + overflow / part->count) * job->out_layout.columns + part->first + overflow % part->count;
    if (overflow < job->first_overflow)
        job->first_overflow = overflow;
}

/* Rows of a part, which are segments, or, where these are NULL, one that goes on and began with row `above`. */
static void sum_rows(struct scan_job *job, const struct scan_part *part, const struct scan_piece *piece, size_t first,
                     size_t rows, const table_segments *segments, uint64_t above) {
    const table_view in = within(&piece->in, first, rows, part), out = within(&piece->out, first, rows, part);
    uint64_t overflow = SCAN_NONE, skipped = 0;
    table_stream_report report = {0};
    table_scan_options options = scan_options(job);
    options.reverse = 0; /* the rows are in the order in which they are summed */
    options.skipped = options.skip_nan ? &skipped : NULL;
    options.state = segments ? NULL : part->state;
    options.first_overflow = job->checked ? &overflow : NULL;
    options.report = &report.scan;
    table_status status;
    if (scan_is_recurrence(job)) {
        const table_view a = within(&piece->a, first, rows, part);
        status = segments ? table_segmented_linear_recurrence(&a, &in, &out, segments, &options)
                          : table_linear_recurrence(&a, &in, &out, &options);
    } else {
        status = segments ? table_segmented_prefix_sum(&in, &out, segments, &options)
                          : table_prefix_sum(&in, &out, &options);
    }
    die_unless_ok(job->input->name, status);
    scan_add_report(&job->report, &report);
    job->skipped += skipped;
    note(job, part, above, overflow);
}

/* The segment that goes on from the piece before, those that are whole in this one, and the one that goes on. */
static void sum_part(struct scan_job *job, const struct scan_part *part, const struct scan_piece *piece) {
    const struct scan_segments *segments = &job->segments;
    const size_t count = segments->count, rows = piece->in.rows, first = segments->goes_in;
    const bool begins = segments->goes_out && count > first;
    const int64_t *bounds = segments->bounds;
    const table_segments whole = {
        .kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = bounds + first, .count = count - first - begins};
    if (segments->goes_in)
        sum_rows(job, part, piece, 0, (size_t)bounds[1], NULL, segments->begun);
    if (whole.count > 0)
        sum_rows(job, part, piece, 0, rows, &whole, piece->row);
    if (!begins)
        return;
    const size_t last = (size_t)bounds[count - 1];
    memset(part->state, 0, part->state_bytes);
    sum_rows(job, part, piece, last, rows - last, NULL, piece->row + last);
}

/* The keys as the maxima of segments of one row each, which keep -0.0, or as the sums, which have another type. */
static void take_keys(const struct scan_job *job, const struct scan_piece *piece) {
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
    die_unless_ok(job->input->name, table_segmented_prefix_sum(&in, &out, &each, &options));
}

/* Rows that are in no segment. */
static void clear(const table_view *out, size_t first, size_t rows) {
    const size_t row = out->columns * table_type_size(out->type);
    if (rows > 0)
        memset(value_at(out, out->stride < 0 ? first + rows - 1 : first, 0), 0, rows * row);
}

void scan_segments_sum(struct scan_job *job, struct scan_piece *piece) {
    struct scan_segments *segments = &job->segments;
    const size_t rows = piece->in.rows;
    if (rows == 0 || piece->in.columns == 0)
        return;
    if (job->arguments.reverse) { /* the order of the rows is turned */
        turn(&piece->in);
        turn(&piece->out);
    }
    if (job->arguments.reverse && piece->a.data)
        turn(&piece->a);
    scan_segments_find(job, piece);
    const size_t count = segments->count, end = (size_t)segments->bounds[count];
    clear(&piece->out, 0, (size_t)segments->bounds[0]);
    clear(&piece->out, end, rows - end);
    for (unsigned i = 0; i < 2; i++)
        if (segments->parts[i].count > 0)
            sum_part(job, &segments->parts[i], piece);
    if (segments->goes_out && count > segments->goes_in)
        segments->begun = piece->row + (uint64_t)segments->bounds[count - 1];
    if (job->arguments.by)
        take_keys(job, piece);
}

/* Bytes of a row: of the table, of its coefficients, and of the sums. */
struct row_bytes {
    size_t in, factors, out;
};

static struct row_bytes row_bytes_of(const struct scan_job *job) {
    const struct table_layout *in = &job->input->layout, *out = &job->out_layout;
    const table_stream_coefficients *a = &job->decay.of;
    return (struct row_bytes){.in = in->columns * table_type_size(in->type),
                              .factors = a->read ? a->columns * table_type_size(a->type) : 0,
                              .out = out->columns * table_type_size(out->type)};
}

/* SIZE_MAX: more than there can be. */
static size_t sum_of(struct row_bytes row) {
    size_t bytes = sizeof(int64_t);
    const bool is_more = __builtin_add_overflow(bytes, row.in, &bytes) ||
                         __builtin_add_overflow(bytes, row.factors, &bytes) ||
                         __builtin_add_overflow(bytes, row.out, &bytes);
    return is_more ? SIZE_MAX : bytes;
}

/* The bytes of all states. */
static size_t size_states(struct scan_job *job) {
    const table_operation operation = job->arguments.operation;
    const table_type kept = scan_kept_type(job);
    size_t bytes = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct scan_part *part = &job->segments.parts[i];
        die_unless_ok(job->name, table_state_bytes_of(operation, kept, part->count, &part->state_bytes));
        if (__builtin_add_overflow(bytes, part->state_bytes, &bytes))
            bytes = SIZE_MAX;
    }
    return bytes;
}

/* The CPU threads that may work. */
static size_t count_threads(const struct arguments *common) {
    table_device cpu;
    if (common->threads > 0)
        return common->threads;
    table_devices(&cpu, 1);
    return cpu.processors > 1 ? (size_t)cpu.processors : 1;
}

/* How many rows a piece has: all, if they are no more than usual, and then no segment goes on. Returns whether some
 * may, and there are states. */
static bool choose_room(struct scan_job *job, size_t row) {
    const struct arguments *common = &job->arguments.common;
    struct memory_budget budget = {.most = memory_limit(common->memory) - job->beside.most,
                                   .used = job->kept + job->input->buffers,
                                   .buffers = job->input->buffers};
    const size_t known = job->out_layout.rows, each = PIECE_BYTES * count_threads(common);
    const size_t states = size_states(job);
    size_t all, *const room = &job->segments.room;
    memory_add(&budget, PADDING + sizeof(int64_t));
    const size_t left = memory_left(&budget);
    const size_t usual = each > states ? each : states;
    const bool is_one = job->rows_known && common->input_count == 1 && size_multiply(known, row, &all);
    const bool has_states = !is_one || all > usual || (all > left && all / 2 >= states / 2 + row / 2);
    if (has_states)
        memory_add(&budget, states);
    *room = has_states ? least(usual, memory_left(&budget)) / row : known;
    *room += *room == 0;
    job->report.memory = budget.used + *room * row;
    memory_charge(&budget, job->name, *room * row);
    return has_states;
}

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Chooses the pieces, and has memory for them. */
static void begin(struct scan_job *job) {
    struct scan_segments *segments = &job->segments;
    const struct row_bytes row = row_bytes_of(job);
    const bool has_states = choose_room(job, sum_of(row));
    segments->bounds = memory_for(job->name, scan_segments_bytes(segments->room));
    for (unsigned i = 0; i < 2 && has_states; i++)
        segments->parts[i].state = memory_cleared(job->name, segments->parts[i].state_bytes);
    const size_t in = whole_pages(segments->room * row.in), factors = whole_pages(segments->room * row.factors);
    segments->in = aligned_alloc(PAGE, in + factors + whole_pages(segments->room * row.out));
    if (!segments->in)
        die(EX_OSERR, "%s: out of memory", job->name);
    segments->factors = segments->in + in;
    segments->out = segments->factors + factors;
}

static table_view rows_at(void *data, size_t rows, size_t columns, table_type type) {
    return (table_view){.data = data, .rows = rows, .columns = columns, .stride = (ptrdiff_t)columns, .type = type};
}

/* The piece that is in memory, of which `first` is the row of the input that lies first, and which is summed after
 * `above` rows. */
static void sum_piece(struct scan_job *job, size_t first, size_t rows, uint64_t above) {
    const struct scan_segments *segments = &job->segments;
    const struct table_layout *in = &job->input->layout, *out = &job->out_layout;
    const table_stream_coefficients *a = &job->decay.of;
    struct scan_piece piece = {.row = above,
                               .is_last = job->rows_known && above + rows == out->rows,
                               .in = rows_at(segments->in, rows, in->columns, in->type),
                               .out = rows_at(segments->out, rows, out->columns, out->type)};
    if (a->row)
        piece.a = rows_at((void *)(uintptr_t)a->row, 1, a->columns, a->type);
    if (a->read) {
        scan_decay_bring(&job->decay, first, rows, segments->factors);
        piece.a = rows_at(segments->factors, rows, a->columns, a->type);
    }
    scan_segments_sum(job, &piece);
}

/* Adds what a piece was to the report. */
static void report_piece(struct scan_job *job, size_t rows, double read, double write) {
    const struct row_bytes row = row_bytes_of(job);
    table_stream_report *const report = &job->report;
    report->rows += rows;
    report->bytes_read += rows * row.in;
    report->bytes_written += rows * row.out;
    report->read_seconds += read;
    report->write_seconds += write;
    progress_show(report->rows, job->rows_known ? job->out_layout.rows : 0, report->bytes_read + report->bytes_written);
}

/* The piece that is in memory. */
struct window {
    size_t first, rows; /* of the input */
    size_t filled;      /* bytes that are there: after the rows may be some of the next one */
    size_t left;        /* bytes of the input that were not read so far */
    bool ended;         /* no piece comes after it */
};

/* Reads the next rows: as many as there is room for, or, of a pipe, whole ones as soon as nothing more is there. */
static void read_forwards(struct scan_job *job, size_t row, struct window *at) {
    struct input_file *input = job->input;
    const bool waits = input->is_regular || input->data || !job->segments.parts[0].state;
    const size_t done = at->rows * row, room = job->segments.room * row;
    size_t got = 1;
    at->first += at->rows;
    at->filled -= done;
    memmove(job->segments.in, job->segments.in + done, at->filled);
    while (got > 0 && at->filled < room && at->left > 0) {
        const size_t asked = least(room - at->filled, at->left);
        got = input_some(input, job->segments.in + at->filled, asked);
        at->filled += got;
        at->left -= input->rows_known ? got : 0;
        if (!waits && got < asked && at->filled >= row)
            break;
    }
    at->rows = at->filled / row;
    at->ended = got == 0 || at->left == 0;
}

/* Reads the rows before those that were read. */
static void read_backwards(struct scan_job *job, size_t row, struct window *at) {
    at->rows = least(at->first, job->segments.room);
    at->first -= at->rows;
    at->ended = at->first == 0;
    input_go_to(job->input, at->first);
    at->filled = input_read(job->input, job->segments.in, at->rows * row);
}

/* Writes the sums of the piece, of which the first row goes to `place`. */
static void write_piece(struct scan_job *job, size_t row, const struct window *at, size_t place) {
    const size_t bytes = at->rows * row;
    if (job->arguments.reverse)
        atomic_file_write_at(&job->output, job->segments.out, bytes, place + at->first * row);
    else if (bytes > 0)
        scan_write_sums(job, job->segments.out, bytes);
}

void scan_segments_stream(struct scan_job *job) {
    struct input_file *input = job->input;
    const bool reverse = job->arguments.reverse;
    const size_t all = input->layout.rows, place = job->output.written;
    const struct row_bytes row = row_bytes_of(job);
    struct window at = {.first = reverse ? all : 0, .left = input->rows_known ? input->layout.bytes : SIZE_MAX};
    if (!job->segments.in)
        begin(job);
    while (!at.ended) {
        const double begun = seconds_now();
        (reverse ? read_backwards : read_forwards)(job, row.in, &at);
        const double filled = seconds_now();
        if (at.rows > 0)
            sum_piece(job, at.first, at.rows, reverse ? all - at.first - at.rows : job->rows_above + at.first);
        if (at.ended && input->rows_known)
            input_unchanged(input);
        const double summed = seconds_now();
        write_piece(job, row.out, &at, place);
        report_piece(job, at.rows, filled - begun, seconds_now() - summed);
    }
    if (reverse) {
        input_go_to(input, all);
        atomic_file_grown(&job->output, all * row.out);
    } else {
        input_ends(input, (uint64_t)at.first * row.in + at.filled);
    }
}
