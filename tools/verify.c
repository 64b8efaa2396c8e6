/* tuplescan verify: running sums held against the definition, one unit after the other. */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "json.h"
#include "message.h"
#include "table_io.h"

struct overflow {
    bool found;
    size_t row, column;
};

static int open_input(void *context) {
    struct comparison *comparison = context;
    const struct scan_arguments *arguments = &comparison->arguments;
    table_type like;
    const int code = state_file_type(arguments->state, &like);
    return code == EX_OK ? start_input(&comparison->input, arguments->common.inputs[0],
                                       arguments->common.out_type ? arguments->common.out_type : like, NULL, arguments)
                         : code;
}

static int open_scanned(void *context) {
    struct comparison *comparison = context;
    const struct arguments *arguments = &comparison->arguments.common;
    const struct input_file *input = &comparison->input;
    struct input_file *scanned = &comparison->scanned;
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    static const char *const places[BY_MOST] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                                "8", "9", "10", "11", "12", "13", "14", "15"};
    const struct input_request request = {.format = arguments->output_format,
                                          .kept = places, /* what is kept stands before the sums */
                                          .kept_count = arguments->kept.count,
                                          .type =
                                              arguments->out_type ? arguments->out_type : default_sum_type(in->type),
                                          .columns = in->columns,
                                          .type_is_a_hint = true,
                                          .memory = memory_there(arguments->memory),
                                          .delimiter = arguments->delimiter};
    const int code = input_start(scanned, arguments->inputs[1], &request);
    if (code != EX_OK)
        return code;
    if (!table_types_supported(in->type, out->type) || (arguments->out_type && out->type != arguments->out_type))
        return fail(EX_DATAERR, "%s: its type is %s, and the sums of %s would be %s", scanned->name,
                    table_type_name(out->type), table_type_name(in->type),
                    arguments->out_type ? table_type_name(arguments->out_type) : sum_types_text(in->type));
    if (out->columns != in->columns ||
        (input->rows_known && scanned->rows_known && out->rows != in->rows + comparison->arguments.offsets))
        return verify_wrong_shape(comparison);
    const size_t asked = arguments->memory;
    comparison->budget =
        (struct memory_budget){.most = verify_takes_all(comparison) ? memory_there(asked) : memory_limit(asked),
                               .used = input_memory(input) + input_memory(scanned),
                               .buffers = input->buffers + scanned->buffers};
    return EX_OK;
}

/* The first sum that has left its type, if one has before the difference. */
static struct overflow find_overflow(const struct comparison *comparison) {
    const struct serial_sums *sums = &comparison->sums;
    const uint64_t rows = comparison->counted + !comparison->arguments.exclusive;
    const uint64_t row =
        comparison->arguments.reverse ? comparison->input.layout.rows - 1 - sums->overflow_row : sums->overflow_row;
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

static int tell(void *context) {
    const struct comparison *comparison = context;
    const struct scan_arguments *arguments = &comparison->arguments;
    const struct difference *difference = comparison->differs ? &comparison->difference : NULL;
    const struct overflow overflow = find_overflow(comparison);
    if (arguments->common.json)
        print_json(&comparison->input, &comparison->scanned, difference, &overflow);
    if (difference)
        return fail(EX_DATAERR, "%s: row %zu, column %zu: expected %s, found %s", comparison->scanned.name,
                    difference->row, difference->column, difference->expected, difference->found);
    if (!arguments->common.json && !arguments->common.quiet)
        print_text(&comparison->input, &comparison->scanned, &overflow);
    return EX_OK;
}

/* What came above the rows: of floats that is more than one row of sums. The state is believed. */
static int read_start(void *context) {
    struct comparison *comparison = context;
    const struct scan_arguments *arguments = &comparison->arguments;
    const struct table_layout *sums = &comparison->scanned.layout;
    const table_type type = table_sum_type(sums->type);
    if (!arguments->state)
        return read_row(arguments->carry_in, type, sums->columns, &comparison->carry);
    if (arguments->carry_in)
        return fail(EX_USAGE, "--carry-in and --continue: only one of them");
    return state_file_sums(&comparison->state, arguments->state, comparison->scanned.name, type, sums->columns,
                           &comparison->carry);
}

static int inputs_unchanged(void *context) {
    const struct comparison *comparison = context;
    const int code = input_unchanged(&comparison->input);
    return code == EX_OK ? input_unchanged(&comparison->scanned) : code;
}

static void close_all(void *context) {
    struct comparison *comparison = context;
    serial_sums_end(&comparison->sums);
    state_file_close(&comparison->state);
    input_close(&comparison->input);
    input_close(&comparison->scanned);
    free(comparison->values);
    free(comparison->rounded);
    free(comparison->spare);
    free(comparison->carry);
}

int verify_main(int argc, char **argv) {
    static const struct job_step steps[] = {{open_input, STEP_READ, false},       {open_scanned, STEP_READ, false},
                                            {read_start, STEP_READ, false},       {verify_find_end, STEP_READ, false},
                                            {verify_make_room, STEP_WORK, false}, {verify_compare, STEP_WORK, true},
                                            {inputs_unchanged, STEP_READ, false}};
    static const struct job_table table = {&options_of_verify, NULL, JOB_STEPS(steps), tell, NULL, close_all};
    struct comparison comparison = {.state = STATE_FILE_NONE};
    return job_run(&table, &comparison, &comparison.arguments.common, argc, argv);
}
