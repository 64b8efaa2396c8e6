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

int check_is_no_input(const struct arguments *arguments, const char *option, const char *output) {
    struct argument_input input = arguments_input(arguments, 0);
    for (unsigned i = 0; input.is_one; input = arguments_input(arguments, ++i))
        if (input.path && output_path_is_input(output, input.path))
            return fail(EX_USAGE, "%s %s: is the file of %s%s, which is read; write to another one", option, output,
                        input.dashes, input.name);
    return EX_OK;
}

static int check_name(const char *option, const char *path, const char *way_out) {
    const char *other = output_other_format(path);
    if (!other)
        return EX_OK;
    return fail(EX_USAGE,
                "%s %s: %s is no format that is written here; there are .npy, .bin or .raw for raw values, .csv, .tsv "
                "and .txt%s",
                option, path, other, way_out);
}

int check_outputs(const struct arguments *arguments, const char *printed, const char *option, const char *second) {
    if (arguments->json)
        printed = "--json";
    const char *paths[] = {arguments->output, second}, *const options[] = {"-o", option};
    if (second && output_path_descriptor(second) == STDOUT_FILENO)
        return fail(EX_USAGE, "%s %s is standard output, and it needs a file", option, second);
    if (second && arguments->output && output_path_same(arguments->output, second))
        return fail(EX_USAGE, "%s and -o name the same file", option);
    for (unsigned i = 0; i < 2; i++) {
        if (!paths[i])
            continue;
        if (printed && output_path_same(paths[i], "-"))
            return fail(EX_USAGE, "%s and %s %s both want standard output", printed, options[i], paths[i]);
        int code = check_is_no_input(arguments, options[i], paths[i]);
        if (code == EX_OK && (i > 0 || !arguments->output_format))
            code = check_name(options[i], paths[i], i == 0 ? ", and --output-format" : "");
        if (code == EX_OK)
            code = output_path_check(paths[i], arguments->force);
        if (code != EX_OK)
            return code;
    }
    return EX_OK;
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

int start_input(struct input_file *file, const char *path, table_type like, struct text_beside *beside,
                const struct scan_arguments *arguments) {
    struct input_field fields[BY_MOST];
    struct input_request request = table_request(&arguments->common, fields);
    request.looks = arguments->looks;
    request.kept = arguments->to || arguments->looks ? NULL : arguments->common.kept.list; /* NULL: no --keep */
    request.kept_count = arguments->common.kept.count;
    request.like = like;
    request.gaps = arguments->skip_nan;
    request.beside = beside;
    const int code = input_start(file, path, &request);
    return code != EX_OK || file->format->delimiter || arguments->common.kept.count == 0
               ? code
               : fail(EX_USAGE, "%s: is no text, and --keep is for fields of text", file->name);
}

int sum_type(const struct scan_arguments *arguments, const struct input_file *input, table_type *type) {
    table_type in = input->layout.type;
    const bool is_extreme = arguments->operation == TABLE_MAXIMUM || arguments->operation == TABLE_MINIMUM;
    *type = arguments->common.out_type ? arguments->common.out_type : is_extreme ? in : default_sum_type(in);
    if (arguments->operation != TABLE_SUM && !table_operation_supported(arguments->operation, in, *type))
        return fail(EX_USAGE, "%s: %s: there is no %s of %s as %s",
                    arguments->operation != TABLE_RECURRENCE ? "--operation"
                    : arguments->decay                       ? "--decay"
                                                             : "--decay-file",
                    input->name, table_operation_name(arguments->operation), table_type_name(in),
                    table_type_name(*type));
    if (arguments->operation == TABLE_PRODUCT && arguments->offsets && type_is_float(*type))
        return fail(EX_USAGE, "--offsets: %s: is not for products of floats, and these are %s", input->name,
                    table_type_name(*type));
    if (arguments->operation == TABLE_SUM && !table_types_supported(in, *type))
        return fail(EX_USAGE, "%s: %s cannot be summed into %s, only into %s", input->name, table_type_name(in),
                    table_type_name(*type), sum_types_text(in));
    const bool floats = type_is_float(*type);
    if (arguments->wrap && is_extreme)
        return fail(EX_USAGE, "--wrap is for sums and products, and no %s leaves its type",
                    table_operation_name(arguments->operation));
    if (arguments->wrap && floats)
        return fail(EX_USAGE, "--wrap is for integers, and the sums are %s", table_type_name(*type));
    if (arguments->skip_nan && !floats)
        return fail(EX_USAGE, "--skip-nan is for floats, and the sums are %s", table_type_name(*type));
    return EX_OK;
}

int lay_out_sums(const struct scan_arguments *arguments, const struct input_file *input, const char *name, size_t rows,
                 struct table_layout *sums) {
    *sums = input->layout;
    sums->stored = (struct layout_stored){0};
    sums->delimiter = arguments->common.delimiter;
    const int code = sum_type(arguments, input, &sums->type);
    if (code != EX_OK)
        return code;
    if (__builtin_add_overflow(rows, arguments->offsets, &sums->shape[0]))
        return fail(EX_DATAERR, "%s: has more rows than can be counted with one more", name);
    return layout_finish(sums)
               ? EX_OK
               : fail(EX_DATAERR, "%s: its sums as %s are beyond the address space", name, table_type_name(sums->type));
}

void say_one_row(const struct scan_arguments *arguments, const char *name, const struct table_layout *sums) {
    const bool has_more = arguments->state || arguments->carry_in || arguments->offsets || arguments->exclusive;
    if (sums->rows == 1 && sums->columns > 1 && !has_more && !arguments->common.quiet)
        message("%s: has one row, and sums go down the columns: those of its %zu columns are its values", name,
                sums->columns);
}

static int copy_row(const struct input_file *file, table_type type, size_t columns, void **row) {
    const struct table_layout *layout = &file->layout;
    if (layout->type != type)
        return fail(EX_DATAERR, "%s: its type is %s, and the sums are %s", file->name, table_type_name(layout->type),
                    table_type_name(type));
    size_t bytes = columns * table_type_size(type);
    if (layout->bytes != bytes)
        return fail(EX_DATAERR, "%s: has %zu values, and a row has %zu", file->name,
                    layout->bytes / table_type_size(type), columns);
    *row = memory_allocate(bytes);
    if (!*row)
        return fail(EX_OSERR, "%s: out of memory", file->name);
    memcpy(*row, file->data, bytes);
    return EX_OK;
}

int read_row(const char *path, table_type type, size_t columns, void **row) {
    struct input_file file;
    struct input_request request = {.type = type, .columns = columns, .type_is_a_hint = true};
    *row = NULL;
    if (!path)
        return EX_OK;
    int code = input_open(&file, path, &request);
    if (code == EX_OK)
        code = copy_row(&file, type, columns, row);
    if (code == EX_OK)
        code = input_unchanged(&file);
    input_close(&file);
    return code;
}
