/* tuplescan hist: how many values fall into each bin. */
#include "hist.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "threads.h"
#include "types.h"

static void check_arguments(const struct hist_arguments *arguments) {
    if (arguments->bins > TABLE_BINS_MOST)
        die(EX_USAGE, "--bins %zu: not 1 to %d", arguments->bins, TABLE_BINS_MOST);
    if (arguments->chunk && !arguments->common.output)
        die(EX_USAGE, "--chunk makes a table, which needs -o");
    check_outputs(&arguments->common, arguments->plot ? "--plot" : NULL, NULL, NULL);
}

static void read_weights(struct hist_job *job) {
    const char *path = job->arguments.weights;
    const struct memory_budget budget = hist_budget(job);
    char list[LIST_TEXT];
    if (!path)
        return;
    open_beside_keys(&job->weights, path, TABLE_F64, false, &budget);
    const table_view weights = keys_view(&job->weights), values = keys_view(&job->input);
    if (!type_is_float(weights.type))
        die(EX_DATAERR, "%s: its type is %s, and weights are f32 or f64", job->weights.name,
            table_type_name(weights.type));
    if (weights.rows != values.rows)
        die(EX_DATAERR, "%s: has %zu weights for %zu values%s", job->weights.name, weights.rows, values.rows,
            list_text(&job->input, list));
}

/* The table of counts, and where it goes to, if anywhere. */
static void prepare_output(struct hist_job *job) {
    const struct hist_arguments *arguments = &job->arguments;
    const table_view values = keys_view(&job->input);
    const size_t chunk = arguments->chunk, chunks = chunk ? values.rows / chunk + (values.rows % chunk != 0) : 1;
    job->rows_of_bins = chunks;
    job->count_type = arguments->weights ? TABLE_F64 : TABLE_U64;
    const table_type type = arguments->density ? TABLE_F64 : job->count_type;
    const struct table_layout column = {.type = type, .dimensions = 1, .shape = {job->bins.count}},
                              rows = {.type = type, .dimensions = 2, .shape = {chunks, job->bins.count}};
    job->layout = chunk ? rows : column;
    if (!layout_finish(&job->layout))
        die(EX_DATAERR, "%s: its table is beyond the address space", job->input.name);
    if (!arguments->common.output)
        return;
    job->format =
        output_format_for(arguments->common.output, arguments->common.output_format, job->input.format->output);
    open_output(&job->output, arguments->common.output, arguments->common.force, job->format, &job->layout);
}

static void check_histogram(const struct hist_job *job, table_status status) {
    const struct hist_arguments *arguments = &job->arguments;
    if (status == TABLE_ERROR_ARGUMENT && arguments->has_range)
        die(EX_USAGE, "--range: %s", table_error_detail());
    if (status == TABLE_ERROR_ARGUMENT && job->bins.kind == TABLE_BINS_EVEN)
        die(EX_DATAERR, "%s: %s; --range says another", job->input.name, table_error_detail());
    if (status == TABLE_ERROR_ARGUMENT && arguments->edges) /* of 64 bits, which are alike as doubles */
        die(EX_DATAERR, "%s: %s", job->edges.name, table_error_detail());
    die_unless_ok(job->input.name, status);
}

static table_histogram_options options_of(const struct hist_job *job, const table_view *weights) {
    const struct hist_arguments *arguments = &job->arguments;
    return (table_histogram_options){
        .run = {.backend = arguments->common.backend, .threads = arguments->common.threads},
        .per_chunk = arguments->chunk > 0,
        .chunk_length = arguments->chunk,
        .weights = arguments->weights ? weights : NULL};
}

/* The histogram of these values into `rows`, of the job's layout. */
static void count_values(struct hist_job *job, const table_view *values, void *rows, uint64_t *outside) {
    const table_view result = {rows, job->rows_of_bins, job->bins.count, 0, job->count_type};
    const table_view weights = keys_view(&job->weights);
    table_pipeline_report report = {0};
    table_histogram_options options = options_of(job, &weights);
    options.run.report = &report;
    options.outside = outside;
    check_histogram(job, table_histogram(values, &job->bins, &result, &options));
    add_report(&job->report, &report);
}

/* The counts of each piece are added to the counts of the pieces before it. */
static void count_pieces(struct hist_job *job, struct key_pieces *pieces) {
    uint64_t outside[TABLE_OUTSIDE_WORDS], *counts = memory_for(job->input.name, job->layout.bytes);
    memset(job->rows, 0, job->layout.bytes);
    for (bool over = false; !over;) {
        const table_view values = keys_next(pieces, pieces->most, &over);
        count_values(job, &values, counts, outside);
        for (size_t i = 0; i < job->bins.count; i++)
            ((uint64_t *)job->rows)[i] += counts[i];
        for (unsigned i = 0; i < TABLE_OUTSIDE_WORDS; i++)
            job->outside[i] += outside[i];
    }
    free(counts);
}

/* The bytes that the library takes beside the counts of `count` values, unless that is memory of a device. It is asked
 * before there are any, with addresses that are never read. */
static size_t find_scratch(struct hist_job *job, size_t count) {
    enum { APART = TABLE_WORKSPACE_ALIGNMENT };
    table_view values = keys_view(&job->input), weights = keys_view(&job->weights);
    uintptr_t place = APART;
    values.data = (void *)place;
    values.rows = count;
    place += (count * table_type_size(values.type) / APART + 1) * APART;
    weights.data = (void *)place;
    place += (job->weights.layout.bytes / APART + 1) * APART;
    const table_view result = {(void *)place, job->rows_of_bins, job->bins.count, 0, job->count_type};
    table_histogram_options options = options_of(job, &weights);
    size_t bytes = 0;
    if (options.run.backend == TABLE_BACKEND_CUDA)
        return 0;
    options.run.backend = TABLE_BACKEND_CPU;
    options.outside = job->outside;
    check_histogram(job, table_histogram_workspace(&values, &job->bins, &result, &options, &bytes));
    return bytes;
}

/* Charges all that is needed at a time; if counting goes by pieces also the counts of a piece. */
static void charge(struct hist_job *job, struct key_pieces *pieces, bool in_pieces) {
    struct memory_budget budget = {.most = memory_there(job->arguments.common.memory)};
    const size_t all = keys_view(&job->input).rows;
    keys_begin(pieces, &job->input, &budget);
    const size_t at_once = !in_pieces ? all : job->input.rows_known ? least(all, pieces->most) : pieces->most;
    memory_add(&budget, keys_held(&job->edges));
    memory_add(&budget, keys_held(&job->weights));
    for (unsigned tables = 0; tables < 1u + in_pieces; tables++)
        memory_add(&budget, job->layout.bytes);
    const size_t scratch = budget.used < SIZE_MAX / 4 ? find_scratch(job, at_once) : 0;
    budget.buffers += job->input.data ? 0 : scratch; /* of a piece */
    memory_charge(&budget, job->input.name, scratch);
}

static void count(struct hist_job *job) {
    const bool in_pieces = !job->arguments.weights && !job->arguments.chunk;
    const table_view values = keys_view(&job->input);
    struct key_pieces pieces = {0};
    charge(job, &pieces, in_pieces);
    job->rows = memory_for(job->input.name, job->layout.bytes);
    if (in_pieces)
        count_pieces(job, &pieces);
    else
        count_values(job, &values, job->rows, job->outside);
    free(pieces.buffer);
}

/* The sums of the bins from the first one to each. */
static void add_up(const struct hist_job *job, void *counts) {
    const table_view row = {counts, job->bins.count, 1, 0, job->count_type};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    die_unless_ok(job->input.name, table_prefix_sum(&row, &row, &options));
}

static double count_of(const struct hist_job *job, const void *counts, size_t bin) {
    return job->count_type == TABLE_U64 ? (double)((const uint64_t *)counts)[bin] : ((const double *)counts)[bin];
}

/* The sum of all bins, which is the last one where they have been added up. */
static double all_of(const struct hist_job *job, const void *counts) {
    double sum = 0;
    if (job->arguments.cumulative)
        return count_of(job, counts, job->bins.count - 1);
    for (size_t bin = 0; bin < job->bins.count; bin++)
        sum += count_of(job, counts, bin);
    return sum;
}

/* As NumPy has it: the integral over all bins is 1; with --cumulative, the last bin has 1. */
static void make_density(const struct hist_job *job, void *counts) {
    const double all = all_of(job, counts);
    for (size_t bin = 0; bin < job->bins.count; bin++) {
        const double count = count_of(job, counts, bin);
        ((double *)counts)[bin] = (job->arguments.cumulative ? count : count / hist_bin_width(job, bin)) / all;
    }
}

/* What a histogram says instead of counts: how many values there are up to each bin, and which share of all. */
static void cumulate(struct hist_job *job) {
    const size_t row_bytes = job->bins.count * table_type_size(job->count_type);
    for (size_t row = 0; row < job->rows_of_bins; row++) {
        char *const counts = (char *)job->rows + row * row_bytes;
        if (job->arguments.cumulative)
            add_up(job, counts);
        if (job->arguments.density)
            make_density(job, counts);
    }
}

static void print_summary(const struct hist_job *job) {
    char times[JOB_TIMES_TEXT], list[LIST_TEXT];
    job_times_text(times);
    message("%zu values of %s%s in %zu bins: %.3g ms; %llu below, %llu above, %llu not a number; %s",
            keys_view(&job->input).rows, table_type_name(job->input.layout.type), list_text(&job->input, list),
            job->bins.count, 1e3 * job->report.seconds, (unsigned long long)job->outside[TABLE_OUTSIDE_BELOW],
            (unsigned long long)job->outside[TABLE_OUTSIDE_ABOVE], (unsigned long long)job->outside[TABLE_OUTSIDE_NAN],
            times);
}

static void tell(const struct hist_job *job) {
    const struct hist_arguments *arguments = &job->arguments;
    if (arguments->common.json)
        hist_print_json(job);
    else if (arguments->plot)
        hist_print_plot(job);
    else if (!arguments->common.output)
        hist_print_text(job);
    else if (!arguments->common.quiet)
        print_summary(job);
    say_fewer_threads(&arguments->common, job->report.threads, job->report.backend);
}

static bool bins_are_known(const struct hist_arguments *arguments, table_type type) {
    return arguments->has_range || arguments->edges || arguments->has_first || type == TABLE_U8;
}

/* Counts add up; sums of weights, and rows of chunks, are made at once; and without a range all values are looked at
 * twice. So files are mapped, and input that comes in pieces is taken so if that will do. */
static void open_values(struct hist_job *job) {
    const struct hist_arguments *arguments = &job->arguments;
    struct input_file *input = &job->input;
    const table_type said = arguments->common.type ? arguments->common.type : TABLE_U8;
    open_keys(input, !arguments->weights && !arguments->chunk && bins_are_known(arguments, said), &arguments->common);
    if (!input->data && !bins_are_known(arguments, input->layout.type))
        input_take_table(input, memory_there(arguments->common.memory));
}

int hist_main(int argc, char **argv) {
    static struct hist_job job;
    job_begin(&options_of_hist, &job.arguments, argc, argv);
    check_arguments(&job.arguments);
    open_values(&job);
    job_step(STEP_READ);
    hist_choose_bins(&job);
    job_step(STEP_WORK);
    read_weights(&job);
    job_step(STEP_READ);
    prepare_output(&job);
    job_step(STEP_WRITE);
    count(&job);
    /* Nothing is written or printed of inputs that have changed meanwhile. */
    input_unchanged(&job.input);
    input_unchanged(&job.edges);
    input_unchanged(&job.weights);
    cumulate(&job);
    job_step(STEP_WORK);
    if (job.arguments.common.output) {
        write_whole(&job.output, job.format, &job.layout, job.rows);
        atomic_file_publish(&job.output, NULL);
    }
    job_step(STEP_WRITE);
    input_release(&job.input);
    input_release(&job.weights);
    job_step(STEP_FREE);
    tell(&job);
    return EX_OK;
}
