/* The tables of a scan: inputs, outputs, and the state between them. */
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "memory.h"
#include "message.h"
#include "text/field.h"
#include "types.h"
#include "values.h"

/* Inputs that stay open from when they are looked at to when they are read. Of more, and of those that have buffers,
 * what can be opened twice is closed meanwhile. */
enum { OPEN_MOST = 16 };

/* Sums that are there keep their type. A sum that goes on does, if none is said: that which the usual sums are kept in,
 * or else the type itself. */
static table_type wanted_sums(const struct scan_job *job) {
    const table_type before = job->there ? job->there : job->state.facts.type, in = job->input->layout.type;
    if (job->arguments.operation != TABLE_SUM || job->arguments.kept_type)
        return job->arguments.common.out_type ? job->arguments.common.out_type : job->there;
    const bool usual = !job->there && table_sum_type(default_sum_type(in)) == before;
    const bool keeps = !job->arguments.common.out_type && !usual && table_types_supported(in, before);
    return keeps ? before : job->arguments.common.out_type;
}

table_type scan_kept_type(const struct scan_job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    return arguments->kept_type ? arguments->kept_type : table_kept_type(arguments->operation, job->out_layout.type);
}

void scan_keep(struct scan_job *job, const char *name, size_t bytes) {
    struct memory_budget budget = {.most = memory_limit(job->arguments.common.memory), .used = job->kept};
    memory_charge(&budget, name, bytes);
    job->kept = budget.used;
}

size_t scan_memory_left(const struct scan_job *job) {
    const struct memory_budget budget = {.most = memory_there(job->arguments.common.memory), .used = job->kept};
    return memory_left(&budget);
}

/* Opens the state that the sums go on from, or that is kept between inputs summed one after the other, and the sums
 * above the table; segments have states of their own. */
static void open_state(struct scan_job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    const table_operation operation = arguments->operation;
    const table_type kept = scan_kept_type(job);
    const size_t columns = job->out_layout.columns;
    struct state_file *state = &job->state;
    size_t bytes;
    if (!arguments->state && (arguments->common.input_count == 1 || scan_has_segments(arguments)))
        return;
    if (!arguments->state)
        state->name = job->name;
    die_unless_ok(state->name, table_state_bytes_of(operation, kept, columns, &bytes));
    scan_keep(job, state->name, bytes);
    if (state->facts.version == 0)
        state_file_fit(state, job->name, operation, kept, columns);
    else
        job->above = state_file_sums(state, job->name, operation, kept, columns);
}

/* The first names that columns have, and the input that has them: NULL where no input has had any so far. */
struct names_above {
    char *names;
    const char *of;
};

/* Keeps the names of the input, if they are the first ones: the input may be closed before others are looked at. */
static void note_names(struct names_above *above, const struct input_file *input) {
    const char *from = input->layout.names, *end = from;
    if (above->names || !from)
        return;
    for (size_t i = 0; i < input->layout.columns; i++)
        end += strlen(end) + 1;
    above->of = input->name;
    above->names = memory_for(input->name, (size_t)(end - from));
    memcpy(above->names, from, (size_t)(end - from));
}

/* Whether columns that have names in both have the same ones, in quotes or not. */
static bool same_names(const char *left, const char *right, size_t columns) {
    for (size_t i = 0; i < columns && left && right; i++) {
        size_t left_length, right_length;
        const char *const one = text_next_name(&left, &left_length), *const other =
                                                                         text_next_name(&right, &right_length);
        if (left_length != right_length || memcmp(one, other, left_length) != 0)
            return false;
    }
    return true;
}

/* Whether the input goes below the first one, and below the first one that has names. */
static void fits_below(const struct scan_job *job, const struct input_file *input, const struct names_above *named) {
    const struct input_file *first = &job->inputs[0];
    const struct table_layout *above = &first->layout, *layout = &input->layout;
    if (layout->type != above->type)
        die(EX_DATAERR, "%s: its type is %s, and that of %s is %s", input->name, table_type_name(layout->type),
            first->name, table_type_name(above->type));
    if (layout->columns == above->columns && !same_names(named->names, layout->names, layout->columns))
        die(EX_DATAERR, "%s: its columns have other names than those of %s; --field NAME,... picks them by name",
            input->name, named->of);
    if (!layout_same_rows(layout, above))
        die(EX_DATAERR, "%s: its rows have another shape than those of %s", input->name, first->name);
}

/* Has the process open as many files as it may. */
static void allow_many_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit); /* what cannot be had is missed when a file is opened */
    }
}

/* Where fields of --keep wait for their sums. */
static struct text_beside *beside_of(struct scan_job *job) {
    return job->arguments.common.kept.count > 0 ? &job->beside : NULL;
}

void scan_open_again(struct scan_job *job, struct input_file *input) {
    struct input_file again;
    struct scan_arguments arguments = job->arguments;
    if (input->is_open || input->data)
        return;
    arguments.common.quiet = true; /* all was said when it was opened first */
    start_input(&again, input->name, input->layout.type, beside_of(job), &arguments);
    input_is_same(&again, input);
    again.is_aside = true;
    *input = again;
}

/* All of them. The rows of the table that they are. */
static size_t start_inputs(struct scan_job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    job->inputs = memory_cleared("the inputs", arguments->common.input_count * sizeof *job->inputs);
    if (arguments->common.input_count > OPEN_MOST)
        allow_many_files();
    const bool is_recurrence = arguments->operation == TABLE_RECURRENCE;
    table_type like = job->there                   ? job->there
                      : arguments->common.out_type ? arguments->common.out_type
                      : job->state.facts.type      ? job->state.facts.type
                      : is_recurrence              ? TABLE_F64
                                                   : 0;
    struct names_above named = {0};
    size_t rows = 0;
    job->rows_known = true;
    for (unsigned i = 0; i < arguments->common.input_count; i++) {
        struct input_file *input = &job->inputs[i];
        start_input(input, arguments->common.inputs[i], like, beside_of(job), arguments);
        like = job->inputs[0].layout.type;
        if (i > 0)
            fits_below(job, input, &named);
        note_names(&named, input);
        if (i >= OPEN_MOST || (i > 0 && input_memory(input) > 0))
            input_set_aside(input);
        job->rows_known = job->rows_known && input->rows_known;
        if (__builtin_add_overflow(rows, input->layout.rows, &rows))
            die(EX_DATAERR, "%s: is more than can be counted, with what is above it", input->name);
    }
    free(named.names);
    snprintf(job->name_of_many, sizeof job->name_of_many, "%u inputs", arguments->common.input_count);
    job->name = arguments->common.input_count > 1 ? job->name_of_many : job->inputs[0].name;
    job->input = &job->inputs[0];
    return rows;
}

void scan_open_tables(struct scan_job *job) {
    struct scan_arguments *arguments = &job->arguments;
    const size_t rows = start_inputs(job);
    arguments->common.out_type = wanted_sums(job);
    const struct table_layout *in = &job->inputs[0].layout;
    lay_out_sums(arguments, &job->inputs[0], job->name, rows, &job->out_layout);
    job->out_layout.beside = beside_of(job);
    const table_type type = job->out_layout.type;
    const table_operation operation = arguments->operation;
    const table_type kept = scan_kept_type(job);
    job->checked = !arguments->wrap && !type_is_float(type) && operation != TABLE_MAXIMUM && operation != TABLE_MINIMUM;
    if (!layout_set(&job->carry_layout, kept, 1, in->columns))
        die(EX_DATAERR, "%s: its sums as %s are beyond the address space", job->name, table_type_name(type));
    job->carry_in = read_row(arguments->carry_in, kept, in->columns);
    open_state(job);
    if (scan_has_segments(arguments))
        scan_segments_open(job);
    if (scan_is_recurrence(job))
        scan_decay_open(job);
}
