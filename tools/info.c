/* tuplescan info: describes a table file. */
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include <tuplescan/prefix_sum.h>

#include "commands.h"
#include "json.h"
#include "options/option.h"
#include "table_io.h"
#include "text/field.h"

static void print_state(const struct state_file *file, bool json) {
    const table_state_facts *facts = &file->facts;
    if (!json) {
        printf("format      state of a %s, version %u\n", table_operation_name(facts->operation), facts->version);
        printf("%-11s %s\n", facts->operation == TABLE_SUM ? "sums" : "results", table_type_name(facts->type));
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
    json_string("operation", table_operation_name(facts->operation));
    json_string("sum_type", table_type_name(facts->type));
    json_size("columns", facts->columns);
    json_size("rows", facts->rows);
    json_size("first_row", facts->first_row);
    json_size("bytes", file->bytes);
    json_end();
}

/* What a file says, without what a terminal would take for orders. */
static void print_name(const char *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        putchar((unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i]);
}

static void print_table_json(const char *name, size_t length, const struct table_layout *layout, const char *why) {
    json_object(NULL);
    json_text("name", name, length);
    json_string("type", layout ? table_type_name(layout->type) : NULL);
    if (layout)
        json_shape(layout);
    else
        json_string("unreadable", why);
    json_end();
}

static void print_table(void *context, const char *name, size_t length, const struct table_layout *layout,
                        const char *why) {
    const bool *const json = context;
    char shape[LAYOUT_SHAPE_TEXT];
    if (*json) {
        print_table_json(name, length, layout, why);
        return;
    }
    printf("table       ");
    print_name(name, length);
    if (layout)
        layout_shape_text(layout, shape);
    printf(": %s%s%s\n", layout ? table_type_name(layout->type) : why, layout ? " " : "", layout ? shape : "");
}

/* The tables of a file, if it has several; false, if it is a table. */
static bool list_tables(struct arguments *arguments) {
    struct input_field fields[BY_MOST];
    const struct input_request request = table_request(arguments, fields);
    const struct input_format *format;
    const char *path = arguments->inputs[0];
    const size_t count = input_tables(path, &request, NULL, NULL, &format);
    if (count <= 1)
        return false;
    if (arguments->json) {
        json_object(NULL);
        json_string("file", path);
        json_string("format", format->name);
        json_array("tables");
    } else {
        printf("format      %s\ntables      %zu\n", format->name, count);
    }
    input_tables(path, &request, print_table, &arguments->json, &format);
    if (arguments->json) {
        json_end();
        json_end();
    }
    return true;
}

/* The columns of a text that have names, or something else than numbers. */
static void print_columns(const struct input_file *file) {
    const char *names = file->layout.names;
    for (size_t i = 0; i < file->layout.columns && file->format->delimiter; i++) {
        const uint64_t line = input_text_other(file, i);
        size_t length;
        const char *name = text_next_name(&names, &length);
        if (!name && !line)
            continue;
        printf("column %-4zu ", i);
        print_name(name, length);
        if (line)
            printf("%sno number in line %llu", name ? ": " : "", (unsigned long long)line);
        putchar('\n');
    }
}

static void print_columns_json(const struct input_file *file) {
    const char *names = file->layout.names;
    json_array("column_names");
    for (size_t i = 0; i < file->layout.columns && names; i++) {
        size_t length;
        const char *name = text_next_name(&names, &length);
        json_text(NULL, name, length);
    }
    json_end();
    json_array("no_numbers");
    for (size_t i = 0; i < file->layout.columns; i++)
        if (input_text_other(file, i) > 0)
            json_size(NULL, i);
    json_end();
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
    json_shape(layout);
    json_size("rows", layout->rows);
    json_size("columns", layout->columns);
    json_size("bytes", layout->bytes);
    json_size("offset", layout->offset);
    json_string("byte_order", layout->stored.swapped ? "big" : "little");
    json_string("order", order_text(layout));
    json_string("sum_type", table_type_name(sums));
    if (file->format->delimiter)
        print_columns_json(file);
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
    print_columns(file);
}

int info_main(int argc, char **argv) {
    struct scan_arguments arguments = {.looks = true};
    struct input_file file;
    struct state_file state;
    options_parse(&options_of_info, &arguments, argc, argv);
    const char *path = arguments.common.inputs[0];
    if (!arguments.common.input_format && state_file_recognise(path)) {
        state_file_read(&state, path, false);
        print_state(&state, arguments.common.json);
        free(state.state);
    } else if (!list_tables(&arguments.common)) {
        start_input(&file, path, arguments.common.out_type, NULL, &arguments);
        input_drain(&file);
        const table_type sums = sum_type(&arguments, &file);
        input_unchanged(&file);
        (arguments.common.json ? print_json : print_text)(&file, sums);
        input_close(&file);
    }
    return EX_OK;
}
