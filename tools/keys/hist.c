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

static int check_arguments(void *context) {
    const struct hist_arguments *arguments = &((const struct hist_job *)context)->arguments;
    if (arguments->bins > TABLE_BINS_MOST)
        return fail(EX_USAGE, "--bins %zu: not 1 to %d", arguments->bins, TABLE_BINS_MOST);
    if (arguments->chunk && !arguments->common.output)
        return fail(EX_USAGE, "--chunk makes a table, which needs -o");
    return check_outputs(&arguments->common, arguments->plot ? "--plot" : NULL, NULL, NULL);
}

static int read_weights(void *context) {
    struct hist_job *job = context;
    const char *path = job->arguments.weights;
    const struct memory_budget budget = hist_budget(job);
    char list[LIST_TEXT];
    if (!path)
        return EX_OK;
    int code = open_beside_keys(&job->weights, path, TABLE_F64, false, &budget);
    if (code != EX_OK)
        return code;
    const table_view weights = keys_view(&job->weights), values = keys_view(&job->input);
    if (!type_is_float(weights.type))
        return fail(EX_DATAERR, "%s: its type is %s, and weights are f32 or f64", job->weights.name,
                    table_type_name(weights.type));
    if (weights.rows != values.rows)
        return fail(EX_DATAERR, "%s: has %zu weights for %zu values%s", job->weights.name, weights.rows, values.rows,
                    list_text(&job->input, list));
    return EX_OK;
}

/* The table of counts, and where it goes to, if anywhere. */
static int prepare_output(void *context) {
    struct hist_job *job = context;
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
        return fail(EX_DATAERR, "%s: its table is beyond the address space", job->input.name);
    if (!arguments->common.output)
        return EX_OK;
    job->format =
        output_format_for(arguments->common.output, arguments->common.output_format, job->input.format->output);
    return open_output(&job->output, arguments->common.output, arguments->common.force, job->format, &job->layout);
}

static int fail_histogram(const struct hist_job *job, table_status status) {
    const struct hist_arguments *arguments = &job->arguments;
    if (status == TABLE_ERROR_ARGUMENT && arguments->has_range)
        return fail(EX_USAGE, "--range: %s", table_error_detail());
    if (status == TABLE_ERROR_ARGUMENT && job->bins.kind == TABLE_BINS_EVEN)
        return fail(EX_DATAERR, "%s: %s; --range says another", job->input.name, table_error_detail());
    if (status == TABLE_ERROR_ARGUMENT && arguments->edges) /* of 64 bits, which are alike as doubles */
        return fail(EX_DATAERR, "%s: %s", job->edges.name, table_error_detail());
    return fail_status(job->input.name, status);
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
static int count_values(struct hist_job *job, const table_view *values, void *rows, uint64_t *outside) {
    const table_view result = {rows, job->rows_of_bins, job->bins.count, 0, job->count_type};
    const table_view weights = keys_view(&job->weights);
    table_pipeline_report report = {0};
    table_histogram_options options = options_of(job, &weights);
    options.run.report = &report;
    options.outside = outside;
    const table_status status = table_histogram(values, &job->bins, &result, &options);
    add_report(&job->report, &report);
    return status == TABLE_OK ? EX_OK : fail_histogram(job, status);
}

/* Adds the counts of a piece to the counts of the pieces before it. */
static void add_piece(struct hist_job *job, const uint64_t *counts, const uint64_t *outside) {
    for (size_t i = 0; i < job->bins.count; i++)
        ((uint64_t *)job->rows)[i] += counts[i];
    for (unsigned i = 0; i < TABLE_OUTSIDE_WORDS; i++)
        job->outside[i] += outside[i];
}

static int count_pieces(struct hist_job *job, struct key_pieces *pieces) {
    uint64_t outside[TABLE_OUTSIDE_WORDS], *counts = malloc(job->layout.bytes);
    bool over = false;
    int code = counts ? EX_OK : fail(EX_OSERR, "out of memory");
    memset(job->rows, 0, job->layout.bytes);
    while (code == EX_OK && !over) {
        table_view values;
        code = keys_next(pieces, pieces->most, &values, &over);
        if (code == EX_OK)
            code = count_values(job, &values, counts, outside);
        if (code == EX_OK)
            add_piece(job, counts, outside);
    }
    free(counts);
    return code;
}

/* *bytes: what the library takes beside the counts of `count` values, unless that is memory of a device. It is asked
 * before there are any, with addresses that are never read. */
static int find_scratch(struct hist_job *job, size_t count, size_t *bytes) {
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
    if (options.run.backend == TABLE_BACKEND_CUDA)
        return EX_OK;
    options.run.backend = TABLE_BACKEND_CPU;
    options.outside = job->outside;
    const table_status status = table_histogram_workspace(&values, &job->bins, &result, &options, bytes);
    return status == TABLE_OK ? EX_OK : fail_histogram(job, status);
}

/* Charges all that is needed at a time, if the counts are those of pieces also the counts of a piece. */
static int charge(struct hist_job *job, struct key_pieces *pieces, bool in_pieces) {
    struct memory_budget budget = {.most = memory_there(job->arguments.common.memory)};
    const size_t all = keys_view(&job->input).rows;
    size_t scratch = 0;
    keys_begin(pieces, &job->input, &budget, &job->base.progress);
    const size_t at_once = !in_pieces ? all : job->input.rows_known ? least(all, pieces->most) : pieces->most;
    memory_add(&budget, keys_held(&job->edges));
    memory_add(&budget, keys_held(&job->weights));
    for (unsigned tables = 0; tables < 1u + in_pieces; tables++)
        memory_add(&budget, job->layout.bytes);
    const int code = budget.used < SIZE_MAX / 4 ? find_scratch(job, at_once, &scratch) : EX_OK;
    budget.buffers += job->input.data ? 0 : scratch; /* of a piece */
    return code == EX_OK ? memory_charge(&budget, job->input.name, scratch) : code;
}

static int count(void *context) {
    struct hist_job *job = context;
    const bool in_pieces = !job->arguments.weights && !job->arguments.chunk;
    const table_view values = keys_view(&job->input);
    struct key_pieces pieces = {0};
    int code = charge(job, &pieces, in_pieces);
    job->rows = code == EX_OK ? memory_allocate(job->layout.bytes) : NULL;
    if (code == EX_OK && !job->rows)
        code = fail(EX_OSERR, "%s: out of memory for %zu bytes of counts", job->input.name, job->layout.bytes);
    if (code == EX_OK)
        code = in_pieces ? count_pieces(job, &pieces) : count_values(job, &values, job->rows, job->outside);
    free(pieces.buffer);
    return code;
}

/* Is called before anything is written or printed. */
static int inputs_unchanged(void *context) {
    const struct hist_job *job = context;
    int code = input_unchanged(&job->input);
    if (code == EX_OK)
        code = input_unchanged(&job->edges);
    return code == EX_OK ? input_unchanged(&job->weights) : code;
}

static int write_output(void *context) {
    struct hist_job *job = context;
    if (!job->arguments.common.output)
        return EX_OK;
    const int code = write_whole(&job->output, job->format, &job->layout, job->rows, &job->base.progress);
    return code == EX_OK ? atomic_file_publish(&job->output, NULL) : code;
}

static void print_summary(const struct hist_job *job) {
    char times[STOPWATCH_TEXT], list[LIST_TEXT];
    stopwatch_text(&job->base.watch, times);
    message("%zu values of %s%s in %zu bins: %.3g ms; %llu below, %llu above, %llu not a number; %s",
            keys_view(&job->input).rows, table_type_name(job->input.layout.type), list_text(&job->input, list),
            job->bins.count, 1e3 * job->report.seconds, (unsigned long long)job->outside[TABLE_OUTSIDE_BELOW],
            (unsigned long long)job->outside[TABLE_OUTSIDE_ABOVE], (unsigned long long)job->outside[TABLE_OUTSIDE_NAN],
            times);
}

static int tell(void *context) {
    const struct hist_job *job = context;
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
    return EX_OK;
}

static bool bins_are_known(const struct hist_arguments *arguments, table_type type) {
    return arguments->has_range || arguments->edges || arguments->has_first || type == TABLE_U8;
}

/* Counts add up; sums of weights, and rows of chunks, are made at once; and without a range all values are looked
 * at twice. So files are mapped, and what comes bit by bit is taken so if that will do. */
static int open_values(void *context) {
    struct hist_job *job = context;
    const struct hist_arguments *arguments = &job->arguments;
    struct input_file *input = &job->input;
    if (arguments->weights || arguments->chunk ||
        !bins_are_known(arguments, arguments->common.type ? arguments->common.type : TABLE_U8))
        return open_keys(input, false, &arguments->common);
    const int code = open_keys(input, true, &arguments->common);
    return code != EX_OK || input->data || bins_are_known(arguments, input->layout.type)
               ? code
               : input_take_table(input, memory_there(arguments->common.memory));
}

static void release(void *context) {
    struct hist_job *job = context;
    input_release(&job->input);
    input_release(&job->weights);
}

static void close_all(void *context) {
    struct hist_job *job = context;
    atomic_file_discard(&job->output);
    input_close(&job->edges);
    free(job->rows);
}

int hist_main(int argc, char **argv) {
    static const struct job_step steps[] = {{open_values, STEP_READ, false},   {hist_choose_bins, STEP_WORK, true},
                                            {read_weights, STEP_READ, false},  {prepare_output, STEP_WRITE, false},
                                            {count, STEP_WORK, true},          {inputs_unchanged, STEP_WORK, false},
                                            {hist_cumulate, STEP_WORK, false}, {write_output, STEP_WRITE, true}};
    static const struct job_table table = {&options_of_hist, check_arguments, JOB_STEPS(steps), tell,
                                           release,          close_all};
    static struct hist_job job = {.output = ATOMIC_FILE_NONE};
    return job_run(&table, &job, &job.arguments.common, argc, argv);
}
