/* One sum, product, maximum, minimum or recurrence in pieces that go on by a state, cut anywhere, each piece in another form of
 * call, in any layout: rows from the last one to the first, data at any address, in place, sums from the end, a row of
 * offsets, NaN that count as nothing, no columns. Pieces have the bits of the whole table's sums, and leave the state
 * that the whole leaves. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/call.h"
#include "support/chunk.h"
#include "support/places.h"
#include "support/trial.h"

enum { COLUMNS_MOST = 40, PARTS_MOST = 9 };

static bool open_table(struct trial *t, struct table *table, const struct memory *memory, table_type type, size_t rows,
                       size_t columns) {
    struct random *random = &t->random;
    const ptrdiff_t stride = (ptrdiff_t)(columns + (random_once_in(random, 2) ? random_below(random, 5) : 0));
    const size_t size = element_size(type);
    const size_t skew = random_once_in(random, 3) ? random_below(random, size) : 0;
    return table_open_anywhere(table, memory, type, rows, columns, random_once_in(random, 3) ? -stride : stride,
                               random_below(random, 4) * size + skew,
                               skew == 0 && random_once_in(random, 2) ? EDGE_BACK : EDGE_FRONT);
}

/* The coefficients of the piece, which only recurrences have. */
static void open_coefficients(struct trial *t, struct table *a, const struct memory *memory) {
    if (t->operation != TABLE_RECURRENCE)
        return;
    trial_require(t, open_table(t, a, memory, t->a_type, t->a_by_row ? t->piece : 1, trial_a_columns(t)),
                  "out of memory");
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

/* The tables of rows that are counted from `first` on. With offsets `in` may begin at the second row of `out`. */
struct tables {
    struct table in, out;
    table_view from;
    size_t first, rows;
    bool more, in_place;
};

static void open_tables(struct trial *t, struct tables *tables, const struct memory *memory, size_t first, size_t rows,
                        bool more) {
    const char *const values = trial_values(t, first, rows);
    *tables = (struct tables){.first = first, .rows = rows, .more = more};
    tables->in_place = t->in_type == t->out_type && random_once_in(&t->random, 2);
    trial_require(t, open_table(t, &tables->out, memory, t->out_type, rows + more, t->columns), "out of memory");
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
        trial_require(t, open_table(t, &tables->in, memory, t->in_type, rows, t->columns), "out of memory");
        table_set_packed(&tables->in, values);
        trial_require(t, table_upload(&tables->in), "in cannot be written");
        tables->from = tables->in.view;
    }
    trial_require(t, table_upload(&tables->out), "out cannot be written");
}

static void close_tables(struct trial *t, struct tables *tables) {
    trial_require_results(t, &tables->out, tables->first, tables->rows, tables->more);
    table_close(&tables->out);
    if (tables->in_place)
        return;
    trial_require_image(t, &tables->in, "in");
    table_close(&tables->in);
}

/* One call for the piece. The stream form looks at no start of a sum that has begun. */
static void sum_by_call(struct trial *t, const struct memory *memory, const struct memory *beside, bool on_stream) {
    struct tables tables;
    struct table a;
    struct sides sides;
    open_tables(t, &tables, memory, t->done, t->piece, t->offsets);
    open_coefficients(t, &a, memory);
    table_scan_options options = trial_options(t, beside, on_stream, &sides);
    if (memory != t->way->memory)
        options.backend = TABLE_BACKEND_CPU;
    if (on_stream) {
        const char *wrong = call_on_stream(t->way, t->operation == TABLE_RECURRENCE ? &a.view : NULL, &tables.from,
                                           &tables.out.view, &options, &t->random);
        trial_require(t, !wrong, wrong);
    } else {
        trial_ok(t, call(t, &a.view, &tables.from, &tables.out.view, &options));
    }
    close_tables(t, &tables);
    close_coefficients(t, &a);
    trial_close_sides(t, &options, &sides);
}

static void sum_here(struct trial *t) { sum_by_call(t, t->way->memory, t->way->memory, false); }
static void sum_with_host_state(struct trial *t) { sum_by_call(t, t->way->memory, &host_memory, false); }
static void sum_on_cpu(struct trial *t) { sum_by_call(t, &host_memory, &host_memory, false); }
/* Columns, or several at a time, as tables that lie between each other; the first overflow of several tables is another
 * one. */
static void sum_batch(struct trial *t) {
    struct tables tables;
    struct table a;
    struct sides sides;
    size_t width = 1 + random_below(&t->random, 3);
    width = t->columns % width == 0 && (trial_a_columns(t) > 1 || !t->shifted) ? width : 1;
    open_tables(t, &tables, t->way->memory, t->done, t->piece, t->offsets);
    open_coefficients(t, &a, t->way->memory);
    const table_scan_options options = trial_options(t, t->way->memory, false, &sides);
    table_scan_options given = options;
    table_view in = tables.from, out = tables.out.view, some_a = a.view;
    in.columns = out.columns = width;
    given.tables = t->columns / width;
    given.in_step = given.out_step = (ptrdiff_t)width;
    given.first_overflow = NULL;
    if (t->operation == TABLE_RECURRENCE && t->a_by_column) {
        some_a.columns = width;
        given.coefficient_step = (ptrdiff_t)width;
    }
    trial_ok(t, call(t, &some_a, &in, &out, &given));
    if (options.first_overflow)
        block_close(&sides.word);
    close_tables(t, &tables);
    close_coefficients(t, &a);
    trial_close_sides(t, &given, &sides);
}

static void sum_on_stream(struct trial *t) { sum_by_call(t, t->way->memory, t->way->memory, true); }

/* Without results; `totals`: the sums through the piece are wanted. */
static void feed(struct trial *t, bool totals) {
    struct trial fed = *t;
    struct table in, a;
    struct sides sides;
    struct block row;
    char *found = malloc(t->columns * element_size(t->sum_type) + 1);
    trial_require(t, found && open_table(t, &in, t->way->memory, t->in_type, t->piece, t->columns), "out of memory");
    table_set_packed(&in, trial_values(t, t->done, t->piece));
    trial_require(t, table_upload(&in), "in cannot be written");
    fed.exclusive = fed.offsets = false;
    table_scan_options options = trial_options(&fed, t->way->memory, false, &sides), given = options;
    given.carry_out = given.first_overflow = NULL;
    open_coefficients(t, &a, t->way->memory);
    trial_require(t, block_open(&row, t->way->memory, t->columns * element_size(t->sum_type), 0, EDGE_FRONT),
                  "no memory");
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

static void feed_totals(struct trial *t) { feed(t, true); }

/* A range by itself, joined to a sum that has begun. */
static void join_range(struct trial *t) {
    char *const whole = t->state;
    t->state = aligned_alloc(64, (t->state_bytes + 63) / 64 * 64);
    trial_require(t, t->state != NULL, "out of memory");
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
    char *packed = malloc(t->piece * size + 1);
    trial_require(t, packed != NULL, "out of memory");
    for (size_t i = 0; i < t->piece; i++)
        memcpy(packed + i * size, rows + (i * t->columns + j) * size, size);
    table_set_packed(column, packed);
    free(packed);
}

/* Columns that lie apart. */
static void sum_columns(struct trial *t) {
    struct table in[COLUMNS_MOST], out[COLUMNS_MOST];
    table_column from[COLUMNS_MOST], to[COLUMNS_MOST], of_a[COLUMNS_MOST];
    struct table a;
    const bool in_place = t->in_type == t->out_type && random_once_in(&t->random, 3);
    struct sides sides;
    for (size_t j = 0; j < t->columns; j++) {
        trial_require(t,
                      open_table(t, &in[j], t->way->memory, t->in_type, t->piece, 1) &&
                          open_table(t, &out[j], t->way->memory, t->out_type, t->piece, 1),
                      "out of memory");
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
    table_scan_options options = trial_options(t, &host_memory, false, &sides);
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

/* Near to where units and groups of them end, or anywhere. */
static size_t rows_of_part(struct trial *t, size_t left) {
    static const size_t units[] = {1, 512, 512, 4096, 512 * 512};
    const size_t unit = units[random_below(&t->random, sizeof units / sizeof *units)];
    const size_t rows = random_below(&t->random, left + 1);
    return random_once_in(&t->random, 6) ? 0 : random_once_in(&t->random, 2) ? rows / unit * unit : rows;
}

/* Parts on several devices and the host. The last part in the order of the table has the row of offsets. */
static void sum_parts(struct trial *t) {
    const size_t count = 1 + random_below(&t->random, PARTS_MOST), end = t->done + t->piece;
    struct tables tables[PARTS_MOST];
    table_part parts[PARTS_MOST] = {0};
    table_devices_report report;
    struct sides sides;
    for (size_t i = 0, first = t->done; i < count; first += tables[i++].rows) {
        const bool last = i + 1 == count;
        const struct place place = place_at(random_below(&t->random, place_count()));
        places_set_device(place.device);
        open_tables(t, &tables[i], place.memory, first, last ? end - first : rows_of_part(t, end - first),
                    t->offsets && (t->reverse ? i == 0 : last));
        parts[t->reverse ? count - 1 - i : i] = (table_part){
            .in = tables[i].from, .out = tables[i].out.view, .backend = place.backend, .device = place.device};
    }
    table_scan_options options = trial_options(t, &host_memory, false, &sides);
    const int device = place_at(random_below(&t->random, place_count())).device;
    options.backend = TABLE_BACKEND_AUTO;
    places_set_device(device);
    trial_ok(t, table_prefix_sum_devices(parts, count, &options, random_once_in(&t->random, 2) ? &report : NULL));
    trial_require(t, places_device() == device, "the current device is another one");
    places_set_device(0);
    for (size_t i = 0; i < count; i++)
        close_tables(t, &tables[i]);
    trial_close_sides(t, &options, &sides);
}

/* Both ends of a stream, in memory. */
struct ends {
    const char *from;
    char *to;
    size_t left, room, looked;
    struct random *random; /* NULL: reads are not short */
};

static int64_t read_some(void *context, void *to, size_t bytes) {
    struct ends *ends = context;
    size_t some = bytes < ends->left ? bytes : ends->left;
    if (ends->random && some > 0)
        some = random_once_in(ends->random, 3) ? 1 : 1 + random_below(ends->random, some);
    memcpy(to, ends->from, some);
    ends->from += some;
    ends->left -= some;
    return (int64_t)some;
}

static int write_all(void *context, const void *from, size_t bytes) {
    struct ends *ends = context;
    if (bytes > ends->room)
        return -1;
    memcpy(ends->to, from, bytes);
    ends->to += bytes;
    ends->room -= bytes;
    return 0;
}

static int look(void *context, uint64_t row, const table_view *in, const table_view *out) {
    struct ends *ends = context;
    const bool in_turn = row == ends->looked && in->rows == out->rows;
    ends->looked += in->rows;
    return !in_turn;
}

/* The rows of the piece, `pitch` bytes apart, the last one without what would follow it. */
static char *pad_rows(const struct trial *t, size_t pitch) {
    const size_t row = t->columns * element_size(t->in_type);
    char *padded = malloc(t->piece * pitch + 1);
    trial_require(t, padded != NULL, "out of memory");
    memset(padded, 0xa5, t->piece * pitch);
    for (size_t i = 0; i < t->piece; i++)
        memcpy(padded + i * pitch, trial_values(t, t->done, t->piece) + i * row, row);
    return padded;
}

/* Runs the stream, or first lets it say which memory is the least for it, and runs it with that. */
static void run_stream(struct trial *t, table_stream_options *options, bool least) {
    if (least) {
        options->memory = 1;
        trial_require(t, table_stream(options) == TABLE_ERROR_ARGUMENT, "a stream takes one byte of memory");
        const char *said = strstr(table_error_detail(), " needs ");
        trial_require(t, said && sscanf(said, " needs %zu", &options->memory) == 1, "the least memory is not said");
        trial_require(t, options->report->memory == options->memory, "the report has another least memory");
        table_error_set(TABLE_ERROR_ARGUMENT, "");
        if (t->with_state) /* which is left unspecified */
            memcpy(options->scan.state, t->state, t->state_bytes);
    }
    trial_ok(t, table_stream(options));
    trial_require(t, options->report->rows == t->piece, "the report has other rows");
}

/* Through files, both of which have bytes of another matter before the table. */
static void stream_files(struct trial *t, table_stream_options *options, struct ends *ends, bool least) {
    enum { ABOVE = 13 };
    FILE *in = tmpfile(), *out = tmpfile();
    const size_t bytes = ends->room;
    trial_require(t,
                  in && out && fwrite("thirteen bytes", 1, ABOVE, in) == ABOVE &&
                      fwrite(ends->from, 1, ends->left, in) == ends->left && fflush(in) == 0 &&
                      lseek(fileno(in), ABOVE, SEEK_SET) == ABOVE && lseek(fileno(out), ABOVE, SEEK_SET) == ABOVE,
                  "no temporary files");
    options->read_descriptor = fileno(in);
    options->write_descriptor = fileno(out);
    options->rows = t->piece;
    run_stream(t, options, least);
    trial_require(t,
                  lseek(fileno(out), 0, SEEK_CUR) == ABOVE + (off_t)bytes &&
                      pread(fileno(out), ends->to, bytes + 1, ABOVE) == (ssize_t)bytes,
                  "the output has another length, or stands elsewhere");
    if (!t->reverse && t->piece > 0)
        trial_require(t,
                      lseek(fileno(in), 0, SEEK_CUR) >= ABOVE + (off_t)ends->left &&
                          lseek(fileno(in), 0, SEEK_CUR) <= ABOVE + (off_t)(t->piece * options->in_row_bytes),
                      "the input stands elsewhere");
    fclose(in);
    fclose(out);
}

static void stream_memory(struct trial *t, table_stream_options *options, struct ends *ends, bool least) {
    if (random_once_in(&t->random, 3)) {
        options->first = ends->from;
        options->first_bytes = random_below(&t->random, ends->left + 1);
        ends->from += options->first_bytes;
        ends->left -= options->first_bytes;
    }
    ends->random = random_once_in(&t->random, 2) ? &t->random : NULL;
    options->read = read_some;
    options->write = write_all;
    options->read_context = options->write_context = ends;
    run_stream(t, options, least);
    trial_require(t, ends->room == 0, "the output is shorter");
}

/* Those of rows of the stream, side by side, in the order of the table. */
static int read_coefficients(void *context, uint64_t first, size_t rows, void *to) {
    const struct trial *t = context;
    const size_t row = trial_a_columns(t) * element_size(t->a_type), last = t->done + t->piece - 1;
    char all[8 * TRIAL_COLUMNS_MOST + 1];
    for (size_t i = 0; i < rows; i++) {
        const size_t at = (size_t)first + i, counted = t->reverse ? last - at : t->done + at;
        trial_a_of_row(t, counted, t->shifted, all);
        memcpy((char *)to + i * row, all, row);
    }
    return 0;
}

/* A stream of the piece as bytes. */
static void sum_stream(struct trial *t) {
    const size_t in_row = t->columns * element_size(t->in_type), out_row = t->columns * element_size(t->out_type);
    const size_t pitch = in_row + (random_once_in(&t->random, 3) ? random_below(&t->random, 9) : 0);
    const size_t bytes = (t->piece + t->offsets) * out_row;
    const bool files = t->reverse || random_once_in(&t->random, 3),
               least = t->piece < 5000 && random_once_in(&t->random, 3);
    char *padded = pad_rows(t, pitch), *found = malloc(bytes + 1);
    struct ends ends = {.from = padded, .to = found, .room = bytes};
    table_stream_report report;
    struct sides sides;
    trial_require(t, found != NULL, "out of memory");
    ends.left = t->piece > 0 ? (t->piece - 1) * pitch + in_row : 0;
    const bool own = t->a_by_row || t->shifted || random_once_in(&t->random, 3);
    const table_stream_coefficients a = {.type = t->a_type,
                                         .columns = trial_a_columns(t),
                                         .row = own ? NULL : t->a,
                                         .read = own ? read_coefficients : NULL,
                                         .read_context = t};
    table_scan_options scan = trial_options(t, &host_memory, false, &sides);
    table_stream_options options = {.in_type = t->in_type,
                                    .out_type = t->out_type,
                                    .columns = t->columns,
                                    .in_row_bytes = pitch,
                                    .rows = random_once_in(&t->random, 2) ? t->piece : 0,
                                    .look = t->reverse || t->offsets ? NULL : look,
                                    .look_context = &ends,
                                    .memory = random_once_in(&t->random, 2) ? 0 : (size_t)1 << 20,
                                    .scan = scan,
                                    .coefficients = t->operation == TABLE_RECURRENCE ? &a : NULL,
                                    .report = &report};
    options.scan.shifted_coefficients = 0;
    options.scan.first_coefficients = NULL;
    (files ? stream_files : stream_memory)(t, &options, &ends, least);
    trial_require(t, !options.look || ends.looked == t->piece, "look() was not shown all rows");
    char *expected = trial_results(t, t->done, t->piece, t->offsets);
    for (size_t at = 0; at < bytes; at += element_size(t->out_type))
        if (!elements_same(element_bits(expected + at, t->out_type), element_bits(found + at, t->out_type),
                           t->out_type))
            trial_fail(t, "the output is wrong at row %zu", at / out_row);
    trial_close_sides(t, &scan, &sides);
    free(expected);
    free(padded);
    free(found);
}

static bool is_on_cpu(const struct trial *t) { return t->way->backend == TABLE_BACKEND_CPU; }
static bool takes_all(const struct trial *t) { return t->way != NULL; }
static bool takes_parts(const struct trial *t) { return !trial_is_map(t); }
static bool takes_device_tables(const struct trial *t) { return t->way->direct; }
static bool takes_batches(const struct trial *t) { return !t->with_state && t->columns > 0; }
static bool takes_states(const struct trial *t) { return t->with_state; }
static bool takes_begun_states(const struct trial *t) {
    table_state_facts facts;
    trial_ok(t, table_state_describe(t->state, t->state_bytes, &facts));
    return t->with_state && facts.version > 0;
}
static bool takes_columns(const struct trial *t) {
    return t->columns > 0 && t->columns <= COLUMNS_MOST && !t->offsets && (is_on_cpu(t) || !trial_is_map(t));
}
static bool takes_files(const struct trial *t) {
    return t->columns > 0 && !(t->reverse && t->piece == 0) && (is_on_cpu(t) || !trial_is_map(t));
}

static const struct form {
    const char *name;
    void (*sum)(struct trial *t);
    bool (*takes)(const struct trial *t);
} forms[] = {{"one call", sum_here, takes_all},
             {"on the CPU", sum_on_cpu, takes_all},
             {"one call, state on the host", sum_with_host_state, takes_all},
             {"stream form", sum_on_stream, takes_device_tables},
             {"totals", feed_totals, takes_states},
             {"a range that is joined", join_range, takes_begun_states},
             {"columns", sum_columns, takes_columns},
             {"columns as tables", sum_batch, takes_batches},
             {"parts", sum_parts, takes_parts},
             {"a stream", sum_stream, takes_files}};
enum { FORMS = sizeof forms / sizeof *forms, ON_CPU = 1 };

/* The state through the rows so far says so, also when it was saved and loaded, and gives their sums. */
static void require_state(const struct trial *t) {
    char *row = malloc(t->columns * element_size(t->sum_type) + 1), *saved = malloc(t->state_bytes);
    uint64_t rows;
    trial_require(t, row && saved, "out of memory");
    trial_require(t,
                  table_state_save(t->state, saved, t->state_bytes) == TABLE_OK &&
                      table_state_load(saved, t->state_bytes, t->state) == TABLE_OK,
                  "the state is not saved and loaded");
    table_error_set(TABLE_ERROR_ARGUMENT, "");
    trial_ok(t, table_state_check(t->state, t->state_bytes, t->sum_type, t->columns));
    trial_ok(t, table_state_rows(t->state, &rows));
    trial_require(t, rows == t->before + t->done, "the state has another number of rows");
    trial_ok(t, table_state_sums(t->state, row));
    trial_require_row(t, trial_sums(t, t->done), row, "table_state_sums()");
    free(saved);
    free(row);
}

/* Most pieces end near a multiple of what something in the library is a multiple of. */
static size_t rows_of_piece(struct trial *t) {
    struct random *random = &t->random;
    const size_t left = t->rows - t->done, chunk = chunk_rows(t->out_type, t->columns);
    const size_t units[] = {512, 512, 512, 1024, 2048, 4096, 8192, chunk, chunk, 2 * chunk};
    const size_t unit = units[random_below(random, sizeof units / sizeof *units)];
    size_t rows = random_below(random, 6);
    if (random_once_in(random, 2))
        rows = unit - t->done % unit + random_below(random, 3) - 1;
    else if (random_once_in(random, 2))
        rows = random_below(random, 3 * unit);
    if (t->rows > 100000 && random_once_in(random, 2))
        rows += random_below(random, 400000);
    return rows < left && !random_once_in(random, 16) ? rows : left;
}

static void sum_in_pieces(struct trial *t, bool whole) {
    trial_begin(t);
    do {
        size_t form = whole ? ON_CPU : random_below(&t->random, FORMS);
        t->piece = whole || !t->with_state ? t->rows : rows_of_piece(t);
        if (!forms[form].takes(t))
            form = 0;
        t->form = forms[form].name;
        forms[form].sum(t);
        t->done += t->piece;
        t->piece = 0;
        if (t->with_state)
            require_state(t);
    } while (t->done < t->rows);
}

/* The whole table by the CPU, and twice in pieces. */
static void check_trial(struct trial *t, enum pattern pattern) {
    const size_t header = 64;
    way_enter(t->way);
    trial_open(t, pattern);
    char *whole = malloc(t->state_bytes);
    trial_require(t, whole != NULL, "out of memory");
    sum_in_pieces(t, true);
    memcpy(whole, t->state, t->state_bytes);
    for (unsigned i = 0; i < 2; i++) {
        sum_in_pieces(t, false);
        bool same = memcmp(whole, t->state, header) == 0;
        for (size_t at = header; at < t->state_bytes; at += element_size(t->sum_type))
            same &= elements_same(element_bits(whole + at, t->sum_type), element_bits(t->state + at, t->sum_type),
                                  t->sum_type);
        trial_require(t, same, "the state is not that of the whole table");
    }
    free(whole);
    trial_close(t);
}

/* Few, or so many that the tree above the table has many blocks, some of which become one in the table. */
static uint64_t rows_before(struct random *random) {
    const uint64_t any = random_below(random, (size_t)1 << (random_once_in(random, 3) ? 50 : 24));
    const uint64_t ones = (uint64_t)1 << random_below(random, 34);
    return random_once_in(random, 2) ? any
                                     : any / ones * ones + ones - 1 - random_below(random, ones < 4000 ? ones : 4000);
}

static void check_table(struct random *random, const struct way *way, table_operation operation, struct type_pair pair,
                        size_t rows, size_t columns) {
    struct trial t = {.way = way,
                      .random = {random_bits(random)},
                      .operation = operation,
                      .in_type = pair.in,
                      .out_type = pair.out,
                      .rows = rows,
                      .columns = columns,
                      .reverse = random_once_in(random, 3),
                      .offsets = random_once_in(random, 3),
                      .has_start = random_once_in(random, 2),
                      .with_state = !random_once_in(random, 4)};
    if (trial_is_map(&t)) {
        t.offsets = false;
        t.with_state = t.with_state && is_on_cpu(&t);
    }
    if (operation == TABLE_RECURRENCE) {
        t.a_type = pair.in == TABLE_F64 || random_once_in(random, 2) ? pair.in : TABLE_F32;
        t.a_by_row = !random_once_in(random, 3);
        t.a_by_column = !random_once_in(random, 3);
        t.shifted = random_once_in(random, 3);
    }
    t.exclusive = !t.offsets && random_once_in(random, 2);
    t.skip_nan = element_is_float(pair.out) && random_once_in(random, 3);
    if (operation == TABLE_SUM && element_is_float(pair.out) && rows * columns < 100000 && random_once_in(random, 4)) {
        t.before = 1 + rows_before(random);
        t.with_state = true;
        t.has_start = false;
    }
    check_trial(&t, (enum pattern)random_below(random, PATTERN_COUNT));
}

static void check_random_table(struct random *random, const struct way *way, table_operation operation,
                               struct type_pair pair) {
    const size_t few = 1 + random_below(random, 9),
                 many = 1 + random_below(random, random_once_in(random, 3) ? 700 : 130);
    const size_t columns = random_once_in(random, 12) ? 0 : random_once_in(random, 4) ? many : few;
    size_t rows = random_below(random, random_once_in(random, 3) ? 20 : 4000 / (columns + 1));
    if (random_once_in(random, 6))
        rows = random_below(random, run_small() ? 2000 : 20000) / (1 + columns / 8);
    else if (random_once_in(random, 12) && columns > 0) /* chunks for threads to share */
        rows = random_below(random, (run_small() ? 3 : 11) * chunk_rows(pair.out, columns));
    check_table(random, way, operation, pair, rows, columns);
}

/* What recurrences and products of floats are made of. */
static const struct type_pair map_pairs[] = {{TABLE_F32, TABLE_F32}, {TABLE_F64, TABLE_F64},   {TABLE_F16, TABLE_F16},
                                             {TABLE_F16, TABLE_F32}, {TABLE_BF16, TABLE_BF16}, {TABLE_BF16, TABLE_F32}};

static void test_maps(void **state) {
    const unsigned rounds = (run_small() ? 8 : 40) * run_rounds();
    struct random random = {run_seed() + 2};
    (void)state;
    for (size_t i = 0; i < way_count; i++)
        for (size_t pair = 0; pair < sizeof map_pairs / sizeof *map_pairs; pair++)
            for (unsigned round = 0; round < rounds; round++)
                if (ways[i].direct && !ways[i].fused_alone && random_once_in(&random, run_few()))
                    check_random_table(&random, &ways[i], round % 4 == 0 ? TABLE_PRODUCT : TABLE_RECURRENCE,
                                       map_pairs[pair]);
}

/* Of the other operations the CUDA backend has fewer forms: test_operations.c. */
static void test_random_cuts(void **state) {
    const unsigned rounds = (run_small() ? 2 : 14) * run_rounds();
    struct random random = {run_seed()};
    struct type_pair pair;
    (void)state;
    for (size_t i = 0; i < way_count; i++)
        for (table_operation operation = TABLE_SUM; operation <= TABLE_PRODUCT; operation++)
            for (size_t number = 0; operation_pair(operation, number, &pair); number++)
                for (unsigned round = 0; round < rounds; round += operation == TABLE_SUM ? 1 : 3)
                    if ((operation == TABLE_SUM || ways[i].backend == TABLE_BACKEND_CPU) &&
                        random_once_in(&random, run_few()))
                        check_random_table(&random, &ways[i], operation, pair);
}

/* Pieces that are worth several threads, and parts of more than 512 units, whose totals have totals of their own. */
static void test_large_pieces(void **state) {
    struct random random = {run_seed() + 1};
    const unsigned count = run_small() ? 1 : 20 * run_rounds() / run_few() + 2;
    (void)state;
    for (unsigned i = 0; i < count; i++)
        check_table(&random, &ways[random_below(&random, way_count)], TABLE_SUM,
                    type_pairs[random_below(&random, type_pair_count)],
                    300000 + random_below(&random, run_small() ? 50000 : 800000),
                    run_small() ? 1 : 1 + random_below(&random, 4));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_cuts), cmocka_unit_test(test_maps),
                                       cmocka_unit_test(test_large_pieces)};
    const char *unavailable = ways_unavailable() ? ways_unavailable() : places_unavailable();
    if (unavailable) {
        printf("skipped: %s\n", unavailable);
        return 77;
    }
    run_seed();
    return cmocka_run_group_tests_name("pieces", tests, NULL, NULL);
}
