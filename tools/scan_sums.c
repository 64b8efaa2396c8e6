/* The sums of a scan, as the streams of its inputs bring them. */
#include "scan.h"

#include <stdint.h>
#include <stdlib.h>

#include <tuplescan/linear_recurrence.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"
#include "types.h"

static bool looks_at_sums(const struct scan_job *job) {
    return type_is_float(job->out_layout.type) && job->arguments.operation == TABLE_SUM &&
           !scan_has_segments(&job->arguments);
}

int scan_attempt(struct scan_job *job, void (*step)(void *context), void *context) {
    const int code = attempt(step, context);
    if (code != EX_OK)
        job->failed = code;
    return code == EX_OK ? 0 : -1;
}

/* What a callback of the stream is about: values that are read, or sums that are written; or a piece that is looked at.
 */
struct passage {
    struct scan_job *job;
    void *to;
    const void *from;
    size_t bytes;
    uint64_t row;
    const table_view *in, *out;
};

/* Nothing of the last piece is written if the input has changed. */
static void look_at_piece(void *context) {
    const struct passage *passage = context;
    struct scan_job *job = passage->job;
    const struct input_file *input = job->input;
    if (looks_at_sums(job))
        not_finite_look(job, job->rows_above + passage->row, passage->in, passage->out);
    if (job->arguments.reverse ? passage->row == 0
                               : input->rows_known && passage->row + passage->in->rows == input->layout.rows)
        input_unchanged(input);
}

static int look(void *context, uint64_t row, const table_view *in, const table_view *out) {
    return scan_attempt(context, look_at_piece, &(struct passage){.job = context, .row = row, .in = in, .out = out});
}

static void write_header_once(struct scan_job *job) {
    if (!job->header_written)
        write_header(&job->output, job->output_format, &job->out_layout);
    job->header_written = true;
}

void scan_write_sums(struct scan_job *job, const void *sums, size_t bytes) {
    write_header_once(job);
    write_values(&job->output, job->output_format, &job->out_layout, 0, sums, bytes);
}

static void write_passage(void *context) {
    const struct passage *passage = context;
    scan_write_sums(passage->job, passage->from, passage->bytes);
}

static int write_some(void *context, const void *sums, size_t bytes) {
    return scan_attempt(context, write_passage, &(struct passage){.job = context, .from = sums, .bytes = bytes});
}

static void read_passage(void *context) {
    struct passage *passage = context;
    passage->bytes = input_some(passage->job->input, passage->to, passage->bytes);
}

/* Values that the library cannot read out of the file itself. */
static int64_t read_some(void *context, void *to, size_t bytes) {
    struct passage passage = {.job = context, .to = to, .bytes = bytes};
    return scan_attempt(context, read_passage, &passage) == 0 ? (int64_t)passage.bytes : -1;
}

static int show_progress(void *context, const table_stream_report *so_far) {
    struct scan_job *job = context;
    progress_show(job->rows_above + so_far->rows, job->rows_known ? job->out_layout.rows : 0,
                  job->report.bytes_read + job->report.bytes_written + so_far->bytes_read + so_far->bytes_written);
    return 0;
}

/* What came of the stream, in the words of the command. */
static void check_stream(struct scan_job *job, const table_stream_report *report, table_status status) {
    const char *name = job->input->name;
    if (job->failed != EX_OK)
        command_end(job->failed);
    if (status == TABLE_ERROR_WRITE)
        die(EX_IOERR, "%s: %s", job->output.name, table_error_detail());
    if (status == TABLE_ERROR_READ && job->arguments.reverse)
        input_unchanged(job->input);
    if (status == TABLE_ERROR_READ && !report->ended)
        die(EX_IOERR, "%s: %s", name, table_error_detail());
    const struct memory_budget budget = {
        .most = memory_limit(job->arguments.common.memory), .used = report->memory, .buffers = job->input->buffers};
    if (status == TABLE_ERROR_ARGUMENT && budget.used > budget.most)
        die(EX_OSERR,
            "%s: out of memory: a row of %zu columns, with all that is kept between rows, needs %zu bytes, and %zu may "
            "be used; --memory says how much",
            name, job->input->layout.columns, memory_needed(&budget), budget.most);
    if (status != TABLE_ERROR_READ)
        die_unless_ok(name, status);
    input_ends(job->input, report->bytes_read);
}

table_scan_options scan_options(const struct scan_job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    return (table_scan_options){.operation = scan_is_recurrence(job) ? TABLE_SUM : arguments->operation,
                                .exclusive = arguments->exclusive,
                                .reverse = arguments->reverse,
                                .offsets = arguments->offsets && job->input == job->inputs,
                                .skip_nan = arguments->skip_nan,
                                .backend = arguments->common.backend,
                                .threads = arguments->common.threads,
                                .carry_in = job->input == job->inputs ? job->carry_in : NULL,
                                .carry_out = job->carry_out,
                                .state = job->state.state,
                                .kept = arguments->kept_type};
}

void scan_add_report(table_stream_report *sum, const table_stream_report *report) {
    const table_report *scan = &report->scan;
    sum->rows += report->rows;
    sum->bytes_read += report->bytes_read;
    sum->bytes_written += report->bytes_written;
    sum->read_seconds += report->read_seconds;
    sum->write_seconds += report->write_seconds;
    sum->memory = report->memory > sum->memory ? report->memory : sum->memory;
    if (scan->backend != TABLE_BACKEND_AUTO) { /* it has summed by itself, and not by calls with their own reports */
        sum->scan.backend = scan->backend;
        sum->scan.strategy = scan->strategy;
    }
    sum->scan.units += scan->units;
    sum->scan.threads = scan->threads > sum->scan.threads ? scan->threads : sum->scan.threads;
    for (unsigned stage = 0; stage < 3; stage++)
        sum->scan.stage_seconds[stage] += scan->stage_seconds[stage];
    sum->scan.seconds += scan->seconds;
    sum->scan.transfer_seconds += scan->transfer_seconds;
}

/* Adds the findings in an input to the findings above it. */
static void add_found(struct scan_job *job, const table_stream_report *report, uint64_t overflow, uint64_t skipped) {
    scan_add_report(&job->report, report);
    job->skipped += skipped;
    if (job->first_overflow == SCAN_NONE)
        job->first_overflow = overflow;
}

static void sum_rows(struct scan_job *job) {
    struct input_file *input = job->input;
    const size_t memory = memory_limit(job->arguments.common.memory) - job->beside.most,
                 kept = input->buffers + job->kept;
    table_stream_report report = {0};
    uint64_t overflow = SCAN_NONE, skipped = 0;
    table_stream_options options = {.in_type = input->layout.type,
                                    .out_type = job->out_layout.type,
                                    .columns = input->layout.columns,
                                    .rows = input->rows_known ? input->layout.rows : 0,
                                    .read = input_is_plain(input) ? NULL : read_some,
                                    .read_context = job,
                                    .read_descriptor = input->fd,
                                    .write = job->arguments.reverse ? NULL : write_some,
                                    .write_context = job,
                                    .write_descriptor = job->output.fd,
                                    .memory = memory > kept ? memory - kept : 1,
                                    .look = look,
                                    .look_context = job,
                                    .progress = show_progress,
                                    .progress_context = job,
                                    .devices = job->arguments.devices.count ? job->arguments.devices.numbers : NULL,
                                    .device_count = job->arguments.devices.count,
                                    .coefficients = scan_is_recurrence(job) ? &job->decay.of : NULL,
                                    .scan = scan_options(job),
                                    .report = &report};
    const size_t first = input_is_plain(input) ? input->head_bytes - input->head_given : 0;
    if (first > 0) {
        options.first = (const char *)input->head + input->head_given;
        options.first_bytes = first;
    }
    options.scan.first_overflow = job->checked ? &overflow : NULL;
    options.scan.skipped = job->arguments.skip_nan ? &skipped : NULL;
    const table_status status = table_stream(&options);
    report.memory += kept;
    add_found(job, &report, overflow, skipped);
    input->head_given += report.bytes_read < first ? (size_t)report.bytes_read : first;
    check_stream(job, &report, status);
    if (job->arguments.reverse) /* written by the library itself */
        atomic_file_grown(&job->output, (size_t)report.bytes_written);
}

/* A table in memory; `a`: the coefficients of a recurrence, perhaps of no rows. */
static void scan_table(struct scan_job *job, const table_view *a, const table_view *in, const table_view *out,
                       const table_scan_options *options) {
    const char *name = job->input->name;
    if (scan_has_segments(&job->arguments)) {
        struct scan_piece piece = {.is_last = true, .in = *in, .out = *out};
        piece.in.stride = piece.out.stride = (ptrdiff_t)in->columns;
        if (scan_is_recurrence(job)) {
            piece.a = *a;
            piece.a.stride = (ptrdiff_t)a->columns;
        }
        scan_segments_sum(job, &piece);
    } else if (scan_is_recurrence(job)) {
        die_unless_ok(name, table_linear_recurrence(a, in, out, options));
    } else {
        die_unless_ok(name, table_prefix_sum(in, out, options));
    }
}

static void sum_by_pieces(struct scan_job *job) {
    if (scan_has_segments(&job->arguments))
        scan_segments_stream(job);
    else
        sum_rows(job);
}

/* Whether rows can be read, and sums be written, at any place of their files. */
static bool goes_backwards(const struct scan_job *job) {
    const struct input_file *input = job->input;
    return input_can_seek(input) && input_is_plain(input) && input->layout.bytes > 0 &&
           !job->output_format->delimiter && atomic_file_can_go_back(&job->output);
}

/* Charges the values in memory, plus the larger of the read buffers and the sums. */
static void charge_table(struct scan_job *job, size_t sums) {
    const struct input_file *input = job->input;
    const size_t reading = input_memory(input);
    struct memory_budget budget = {.most = memory_there(job->arguments.common.memory),
                                   .used = job->kept,
                                   .buffers = reading > sums ? input->buffers : 0};
    memory_add(&budget, input->layout.bytes);
    memory_charge(&budget, input->name, reading > sums ? reading : sums);
    job->kept = budget.used;
}

/* Whether the input is known to have no values. It may have more columns than there is memory for. */
static bool is_empty(const struct input_file *input) { return input->rows_known && input->layout.bytes == 0; }

/* Sums a table that is brought into memory whole. */
static void sum_table(struct scan_job *job) {
    struct input_file *input = job->input;
    const size_t left = scan_memory_left(job), reading = input_memory(input);
    if (!input->rows_known)
        input_take_all(input, left > reading ? left - reading : 0, "--reverse: begins with its last row");
    const size_t row_bytes = input->layout.columns * table_type_size(job->out_layout.type);
    const bool has_segments = scan_has_segments(&job->arguments) && !is_empty(input);
    const size_t bounds = has_segments ? scan_segments_bytes(input->layout.rows) : 0;
    table_scan_options options = scan_options(job);
    size_t rows, bytes, needed;
    table_view a = {.rows = input->layout.rows, .columns = input->layout.columns, .type = input->layout.type};
    if (__builtin_add_overflow(input->layout.rows, (size_t)options.offsets, &rows) ||
        !size_multiply(rows, row_bytes, &bytes))
        bytes = SIZE_MAX;
    if (__builtin_add_overflow(bytes, bounds, &needed))
        needed = SIZE_MAX;
    charge_table(job, needed);
    input_take_table(input, memory_there(job->arguments.common.memory));
    if (scan_is_recurrence(job) && !is_empty(input))
        a = scan_decay_table(&job->decay, input->layout.rows, scan_memory_left(job));
    if (has_segments)
        job->segments.bounds = memory_for(input->name, bounds);
    const table_view in = input_view(input);
    table_view out = {
        .data = memory_for(input->name, bytes), .rows = rows, .columns = in.columns, .type = job->out_layout.type};
    table_stream_report report = {.bytes_read = input->layout.bytes};
    uint64_t overflow = SCAN_NONE, skipped = 0;
    options.report = &report.scan;
    options.first_overflow = job->checked ? &overflow : NULL;
    options.skipped = job->arguments.skip_nan ? &skipped : NULL;
    scan_table(job, &a, &in, &out, &options);
    input_unchanged(input);
    add_found(job, &report, overflow, skipped);
    out.rows = in.rows; /* with --offsets the start is the row after these */
    if (looks_at_sums(job))
        not_finite_look(job, 0, &in, &out);
    scan_write_sums(job, out.data, bytes);
    free(out.data);
}

/* From the last row on, from which overflows are counted, too. */
static void sum_from_the_end(struct scan_job *job) {
    const struct table_layout *in = &job->input->layout;
    if (goes_backwards(job)) {
        input_go_to(job->input, 0);
        write_header_once(job);
        sum_by_pieces(job);
    } else {
        sum_table(job);
    }
    if (job->first_overflow != SCAN_NONE)
        job->first_overflow =
            (in->rows - 1 - job->first_overflow / in->columns) * in->columns + job->first_overflow % in->columns;
    job->rows_above = in->rows;
}

static void sum_inputs(struct scan_job *job) {
    for (unsigned i = 0; i < job->arguments.common.input_count; i++) {
        struct input_file *input = job->input = &job->inputs[i];
        if (input->is_aside)
            scan_open_again(job, input);
        if (is_empty(input))
            sum_table(job);
        else
            sum_by_pieces(job);
        job->rows_above += input->layout.rows;
        if (input->is_aside) {
            input_unchanged(input);
            input_release(input);
        }
    }
    for (unsigned i = 0; i < job->arguments.common.input_count; i++)
        input_unchanged(&job->inputs[i]);
}

void scan_sum_up(struct scan_job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    job->first_overflow = job->not_finite.first = SCAN_NONE;
    if (arguments->segments)
        scan_segments_look(job, job->rows_known ? job->out_layout.rows : INT64_MAX);
    if (arguments->reverse)
        sum_from_the_end(job);
    else
        sum_inputs(job);
    if (arguments->segments && !job->rows_known)
        scan_segments_look(job, job->rows_above);
    if (arguments->decay_file)
        scan_decay_end(&job->decay, job->rows_above);
    if (arguments->segments)
        input_unchanged(&job->segments.file);
    job_step_stream(&job->report);
    if (job->first_overflow != SCAN_NONE) /* a row of this table, as all are */
        job->first_overflow -= job->state.facts.rows * job->out_layout.columns;
    job->out_layout.shape[0] = (size_t)job->rows_above + arguments->offsets;
    if (!layout_finish(&job->out_layout))
        die(EX_DATAERR, "%s: has more sums than can be counted", job->name);
    not_finite_look_at_end(job);
}

void scan_finish_output(struct scan_job *job) {
    write_header_once(job);
    if (job->rows_said != job->out_layout.rows)
        rewrite_header(&job->output, job->output_format, &job->out_layout);
}
