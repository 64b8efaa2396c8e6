/* tuplescan sum: what running sums are for. Only the two rows that are needed are read of a regular file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "table_io.h"
#include "values.h"

static const char help[] =
    "usage: tuplescan sum SCANNED --rows A:B [options]\n"
    "\n"
    "Prints the column sums of the rows A to B - 1 of the table that SCANNED holds the running sums of, one line for\n"
    "each column, by one subtraction each. A: is to the end, :B is from the beginning. Integers are exact as long as\n"
    "the sum itself fits in their type, though the running sums have wrapped. Standard error says that they have\n"
    "where the two rows show it, and for unsigned sums from row 0 on, whose rows up to B are read for that; `verify`\n"
    "always finds it.\n"
    "Floats are as exact as the running sums are.\n"
    "\n"
    "  --exclusive           SCANNED was made with --exclusive\n"
    "  --carry-in FILE       the one that scan was given, if it was: needed when A is 0, unless exclusive\n"
    "  --carry-out FILE      the one that scan wrote: needed with --exclusive when B is the number of rows\n"
    "  --type, --columns, --skip, --input-format\n"
    "                        describe a raw SCANNED\n"
    "  --memory BYTES        use at most so much for what cannot be done piece by piece. Default: all there is\n"
    "  --json                print one object\n"
    "\n"
    "example:\n"
    "  tuplescan sum sums.npy --rows 1000:2000\n";

/* *sums = the sums of all rows before `row`, as what sums are kept in: a row of SCANNED, which may begin at an odd
 * address, or one of the carries at the ends. NULL: zeros. free() it. */
static int row_before(const struct input_file *scanned, const struct arguments *arguments, size_t row, void **sums) {
    const struct table_layout *layout = &scanned->layout;
    const table_type type = table_sum_type(layout->type);
    size_t row_bytes = layout->columns * table_type_size(layout->type);
    bool at_end = arguments->exclusive && row == layout->rows, at_start = !arguments->exclusive && row == 0;
    if (at_end && !arguments->carry_out)
        return fail(EX_USAGE,
                    "%s: being exclusive, it lacks the sums through its last row; --carry-out says where they are",
                    scanned->name);
    if (at_start || at_end)
        return read_row(at_end ? arguments->carry_out : arguments->carry_in, type, layout->columns, sums);
    void *results = memory_allocate(row_bytes);
    *sums = memory_allocate(layout->columns * table_type_size(type));
    if (*sums && results) {
        memcpy(results, (const char *)scanned->data + (arguments->exclusive ? row : row - 1) * row_bytes, row_bytes);
        row_convert(layout->type, results, type, *sums, layout->columns);
    }
    const bool made = *sums && results;
    free(results);
    return made ? EX_OK : fail(EX_OSERR, "out of memory");
}

/* wrapped: the first column whose running sums are seen to have wrapped, or the number of columns. */
static void print(const struct input_file *scanned, const struct arguments *arguments, const char *sums,
                  size_t wrapped) {
    const struct table_layout *layout = &scanned->layout;
    const table_type type = table_sum_type(layout->type);
    const size_t size = table_type_size(type);
    if (arguments->json) {
        json_object(NULL);
        json_string("scanned", scanned->name);
        json_size("from", arguments->rows_from);
        json_size("to", arguments->rows_to);
        json_string("type", table_type_name(type));
        json_array("sums");
        for (size_t j = 0; j < layout->columns; j++)
            json_value(NULL, type, sums + j * size);
        json_end();
        if (wrapped < layout->columns)
            json_size("wrapped_column", wrapped);
        else
            json_null("wrapped_column");
        json_end();
        return;
    }
    for (size_t j = 0; j < layout->columns; j++) {
        char text[VALUE_TEXT];
        value_text(type, sums + j * size, text);
        puts(text);
    }
}

/* The column, or else the number of columns, in which running sums of unsigned values go down somewhere in the first
 * `rows` rows of sums, which only those do that wrap. */
static size_t wrapped_from_the_top(const struct input_file *scanned, size_t rows) {
    const struct table_layout *layout = &scanned->layout;
    const size_t row_bytes = layout->columns * table_type_size(layout->type);
    const char *row = scanned->data;
    size_t wrapped = layout->columns;
    if (layout->type != TABLE_U32 && layout->type != TABLE_U64)
        return wrapped;
    for (size_t i = 1; i < rows && i < layout->rows && wrapped == layout->columns; i++, row += row_bytes)
        wrapped = row_overflow(layout->type, row, row + row_bytes, layout->columns);
    return wrapped;
}

static int subtract_and_print(const struct input_file *scanned, const struct arguments *arguments) {
    const struct table_layout *layout = &scanned->layout;
    const table_type type = table_sum_type(layout->type);
    const size_t row_bytes = layout->columns * table_type_size(type);
    size_t wrapped = layout->columns;
    void *from = NULL, *to = NULL;
    char *sums = memory_allocate(row_bytes);
    int code = sums ? EX_OK : fail(EX_OSERR, "out of memory");
    if (code == EX_OK)
        memset(sums, 0, row_bytes);
    if (code == EX_OK && arguments->rows_from < arguments->rows_to) {
        code = row_before(scanned, arguments, arguments->rows_from, &from);
        if (code == EX_OK)
            code = row_before(scanned, arguments, arguments->rows_to, &to);
        if (code == EX_OK) {
            wrapped = from ? row_overflow(type, from, to, layout->columns)
                           : wrapped_from_the_top(scanned, arguments->rows_to + arguments->exclusive);
            row_subtract(type, sums, to, from ? from : sums, layout->columns);
        }
    }
    if (code == EX_OK)
        code = input_unchanged(scanned);
    if (code == EX_OK)
        print(scanned, arguments, sums, wrapped);
    if (code == EX_OK && wrapped < layout->columns)
        message("%s: column %zu: the running sums have wrapped, or their difference has: what is printed is right only "
                "if it fits in %s",
                scanned->name, wrapped, table_type_name(layout->type));
    free(from);
    free(to);
    free(sums);
    return code;
}

int sum_main(int argc, char **argv) {
    struct arguments arguments;
    struct input_file scanned = {0};
    int code = arguments_parse(&arguments, argc, argv, FOR_SUM, 1, help);
    if (code != GO_ON)
        return code;
    if (!arguments.has_rows)
        return fail(EX_USAGE, "--rows A:B is missing");
    code = open_input(&scanned, arguments.operands[0], &arguments, false);
    const struct table_layout *layout = &scanned.layout;
    if (code == EX_OK && arguments.rows_to == SIZE_MAX)
        arguments.rows_to = layout->rows;
    if (code == EX_OK && (arguments.rows_from > layout->rows || arguments.rows_to > layout->rows))
        code = fail(EX_USAGE, "--rows %zu:%zu: %s has %zu rows", arguments.rows_from, arguments.rows_to, scanned.name,
                    layout->rows);
    if (code == EX_OK && !table_types_supported(layout->type, layout->type))
        code = fail(EX_DATAERR, "%s: its type is %s, which is not one of running sums", scanned.name,
                    table_type_name(layout->type));
    if (code == EX_OK)
        code = subtract_and_print(&scanned, &arguments);
    input_close(&scanned);
    return code;
}
