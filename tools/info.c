/* tuplescan info: what is in a table file. */
#include <stdio.h>

#include <tuplescan/prefix_sum.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "state_file.h"
#include "table_io.h"

static const char help[] =
    "usage: tuplescan info FILE [--json] [--type T --columns C [--skip BYTES]] [--out-type T]\n"
    "\n"
    "Prints format, type and shape of a table file, and the type that its sums have. FILE may also be the state of a\n"
    "sum that goes on (scan --continue, append): its type, columns and rows.\n"
    "\n"
    "  --type, --columns, --skip, --input-format, --field, --member, --tensor, --delimiter,\n"
    "  --out-type, --memory\n"
    "                        as for scan\n"
    "  --json                print one object\n";

static void print_state(const struct state_file *file, bool json) {
    const table_state_facts *facts = &file->facts;
    if (!json) {
        printf("format      state of a sum, version %u\n", facts->version);
        printf("sums        %s\n", table_type_name(facts->type));
        printf("columns     %zu\n", facts->columns);
        printf("rows        %llu\n", (unsigned long long)facts->rows);
        if (facts->first_row != 0)
            printf("first row   %llu\n", (unsigned long long)facts->first_row);
        printf("bytes       %zu\n", file->bytes);
        return;
    }
    json_object(NULL);
    json_string("file", file->name);
    json_string("format", "state");
    json_size("version", facts->version);
    json_string("sum_type", table_type_name(facts->type));
    json_size("columns", facts->columns);
    json_size("rows", facts->rows);
    json_size("first_row", facts->first_row);
    json_size("bytes", file->bytes);
    json_end();
}

static int state_info(const struct arguments *arguments) {
    struct state_file file = STATE_FILE_NONE;
    const int code = state_file_read(&file, arguments->operands[0], false);
    if (code == EX_OK)
        print_state(&file, arguments->json);
    state_file_close(&file);
    return code;
}

static const char *order_text(const struct table_layout *layout) {
    return layout->stored.by_columns ? "column by column" : "row by row";
}

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
    json_string("byte_order", layout->stored.swapped ? "big" : "little");
    json_string("order", order_text(layout));
    json_string("sum_type", table_type_name(sums));
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
    if (layout->stored.swapped || layout->stored.by_columns)
        printf("stored      %s%s%s\n", layout->stored.swapped ? "big-endian" : "",
               layout->stored.swapped && layout->stored.by_columns ? ", " : "",
               layout->stored.by_columns ? order_text(layout) : "");
    printf("sums        %s\n", table_type_name(sums));
}

int info_main(int argc, char **argv) {
    struct arguments arguments;
    struct input_file file;
    table_type sums;
    int code = arguments_parse(&arguments, argc, argv, FOR_INFO, 1, help);
    if (code != GO_ON)
        return code;
    if (!arguments.input_format && state_file_recognise(arguments.operands[0]))
        return state_info(&arguments);
    code = start_input(&file, arguments.operands[0], arguments.out_type, NULL, &arguments);
    if (code == EX_OK)
        code = input_drain(&file);
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
