/* tuplescan info: what is in a table file. */
#include <stdio.h>

#include <tuplescan/prefix_sum.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "table_io.h"

static const char help[] =
    "usage: tuplescan info FILE [--json] [--type T --columns C [--skip BYTES]] [--out-type T]\n"
    "\n"
    "Prints format, type and shape of a table file, and the rows of a chunk: tables cut at multiples of that and\n"
    "scanned piece by piece (--carry-out, --carry-in) have the same float sums, bit for bit, as the whole.\n"
    "\n"
    "  --type, --columns, --skip, --input-format, --out-type   as for scan\n"
    "  --json                                                  print one object\n";

static void print_json(const struct input_file *file, table_type sums) {
    const struct table_layout *layout = &file->layout;
    json_object(NULL);
    json_string("file", file->name);
    json_string("format", file->format->name);
    json_string("type", table_type_name(layout->type));
    json_array("shape");
    for (unsigned i = 0; i < layout->dimensions; i++)
        json_size(NULL, layout->shape[i]);
    json_end();
    json_size("rows", layout->rows);
    json_size("columns", layout->columns);
    json_size("bytes", layout->bytes);
    json_size("offset", layout->offset);
    json_string("sum_type", table_type_name(sums));
    json_size("chunk_rows", table_chunk_rows(sums, layout->columns));
    json_end();
}

static void print_text(const struct input_file *file, table_type sums) {
    const struct table_layout *layout = &file->layout;
    char shape[LAYOUT_SHAPE_TEXT];
    layout_shape_text(layout, shape);
    printf("format      %s\n", file->format->name);
    printf("type        %s\n", table_type_name(layout->type));
    printf("shape       %s\n", shape);
    printf("rows        %zu\n", layout->rows);
    printf("columns     %zu\n", layout->columns);
    printf("bytes       %zu, from byte %zu on\n", layout->bytes, layout->offset);
    printf("sums        %s\n", table_type_name(sums));
    printf("chunk rows  %zu\n", table_chunk_rows(sums, layout->columns));
}

int info_main(int argc, char **argv) {
    struct arguments arguments;
    struct input_file file;
    table_type sums;
    int code = arguments_parse(&arguments, argc, argv, FOR_INFO, 1, help);
    if (code != GO_ON)
        return code;
    code = open_input(&file, arguments.operands[0], &arguments, false);
    if (code == EX_OK)
        code = sum_type(&arguments, &file, &sums);
    if (code == EX_OK)
        code = input_unchanged(&file);
    if (code == EX_OK && arguments.json)
        print_json(&file, sums);
    else if (code == EX_OK)
        print_text(&file, sums);
    input_close(&file);
    return code;
}
