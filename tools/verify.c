/* tuplescan verify: running sums held against the definition, one row after the other. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "serial_sums.h"
#include "table_io.h"
#include "values.h"

static const char help[] =
    "usage: tuplescan verify INPUT SCANNED [options]\n"
    "\n"
    "Calculates the running sums of INPUT serially, straight from their definition and without the library's scan, "
    "and\n"
    "compares those in SCANNED with them: floats bit for bit (except that any NaN is as good as another). Exits with "
    "65\n"
    "and names the first row and column that is wrong. Integers wrap by definition: sums that are right although\n"
    "they have left their type are said to have wrapped, from which row and column of INPUT on.\n"
    "\n"
    "  --exclusive, --carry-in FILE, --type, --columns, --skip, --input-format\n"
    "                  as they were given to scan. They describe INPUT; SCANNED is a .npy, or raw without anything\n"
    "                  before its values\n"
    "  --out-type T    of the sums in a raw SCANNED, if it was given to scan. Default: as for scan, i64 or u64 for\n"
    "                  integers\n"
    "  --output-format F\n"
    "                  npy or raw, of SCANNED, whatever its name and its first bytes say\n"
    "  --json          print one object\n"
    "  -q, --quiet     print nothing but errors\n";

struct difference {
    size_t row, column;
    char expected[VALUE_TEXT], found[VALUE_TEXT];
};

struct overflow {
    bool found;
    size_t row, column;
};

static int open_scanned(struct input_file *scanned, const char *path, const struct input_file *input,
                        const struct arguments *arguments) {
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    table_type type = arguments->out_type ? arguments->out_type : default_sum_type(in->type);
    struct input_request request = {.format = arguments->output_format,
                                    .type = type,
                                    .columns = in->columns,
                                    .type_is_a_hint = true,
                                    .whole = true};
    int code = input_open(scanned, path, &request);
    if (code != EX_OK)
        return code;
    if (!table_types_supported(in->type, out->type) || (arguments->out_type && out->type != arguments->out_type))
        return fail(EX_DATAERR, "%s: its type is %s, and the sums of %s would be %s", scanned->name,
                    table_type_name(out->type), table_type_name(in->type),
                    arguments->out_type ? table_type_name(arguments->out_type) : sum_types_text(in->type));
    if (out->rows != in->rows || out->columns != in->columns)
        return fail(EX_DATAERR, "%s: has %zu x %zu values, and %s has %zu x %zu", scanned->name, out->rows,
                    out->columns, input->name, in->rows, in->columns);
    return EX_OK;
}

/* Whether there is a difference; -1 when out of memory. *overflow is the first sum that has left its type, if one has
 * before the difference. */
static int find_difference(const struct input_file *input, const struct input_file *scanned, const void *carry,
                           bool exclusive, struct difference *difference, struct overflow *overflow) {
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    size_t in_row = in->columns * table_type_size(in->type), size = table_type_size(out->type);
    struct serial_sums sums;
    int found = serial_sums_begin(&sums, in->type, out->type, in->columns, carry) ? 0 : -1;
    for (size_t i = 0; i < in->rows && found == 0; i++) {
        const char *row = (const char *)scanned->data + i * out->columns * size;
        if (!exclusive)
            serial_sums_next(&sums, (const char *)input->data + i * in_row);
        size_t j = row_difference(out->type, sums.sum, row, in->columns);
        if (j < in->columns) {
            found = 1;
            difference->row = i;
            difference->column = j;
            value_text(out->type, sums.sum + j * size, difference->expected);
            value_text(out->type, row + j * size, difference->found);
        }
        if (exclusive)
            serial_sums_next(&sums, (const char *)input->data + i * in_row);
    }
    *overflow = (struct overflow){sums.overflowed, sums.overflow_row, sums.overflow_column};
    serial_sums_end(&sums);
    return found;
}

static void print_json(const struct input_file *input, const struct input_file *scanned,
                       const struct difference *difference, const struct overflow *overflow) {
    json_object(NULL);
    json_string("input", input->name);
    json_string("scanned", scanned->name);
    json_size("rows", scanned->layout.rows);
    json_size("columns", scanned->layout.columns);
    json_string("in_type", table_type_name(input->layout.type));
    json_string("out_type", table_type_name(scanned->layout.type));
    json_bool("equal", !difference);
    if (difference) {
        json_object("first_difference");
        json_size("row", difference->row);
        json_size("column", difference->column);
        json_string("expected", difference->expected);
        json_string("found", difference->found);
        json_end();
    } else {
        json_null("first_difference");
    }
    if (overflow->found) {
        json_object("overflow");
        json_size("row", overflow->row);
        json_size("column", overflow->column);
        json_end();
    } else {
        json_null("overflow");
    }
    json_end();
}

static void print_text(const struct input_file *input, const struct input_file *scanned,
                       const struct overflow *overflow) {
    const char *type = table_type_name(scanned->layout.type);
    printf("%s: all %zu x %zu sums are right (%s -> %s)", scanned->name, scanned->layout.rows, scanned->layout.columns,
           table_type_name(input->layout.type), type);
    if (overflow->found)
        printf(", and have wrapped: row %zu, column %zu is the first whose sum does not fit in %s", overflow->row,
               overflow->column, type);
    putchar('\n');
}

static int verify(const struct arguments *arguments, const struct input_file *input, const struct input_file *scanned,
                  const void *carry) {
    struct difference difference;
    struct overflow overflow;
    int found = find_difference(input, scanned, carry, arguments->exclusive, &difference, &overflow);
    if (found < 0)
        return fail(EX_OSERR, "out of memory");
    int code = input_unchanged(input);
    if (code == EX_OK)
        code = input_unchanged(scanned);
    if (code != EX_OK)
        return code;
    if (arguments->json)
        print_json(input, scanned, found ? &difference : NULL, &overflow);
    if (found)
        return fail(EX_DATAERR, "%s: row %zu, column %zu: expected %s, found %s", scanned->name, difference.row,
                    difference.column, difference.expected, difference.found);
    if (!arguments->json && !arguments->quiet)
        print_text(input, scanned, &overflow);
    return EX_OK;
}

int verify_main(int argc, char **argv) {
    struct arguments arguments;
    struct input_file input = {0}, scanned = {0};
    void *carry = NULL;
    int code = arguments_parse(&arguments, argc, argv, FOR_VERIFY, 2, help);
    if (code != GO_ON)
        return code;
    code = open_input(&input, arguments.operands[0], &arguments, true);
    if (code == EX_OK)
        code = open_scanned(&scanned, arguments.operands[1], &input, &arguments);
    if (code == EX_OK)
        code = read_row(arguments.carry_in, scanned.layout.type, scanned.layout.columns, &carry);
    if (code == EX_OK)
        code = verify(&arguments, &input, &scanned, carry);
    input_close(&input);
    input_close(&scanned);
    free(carry);
    return code;
}
