/* The coefficients of a recurrence: a number, a row, or a file that is read beside the table. */
#include "scan.h"

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
    return file->format->is_bare || (!is_text(decay) && file->layout.dimensions < in->dimensions);
}

static _Noreturn void wrong_shape(const struct scan_job *job) {
    const struct scan_decay *decay = &job->decay;
    const struct table_layout *layout = &decay->file.layout;
    die(EX_DATAERR,
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

/* What the file is to the table: whether it is a row, or one row or number for each of the table's rows. */
static bool choose_shape(struct scan_job *job) {
    struct scan_decay *decay = &job->decay;
    struct table_layout *layout = &decay->file.layout;
    const struct table_layout *in = &job->inputs[0].layout;
    const size_t *rows = job->rows_known ? &job->out_layout.rows : NULL;
    const bool is_row = is_flat(decay, in) && layout->rows * layout->columns == in->columns;
    if (!is_row && decay->file.format->is_bare && !shape_values(layout, in->columns, rows))
        wrong_shape(job);
    decay->of.columns = is_row ? in->columns : layout->columns;
    if (is_row || ((layout->columns == 1 || layout->columns == in->columns) && layout->rows == 1))
        return true;
    if ((layout->columns != 1 && layout->columns != in->columns) || (rows && *rows != layout->rows))
        wrong_shape(job);
    return false;
}

static size_t row_bytes_of(const struct scan_decay *decay) {
    return decay->of.columns * table_type_size(decay->file.layout.type);
}

static _Noreturn void wrong_rows(const struct scan_decay *decay, const char *than) {
    die(EX_DATAERR, "%s: has coefficients of %s rows than there are", decay->file.name, than);
}

void scan_decay_bring(struct scan_decay *decay, uint64_t first, size_t rows, void *to) {
    const size_t bytes = rows * row_bytes_of(decay);
    if (decay->goes_anywhere)
        input_go_to(&decay->file, (size_t)first);
    if (input_read(&decay->file, to, bytes) < bytes)
        wrong_rows(decay, "fewer");
}

/* What the thread of a stream that reads asks for. */
struct wanted {
    struct scan_decay *decay;
    uint64_t first;
    size_t rows;
    void *to;
};

static void bring(void *context) {
    struct wanted *wanted = context;
    scan_decay_bring(wanted->decay, wanted->first, wanted->rows, wanted->to);
}

static int read_rows(void *context, uint64_t first, size_t rows, void *to) {
    struct scan_job *job = context;
    return scan_attempt(job, bring, &(struct wanted){&job->decay, first, rows, to});
}

static void read_number(struct scan_decay *decay, const char *text, table_type type) {
    const char *at = text;
    decay->row = memory_for("--decay", sizeof(double));
    decay->of = (table_stream_coefficients){.type = type, .columns = 1, .row = decay->row};
    if (number_text_read(type, &at, text + strlen(text), decay->row) != NUMBER_TEXT_READ || *at != '\0')
        die(EX_USAGE, "--decay %s: is no number of %s", text, table_type_name(type));
}

static void open_file(struct scan_job *job, table_type kept) {
    const struct scan_arguments *arguments = &job->arguments;
    const table_type in = job->inputs[0].layout.type;
    const size_t most = scan_memory_left(job);
    const struct input_request request = {
        .like = kept, .raw_type = in, .memory = most, .tells = !arguments->common.quiet};
    struct scan_decay *const decay = &job->decay;
    struct input_file *const file = &decay->file;
    input_start(file, arguments->decay_file, &request);
    if (file->layout.type != in && file->layout.type != kept)
        die(EX_DATAERR, "%s: its type is %s, and that of %s is %s", file->name, table_type_name(file->layout.type),
            job->name, table_type_name(in));
    decay->goes_anywhere = arguments->reverse;
    if (!file->rows_known || (arguments->reverse && (!input_can_seek(file) || is_text(decay))))
        input_take_table(file, most);
    decay->of.type = file->layout.type;
    if (choose_shape(job)) {
        const size_t row = row_bytes_of(decay);
        decay->of.row = decay->row = memory_for(file->name, row);
        if (input_read(file, decay->row, row) < row)
            die(EX_DATAERR, "%s: has no coefficients", file->name);
    } else {
        decay->of.read = read_rows;
        decay->of.read_context = job;
    }
}

void scan_decay_open(struct scan_job *job) {
    const char *const number = job->arguments.decay;
    const table_type kept = scan_kept_type(job);
    const struct scan_decay *decay = &job->decay;
    const struct input_file *file = &decay->file;
    if (number)
        read_number(&job->decay, number, kept);
    else
        open_file(job, kept);
    const size_t row = decay->row ? decay->of.columns * table_type_size(decay->of.type) : 0;
    scan_keep(job, number ? "--decay" : file->name, input_memory(file) + row + (file->data ? file->layout.bytes : 0));
}

table_view scan_decay_table(struct scan_decay *decay, size_t rows, size_t most) {
    if (decay->row)
        return (table_view){.data = decay->row, .rows = 1, .columns = decay->of.columns, .type = decay->of.type};
    input_take_table(&decay->file, most);
    const table_view a = input_view(&decay->file);
    if (a.rows != rows)
        wrong_rows(decay, a.rows < rows ? "fewer" : "more");
    return a;
}

void scan_decay_end(struct scan_decay *decay, uint64_t rows) {
    if (!decay->row && decay->file.layout.rows != rows)
        wrong_rows(decay, "more");
    input_unchanged(&decay->file);
}
