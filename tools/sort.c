/* tuplescan sort: rows in the order of their keys, values with them, or the order alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "keys.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "stopwatch.h"
#include "threads.h"

static const char help[] =
    "usage: tuplescan sort TABLE [--by COLUMN|FIELD]... -o OUTPUT [options]\n"
    "\n"
    "Writes the rows of TABLE in the order of their keys; rows whose keys are equal keep their order. A row stays\n"
    "whole: it is what lies at one index of the first axis, such as a record of a structured .npy, whatever other\n"
    "fields that has. Floats are in the total order: -0.0 before +0.0, NaNs at the ends by their sign. A file that is\n"
    "no .npy has bytes for rows unless --type and --columns say more.\n"
    "\n"
    "  --by COLUMN|FIELD     the key: a column, counted from 0 on, or a field of a structured .npy; one of several\n"
    "                        values is compared from the first to the last. Up to 16 of them, the most significant\n"
    "                        one first. Default: the column, where there is one only\n"
    "  -o, --output FILE     where to, - is standard output; in which format, as for scan\n"
    "  -f, --force           replace OUTPUT (and the file of --values-out) if it exists, as scan does\n"
    "  --values FILE         a value for each row, which moves with it: a .npy with as many rows, of any type but\n"
    "                        Python objects (text, dates, records, ...), or raw values of --value-bytes\n"
    "  --value-bytes N       bytes of a raw value. Default: the size of the file divided by the number of rows\n"
    "  --values-out FILE     where the values go to, in the format of their file unless the name says another\n"
    "  --argsort             write the index of each row instead of the row: u32, or u64 beyond 2^32 rows\n"
    "  --descending          the greatest key first\n"
    "  --first-bit N, --bits N\n"
    "                        sort by these bits of the key alone; 0 is the lowest bit\n"
    "  --backend B           auto, cpu or cuda; auto is cpu, as the rows are in host memory\n"
    "  --threads N           CPU threads at most; 0 is as many as help\n"
    "  --type T, --columns C, --skip BYTES, --input-format F, --output-format F\n"
    "                        describe raw rows, of C values of u8 u16 u32 u64 i32 i64 f32 f64, as for scan\n"
    "  --member NAME, --tensor NAME\n"
    "                        which table of a .npz or a safetensors file, as for scan\n"
    "  --delimiter C         of csv, which is only read as such with --input-format csv, as for scan\n"
    "  --memory BYTES        use at most so much for what cannot be done piece by piece. Default: 3/4 of what\n"
    "                        the process may use. What needs more is refused before it begins, with how much it needs\n"
    "  --json                print one object about the run on standard output\n"
    "  --no-progress         do not show on a terminal how far it is, after a second\n"
    "  -q, --quiet           print nothing but errors\n"
    "\n"
    "examples:\n"
    "  tuplescan sort ages.npy -o sorted.npy --values names.npy --values-out names-by-age.npy\n"
    "  tuplescan sort people.npy --by age --by height -o sorted.npy\n"
    "  tuplescan sort words.bin --type u32 --argsort -o order.npy\n";

/* What moves when the keys are sorted. */
struct moved {
    void *data;
    size_t bytes; /* of each */
};

struct sort_job {
    struct arguments arguments;
    struct input_file input, value_file;
    struct atomic_file output, value_output;
    struct input_field by[BY_MOST]; /* the columns or fields, and where they are in a row */
    unsigned by_count;
    size_t rows, row_bytes, value_bytes;
    bool row_is_key;
    void *keys;  /* of one column; NULL where rows are keys */
    void *order; /* --argsort */
    struct table_layout order_layout;
    const struct output_format *format, *value_format;
    struct memory_budget budget;
    table_pipeline_report report;
    struct progress progress;
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

/* The only column of a table that has no more, or one for each --by that is no field. */
static int choose_column(const struct sort_job *job, const char *by, struct input_field *field) {
    const struct table_layout *layout = &job->input.layout;
    uint64_t column = 0;
    if (!layout->type)
        return by ? fail(EX_USAGE, "%s: --by %s: its records have no such field", job->input.name, by)
                  : fail(EX_USAGE, "%s: has records, which stay whole: --by FIELD says what to sort them by",
                         job->input.name);
    if (layout->columns == 0)
        return fail(EX_DATAERR, "%s: has no columns that its rows could be sorted by", job->input.name);
    if (!by && layout->columns > 1)
        return fail(EX_USAGE,
                    "%s: has %zu columns, and its rows stay whole: --by COLUMN, from 0 on, says what to sort them by",
                    job->input.name, layout->columns);
    if (by && (!parse_number(by, SIZE_MAX, &column) || column >= layout->columns))
        return fail(EX_USAGE, "%s: --by %s: is none of its columns, 0 to %zu", job->input.name, by,
                    layout->columns - 1);
    *field = (struct input_field){
        .type = layout->type, .values = 1, .offset = (size_t)column * table_type_size(layout->type)};
    return EX_OK;
}

static int choose_keys(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    const struct table_layout *layout = &job->input.layout;
    if (!layout->type && layout->columns > 1)
        return fail(EX_DATAERR, "%s: has rows of %zu records, and such rows have no key", job->input.name,
                    layout->columns);
    job->by_count = arguments->by_count > 0 ? arguments->by_count : 1;
    for (unsigned i = 0; i < job->by_count; i++) {
        const int code = job->by[i].found ? EX_OK : choose_column(job, arguments->by[i], &job->by[i]);
        if (code != EX_OK)
            return code;
        if (job->by[i].type > TABLE_F64 && job->by[i].found)
            return fail(EX_DATAERR, "%s: field '%s' is %s, which no keys are", job->input.name, job->by[i].name,
                        table_type_name(job->by[i].type));
        if (job->by[i].type > TABLE_F64)
            return fail(EX_DATAERR, "%s: is %s, which no keys are", job->input.name, table_type_name(job->by[i].type));
    }
    const struct input_field *first = &job->by[0];
    const size_t size = table_type_size(first->type), width = 8 * size;
    const bool lone = job->by_count == 1 && first->values == 1;
    if ((arguments->has_bits || arguments->first_bit) && !lone)
        return fail(EX_USAGE, "--first-bit and --bits are for one key of one value");
    if (arguments->first_bit >= width || arguments->bits > width - arguments->first_bit)
        return fail(EX_USAGE, "--first-bit %u and --bits %u: keys of %s have %zu bits", arguments->first_bit,
                    arguments->bits, table_type_name(first->type), width);
    job->row_is_key = lone && size == job->row_bytes && !first->swapped;
    return EX_OK;
}

/* Opens a file whose values are to be read as soon as all memory that is needed is charged. Values of which nobody
 * knows how many there are come now. */
static int start(struct sort_job *job, struct input_file *file, const char *path, const struct input_request *request) {
    const int code = input_start(file, path, request);
    file->progress = &job->progress;
    return code != EX_OK || file->rows_known
               ? code
               : input_take_all(file, memory_left(&job->budget), "the last row may come first");
}

static int start_rows(struct sort_job *job) {
    struct input_request request = keys_request(&job->arguments, job->by);
    for (unsigned i = 0; i < job->arguments.by_count; i++)
        job->by[i].name = job->arguments.by[i];
    request.own = true;
    request.elements = INPUT_RECORDS;
    request.fields = job->by;
    request.field_count = job->arguments.by_count;
    job->budget.most = request.memory;
    const int code = start(job, &job->input, job->arguments.operands[0], &request);
    if (code != EX_OK)
        return code;
    job->input.layout.type = key_type(job->input.layout.type);
    for (unsigned i = 0; i < request.field_count; i++)
        job->by[i].type = key_type(job->by[i].type);
    job->rows = job->input.layout.rows;
    job->row_bytes = job->input.layout.columns * layout_element_bytes(&job->input.layout);
    return choose_keys(job);
}

static int start_values(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    const struct input_request request = {.type = TABLE_U8,
                                          .columns = 1,
                                          .type_is_a_hint = true,
                                          .memory = memory_there(arguments->memory),
                                          .whole = true,
                                          .own = true,
                                          .elements = INPUT_ANYTHING};
    struct input_file *file = &job->value_file;
    struct table_layout *layout = &file->layout;
    if (!arguments->values)
        return EX_OK;
    const int code = start(job, file, arguments->values, &request);
    if (code != EX_OK)
        return code;
    const bool raw = file->format == &input_raw;
    if (!raw && arguments->value_bytes)
        return fail(EX_USAGE, "%s: is a .npy file, which says the size of a value itself: leave out --value-bytes",
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

static int choose_order(struct sort_job *job) {
    const table_type type = job->rows > UINT32_MAX ? TABLE_U64 : TABLE_U32;
    if (!job->arguments.argsort)
        return EX_OK;
    job->order_layout = (struct table_layout){.type = type, .dimensions = 1, .shape = {job->rows}};
    return layout_finish(&job->order_layout)
               ? EX_OK
               : fail(EX_DATAERR, "%s: its order is beyond the address space", job->input.name);
}

/* Bytes of each key, of those that are brought together; 0: the rows are keys. */
static size_t key_bytes(const struct sort_job *job) {
    size_t most = 0;
    for (unsigned i = 0; i < job->by_count && !job->row_is_key; i++)
        most = table_type_size(job->by[i].type) > most ? table_type_size(job->by[i].type) : most;
    return most;
}

/* How many values all keys have: there is a sort by each. */
static size_t key_values(const struct sort_job *job) {
    size_t count = 0;
    for (unsigned i = 0; i < job->by_count; i++)
        count += job->by[i].values;
    return count;
}

static table_sort_options sort_options(const struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    return (table_sort_options){.run = {.backend = arguments->backend, .threads = arguments->threads},
                                .descending = arguments->descending,
                                .first_bit = arguments->first_bit,
                                .bits = arguments->bits};
}

/* *most: at least the bytes that the library takes for a sort by keys of this type which moves values of so many bytes.
 * It is asked before there are any, with addresses that nobody reads at. */
static int scratch_of(const struct sort_job *job, table_type type, size_t value_bytes, size_t *most) {
    enum { APART = TABLE_WORKSPACE_ALIGNMENT };
    const size_t keys_end = job->rows * table_type_size(type) / APART * APART + 2 * APART;
    const table_view keys = {.data = (void *)(uintptr_t)APART, .rows = job->rows, .columns = 1, .type = type};
    void *const values = value_bytes ? (void *)(uintptr_t)keys_end : NULL;
    table_sort_options options = sort_options(job);
    size_t bytes = 0;
    if (options.run.backend == TABLE_BACKEND_CUDA) /* it is memory of the device */
        return EX_OK;
    options.run.backend = TABLE_BACKEND_CPU;
    const table_status status = table_radix_sort_workspace(&keys, values, value_bytes, &options, &bytes);
    *most = bytes > *most ? bytes : *most;
    return status == TABLE_OK ? EX_OK : fail_status(job->input.name, status);
}

static void add(size_t *sum, size_t bytes) {
    if (__builtin_add_overflow(*sum, bytes, sum))
        *sum = SIZE_MAX;
}

/* Charges all that is needed at a time. */
static int charge(struct sort_job *job) {
    const bool argsort = job->arguments.argsort, moves_rows = !job->row_is_key && (!argsort || key_values(job) > 1);
    const size_t beside = argsort ? table_type_size(job->order_layout.type) : job->value_bytes;
    const struct input_file *const files[] = {&job->input, &job->value_file};
    size_t all = argsort ? job->order_layout.bytes : 0, keys, scratch = 0;
    int code = EX_OK;
    add(&all, size_multiply(job->rows, key_bytes(job), &keys) ? keys : SIZE_MAX);
    for (unsigned i = 0; i < 2; i++) {
        add(&all, files[i]->layout.bytes);
        add(&all, input_memory(files[i]));
    }
    for (unsigned i = 0; i < job->by_count && code == EX_OK && all < SIZE_MAX / 4; i++) {
        code = scratch_of(job, job->by[i].type, beside, &scratch);
        if (code == EX_OK && moves_rows)
            code = scratch_of(job, job->by[i].type, job->row_bytes, &scratch);
    }
    add(&all, scratch);
    return code == EX_OK ? memory_charge(&job->budget, job->input.name, all) : code;
}

static int read_tables(struct sort_job *job) {
    int code = charge(job);
    if (code == EX_OK)
        code = input_take_table(&job->input, job->budget.most);
    if (code == EX_OK && job->arguments.values)
        code = input_take_table(&job->value_file, job->budget.most);
    return code;
}

static int make_order(struct sort_job *job) {
    if (!job->arguments.argsort)
        return EX_OK;
    job->order = memory_allocate(job->order_layout.bytes);
    if (!job->order)
        return fail(EX_OSERR, "%s: out of memory for %zu bytes", job->input.name, job->order_layout.bytes);
    for (size_t i = 0; i < job->rows; i++) {
        if (job->order_layout.type == TABLE_U32)
            ((uint32_t *)job->order)[i] = (uint32_t)i;
        else
            ((uint64_t *)job->order)[i] = i;
    }
    return EX_OK;
}

static int make_keys(struct sort_job *job) {
    if (job->row_is_key)
        return EX_OK;
    job->keys = memory_allocate(job->rows * key_bytes(job));
    return job->keys ? EX_OK : fail(EX_OSERR, "%s: out of memory for the keys of its rows", job->input.name);
}

#define TAKE(TYPE)                                                                                                     \
    for (size_t i = 0; i < job->rows; i++)                                                                             \
    memcpy((TYPE *)job->keys + i, rows + i * job->row_bytes, sizeof(TYPE))

/* The keys of one column: in the rows, or brought together out of them. */
static table_view take_keys(struct sort_job *job, const struct input_field *field, size_t offset) {
    const table_type type = field->type;
    const char *rows = (const char *)job->input.data + offset;
    if (job->row_is_key)
        return keys_view(&job->input);
    switch (table_type_size(type)) {
    case 1:
        TAKE(uint8_t);
        break;
    case 2:
        TAKE(uint16_t);
        break;
    case 4:
        TAKE(uint32_t);
        break;
    default:
        TAKE(uint64_t);
    }
    if (field->swapped)
        input_swap(job->keys, table_type_size(type), job->rows);
    return (table_view){.data = job->keys, .rows = job->rows, .columns = 1, .type = type};
}

/* Moves what is to be moved into the order of one column. Rows come last, as the keys are taken from them; if it is the
 * order alone that is written, nobody takes more keys from them after the last column. */
static int sort_by_column(struct sort_job *job, const struct input_field *field, size_t offset, bool is_last) {
    table_pipeline_report report;
    table_sort_options options = sort_options(job);
    options.run.report = &report;
    struct moved moved[2];
    unsigned count = 0;
    if (job->order)
        moved[count++] = (struct moved){job->order, table_type_size(job->order_layout.type)};
    if (job->arguments.values)
        moved[count++] = (struct moved){job->value_file.memory, job->value_bytes};
    if (!job->row_is_key && !(job->order && is_last))
        moved[count++] = (struct moved){job->input.memory, job->row_bytes};
    if (count == 0)
        moved[count++] = (struct moved){NULL, 0};
    for (unsigned i = 0; i < count; i++) {
        const table_view keys = take_keys(job, field, offset);
        const table_status status = table_radix_sort(&keys, moved[i].data, moved[i].bytes, &options);
        if (status != TABLE_OK)
            return fail_status(job->input.name, status);
        add_report(&job->report, &report);
    }
    return EX_OK;
}

/* The least significant column comes first: each sort leaves rows alike in the order of those before it. */
static int sort(struct sort_job *job) {
    int code = make_order(job);
    if (code == EX_OK)
        code = make_keys(job);
    for (unsigned i = job->by_count; i-- > 0;) {
        const struct input_field *field = &job->by[i];
        const size_t size = table_type_size(field->type);
        for (size_t value = field->values; value-- > 0 && code == EX_OK;)
            code = sort_by_column(job, field, field->offset + value * size, i == 0 && value == 0);
    }
    free(job->keys);
    job->keys = NULL;
    return code;
}

static int open_outputs(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    const struct input_file *values = &job->value_file;
    job->format = output_format_for(arguments->output, arguments->output_format, job->input.format->output);
    int code = open_output(&job->output, arguments->output, arguments->force, job->format,
                           arguments->argsort ? &job->order_layout : &job->input.layout);
    if (code != EX_OK || !arguments->values)
        return code;
    job->value_format = output_format_for(arguments->values_out, NULL, values->format->output);
    return open_output(&job->value_output, arguments->values_out, arguments->force, job->value_format, &values->layout);
}

static int write_outputs(struct sort_job *job) {
    const struct arguments *arguments = &job->arguments;
    const struct input_file *values = &job->value_file;
    int code = input_unchanged(&job->input);
    if (code == EX_OK)
        code = input_unchanged(values);
    if (code != EX_OK)
        return code;
    code = arguments->argsort ? write_whole(&job->output, job->format, &job->order_layout, job->order, &job->progress)
                              : write_as(&job->output, job->format, &job->input, job->input.data, &job->progress);
    if (code == EX_OK && arguments->values)
        code = write_as(&job->value_output, job->value_format, values, values->data, &job->progress);
    return code == EX_OK ? atomic_file_publish_both(&job->output, arguments->values ? &job->value_output : NULL) : code;
}

static void print_json(const struct sort_job *job) {
    json_object(NULL);
    json_string("keys", job->input.name);
    json_string("output", job->arguments.output);
    json_string("type", table_type_name(job->by[0].type));
    json_size("key_count", job->rows);
    json_array("by");
    for (unsigned i = 0; i < job->arguments.by_count; i++)
        json_string(NULL, job->arguments.by[i]);
    json_end();
    json_size("row_bytes", job->row_bytes);
    json_size("value_bytes", job->value_bytes);
    json_bool("argsort", job->arguments.argsort);
    json_bool("descending", job->arguments.descending);
    json_size("passes", job->report.passes);
    print_report(&job->report, job->input.layout.bytes);
    stopwatch_json(&job->watch);
    json_end();
}

static void print_summary(const struct sort_job *job) {
    char times[STOPWATCH_TEXT];
    stopwatch_text(&job->watch, times);
    message("%zu rows of %zu bytes by %s in %u pass%s: %.3g ms; %s", job->rows, job->row_bytes,
            table_type_name(job->by[0].type), job->report.passes, job->report.passes == 1 ? "" : "es",
            1e3 * job->report.seconds, times);
}

static void free_tables(struct sort_job *job) {
    input_release(&job->input);
    input_release(&job->value_file);
    free(job->keys);
    free(job->order);
    job->keys = job->order = NULL;
}

static int calculate(struct sort_job *job) {
    progress_begin(&job->progress, wants_progress(&job->arguments));
    int code = start_rows(job);
    if (code == EX_OK)
        code = start_values(job);
    if (code == EX_OK)
        code = choose_order(job);
    if (code == EX_OK)
        code = read_tables(job);
    progress_end(&job->progress);
    stopwatch_step(&job->watch, STEP_READ);
    if (code == EX_OK)
        code = open_outputs(job);
    stopwatch_step(&job->watch, STEP_WRITE);
    if (code == EX_OK)
        code = sort(job);
    stopwatch_step(&job->watch, STEP_WORK);
    progress_begin(&job->progress, wants_progress(&job->arguments));
    if (code == EX_OK)
        code = write_outputs(job);
    progress_end(&job->progress);
    stopwatch_step(&job->watch, STEP_WRITE);
    return code;
}

static int run(struct sort_job *job) {
    const int code = calculate(job);
    if (code != EX_OK)
        return code;
    free_tables(job);
    stopwatch_step(&job->watch, STEP_FREE);
    if (job->arguments.json)
        print_json(job);
    else if (!job->arguments.quiet)
        print_summary(job);
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
