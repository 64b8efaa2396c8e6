/* The call of tuplescan/columns.h: each column is a table of one column, and a call of its own, checked before. */
#include <tuplescan/columns.h>
#include <tuplescan/linear_recurrence.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "columns_apart.h"
#include "pool.h"
#include "refusals.h"
#include "run.h"
#include "state/state_call.h"
#include "status.h"

struct columns {
    const table_columns *a; /* the coefficients of a recurrence; NULL: there are none */
    const table_columns *in, *out;
    table_scan_options options;
    struct call *calls; /* one for each column */
    const struct element *element;
    struct sum_state *state;       /* of all columns, or NULL */
    struct sum_state before;       /* its header */
    size_t state_bytes, one_bytes; /* of it, and of the state of one column */
    bool is_shared; /* columns are shared out among threads; otherwise each has all threads in its turn */
    struct findings found;
    atomic_flag has_failed;
    struct failure failure; /* the first one */
};

/* The place of a column in a row of the options, if there is that row. */
static void *place_in_row(const struct columns *columns, const void *row, size_t column) {
    return scan_elements_on((void *)(uintptr_t)row, (ptrdiff_t)column, columns->element->type);
}

/* The coefficients of a column, and that of the row where it begins. */
static table_view factors_of(const struct columns *columns, size_t column) {
    return columns_view(columns->a, columns->a->count > 1 ? column : 0);
}

static const void *first_factor(const struct columns *columns, size_t column) {
    const void *const first = columns->options.first_coefficients;
    return columns->a && columns->a->count > 1
               ? scan_elements_on((void *)(uintptr_t)first, (ptrdiff_t)column, columns->a->type)
               : first;
}

/* The values of one column from the rows of a state of all of them to a state of its own, or back. */
static void copy_state(const struct columns *columns, size_t column, struct sum_state *own, bool back) {
    const size_t size = columns->element->bytes, row_bytes = columns->out->count * size;
    const unsigned slots = element_state_rows(columns->element);
    char *all = (char *)(columns->state + 1) + column * size, *one = (char *)(own + 1);
    for (unsigned slot = 0; slot < slots; slot++, all += row_bytes, one += size)
        memcpy(back ? all : one, back ? one : all, size);
}

/* The column's finding is a number of a row. */
static void note_findings(struct columns *columns, size_t column, struct findings found) {
    if (found.first_overflow != TABLE_NO_OVERFLOW)
        found.first_overflow *= columns->in->count;
    findings_add(&columns->found, &found, column);
}

static table_status scan_column(struct columns *columns, size_t column, table_report *report) {
    struct call call = columns->calls[column];
    struct findings found = FINDINGS_NONE;
    scan_find_into(&call.scan, &call.scan, &found);
    if (columns->is_shared)
        call.scan.threads = 1;
    const table_status status = run_scan(&call, report);
    if (status != TABLE_OK)
        return status_fail_at(status, "column", column);
    note_findings(columns, column, found);
    return TABLE_OK;
}

/* What the shape of `a` says is for the call of each column to find, but for how many there are. */
static table_status validate_factor_columns(const table_columns *a, const table_columns *in,
                                            const table_scan_options *options) {
    if (a->count != 1 && a->count != in->count)
        return status_fail(TABLE_ERROR_SHAPE, "a has %zu columns, and b has %zu", a->count, in->count);
    if (a->count > 0 && !a->columns)
        return status_fail(TABLE_ERROR_ARGUMENT, "a->columns is a null pointer");
    return refuse(CALLER_RECURRENCE, options);
}

static table_status validate_shapes(const struct columns *columns) {
    const table_columns *a = columns->a, *in = columns->in, *out = columns->out;
    const table_scan_options *options = &columns->options;
    const char *const in_name = a ? "b" : "in", *const out_name = a ? "h" : "out";
    const table_operation operation = a ? TABLE_RECURRENCE : options->operation;
    if (!in || !out)
        return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", in ? out_name : in_name);
    if (in->count != out->count || in->rows != out->rows)
        return status_fail(TABLE_ERROR_SHAPE, "%s is %zu x %zu and %s is %zu x %zu", in_name, in->rows, in->count,
                           out_name, out->rows, out->count);
    if (in->count > 0 && (!in->columns || !out->columns))
        return status_fail(TABLE_ERROR_ARGUMENT, "%s->columns is a null pointer", in->columns ? out_name : in_name);
    if (a)
        TRY(validate_factor_columns(a, in, options));
    TRY(refuse(CALLER_COLUMNS, options));
    TRY(refuse_types(operation, in->type, out->type, "out->type"));
    TRY(refuse_kept(operation, out->type, options->kept));
    return validate_words(options);
}

static table_status validate_state(struct columns *columns, void *state) {
    struct sum_state *header = state;
    size_t bytes;
    if (!state)
        return TABLE_OK;
    TRY(state_look("options->state", state, &bytes));
    if (bytes > 0) {
        TRY(state_fits("options->state", header, columns->element, columns->out->count));
        TRY(state_kept("options->state", header));
    }
    TRY(state_bytes(columns->element, columns->out->count, &columns->state_bytes));
    TRY(state_bytes(columns->element, 1, &columns->one_bytes));
    columns->state = state;
    columns->before = *header;
    return TABLE_OK;
}

static table_status validate_count(const struct columns *columns) {
    const uint64_t before = columns->before.rows;
    size_t values;
    return !columns->options.first_overflow || (checked_add(before, columns->in->rows, &values) &&
                                                checked_multiply(values, columns->in->count, &values))
               ? TABLE_OK
               : status_fail(TABLE_ERROR_TOO_LARGE,
                             "options->first_overflow: %llu rows of %zu columns cannot be counted",
                             (unsigned long long)before + columns->in->rows, columns->in->count);
}

static table_status validate_column(struct columns *columns, size_t column) {
    const table_view in = columns_view(columns->in, column), out = columns_view(columns->out, column);
    const table_view a = columns->a ? factors_of(columns, column) : (table_view){0};
    struct findings found;
    table_scan_options options = columns->options;
    options.carry_in = place_in_row(columns, options.carry_in, column);
    options.carry_out = place_in_row(columns, options.carry_out, column);
    findings_of_part(&found, &options);
    options.report = NULL;
    options.first_coefficients = first_factor(columns, column);
    TRY(validate_scan(columns->a ? &a : NULL, &in, &out, &options, CALL_AND_WAIT, &columns->calls[column]));
    return columns->before.version != 0 && options.carry_in
               ? status_fail(TABLE_ERROR_ARGUMENT,
                             "options->carry_in: the sum of options->state has begun, and has its start")
               : TABLE_OK;
}

/* All that a column's own call would refuse is found before the first value is written. Columns are shared out if all
 * are on the host, and no times are asked for. */
static table_status validate_columns(struct columns *columns) {
    columns->is_shared = columns->options.report == NULL;
    for (size_t j = 0; j < columns->in->count; j++) {
        const table_status status = validate_column(columns, j);
        if (status != TABLE_OK)
            return status_fail_at(status, "column", j);
        columns->is_shared = columns->is_shared && columns->calls[j].backend->id == TABLE_BACKEND_CPU;
    }
    return TABLE_OK;
}

/* Rows without columns are taken as a table without columns. */
static table_status scan_nothing(const struct columns *columns, const table_scan_options *options) {
    const table_columns *a = columns->a, *in = columns->in, *out = columns->out;
    const table_view from = {.rows = in->rows, .type = in->type}, to = {.rows = out->rows, .type = out->type};
    if (!a)
        return table_prefix_sum(&from, &to, options);
    const table_view factors = {.rows = a->rows, .type = a->type};
    return table_linear_recurrence(&factors, &from, &to, options);
}

static void scan_shared(const struct jobs *jobs, size_t column, unsigned thread) {
    struct columns *columns = (struct columns *)(uintptr_t)jobs->context;
    (void)thread;
    const table_status status = scan_column(columns, column, NULL);
    if (status != TABLE_OK && !atomic_flag_test_and_set(&columns->has_failed))
        failure_keep(&columns->failure, status);
}

static table_status scan_at_once(struct columns *columns) {
    struct jobs jobs = {.work = scan_shared, .context = columns, .count = columns->in->count};
    const table_status ended = jobs_run(&jobs, columns->calls[0].scan.threads);
    TRY(failure_tell(&columns->failure));
    return ended;
}

static table_status scan_in_turn(struct columns *columns) {
    table_report *report = columns->options.report, one;
    if (report)
        *report = (table_report){0};
    for (size_t j = 0; j < columns->in->count; j++) {
        TRY(scan_column(columns, j, report ? &one : NULL));
        if (report)
            run_add_report(report, &one);
    }
    return TABLE_OK;
}

static table_status scan_all(struct columns *columns) {
    return columns->is_shared ? scan_at_once(columns) : scan_in_turn(columns);
}

/* Each column has a state of its own meanwhile. The state of all goes on with all columns or with none. */
static table_status scan_with_state(struct columns *columns) {
    const size_t count = columns->in->count, step = round_up(columns->one_bytes, TABLE_STATE_ALIGNMENT);
    size_t bytes;
    if (!columns->state)
        return scan_all(columns);
    char *const memory = checked_multiply(count, step, &bytes) ? aligned_alloc(TABLE_STATE_ALIGNMENT, bytes) : NULL;
    if (!memory)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no host memory for states of %zu columns", count);
    for (size_t j = 0; j < count; j++) {
        struct sum_state *const own = columns->calls[j].scan.state = (struct sum_state *)(memory + j * step);
        *own = columns->before;
        own->columns = own->version != 0;
        copy_state(columns, j, own, false);
    }
    const table_status status = scan_all(columns);
    for (size_t j = 0; j < count && status == TABLE_OK; j++)
        copy_state(columns, j, (struct sum_state *)(memory + j * step), true);
    if (status == TABLE_OK) {
        *columns->state = *(struct sum_state *)memory; /* all columns have summed the same rows */
        columns->state->columns = count;
    }
    free(memory);
    return status;
}

/* Looks at each column, and at all of them together. */
static table_status scan_checked(struct columns *columns) {
    size_t bytes;
    columns->calls = checked_multiply(columns->in->count, sizeof *columns->calls, &bytes) ? malloc(bytes) : NULL;
    if (!columns->calls)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no host memory for the calls of %zu columns", columns->in->count);
    table_status status = validate_columns(columns);
    if (status == TABLE_OK)
        status = columns_look_apart(columns->a, columns->in, columns->out, &columns->options, columns->element->type,
                                    columns->state, columns->state_bytes);
    if (status == TABLE_OK)
        status = scan_with_state(columns);
    if (status == TABLE_OK)
        findings_tell(&columns->found, &columns->options);
    free(columns->calls);
    return status;
}

static table_status scan_columns(const table_columns *a, const table_columns *in, const table_columns *out,
                                 const table_scan_options *options) {
    struct columns columns = {.a = a, .in = in, .out = out, .options = *options_of(options), .found = FINDINGS_NONE};
    atomic_flag_clear(&columns.has_failed);
    TRY(validate_shapes(&columns));
    columns.element = element_of(a ? TABLE_RECURRENCE : columns.options.operation, out->type, columns.options.kept);
    TRY(validate_state(&columns, columns.options.state));
    columns.options.state = NULL;
    TRY(validate_count(&columns));
    if (in->count == 0)
        return scan_nothing(&columns, options);
    return scan_checked(&columns);
}

table_status table_prefix_sum_columns(const table_columns *in, const table_columns *out,
                                      const table_scan_options *options) {
    return scan_columns(NULL, in, out, options);
}

table_status table_linear_recurrence_columns(const table_columns *a, const table_columns *b, const table_columns *h,
                                             const table_scan_options *options) {
    return a ? scan_columns(a, b, h, options) : status_fail(TABLE_ERROR_ARGUMENT, "a is a null pointer");
}
