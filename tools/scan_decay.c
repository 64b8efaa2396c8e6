/* The coefficients of a recurrence: a number, a row, or a file that is read beside the table. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"
#include "text/number_text.h"
#include "types.h"

static bool is_text(const struct scan_decay *decay) { return decay->file.format->delimiter; }

/* Whether the shape does not say that there are several rows of one value: .npy files of fewer dimensions than the
 * table's, which go along its last ones as in NumPy, and raw files, which have no shape. */
static bool is_flat(const struct scan_decay *decay, const struct table_layout *in) {
    const struct input_file *file = &decay->file;
    return file->format == &input_raw || (!is_text(decay) && file->layout.dimensions < in->dimensions);
}

static int wrong_shape(const struct scan_job *job) {
    const struct scan_decay *decay = &job->decay;
    const struct table_layout *layout = &decay->file.layout;
    return fail(EX_DATAERR,
                "%s: has %zu x %zu values, which are no number, row, column or table of coefficients for the %zu "
                "columns of %s, or not for its rows",
                decay->file.name, layout->rows, layout->columns, job->inputs[0].layout.columns, job->name);
}

/* A file of values without a shape: a row, a column, or a table. `rows`: of the table; NULL: they are not known. */
static bool shape_values(struct table_layout *layout, size_t columns, const size_t *rows) {
    const size_t count = layout->rows;
    if (count == 1 || columns < 2 || (rows ? *rows == count : count % columns != 0))
        return true;
    return count % columns == 0 && layout_set(layout, layout->type, count / columns, columns);
}

/* What the file is to the table: *is_row, or one row or number for each of the table's rows. */
static int choose_shape(struct scan_job *job, bool *is_row) {
    struct scan_decay *decay = &job->decay;
    struct table_layout *layout = &decay->file.layout;
    const struct table_layout *in = &job->inputs[0].layout;
    const size_t *rows = job->rows_known ? &job->out_layout.rows : NULL;
    *is_row = is_flat(decay, in) && layout->rows * layout->columns == in->columns;
    if (*is_row) {
        decay->of.columns = in->columns;
        return EX_OK;
    }
    if (decay->file.format == &input_raw && !shape_values(layout, in->columns, rows))
        return wrong_shape(job);
    decay->of.columns = layout->columns;
    *is_row = layout->rows == 1;
    const bool is_like = layout->columns == 1 || layout->columns == in->columns;
    return is_like && (*is_row || !rows || *rows == layout->rows) ? EX_OK : wrong_shape(job);
}

static size_t row_bytes_of(const struct scan_decay *decay) {
    return decay->of.columns * table_type_size(decay->file.layout.type);
}

/* The one row of coefficients. */
static int take_row(struct scan_decay *decay) {
    const size_t row = row_bytes_of(decay);
    size_t got;
    decay->row = memory_allocate(row);
    if (!decay->row)
        return fail(EX_OSERR, "%s: out of memory", decay->file.name);
    const int code = input_read(&decay->file, decay->row, row, &got);
    return code == EX_OK && got < row ? fail(EX_DATAERR, "%s: has no coefficients", decay->file.name) : code;
}

static int fewer(const struct scan_decay *decay) {
    return fail(EX_DATAERR, "%s: has coefficients of fewer rows than there are", decay->file.name);
}

static int more(const struct scan_decay *decay) {
    return fail(EX_DATAERR, "%s: has coefficients of more rows than there are", decay->file.name);
}

/* The coefficients of rows that come after those that were brought before, or, of a file that can be read anywhere, of
 * any rows. */
static int bring(struct scan_decay *decay, uint64_t first, size_t rows, char *to) {
    const size_t row = row_bytes_of(decay), bytes = rows * row;
    size_t got = 0;
    int code = decay->goes_anywhere ? input_go_to(&decay->file, (size_t)first) : EX_OK;
    if (code == EX_OK)
        code = input_read(&decay->file, to, bytes, &got);
    return code == EX_OK && got < bytes ? fewer(decay) : code;
}

/* By the thread of a stream that reads. */
static int read_rows(void *context, uint64_t first, size_t rows, void *to) {
    struct scan_decay *decay = context;
    decay->code = bring(decay, decay->above + first, rows, to);
    return decay->code == EX_OK ? 0 : -1;
}

static int read_number(struct scan_decay *decay, const char *text, table_type type) {
    const char *at = text;
    decay->row = memory_allocate(sizeof(double));
    if (!decay->row)
        return fail(EX_OSERR, "out of memory");
    decay->of = (table_stream_coefficients){.type = type, .columns = 1, .row = decay->row};
    return number_text_read(type, &at, text + strlen(text), decay->row) == NUMBER_TEXT_READ && *at == '\0'
               ? EX_OK
               : fail(EX_USAGE, "--decay %s: is no number of %s", text, table_type_name(type));
}

static int check_type(const struct scan_job *job, table_type kept) {
    const struct input_file *file = &job->decay.file;
    const table_type type = file->layout.type, in = job->inputs[0].layout.type;
    return type == in || type == kept ? EX_OK
                                      : fail(EX_DATAERR, "%s: its type is %s, and that of %s is %s", file->name,
                                             table_type_name(type), job->name, table_type_name(in));
}

static int open_file(struct scan_job *job, table_type kept) {
    const struct scan_arguments *arguments = &job->arguments;
    const size_t most = scan_memory_left(job);
    const struct input_request request = {
        .like = kept, .raw_type = job->inputs[0].layout.type, .memory = most, .tells = !arguments->common.quiet};
    struct scan_decay *const decay = &job->decay;
    struct input_file *const file = &decay->file;
    bool is_row;
    int code = input_start(file, arguments->decay_file, &request);
    if (code == EX_OK)
        code = check_type(job, kept);
    decay->goes_anywhere = arguments->reverse;
    if (code == EX_OK && (!file->rows_known || (arguments->reverse && (!input_can_seek(file) || is_text(decay)))))
        code = input_take_table(file, most);
    if (code == EX_OK)
        code = choose_shape(job, &is_row);
    if (code == EX_OK && is_row)
        code = take_row(decay);
    decay->of.type = file->layout.type;
    decay->of.row = decay->row;
    decay->of.read = decay->row ? NULL : read_rows;
    decay->of.read_context = decay;
    return code;
}

int scan_decay_open(struct scan_job *job) {
    const char *const number = job->arguments.decay;
    const table_type kept = table_kept_type(TABLE_RECURRENCE, job->inputs[0].layout.type);
    const struct scan_decay *decay = &job->decay;
    const struct input_file *file = &decay->file;
    const int code = number ? read_number(&job->decay, number, kept) : open_file(job, kept);
    const size_t row = decay->row ? decay->of.columns * table_type_size(decay->of.type) : 0;
    return code == EX_OK ? scan_keep(job, number ? "--decay" : file->name,
                                     input_memory(file) + row + (file->data ? file->layout.bytes : 0))
                         : code;
}

int scan_decay_table(struct scan_decay *decay, size_t rows, size_t most, table_view *a) {
    *a = (table_view){.data = decay->row, .rows = 1, .columns = decay->of.columns, .type = decay->of.type};
    if (decay->row)
        return EX_OK;
    const int code = input_take_table(&decay->file, most);
    *a = input_view(&decay->file);
    if (code != EX_OK || a->rows == rows)
        return code;
    return a->rows < rows ? fewer(decay) : more(decay);
}

int scan_decay_end(struct scan_decay *decay, uint64_t rows) {
    struct input_file *const file = &decay->file;
    return decay->row || file->layout.rows == rows ? input_unchanged(file) : more(decay);
}

void scan_decay_close(struct scan_decay *decay) {
    input_release(&decay->file);
    free(decay->row);
    decay->row = NULL;
}
