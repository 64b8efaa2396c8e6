/* tuplescan sort: keys in order, values with them, or the order alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "keys.h"
#include "memory.h"
#include "message.h"
#include "stopwatch.h"
#include "threads.h"

static const char help[] =
    "usage: tuplescan sort KEYS -o OUTPUT [options]\n"
    "\n"
    "Writes the values of KEYS in order; keys that are equal keep their order. Floats are in the total order: -0.0\n"
    "before +0.0, NaNs at the ends by their sign. A file that is no .npy has bytes for keys unless --type says more.\n"
    "\n"
    "  -o, --output FILE     where to, - is standard output; in which format, as for scan\n"
    "  -f, --force           replace OUTPUT (and the file of --values-out) if it exists, as scan does\n"
    "  --values FILE         a value for each key, which moves with it: a .npy with as many rows as there are keys,\n"
    "                        or raw values of --value-bytes\n"
    "  --value-bytes N       bytes of a raw value. Default: the size of the file divided by the number of keys\n"
    "  --values-out FILE     where the values go to, in the format of their file unless the name says another\n"
    "  --argsort             write the index of each key instead of the key: u32, or u64 beyond 2^32 keys\n"
    "  --descending          the greatest key first\n"
    "  --first-bit N, --bits N\n"
    "                        sort by these bits of the keys alone; 0 is the lowest bit\n"
    "  --backend B           auto, cpu or cuda; auto is cpu, as the keys are in host memory\n"
    "  --threads N           CPU threads at most; 0 is as many as help\n"
    "  --type T, --skip BYTES, --input-format F, --output-format F\n"
    "                        describe raw keys, u8 u16 u32 u64 i32 i64 f32 f64, as for scan\n"
    "  --json                print one object about the run on standard output\n"
    "  -q, --quiet           print nothing but errors\n"
    "\n"
    "examples:\n"
    "  tuplescan sort ages.npy -o sorted.npy --values names.npy --values-out names-by-age.npy\n"
    "  tuplescan sort words.bin --type u32 --argsort -o order.npy\n";

struct sort_job {
    struct arguments arguments;
    struct input_file input, value_file;
    struct atomic_file output, value_output;
    struct table_layout layout, value_layout;
    size_t value_bytes;
    void *keys, *values;
    const struct output_format *format, *value_format;
    table_pipeline_report report;
    struct stopwatch watch;
};

static int check_arguments(const struct arguments *arguments) {
    if (!arguments->output)
        return fail(EX_USAGE, "-o OUTPUT is missing");
    if (!arguments->values != !arguments->values_out)
        return fail(EX_USAGE, "--values and --values-out belong together");
    if (arguments->value_bytes && !arguments->values)
        return fail(EX_USAGE, "--value-bytes is for --values");
    if (arguments->argsort && arguments->values)
        return fail(EX_USAGE, "--argsort and --values: the order alone moves no values");
    if (arguments->has_bits && arguments->bits == 0)
        return fail(EX_USAGE, "--bits 0: there is nothing to sort by");
    return check_outputs(arguments, "--values-out", arguments->values_out);
}

/* A copy that may be sorted in place. */
static int copy_of(const struct input_file *file, void **copy) {
    *copy = memory_allocate(file->layout.bytes);
    if (!*copy)
        return fail(EX_OSERR, "%s: out of memory for %zu bytes", file->name, file->layout.bytes);
    memcpy(*copy, file->data, file->layout.bytes);
    return EX_OK;
}

static int read_values(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    const size_t keys = keys_view(&job->input).rows;
    struct input_file *file = &job->value_file;
    if (!arguments->values)
        return EX_OK;
    int code = open_beside_keys(file, arguments->values, TABLE_U8);
    if (code != EX_OK)
        return code;
    const struct table_layout *layout = &file->layout;
    const bool raw = strcmp(file->format->name, "raw") == 0;
    if (!raw && arguments->value_bytes)
        return fail(EX_USAGE, "%s: is a .npy file, which says the size of a value itself: leave out --value-bytes",
                    file->name);
    job->value_bytes = !raw                     ? layout->columns * table_type_size(layout->type)
                       : arguments->value_bytes ? arguments->value_bytes
                       : keys > 0               ? layout->bytes / keys
                                                : 1;
    if (job->value_bytes == 0 || layout->bytes % job->value_bytes != 0 || layout->bytes / job->value_bytes != keys)
        return fail(EX_DATAERR, "%s: has %zu bytes, which are not one value for each of the %zu keys", file->name,
                    layout->bytes, keys);
    job->value_layout = *layout;
    if (raw && !layout_set(&job->value_layout, TABLE_U8, keys, job->value_bytes))
        return fail(EX_DATAERR, "%s: is beyond the address space", file->name);
    return copy_of(file, &job->values);
}

static int read_keys(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    int code = open_keys(&job->input, arguments->operands[0], arguments);
    if (code != EX_OK)
        return code;
    const size_t width = 8 * table_type_size(job->input.layout.type);
    if (arguments->first_bit >= width || arguments->bits > width - arguments->first_bit)
        return fail(EX_USAGE, "--first-bit %u and --bits %u: keys of %s have %zu bits", arguments->first_bit,
                    arguments->bits, table_type_name(job->input.layout.type), width);
    const table_view keys = keys_view(&job->input);
    job->layout = job->input.layout;
    if (!arguments->argsort)
        return EX_OK;
    const table_type type = keys.rows > UINT32_MAX ? TABLE_U64 : TABLE_U32;
    job->layout = (struct table_layout){.type = type, .dimensions = 1, .shape = {keys.rows}};
    return layout_finish(&job->layout) ? EX_OK
                                       : fail(EX_DATAERR, "%s: its order is beyond the address space", job->input.name);
}

static int sort_keys(struct sort_job *job, const table_sort_options *options) {
    table_view keys = keys_view(&job->input);
    int code = copy_of(&job->input, &job->keys);
    if (code != EX_OK)
        return code;
    keys.data = job->keys;
    const table_status status = table_radix_sort(&keys, job->values, job->value_bytes, options);
    return status == TABLE_OK ? EX_OK : fail_status(job->input.name, status);
}

static int sort_order(struct sort_job *job, const table_sort_options *options) {
    const table_view keys = keys_view(&job->input);
    job->keys = memory_allocate(job->layout.bytes);
    if (!job->keys)
        return fail(EX_OSERR, "%s: out of memory for %zu bytes", job->input.name, job->layout.bytes);
    const table_view order = {job->keys, keys.rows, 1, 0, job->layout.type};
    const table_status status = table_argsort(&keys, &order, options);
    return status == TABLE_OK ? EX_OK : fail_status(job->input.name, status);
}

static int sort(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    const table_sort_options options = {
        .run = {.backend = arguments->backend, .threads = arguments->threads, .report = &job->report},
        .descending = arguments->descending,
        .first_bit = arguments->first_bit,
        .bits = arguments->bits};
    return arguments->argsort ? sort_order(job, &options) : sort_keys(job, &options);
}

static int open_outputs(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    job->format = output_format_for(arguments->output, arguments->output_format, job->input.format->name);
    int code = open_output(&job->output, arguments->output, arguments->force, job->format, &job->layout);
    if (code != EX_OK || !job->values)
        return code;
    job->value_format = output_format_for(arguments->values_out, NULL, job->value_file.format->name);
    return open_output(&job->value_output, arguments->values_out, arguments->force, job->value_format,
                       &job->value_layout);
}

static int write_outputs(struct sort_job *job) {
    int code = write_whole(&job->output, job->format, &job->layout, job->keys);
    if (code == EX_OK && job->values)
        code = write_whole(&job->value_output, job->value_format, &job->value_layout, job->values);
    return code == EX_OK ? atomic_file_publish_both(&job->output, job->values ? &job->value_output : NULL) : code;
}

static void print_json(const struct sort_job *job) {
    json_object(NULL);
    json_string("keys", job->input.name);
    json_string("output", job->arguments.output);
    json_string("type", table_type_name(job->input.layout.type));
    json_size("key_count", keys_view(&job->input).rows);
    json_size("value_bytes", job->value_bytes);
    json_bool("argsort", job->arguments.argsort);
    json_bool("descending", job->arguments.descending);
    json_size("passes", job->report.passes);
    print_report(&job->report, job->input.layout.bytes);
    stopwatch_json(&job->watch);
    json_end();
}

static void free_tables(struct sort_job *job) {
    input_release(&job->input);
    input_release(&job->value_file);
    free(job->keys);
    free(job->values);
    job->keys = job->values = NULL;
}

static int calculate(struct sort_job *job) {
    int code = read_keys(job);
    if (code == EX_OK)
        code = read_values(job);
    stopwatch_step(&job->watch, STEP_READ);
    if (code == EX_OK)
        code = open_outputs(job);
    stopwatch_step(&job->watch, STEP_WRITE);
    if (code == EX_OK)
        code = sort(job);
    stopwatch_step(&job->watch, STEP_WORK);
    if (code == EX_OK)
        code = write_outputs(job);
    stopwatch_step(&job->watch, STEP_WRITE);
    return code;
}

static int run(struct sort_job *job) {
    char times[STOPWATCH_TEXT];
    const int code = calculate(job);
    if (code != EX_OK)
        return code;
    free_tables(job);
    stopwatch_step(&job->watch, STEP_FREE);
    stopwatch_text(&job->watch, times);
    if (job->arguments.json)
        print_json(job);
    else if (!job->arguments.quiet)
        message("%zu keys of %s in %u pass%s: %.3g ms; %s", keys_view(&job->input).rows,
                table_type_name(job->input.layout.type), job->report.passes, job->report.passes == 1 ? "" : "es",
                1e3 * job->report.seconds, times);
    if (!job->arguments.quiet)
        say_fewer_threads(job->arguments.threads, job->report.threads, job->report.backend);
    return EX_OK;
}

int sort_main(int argc, char **argv) {
    struct sort_job job = {.output = {.fd = -1, .slot = -1}, .value_output = {.fd = -1, .slot = -1}};
    int code = arguments_parse(&job.arguments, argc, argv, FOR_SORT, 1, help);
    if (code != GO_ON)
        return code;
    code = check_arguments(&job.arguments);
    if (code == EX_OK)
        code = run(&job);
    atomic_file_discard(&job.output);
    atomic_file_discard(&job.value_output);
    free_tables(&job);
    return code;
}
