/* tuplescan scan: rows are read, summed and written as they come. */
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "input/file.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "output_path.h"
#include "threads.h"
#include "values.h"
#include "words.h"

static void check_state(const struct scan_arguments *arguments) {
    const char *path = arguments->state;
    if (!path && arguments->has_at)
        die(EX_USAGE, "--at is for --continue, which is missing");
    if (!path)
        return;
    if (!*path)
        die(EX_USAGE, "--continue '': is not the name of a file");
    if (output_path_descriptor(path) >= 0)
        die(EX_USAGE, "--continue %s: needs a file of its own", path);
    if (output_path_same(path, arguments->common.output))
        die(EX_USAGE, "--continue and -o name the same file");
    check_is_no_input(&arguments->common, "--continue", path);
    output_path_check(path, true);
}

static void check_arguments(struct scan_arguments *arguments) {
    if (!arguments->common.output)
        die(EX_USAGE, "-o OUTPUT is missing");
    if (arguments->decay || arguments->decay_file)
        arguments->operation = TABLE_RECURRENCE;
    if (scan_has_segments(arguments))
        scan_segments_check(arguments);
    check_state(arguments);
    if (arguments->operation != TABLE_SUM && arguments->devices.count)
        die(EX_USAGE, "--devices is for sums, and --operation is %s", operation_words[arguments->operation]);
    if (arguments->devices.count && arguments->common.backend == TABLE_BACKEND_CPU)
        die(EX_USAGE, "--devices and --backend cpu: only one of them");
    if (arguments->reverse && arguments->common.input_count > 1)
        die(EX_USAGE, "--reverse: is for one input");
    check_outputs(&arguments->common, NULL, "--carry-out", arguments->carry_out);
}

static void read_state(struct scan_job *job) {
    const size_t kept = job->arguments.common.kept.count;
    job->beside = (struct text_beside){.count = kept,
                                       .most = kept > 0 ? memory_limit(job->arguments.common.memory) / 2 : 0,
                                       .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct scan_arguments *arguments = &job->arguments;
    if (!arguments->state)
        return;
    state_file_read(&job->state, arguments->state, true);
    const table_state_facts *facts = &job->state.facts;
    if (arguments->has_at && arguments->at != facts->rows)
        die(EX_DATAERR, "%s: has %llu rows, not the %llu of --at", arguments->state, (unsigned long long)facts->rows,
            (unsigned long long)arguments->at);
    if (arguments->carry_in && facts->version != 0)
        die(EX_USAGE, "--carry-in: is for a sum that begins, and that of %s has %llu rows", arguments->state,
            (unsigned long long)facts->rows);
}

/* Whether the one input is a text file whose values, of which each takes two bytes of it at least, are less than what a
 * sum that goes on must remember between rows: a few rows of very many columns. */
static bool is_less_than_a_state(const struct scan_job *job) {
    const struct input_file *input = &job->inputs[0];
    const struct table_layout *sums = &job->out_layout;
    const table_operation operation = job->arguments.operation;
    const bool is_one = job->arguments.common.input_count == 1 && !job->arguments.state && !job->arguments.reverse;
    size_t state, values;
    return is_one && input->format->delimiter && input_can_seek(input) &&
           table_state_bytes_of(operation, scan_kept_type(job), sums->columns, &state) == TABLE_OK &&
           size_multiply((size_t)input->status.st_size / 2 + 1, 2 * sizeof(uint64_t), &values) && values < state;
}

/* Such an input is brought into memory first; and, as a .npy says its rows before the values, any of which the rows are
 * not known, where its beginning cannot be written once more. */
static void make_rows_known(struct scan_job *job) {
    static const char why[] = "a .npy says its rows before the values (a file can be gone back in, and --output-format "
                              "raw says none)";
    static const char few[] = "it has a few long rows";
    enum { STREAM_MOST = 16 << 20 }; /* what the stream needs has room in it */
    const size_t most = memory_limit(job->arguments.common.memory);
    struct memory_budget budget = {.most = most - least(most / 4, STREAM_MOST), .used = job->kept};
    size_t rows = 0;
    const bool needs_rows = job->output_format->says_rows && !atomic_file_can_go_back(&job->output);
    if (!needs_rows && !is_less_than_a_state(job))
        return;
    for (unsigned i = 0; i < job->arguments.common.input_count; i++) {
        struct input_file *input = &job->inputs[i];
        if (!input->rows_known && input->is_aside)
            scan_open_again(job, input);
        if (!input->rows_known)
            input_take_all(input, memory_left(&budget), needs_rows ? why : few);
        if (input->data && input->is_aside)
            input_let_go(input);
        budget.used += input->data ? input->head_bytes : 0;
        rows += input->layout.rows;
    }
    job->rows_known = true;
    job->kept = budget.used;
    job->out_layout.shape[0] = rows + job->arguments.offsets;
    if (!layout_finish(&job->out_layout))
        die(EX_DATAERR, "%s: its sums are beyond the address space", job->name);
}

static void open_outputs(struct scan_job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    const char *input_format = job->inputs[0].format->output;
    job->output_format = output_format_for(arguments->common.output, arguments->common.output_format, input_format);
    if (arguments->common.kept.count > 0 && !job->output_format->delimiter)
        die(EX_USAGE, "--keep: is for text, and %s would be %s", arguments->common.output, job->output_format->name);
    open_output(&job->output, arguments->common.output, arguments->common.force, job->output_format, &job->out_layout);
    if (arguments->carry_out) {
        job->carry_format = output_format_for(arguments->carry_out, NULL, input_format);
        open_output(&job->carry_file, arguments->carry_out, arguments->common.force, job->carry_format,
                    &job->carry_layout);
        job->carry_out = memory_for(job->name, job->carry_layout.bytes);
    }
    if (arguments->state)
        state_file_open(&job->state);
    if (!job->rows_known)
        make_rows_known(job);
    job->rows_said = job->out_layout.rows;
}

static void finish_outputs(struct scan_job *job) {
    bool carry = job->arguments.carry_out != NULL;
    scan_finish_output(job);
    if (carry) {
        write_header(&job->carry_file, job->carry_format, &job->carry_layout);
        write_values(&job->carry_file, job->carry_format, &job->carry_layout, 0, job->carry_out,
                     job->carry_layout.bytes);
    }
    if (job->arguments.state)
        state_file_write(&job->state);
    struct atomic_file *beside = job->arguments.state ? &job->state.output : carry ? &job->carry_file : NULL;
    atomic_file_publish(&job->output, beside);
}

/* The speed by the bytes that are read and those that are written. */
static double gigabytes_per_second(const struct scan_job *job, double seconds) {
    double bytes = (double)job->report.bytes_read + (double)job->out_layout.bytes;
    return seconds > 0 ? bytes / seconds / 1e9 : 0;
}

static void print_place(const char *key, uint64_t place, size_t columns) {
    const bool found = place != SCAN_NONE;
    json_place(key, found, found ? place / columns : 0, found ? place % columns : 0);
}

static void print_json(const struct scan_job *job) {
    const struct table_layout *out = &job->out_layout;
    json_object(NULL);
    json_string("input", job->name);
    json_string("output", job->arguments.common.output);
    json_shape(out);
    json_size("rows", out->rows);
    json_size("columns", out->columns);
    json_string("in_type", table_type_name(job->inputs[0].layout.type));
    json_string("out_type", table_type_name(out->type));
    json_bool("exclusive", job->arguments.exclusive);
    json_string("backend", word_at(backend_words, job->report.scan.backend));
    json_string("strategy", word_at(strategy_words, job->report.scan.strategy));
    json_size("threads", job->report.scan.threads);
    json_size("units", job->report.scan.units);
    json_array("stage_seconds");
    for (unsigned i = 0; i < 3; i++)
        json_number(NULL, job->report.scan.stage_seconds[i]);
    json_end();
    json_number("seconds", job->report.scan.seconds);
    json_number("transfer_seconds", job->report.scan.transfer_seconds);
    job_times_json();
    if (job->arguments.state) {
        json_size("rows_before", job->state.facts.rows);
        json_size("rows_after", job->state.facts.rows + out->rows);
    }
    json_number("gb_per_second", gigabytes_per_second(job, job->report.scan.seconds));
    json_number("total_gb_per_second", gigabytes_per_second(job, job_seconds()));
    json_size("memory", job->report.memory);
    json_bool("overflow_checked", job->checked);
    print_place("overflow", job->first_overflow, out->columns);
    if (job->arguments.skip_nan)
        json_size("nan_skipped", job->skipped);
    print_place("not_finite", job->not_finite.first, out->columns);
    json_end();
}

static void print_summary(const struct scan_job *job) {
    const struct table_layout *out = &job->out_layout;
    const double seconds = job_seconds();
    message("%zu x %zu, %s -> %s", out->rows, out->columns, table_type_name(job->inputs[0].layout.type),
            table_type_name(out->type));
    message("%.3g s, %.3g GB/s", seconds, gigabytes_per_second(job, seconds));
}

static void warn_of_sums(const struct scan_job *job) {
    const size_t columns = job->out_layout.columns;
    const table_type type = job->out_layout.type;
    const unsigned long long not_finite = job->not_finite.first, overflow = job->first_overflow;
    if (not_finite != SCAN_NONE && !job->arguments.common.quiet)
        message("%s: row %llu, column %llu is the first whose sum as %s is not finite though the values in it are%s",
                job->name, not_finite / columns, not_finite % columns, table_type_name(type),
                type == TABLE_F32 ? "; --out-type f64 avoids it" : "");
    say_one_row(&job->arguments, job->name, &job->out_layout);
    if (job->skipped > 0 && !job->arguments.common.quiet)
        message("%s: %llu NaN were skipped", job->name, (unsigned long long)job->skipped);
    if (overflow == SCAN_NONE)
        return;
    const char *const result = table_operation_name(job->arguments.operation);
    die(EX_DATAERR,
        "%s: overflow: row %llu, column %llu is the first whose %s does not fit in %s; the %ss are written, "
        "wrapped (--wrap: without looking%s)",
        job->name, overflow / columns, overflow % columns, result, table_type_name(type), result,
        table_type_size(type) < 8 ? "; without --out-type they have 64 bits" : "");
}

void scan_tell(const struct scan_job *job) {
    if (job->arguments.common.json)
        print_json(job);
    else if (!job->arguments.common.quiet)
        print_summary(job);
    say_fewer_threads(&job->arguments.common, job->report.scan.threads, job->report.scan.backend);
    warn_of_sums(job);
}

void scan_free_tables(struct scan_job *job) {
    for (unsigned i = 0; i < job->arguments.common.input_count; i++)
        input_release(&job->inputs[i]);
    text_beside_end(&job->beside);
    input_release(&job->decay.file);
    scan_segments_close(&job->segments);
    free(job->carry_out);
    job_step(STEP_FREE);
}

int scan_main(int argc, char **argv) {
    static struct scan_job job;
    job_begin(&options_of_scan, &job.arguments, argc, argv);
    check_arguments(&job.arguments);
    read_state(&job);
    scan_open_tables(&job);
    job_step(STEP_READ);
    open_outputs(&job);
    job_step(STEP_WRITE);
    scan_sum_up(&job);
    finish_outputs(&job);
    job_step(STEP_WRITE);
    scan_free_tables(&job);
    scan_tell(&job);
    return EX_OK;
}
