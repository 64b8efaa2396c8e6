/* tuplescan scan: parse, read, sum, write. */
#include <stdio.h>
#include <stdlib.h>

#include <tuplescan/prefix_sum.h>

#include "commands.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "stopwatch.h"
#include "table_io.h"
#include "threads.h"
#include "values.h"

static const char help[] =
    "usage: tuplescan scan INPUT -o OUTPUT [options]\n"
    "\n"
    "Writes the table of running sums down each column of INPUT. An N-d .npy is summed along its first axis, and the\n"
    "output has its shape; a structured one with fields of one type is a table with one more axis.\n"
    "\n"
    "  -o, --output FILE     where to: a .npy, raw values (.bin, .raw), or else in the format of INPUT; - is standard\n"
    "                        output. No output may be a file that is read\n"
    "  -f, --force           replace OUTPUT (and the file of --carry-out) if it exists. Owner, group, permissions and\n"
    "                        access control list stay, or, where that is not allowed, nobody can do more with the\n"
    "                        new file than with the old one; its other names (hard links) keep the old content\n"
    "  --exclusive           row i without row i itself: the sums of the rows before it\n"
    "  --out-type T          type of the sums: u32 u64 i32 i64 f32 f64. Default: u64 for u8, u16, u32 and bool,\n"
    "                        i64 for i32, else that of the input. Instead of that, u32 for u8, u16 and u32, i32\n"
    "                        for i32, and f64 for f32 are possible\n"
    "  --carry-in FILE       a row that is added to every sum, such as the --carry-out of the part before. A table\n"
    "                        file of one row of the type of the sums\n"
    "  --carry-out FILE      write the sums through the last row, as a table file of one row\n"
    "  --wrap                integers: do not look whether sums leave their type. Otherwise the first row and column\n"
    "                        whose true sum does is named, and the exit code is 65; the outputs are written all the\n"
    "                        same, wrapped\n"
    "  --check-overflow      what is done anyway: look whether sums leave their type\n"
    "  --backend B           auto, cpu or cuda\n"
    "  --strategy S          auto, host, recursive or fused: how the chunks' totals are summed on a GPU; the result "
    "is\n"
    "                        the same\n"
    "  --threads N           CPU threads at most; 0 is as many as help. It is said why fewer work\n"
    "  --json                print one object about the run on standard output. Of its times, read_seconds,\n"
    "                        work_seconds (page faults too), write_seconds (fsync too) and free_seconds add up to\n"
    "                        total_seconds; seconds is the scan by itself\n"
    "  -q, --quiet           print nothing but errors\n"
    "\n"
    "A raw input (or one from a pipe that does not begin like a .npy) needs:\n"
    "  --type T --columns C  u8 u16 u32 u64 i32 i64 f32 f64, little-endian; values in a row\n"
    "  --skip BYTES          what lies before the table\n"
    "  --input-format F, --output-format F\n"
    "                        npy or raw, whatever the first bytes of the input or the name of the output say\n"
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
    "  tuplescan scan part2.npy --carry-in totals1.npy --carry-out totals2.npy -o sums2.npy\n";

/* Values that are looked at and written at a time: few enough for the second-level cache. */
enum { WRITE_VALUES = 1 << 15 };

#define NONE TABLE_NO_OVERFLOW

struct job {
    struct arguments arguments;
    struct input_file input;
    struct atomic_file output, carry_file;
    const struct output_format *output_format, *carry_format;
    struct table_layout out_layout, carry_layout;
    void *sums, *carry_in, *carry_out;
    bool checked;              /* for overflow */
    uint64_t first_overflow;   /* the number of its value in the table, as the library counts them */
    uint64_t first_not_finite; /* likewise, of a sum that is not finite though all values up to it are */
    struct table_report report;
    struct stopwatch watch;
};

static int check_arguments(const struct arguments *arguments) {
    if (!arguments->output)
        return fail(EX_USAGE, "-o OUTPUT is missing");
    if (arguments->wrap && arguments->check_overflow)
        return fail(EX_USAGE, "--wrap and --check-overflow: only one of them");
    return check_outputs(arguments, "--carry-out", arguments->carry_out);
}

static int read_tables(struct job *job) {
    const struct arguments *arguments = &job->arguments;
    int code = open_input(&job->input, arguments->operands[0], arguments, true);
    if (code != EX_OK)
        return code;
    const struct table_layout *in = &job->input.layout;
    job->out_layout = *in;
    code = sum_type(arguments, &job->input, &job->out_layout.type);
    if (code != EX_OK)
        return code;
    table_type type = job->out_layout.type;
    if ((arguments->check_overflow || arguments->wrap) && type_is_float(type))
        return fail(EX_USAGE, "%s is for integers, and the sums are %s",
                    arguments->wrap ? "--wrap" : "--check-overflow", table_type_name(type));
    job->checked = !arguments->wrap && !type_is_float(type);
    if (!layout_finish(&job->out_layout) || !layout_set(&job->carry_layout, type, 1, in->columns))
        return fail(EX_DATAERR, "%s: its sums as %s are beyond the address space", job->input.name,
                    table_type_name(type));
    return read_row(arguments->carry_in, type, in->columns, &job->carry_in);
}

static int open_outputs(struct job *job) {
    const struct arguments *arguments = &job->arguments;
    const char *input_format = job->input.format->name;
    job->output_format = output_format_for(arguments->output, arguments->output_format, input_format);
    int code = open_output(&job->output, arguments->output, arguments->force, job->output_format, &job->out_layout);
    if (code == EX_OK && arguments->carry_out) {
        job->carry_format = output_format_for(arguments->carry_out, NULL, input_format);
        code = open_output(&job->carry_file, arguments->carry_out, arguments->force, job->carry_format,
                           &job->carry_layout);
    }
    return code;
}

static int sum_up(struct job *job) {
    const struct arguments *arguments = &job->arguments;
    job->sums = memory_allocate(job->out_layout.bytes);
    if (!job->sums)
        return fail(EX_OSERR, "%s: out of memory for %zu bytes of sums", job->input.name, job->out_layout.bytes);
    if (arguments->carry_out && !(job->carry_out = memory_allocate(job->carry_layout.bytes)))
        return fail(EX_OSERR, "%s: out of memory for the %zu bytes of its carry", job->input.name,
                    job->carry_layout.bytes);

    table_view in = input_view(&job->input), out = in;
    out.data = job->sums;
    out.type = job->out_layout.type;
    job->first_overflow = job->first_not_finite = NONE;
    table_scan_options options = {.exclusive = arguments->exclusive,
                                  .backend = arguments->backend,
                                  .strategy = arguments->strategy,
                                  .threads = arguments->threads,
                                  .carry_in = job->carry_in,
                                  .carry_out = job->carry_out,
                                  .first_overflow = job->checked ? &job->first_overflow : NULL,
                                  .report = &job->report};
    table_status status = table_prefix_sum(&in, &out, &options);
    return status == TABLE_OK ? EX_OK : fail_status(job->input.name, status);
}

/* Notes the first sum of a row that is not finite although all that it is made of is. The row holds the sums through
 * row `last` of the input; the sums through the rows above are finite, and with them the values there. */
static void look_at_row(struct job *job, size_t last, const char *sums) {
    const struct table_layout *in = &job->input.layout, *out = &job->out_layout;
    size_t in_size = table_type_size(in->type), size = table_type_size(out->type);
    const char *values = (const char *)job->input.data + last * in->columns * in_size, *carry = job->carry_in;
    for (size_t j = 0; j < in->columns && job->first_not_finite == NONE; j++)
        if (!value_is_finite(out->type, sums + j * size) && value_is_finite(in->type, values + j * in_size) &&
            (!carry || value_is_finite(out->type, carry + j * size)))
            job->first_not_finite = (uint64_t)last * in->columns + j;
}

/* Looks at the first row of sums that are not finite. `first` is the number of the first such sum, or of the first
 * value of the carry out, which comes after all sums. */
static void look_for_cause(struct job *job, size_t first) {
    const struct table_layout *out = &job->out_layout;
    size_t exclusive = job->arguments.exclusive, row = first / out->columns;
    size_t row_bytes = out->columns * table_type_size(out->type);
    if (row < exclusive || out->rows == 0)
        return; /* the carry in */
    if (row < out->rows)
        look_at_row(job, row - exclusive, (const char *)job->sums + row * row_bytes);
    else if (job->carry_out)
        look_at_row(job, out->rows - 1, job->carry_out);
}

/* Writes the sums, and looks for one that is not finite while each piece is in the cache to be written. */
static int write_sums(struct job *job) {
    size_t size = table_type_size(job->out_layout.type), values = job->out_layout.bytes / size, first = values;
    int code = EX_OK;
    for (size_t done = 0, count; done < values && code == EX_OK; done += count) {
        const char *sums = (const char *)job->sums + done * size;
        count = values - done < WRITE_VALUES ? values - done : WRITE_VALUES;
        if (first == values) {
            size_t found = first_not_finite(job->out_layout.type, sums, count);
            first = found < count ? done + found : values;
        }
        code = atomic_file_write(&job->output, sums, count * size);
    }
    if (code == EX_OK && type_is_float(job->out_layout.type))
        look_for_cause(job, first);
    return code;
}

static int write_outputs(struct job *job) {
    bool carry = job->arguments.carry_out != NULL;
    int code = write_header(&job->output, job->output_format, &job->out_layout);
    if (code == EX_OK)
        code = write_sums(job);
    if (code == EX_OK && carry)
        code = write_header(&job->carry_file, job->carry_format, &job->carry_layout);
    if (code == EX_OK && carry)
        code = atomic_file_write(&job->carry_file, job->carry_out, job->carry_layout.bytes);
    if (code == EX_OK)
        code = atomic_file_finish(&job->output);
    if (code == EX_OK && carry)
        code = atomic_file_finish(&job->carry_file);
    if (code == EX_OK)
        code = atomic_file_publish_both(&job->output, carry ? &job->carry_file : NULL);
    return code;
}

static void free_tables(struct job *job) {
    input_release(&job->input);
    free(job->sums);
    free(job->carry_in);
    free(job->carry_out);
    job->sums = job->carry_in = job->carry_out = NULL;
}

static const char *backend_name(table_backend backend) {
    return backend == TABLE_BACKEND_CUDA ? "cuda" : backend == TABLE_BACKEND_CPU ? "cpu" : "auto";
}

static const char *strategy_name(table_strategy strategy) {
    static const char *const names[] = {"auto", "host", "recursive", "fused"};
    return (unsigned)strategy < sizeof names / sizeof names[0] ? names[strategy] : "unknown";
}

static double gigabytes_per_second(const struct job *job) {
    double bytes = (double)job->input.layout.bytes + (double)job->out_layout.bytes;
    return job->report.seconds > 0 ? bytes / job->report.seconds / 1e9 : 0;
}

static void print_place(const char *key, uint64_t place, size_t columns) {
    if (place == NONE) {
        json_null(key);
        return;
    }
    json_object(key);
    json_size("row", place / columns);
    json_size("column", place % columns);
    json_end();
}

static void print_json(const struct job *job) {
    const struct table_layout *out = &job->out_layout;
    json_object(NULL);
    json_string("input", job->input.name);
    json_string("output", job->arguments.output);
    json_array("shape");
    for (unsigned i = 0; i < out->dimensions; i++)
        json_size(NULL, out->shape[i]);
    json_end();
    json_size("rows", out->rows);
    json_size("columns", out->columns);
    json_string("in_type", table_type_name(job->input.layout.type));
    json_string("out_type", table_type_name(out->type));
    json_bool("exclusive", job->arguments.exclusive);
    json_string("backend", backend_name(job->report.backend));
    json_string("strategy", strategy_name(job->report.strategy));
    json_size("threads", job->report.threads);
    json_size("chunk_rows", job->report.chunk_rows);
    json_size("chunks", job->report.chunks);
    json_array("stage_seconds");
    for (unsigned i = 0; i < 3; i++)
        json_number(NULL, job->report.stage_seconds[i]);
    json_end();
    json_number("seconds", job->report.seconds);
    json_number("transfer_seconds", job->report.transfer_seconds);
    stopwatch_json(&job->watch);
    json_number("gb_per_second", gigabytes_per_second(job));
    json_bool("overflow_checked", job->checked);
    print_place("overflow", job->first_overflow, out->columns);
    print_place("not_finite", job->first_not_finite, out->columns);
    json_end();
}

static void print_summary(const struct job *job) {
    const struct table_layout *out = &job->out_layout;
    char times[STOPWATCH_TEXT];
    stopwatch_text(&job->watch, times);
    message("%zu x %zu, %s -> %s, %s (%s): %.3g ms, %.3g GB/s; %s", out->rows, out->columns,
            table_type_name(job->input.layout.type), table_type_name(out->type), backend_name(job->report.backend),
            strategy_name(job->report.strategy), 1e3 * job->report.seconds, gigabytes_per_second(job), times);
}

static int run(struct job *job) {
    int code = read_tables(job);
    stopwatch_step(&job->watch, STEP_READ);
    if (code == EX_OK)
        code = open_outputs(job);
    stopwatch_step(&job->watch, STEP_WRITE);
    if (code == EX_OK)
        code = sum_up(job);
    stopwatch_step(&job->watch, STEP_WORK);
    if (code == EX_OK)
        code = input_unchanged(&job->input);
    if (code == EX_OK)
        code = write_outputs(job);
    stopwatch_step(&job->watch, STEP_WRITE);
    if (code != EX_OK)
        return code;
    free_tables(job);
    stopwatch_step(&job->watch, STEP_FREE);
    if (job->arguments.json)
        print_json(job);
    else if (!job->arguments.quiet)
        print_summary(job);
    if (!job->arguments.quiet)
        say_fewer_threads(job->arguments.threads, job->report.threads, job->report.backend);
    size_t columns = job->out_layout.columns;
    if (job->first_not_finite != NONE && !job->arguments.quiet)
        message("%s: row %llu, column %llu is the first whose sum as %s is not finite though the values in it are%s",
                job->input.name, (unsigned long long)(job->first_not_finite / columns),
                (unsigned long long)(job->first_not_finite % columns), table_type_name(job->out_layout.type),
                job->out_layout.type == TABLE_F32 ? "; --out-type f64 avoids it" : "");
    if (job->first_overflow == NONE)
        return EX_OK;
    return fail(EX_DATAERR,
                "%s: overflow: row %llu, column %llu is the first whose sum does not fit in %s; the sums are written, "
                "wrapped (--wrap: without looking%s)",
                job->input.name, (unsigned long long)(job->first_overflow / columns),
                (unsigned long long)(job->first_overflow % columns), table_type_name(job->out_layout.type),
                table_type_size(job->out_layout.type) < 8 ? "; without --out-type they have 64 bits" : "");
}

int scan_main(int argc, char **argv) {
    struct job job = {.output = {.fd = -1, .slot = -1}, .carry_file = {.fd = -1, .slot = -1}};
    int code = arguments_parse(&job.arguments, argc, argv, FOR_SCAN, 1, help);
    if (code == GO_ON)
        code = check_arguments(&job.arguments);
    else
        return code;
    if (code == EX_OK)
        code = run(&job);
    atomic_file_discard(&job.output);
    atomic_file_discard(&job.carry_file);
    free_tables(&job);
    return code;
}
