/* tuplescan append: grows a file of running sums by the sums of more rows.
 *
 * The file grows in place. Its header says until the end that it has the old rows, and bytes after them are
 * ignored. The state beside it is replaced before the header is: by two, of the old rows and of the new ones,
 * of which the one with as many rows as the header says is right. So whatever ends the command, and whenever, the file
 * has the old rows or the new ones, and a state for them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "memory.h"
#include "message.h"
#include "output_path.h"
#include "scan.h"
#include "signals.h"
#include "transfer.h"
#include "types.h"
#include "values.h"

struct growth {
    struct scan_job job;
    struct input_file old; /* the sums that are there */
    int fd;                /* of their file, to be written to; -1: there is none */
    off_t end;             /* of them */
    char state_path[PATH_MAX];
    char *saved; /* the state of the old rows, as it was saved: saved_bytes bytes */
    size_t saved_bytes;
};

static void check_arguments(struct growth *growth) {
    struct scan_arguments *arguments = &growth->job.arguments;
    const char *to = arguments->to;
    if (arguments->decay || arguments->decay_file)
        arguments->operation = TABLE_RECURRENCE;
    if (!to)
        die(EX_USAGE, "--to SUMS is missing");
    if (output_path_descriptor(to) >= 0 || output_format_for(to, NULL, "raw") != &output_npy)
        die(EX_USAGE, "--to %s: is not the name of a .npy, which says how many rows it has", to);
    if (snprintf(growth->state_path, PATH_MAX, "%s.state", to) >= PATH_MAX)
        die(EX_CANTCREAT, "%s: %s", to, strerror(ENAMETOOLONG));
    check_is_no_input(&arguments->common, "--to", to);
    arguments->common.output = to;
    arguments->state = growth->state_path;
    growth->job.state.name = growth->state_path;
    output_path_check(to, true);
}

/* Opens and locks the sums that are there, so that no other command appends to them meanwhile. */
static void open_sums(struct growth *growth) {
    const char *to = growth->job.arguments.to;
    const struct input_request request = {.format = "npy"};
    struct stat status;
    if (stat(to, &status) == 0 && !S_ISREG(status.st_mode))
        die(EX_CANTCREAT, "%s: is not a file that could grow", to);
    growth->fd = transfer_open(to, O_RDWR);
    if (growth->fd < 0 && errno != ENOENT)
        die(EX_CANTCREAT, "%s: %s", to, strerror(errno));
    if (growth->fd < 0 && lstat(growth->state_path, &status) == 0)
        die(EX_CANTCREAT, "%s: is there already, and %s is not; remove the state to begin anew", growth->state_path,
            to);
    if (growth->fd < 0)
        return;
    state_file_take_lock(to, growth->fd);
    input_start(&growth->old, to, &request);
    /* The name of the locked file may have gone to another one. */
    if (fstat(growth->fd, &status) != 0 || !transfer_same_file(&status, &growth->old.status))
        die(EX_TEMPFAIL, "%s: was replaced by another command meanwhile", to);
    const struct table_layout *layout = &growth->old.layout;
    if (!table_types_supported(layout->type, layout->type))
        die(EX_DATAERR, "%s: its type is %s, which is not one of running sums", to, table_type_name(layout->type));
    if (layout->stored.element_bytes > 0 || layout->is_record)
        die(EX_DATAERR, "%s: is big-endian, in Fortran order or of records, behind which no rows are written", to);
    growth->end = (off_t)(layout->offset + layout->bytes);
    growth->job.there = layout->type;
}

/* How to have a state again. */
#define MAKES_STATE "tuplescan scan ROWS... -o /dev/null --continue %s makes it of the rows that were summed"

/* Whether the last row of the file is what the state goes on from. The last row of exclusive sums lacks a row of the
 * input, which is not kept anywhere. */
static void check_last_row(const struct growth *growth) {
    const struct table_layout *sums = &growth->old.layout;
    const size_t bytes = sums->columns * table_type_size(sums->type);
    if (sums->rows == 0 || bytes == 0 || growth->job.arguments.exclusive)
        return;
    const table_type kept = table_sum_type(sums->type);
    const size_t kept_bytes = sums->columns * table_type_size(kept);
    char *kept_sums = memory_for(growth->old.name, kept_bytes + 2 * bytes), *expected = kept_sums + kept_bytes;
    char *last = expected + bytes;
    if (!transfer_read_at(growth->fd, last, bytes, growth->end - (off_t)bytes))
        die(EX_IOERR, "%s: %s", growth->old.name, errno ? strerror(errno) : "has become shorter");
    if (table_state_sums(growth->job.state.state, kept_sums) != TABLE_OK)
        die(EX_DATAERR, "%s: %s", growth->state_path, table_error_detail());
    row_round(sums->type, kept_sums, expected, sums->columns);
    if (row_difference(sums->type, last, expected, sums->columns) != sums->columns)
        die(EX_DATAERR,
            "%s: is not the state of %s, whose last row has other sums; sums made with --exclusive go on with "
            "--exclusive",
            growth->state_path, growth->old.name);
    free(kept_sums);
}

/* Whether the saved state at `from` is of the sums; *whole: whether it is a state. */
static bool take_state(struct growth *growth, const char *from, size_t bytes, bool *whole) {
    struct state_file *state = &growth->job.state;
    const struct table_layout *sums = &growth->old.layout;
    *whole = table_state_load(from, bytes, state->state) == TABLE_OK;
    if (!*whole || table_state_describe(state->state, bytes, &state->facts) != TABLE_OK ||
        state->facts.operation != growth->job.arguments.operation || state->facts.rows != sums->rows ||
        state->facts.type != table_sum_type(sums->type) || state->facts.columns != sums->columns)
        return false;
    state->bytes = bytes;
    growth->saved_bytes = bytes;
    memmove(growth->saved, from, bytes);
    return true;
}

/* One state of `one` bytes, or two, in as many bytes as were read. */
static void choose_state(struct growth *growth, size_t one, size_t bytes) {
    const struct table_layout *sums = &growth->old.layout;
    table_state_facts facts;
    size_t damaged = 0;
    bool whole;
    for (size_t at = 0; at + one <= bytes && at <= one; at += one) {
        if (take_state(growth, growth->saved + at, one, &whole)) {
            check_last_row(growth);
            return;
        }
        damaged += !whole && table_state_describe(growth->saved + at, one, &facts) == TABLE_OK && facts.version != 0 &&
                   facts.operation == growth->job.arguments.operation;
    }
    if (damaged > 0)
        die(EX_DATAERR, "%s: is damaged, and no state of %s any more; without it, " MAKES_STATE, growth->state_path,
            growth->old.name, growth->state_path);
    die(EX_DATAERR, "%s: is not the state of %s, which has %zu rows of %zu columns of %s, and of a %s",
        growth->state_path, growth->old.name, sums->rows, sums->columns, table_type_name(sums->type),
        table_operation_name(growth->job.arguments.operation));
}

/* Checks that the file has the rows that --at expects, and reads the state of the sums that are there, if any are. */
static void read_state(struct growth *growth) {
    const struct scan_arguments *arguments = &growth->job.arguments;
    const struct table_layout *sums = &growth->old.layout;
    const size_t rows = growth->fd < 0 ? 0 : sums->rows;
    size_t one = 0;
    if (arguments->has_at && arguments->at != rows)
        die(EX_DATAERR, "%s: has %zu rows, not the %llu of --at", arguments->to, rows,
            (unsigned long long)arguments->at);
    if (growth->fd < 0)
        return;
    die_unless_ok(growth->old.name,
                  table_state_bytes_of(arguments->operation, table_sum_type(sums->type), sums->columns, &one));
    growth->job.kept = 2 * one;
    growth->saved = malloc(2 * one);
    growth->job.state.state = calloc(1, one);
    if (one > memory_limit(arguments->common.memory) / 3 || !growth->saved || !growth->job.state.state)
        die(EX_OSERR, "%s: out of memory for three times %zu bytes; --memory says how much may be used",
            growth->state_path, one);
    const int fd = transfer_open(growth->state_path, O_RDONLY);
    if (fd < 0 && errno == ENOENT)
        die(EX_NOINPUT, "%s: %s; " MAKES_STATE, growth->state_path, strerror(ENOENT), growth->state_path);
    if (fd < 0)
        die(EX_NOINPUT, "%s: %s", growth->state_path, strerror(errno));
    state_file_take_lock(growth->state_path, fd);
    const ssize_t got = transfer_read_all(fd, growth->saved, 2 * one);
    if (got < 0)
        die(EX_IOERR, "%s: %s", growth->state_path, strerror(errno));
    choose_state(growth, one, (size_t)got);
}

/* Replaces the state's file: by the old state, if it is wanted and there is one, and the new one after it. Where there
 * were no sums, no file is replaced: it is of another append, which was faster. */
static void write_state(struct growth *growth, bool with_old) {
    struct state_file *state = &growth->job.state;
    struct atomic_file *file = &state->output;
    atomic_file_open(file, growth->state_path, growth->fd >= 0);
    if (with_old && growth->saved)
        atomic_file_write(file, growth->saved, growth->saved_bytes);
    atomic_file_write(file, state->state, state->bytes);
    atomic_file_publish(file, NULL);
}

/* Rows of the inputs, and their sums, are like those that are there. */
static void check_shape(const struct growth *growth) {
    const struct table_layout *there = &growth->old.layout, *more = &growth->job.out_layout;
    if (growth->fd >= 0 && !layout_same_rows(there, more))
        die(EX_DATAERR, "%s: its rows have another shape than those of %s", growth->job.name, growth->old.name);
    if (growth->fd >= 0 && there->type != more->type)
        die(EX_DATAERR, "%s: its sums would be %s, and those of %s are %s", growth->job.name,
            table_type_name(more->type), growth->old.name, table_type_name(there->type));
}

/* The header of the old rows and the new ones, as far as those are known. */
static void make_header(const struct growth *growth, struct table_layout *all, char header[OUTPUT_HEADER]) {
    *all = growth->old.layout;
    if (__builtin_add_overflow(all->shape[0], growth->job.out_layout.rows, &all->shape[0]) || !layout_finish(all) ||
        !output_npy_header_of(all, header, all->offset))
        die(EX_DATAERR, "%s: its header has no room for so many rows", growth->old.name);
}

/* The new rows count from now on. A header that could not be written to its end is the old one again. */
static void write_header_in_place(struct growth *growth) {
    struct table_layout all;
    char header[OUTPUT_HEADER], old[OUTPUT_HEADER];
    make_header(growth, &all, header);
    if (!transfer_read_at(growth->fd, old, all.offset, 0))
        die(EX_IOERR, "%s: %s", growth->old.name, errno ? strerror(errno) : "has become shorter");
    const sigset_t before = signals_hold();
    signals_truncate(-1, 0, NULL);
    const bool written = transfer_write(growth->fd, header, all.offset, 0);
    const int error = errno;
    const bool is_whole = written || transfer_write(growth->fd, old, all.offset, 0);
    if (!written)
        signals_truncate(growth->fd, growth->end, growth->job.arguments.to);
    signals_release(before);
    if (!written)
        die(EX_IOERR, "%s: %s%s", growth->old.name, strerror(error),
            is_whole ? "" : "; its header could not be brought back");
    if (transfer_sync(growth->fd, 0) != 0)
        die(EX_IOERR, "%s: is written, but could not be brought to the disk: %s", growth->old.name, strerror(errno));
}

/* The new sums go after the old ones, where there may be what an append left that was ended. */
static void begin_growth(struct growth *growth) {
    struct scan_job *job = &growth->job;
    const char *to = job->arguments.to;
    struct table_layout all;
    struct stat status;
    char header[OUTPUT_HEADER];
    make_header(growth, &all, header);     /* before there is work for nothing */
    if (fstat(growth->fd, &status) != 0 || /* readers see a file that only grows, if nothing is to be cut off */
        (status.st_size != growth->end && ftruncate(growth->fd, growth->end) != 0) ||
        lseek(growth->fd, growth->end, SEEK_SET) < 0)
        die(EX_IOERR, "%s: %s", to, strerror(errno));
    job->output = (struct atomic_file){.name = to, .direct = true, .slot = -1, .start = -1};
    job->output.fd = fcntl(growth->fd, F_DUPFD_CLOEXEC, 0);
    if (job->output.fd < 0)
        die(EX_OSERR, "%s: %s", to, strerror(errno));
    job->header_written = true;
    signals_truncate(growth->fd, growth->end, growth->job.arguments.to);
    atomic_file_reserve(&job->output, job->out_layout.bytes);
}

static void begin(struct growth *growth) {
    struct scan_job *job = &growth->job;
    job->output_format = &output_npy;
    job->rows_said = job->out_layout.rows;
    if (growth->fd < 0)
        open_output(&job->output, job->arguments.to, false, &output_npy, &job->out_layout);
    else
        begin_growth(growth);
}

static void publish_sums(void *growth) { atomic_file_publish(&((struct growth *)growth)->job.output, NULL); }

static void write_new_state(void *growth) { write_state(growth, false); }

/* The sums, and then the states of the old rows and of the new ones, are on the disk before anything counts them. */
static void finish(struct growth *growth) {
    struct scan_job *job = &growth->job;
    struct state_file *state = &job->state;
    if (growth->fd < 0)
        scan_finish_output(job);
    atomic_file_finish(&job->output);
    die_unless_ok(growth->state_path, table_state_save(state->state, state->state, state->bytes));
    write_state(growth, true);
    if (growth->fd >= 0) {
        /* Old sums count the new rows, and then the state of the old rows is no longer needed. */
        write_header_in_place(growth);
        if (attempt(write_new_state, growth) != EX_OK) /* two will do as well as one, but not for others */
            message("%s: holds the state of the old rows, too, which only append takes", growth->state_path);
        return;
    }
    /* New sums get their name when their state is there; without a name it would be the state of whatever is in its
     * place. */
    const int code = attempt(publish_sums, growth);
    if (code != EX_OK && unlink(growth->state_path) != 0)
        message("%s: could not be removed: %s", growth->state_path, strerror(errno));
    if (code != EX_OK)
        command_end(code);
}

int append_main(int argc, char **argv) {
    static struct growth growth;
    struct scan_job *const job = &growth.job;
    job_begin(&options_of_append, &job->arguments, argc, argv);
    check_arguments(&growth);
    open_sums(&growth);
    read_state(&growth);
    scan_open_tables(job);
    check_shape(&growth);
    job_step(STEP_READ);
    begin(&growth);
    job_step(STEP_WRITE);
    scan_sum_up(job);
    finish(&growth);
    job_step(STEP_WRITE);
    scan_free_tables(job);
    scan_tell(job);
    return EX_OK;
}
