/* Rows of two files, of which one should hold the running sums of the other. */
#include "verify.h"

#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "message.h"
#include "number.h"
#include "types.h"

/* Bytes that are read at a time: few enough for the caches. */
enum { READ_BYTES = 1 << 20 };

int verify_wrong_shape(const struct comparison *comparison) {
    const struct input_file *input = &comparison->input, *scanned = &comparison->scanned;
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    if (!input->rows_known || !scanned->rows_known) /* then it is the columns */
        return fail(EX_DATAERR, "%s: has %zu columns, and %s has %zu", scanned->name, out->columns, input->name,
                    in->columns);
    return fail(EX_DATAERR, "%s: has %zu x %zu values, and %s has %zu x %zu", scanned->name, out->rows, out->columns,
                input->name, in->rows, in->columns);
}

/* Whether rows can be read from the last one on. */
static bool can_go_back(const struct input_file *file) { return input_can_seek(file) && !file->format->delimiter; }

bool verify_takes_all(const struct comparison *comparison) {
    return comparison->arguments.reverse && !(can_go_back(&comparison->input) && can_go_back(&comparison->scanned));
}

/* From the end, where that is has to be known: what does not say it is brought into memory. */
int verify_find_end(void *context) {
    struct comparison *comparison = context;
    struct memory_budget *budget = &comparison->budget;
    struct input_file *const files[] = {&comparison->input, &comparison->scanned};
    if (!comparison->arguments.reverse)
        return EX_OK;
    for (unsigned i = 0; i < 2; i++) {
        struct input_file *const file = files[i];
        const size_t reading = input_memory(file), buffers = file->buffers;
        const int code =
            file->rows_known ? EX_OK : input_take_all(file, memory_left(budget), "--reverse begins at its end");
        if (code != EX_OK)
            return code;
        budget->used -= reading - input_memory(file);
        budget->buffers -= buffers - file->buffers;
        memory_add(budget, file->is_taken ? file->head_bytes : 0);
    }
    return files[1]->layout.rows == files[0]->layout.rows + comparison->arguments.offsets
               ? EX_OK
               : verify_wrong_shape(comparison);
}

/* Memory for the rows, if it may be used. */
int verify_make_room(void *context) {
    struct comparison *comparison = context;
    struct memory_budget *budget = &comparison->budget;
    const bool goes_on = comparison->state.facts.rows > 0 && type_is_float(comparison->scanned.layout.type);
    const struct state_file *state = goes_on ? &comparison->state : NULL;
    const struct table_layout *in = &comparison->input.layout, *out = &comparison->scanned.layout;
    const uint64_t above = state ? state->facts.rows : 0;
    const uint64_t rows = comparison->input.rows_known ? above + in->rows : UINT64_MAX;
    const size_t unit = rows == 0 ? 1 : rows < SERIAL_UNIT ? (size_t)rows : SERIAL_UNIT; /* SCANNED may have more */
    const size_t out_row = out->columns * table_type_size(out->type);
    const bool at_once = verify_takes_all(comparison);
    size_t row = 0, room = 0, own = 0, needed = 0;
    if (!size_multiply(in->columns, table_type_size(in->type) + table_type_size(out->type), &row) ||
        !size_multiply(row, at_once ? in->rows : unit, &room) ||
        !serial_sums_bytes(out->type, rows, in->columns, &own) || __builtin_add_overflow(room, own, &needed) ||
        __builtin_add_overflow(needed, unit * out_row, &needed))
        needed = SIZE_MAX;
    const int code = memory_charge(budget, comparison->input.name, needed);
    if (code != EX_OK)
        return code;
    const size_t more = least(READ_BYTES, memory_left(budget));
    comparison->room = at_once ? in->rows : room > 0 && room <= more ? more / room * unit : unit;
    comparison->out_row = out_row;
    comparison->values = malloc(comparison->room * row + 1);
    comparison->rounded = malloc(unit * out_row + out_row + 1);
    comparison->spare = malloc(row + 1);
    if (!serial_sums_begin(&comparison->sums, in->type, out->type, rows, in->columns, comparison->carry) ||
        !comparison->values || !comparison->rounded || !comparison->spare)
        return fail(EX_OSERR, "out of memory");
    comparison->sums.skip_nan = comparison->arguments.skip_nan;
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
static int go_up(struct comparison *comparison, size_t *rows) {
    const size_t left = comparison->input.layout.rows - (size_t)comparison->sums.row;
    *rows = *rows < left ? *rows : left;
    const int code = input_go_to(&comparison->input, left - *rows);
    return code == EX_OK ? input_go_to(&comparison->scanned, left - *rows) : code;
}

/* Behind the rows, where the row of offsets may be. */
static int go_behind(struct comparison *comparison) {
    const size_t rows = comparison->input.layout.rows;
    const int code = input_go_to(&comparison->input, rows);
    return code == EX_OK ? input_go_to(&comparison->scanned, rows) : code;
}

/* The next rows of both files, to the end of a unit; *rows: how many; *more: whether there may be more. */
static int read_rows(struct comparison *comparison, size_t *rows, bool *more) {
    struct input_file *input = &comparison->input, *scanned = &comparison->scanned;
    const size_t in_row = input->layout.columns * table_type_size(input->layout.type);
    const size_t out_row = comparison->out_row;
    const size_t begun = SERIAL_UNIT - serial_sums_next(&comparison->sums);
    size_t in_bytes = 0, out_bytes = 0, room = comparison->room;
    room -= room > begun ? begun : 0;
    int code = comparison->arguments.reverse ? go_up(comparison, &room) : EX_OK;
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
    if (code == EX_OK && comparison->arguments.reverse) {
        turn(comparison->values, *rows, in_row, comparison->spare);
        turn(comparison->found, *rows, out_row, comparison->spare);
    }
    return code;
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
static int compare_start(struct comparison *comparison) {
    const size_t place = comparison->arguments.reverse ? comparison->scanned.layout.rows - 1 : 0;
    const void *start = comparison->carry ? comparison->carry : comparison->sums.start;
    size_t got = 0;
    int code = input_read(&comparison->scanned, comparison->spare, comparison->out_row, &got);
    if (code == EX_OK && got < comparison->out_row)
        code = fail(EX_DATAERR, "%s: has no row of offsets", comparison->scanned.name);
    if (code == EX_OK)
        compare_row(comparison, place, start, comparison->spare);
    return code;
}

int verify_compare(void *context) {
    struct comparison *comparison = context;
    const struct table_layout *in = &comparison->input.layout;
    const size_t in_row = in->columns * table_type_size(in->type);
    size_t rows = 0;
    bool more = comparison->room > 0;
    if (in->columns == 0) /* the shapes were compared, and there is nothing else */
        return EX_OK;
    int code = comparison->arguments.offsets && !comparison->arguments.reverse ? compare_start(comparison) : EX_OK;
    while (code == EX_OK && more && !comparison->differs &&
           !(comparison->arguments.reverse && comparison->sums.row == in->rows)) {
        code = read_rows(comparison, &rows, &more);
        for (size_t done = 0, count; code == EX_OK && done < rows && !comparison->differs; done += count) {
            count = serial_sums_next(&comparison->sums);
            count = rows - done < count ? rows - done : count;
            serial_sums_unit(&comparison->sums, comparison->values + done * in_row, count);
            compare_unit(comparison, comparison->found + done * comparison->out_row, count);
        }
        progress_show(&comparison->base.progress, comparison->sums.row, comparison->input.rows_known ? in->rows : 0,
                      comparison->sums.row * (in_row + comparison->out_row));
    }
    if (code == EX_OK && !comparison->differs && comparison->arguments.reverse)
        code = go_behind(comparison);
    if (code == EX_OK && !comparison->differs && comparison->arguments.offsets && comparison->arguments.reverse)
        code = compare_start(comparison);
    if (code == EX_OK && !comparison->differs)
        code = input_ends(&comparison->input, comparison->input.taken);
    if (code == EX_OK && !comparison->differs)
        code = input_ends(&comparison->scanned, comparison->scanned.taken);
    return code;
}
