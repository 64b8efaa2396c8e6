/* The command tuplescan-mpi: tuplescan scan of a file by several ranks, each with its own share of the rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tuplescan/mpi.h>

#include "memory.h"
#include "message.h"
#include "mpi/shared_file.h"
#include "options/option.h"
#include "signals.h"
#include "table_io.h"
#include "transfer.h"
#include "types.h"
#include "values.h"

/* What rank 0 finds out for all. */
struct facts {
    struct table_layout in, out;
    bool checked;
    size_t out_offset; /* of the values in the output */
};

struct job {
    int argc;
    char **argv;
    bool goes_on; /* there is more to do than to print the help */
    int rank, ranks;
    struct scan_arguments arguments;
    struct facts facts;
    struct input_file input;   /* rank 0's */
    struct atomic_file output; /* rank 0's */
    struct shared_output shared;
    void *carry_in, *values, *sums;
    size_t first, rows; /* this rank's share */
    size_t more;        /* 1: it writes the last row of the offsets, too */
    uint64_t first_overflow, skipped;
};

/* An option that ranks may be given each its own way. */
static bool is_own(const char *option) {
    static const char *const names[] = {"backend", "threads", "quiet", "strategy", "check-overflow"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    return false;
}

/* `own`: what this rank was given. */
static int check_one(const char *dashes, const char *name, const char own[PATH_MAX]) {
    char first[PATH_MAX];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memcpy(first, own, sizeof first);
    ranks_share(first, sizeof first);
    if (strcmp(own, first) == 0)
        return EX_OK;
    return fail(EX_USAGE, "rank %d: %s%s: %s, but on rank 0 %s: all ranks must be told the same", rank, dashes, name,
                own, first);
}

/* EX_OK if all ranks were told the same of what makes the sums and their file. Otherwise the exit code of all, after a
 * message of each rank that differs from rank 0. Collective. */
static int check_alike(const struct scan_arguments *arguments) {
    const struct option_table *table = arguments->common.table;
    char own[PATH_MAX] = "";
    snprintf(own, sizeof own, "%s", arguments->common.inputs[0]);
    int code = check_one("", "INPUT", own);
    for (unsigned i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (!row->name || is_own(row->name))
            continue;
        const char *given = arguments->common.given[i];
        snprintf(own, sizeof own, "%s", !given ? "not given" : row->argument ? given : "given");
        const int found = check_one("--", row->name, own);
        code = code == EX_OK ? found : code;
    }
    return ranks_code(code);
}

static void parse_own(void *context) {
    struct job *job = context;
    options_parse(&options_of_ranks, &job->arguments, job->argc, job->argv);
    job->goes_on = true;
}

/* Rank 0 complains first, and the others only where they find something else. EX_OK without job->goes_on: rank 0 has
 * printed the help. */
static int parse(struct job *job) {
    int code = job->rank == 0 ? attempt(parse_own, job) : EX_OK;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&job->goes_on, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD);
    if (code != EX_OK || !job->goes_on)
        return code;
    code = ranks_code(job->rank != 0 ? attempt(parse_own, job) : EX_OK);
    return code == EX_OK ? check_alike(&job->arguments) : code;
}

static void look_at_input(struct job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    struct facts *facts = &job->facts;
    start_input(&job->input, arguments->common.inputs[0], 0, NULL, arguments);
    if (!job->input.is_regular)
        die(EX_NOINPUT, "%s: is not a file that ranks can read, each its own share", job->input.name);
    if (!input_is_plain(&job->input))
        die(EX_DATAERR,
            "%s: is big-endian, in Fortran order, in an archive, or text, which ranks do not read: tuplescan scan "
            "does",
            job->input.name);
    facts->in = job->input.layout;
    lay_out_sums(arguments, &job->input, job->input.name, facts->in.rows, &facts->out);
    facts->checked = !arguments->wrap && !type_is_float(facts->out.type);
    job->carry_in = read_row(arguments->carry_in, table_sum_type(facts->out.type), facts->in.columns);
}

/* To all ranks, though one alone begins the sum. */
static int share_carry_in(struct job *job) {
    const size_t bytes = job->facts.in.columns * table_type_size(table_sum_type(job->facts.out.type));
    if (!job->arguments.carry_in)
        return EX_OK;
    if (job->rank != 0)
        job->carry_in = memory_allocate(bytes);
    const int code = job->carry_in ? EX_OK : fail(EX_OSERR, "rank %d: out of memory for a row", job->rank);
    if (ranks_code(code) != EX_OK)
        return EX_OSERR;
    ranks_share(job->carry_in, bytes);
    return EX_OK;
}

static void begin_output(struct job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    const struct output_format *format =
        output_format_for(arguments->common.output, arguments->common.output_format, job->input.format->output);
    if (format->delimiter)
        die(EX_USAGE, "-o %s: ranks write no text: tuplescan scan does", arguments->common.output);
    open_output(&job->output, arguments->common.output, arguments->common.force, format, &job->facts.out);
    if (!job->output.direct)
        write_header(&job->output, format, &job->facts.out);
    job->facts.out_offset = job->output.written;
}

/* What rank 0 does before all others know what there is to do. */
static void begin_for_all(void *context) {
    struct job *job = context;
    if (!job->arguments.common.output)
        die(EX_USAGE, "-o OUTPUT is missing");
    check_outputs(&job->arguments.common, NULL, NULL, NULL);
    look_at_input(job);
    begin_output(job);
}

static int begin(struct job *job) {
    const int begun = job->rank == 0 ? attempt(begin_for_all, job) : EX_OK;
    const int code = shared_output_open(&job->shared, &job->output, begun);
    if (code != EX_OK)
        return code;
    MPI_Bcast(&job->facts, sizeof job->facts, MPI_BYTE, 0, MPI_COMM_WORLD);
    const size_t each = job->facts.in.rows / (size_t)job->ranks, more = job->facts.in.rows % (size_t)job->ranks;
    const size_t rank = (size_t)job->rank;
    job->first = rank * each + (rank < more ? rank : more);
    job->rows = each + (rank < more);
    job->more = job->arguments.offsets && job->rank == job->ranks - 1;
    return share_carry_in(job);
}

static size_t row_bytes(const struct table_layout *layout) { return layout->columns * layout_element_bytes(layout); }

static int read_share(struct job *job) {
    const struct table_layout *in = &job->facts.in, *out = &job->facts.out;
    job->values = memory_allocate((job->rows + job->more) * row_bytes(in));
    job->sums = in->type == out->type ? job->values : memory_allocate((job->rows + job->more) * row_bytes(out));
    const int code =
        job->values && job->sums ? EX_OK : fail(EX_OSERR, "rank %d: out of memory for %zu rows", job->rank, job->rows);
    if (ranks_code(code) != EX_OK)
        return EX_OSERR;
    return shared_file_read(job->arguments.common.inputs[0], in->offset + job->first * row_bytes(in), job->values,
                            job->rows * row_bytes(in));
}

static int sum_share(struct job *job) {
    const struct scan_arguments *arguments = &job->arguments;
    const struct table_layout *layout = &job->facts.in;
    const table_view in = {job->values, job->rows, layout->columns, 0, layout->type};
    const table_view out = {job->sums, job->rows + job->more, layout->columns, 0, job->facts.out.type};
    job->first_overflow = TABLE_NO_OVERFLOW;
    const table_scan_options options = {.exclusive = arguments->exclusive,
                                        .reverse = arguments->reverse,
                                        .offsets = arguments->offsets,
                                        .skip_nan = arguments->skip_nan,
                                        .skipped = arguments->skip_nan ? &job->skipped : NULL,
                                        .backend = arguments->common.backend,
                                        .threads = arguments->common.threads,
                                        .carry_in = job->carry_in,
                                        .first_overflow = job->facts.checked ? &job->first_overflow : NULL};
    const table_status status = table_prefix_sum_mpi(&in, &out, &options, MPI_COMM_WORLD);
    if (status == TABLE_OK)
        return EX_OK;
    /* All have been told the same, and rank 0 says it. */
    return job->rank == 0 ? fail_status(arguments->common.inputs[0], status) : EX_SOFTWARE;
}

/* Whether the file that rank 0 has open is still the one of that name, which all ranks have read. */
static void input_is_in_place(void *context) {
    const struct job *job = context;
    if (!transfer_is_named(job->input.fd, job->arguments.common.inputs[0]))
        die(EX_IOERR, "%s: was replaced while it was read", job->input.name);
    input_unchanged(&job->input);
}

static int write_share(struct job *job) {
    const size_t bytes = row_bytes(&job->facts.out);
    const int code = ranks_code(job->rank == 0 ? attempt(input_is_in_place, job) : EX_OK);
    return code == EX_OK ? shared_output_write(&job->shared, job->facts.out_offset + job->first * bytes, job->sums,
                                               (job->rows + job->more) * bytes)
                         : code;
}

static int run(struct job *job) {
    int code = read_share(job);
    if (code == EX_OK)
        code = sum_share(job);
    if (code == EX_OK)
        code = write_share(job);
    return shared_output_close(&job->shared, code);
}

/* Rank 0's last word. */
static int report(const struct job *job, double seconds) {
    const struct table_layout *out = &job->facts.out;
    const char *name = job->arguments.common.inputs[0];
    say_one_row(&job->arguments, name, out);
    if (job->skipped > 0 && !job->arguments.common.quiet)
        message("%s: %llu NaN were skipped", name, (unsigned long long)job->skipped);
    if (!job->arguments.common.quiet)
        message("%zu x %zu, %s -> %s, %d ranks: %.3g ms in all", out->rows, out->columns,
                table_type_name(job->facts.in.type), table_type_name(out->type), job->ranks, 1e3 * seconds);
    if (job->first_overflow == TABLE_NO_OVERFLOW)
        return EX_OK;
    uint64_t row = job->first_overflow / out->columns;
    if (job->arguments.reverse)
        row = job->facts.in.rows - 1 - row;
    return fail(EX_DATAERR,
                "%s: overflow: row %llu, column %llu is the first whose sum does not fit in %s; the sums are written, "
                "wrapped",
                name, (unsigned long long)row, (unsigned long long)(job->first_overflow % out->columns),
                table_type_name(out->type));
}

static int scan(int argc, char **argv) {
    struct job job = {.argc = argc, .argv = argv, .output = ATOMIC_FILE_NONE};
    const double begun = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    int code = parse(&job);
    if (code != EX_OK || !job.goes_on)
        return code;
    code = begin(&job);
    if (code == EX_OK)
        code = run(&job);
    if (code == EX_OK && job.rank == 0)
        code = report(&job, MPI_Wtime() - begun);
    atomic_file_discard(&job.output);
    input_close(&job.input);
    if (job.sums != job.values)
        free(job.sums);
    free(job.values);
    free(job.carry_in);
    return ranks_code(code);
}

/* For completion/, as tuplescan has it: the words after --complete are those after the command's name. */
static int complete(int argc, char **argv) {
    const char *begun = argc > 2 ? argv[2] : "";
    struct scan_arguments unused = {0};
    if (argc > 3 && strcmp(argv[2], "scan") == 0) {
        char *words[] = {argv[2], argv[1]};
        memcpy(argv + 1, words, sizeof words);
        options_parse(&options_of_ranks, &unused, argc - 1, argv + 1);
    }
    if (argc > 3)
        return EX_OK;
    complete_word(begun, "scan", "running sums of a file by several ranks");
    complete_word(begun, "--help", "the options");
    complete_word(begun, "--version", "which version this is");
    return EX_OK;
}

/* Whether no launcher began it: Open MPI and MPICH, and others with PMIx, tell ranks their numbers by these names. */
static bool is_by_itself(void) {
    return !getenv("OMPI_COMM_WORLD_RANK") && !getenv("PMI_RANK") && !getenv("PMIX_RANK");
}

static bool is_scan(int argc, char **argv) { return argc > 1 && strcmp(argv[1], "scan") == 0; }

/* Whether all ranks scan, or none: before any of them waits for the others. */
static bool is_everybodys(int rank, bool scans) {
    const bool some = ranks_code(scans) == true, all = ranks_code(!scans) == false;
    message_subcommand("mpi");
    if (some && !all && rank == 0)
        message("scan: some ranks are told to, and some are not: all ranks must be told the same");
    return some == all;
}

static int dispatch(int argc, char **argv, bool speaks) {
    if (is_scan(argc, argv)) {
        message_subcommand("mpi scan");
        return scan(argc - 1, argv + 1);
    }
    const bool version = argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0);
    const bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (speaks && version)
        printf("tuplescan-mpi %s\n", table_version());
    else if (speaks)
        options_help(&options_of_ranks, help ? stdout : stderr);
    return version || help ? EX_OK : EX_USAGE;
}

int main(int argc, char **argv) {
    int rank;
    if (is_completion(argc, argv))
        return complete(argc, argv);
    if (is_by_itself() && !is_scan(argc, argv)) /* the help needs no MPI */
        return dispatch(argc, argv, true);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return EX_UNAVAILABLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signals_catch();
    transfer_stdout();
    const int code = is_everybodys(rank, is_scan(argc, argv)) ? dispatch(argc, argv, rank == 0) : EX_USAGE;
    fflush(stdout);
    MPI_Finalize();
    return code;
}
