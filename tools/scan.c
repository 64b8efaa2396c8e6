/* tuplescan scan: rows are read, summed and written as they come. */
#include "scan.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "input/start.h"
#include "memory.h"
#include "message.h"
#include "number.h"
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
    "  -o, --output FILE     where to: a .npy, raw values (.bin, .raw), text (.csv, .tsv, .txt), or else in the "
    "format\n"
    "                        of INPUT; - is standard output. No output may be a file that is read\n"
    "  -f, --force           replace OUTPUT (and the file of --carry-out) if it exists. Owner, group and permissions\n"
    "                        stay; where that is not allowed, or an access control list says more, the new file is\n"
    "                        for its owner alone; its other names (hard links) keep the old content\n"
    "  --exclusive           row i without row i itself: the sums of the rows before it\n"
    "  --reverse             sums from the end: row i is the sum of the rows from i to the last one. The input must "
    "be\n"
    "                        one table. Between files it is read and written from the end; one from or to a pipe, "
    "text,\n"
    "                        or values that are to be converted are taken into memory as a whole: see --memory\n"
    "  --offsets             one row more: the start (zeros, or what was carried in), and then the sums, so that row "
    "i\n"
    "                        is the sum of the rows before row i, and the last one that of all\n"
    "  --skip-nan            floats: a NaN counts as nothing, as does a missing field of text; it is said how many "
    "there\n"
    "                        were\n"
    "  --out-type T          type of the sums: u32 u64 i32 i64 f16 bf16 f32 f64. Default: u64 for u8 to u64 and bool,\n"
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
    "                        same, wrapped\n";
static const char run_help[] =
    "  --backend B           auto, cpu or cuda\n"
    "  --devices D           all, or numbers such as 0,1: these CUDA devices sum, each its share of the rows\n"
    "  --threads N           CPU threads at most; it is said why fewer work. Default: the environment variable\n"
    "                        TUPLESCAN_NUM_THREADS, or else, and for 0, as many as help of the processors that the\n"
    "                        process may use, by its affinity and the CPU time of its cgroups\n"
    "  --memory BYTES        use at most so much at a time, such as 64M. Default: a quarter of what the process may\n"
    "                        use, by the machine, cgroups and limits, of which a scan needs a few MB; and three\n"
    "                        quarters for what --reverse takes into memory as a whole\n"
    "  --json                print one object about the run on standard output. Of its times, read_seconds (waiting\n"
    "                        for the input), work_seconds (waiting for sums), write_seconds (fsync too) and\n"
    "                        free_seconds (memory) add up to total_seconds, of which total_gb_per_second is;\n"
    "                        seconds and gb_per_second are the scan by itself, most of it meanwhile\n"
    "  --no-progress         do not show on a terminal how far a scan of more than a second is\n"
    "  -q, --quiet           print nothing but errors\n"
    "\n"
    "A raw input (or one from a pipe that does not begin like a .npy) needs:\n"
    "  --type T --columns C  u8 u16 u32 u64 i8 i16 i32 i64 bool f16 bf16 f32 f64, little-endian; values in a row\n"
    "  --skip BYTES          what lies before the table\n"
    "  --input-format F, --output-format F\n"
    "                        npy, raw, csv, tsv or text, whatever the first bytes of the input or the names say. A\n"
    "                        .npy says its rows before the values: out of a raw input from a pipe, or of text, it\n"
    "                        needs a file, or memory for the input\n";
static const char text_help[] =
    "\n"
    "Text (.csv, .tsv, .txt) is read and written exactly, in no locale: what is written is the shortest text of the\n"
    "same bits. Without --type (or --out-type) a table of whole numbers is i64, for which a file is read once before,\n"
    "and any other is f64. What comes by a pipe has the type of what comes first, and what is added to other sums (of\n"
    "a state, or of an input above it) has their type. A first line without numbers has the names of the columns,\n"
    "which are kept, and which --field takes; some may be empty, or numbers in quotes. One of numbers alone, quoted\n"
    "or not, is data, so that no csv or tsv is written of columns whose names are all numbers. A first line that has\n"
    "all names that --field (or --by of sort) asks for has names, whatever else is in it. Where one column is summed,\n"
    "what begins as a number does and is none, such as 12abc, is an error, and a name only in quotes. Fields of .txt\n"
    "have blanks between them, and names # before them, as NumPy has it. Of several inputs with names all have the\n"
    "same ones; with --field each may have its own order. --field also takes numbers of fields, from 0 on, where\n"
    "there are no such names. Empty lines and lines that begin with # are no rows, unless #N/A or #NA is the whole\n"
    "first field, and a delimiter at the end of all lines counts for nothing; sep=; in the first line says the\n"
    "delimiter of csv. With --skip-nan missing fields (empty ones, NA, N/A, null, none) are NaN, and the type is f64.\n"
    "What else is no number is an error, with its line and column.\n"
    "  --delimiter C         what is between the fields of csv, read or written: one character, or \\t\n"
    "\n"
    "A .npy may be big-endian, or in Fortran order; in that order from a pipe it is brought into memory first. Of one\n"
    "of records:\n"
    "  --field NAME,...      the columns are these fields of it, which have one type; the others are of no matter.\n"
    "                        Of text they have the order of the names\n"
    "  --keep NAME,...       of text, these fields are not summed, such as dates and names, and stand before the sums\n"
    "                        of their rows as they are; the output must be text, too\n"
    "\n"
    "What is compressed as a whole comes by a pipe (zstdcat big.npy.zst | tuplescan scan - -o sums.npy).\n"
    "A .npz (stored or compressed) or a safetensors file, by its name, has several tables:\n"
    "  --member NAME, --tensor NAME\n"
    "                        which of them, where there is more than one\n"
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
    if (!*path)
        return fail(EX_USAGE, "--continue '': is not the name of a file");
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
    if (arguments->device_count && arguments->backend == TABLE_BACKEND_CPU)
        return fail(EX_USAGE, "--devices and --backend cpu: only one of them");
    if (arguments->kept_count > 0 && arguments->offsets)
        return fail(EX_USAGE, "--keep and --offsets: only one of them; a row more has no fields to keep");
    if (arguments->reverse && (arguments->input_count > 1 || arguments->state))
        return fail(EX_USAGE, "--reverse: is for one input, and without --continue");
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

/* Whether the one input is a text file whose values, of which each takes two bytes of it at least, are less than what a
 * sum that goes on must remember between rows: a few rows of very many columns. */
static bool is_less_than_a_state(const struct scan_job *job) {
    const struct input_file *input = &job->inputs[0];
    const struct table_layout *sums = &job->out_layout;
    const bool is_one = job->arguments.input_count == 1 && !job->arguments.state && !job->arguments.reverse;
    size_t state, values;
    return is_one && input->text && input_can_seek(input) &&
           table_state_bytes(table_sum_type(sums->type), sums->columns, &state) == TABLE_OK &&
           size_multiply((size_t)input->size / 2 + 1, 2 * sizeof(uint64_t), &values) && values < state;
}

/* Such an input is brought into memory first; and, as a .npy says its rows before the values, any of which the rows are
 * not known, where its beginning cannot be written once more. */
static int make_rows_known(struct scan_job *job) {
    static const char why[] = "a .npy says its rows before the values (a file can be gone back in, and --output-format "
                              "raw says none)";
    static const char few[] = "it has a few long rows";
    enum { STREAM_MOST = 16 << 20 }; /* what the stream needs has room in it */
    const size_t most = memory_limit(job->arguments.memory);
    struct memory_budget budget = {.most = most - least(most / 4, STREAM_MOST), .used = job->kept};
    size_t rows = 0;
    const bool needs_rows = job->output_format == &output_npy && !atomic_file_can_go_back(&job->output);
    if (job->rows_known || (!needs_rows && !is_less_than_a_state(job)))
        return EX_OK;
    for (unsigned i = 0; i < job->arguments.input_count; i++) {
        struct input_file *input = &job->inputs[i];
        int code = input->rows_known ? EX_OK : scan_open_again(job, input);
        if (code == EX_OK && !input->rows_known)
            code = input_take_all(input, memory_left(&budget), needs_rows ? why : few);
        if (code != EX_OK)
            return code;
        if (input->is_taken && input->is_aside)
            code = input_let_go(input);
        if (code != EX_OK)
            return code;
        budget.used += input->is_taken ? input->head_bytes : 0;
        rows += input->layout.rows;
    }
    job->rows_known = true;
    job->kept = budget.used;
    job->out_layout.shape[0] = rows + job->arguments.offsets;
    return layout_finish(&job->out_layout) ? EX_OK
                                           : fail(EX_DATAERR, "%s: its sums are beyond the address space", job->name);
}

static int open_outputs(struct scan_job *job) {
    const struct arguments *arguments = &job->arguments;
    const char *input_format = job->inputs[0].format->output;
    job->output_format = output_format_for(arguments->output, arguments->output_format, input_format);
    if (arguments->kept_count > 0 && !job->output_format->delimiter)
        return fail(EX_USAGE, "--keep: is for text, and %s would be %s", arguments->output, job->output_format->name);
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

static int finish_outputs(struct scan_job *job, size_t rows_said) {
    bool carry = job->arguments.carry_out != NULL;
    int code = scan_finish_output(job, rows_said);
    if (code == EX_OK && carry)
        code = write_header(&job->carry_file, job->carry_format, &job->carry_layout);
    if (code == EX_OK && carry)
        code = write_values(&job->carry_file, job->carry_format, &job->carry_layout, 0, job->carry_out,
                            job->carry_layout.bytes);
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
    text_beside_end(&job->beside);
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
    static char help[sizeof tables_help + sizeof run_help + sizeof text_help];
    snprintf(help, sizeof help, "%s%s%s", tables_help, run_help, text_help);
    int code = arguments_parse(&job.arguments, argc, argv, FOR_SCAN, ANY_OPERANDS, help);
    if (code == GO_ON)
        code = check_arguments(&job.arguments);
    else
        return code;
    job.beside = (struct text_beside){.count = job.arguments.kept_count,
                                      .most = job.arguments.kept_count > 0 ? memory_limit(job.arguments.memory) / 2 : 0,
                                      .lock = PTHREAD_MUTEX_INITIALIZER};
    if (code == EX_OK)
        code = run(&job);
    atomic_file_discard(&job.output);
    atomic_file_discard(&job.carry_file);
    state_file_close(&job.state);
    scan_free_tables(&job);
    free(job.inputs);
    return code;
}
