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

static int open_scanned(struct input_file *scanned, const char *path, const struct input_file *input,
                        const struct scan_arguments *arguments) {
    const struct table_layout *in = &input->layout, *out = &scanned->layout;
    table_type type = arguments->common.out_type ? arguments->common.out_type : default_sum_type(in->type);
    static const char *const places[BY_MOST] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                                "8", "9", "10", "11", "12", "13", "14", "15"};
    struct input_request request = {.format = arguments->common.output_format,
                                    .kept = places, /* what is kept stands before the sums */
                                    .kept_count = arguments->common.kept.count,
                                    .type = type,
                                    .columns = in->columns,
                                    .type_is_a_hint = true,
                                    .memory = memory_there(arguments->common.memory),
                                    .delimiter = arguments->common.delimiter};
    int code = input_start(scanned, path, &request);
    if (code != EX_OK)
        return code;
    if (!table_types_supported(in->type, out->type) ||
        (arguments->common.out_type && out->type != arguments->common.out_type))
        return fail(EX_DATAERR, "%s: its type is %s, and the sums of %s would be %s", scanned->name,
                    table_type_name(out->type), table_type_name(in->type),
                    arguments->common.out_type ? table_type_name(arguments->common.out_type)
                                               : sum_types_text(in->type));
    if (out->columns != in->columns ||
        (input->rows_known && scanned->rows_known && out->rows != in->rows + arguments->offsets))
        return verify_wrong_shape(scanned, input);
    return EX_OK;
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

static int say(const struct scan_arguments *arguments, const struct comparison *comparison) {
    const struct difference *difference = comparison->differs ? &comparison->difference : NULL;
    const struct overflow overflow = find_overflow(comparison);
    if (arguments->common.json)
        print_json(comparison->input, comparison->scanned, difference, &overflow);
    if (difference)
        return fail(EX_DATAERR, "%s: row %zu, column %zu: expected %s, found %s", comparison->scanned->name,
                    difference->row, difference->column, difference->expected, difference->found);
    if (!arguments->common.json && !arguments->common.quiet)
        print_text(comparison->input, comparison->scanned, &overflow);
    return EX_OK;
}

static int verify(const struct scan_arguments *arguments, struct input_file *input, struct input_file *scanned,
                  const void *carry, const struct state_file *state) {
    struct comparison comparison = {.input = input,
                                    .scanned = scanned,
                                    .carry = carry,
                                    .exclusive = arguments->exclusive,
                                    .reverse = arguments->reverse,
                                    .offsets = arguments->offsets};
    const size_t asked = arguments->common.memory;
    struct memory_budget budget = {.most = verify_takes_all(&comparison) ? memory_there(asked) : memory_limit(asked),
                                   .used = input_memory(input) + input_memory(scanned),
                                   .buffers = input->buffers + scanned->buffers};
    int code = comparison.reverse ? verify_find_end(&comparison, &budget) : EX_OK;
    if (code == EX_OK)
        code = verify_make_room(&comparison, &budget, state);
    comparison.sums.skip_nan = arguments->skip_nan;
    progress_begin(&comparison.progress, !arguments->common.quiet && !arguments->common.no_progress);
    if (code == EX_OK)
        code = verify_compare(&comparison);
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
static int read_start(const struct scan_arguments *arguments, const struct input_file *scanned,
                      struct state_file *state, void **carry) {
    const struct table_layout *sums = &scanned->layout;
    if (!arguments->state)
        return read_row(arguments->carry_in, table_sum_type(sums->type), sums->columns, carry);
    if (arguments->carry_in)
        return fail(EX_USAGE, "--carry-in and --continue: only one of them");
    return state_file_sums(state, arguments->state, scanned->name, table_sum_type(sums->type), sums->columns, carry);
}

int verify_main(int argc, char **argv) {
    struct scan_arguments arguments = {0};
    struct input_file input = {0}, scanned = {0};
    struct state_file state = STATE_FILE_NONE;
    void *carry = NULL;
    table_type like;
    int code = options_parse(&options_of_verify, &arguments, argc, argv);
    if (code != GO_ON)
        return code;
    code = state_file_type(arguments.state, &like);
    if (code == EX_OK)
        code = start_input(&input, arguments.common.inputs[0],
                           arguments.common.out_type ? arguments.common.out_type : like, NULL, &arguments);
    if (code == EX_OK)
        code = open_scanned(&scanned, arguments.common.inputs[1], &input, &arguments);
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
