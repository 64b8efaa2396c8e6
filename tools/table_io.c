#include "table_io.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "output_path.h"
#include "types.h"
#include "values.h"

void check_is_no_input(const struct arguments *arguments, const char *option, const char *output) {
    struct argument_input input = arguments_input(arguments, 0);
    for (unsigned i = 0; input.is_one; input = arguments_input(arguments, ++i))
        if (input.path && output_path_is_input(output, input.path))
            die(EX_USAGE, "%s %s: is the file of %s%s, which is read; write to another one", option, output,
                input.dashes, input.name);
}

void check_outputs(const struct arguments *arguments, const char *printed, const char *option, const char *second) {
    if (arguments->json)
        printed = "--json";
    const char *paths[] = {arguments->output, second}, *const options[] = {"-o", option};
    if (second && output_path_descriptor(second) == STDOUT_FILENO)
        die(EX_USAGE, "%s %s is standard output, and it needs a file", option, second);
    if (second && arguments->output && output_path_same(arguments->output, second))
        die(EX_USAGE, "%s and -o name the same file", option);
    for (unsigned i = 0; i < 2; i++) {
        if (!paths[i])
            continue;
        if (printed && output_path_same(paths[i], "-"))
            die(EX_USAGE, "%s and %s %s both want standard output", printed, options[i], paths[i]);
        check_is_no_input(arguments, options[i], paths[i]);
        const char *const other = i > 0 || !arguments->output_format ? output_other_format(paths[i]) : NULL;
        if (other)
            die(EX_USAGE,
                "%s %s: %s is no format that is written here; there are .npy, .bin or .raw for raw values, .csv, .tsv "
                "and .txt%s",
                options[i], paths[i], other, i == 0 ? ", and --output-format" : "");
        output_path_check(paths[i], arguments->force);
    }
}

struct input_request table_request(const struct arguments *arguments, struct input_field fields[BY_MOST]) {
    for (unsigned i = 0; i < arguments->fields.count; i++)
        fields[i] = (struct input_field){.name = arguments->fields.list[i]};
    return (struct input_request){.format = arguments->input_format,
                                  .member = arguments->member,
                                  .delimiter = arguments->delimiter,
                                  .tells = !arguments->quiet,
                                  .type = arguments->type,
                                  .columns = arguments->columns,
                                  .skip = arguments->skip,
                                  .memory = memory_there(arguments->memory),
                                  .fields = fields,
                                  .field_count = arguments->fields.count};
}

void start_input(struct input_file *file, const char *path, table_type like, struct text_beside *beside,
                 const struct scan_arguments *arguments) {
    struct input_field fields[BY_MOST];
    struct input_request request = table_request(&arguments->common, fields);
    request.looks = arguments->looks;
    request.kept = arguments->to || arguments->looks ? NULL : arguments->common.kept.list; /* NULL: no --keep */
    request.kept_count = arguments->common.kept.count;
    request.like = like;
    request.gaps = arguments->skip_nan;
    request.beside = beside;
    input_start(file, path, &request);
    if (!file->format->delimiter && arguments->common.kept.count > 0)
        die(EX_USAGE, "%s: is no text, and --keep is for fields of text", file->name);
}

table_type sum_type(const struct scan_arguments *arguments, const struct input_file *input) {
    table_type in = input->layout.type;
    const bool is_extreme = arguments->operation == TABLE_MAXIMUM || arguments->operation == TABLE_MINIMUM;
    const table_type type = arguments->common.out_type ? arguments->common.out_type
                            : is_extreme               ? in
                                                       : default_sum_type(in);
    if (arguments->operation != TABLE_SUM && !table_operation_supported(arguments->operation, in, type))
        die(EX_USAGE, "%s: %s: there is no %s of %s as %s",
            arguments->operation != TABLE_RECURRENCE ? "--operation"
            : arguments->decay                       ? "--decay"
                                                     : "--decay-file",
            input->name, table_operation_name(arguments->operation), table_type_name(in), table_type_name(type));
    if (arguments->operation == TABLE_PRODUCT && arguments->offsets && type_is_float(type))
        die(EX_USAGE, "--offsets: %s: is not for products of floats, and these are %s", input->name,
            table_type_name(type));
    if (arguments->operation == TABLE_SUM && !table_types_supported(in, type))
        die(EX_USAGE, "%s: %s cannot be summed into %s, only into %s", input->name, table_type_name(in),
            table_type_name(type), sum_types_text(in));
    const bool floats = type_is_float(type);
    if (arguments->wrap && is_extreme)
        die(EX_USAGE, "--wrap is for sums and products, and no %s leaves its type",
            table_operation_name(arguments->operation));
    if (arguments->wrap && floats)
        die(EX_USAGE, "--wrap is for integers, and the sums are %s", table_type_name(type));
    if (arguments->skip_nan && !floats)
        die(EX_USAGE, "--skip-nan is for floats, and the sums are %s", table_type_name(type));
    return type;
}

void lay_out_sums(const struct scan_arguments *arguments, const struct input_file *input, const char *name, size_t rows,
                  struct table_layout *sums) {
    *sums = input->layout;
    sums->stored = (struct layout_stored){0};
    sums->delimiter = arguments->common.delimiter;
    sums->type = sum_type(arguments, input);
    if (__builtin_add_overflow(rows, arguments->offsets, &sums->shape[0]))
        die(EX_DATAERR, "%s: has more rows than can be counted with one more", name);
    if (!layout_finish(sums))
        die(EX_DATAERR, "%s: its sums as %s are beyond the address space", name, table_type_name(sums->type));
}

void say_one_row(const struct scan_arguments *arguments, const char *name, const struct table_layout *sums) {
    const bool has_more = arguments->state || arguments->carry_in || arguments->offsets || arguments->exclusive;
    if (sums->rows == 1 && sums->columns > 1 && !has_more && !arguments->common.quiet)
        message("%s: has one row, and sums go down the columns: those of its %zu columns are its values", name,
                sums->columns);
}

void *read_row(const char *path, table_type type, size_t columns) {
    struct input_file file;
    const struct input_request request = {.type = type, .columns = columns, .type_is_a_hint = true};
    const size_t bytes = columns * table_type_size(type);
    if (!path)
        return NULL;
    input_open(&file, path, &request);
    if (file.layout.type != type)
        die(EX_DATAERR, "%s: its type is %s, and the sums are %s", file.name, table_type_name(file.layout.type),
            table_type_name(type));
    if (file.layout.bytes != bytes)
        die(EX_DATAERR, "%s: has %zu values, and a row has %zu", file.name, file.layout.bytes / table_type_size(type),
            columns);
    void *const row = memory_for(file.name, bytes);
    memcpy(row, file.data, bytes);
    input_unchanged(&file);
    input_close(&file);
    return row;
}

void *row_above(const struct scan_arguments *arguments, struct state_file *state, const char *input, table_type type,
                size_t columns) {
    return arguments->state ? state_file_sums(state, input, TABLE_SUM, type, columns)
                            : read_row(arguments->carry_in, type, columns);
}
