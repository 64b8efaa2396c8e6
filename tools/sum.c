/* tuplescan sum: what running sums are for. Of a file only the two rows are read, if they are enough. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "job.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "state_file.h"
#include "table_io.h"
#include "types.h"
#include "values.h"

/* What is read of the running sums, from the top to the bottom. */
struct range {
    struct job base;
    struct input_file scanned;
    struct sum_arguments arguments;
    struct state_file state; /* that the sums go on from */
    table_type type;         /* what the sums are kept in: not always the type of the file */
    size_t row_bytes;        /* of the file */
    void *from, *to;         /* the sums between which the rows lie: `to` less `from` is theirs; NULL: zeros */
    char *sums;              /* what is printed */
    size_t wrapped; /* the first column whose running sums are seen to have wrapped, or the number of columns */
};

static int no_such_row(const struct range *range) {
    return fail(EX_USAGE, "--rows %zu:%zu: %s has %zu rows", range->arguments.rows.from, range->arguments.rows.to,
                range->scanned.name, range->scanned.layout.rows);
}

/* A row of the file becomes one of sums. */
static int make_sums(const struct range *range, void **row) {
    const struct table_layout *layout = &range->scanned.layout;
    void *results = *row;
    *row = memory_allocate(layout->columns * table_type_size(range->type));
    if (*row)
        row_convert(layout->type, results, range->type, *row, layout->columns);
    free(results);
    return *row ? EX_OK : fail(EX_OSERR, "out of memory");
}

/* The sums above the first row of SCANNED, which is not exclusive and goes downwards. */
static int row_above_all(struct range *range, void **sums) {
    const struct sum_arguments *arguments = &range->arguments;
    const size_t columns = range->scanned.layout.columns;
    return arguments->scan.state
               ? state_file_sums(&range->state, range->scanned.name, TABLE_SUM, range->type, columns, sums)
               : read_row(arguments->scan.carry_in, range->type, columns, sums);
}

/* The sums of all rows, which exclusive ones lack. */
static int row_of_all(const struct range *range, void **sums) {
    const struct sum_arguments *arguments = &range->arguments;
    if (!arguments->scan.carry_out)
        return fail(EX_USAGE, "%s: being exclusive, it lacks the sums %s row; --carry-out says where they are",
                    range->scanned.name, arguments->scan.reverse ? "from its first" : "through its last");
    return read_row(arguments->scan.carry_out, range->type, range->scanned.layout.columns, sums);
}

/* *sums = the sums of all rows before `row`, or, with --reverse, from `row` on: a row of SCANNED, or one of the carries
 * at the ends. NULL: zeros. free() it. */
static int sums_at(struct range *range, size_t row, void **sums) {
    const bool reverse = range->arguments.scan.reverse, exclusive = range->arguments.scan.exclusive;
    struct input_file *scanned = &range->scanned;
    const struct table_layout *layout = &scanned->layout;
    const size_t below = exclusive != reverse ? 0 : 1; /* whether it stands in the place of the row above */
    size_t got = 0;
    if (row < below)
        return reverse ? row_of_all(range, sums) : row_above_all(range, sums);
    *sums = memory_allocate(range->row_bytes);
    if (!*sums)
        return fail(EX_OSERR, "out of memory");
    int code = input_go_to(scanned, row - below);
    if (code == EX_OK)
        code = input_read(scanned, *sums, range->row_bytes, &got);
    if (code == EX_OK && got > 0 && layout->type != range->type)
        return make_sums(range, sums);
    if (code != EX_OK || got > 0)
        return code;
    if (below > 0 || row > layout->rows)
        return no_such_row(range);
    free(*sums);
    *sums = NULL;
    return reverse ? read_row(range->arguments.scan.carry_in, range->type, layout->columns, sums)
                   : row_of_all(range, sums);
}

/* wrapped: the first column whose running sums are seen to have wrapped, or the number of columns. */
static void print(const struct input_file *scanned, const struct sum_arguments *arguments, const char *sums,
                  size_t wrapped) {
    const struct table_layout *layout = &scanned->layout;
    const table_type type = table_sum_type(layout->type);
    const size_t size = table_type_size(type);
    if (arguments->scan.common.json) {
        json_object(NULL);
        json_string("scanned", scanned->name);
        json_size("from", arguments->rows.from);
        json_size("to", arguments->rows.to);
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

/* *from and *to, whose difference the sums are. What comes first in the file is read first. */
static int read_ends(struct range *range) {
    const struct sum_arguments *arguments = &range->arguments;
    const bool reverse = arguments->scan.reverse;
    const int code = sums_at(range, arguments->rows.from, reverse ? &range->to : &range->from);
    return code == EX_OK ? sums_at(range, arguments->rows.to, reverse ? &range->from : &range->to) : code;
}

static int subtract(void *context) {
    struct range *range = context;
    const struct option_rows *rows = &range->arguments.rows;
    const size_t columns = range->scanned.layout.columns, bytes = columns * table_type_size(range->type);
    range->sums = memory_allocate(bytes);
    if (!range->sums)
        return fail(EX_OSERR, "out of memory");
    memset(range->sums, 0, bytes);
    if (rows->from >= rows->to || columns == 0)
        return EX_OK;
    const int code = read_ends(range);
    if (code != EX_OK)
        return code;
    if (range->from)
        range->wrapped = row_overflow(range->type, range->from, range->to, columns);
    row_subtract(range->type, range->sums, range->to, range->from ? range->from : range->sums, columns);
    return EX_OK;
}

/* The file is read to its end, and has that many rows. */
static int check_end(void *context) {
    struct range *range = context;
    const int code = input_drain(&range->scanned);
    if (code == EX_OK && range->arguments.rows.to > range->scanned.layout.rows)
        return no_such_row(range);
    return code == EX_OK ? input_unchanged(&range->scanned) : code;
}

static int tell(void *context) {
    const struct range *range = context;
    const struct input_file *scanned = &range->scanned;
    print(scanned, &range->arguments, range->sums, range->wrapped);
    if (range->wrapped < scanned->layout.columns)
        message("%s: column %zu: the running sums have wrapped, or their difference has: what is printed is right only "
                "if it fits in %s",
                scanned->name, range->wrapped, table_type_name(scanned->layout.type));
    return EX_OK;
}

static int open_sums(void *context) {
    struct range *range = context;
    struct sum_arguments *arguments = &range->arguments;
    struct input_file *scanned = &range->scanned;
    const struct table_layout *layout = &scanned->layout;
    int code = arguments->scan.state ? state_file_read(&range->state, arguments->scan.state, false) : EX_OK;
    if (code == EX_OK)
        code = start_input(scanned, arguments->scan.common.inputs[0], range->state.facts.type, NULL, &arguments->scan);
    if (code == EX_OK && !table_types_supported(layout->type, layout->type))
        code = fail(EX_DATAERR, "%s: its type is %s, which is not one of running sums", scanned->name,
                    table_type_name(layout->type));
    if (code == EX_OK && !scanned->rows_known && arguments->rows.to == SIZE_MAX)
        code = input_take_all(scanned, memory_there(arguments->scan.common.memory), "--rows A: is to the end");
    if (code != EX_OK)
        return code;
    if (arguments->rows.to == SIZE_MAX)
        arguments->rows.to = layout->rows;
    if (scanned->rows_known && (arguments->rows.from > layout->rows || arguments->rows.to > layout->rows))
        return no_such_row(range);
    range->type = table_sum_type(layout->type);
    range->row_bytes = layout->columns * table_type_size(layout->type);
    range->wrapped = layout->columns;
    return EX_OK;
}

static int check_arguments(void *context) {
    const struct sum_arguments *arguments = &((const struct range *)context)->arguments;
    return arguments->has_rows ? EX_OK : fail(EX_USAGE, "--rows A:B is missing");
}

static void close_all(void *context) {
    struct range *range = context;
    input_close(&range->scanned);
    state_file_close(&range->state);
    free(range->from);
    free(range->to);
    free(range->sums);
}

int sum_main(int argc, char **argv) {
    static const struct job_step steps[] = {
        {open_sums, STEP_READ, false}, {subtract, STEP_WORK, false}, {check_end, STEP_READ, false}};
    static const struct job_table table = {&options_of_sum, check_arguments, JOB_STEPS(steps), tell, NULL, close_all};
    static struct range range = {.state = STATE_FILE_NONE};
    return job_run(&table, &range, &range.arguments.scan.common, argc, argv);
}
