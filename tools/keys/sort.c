/* tuplescan sort: rows in the order of their keys, values with them, or the order alone. */
#include "sort.h"

#include <stdint.h>
#include <stdlib.h>

#include "commands.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "threads.h"

static int check_arguments(void *context) {
    const struct sort_arguments *arguments = &((const struct sort_job *)context)->arguments;
    if (!arguments->common.output)
        return fail(EX_USAGE, "-o OUTPUT is missing");
    if (!arguments->values != !arguments->values_out)
        return fail(EX_USAGE, "--values and --values-out belong together");
    if (arguments->value_bytes && !arguments->values)
        return fail(EX_USAGE, "--value-bytes is for --values");
    if (arguments->has_bits && arguments->bits == 0)
        return fail(EX_USAGE, "--bits 0: there is nothing to sort by");
    return check_outputs(&arguments->common, NULL, "--values-out", arguments->values_out);
}

/* Opens a file whose values are to be read as soon as all memory that is needed is charged. Values whose number is
 * not known are read at once. */
static int start(struct sort_job *job, struct input_file *file, const char *path, const struct input_request *request) {
    const int code = input_start(file, path, request);
    file->progress = &job->base.progress;
    return code != EX_OK || file->rows_known
               ? code
               : input_take_all(file, memory_left(&job->budget), "the last row may come first");
}

static int start_rows(void *context) {
    struct sort_job *job = context;
    struct input_request request = keys_request(&job->arguments.common, job->by);
    for (unsigned i = 0; i < job->arguments.by.count; i++)
        job->by[i].name = job->arguments.by.list[i];
    request.own = true;
    request.elements = INPUT_RECORDS;
    request.fields = job->by;
    request.field_count = job->arguments.by.count;
    job->budget.most = request.memory;
    const int code = start(job, &job->input, job->arguments.common.inputs[0], &request);
    if (code != EX_OK)
        return code;
    job->input.layout.type = key_type(job->input.layout.type);
    for (unsigned i = 0; i < request.field_count; i++)
        job->by[i].type = key_type(job->by[i].type);
    job->rows = job->input.layout.rows;
    job->row_bytes = job->input.layout.columns * layout_element_bytes(&job->input.layout);
    memory_add(&job->budget, input_memory(&job->input));
    memory_add(&job->budget, job->input.layout.bytes);
    return sort_choose_keys(job);
}

static int start_values(void *context) {
    struct sort_job *job = context;
    const struct sort_arguments *arguments = &job->arguments;
    struct input_request request = {.raw_type = TABLE_U8, .whole = true, .own = true, .elements = INPUT_ANYTHING};
    struct input_file *file = &job->value_file;
    struct table_layout *layout = &file->layout;
    if (!arguments->values)
        return EX_OK;
    keys_request_rest(&request, &job->budget);
    const int code = start(job, file, arguments->values, &request);
    if (code != EX_OK)
        return code;
    const bool raw = file->format == &input_raw;
    if (!raw && arguments->value_bytes)
        return fail(EX_USAGE, "%s: is no raw file, and says the size of a value itself: leave out --value-bytes",
                    file->name);
    job->value_bytes = !raw                     ? layout->columns * layout_element_bytes(layout)
                       : arguments->value_bytes ? arguments->value_bytes
                       : job->rows > 0          ? layout->bytes / job->rows
                                                : 1;
    if (job->value_bytes == 0 || layout->bytes % job->value_bytes != 0 || layout->bytes / job->value_bytes != job->rows)
        return fail(EX_DATAERR, "%s: has %zu bytes, which are not one value for each of the %zu rows", file->name,
                    layout->bytes, job->rows);
    if (raw && !layout_set(layout, TABLE_U8, job->rows, job->value_bytes))
        return fail(EX_DATAERR, "%s: is beyond the address space", file->name);
    return EX_OK;
}

static int choose_order(void *context) {
    struct sort_job *job = context;
    const table_type type = job->rows > UINT32_MAX ? TABLE_U64 : TABLE_U32;
    if (!job->arguments.argsort)
        return EX_OK;
    job->order_layout = (struct table_layout){.type = type, .dimensions = 1, .shape = {job->rows}};
    return layout_finish(&job->order_layout)
               ? EX_OK
               : fail(EX_DATAERR, "%s: its order is beyond the address space", job->input.name);
}

/* Charges all that is needed at a time: the values, and what reading them takes, or what sorting them does after that,
 * whichever is more. */
static int charge(struct sort_job *job) {
    const size_t most = job->budget.most;
    struct memory_budget reading = {.most = most}, sorting = {.most = most};
    const struct input_file *const files[] = {&job->input, &job->value_file};
    size_t keys, scratch = 0;
    for (unsigned i = 0; i < 2; i++) {
        memory_add(&reading, files[i]->layout.bytes);
        memory_add(&reading, input_memory(files[i]));
        memory_add(&sorting, files[i]->layout.bytes);
        reading.buffers += files[i]->buffers;
    }
    memory_add(&sorting, job->arguments.argsort ? job->order_layout.bytes : 0);
    memory_add(&sorting, size_multiply(job->rows, sort_key_bytes(job), &keys) ? keys : SIZE_MAX);
    const int code = sorting.used < SIZE_MAX / 4 ? sort_scratch(job, &scratch) : EX_OK;
    memory_add(&sorting, scratch);
    job->budget = reading.used > sorting.used ? reading : sorting;
    return code == EX_OK ? memory_charge(&job->budget, job->input.name, 0) : code;
}

static int read_tables(void *context) {
    struct sort_job *job = context;
    int code = charge(job);
    if (code == EX_OK)
        code = input_take_table(&job->input, job->budget.most);
    if (code == EX_OK && job->arguments.values)
        code = input_take_table(&job->value_file, job->budget.most);
    return code;
}

static int open_outputs(void *context) {
    struct sort_job *job = context;
    const struct sort_arguments *arguments = &job->arguments;
    const struct input_file *values = &job->value_file;
    job->format =
        output_format_for(arguments->common.output, arguments->common.output_format, job->input.format->output);
    int code = open_output(&job->output, arguments->common.output, arguments->common.force, job->format,
                           arguments->argsort ? &job->order_layout : &job->input.layout);
    if (code != EX_OK || !arguments->values)
        return code;
    job->value_format = output_format_for(arguments->values_out, NULL, values->format->output);
    return open_output(&job->value_output, arguments->values_out, arguments->common.force, job->value_format,
                       &values->layout);
}

static int write_outputs(void *context) {
    struct sort_job *job = context;
    const struct sort_arguments *arguments = &job->arguments;
    const struct input_file *values = &job->value_file;
    int code = input_unchanged(&job->input);
    if (code == EX_OK)
        code = input_unchanged(values);
    if (code != EX_OK)
        return code;
    code = arguments->argsort
               ? write_whole(&job->output, job->format, &job->order_layout, job->order, &job->base.progress)
               : write_as(&job->output, job->format, &job->input, job->input.data, &job->base.progress);
    if (code == EX_OK && arguments->values)
        code = write_as(&job->value_output, job->value_format, values, values->data, &job->base.progress);
    return code == EX_OK ? atomic_file_publish(&job->output, arguments->values ? &job->value_output : NULL) : code;
}

static void print_json(const struct sort_job *job) {
    json_object(NULL);
    json_string("keys", job->input.name);
    json_string("output", job->arguments.common.output);
    json_string("type", table_type_name(job->by[0].type));
    json_size("key_count", job->rows);
    json_array("by");
    for (unsigned i = 0; i < job->arguments.by.count; i++)
        json_string(NULL, job->arguments.by.list[i]);
    json_end();
    json_size("row_bytes", job->row_bytes);
    json_size("value_bytes", job->value_bytes);
    json_bool("argsort", job->arguments.argsort);
    json_bool("descending", job->arguments.descending);
    json_size("passes", job->report.passes);
    print_report(&job->report, job->input.layout.bytes);
    stopwatch_json(&job->base.watch);
    json_end();
}

static void print_summary(const struct sort_job *job) {
    char times[STOPWATCH_TEXT];
    stopwatch_text(&job->base.watch, times);
    message("%zu rows of %zu bytes by %s in %u pass%s: %.3g ms; %s", job->rows, job->row_bytes,
            table_type_name(job->by[0].type), job->report.passes, job->report.passes == 1 ? "" : "es",
            1e3 * job->report.seconds, times);
}

static int tell(void *context) {
    const struct sort_job *job = context;
    if (job->arguments.common.json)
        print_json(job);
    else if (!job->arguments.common.quiet)
        print_summary(job);
    say_fewer_threads(&job->arguments.common, job->report.threads, job->report.backend);
    return EX_OK;
}

static void free_tables(void *context) {
    struct sort_job *job = context;
    input_release(&job->input);
    input_release(&job->value_file);
    free(job->keys);
    free(job->order);
}

static void close_all(void *context) {
    struct sort_job *job = context;
    atomic_file_discard(&job->output);
    atomic_file_discard(&job->value_output);
}

int sort_main(int argc, char **argv) {
    static const struct job_step steps[] = {{start_rows, STEP_READ, true},     {start_values, STEP_READ, true},
                                            {choose_order, STEP_READ, false},  {read_tables, STEP_READ, true},
                                            {open_outputs, STEP_WRITE, false}, {sort_rows, STEP_WORK, false},
                                            {write_outputs, STEP_WRITE, true}};
    static const struct job_table table = {&options_of_sort, check_arguments, JOB_STEPS(steps), tell,
                                           free_tables,      close_all};
    static struct sort_job job = {.output = ATOMIC_FILE_NONE, .value_output = ATOMIC_FILE_NONE};
    return job_run(&table, &job, &job.arguments.common, argc, argv);
}
