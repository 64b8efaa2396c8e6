/* Tables with segments: files that are read, summed and written in pieces. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "seconds.h"

/* PIECE_BYTES: what a thread has of the table and its sums at a time, so that they stay in its caches. */
enum { PIECE_BYTES = 1 << 20, PAGE = 4096, PADDING = 3 * PAGE };

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
static int size_states(struct scan_job *job, size_t *bytes) {
    const table_operation operation = job->arguments.operation;
    const table_type kept = table_kept_type(operation, job->out_layout.type);
    *bytes = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct scan_part *part = &job->segments.parts[i];
        const table_status status = table_state_bytes_of(operation, kept, part->count, &part->state_bytes);
        if (status != TABLE_OK)
            return fail_status(job->name, status);
        if (__builtin_add_overflow(*bytes, part->state_bytes, bytes))
            *bytes = SIZE_MAX;
    }
    return EX_OK;
}

static int make_states(struct scan_job *job) {
    for (unsigned i = 0; i < 2; i++) {
        struct scan_part *part = &job->segments.parts[i];
        part->state = calloc(1, part->state_bytes);
        if (!part->state)
            return fail(EX_OSERR, "%s: out of memory", job->name);
    }
    return EX_OK;
}

/* How many rows a piece has: all, if they are no more than what is usual, and then no segment goes on. */
static int choose_room(struct scan_job *job, size_t row, bool *has_states) {
    const struct arguments *common = &job->arguments.common;
    struct memory_budget budget = {.most = memory_limit(common->memory) - job->beside.most,
                                   .used = job->kept + job->input->buffers,
                                   .buffers = job->input->buffers};
    const size_t threads = common->threads > 1 ? common->threads : 1, known = job->out_layout.rows;
    size_t states, all, *const room = &job->segments.room;
    const int code = size_states(job, &states);
    if (code != EX_OK)
        return code;
    memory_add(&budget, PADDING + sizeof(int64_t));
    const size_t left = memory_left(&budget);
    const size_t usual = PIECE_BYTES * threads > states ? PIECE_BYTES * threads : states;
    const bool is_one = job->rows_known && common->input_count == 1 && size_multiply(known, row, &all);
    *has_states = !is_one || all > usual || (all > left && all / 2 >= states / 2 + row / 2);
    if (*has_states)
        memory_add(&budget, states);
    *room = *has_states ? least(usual, memory_left(&budget)) / row : known;
    *room += *room == 0;
    job->report.memory = budget.used + *room * row;
    return memory_charge(&budget, job->name, *room * row);
}

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Chooses the pieces, and has memory for them. */
static int begin(struct scan_job *job) {
    struct scan_segments *segments = &job->segments;
    const struct row_bytes row = row_bytes_of(job);
    bool has_states;
    int code = choose_room(job, sum_of(row), &has_states);
    if (code == EX_OK)
        code = scan_segments_room(segments, job->name, segments->room);
    if (code == EX_OK && has_states)
        code = make_states(job);
    if (code != EX_OK)
        return code;
    const size_t in = whole_pages(segments->room * row.in), factors = whole_pages(segments->room * row.factors);
    segments->in = aligned_alloc(PAGE, in + factors + whole_pages(segments->room * row.out));
    if (!segments->in)
        return fail(EX_OSERR, "%s: out of memory", job->name);
    segments->factors = segments->in + in;
    segments->out = segments->factors + factors;
    return EX_OK;
}

static table_view rows_at(void *data, size_t rows, size_t columns, table_type type) {
    return (table_view){.data = data, .rows = rows, .columns = columns, .stride = (ptrdiff_t)columns, .type = type};
}

/* The piece that is in memory, of which `first` is the row of the input that lies first, and which is summed after
 * `above` rows. */
static int sum_piece(struct scan_job *job, size_t first, size_t rows, uint64_t above) {
    const struct scan_segments *segments = &job->segments;
    const struct table_layout *in = &job->input->layout, *out = &job->out_layout;
    const table_stream_coefficients *a = &job->decay.of;
    struct scan_piece piece = {.row = above,
                               .is_last = job->rows_known && above + rows == out->rows,
                               .in = rows_at(segments->in, rows, in->columns, in->type),
                               .out = rows_at(segments->out, rows, out->columns, out->type)};
    if (a->row)
        piece.a = rows_at((void *)(uintptr_t)a->row, 1, a->columns, a->type);
    if (a->read && a->read(a->read_context, first, rows, segments->factors) != 0)
        return job->decay.code;
    if (a->read)
        piece.a = rows_at(segments->factors, rows, a->columns, a->type);
    if (job->arguments.reverse)
        scan_piece_turn(&piece);
    const table_status status = scan_segments_sum(job, &piece);
    return status == TABLE_OK ? EX_OK : fail_status(job->input->name, status);
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
    progress_show(&job->base.progress, report->rows, job->rows_known ? job->out_layout.rows : 0,
                  report->bytes_read + report->bytes_written);
}

/* Reads behind the *filled bytes that are there: as many as there is room for, or, of what comes by a pipe, whole rows
 * as soon as nothing more is there. *left: bytes of the input that were not read so far. */
static int fill(struct scan_job *job, size_t row, size_t *filled, size_t *left, bool *ended) {
    struct input_file *input = job->input;
    const bool waits = input->is_regular || input->data || !job->segments.parts[0].state;
    const size_t most = least(job->segments.room * row - *filled, *left);
    for (size_t done = 0; done < most;) {
        const size_t asked = most - done;
        const ssize_t got = input_some(input, job->segments.in + *filled, asked);
        if (got < 0)
            return input->code;
        if (got == 0) {
            *ended = true;
            return EX_OK;
        }
        done += (size_t)got;
        *filled += (size_t)got;
        *left -= input->rows_known ? (size_t)got : 0;
        if (!waits && (size_t)got < asked && *filled >= row)
            return EX_OK;
    }
    *ended = *left == 0;
    return EX_OK;
}

static int go_forwards(struct scan_job *job) {
    struct input_file *input = job->input;
    const struct row_bytes row = row_bytes_of(job);
    size_t filled = 0, first = 0, left = input->rows_known ? input->layout.bytes : SIZE_MAX;
    bool ended = false;
    int code = EX_OK;
    while (code == EX_OK && !ended) {
        const double begun = seconds_now();
        code = fill(job, row.in, &filled, &left, &ended);
        const double filled_at = seconds_now();
        const size_t rows = filled / row.in, rest = filled % row.in;
        if (code == EX_OK && rows > 0)
            code = sum_piece(job, first, rows, job->rows_above + first);
        if (code == EX_OK && ended && input->rows_known)
            code = input_unchanged(input);
        const double summed = seconds_now();
        if (code == EX_OK && rows > 0 && scan_write_sums(job, job->segments.out, rows * row.out) != 0)
            code = job->write_code;
        report_piece(job, rows, filled_at - begun, seconds_now() - summed);
        memmove(job->segments.in, job->segments.in + rows * row.in, rest);
        first += rows;
        filled = rest;
    }
    return code == EX_OK ? input_ends(input, (uint64_t)first * row.in + filled) : code;
}

static int go_backwards(struct scan_job *job) {
    struct input_file *input = job->input;
    const struct row_bytes row = row_bytes_of(job);
    const size_t all = input->layout.rows, place = job->output.written;
    int code = EX_OK;
    for (size_t end = all, first; code == EX_OK && end > 0; end = first) {
        const double begun = seconds_now();
        const size_t rows = least(end, job->segments.room);
        size_t got;
        first = end - rows;
        code = input_go_to(input, first);
        if (code == EX_OK)
            code = input_read(input, job->segments.in, rows * row.in, &got);
        const double filled_at = seconds_now();
        if (code == EX_OK)
            code = sum_piece(job, first, rows, all - end);
        if (code == EX_OK && first == 0)
            code = input_unchanged(input);
        const double summed = seconds_now();
        if (code == EX_OK)
            code = atomic_file_write_at(&job->output, job->segments.out, rows * row.out, place + first * row.out);
        report_piece(job, rows, filled_at - begun, seconds_now() - summed);
    }
    if (code == EX_OK)
        code = input_go_to(input, all);
    return code == EX_OK ? atomic_file_grown(&job->output, all * row.out) : code;
}

int scan_segments_stream(struct scan_job *job) {
    const int code = job->segments.in ? EX_OK : begin(job);
    if (code != EX_OK)
        return code;
    return job->arguments.reverse ? go_backwards(job) : go_forwards(job);
}
