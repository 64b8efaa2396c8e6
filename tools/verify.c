/* tuplescan verify: running sums held against the definition, one unit after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "serial_sums.h"
#include "state_file.h"
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
    "  --exclusive, --carry-in FILE, --type, --columns, --skip, --input-format, --field,\n"
    "  --member, --tensor, --delimiter\n"
    "                  as they were given to scan. They describe INPUT; SCANNED is a .npy, or raw without anything\n"
    "                  before its values\n"
    "  --continue STATE\n"
    "                  integers: the state that scan went on from, as it was before: a copy of it\n"
    "  --out-type T    of the sums in a raw SCANNED, if it was given to scan. Default: as for scan, i64 or u64 for\n"
    "                  integers\n"
    "  --output-format F\n"
    "                  npy, raw, csv, tsv or text, of SCANNED, whatever its name and its first bytes say\n"
    "  --memory BYTES  use at most so much at a time, as for scan\n"
    "  --json          print one object\n"
    "  -q, --quiet     print nothing but errors\n";

/* Bytes that are read at a time: few enough for the caches. */
enum { READ_BYTES = 1 << 20 };

struct difference {
    size_t row, column;
    char expected[VALUE_TEXT], found[VALUE_TEXT];
};

struct overflow {
    bool found;
    size_t row, column;
};

static int wrong_shape(const struct input_file *scanned, const struct input_file *input) {
    return fail(EX_DATAERR, "%s: has %zu x %zu values, and %s has %zu x %zu", scanned->name, scanned->layout.rows,
                scanned->layout.columns, input->name, input->layout.rows, input->layout.columns);
}

static int open_scanned(struct input_file *scanned, const char *path, const struct input_file *input,
                        const struct arguments *arguments) {
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    table_type type = arguments->out_type ? arguments->out_type : default_sum_type(in->type);
    struct input_request request = {.format = arguments->output_format,
                                    .type = type,
                                    .columns = in->columns,
                                    .type_is_a_hint = true,
                                    .delimiter = arguments->delimiter};
    int code = input_start(scanned, path, &request);
    if (code != EX_OK)
        return code;
    if (!table_types_supported(in->type, out->type) || (arguments->out_type && out->type != arguments->out_type))
        return fail(EX_DATAERR, "%s: its type is %s, and the sums of %s would be %s", scanned->name,
                    table_type_name(out->type), table_type_name(in->type),
                    arguments->out_type ? table_type_name(arguments->out_type) : sum_types_text(in->type));
    if (out->columns != in->columns || (input->rows_known && scanned->rows_known && out->rows != in->rows))
        return wrong_shape(scanned, input);
    return EX_OK;
}

/* Rows of both files that are held against each other at a time: whole units, or all rows of a smaller table. */
struct comparison {
    struct input_file *input, *scanned;
    struct serial_sums sums;
    size_t room; /* rows */
    char *values, *found;
    bool exclusive, differs;
    struct difference difference;
};

/* Memory for the rows, if it may be used. */
static int make_room(struct comparison *comparison, size_t most, const void *carry) {
    const struct table_layout *in = &comparison->input->layout, *out = &comparison->scanned->layout;
    const uint64_t rows = comparison->input->rows_known ? in->rows : UINT64_MAX;
    const size_t unit = rows < SERIAL_UNIT ? (size_t)rows : SERIAL_UNIT;
    size_t row, needed, own;
    if (!size_multiply(in->columns, table_type_size(in->type) + table_type_size(out->type), &row) ||
        !size_multiply(row, unit, &needed) || !serial_sums_bytes(out->type, rows, in->columns, &own) ||
        __builtin_add_overflow(needed, own, &needed) || needed > most)
        return fail(EX_OSERR,
                    "%s: out of memory: %zu rows of %zu columns and their sums are needed at a time, and "
                    "%zu bytes may be used; --memory says more",
                    comparison->input->name, unit, in->columns, most);
    const size_t units = unit > 0 && row * unit < READ_BYTES ? READ_BYTES / (row * unit) : 1;
    comparison->room = units * unit;
    comparison->values = malloc(comparison->room * row + 1);
    if (!serial_sums_begin(&comparison->sums, in->type, out->type, rows, in->columns, carry) || !comparison->values)
        return fail(EX_OSERR, "out of memory");
    comparison->found = comparison->values + comparison->room * in->columns * table_type_size(in->type);
    return EX_OK;
}

/* The next rows of both files; *rows: how many. */
static int read_rows(struct comparison *comparison, size_t *rows) {
    struct input_file *input = comparison->input, *scanned = comparison->scanned;
    const size_t in_row = input->layout.columns * table_type_size(input->layout.type);
    const size_t out_row = comparison->sums.row_bytes;
    size_t in_bytes = 0, out_bytes = 0;
    int code = input_read(input, comparison->values, comparison->room * in_row, &in_bytes);
    if (code == EX_OK)
        code = input_read(scanned, comparison->found, comparison->room * out_row, &out_bytes);
    *rows = in_bytes / in_row;
    if (code == EX_OK && *rows != out_bytes / out_row)
        code = fail(
            EX_DATAERR, "%s: has not as many rows as %s: after %llu rows, one of them ends", scanned->name, input->name,
            (unsigned long long)comparison->sums.row + (*rows < out_bytes / out_row ? *rows : out_bytes / out_row));
    return code;
}

/* Whether the rows of a unit differ, and where first. */
static void compare_unit(struct comparison *comparison, const char *found, size_t rows) {
    const struct serial_sums *sums = &comparison->sums;
    const char *expected = comparison->exclusive ? sums->above : sums->sums;
    if (memcmp(expected, found, rows * sums->row_bytes) == 0)
        return;
    for (size_t i = 0; i < rows; i++, expected += sums->row_bytes, found += sums->row_bytes) {
        const size_t column = row_difference(sums->type, expected, found, sums->columns);
        if (column == sums->columns)
            continue;
        const size_t at = column * table_type_size(sums->type);
        comparison->differs = true;
        comparison->difference = (struct difference){.row = (size_t)sums->row - rows + i, .column = column};
        value_text(sums->type, expected + at, comparison->difference.expected);
        value_text(sums->type, found + at, comparison->difference.found);
        return;
    }
}

static int compare(struct comparison *comparison) {
    const struct table_layout *in = &comparison->input->layout;
    const size_t in_row = in->columns * table_type_size(in->type);
    size_t rows = comparison->room;
    int code = EX_OK;
    while (code == EX_OK && rows == comparison->room && rows > 0 && !comparison->differs) {
        code = read_rows(comparison, &rows);
        for (size_t done = 0, count; code == EX_OK && done < rows && !comparison->differs; done += count) {
            count = rows - done < SERIAL_UNIT ? rows - done : SERIAL_UNIT;
            serial_sums_unit(&comparison->sums, comparison->values + done * in_row, count);
            compare_unit(comparison, comparison->found + done * comparison->sums.row_bytes, count);
        }
    }
    if (code == EX_OK && !comparison->differs)
        code = input_ends(comparison->input, comparison->input->taken);
    if (code == EX_OK && !comparison->differs)
        code = input_ends(comparison->scanned, comparison->scanned->taken);
    return code;
}

/* The first sum that has left its type, if one has before the difference. */
static struct overflow find_overflow(const struct comparison *comparison) {
    const struct serial_sums *sums = &comparison->sums;
    const uint64_t rows = comparison->difference.row + !comparison->exclusive;
    const bool found = sums->overflowed && (!comparison->differs || sums->overflow_row < rows);
    return (struct overflow){found, (size_t)sums->overflow_row, sums->overflow_column};
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

static int say(const struct arguments *arguments, const struct comparison *comparison) {
    const struct difference *difference = comparison->differs ? &comparison->difference : NULL;
    const struct overflow overflow = find_overflow(comparison);
    if (arguments->json)
        print_json(comparison->input, comparison->scanned, difference, &overflow);
    if (difference)
        return fail(EX_DATAERR, "%s: row %zu, column %zu: expected %s, found %s", comparison->scanned->name,
                    difference->row, difference->column, difference->expected, difference->found);
    if (!arguments->json && !arguments->quiet)
        print_text(comparison->input, comparison->scanned, &overflow);
    return EX_OK;
}

static int verify(const struct arguments *arguments, struct input_file *input, struct input_file *scanned,
                  const void *carry) {
    struct comparison comparison = {.input = input, .scanned = scanned, .exclusive = arguments->exclusive};
    int code = make_room(&comparison, memory_limit(arguments->memory), carry);
    if (code == EX_OK)
        code = compare(&comparison);
    if (code == EX_OK)
        code = input_unchanged(input);
    if (code == EX_OK)
        code = input_unchanged(scanned);
    if (code == EX_OK)
        code = say(arguments, &comparison);
    serial_sums_end(&comparison.sums);
    free(comparison.values);
    return code;
}

/* What came above the rows. Of floats that is more than one row of sums, which are not known here: they could only be
 * believed. */
static int read_start(const struct arguments *arguments, const struct input_file *scanned, void **carry) {
    const struct table_layout *sums = &scanned->layout;
    table_state_facts facts;
    if (!arguments->state)
        return read_row(arguments->carry_in, sums->type, sums->columns, carry);
    if (arguments->carry_in)
        return fail(EX_USAGE, "--carry-in and --continue: only one of them");
    const int code = state_file_sums(arguments->state, scanned->name, sums->type, sums->columns, &facts, carry);
    if (code == EX_OK && facts.rows > 0 && type_is_float(sums->type))
        return fail(EX_USAGE,
                    "--continue %s: sums of floats go on from more than one row, which is nothing to verify them by: "
                    "verify all parts as one table",
                    arguments->state);
    return code;
}

int verify_main(int argc, char **argv) {
    struct arguments arguments;
    struct input_file input = {0}, scanned = {0};
    void *carry = NULL;
    int code = arguments_parse(&arguments, argc, argv, FOR_VERIFY, 2, help);
    if (code != GO_ON)
        return code;
    code = start_input(&input, arguments.operands[0], &arguments);
    if (code == EX_OK)
        code = open_scanned(&scanned, arguments.operands[1], &input, &arguments);
    if (code == EX_OK)
        code = read_start(&arguments, &scanned, &carry);
    if (code == EX_OK)
        code = verify(&arguments, &input, &scanned, carry);
    input_close(&input);
    input_close(&scanned);
    free(carry);
    return code;
}
