/* tuplescan verify: running sums held against the definition, one unit after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input/start.h"
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
    "  --exclusive, --reverse, --offsets, --skip-nan, --carry-in FILE, --type, --columns, --skip, --input-format,\n"
    "  --field, --member, --tensor, --delimiter\n"
    "                  as they were given to scan. They describe INPUT; SCANNED is a .npy, or raw without anything\n"
    "                  before its values\n"
    "  --continue STATE\n"
    "                  the state that scan went on from, as it was before: a copy of it\n"
    "  --out-type T    of the sums in a raw SCANNED, if it was given to scan. Default: as for scan, i64 or u64 for\n"
    "                  integers\n"
    "  --output-format F\n"
    "                  npy, raw, csv, tsv or text, of SCANNED, whatever its name and its first bytes say\n"
    "  --memory BYTES  use at most so much at a time, as for scan\n"
    "  --json          print one object\n"
    "  --no-progress   do not show on a terminal how far it is, after a second\n"
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
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    if (!input->rows_known || !scanned->rows_known) /* then it is the columns */
        return fail(EX_DATAERR, "%s: has %zu columns, and %s has %zu", scanned->name, out->columns, input->name,
                    in->columns);
    return fail(EX_DATAERR, "%s: has %zu x %zu values, and %s has %zu x %zu", scanned->name, out->rows, out->columns,
                input->name, in->rows, in->columns);
}

static int open_scanned(struct input_file *scanned, const char *path, const struct input_file *input,
                        const struct arguments *arguments) {
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    table_type type = arguments->out_type ? arguments->out_type : default_sum_type(in->type);
    struct input_request request = {.format = arguments->output_format,
                                    .type = type,
                                    .columns = in->columns,
                                    .type_is_a_hint = true,
                                    .memory = memory_there(arguments->memory),
                                    .delimiter = arguments->delimiter};
    int code = input_start(scanned, path, &request);
    if (code != EX_OK)
        return code;
    if (!table_types_supported(in->type, out->type) || (arguments->out_type && out->type != arguments->out_type))
        return fail(EX_DATAERR, "%s: its type is %s, and the sums of %s would be %s", scanned->name,
                    table_type_name(out->type), table_type_name(in->type),
                    arguments->out_type ? table_type_name(arguments->out_type) : sum_types_text(in->type));
    if (out->columns != in->columns ||
        (input->rows_known && scanned->rows_known && out->rows != in->rows + arguments->offsets))
        return wrong_shape(scanned, input);
    return EX_OK;
}

/* Rows of both files that are held against each other at a time: whole units, or all rows of a smaller table. */
struct comparison {
    struct input_file *input, *scanned;
    struct serial_sums sums;
    size_t room; /* rows */
    char *values, *found;
    char *rounded;     /* results of a unit */
    char *spare;       /* a row of either file */
    size_t out_row;    /* bytes of it */
    const void *carry; /* sums of what was summed before; NULL: nothing was */
    bool exclusive, reverse, offsets, differs;
    struct difference difference;
    struct progress progress;
    uint64_t counted; /* the row of the difference, from the first one that was summed */
};

/* Whether rows can be read from the last one on. */
static bool can_go_back(const struct input_file *file) { return input_can_seek(file) && !file->text; }

/* From the end, where that is has to be known: what does not say it is brought into memory. */
static int find_end(const struct comparison *comparison, struct memory_budget *budget) {
    struct input_file *const files[] = {comparison->input, comparison->scanned};
    for (unsigned i = 0; i < 2; i++) {
        const int code =
            files[i]->rows_known ? EX_OK : input_take_all(files[i], memory_left(budget), "--reverse begins at its end");
        if (code != EX_OK)
            return code;
        budget->used += files[i]->is_taken ? files[i]->head_bytes : 0;
    }
    return files[1]->layout.rows == files[0]->layout.rows + comparison->offsets ? EX_OK
                                                                                : wrong_shape(files[1], files[0]);
}

/* Memory for the rows, if it may be used. */
static int make_room(struct comparison *comparison, size_t most, const struct state_file *state) {
    const struct table_layout *in = &comparison->input->layout, *out = &comparison->scanned->layout;
    const uint64_t above = state ? state->facts.rows : 0;
    const uint64_t rows = comparison->input->rows_known ? above + in->rows : UINT64_MAX;
    const size_t unit = rows == 0 ? 1 : rows < SERIAL_UNIT ? (size_t)rows : SERIAL_UNIT; /* SCANNED may have more */
    const size_t out_row = out->columns * table_type_size(out->type);
    size_t row, needed, own;
    if (!size_multiply(in->columns, table_type_size(in->type) + table_type_size(out->type), &row) ||
        !size_multiply(row, unit, &needed) || !serial_sums_bytes(out->type, rows, in->columns, &own) ||
        __builtin_add_overflow(needed, own, &needed) || __builtin_add_overflow(needed, unit * out_row, &needed) ||
        needed > most)
        return fail(EX_OSERR,
                    "%s: out of memory: %zu rows of %zu columns and their sums are needed at a time, and "
                    "%zu bytes may be used; --memory says more",
                    comparison->input->name, unit, in->columns, most);
    const size_t units = row * unit > 0 && row * unit < READ_BYTES ? READ_BYTES / (row * unit) : 1;
    comparison->room = units * unit;
    if (comparison->reverse && !(can_go_back(comparison->input) && can_go_back(comparison->scanned))) {
        if (in->rows > 0 && row > most / in->rows)
            return fail(EX_OSERR, "%s: out of memory: all rows are needed at once with --reverse; --memory says more",
                        comparison->input->name);
        comparison->room = in->rows;
    }
    comparison->out_row = out_row;
    comparison->values = malloc(comparison->room * row + 1);
    comparison->rounded = malloc(unit * out_row + out_row + 1);
    comparison->spare = malloc(row + 1);
    if (!serial_sums_begin(&comparison->sums, in->type, out->type, rows, in->columns, comparison->carry) ||
        !comparison->values || !comparison->rounded || !comparison->spare)
        return fail(EX_OSERR, "out of memory");
    if (state)
        serial_sums_go_on(&comparison->sums, state->state);
    comparison->found = comparison->values + comparison->room * in->columns * table_type_size(in->type);
    return EX_OK;
}

/* Rows in the other order. */
static void turn(char *rows, size_t count, size_t row_bytes, char *spare) {
    for (size_t i = 0; i < count / 2; i++) {
        char *const a = rows + i * row_bytes, *const b = rows + (count - 1 - i) * row_bytes;
        memcpy(spare, a, row_bytes);
        memcpy(a, b, row_bytes);
        memcpy(b, spare, row_bytes);
    }
}

/* To the rows above those that were compared; *rows: how many, at most. */
static int go_up(const struct comparison *comparison, size_t *rows) {
    const size_t left = comparison->input->layout.rows - (size_t)comparison->sums.row;
    *rows = *rows < left ? *rows : left;
    const int code = input_go_to(comparison->input, left - *rows);
    return code == EX_OK ? input_go_to(comparison->scanned, left - *rows) : code;
}

/* Behind the rows, where the row of offsets may be. */
static int go_behind(const struct comparison *comparison) {
    const size_t rows = comparison->input->layout.rows;
    const int code = input_go_to(comparison->input, rows);
    return code == EX_OK ? input_go_to(comparison->scanned, rows) : code;
}

/* The next rows of both files, to the end of a unit; *rows: how many; *more: whether there may be more. */
static int read_rows(struct comparison *comparison, size_t *rows, bool *more) {
    struct input_file *input = comparison->input, *scanned = comparison->scanned;
    const size_t in_row = input->layout.columns * table_type_size(input->layout.type);
    const size_t out_row = comparison->out_row;
    const size_t begun = SERIAL_UNIT - serial_sums_next(&comparison->sums);
    size_t in_bytes = 0, out_bytes = 0, room = comparison->room;
    room -= room > begun ? begun : 0;
    int code = comparison->reverse ? go_up(comparison, &room) : EX_OK;
    if (code == EX_OK)
        code = input_read(input, comparison->values, room * in_row, &in_bytes);
    if (code == EX_OK)
        code = input_read(scanned, comparison->found, room * out_row, &out_bytes);
    *rows = in_bytes / in_row;
    *more = *rows == room && *rows > 0;
    if (code == EX_OK && *rows != out_bytes / out_row)
        code = fail(
            EX_DATAERR, "%s: has not as many rows as %s: after %llu rows, one of them ends", scanned->name, input->name,
            (unsigned long long)comparison->sums.row + (*rows < out_bytes / out_row ? *rows : out_bytes / out_row));
    if (code == EX_OK && comparison->reverse) {
        turn(comparison->values, *rows, in_row, comparison->spare);
        turn(comparison->found, *rows, out_row, comparison->spare);
    }
    return code;
}

/* Whether a row of results differs from the sums it should be, and where first. `place`: its number in the file. */
static bool compare_row(struct comparison *comparison, size_t place, const void *sums, const char *found) {
    const struct table_layout *out = &comparison->scanned->layout;
    char *const expected = comparison->rounded;
    row_round(out->type, sums, expected, out->columns);
    const size_t column = row_difference(out->type, expected, found, out->columns);
    if (column == out->columns)
        return true;
    const size_t at = column * table_type_size(out->type);
    comparison->differs = true;
    comparison->difference = (struct difference){.row = place, .column = column};
    value_text(out->type, expected + at, comparison->difference.expected);
    value_text(out->type, found + at, comparison->difference.found);
    return false;
}

static void compare_unit(struct comparison *comparison, const char *found, size_t rows) {
    const struct serial_sums *sums = &comparison->sums;
    const char *expected = comparison->exclusive ? sums->above : sums->sums;
    const size_t out_row = comparison->out_row;
    const bool rounds = out_row != sums->row_bytes;
    if (rounds)
        row_round(comparison->scanned->layout.type, expected, comparison->rounded, rows * sums->columns);
    if (memcmp(rounds ? comparison->rounded : expected, found, rows * out_row) == 0)
        return;
    for (size_t i = 0; i < rows; i++) {
        const uint64_t row = sums->row - rows + i;
        const size_t place =
            comparison->reverse ? comparison->input->layout.rows - 1 - (size_t)row : (size_t)row + comparison->offsets;
        comparison->counted = row;
        if (!compare_row(comparison, place, expected + i * sums->row_bytes, found + i * out_row))
            return;
    }
}

/* The row of offsets, which comes next in the file. */
static int compare_start(struct comparison *comparison) {
    const size_t place = comparison->reverse ? comparison->scanned->layout.rows - 1 : 0;
    const void *start = comparison->carry ? comparison->carry : comparison->sums.start;
    size_t got = 0;
    int code = input_read(comparison->scanned, comparison->spare, comparison->out_row, &got);
    if (code == EX_OK && got < comparison->out_row)
        code = fail(EX_DATAERR, "%s: has no row of offsets", comparison->scanned->name);
    if (code == EX_OK)
        compare_row(comparison, place, start, comparison->spare);
    return code;
}

static int compare(struct comparison *comparison) {
    const struct table_layout *in = &comparison->input->layout;
    const size_t in_row = in->columns * table_type_size(in->type);
    size_t rows = 0;
    bool more = comparison->room > 0;
    if (in->columns == 0) /* the shapes were compared, and there is nothing else */
        return EX_OK;
    int code = comparison->offsets && !comparison->reverse ? compare_start(comparison) : EX_OK;
    while (code == EX_OK && more && !comparison->differs &&
           !(comparison->reverse && comparison->sums.row == in->rows)) {
        code = read_rows(comparison, &rows, &more);
        for (size_t done = 0, count; code == EX_OK && done < rows && !comparison->differs; done += count) {
            count = serial_sums_next(&comparison->sums);
            count = rows - done < count ? rows - done : count;
            serial_sums_unit(&comparison->sums, comparison->values + done * in_row, count);
            compare_unit(comparison, comparison->found + done * comparison->out_row, count);
        }
        progress_show(&comparison->progress, comparison->sums.row, comparison->input->rows_known ? in->rows : 0,
                      comparison->sums.row * (in_row + comparison->out_row));
    }
    if (code == EX_OK && !comparison->differs && comparison->reverse)
        code = go_behind(comparison);
    if (code == EX_OK && !comparison->differs && comparison->offsets && comparison->reverse)
        code = compare_start(comparison);
    if (code == EX_OK && !comparison->differs)
        code = input_ends(comparison->input, comparison->input->taken);
    if (code == EX_OK && !comparison->differs)
        code = input_ends(comparison->scanned, comparison->scanned->taken);
    return code;
}

/* The first sum that has left its type, if one has before the difference. */
static struct overflow find_overflow(const struct comparison *comparison) {
    const struct serial_sums *sums = &comparison->sums;
    const uint64_t rows = comparison->counted + !comparison->exclusive;
    const uint64_t row =
        comparison->reverse ? comparison->input->layout.rows - 1 - sums->overflow_row : sums->overflow_row;
    const bool found = sums->overflowed && (!comparison->differs || sums->overflow_row < rows);
    return (struct overflow){found, (size_t)row, sums->overflow_column};
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
                  const void *carry, const struct state_file *state) {
    struct comparison comparison = {.input = input,
                                    .scanned = scanned,
                                    .carry = carry,
                                    .exclusive = arguments->exclusive,
                                    .reverse = arguments->reverse,
                                    .offsets = arguments->offsets};
    struct memory_budget budget = {.most = memory_limit(arguments->memory),
                                   .used = input_memory(input) + input_memory(scanned)};
    int code = comparison.reverse ? find_end(&comparison, &budget) : EX_OK;
    if (code == EX_OK)
        code = make_room(&comparison, memory_left(&budget), state);
    comparison.sums.skip_nan = arguments->skip_nan;
    progress_begin(&comparison.progress, !arguments->quiet && !arguments->no_progress);
    if (code == EX_OK)
        code = compare(&comparison);
    progress_end(&comparison.progress);
    if (code == EX_OK)
        code = input_unchanged(input);
    if (code == EX_OK)
        code = input_unchanged(scanned);
    if (code == EX_OK)
        code = say(arguments, &comparison);
    serial_sums_end(&comparison.sums);
    free(comparison.values);
    free(comparison.rounded);
    free(comparison.spare);
    return code;
}

/* What came above the rows: of floats that is more than one row of sums. The state is believed. */
static int read_start(const struct arguments *arguments, const struct input_file *scanned, struct state_file *state,
                      void **carry) {
    const struct table_layout *sums = &scanned->layout;
    if (!arguments->state)
        return read_row(arguments->carry_in, table_sum_type(sums->type), sums->columns, carry);
    if (arguments->carry_in)
        return fail(EX_USAGE, "--carry-in and --continue: only one of them");
    return state_file_sums(state, arguments->state, scanned->name, table_sum_type(sums->type), sums->columns, carry);
}

int verify_main(int argc, char **argv) {
    struct arguments arguments;
    struct input_file input = {0}, scanned = {0};
    struct state_file state = STATE_FILE_NONE;
    void *carry = NULL;
    int code = arguments_parse(&arguments, argc, argv, FOR_VERIFY, 2, help);
    if (code != GO_ON)
        return code;
    code = start_input(&input, arguments.operands[0], &arguments);
    if (code == EX_OK)
        code = open_scanned(&scanned, arguments.operands[1], &input, &arguments);
    if (code == EX_OK)
        code = read_start(&arguments, &scanned, &state, &carry);
    const bool goes_on = state.facts.rows > 0 && type_is_float(scanned.layout.type);
    if (code == EX_OK)
        code = verify(&arguments, &input, &scanned, carry, goes_on ? &state : NULL);
    state_file_close(&state);
    input_close(&input);
    input_close(&scanned);
    free(carry);
    return code;
}
