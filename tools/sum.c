/* tuplescan sum: what running sums are for. Of a file only the two rows are read, if they are enough. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "options/option.h"
#include "table_io.h"
#include "types.h"
#include "values.h"

/* The part read of the running sums, from the top to the bottom. */
struct range {
    struct input_file scanned;
    struct sum_arguments arguments;
    struct state_file state; /* that the sums go on from */
    table_type type;         /* what the sums are kept in: not always the type of the file */
    void *from, *to;         /* the sums between which the rows lie: `to` less `from` is theirs; NULL: zeros */
    char *sums;              /* to be printed */
    size_t wrapped; /* the first column whose running sums are seen to have wrapped, or the number of columns */
};

static _Noreturn void no_such_row(const struct range *range) {
    die(EX_USAGE, "--rows %zu:%zu: %s has %zu rows", range->arguments.rows.from, range->arguments.rows.to,
        range->scanned.name, range->scanned.layout.rows);
}

/* The sums of all rows, which exclusive ones lack. */
static void *row_of_all(const struct range *range) {
    const struct scan_arguments *arguments = &range->arguments.scan;
    if (!arguments->carry_out)
        die(EX_USAGE, "%s: being exclusive, it lacks the sums %s row; --carry-out says where they are",
            range->scanned.name, arguments->reverse ? "from its first" : "through its last");
    return read_row(arguments->carry_out, range->type, range->scanned.layout.columns);
}

/* The sums of all rows before `row`, or, with --reverse, from `row` on: a row of SCANNED, or one of the carries at the
 * ends. NULL: zeros. free() it. */
static void *sums_at(struct range *range, size_t row) {
    const bool reverse = range->arguments.scan.reverse, exclusive = range->arguments.scan.exclusive;
    struct input_file *scanned = &range->scanned;
    const struct table_layout *layout = &scanned->layout;
    const size_t below = exclusive != reverse ? 0 : 1; /* whether it stands in the place of the row above */
    const size_t row_bytes = layout->columns * table_type_size(layout->type);
    if (row < below)
        return reverse ? row_of_all(range)
                       : row_above(&range->arguments.scan, &range->state, scanned->name, range->type, layout->columns);
    void *const results = memory_for(scanned->name, row_bytes);
    input_go_to(scanned, row - below);
    if (input_read(scanned, results, row_bytes) > 0) {
        void *const sums = memory_for(scanned->name, layout->columns * table_type_size(range->type));
        row_convert(layout->type, results, range->type, sums, layout->columns);
        free(results);
        return sums;
    }
    free(results);
    if (below > 0 || row > layout->rows)
        no_such_row(range);
    return reverse ? read_row(range->arguments.scan.carry_in, range->type, layout->columns) : row_of_all(range);
}

static void print(const struct range *range) {
    const size_t columns = range->scanned.layout.columns, size = table_type_size(range->type);
    if (!range->arguments.scan.common.json) {
        for (size_t j = 0; j < columns; j++) {
            char text[VALUE_TEXT];
            value_text(range->type, range->sums + j * size, text);
            puts(text);
        }
        return;
    }
    json_object(NULL);
    json_string("scanned", range->scanned.name);
    json_size("from", range->arguments.rows.from);
    json_size("to", range->arguments.rows.to);
    json_string("type", table_type_name(range->type));
    json_array("sums");
    for (size_t j = 0; j < columns; j++)
        json_value(NULL, range->type, range->sums + j * size);
    json_end();
    if (range->wrapped < columns)
        json_size("wrapped_column", range->wrapped);
    else
        json_null("wrapped_column");
    json_end();
}

/* The sums that come first in the file are read first. */
static void subtract(struct range *range) {
    const struct option_rows *rows = &range->arguments.rows;
    const bool reverse = range->arguments.scan.reverse;
    const size_t columns = range->scanned.layout.columns;
    range->sums = memory_cleared(range->scanned.name, columns * table_type_size(range->type));
    if (rows->from >= rows->to || columns == 0)
        return;
    *(reverse ? &range->to : &range->from) = sums_at(range, rows->from);
    *(reverse ? &range->from : &range->to) = sums_at(range, rows->to);
    if (range->from)
        range->wrapped = row_overflow(range->type, range->from, range->to, columns);
    row_subtract(range->type, range->sums, range->to, range->from ? range->from : range->sums, columns);
}

static void open_sums(struct range *range) {
    struct sum_arguments *arguments = &range->arguments;
    struct input_file *scanned = &range->scanned;
    const struct table_layout *layout = &scanned->layout;
    if (!arguments->has_rows)
        die(EX_USAGE, "--rows A:B is missing");
    if (arguments->scan.state)
        state_file_read(&range->state, arguments->scan.state, false);
    start_input(scanned, arguments->scan.common.inputs[0], range->state.facts.type, NULL, &arguments->scan);
    if (!table_types_supported(layout->type, layout->type))
        die(EX_DATAERR, "%s: its type is %s, which is not one of running sums", scanned->name,
            table_type_name(layout->type));
    if (!scanned->rows_known && arguments->rows.to == SIZE_MAX)
        input_take_all(scanned, memory_there(arguments->scan.common.memory), "--rows A: is to the end");
    if (arguments->rows.to == SIZE_MAX)
        arguments->rows.to = layout->rows;
    if (scanned->rows_known && (arguments->rows.from > layout->rows || arguments->rows.to > layout->rows))
        no_such_row(range);
    range->type = table_sum_type(layout->type);
    range->wrapped = layout->columns;
}

int sum_main(int argc, char **argv) {
    static struct range range;
    struct input_file *const scanned = &range.scanned;
    options_parse(&options_of_sum, &range.arguments, argc, argv);
    open_sums(&range);
    subtract(&range);
    input_drain(scanned);
    if (range.arguments.rows.to > scanned->layout.rows)
        no_such_row(&range);
    input_unchanged(scanned);
    print(&range);
    if (range.wrapped < scanned->layout.columns)
        message("%s: column %zu: the running sums have wrapped, or their difference has: what is printed is right only "
                "if it fits in %s",
                scanned->name, range.wrapped, table_type_name(scanned->layout.type));
    return EX_OK;
}
