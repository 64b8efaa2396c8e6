/* tuplescan sort: rows in the order of their keys, values with them, or the order alone. */
#include "sort.h"

#include <stdint.h>
#include <stdlib.h>

#include "commands.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "threads.h"

static void check_arguments(const struct sort_arguments *arguments) {
    if (!arguments->common.output)
        die(EX_USAGE, "-o OUTPUT is missing");
    if (!arguments->values != !arguments->values_out)
        die(EX_USAGE, "--values and --values-out belong together");
    if (arguments->value_bytes && !arguments->values)
        die(EX_USAGE, "--value-bytes is for --values");
    if (arguments->has_bits && arguments->bits == 0)
        die(EX_USAGE, "--bits 0: there is nothing to sort by");
    check_outputs(&arguments->common, NULL, "--values-out", arguments->values_out);
}

/* Opens a file whose values are to be read as soon as all memory that is needed is charged. Values whose number is
 * not known are read at once. */
static void start(struct sort_job *job, struct input_file *file, const char *path,
                  const struct input_request *request) {
    input_start(file, path, request);
    file->shows = true;
    if (!file->rows_known)
        input_take_all(file, memory_left(&job->budget), "the last row may come first");
}

static void start_rows(struct sort_job *job) {
    struct input_request request = keys_request(&job->arguments.common, job->by);
    for (unsigned i = 0; i < job->arguments.by.count; i++)
        job->by[i].name = job->arguments.by.list[i];
    request.own = true;
    request.elements = INPUT_RECORDS;
    request.fields = job->by;
    request.field_count = job->arguments.by.count;
    job->budget.most = request.memory;
    start(job, &job->input, job->arguments.common.inputs[0], &request);
    job->input.layout.type = key_type(job->input.layout.type);
    for (unsigned i = 0; i < request.field_count; i++)
        job->by[i].type = key_type(job->by[i].type);
    job->rows = job->input.layout.rows;
    job->row_bytes = job->input.layout.columns * layout_element_bytes(&job->input.layout);
    memory_add(&job->budget, input_memory(&job->input));
    memory_add(&job->budget, job->input.layout.bytes);
    sort_choose_keys(job);
}

static void start_values(struct sort_job *job) {
    const struct sort_arguments *arguments = &job->arguments;
    struct input_request request = {.raw_type = TABLE_U8, .whole = true, .own = true, .elements = INPUT_ANYTHING};
    struct input_file *file = &job->value_file;
    struct table_layout *layout = &file->layout;
    if (!arguments->values)
        return;
    keys_request_rest(&request, &job->budget);
    start(job, file, arguments->values, &request);
    const bool is_bare = file->format->is_bare;
    if (!is_bare && arguments->value_bytes)
        die(EX_USAGE, "%s: is no raw file, and says the size of a value itself: leave out --value-bytes", file->name);
    job->value_bytes = !is_bare                 ? layout->columns * layout_element_bytes(layout)
                       : arguments->value_bytes ? arguments->value_bytes
                       : job->rows > 0          ? layout->bytes / job->rows
                                                : 1;
    if (job->value_bytes == 0 || layout->bytes % job->value_bytes != 0 || layout->bytes / job->value_bytes != job->rows)
        die(EX_DATAERR, "%s: has %zu bytes, which are not one value for each of the %zu rows", file->name,
            layout->bytes, job->rows);
    if (is_bare && !layout_set(layout, TABLE_U8, job->rows, job->value_bytes))
        die(EX_DATAERR, "%s: is beyond the address space", file->name);
}

static void choose_order(struct sort_job *job) {
    const table_type type = job->rows > UINT32_MAX ? TABLE_U64 : TABLE_U32;
    if (!job->arguments.argsort)
        return;
    job->order_layout = (struct table_layout){.type = type, .dimensions = 1, .shape = {job->rows}};
    if (!layout_finish(&job->order_layout))
        die(EX_DATAERR, "%s: its order is beyond the address space", job->input.name);
}

/* Charges all that is needed at a time: the values, and what reading them takes, or what sorting them does after that,
 * whichever is more. */
static void charge(struct sort_job *job) {
    const size_t most = job->budget.most;
    struct memory_budget reading = {.most = most}, sorting = {.most = most};
    const struct input_file *const files[] = {&job->input, &job->value_file};
    size_t keys;
    for (unsigned i = 0; i < 2; i++) {
        memory_add(&reading, files[i]->layout.bytes);
        memory_add(&reading, input_memory(files[i]));
        memory_add(&sorting, files[i]->layout.bytes);
        reading.buffers += files[i]->buffers;
    }
    memory_add(&sorting, job->arguments.argsort ? job->order_layout.bytes : 0);
    memory_add(&sorting, size_multiply(job->rows, sort_key_bytes(job), &keys) ? keys : SIZE_MAX);
    memory_add(&sorting, sorting.used < SIZE_MAX / 4 ? sort_scratch(job) : 0);
    job->budget = reading.used > sorting.used ? reading : sorting;
    memory_charge(&job->budget, job->input.name, 0);
}

static void open_outputs(struct sort_job *job) {
    const struct sort_arguments *arguments = &job->arguments;
    const struct input_file *values = &job->value_file;
    job->format =
        output_format_for(arguments->common.output, arguments->common.output_format, job->input.format->output);
    open_output(&job->output, arguments->common.output, arguments->common.force, job->format,
                arguments->argsort ? &job->order_layout : &job->input.layout);
    if (!arguments->values)
        return;
    job->value_format = output_format_for(arguments->values_out, NULL, values->format->output);
    open_output(&job->value_output, arguments->values_out, arguments->common.force, job->value_format, &values->layout);
}

static void write_outputs(struct sort_job *job) {
    const struct sort_arguments *arguments = &job->arguments;
    const struct input_file *values = &job->value_file;
    input_unchanged(&job->input);
    input_unchanged(values);
    if (arguments->argsort)
        write_whole(&job->output, job->format, &job->order_layout, job->order);
    else
        write_as(&job->output, job->format, &job->input, job->input.data);
    if (arguments->values)
        write_as(&job->value_output, job->value_format, values, values->data);
    atomic_file_publish(&job->output, arguments->values ? &job->value_output : NULL);
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
    job_times_json();
    json_end();
}

static void print_summary(const struct sort_job *job) {
    char times[JOB_TIMES_TEXT];
    job_times_text(times);
    message("%zu rows of %zu bytes by %s in %u pass%s: %.3g ms; %s", job->rows, job->row_bytes,
            table_type_name(job->by[0].type), job->report.passes, job->report.passes == 1 ? "" : "es",
            1e3 * job->report.seconds, times);
}

static void tell(const struct sort_job *job) {
    if (job->arguments.common.json)
        print_json(job);
    else if (!job->arguments.common.quiet)
        print_summary(job);
    say_fewer_threads(&job->arguments.common, job->report.threads, job->report.backend);
}

int sort_main(int argc, char **argv) {
    static struct sort_job job;
    job_begin(&options_of_sort, &job.arguments, argc, argv);
    check_arguments(&job.arguments);
    start_rows(&job);
    start_values(&job);
    choose_order(&job);
    charge(&job);
    input_take_table(&job.input, job.budget.most);
    if (job.arguments.values)
        input_take_table(&job.value_file, job.budget.most);
    job_step(STEP_READ);
    open_outputs(&job);
    job_step(STEP_WRITE);
    sort_rows(&job);
    job_step(STEP_WORK);
    write_outputs(&job);
    job_step(STEP_WRITE);
    input_release(&job.input);
    input_release(&job.value_file);
    free(job.order);
    job_step(STEP_FREE);
    tell(&job);
    return EX_OK;
}
