/* tuplescan scan: rows are read, summed and written as they come. */
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "memory.h"
#include "message.h"
#include "output_path.h"
#include "values.h"

static const char tables_help[] =
    "usage: tuplescan scan INPUT... -o OUTPUT [options]\n"
    "\n"
    "Writes the table of running sums down each column of INPUT; of several, one below the other, as one table.\n"
    "An N-d .npy is summed along its first axis, and the output has its shape; a structured one with fields of one\n"
    "type is a table with one more axis. Tables may be larger than memory, and pipes need no end: sums follow the\n"
    "rows that come within 0.1 s.\n"
    "\n"
    "  -o, --output FILE     where to: a .npy, raw values (.bin, .raw), or else in the format of INPUT; - is standard\n"
    "                        output. No output may be a file that is read\n"
    "  -f, --force           replace OUTPUT (and the file of --carry-out) if it exists. Owner, group, permissions and\n"
    "                        access control list stay, or, where that is not allowed, nobody can do more with the\n"
    "                        new file than with the old one; its other names (hard links) keep the old content\n"
    "  --exclusive           row i without row i itself: the sums of the rows before it\n"
    "  --reverse             sums from the end: row i is the sum of the rows from i to the last one. The input must "
    "be\n"
    "                        one table, which is taken into memory as a whole, as its sums are: see --memory\n"
    "  --offsets             one row more: the start (zeros, or what was carried in), and then the sums, so that row "
    "i\n"
    "                        is the sum of the rows before row i, and the last one that of all\n"
    "  --skip-nan            floats: a NaN counts as nothing; it is said how many there were\n"
    "  --out-type T          type of the sums: u32 u64 i32 i64 f32 f64. Default: u64 for u8, u16, u32, u64 and bool,\n"
    "                        i64 for i8 to i64, else that of the input. Also possible are each integer type of 32\n"
    "                        and 64 bits that holds all values, f64 for all but i64 and u64, and f32 for f16, bf16,\n"
    "                        bool and integers of up to 16 bits. Sums as f16 and bf16 are kept as f32, as carries\n"
    "                        and states are, and each is rounded once\n"
    "  --carry-in FILE       a row that is added to every sum, such as the --carry-out of the part before. A table\n"
    "                        file of one row of the type of the sums\n"
    "  --carry-out FILE      write the sums through the last row, as a table file of one row\n"
    "  --continue STATE      go on from the file STATE, and leave there what a sum must remember of the rows so far;\n"
    "                        begin, and make it, where there is none. Parts that are cut anywhere have the sums of\n"
    "                        the whole, bit for bit, floats too. STATE is replaced whole or not at all, after OUTPUT:\n"
    "                        who is interrupted between the two has the old STATE, and gets the same once more\n"
    "  --at ROWS             only if STATE has that many rows: a part that was summed before is not summed again\n"
    "  --wrap                integers: do not look whether sums leave their type. Otherwise the first row and column\n"
    "                        whose true sum does is named, and the exit code is 65; the outputs are written all the\n"
    "                        same, wrapped\n"
    "  --check-overflow      what is done anyway: look whether sums leave their type\n";
static const char run_help[] =
    "  --backend B           auto, cpu or cuda\n"
    "  --strategy S          auto, host, recursive or fused: how the totals of units of rows are summed on a GPU;\n"
    "                        the result is the same\n"
    "  --threads N           CPU threads at most; 0 is as many as help. It is said why fewer work\n"
    "  --memory BYTES        use at most so much at a time, such as 64M. Default: a quarter of what the process may\n"
    "                        use, by the machine, cgroups and limits, of which a scan needs a few MB\n"
    "  --json                print one object about the run on standard output. Of its times, read_seconds (waiting\n"
    "                        for the input), work_seconds (waiting for sums), write_seconds (fsync too) and\n"
    "                        free_seconds add up to total_seconds; seconds is the scan by itself, most of it "
    "meanwhile\n"
    "  --no-progress         do not show on a terminal how far a scan of more than a second is\n"
    "  -q, --quiet           print nothing but errors\n"
    "\n"
    "A raw input (or one from a pipe that does not begin like a .npy) needs:\n"
    "  --type T --columns C  u8 u16 u32 u64 i8 i16 i32 i64 bool f16 bf16 f32 f64, little-endian; values in a row\n"
    "  --skip BYTES          what lies before the table\n"
    "  --input-format F, --output-format F\n"
    "                        npy or raw, whatever the first bytes of the input or the name of the output say. A\n"
    "                        .npy says its rows before the values: out of a raw input from a pipe it needs a file, or\n"
    "                        memory for the input\n"
    "\n"
    "Big-endian and Fortran-ordered .npy files are refused, with the line of Python that converts them.\n"
    "\n"
    "Floats are added in the order of a tree, so that some of the sums may be infinite, or not a number, where others\n"
    "after them are not, and where adding row after row would stay finite: f32 -3e38, 0, 3e38, 3e38. If a sum is not\n"
    "finite though all values are, standard error says so; --out-type f64 avoids it for f32.\n"
    "\n"
    "examples:\n"
    "  tuplescan scan counts.npy -o sums.npy\n"
    "  tuplescan scan counts.bin --type u32 --columns 256 --out-type u32 --wrap -o sums.npy\n"
    "  producer | tuplescan scan - --type f32 --columns 3 -o - | consumer\n"
    "  tuplescan scan part2.npy --carry-in totals1.npy --carry-out totals2.npy -o sums2.npy\n"
    "  tuplescan scan hour14.npy --continue day.state -o sums14.npy\n";

static int check_state(const struct arguments *arguments) {
    const char *path = arguments->state;
    if (!path)
        return arguments->has_at ? fail(EX_USAGE, "--at is for --continue, which is missing") : EX_OK;
    if (arguments->carry_out)
        return fail(EX_USAGE, "--carry-out and --continue: only one of them; what is carried is in the state");
    if (output_path_descriptor(path) >= 0)
        return fail(EX_USAGE, "--continue %s: needs a file of its own", path);
    if (output_path_same(path, arguments->output))
        return fail(EX_USAGE, "--continue and -o name the same file");
    bool is_input = arguments->carry_in && output_path_is_input(path, arguments->carry_in);
    for (unsigned i = 0; i < arguments->input_count; i++)
        is_input = is_input || output_path_is_input(path, arguments->inputs[i]);
    if (is_input)
        return fail(EX_USAGE, "--continue %s: is the file of an input", path);
    return output_path_check(path, true);
}

static int check_arguments(const struct arguments *arguments) {
    if (!arguments->output)
        return fail(EX_USAGE, "-o OUTPUT is missing");
    const int code = check_state(arguments);
    if (code != EX_OK)
        return code;
    if (arguments->offsets && arguments->exclusive)
        return fail(EX_USAGE, "--offsets and --exclusive: only one of them");
    if (arguments->reverse && (arguments->input_count > 1 || arguments->state))
        return fail(EX_USAGE, "--reverse: is for one input, and without --continue");
    if (arguments->wrap && arguments->check_overflow)
        return fail(EX_USAGE, "--wrap and --check-overflow: only one of them");
    return check_outputs(arguments, "--carry-out", arguments->carry_out);
}

static int read_state(struct scan_job *job) {
    const struct arguments *arguments = &job->arguments;
    if (!arguments->state)
        return EX_OK;
    const int code = state_file_read(&job->state, arguments->state, true);
    if (code != EX_OK)
        return code;
    const table_state_facts *facts = &job->state.facts;
    if (arguments->has_at && arguments->at != facts->rows)
        return fail(EX_DATAERR, "%s: has %llu rows, not the %llu of --at", arguments->state,
                    (unsigned long long)facts->rows, (unsigned long long)arguments->at);
    if (arguments->carry_in && facts->version != 0)
        return fail(EX_USAGE, "--carry-in: is for a sum that begins, and that of %s has %llu rows", arguments->state,
                    (unsigned long long)facts->rows);
    return EX_OK;
}

/* A sum that goes on keeps its type, if it is not said: the usual one, if that is kept as the state says. */
static table_type wanted_sums(const struct scan_job *job) {
    const table_type before = job->state.facts.type, in = job->input->layout.type;
    const bool usual = table_sum_type(default_sum_type(in)) == before;
    const bool keeps = !job->arguments.out_type && !usual && table_types_supported(in, before);
    return keeps ? before : job->arguments.out_type;
}

/* The state for the sums of the table, and the sums above it. */
static int fit_state(struct scan_job *job) {
    const struct table_layout *sums = &job->out_layout;
    if (!job->arguments.state)
        return EX_OK;
    const int code = state_file_fit(&job->state, job->name, table_sum_type(sums->type), sums->columns);
    if (code != EX_OK || job->state.facts.version == 0)
        return code;
    job->above = memory_allocate(job->carry_layout.bytes);
    if (!job->above)
        return fail(EX_OSERR, "%s: out of memory", job->state.name);
    const table_status status = table_state_sums(job->state.state, job->above);
    return status == TABLE_OK ? EX_OK : fail_status(job->state.name, status);
}

/* Whether the input goes below the first one. */
static int fits_below(const struct scan_job *job, const struct input_file *input) {
    const struct input_file *first = &job->inputs[0];
    const struct table_layout *above = &first->layout, *layout = &input->layout;
    if (layout->type != above->type)
        return fail(EX_DATAERR, "%s: its type is %s, and that of %s is %s", input->name, table_type_name(layout->type),
                    first->name, table_type_name(above->type));
    bool same = layout->dimensions == above->dimensions;
    for (unsigned i = 1; i < layout->dimensions && same; i++)
        same = layout->shape[i] == above->shape[i];
    return same ? EX_OK
                : fail(EX_DATAERR, "%s: its rows have another shape than those of %s", input->name, first->name);
}

/* All of them, and *rows of the table that they are. */
static int start_inputs(struct scan_job *job, size_t *rows) {
    const struct arguments *arguments = &job->arguments;
    job->inputs = calloc(arguments->input_count, sizeof *job->inputs);
    if (!job->inputs)
        return fail(EX_OSERR, "out of memory");
    job->rows_known = true;
    *rows = 0;
    for (unsigned i = 0; i < arguments->input_count; i++) {
        struct input_file *input = &job->inputs[i];
        int code = start_input(input, arguments->inputs[i], arguments);
        if (code == EX_OK && i > 0)
            code = fits_below(job, input);
        if (code != EX_OK)
            return code;
        job->rows_known = job->rows_known && input->rows_known;
        if (__builtin_add_overflow(*rows, input->layout.rows, rows))
            return fail(EX_DATAERR, "%s: is more than can be counted, with what is above it", input->name);
    }
    snprintf(job->name_of_many, sizeof job->name_of_many, "%u inputs", arguments->input_count);
    job->name = arguments->input_count > 1 ? job->name_of_many : job->inputs[0].name;
    job->input = &job->inputs[0];
    return EX_OK;
}

/* Several inputs are summed one after the other, so that what is remembered in between needs a place. */
static int make_state(struct scan_job *job) {
    const struct table_layout *sums = &job->out_layout;
    size_t bytes;
    if (job->arguments.state || job->arguments.input_count == 1)
        return EX_OK;
    const table_status status = table_state_bytes(table_sum_type(sums->type), sums->columns, &bytes);
    if (status != TABLE_OK)
        return fail_status(job->name, status);
    job->own_state = bytes <= memory_limit(job->arguments.memory) ? calloc(1, bytes) : NULL;
    return job->own_state ? EX_OK
                          : fail(EX_OSERR,
                                 "%s: out of memory: %zu bytes are remembered between two; --memory says how "
                                 "much may be used",
                                 job->name, bytes);
}

int scan_open_tables(struct scan_job *job) {
    struct arguments *arguments = &job->arguments;
    size_t rows = 0;
    int code = start_inputs(job, &rows);
    if (code != EX_OK)
        return code;
    arguments->out_type = wanted_sums(job);
    const struct table_layout *in = &job->inputs[0].layout;
    job->out_layout = *in;
    job->out_layout.shape[0] = rows;
    code = sum_type(arguments, &job->inputs[0], &job->out_layout.type);
    if (code != EX_OK)
        return code;
    table_type type = job->out_layout.type;
    if ((arguments->check_overflow || arguments->wrap) && type_is_float(type))
        return fail(EX_USAGE, "%s is for integers, and the sums are %s",
                    arguments->wrap ? "--wrap" : "--check-overflow", table_type_name(type));
    if (arguments->skip_nan && !type_is_float(type))
        return fail(EX_USAGE, "--skip-nan is for floats, and the sums are %s", table_type_name(type));
    if (arguments->offsets && __builtin_add_overflow(job->out_layout.shape[0], 1, &job->out_layout.shape[0]))
        return fail(EX_DATAERR, "%s: has more rows than can be counted with one more", job->name);
    job->checked = !arguments->wrap && !type_is_float(type);
    if (!layout_finish(&job->out_layout) || !layout_set(&job->carry_layout, table_sum_type(type), 1, in->columns))
        return fail(EX_DATAERR, "%s: its sums as %s are beyond the address space", job->name, table_type_name(type));
    code = read_row(arguments->carry_in, table_sum_type(type), in->columns, &job->carry_in);
    if (code == EX_OK)
        code = make_state(job);
    return code == EX_OK ? fit_state(job) : code;
}

/* A .npy says its rows before the values: where they are not known, and its beginning cannot be written once more, the
 * input is brought into memory first. */
static int make_rows_known(struct scan_job *job) {
    size_t rows = 0;
    if (job->rows_known || job->output_format != &output_npy || atomic_file_can_go_back(&job->output))
        return EX_OK;
    for (unsigned i = 0; i < job->arguments.input_count; i++) {
        struct input_file *input = &job->inputs[i];
        const int code = input->rows_known ? EX_OK : input_take_all(input, memory_limit(job->arguments.memory));
        if (code != EX_OK)
            return code;
        rows += input->layout.rows;
    }
    job->rows_known = true;
    job->out_layout.shape[0] = rows + job->arguments.offsets;
    return layout_finish(&job->out_layout) ? EX_OK
                                           : fail(EX_DATAERR, "%s: its sums are beyond the address space", job->name);
}

static int open_outputs(struct scan_job *job) {
    const struct arguments *arguments = &job->arguments;
    const char *input_format = job->inputs[0].format->name;
    job->output_format = output_format_for(arguments->output, arguments->output_format, input_format);
    int code = open_output(&job->output, arguments->output, arguments->force, job->output_format, &job->out_layout);
    if (code == EX_OK && arguments->carry_out) {
        job->carry_format = output_format_for(arguments->carry_out, NULL, input_format);
        code = open_output(&job->carry_file, arguments->carry_out, arguments->force, job->carry_format,
                           &job->carry_layout);
    }
    if (code == EX_OK && arguments->carry_out && !(job->carry_out = memory_allocate(job->carry_layout.bytes)))
        return fail(EX_OSERR, "%s: out of memory for the %zu bytes of its carry", job->name, job->carry_layout.bytes);
    if (code == EX_OK && arguments->state)
        code = state_file_open(&job->state);
    return code == EX_OK ? make_rows_known(job) : code;
}

/* By the thread that sums. Nothing of the last piece is written if the input has changed. */
static int look(void *context, uint64_t row, const table_view *in, const table_view *out) {
    struct scan_job *job = context;
    const struct input_file *input = job->input;
    if (type_is_float(out->type) && !not_finite_look(job, job->rows_above + row, in, out))
        job->read_code = fail(EX_OSERR, "out of memory");
    else if (input->rows_known && row + in->rows == input->layout.rows)
        job->read_code = input_unchanged(input);
    return job->read_code != EX_OK;
}

static int write_header_once(struct scan_job *job) {
    if (job->header_written)
        return EX_OK;
    job->header_written = true;
    return write_header(&job->output, job->output_format, &job->out_layout);
}

static int write_sums(void *context, const void *sums, size_t bytes) {
    struct scan_job *job = context;
    job->write_code = write_header_once(job);
    if (job->write_code == EX_OK)
        job->write_code = atomic_file_write(&job->output, sums, bytes);
    return job->write_code == EX_OK ? 0 : -1;
}

static int show_progress(void *context, const table_stream_report *so_far) {
    struct scan_job *job = context;
    progress_show(&job->progress, job->rows_above + so_far->rows, job->rows_known ? job->out_layout.rows : 0,
                  job->report.bytes_read + job->report.bytes_written + so_far->bytes_read + so_far->bytes_written);
    return 0;
}

/* What came of the stream, in the words of the command. */
static int code_of(struct scan_job *job, const table_stream_report *report, table_status status) {
    const char *name = job->input->name;
    if (job->write_code != EX_OK || job->read_code != EX_OK)
        return job->write_code != EX_OK ? job->write_code : job->read_code;
    if (status == TABLE_ERROR_READ && !report->ended)
        return fail(EX_IOERR, "%s: %s", name, table_error_detail());
    if (status == TABLE_OK || status == TABLE_ERROR_READ)
        return input_ends(job->input, report->bytes_read);
    if (status == TABLE_ERROR_ARGUMENT)
        return fail(EX_OSERR, "%s: out of memory: %s; --memory says how much may be used", name, table_error_detail());
    return fail_status(name, status);
}

/* The options of the scan of an input. What came above it is in the state, if anything did. */
static table_scan_options scan_options(const struct scan_job *job) {
    const struct arguments *arguments = &job->arguments;
    return (table_scan_options){.exclusive = arguments->exclusive,
                                .skip_nan = arguments->skip_nan,
                                .backend = arguments->backend,
                                .strategy = arguments->strategy,
                                .threads = arguments->threads,
                                .carry_in = job->input == job->inputs ? job->carry_in : NULL,
                                .carry_out = job->carry_out,
                                .state = job->state.state ? job->state.state : job->own_state};
}

static void add_report(table_stream_report *sum, const table_stream_report *report) {
    const table_report *scan = &report->scan;
    sum->rows += report->rows;
    sum->bytes_read += report->bytes_read;
    sum->bytes_written += report->bytes_written;
    sum->read_seconds += report->read_seconds;
    sum->write_seconds += report->write_seconds;
    sum->memory = report->memory > sum->memory ? report->memory : sum->memory;
    sum->scan.backend = scan->backend;
    sum->scan.strategy = scan->strategy;
    sum->scan.units += scan->units;
    sum->scan.threads = scan->threads > sum->scan.threads ? scan->threads : sum->scan.threads;
    for (unsigned stage = 0; stage < 3; stage++)
        sum->scan.stage_seconds[stage] += scan->stage_seconds[stage];
    sum->scan.seconds += scan->seconds;
    sum->scan.transfer_seconds += scan->transfer_seconds;
}

static int sum_rows(struct scan_job *job) {
    const struct input_file *input = job->input;
    table_stream_report report = {0};
    uint64_t overflow = SCAN_NONE, skipped = 0;
    table_stream_options options = {.in_type = input->layout.type,
                                    .out_type = job->out_layout.type,
                                    .columns = input->layout.columns,
                                    .rows = input->rows_known ? input->layout.rows : 0,
                                    .read_descriptor = input->fd,
                                    .first = input->head ? (const char *)input->head + input->head_given : NULL,
                                    .first_bytes = input->head_bytes - input->head_given,
                                    .write = write_sums,
                                    .write_context = job,
                                    .memory = memory_limit(job->arguments.memory),
                                    .look = look,
                                    .look_context = job,
                                    .progress = show_progress,
                                    .progress_context = job,
                                    .scan = scan_options(job),
                                    .report = &report};
    options.scan.first_overflow = job->checked ? &overflow : NULL;
    options.scan.skipped = job->arguments.skip_nan ? &skipped : NULL;
    const table_status status = table_stream(&options);
    add_report(&job->report, &report);
    job->skipped += skipped;
    if (job->first_overflow == SCAN_NONE)
        job->first_overflow = overflow;
    return code_of(job, &report, status);
}

/* A table without rows, of which a stream would not know that it has ended. */
static int sum_nothing(struct scan_job *job) {
    const table_view in = input_view(job->input);
    const table_view out = {.columns = in.columns, .type = job->out_layout.type};
    table_stream_report report = {0};
    table_scan_options options = scan_options(job);
    options.report = &report.scan;
    const table_status status = table_prefix_sum(&in, &out, &options);
    add_report(&job->report, &report);
    return status == TABLE_OK ? input_ends(job->input, 0) : fail_status(job->input->name, status);
}

/* The row of offsets: what was carried in, or zeros. */
static int write_start(struct scan_job *job) {
    const struct table_layout *out = &job->out_layout;
    const void *start = job->above ? job->above : job->carry_in;
    void *const zeros = start ? NULL : calloc(out->columns, sizeof(uint64_t));
    void *const row = memory_allocate(out->columns * table_type_size(out->type));
    int code = row && (start || zeros) ? EX_OK : fail(EX_OSERR, "%s: out of memory", job->name);
    if (code == EX_OK) {
        row_round(out->type, start ? start : zeros, row, out->columns);
        code = write_sums(job, row, out->columns * table_type_size(out->type)) == 0 ? EX_OK : job->write_code;
    }
    free(zeros);
    free(row);
    return code;
}

/* From the last row: as one table in memory. */
static int sum_backwards(struct scan_job *job) {
    struct input_file *input = job->input;
    const size_t most = memory_limit(job->arguments.memory);
    int code = input->rows_known ? EX_OK : input_take_all(input, most);
    if (code == EX_OK)
        code = input_take_table(input, most);
    if (code != EX_OK)
        return code;
    const table_view in = input_view(input);
    const size_t rows = in.rows + job->arguments.offsets,
                 row_bytes = in.columns * table_type_size(job->out_layout.type);
    table_view out = {.rows = rows, .columns = in.columns, .type = job->out_layout.type};
    table_scan_options options = scan_options(job);
    if (rows > 0 && row_bytes > most / rows)
        return fail(EX_OSERR,
                    "%s: out of memory: sums of %zu bytes a row are needed at once; --memory says how much "
                    "may be used",
                    input->name, row_bytes);
    out.data = memory_allocate(rows * row_bytes);
    if (!out.data)
        return fail(EX_OSERR, "%s: out of memory", input->name);
    options.reverse = 1;
    options.offsets = job->arguments.offsets;
    options.report = &job->report.scan;
    options.first_overflow = job->checked ? &job->first_overflow : NULL;
    options.skipped = job->arguments.skip_nan ? &job->skipped : NULL;
    const table_status status = table_prefix_sum(&in, &out, &options);
    code = status == TABLE_OK ? input_unchanged(input) : fail_status(input->name, status);
    if (code == EX_OK && write_sums(job, out.data, rows * row_bytes) != 0)
        code = job->write_code;
    if (job->first_overflow != SCAN_NONE) /* counted from the last row */
        job->first_overflow =
            (in.rows - 1 - job->first_overflow / in.columns) * in.columns + job->first_overflow % in.columns;
    job->report.bytes_read = in.rows * in.columns * table_type_size(in.type);
    job->rows_above = in.rows;
    free(out.data);
    return code;
}

static int sum_inputs(struct scan_job *job) {
    int code = EX_OK;
    if (job->arguments.reverse)
        return sum_backwards(job);
    if (job->arguments.offsets)
        code = write_start(job);
    for (unsigned i = 0; i < job->arguments.input_count && code == EX_OK; i++) {
        const struct input_file *input = job->input = &job->inputs[i];
        code = input->rows_known && input->layout.rows == 0 ? sum_nothing(job) : sum_rows(job);
        job->rows_above += input->layout.rows;
    }
    for (unsigned i = 0; i < job->arguments.input_count && code == EX_OK; i++)
        code = input_unchanged(&job->inputs[i]);
    return code;
}

int scan_sum_up(struct scan_job *job) {
    const struct arguments *arguments = &job->arguments;
    job->first_overflow = job->not_finite.first = SCAN_NONE;
    progress_begin(&job->progress, !arguments->quiet && !arguments->no_progress);
    const int code = sum_inputs(job);
    progress_end(&job->progress);
    stopwatch_stream(&job->watch, &job->report);
    if (job->first_overflow != SCAN_NONE) /* a row of this table, as all are */
        job->first_overflow -= job->state.facts.rows * job->out_layout.columns;
    if (code != EX_OK)
        return code;
    job->out_layout.shape[0] = (size_t)job->rows_above + job->arguments.offsets;
    if (!layout_finish(&job->out_layout))
        return fail(EX_DATAERR, "%s: has more sums than can be counted", job->name);
    not_finite_look_at_end(job);
    return EX_OK;
}

int scan_finish_output(struct scan_job *job, size_t rows_said) {
    int code = write_header_once(job);
    if (code == EX_OK && rows_said != job->out_layout.rows)
        code = rewrite_header(&job->output, job->output_format, &job->out_layout);
    return code;
}

static int finish_outputs(struct scan_job *job, size_t rows_said) {
    bool carry = job->arguments.carry_out != NULL;
    int code = scan_finish_output(job, rows_said);
    if (code == EX_OK && carry)
        code = write_header(&job->carry_file, job->carry_format, &job->carry_layout);
    if (code == EX_OK && carry)
        code = atomic_file_write(&job->carry_file, job->carry_out, job->carry_layout.bytes);
    if (code == EX_OK)
        code = atomic_file_finish(&job->output);
    if (code == EX_OK && carry)
        code = atomic_file_finish(&job->carry_file);
    if (code == EX_OK && job->arguments.state)
        code = state_file_write(&job->state);
    struct atomic_file *beside = job->arguments.state ? &job->state.output : carry ? &job->carry_file : NULL;
    return code == EX_OK ? atomic_file_publish_both(&job->output, beside) : code;
}

void scan_free_tables(struct scan_job *job) {
    for (unsigned i = 0; i < job->arguments.input_count && job->inputs; i++)
        input_release(&job->inputs[i]);
    free(job->own_state);
    free(job->carry_in);
    free(job->carry_out);
    free(job->above);
    free(job->not_finite.last);
    job->above = job->own_state = job->carry_in = job->carry_out = job->not_finite.last = NULL;
}

static int run(struct scan_job *job) {
    int code = read_state(job);
    if (code == EX_OK)
        code = scan_open_tables(job);
    stopwatch_step(&job->watch, STEP_READ);
    if (code == EX_OK)
        code = open_outputs(job);
    const size_t rows_said = job->out_layout.rows;
    stopwatch_step(&job->watch, STEP_WRITE);
    if (code == EX_OK)
        code = scan_sum_up(job);
    stopwatch_step(&job->watch, STEP_WORK);
    if (code == EX_OK)
        code = finish_outputs(job, rows_said);
    stopwatch_step(&job->watch, STEP_WRITE);
    if (code != EX_OK)
        return code;
    scan_free_tables(job);
    stopwatch_step(&job->watch, STEP_FREE);
    return scan_tell(job);
}

int scan_main(int argc, char **argv) {
    struct scan_job job = {
        .output = {.fd = -1, .slot = -1}, .carry_file = {.fd = -1, .slot = -1}, .state = STATE_FILE_NONE};
    char help[sizeof tables_help + sizeof run_help];
    snprintf(help, sizeof help, "%s%s", tables_help, run_help);
    int code = arguments_parse(&job.arguments, argc, argv, FOR_SCAN, ANY_OPERANDS, help);
    if (code == GO_ON)
        code = check_arguments(&job.arguments);
    else
        return code;
    if (code == EX_OK)
        code = run(&job);
    atomic_file_discard(&job.output);
    atomic_file_discard(&job.carry_file);
    state_file_close(&job.state);
    scan_free_tables(&job);
    free(job.inputs);
    return code;
}
