/* tuplescan verify: running sums held against the definition, one unit after the other. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "input/file.h"
#include "job.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "serial_sums.h"
#include "table_io.h"
#include "types.h"
#include "values.h"

struct difference {
    size_t row, column;
    char expected[VALUE_TEXT], found[VALUE_TEXT];
};

/* Rows of both files that are held against each other at a time: whole units, or all rows of a smaller table. */
struct comparison {
    struct scan_arguments arguments;
    struct input_file input, scanned;
    struct state_file state; /* that the sums go on from */
    struct memory_budget budget;
    struct serial_sums sums;
    size_t room; /* rows */
    char *values, *found;
    char *rounded;  /* results of a unit */
    char *spare;    /* a row of either file */
    size_t out_row; /* bytes of it */
    void *carry;    /* sums of the rows before; NULL: there are none */
    bool differs;
    struct difference difference;
    uint64_t counted; /* the row of the difference, from the first one that was summed */
};

/* Bytes that are read at a time: few enough for the caches. */
enum { READ_BYTES = 1 << 20 };

/* The shapes differ. */
static _Noreturn void wrong_shape(const struct comparison *comparison) {
    const struct input_file *input = &comparison->input, *scanned = &comparison->scanned;
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    if (!input->rows_known || !scanned->rows_known) /* then it is the columns */
        die(EX_DATAERR, "%s: has %zu columns, and %s has %zu", scanned->name, out->columns, input->name, in->columns);
    die(EX_DATAERR, "%s: has %zu x %zu values, and %s has %zu x %zu", scanned->name, out->rows, out->columns,
        input->name, in->rows, in->columns);
}

/* Whether rows can be read from the last one on. */
static bool can_go_back(const struct input_file *file) { return input_can_seek(file) && !file->format->delimiter; }

/* Whether a table is in memory: rows are compared from the last one on, and cannot be read so. */
static bool takes_all(const struct comparison *comparison) {
    return comparison->arguments.reverse && !(can_go_back(&comparison->input) && can_go_back(&comparison->scanned));
}

/* From the end, where that is has to be known, and read first: what cannot be read so is brought into memory. */
static void find_end(struct comparison *comparison) {
    struct memory_budget *budget = &comparison->budget;
    struct input_file *const files[] = {&comparison->input, &comparison->scanned};
    if (!comparison->arguments.reverse)
        return;
    for (unsigned i = 0; i < 2; i++) {
        struct input_file *const file = files[i];
        const size_t reading = input_memory(file), buffers = file->buffers;
        file->used = budget->used;
        if (!can_go_back(file) && file->rows_known)
            input_take_table(file, memory_left(budget));
        else if (!can_go_back(file))
            input_take_all(file, memory_left(budget), "--reverse begins at its end");
        budget->used -= reading - input_memory(file);
        budget->buffers -= buffers - file->buffers;
        memory_add(budget, file->data ? file->head_bytes : 0);
    }
    if (files[1]->layout.rows != files[0]->layout.rows + comparison->arguments.offsets)
        wrong_shape(comparison);
}

/* Memory for the rows and the sums, which go on from the state, if there is one; it is charged. */
static void make_room(struct comparison *comparison) {
    struct memory_budget *budget = &comparison->budget;
    const bool goes_on = comparison->state.facts.rows > 0 && type_is_float(comparison->scanned.layout.type);
    const struct state_file *state = goes_on ? &comparison->state : NULL;
    const struct table_layout *in = &comparison->input.layout, *out = &comparison->scanned.layout;
    const uint64_t above = state ? state->facts.rows : 0;
    const uint64_t rows = comparison->input.rows_known ? above + in->rows : UINT64_MAX;
    const size_t unit = rows == 0 ? 1 : rows < SERIAL_UNIT ? (size_t)rows : SERIAL_UNIT; /* SCANNED may have more */
    const size_t out_row = out->columns * table_type_size(out->type);
    size_t row = 0, room = 0, own = 0, needed = 0;
    if (!size_multiply(in->columns, table_type_size(in->type) + table_type_size(out->type), &row) ||
        !size_multiply(row, unit, &room) || !serial_sums_bytes(out->type, rows, in->columns, &own) ||
        __builtin_add_overflow(room, own, &needed) || __builtin_add_overflow(needed, unit * out_row, &needed))
        needed = SIZE_MAX;
    memory_charge(budget, comparison->input.name, needed);
    const size_t more = least(READ_BYTES, memory_left(budget));
    comparison->room = room > 0 && room <= more ? more / room * unit : unit;
    comparison->out_row = out_row;
    comparison->values = memory_for(comparison->input.name, comparison->room * row);
    comparison->rounded = memory_for(comparison->input.name, unit * out_row + out_row);
    comparison->spare = memory_for(comparison->input.name, row);
    serial_sums_begin(&comparison->sums, in->type, out->type, rows, in->columns, comparison->carry);
    comparison->sums.skip_nan = comparison->arguments.skip_nan;
    if (state)
        serial_sums_go_on(&comparison->sums, state->state);
    comparison->found = comparison->values + comparison->room * in->columns * table_type_size(in->type);
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

/* To that row of both files: those above the ones that were compared, or after all, where the row of offsets may be. */
static void go_to(struct comparison *comparison, size_t row) {
    input_go_to(&comparison->input, row);
    input_go_to(&comparison->scanned, row);
}

/* The next rows of both files, to the end of a unit; *rows: how many; *more: whether there may be more. */
static void read_rows(struct comparison *comparison, size_t *rows, bool *more) {
    struct input_file *input = &comparison->input, *scanned = &comparison->scanned;
    const size_t in_row = input->layout.columns * table_type_size(input->layout.type);
    const size_t out_row = comparison->out_row;
    const size_t begun = SERIAL_UNIT - serial_sums_next(&comparison->sums);
    size_t room = comparison->room;
    room -= room > begun ? begun : 0;
    const size_t left = input->layout.rows - (size_t)comparison->sums.row;
    room = comparison->arguments.reverse ? least(room, left) : room;
    if (comparison->arguments.reverse)
        go_to(comparison, left - room);
    *rows = input_read(input, comparison->values, room * in_row) / in_row;
    const size_t sums = input_read(scanned, comparison->found, room * out_row) / out_row;
    *more = *rows == room && *rows > 0;
    if (*rows != sums)
        die(EX_DATAERR, "%s: has not as many rows as %s: after %llu rows, one of them ends", scanned->name, input->name,
            (unsigned long long)comparison->sums.row + least(*rows, sums));
    if (comparison->arguments.reverse) {
        turn(comparison->values, *rows, in_row, comparison->spare);
        turn(comparison->found, *rows, out_row, comparison->spare);
    }
}

/* Whether a row of results differs from the sums it should be, and where first. `place`: its number in the file. */
static bool compare_row(struct comparison *comparison, size_t place, const void *sums, const char *found) {
    const struct table_layout *out = &comparison->scanned.layout;
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
    const char *expected = comparison->arguments.exclusive ? sums->above : sums->sums;
    const size_t out_row = comparison->out_row;
    const bool rounds = out_row != sums->row_bytes;
    if (rounds)
        row_round(comparison->scanned.layout.type, expected, comparison->rounded, rows * sums->columns);
    if (memcmp(rounds ? comparison->rounded : expected, found, rows * out_row) == 0)
        return;
    for (size_t i = 0; i < rows; i++) {
        const uint64_t row = sums->row - rows + i;
        const size_t place = comparison->arguments.reverse ? comparison->input.layout.rows - 1 - (size_t)row
                                                           : (size_t)row + comparison->arguments.offsets;
        comparison->counted = row;
        if (!compare_row(comparison, place, expected + i * sums->row_bytes, found + i * out_row))
            return;
    }
}

/* The row of offsets, which comes next in the file. */
static void compare_start(struct comparison *comparison) {
    const size_t place = comparison->arguments.reverse ? comparison->scanned.layout.rows - 1 : 0;
    const void *start = comparison->carry ? comparison->carry : comparison->sums.start;
    if (input_read(&comparison->scanned, comparison->spare, comparison->out_row) < comparison->out_row)
        die(EX_DATAERR, "%s: has no row of offsets", comparison->scanned.name);
    compare_row(comparison, place, start, comparison->spare);
}

/* Compares all rows, up to the first difference. */
static void compare(struct comparison *comparison) {
    const struct table_layout *in = &comparison->input.layout;
    const size_t in_row = in->columns * table_type_size(in->type);
    size_t rows = 0;
    bool more = comparison->room > 0;
    if (in->columns == 0) /* the shapes were compared, and there is nothing else */
        return;
    if (comparison->arguments.offsets && !comparison->arguments.reverse)
        compare_start(comparison);
    while (more && !comparison->differs && !(comparison->arguments.reverse && comparison->sums.row == in->rows)) {
        read_rows(comparison, &rows, &more);
        for (size_t done = 0, count; done < rows && !comparison->differs; done += count) {
            count = least(rows - done, serial_sums_next(&comparison->sums));
            serial_sums_unit(&comparison->sums, comparison->values + done * in_row, count);
            compare_unit(comparison, comparison->found + done * comparison->out_row, count);
        }
        progress_show(comparison->sums.row, comparison->input.rows_known ? in->rows : 0,
                      comparison->sums.row * (in_row + comparison->out_row));
    }
    if (comparison->differs)
        return;
    if (comparison->arguments.reverse)
        go_to(comparison, in->rows);
    if (comparison->arguments.offsets && comparison->arguments.reverse)
        compare_start(comparison);
    if (comparison->differs)
        return;
    input_ends(&comparison->input, comparison->input.taken);
    input_ends(&comparison->scanned, comparison->scanned.taken);
}

static void open_input(struct comparison *comparison) {
    const struct scan_arguments *arguments = &comparison->arguments;
    const table_type asked = arguments->common.out_type;
    if (arguments->state)
        state_file_read(&comparison->state, arguments->state, false);
    start_input(&comparison->input, arguments->common.inputs[0], asked ? asked : comparison->state.facts.type, NULL,
                arguments);
}

static void open_scanned(struct comparison *comparison) {
    const struct arguments *arguments = &comparison->arguments.common;
    const struct input_file *input = &comparison->input;
    struct input_file *scanned = &comparison->scanned;
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    static const char *const places[BY_MOST] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                                "8", "9", "10", "11", "12", "13", "14", "15"};
    const struct input_request request = {.format = arguments->output_format,
                                          .kept = places, /* kept columns stand before the sums */
                                          .kept_count = arguments->kept.count,
                                          .type =
                                              arguments->out_type ? arguments->out_type : default_sum_type(in->type),
                                          .columns = in->columns,
                                          .type_is_a_hint = true,
                                          .memory = memory_there(arguments->memory),
                                          .delimiter = arguments->delimiter};
    input_start(scanned, arguments->inputs[1], &request);
    if (!table_types_supported(in->type, out->type) || (arguments->out_type && out->type != arguments->out_type))
        die(EX_DATAERR, "%s: its type is %s, and the sums of %s would be %s", scanned->name, table_type_name(out->type),
            table_type_name(in->type),
            arguments->out_type ? table_type_name(arguments->out_type) : sum_types_text(in->type));
    if (out->columns != in->columns ||
        (input->rows_known && scanned->rows_known && out->rows != in->rows + comparison->arguments.offsets))
        wrong_shape(comparison);
    /* What came above the rows: of floats that is more than one row of sums. The state is believed. */
    comparison->carry =
        row_above(&comparison->arguments, &comparison->state, scanned->name, table_sum_type(out->type), out->columns);
    const size_t asked = arguments->memory;
    comparison->budget =
        (struct memory_budget){.most = takes_all(comparison) ? memory_there(asked) : memory_limit(asked),
                               .used = input_memory(input) + input_memory(scanned),
                               .buffers = input->buffers + scanned->buffers};
}

/* Whether a sum has left its type before the difference, and the row of the file of the first that has. */
static bool find_overflow(const struct comparison *comparison, size_t *row) {
    const struct serial_sums *sums = &comparison->sums;
    const uint64_t rows = comparison->counted + !comparison->arguments.exclusive;
    *row = (size_t)(comparison->arguments.reverse ? comparison->input.layout.rows - 1 - sums->overflow_row
                                                  : sums->overflow_row);
    return sums->overflowed && (!comparison->differs || sums->overflow_row < rows);
}

static void print_json(const struct comparison *comparison) {
    const struct input_file *input = &comparison->input, *scanned = &comparison->scanned;
    const struct difference *difference = &comparison->difference;
    size_t row;
    const bool overflowed = find_overflow(comparison, &row);
    json_object(NULL);
    json_string("input", input->name);
    json_string("scanned", scanned->name);
    json_size("rows", scanned->layout.rows);
    json_size("columns", scanned->layout.columns);
    json_string("in_type", table_type_name(input->layout.type));
    json_string("out_type", table_type_name(scanned->layout.type));
    json_bool("equal", !comparison->differs);
    if (comparison->differs) {
        json_object("first_difference");
        json_size("row", difference->row);
        json_size("column", difference->column);
        json_string("expected", difference->expected);
        json_string("found", difference->found);
        json_end();
    } else {
        json_null("first_difference");
    }
    json_place("overflow", overflowed, row, comparison->sums.overflow_column);
    json_end();
}

static void print_text(const struct comparison *comparison) {
    const struct input_file *input = &comparison->input, *scanned = &comparison->scanned;
    const char *type = table_type_name(scanned->layout.type);
    size_t row;
    printf("%s: all %zu x %zu sums are right (%s -> %s)", scanned->name, scanned->layout.rows, scanned->layout.columns,
           table_type_name(input->layout.type), type);
    if (find_overflow(comparison, &row))
        printf(", and have wrapped: row %zu, column %zu is the first whose sum does not fit in %s", row,
               comparison->sums.overflow_column, type);
    putchar('\n');
}

static void tell(const struct comparison *comparison) {
    const struct arguments *arguments = &comparison->arguments.common;
    const struct difference *difference = &comparison->difference;
    if (arguments->json)
        print_json(comparison);
    if (comparison->differs)
        die(EX_DATAERR, "%s: row %zu, column %zu: expected %s, found %s", comparison->scanned.name, difference->row,
            difference->column, difference->expected, difference->found);
    if (!arguments->json && !arguments->quiet)
        print_text(comparison);
}

int verify_main(int argc, char **argv) {
    static struct comparison comparison;
    job_begin(&options_of_verify, &comparison.arguments, argc, argv);
    open_input(&comparison);
    open_scanned(&comparison);
    find_end(&comparison);
    make_room(&comparison);
    job_step(STEP_READ);
    compare(&comparison);
    progress_end();
    input_unchanged(&comparison.input);
    input_unchanged(&comparison.scanned);
    tell(&comparison);
    return EX_OK;
}
