/* tuplescan scan: parse, read, sum, write. */
#include <stdio.h>
#include <stdlib.h>

#include <tuplescan/prefix_sum.h>

#include "commands.h"
#include "json.h"
#include "memory.h"
#include "message.h"
#include "table_io.h"
#include "values.h"

static const char help[] =
    "usage: tuplescan scan INPUT -o OUTPUT [options]\n"
    "\n"
    "Writes the table of running sums down each column of INPUT. An N-d .npy is summed along its first axis, and the\n"
    "output has its shape; a structured one with fields of one type is a table with one more axis.\n"
    "\n"
    "  -o, --output FILE     where to: .npy when its name says so, else raw values; - is standard output\n"
    "  -f, --force           replace OUTPUT (and the file of --carry-out) if it exists\n"
    "  --exclusive           row i without row i itself: the sums of the rows before it\n"
    "  --out-type T          type of the sums: u32 u64 i32 i64 f32 f64. Default: u64 for u8, u16, u32 and bool,\n"
    "                        i64 for i32, else that of the input. Into others: u8, u16, u32 -> u32; i32 -> i32;\n"
    "                        f32 -> f64\n"
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
    "  --threads N           CPU threads at most; 0 is as many as help\n"
    "  --json                print one object about the run on standard output\n"
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
    "examples:\n"
    "  tuplescan scan counts.npy -o sums.npy\n"
    "  tuplescan scan counts.bin --type u32 --columns 256 --out-type u32 --wrap -o sums.npy\n"
    "  producer | tuplescan scan - --type f32 --columns 3 -o - | consumer\n"
    "  tuplescan scan part2.npy --carry-in totals1.npy --carry-out totals2.npy -o sums2.npy\n";

struct job {
    struct arguments arguments;
    struct input_file input;
    struct atomic_file output, carry_file;
    const struct output_format *output_format, *carry_format;
    struct table_layout out_layout, carry_layout;
    void *sums, *carry_in, *carry_out;
    bool checked;
    uint64_t first_overflow;
    struct table_report report;
    double read_seconds, write_seconds;
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
    double start = seconds_now();
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
    code = read_row(arguments->carry_in, type, in->columns, &job->carry_in);
    job->read_seconds = seconds_now() - start;
    return code;
}

/* Before the work, so that what cannot be written costs no time. */
static int open_outputs(struct job *job) {
    const struct arguments *arguments = &job->arguments;
    job->output_format = output_format_for(arguments->output, arguments->output_format);
    int code = atomic_file_open(&job->output, arguments->output, arguments->force);
    if (code == EX_OK && arguments->carry_out) {
        job->carry_format = output_format_for(arguments->carry_out, NULL);
        code = atomic_file_open(&job->carry_file, arguments->carry_out, arguments->force);
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
    job->first_overflow = TABLE_NO_OVERFLOW;
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

static int write_outputs(struct job *job) {
    double start = seconds_now();
    bool carry = job->arguments.carry_out != NULL;
    int code = write_header(&job->output, job->output_format, &job->out_layout);
    if (code == EX_OK)
        code = atomic_file_write(&job->output, job->sums, job->out_layout.bytes);
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
    job->write_seconds = seconds_now() - start;
    return code;
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
    json_number("read_seconds", job->read_seconds);
    json_number("write_seconds", job->write_seconds);
    json_number("gb_per_second", gigabytes_per_second(job));
    json_bool("overflow_checked", job->checked);
    if (job->first_overflow == TABLE_NO_OVERFLOW) {
        json_null("overflow");
    } else {
        json_object("overflow");
        json_size("row", job->first_overflow / out->columns);
        json_size("column", job->first_overflow % out->columns);
        json_end();
    }
    json_end();
}

static void print_summary(const struct job *job) {
    const struct table_layout *out = &job->out_layout;
    message("%zu x %zu, %s -> %s, %s (%s): %.3g ms, %.3g GB/s; reading %.3g ms, writing %.3g ms", out->rows,
            out->columns, table_type_name(job->input.layout.type), table_type_name(out->type),
            backend_name(job->report.backend), strategy_name(job->report.strategy), 1e3 * job->report.seconds,
            gigabytes_per_second(job), 1e3 * job->read_seconds, 1e3 * job->write_seconds);
}

static int run(struct job *job) {
    int code = read_tables(job);
    if (code == EX_OK)
        code = open_outputs(job);
    if (code == EX_OK)
        code = sum_up(job);
    if (code == EX_OK)
        code = write_outputs(job);
    if (code != EX_OK)
        return code;
    if (job->arguments.json)
        print_json(job);
    else if (!job->arguments.quiet)
        print_summary(job);
    if (job->first_overflow == TABLE_NO_OVERFLOW)
        return EX_OK;
    size_t columns = job->out_layout.columns;
    return fail(EX_DATAERR,
                "%s: overflow: row %llu, column %llu is the first whose sum does not fit in %s; the sums are written, "
                "wrapped (--wrap does not look)",
                job->input.name, (unsigned long long)(job->first_overflow / columns),
                (unsigned long long)(job->first_overflow % columns), table_type_name(job->out_layout.type));
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
    input_close(&job.input);
    free(job.sums);
    free(job.carry_in);
    free(job.carry_out);
    return code;
}
