#include "table_io.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "message.h"
#include "values.h"

int check_outputs(const struct arguments *arguments, const char *option, const char *second) {
    const char *printed = arguments->json ? "--json" : arguments->plot ? "--plot" : NULL;
    const char *paths[] = {arguments->output, second}, *const options[] = {"-o", option};
    if (second && strcmp(second, "-") == 0)
        return fail(EX_USAGE, "%s - is not possible: it needs a file", option);
    if (second && atomic_file_same(arguments->output, second))
        return fail(EX_USAGE, "%s and -o name the same file", option);
    for (unsigned i = 0; i < 2 && paths[i]; i++) {
        if (printed && atomic_file_same(paths[i], "-"))
            return fail(EX_USAGE, "%s and %s %s both want standard output", printed, options[i], paths[i]);
        int code = atomic_file_check(paths[i], arguments->force);
        if (code != EX_OK)
            return code;
    }
    return EX_OK;
}

int open_input(struct input_file *file, const char *path, const struct arguments *arguments, bool whole) {
    struct input_request request = {.format = arguments->input_format,
                                    .type = arguments->type,
                                    .columns = arguments->columns,
                                    .skip = arguments->skip,
                                    .whole = whole};
    return input_open(file, path, &request);
}

int sum_type(const struct arguments *arguments, const struct input_file *input, table_type *type) {
    table_type in = input->layout.type;
    *type = arguments->out_type ? arguments->out_type : default_sum_type(in);
    if (!table_types_supported(in, *type))
        return fail(EX_USAGE, "%s: %s cannot be summed into %s, only into %s", input->name, table_type_name(in),
                    table_type_name(*type), sum_types_text(in));
    return EX_OK;
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
    input_close(&file);
    return code;
}

int write_header(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout) {
    char header[OUTPUT_HEADER];
    size_t bytes = format->header(layout, header);
    return atomic_file_write(file, header, bytes);
}

double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
