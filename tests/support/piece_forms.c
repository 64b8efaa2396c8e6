#include "piece_forms.h"

#include <stdlib.h>
#include <string.h>

#include <tuplescan/tuplescan.h>

#include "call.h"

static void open_table(struct trial *t, struct table *table, const struct memory *memory, table_type type, size_t rows,
                       size_t columns) {
    struct random *random = &t->random;
    const size_t size = element_size(type), gap = random_once_in(random, 2) ? random_below(random, 9) : 0;
    const ptrdiff_t stride = (ptrdiff_t)(columns + (t->in_lines ? gap / 4 * 4 : gap));
    const size_t skew = !t->in_lines && random_once_in(random, 3) ? random_below(random, size) : 0;
    table_open_anywhere(table, memory, type, rows, columns, random_once_in(random, 3) ? -stride : stride,
                        t->in_lines ? 0 : random_below(random, 4) * size + skew,
                        skew == 0 && random_once_in(random, 2) ? EDGE_BACK : EDGE_FRONT);
}

/* The coefficients of the piece, which only recurrences have. */
static void open_coefficients(struct trial *t, struct table *a, const struct memory *memory) {
    if (t->operation != TABLE_RECURRENCE)
        return;
    open_table(t, a, memory, t->a_type, t->a_by_row ? t->piece : 1, trial_a_columns(t));
    table_set_packed(a, trial_a(t, t->done, t->piece));
    trial_require(t, table_upload(a), "a cannot be written");
}

static void close_coefficients(struct trial *t, struct table *a) {
    if (t->operation != TABLE_RECURRENCE)
        return;
    trial_require_image(t, a, "a");
    table_close(a);
}

static table_status call(const struct trial *t, const table_view *a, const table_view *in, const table_view *out,
                         const table_scan_options *options) {
    return t->operation == TABLE_RECURRENCE ? table_linear_recurrence(a, in, out, options)
                                            : table_prefix_sum(in, out, options);
}

void open_tables(struct trial *t, struct tables *tables, const struct memory *memory, size_t first, size_t rows,
                 bool more) {
    const char *const values = trial_values(t, first, rows);
    *tables = (struct tables){.first = first, .rows = rows, .more = more};
    tables->in_place = t->in_type == t->out_type && random_once_in(&t->random, 2);
    open_table(t, &tables->out, memory, t->out_type, rows + more, t->columns);
    table_fill_rubbish(&tables->out, &t->random);
    if (tables->in_place) {
        struct table window = tables->out;
        window.view.rows = rows;
        if (more && random_once_in(&t->random, 2)) {
            const ptrdiff_t step = window.view.stride * (ptrdiff_t)element_size(t->in_type);
            window.first = (size_t)((ptrdiff_t)window.first + step);
            window.view.data = (char *)window.view.data + step;
        }
        table_set_packed(&window, values);
        tables->from = window.view;
    } else {
        open_table(t, &tables->in, memory, t->in_type, rows, t->columns);
        table_set_packed(&tables->in, values);
        trial_require(t, table_upload(&tables->in), "in cannot be written");
        tables->from = tables->in.view;
    }
    trial_require(t, table_upload(&tables->out), "out cannot be written");
}

void close_tables(struct trial *t, struct tables *tables) {
    trial_require_results(t, &tables->out, tables->first, tables->rows, tables->more);
    table_close(&tables->out);
    if (tables->in_place)
        return;
    trial_require_image(t, &tables->in, "in");
    table_close(&tables->in);
}

/* A view that says 0 for the stride that it means, now and then. */
static table_view seen(struct trial *t, table_view view) {
    if (view.stride == (ptrdiff_t)view.columns && random_once_in(&t->random, 4))
        view.stride = 0;
    return view;
}

/* What a call says of itself. Only sums of one table have as many units as it has, and each strategy by its name. */
static void require_report(const struct trial *t, const table_scan_options *options, const table_report *report) {
    const table_strategy asked = options->strategy;
    trial_require(t, report->backend == options->backend, "the report names another backend");
    trial_require(t, report->seconds >= 0 && report->transfer_seconds >= 0, "the report's seconds are negative");
    if (t->with_state || t->offsets || t->columns == 0 || t->operation != TABLE_SUM)
        return;
    trial_require(
        t, report->strategy != TABLE_STRATEGY_AUTO && (asked == TABLE_STRATEGY_AUTO || asked == report->strategy),
        "the report names another strategy");
    trial_require(t, report->units == trial_units(t), "the report's units");
}

/* One call for the piece. The stream form looks at no start of a sum that has begun. */
static void sum_by_call(struct trial *t, const struct memory *memory, const struct memory *beside, bool on_stream) {
    struct tables tables;
    struct table a;
    struct sides sides;
    table_report report = {0};
    open_tables(t, &tables, memory, t->done, t->piece, t->offsets);
    open_coefficients(t, &a, memory);
    const table_view in = seen(t, tables.from), out = seen(t, tables.out.view);
    table_scan_options options = trial_options(t, beside, memory, on_stream, &sides);
    if (memory != t->way->memory)
        options.backend = TABLE_BACKEND_CPU;
    if (on_stream) {
        const table_view *const of_recurrence = t->operation == TABLE_RECURRENCE ? &a.view : NULL;
        const char *wrong = call_on_stream(t->way, of_recurrence, &in, &out, &options, &t->random);
        trial_require(t, !wrong, wrong);
    } else {
        options.report = random_once_in(&t->random, 2) ? &report : NULL;
        trial_ok(t, call(t, &a.view, &in, &out, &options));
        if (options.report)
            require_report(t, &options, &report);
    }
    close_tables(t, &tables);
    close_coefficients(t, &a);
    trial_close_sides(t, &options, &sides);
}

void sum_here(struct trial *t) { sum_by_call(t, t->way->memory, t->way->memory, false); }
void sum_with_host_state(struct trial *t) { sum_by_call(t, t->way->memory, &host_memory, false); }
void sum_on_cpu(struct trial *t) { sum_by_call(t, &host_memory, &host_memory, false); }
/* Groups of `width` columns as tables, one after the other. */
static char *regroup(const struct trial *t, const char *rows, size_t count, size_t width, table_type type) {
    const size_t part = width * element_size(type);
    char *const packed = get_memory(count * t->columns * element_size(type));
    for (size_t k = 0; k < t->columns / width; k++)
        for (size_t i = 0; i < count; i++)
            memcpy(packed + (k * count + i) * part, rows + (i * t->columns / width + k) * part, part);
    return packed;
}

/* The first overflow of the first table that has one, counted from its own first row. */
static uint64_t overflow_of_tables(const struct trial *t, size_t width) {
    for (size_t j = 0; j < t->columns; j += width) {
        const char *const values = trial_values(t, 0, t->rows) + j * element_size(t->in_type);
        const table_view in = {(char *)(uintptr_t)values, t->rows, width, (ptrdiff_t)t->columns, t->in_type};
        struct reference found = {.operation = t->operation, .type = t->out_type, .reverse = t->reverse};
        reference_prefix_sum(&in, trial_sums(t, 0) + j * element_size(t->sum_type), false, &found);
        if (found.first_overflow != TABLE_NO_OVERFLOW)
            return j * t->rows + found.first_overflow;
    }
    return TABLE_NO_OVERFLOW;
}

/* Runs the batch of which these are the first tables, `in_step` and `out_step` elements from those that follow. */
static void call_batch(struct trial *t, const table_view *a, const table_view *in, const table_view *out,
                       ptrdiff_t in_step, ptrdiff_t out_step) {
    struct sides sides;
    const char *wrong = NULL;
    table_scan_options options = trial_options(t, t->way->memory, t->way->memory, false, &sides);
    options.tables = t->columns / in->columns;
    options.in_step = in_step;
    options.out_step = out_step;
    options.coefficient_step = t->operation == TABLE_RECURRENCE && t->a_by_column ? (ptrdiff_t)in->columns : 0;
    if (t->way->direct && !(t->offsets && (options.first_overflow || options.skipped)) &&
        random_once_in(&t->random, 3)) {
        options.strategy = options.strategy == TABLE_STRATEGY_HOST ? TABLE_STRATEGY_AUTO : options.strategy;
        wrong = call_on_stream(t->way, t->operation == TABLE_RECURRENCE ? a : NULL, in, out, &options, &t->random);
        trial_require(t, !wrong, wrong);
    } else {
        trial_ok(t, call(t, a, in, out, &options));
    }
    if (options.first_overflow) {
        uint64_t found;
        trial_require(t,
                      block_download(&sides.word, &found) && block_surroundings_intact(&sides.word) &&
                          found == overflow_of_tables(t, in->columns),
                      "first_overflow of tables");
        block_close(&sides.word);
        options.first_overflow = NULL;
    }
    trial_close_sides(t, &options, &sides);
}

/* Tables one after the other. */
static void sum_tables(struct trial *t, size_t width) {
    const size_t count = t->columns / width, out_rows = t->rows + t->offsets;
    const bool in_place = t->in_type == t->out_type && !t->offsets && random_once_in(&t->random, 3);
    struct table in, out, a;
    char *const results = trial_results(t, 0, t->rows, t->offsets);
    char *const values = regroup(t, trial_values(t, 0, t->rows), t->rows, width, t->in_type);
    char *const expected = regroup(t, results, out_rows, width, t->out_type);
    open_table(t, &in, t->way->memory, t->in_type, count * t->rows, width);
    open_table(t, &out, t->way->memory, t->out_type, count * out_rows, width);
    open_coefficients(t, &a, t->way->memory);
    table_set_packed(&in, values);
    table_fill_rubbish(&out, &t->random);
    trial_require(t, table_upload(&in) && table_upload(&out), "the tables cannot be written");
    table_view from = in.view, to = in_place ? in.view : out.view, some_a = a.view;
    from.rows = t->rows;
    to.rows = out_rows;
    some_a.columns = t->a_by_column ? width : 1;
    call_batch(t, &some_a, &from, &to, (ptrdiff_t)t->rows * from.stride, (ptrdiff_t)out_rows * to.stride);
    table_set_packed(in_place ? &in : &out, expected);
    trial_require_image(t, &in, in_place ? "tables in place" : "tables of in");
    trial_require_image(t, &out, "tables of out");
    close_coefficients(t, &a);
    table_close(&in);
    table_close(&out);
    free(expected);
    free(values);
    free(results);
}

/* Columns, or several at a time, as tables, which lie one after the other, or between each other. */
void sum_batch(struct trial *t) {
    struct tables tables;
    struct table a;
    size_t width = 1 + random_below(&t->random, random_once_in(&t->random, 2) ? 3 : t->columns);
    width = t->columns % width == 0 && (trial_a_columns(t) > 1 || !t->shifted) ? width : 1;
    if (random_once_in(&t->random, 2) && t->rows > 0) {
        sum_tables(t, width);
        return;
    }
    open_tables(t, &tables, t->way->memory, t->done, t->piece, t->offsets);
    open_coefficients(t, &a, t->way->memory);
    table_view in = tables.from, out = tables.out.view, some_a = a.view;
    in.columns = out.columns = width;
    some_a.columns = t->a_by_column ? width : 1;
    call_batch(t, &some_a, &in, &out, (ptrdiff_t)width, (ptrdiff_t)width);
    close_tables(t, &tables);
    close_coefficients(t, &a);
}

void sum_on_stream(struct trial *t) { sum_by_call(t, t->way->memory, t->way->memory, true); }

/* Without results; `totals`: the sums through the piece are wanted. */
static void feed(struct trial *t, bool totals) {
    struct trial fed = *t;
    struct table in, a;
    struct sides sides;
    struct block row;
    char *found = get_memory(t->columns * element_size(t->sum_type));
    open_table(t, &in, t->way->memory, t->in_type, t->piece, t->columns);
    table_set_packed(&in, trial_values(t, t->done, t->piece));
    trial_require(t, table_upload(&in), "in cannot be written");
    fed.exclusive = fed.offsets = fed.same_carry = false;
    table_scan_options options = trial_options(&fed, t->way->memory, t->way->memory, false, &sides), given = options;
    given.carry_out = given.first_overflow = NULL;
    given.kept = (table_type)0; /* the type of the totals says it */
    open_coefficients(t, &a, t->way->memory);
    block_open(&row, t->way->memory, t->columns * element_size(t->sum_type), 0, EDGE_FRONT);
    void *const to = totals ? row.address : NULL;
    table_scan_options to_carry = given;
    to_carry.carry_out = to;
    trial_ok(t, t->operation == TABLE_RECURRENCE ? table_linear_recurrence(&a.view, &in.view, NULL, &to_carry)
                                                 : table_column_totals(&in.view, t->sum_type, to, &given));
    close_coefficients(t, &a);
    trial_require(t, block_download(&row, found) && block_surroundings_intact(&row), "the totals cannot be read");
    if (totals)
        trial_require_row(t, trial_sums(t, t->done + t->piece), found, "totals");
    if (options.carry_out)
        block_close(&sides.carry_out);
    if (options.first_overflow)
        block_close(&sides.word);
    trial_close_sides(&fed, &given, &sides);
    block_close(&row);
    table_close(&in);
    free(found);
    t->random = fed.random;
}

void feed_totals(struct trial *t) { feed(t, true); }

/* A range by itself, joined to a sum that has begun. */
void join_range(struct trial *t) {
    char *const whole = t->state;
    t->state = get_memory(t->state_bytes);
    trial_ok(t, table_state_begin_of(t->state, t->operation, t->sum_type, t->columns, t->before + t->done));
    feed(t, false);
    trial_ok(t, table_state_check(t->state, t->state_bytes, t->sum_type, t->columns));
    trial_ok(t, table_state_join(whole, t->state));
    free(t->state);
    t->state = whole;
}

/* Column j of packed rows into a table of one column. */
static void set_column(const struct trial *t, struct table *column, const char *rows, size_t j) {
    const size_t size = element_size(column->view.type);
    char *packed = get_memory(t->piece * size);
    for (size_t i = 0; i < t->piece; i++)
        memcpy(packed + i * size, rows + (i * t->columns + j) * size, size);
    table_set_packed(column, packed);
    free(packed);
}

/* Columns that lie apart. */
void sum_columns(struct trial *t) {
    struct table in[PIECE_COLUMNS_MOST], out[PIECE_COLUMNS_MOST];
    table_column from[PIECE_COLUMNS_MOST], to[PIECE_COLUMNS_MOST], of_a[PIECE_COLUMNS_MOST];
    struct table a;
    const bool in_place = t->in_type == t->out_type && random_once_in(&t->random, 3);
    struct sides sides;
    for (size_t j = 0; j < t->columns; j++) {
        open_table(t, &in[j], t->way->memory, t->in_type, t->piece, 1);
        open_table(t, &out[j], t->way->memory, t->out_type, t->piece, 1);
        set_column(t, &in[j], trial_values(t, t->done, t->piece), j);
        table_fill_rubbish(&out[j], &t->random);
        trial_require(t, table_upload(&in[j]) && table_upload(&out[j]), "the columns cannot be written");
        from[j] = (table_column){in[j].view.data, in[j].view.stride};
        to[j] = in_place ? from[j] : (table_column){out[j].view.data, out[j].view.stride};
    }
    const table_columns all = {from, t->columns, t->piece, t->in_type}, sums = {to, t->columns, t->piece, t->out_type};
    open_coefficients(t, &a, t->way->memory);
    for (size_t j = 0; t->operation == TABLE_RECURRENCE && j < trial_a_columns(t); j++)
        of_a[j] = (table_column){(char *)a.view.data + j * element_size(t->a_type), a.view.stride};
    const table_columns factors = {of_a, trial_a_columns(t), t->a_by_row ? t->piece : 1, t->a_type};
    table_scan_options options = trial_options(t, &host_memory, &host_memory, false, &sides);
    table_report report = {0};
    options.report = random_once_in(&t->random, 3) ? &report : NULL; /* with it, one column after the other */
    trial_ok(t, t->operation == TABLE_RECURRENCE ? table_linear_recurrence_columns(&factors, &all, &sums, &options)
                                                 : table_prefix_sum_columns(&all, &sums, &options));
    close_coefficients(t, &a);
    trial_require(t, !options.report || report.backend != TABLE_BACKEND_AUTO, "the report is not written");
    char *results = trial_results(t, t->done, t->piece, false);
    for (size_t j = 0; j < t->columns; j++) {
        set_column(t, in_place ? &in[j] : &out[j], results, j);
        trial_require_image(t, &in[j], in_place ? "a column" : "a column of in");
        trial_require_image(t, &out[j], in_place ? "what was not to be written" : "a column of out");
        table_close(&in[j]);
        table_close(&out[j]);
    }
    free(results);
    trial_close_sides(t, &options, &sides);
}
