#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tuplescan/tuplescan.h>

#include "ends.h"
#include "piece_forms.h"

static int look(void *context, uint64_t row, const table_view *in, const table_view *out) {
    size_t *const looked = context;
    const bool in_turn = row == *looked && in->rows == out->rows;
    *looked += in->rows;
    return !in_turn;
}

/* The rows of the piece, `pitch` bytes apart, the last one without what would follow it. */
static char *pad_rows(const struct trial *t, size_t pitch) {
    const size_t row = t->columns * element_size(t->in_type);
    char *padded = get_memory(t->piece * pitch);
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
    options->read = ends_read;
    options->write = ends_write;
    options->read_context = options->write_context = ends;
    run_stream(t, options, least);
    trial_require(t, ends->room == 0, "the output is shorter");
}

/* Gives the coefficients of these rows of the stream, side by side, in the order of the table. */
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
void sum_stream(struct trial *t) {
    const size_t in_row = t->columns * element_size(t->in_type), out_row = t->columns * element_size(t->out_type);
    const size_t pitch = in_row + (random_once_in(&t->random, 3) ? random_below(&t->random, 9) : 0);
    const size_t bytes = (t->piece + t->offsets) * out_row;
    const bool files = t->reverse || random_once_in(&t->random, 3),
               least = t->piece < 5000 && random_once_in(&t->random, 3);
    char *padded = pad_rows(t, pitch), *found = get_memory(bytes);
    struct ends ends = {.from = padded, .to = found, .room = bytes};
    size_t looked = 0;
    table_stream_report report;
    struct sides sides;
    ends.left = t->piece > 0 ? (t->piece - 1) * pitch + in_row : 0;
    const bool own = t->a_by_row || t->shifted || random_once_in(&t->random, 3);
    const table_stream_coefficients a = {.type = t->a_type,
                                         .columns = trial_a_columns(t),
                                         .row = own ? NULL : t->a,
                                         .read = own ? read_coefficients : NULL,
                                         .read_context = t};
    table_scan_options scan = trial_options(t, &host_memory, &host_memory, false, &sides);
    table_stream_options options = {.in_type = t->in_type,
                                    .out_type = t->out_type,
                                    .columns = t->columns,
                                    .in_row_bytes = pitch,
                                    .rows = random_once_in(&t->random, 2) ? t->piece : 0,
                                    .look = t->reverse || t->offsets ? NULL : look,
                                    .look_context = &looked,
                                    .memory =
                                        random_once_in(&t->random, 2) ? 0 : (size_t)1 << (trial_is_map(t) ? 22 : 20),
                                    .scan = scan,
                                    .coefficients = t->operation == TABLE_RECURRENCE ? &a : NULL,
                                    .report = &report};
    options.scan.shifted_coefficients = 0;
    options.scan.first_coefficients = NULL;
    (files ? stream_files : stream_memory)(t, &options, &ends, least);
    trial_require(t, !options.look || looked == t->piece, "look() was not shown all rows");
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
