/* tuplescan append: grows a file of running sums by the sums of more rows.
 *
 * The file grows in place. Its header says until the end that it has the old rows, and bytes after them are
 * ignored. The state beside it is replaced before the header is: by two, that of the old rows and that of the new ones,
 * of which the one with as many rows as the header says is right. So whatever ends the command, and whenever, the file
 * has the old rows or the new ones, and a state for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "append.h"
#include "commands.h"
#include "message.h"
#include "output_path.h"
#include "scan.h"
#include "signals.h"
#include "transfer.h"

static int check_arguments(void *context) {
    struct growth *growth = context;
    struct scan_arguments *arguments = &growth->job.arguments;
    const char *to = arguments->to;
    const int code = scan_decay_check(arguments);
    if (code != EX_OK)
        return code;
    if (!to)
        return fail(EX_USAGE, "--to SUMS is missing");
    if (output_path_descriptor(to) >= 0 || output_format_for(to, NULL, "raw") != &output_npy)
        return fail(EX_USAGE, "--to %s: is not the name of a .npy, which says how many rows it has", to);
    if (snprintf(growth->state_path, PATH_MAX, "%s.state", to) >= PATH_MAX)
        return fail(EX_CANTCREAT, "%s: %s", to, strerror(ENAMETOOLONG));
    struct argument_input input = arguments_input(&arguments->common, 0);
    for (unsigned i = 0; input.is_one; input = arguments_input(&arguments->common, ++i))
        if (input.path && output_path_is_input(to, input.path))
            return fail(EX_USAGE, "--to %s: is the file of an input", to);
    arguments->common.output = to;
    arguments->state = growth->state_path;
    growth->job.state.name = growth->state_path;
    return output_path_check(to, true);
}

/* Opens and locks the sums that are there, so that no other command appends to them meanwhile. */
static int open_sums(void *context) {
    struct growth *growth = context;
    const char *to = growth->job.arguments.to;
    const struct input_request request = {.format = "npy"};
    struct stat status;
    if (stat(to, &status) == 0 && !S_ISREG(status.st_mode))
        return fail(EX_CANTCREAT, "%s: is not a file that could grow", to);
    growth->fd = transfer_open(to, O_RDWR);
    if (growth->fd < 0 && errno != ENOENT)
        return fail(EX_CANTCREAT, "%s: %s", to, strerror(errno));
    if (growth->fd < 0)
        return lstat(growth->state_path, &status) == 0
                   ? fail(EX_CANTCREAT, "%s: is there already, and %s is not; remove the state to begin anew",
                          growth->state_path, to)
                   : EX_OK;
    int code = state_file_take_lock(to, growth->fd);
    if (code == EX_OK)
        code = input_start(&growth->old, to, &request);
    /* The name of the locked file may have gone to another one. */
    if (code == EX_OK && (fstat(growth->fd, &status) != 0 || !transfer_same_file(&status, &growth->old.status)))
        code = fail(EX_TEMPFAIL, "%s: was replaced by another command meanwhile", to);
    const struct table_layout *layout = &growth->old.layout;
    if (code != EX_OK)
        return code;
    if (!table_types_supported(layout->type, layout->type))
        return fail(EX_DATAERR, "%s: its type is %s, which is not one of running sums", to,
                    table_type_name(layout->type));
    if (layout->stored.element_bytes > 0 || layout->is_record)
        return fail(EX_DATAERR, "%s: is big-endian, in Fortran order or of records, behind which no rows are written",
                    to);
    growth->end = (off_t)(layout->offset + layout->bytes);
    growth->job.there = layout->type;
    return EX_OK;
}

/* Checks that the file has the rows that --at expects. */
static int check_at(void *context) {
    const struct growth *growth = context;
    const struct scan_arguments *arguments = &growth->job.arguments;
    const size_t rows = growth->fd < 0 ? 0 : growth->old.layout.rows;
    return !arguments->has_at || arguments->at == rows ? EX_OK
                                                       : fail(EX_DATAERR, "%s: has %zu rows, not the %llu of --at",
                                                              arguments->to, rows, (unsigned long long)arguments->at);
}

/* Rows of the inputs, and their sums, are like those that are there. */
static int check_shape(void *context) {
    const struct growth *growth = context;
    const struct table_layout *there = &growth->old.layout, *more = &growth->job.out_layout;
    if (growth->fd >= 0 && !layout_same_rows(there, more))
        return fail(EX_DATAERR, "%s: its rows have another shape than those of %s", growth->job.name, growth->old.name);
    return growth->fd < 0 || there->type == more->type
               ? EX_OK
               : fail(EX_DATAERR, "%s: its sums would be %s, and those of %s are %s", growth->job.name,
                      table_type_name(more->type), growth->old.name, table_type_name(there->type));
}

static int begin_sums(struct growth *growth) {
    struct scan_job *job = &growth->job;
    return open_output(&job->output, job->arguments.to, false, &output_npy, &job->out_layout);
}

static int finish_sums(struct growth *growth) {
    struct scan_job *job = &growth->job;
    int code = scan_finish_output(job);
    if (code == EX_OK)
        code = atomic_file_finish(&job->output);
    if (code == EX_OK)
        code = append_save_state(growth);
    if (code != EX_OK)
        return code;
    code = atomic_file_publish(&job->output, NULL);
    if (code != EX_OK && unlink(growth->state_path) != 0) /* else it would be that of whatever is in its place */
        message("%s: could not be removed: %s", growth->state_path, strerror(errno));
    return code;
}

/* The header of the old rows and the new ones, as far as those are known. */
static int make_header(const struct growth *growth, struct table_layout *all, char header[OUTPUT_HEADER]) {
    *all = growth->old.layout;
    return !__builtin_add_overflow(all->shape[0], growth->job.out_layout.rows, &all->shape[0]) && layout_finish(all) &&
                   output_npy_header_of(all, header, all->offset)
               ? EX_OK
               : fail(EX_DATAERR, "%s: its header has no room for so many rows", growth->old.name);
}

/* The new rows count from now on. A header that could not be written to its end is the old one again. */
static int write_header_in_place(struct growth *growth) {
    struct table_layout all;
    char header[OUTPUT_HEADER], old[OUTPUT_HEADER];
    const int code = make_header(growth, &all, header);
    if (code != EX_OK)
        return code;
    if (!transfer_read_at(growth->fd, old, all.offset, 0))
        return fail(EX_IOERR, "%s: %s", growth->old.name, errno ? strerror(errno) : "has become shorter");
    const sigset_t before = signals_hold();
    signals_truncate(-1, 0);
    const bool written = transfer_write_at(growth->fd, header, all.offset, 0);
    const int error = errno;
    const bool is_whole = written || transfer_write_at(growth->fd, old, all.offset, 0);
    signals_release(before);
    if (!written)
        return fail(EX_IOERR, "%s: %s%s", growth->old.name, strerror(error),
                    is_whole ? "" : "; its header could not be brought back");
    growth->end = (off_t)(all.offset + all.bytes);
    return transfer_sync(growth->fd, 0) == 0
               ? EX_OK
               : fail(EX_IOERR, "%s: is written, but could not be brought to the disk: %s", growth->old.name,
                      strerror(errno));
}

/* The new sums go after the old ones, where there may be what an append left that was ended. */
static int begin_growth(struct growth *growth) {
    struct scan_job *job = &growth->job;
    const char *to = job->arguments.to;
    struct table_layout all;
    struct stat status;
    char header[OUTPUT_HEADER];
    int code = make_header(growth, &all, header); /* before there is work for nothing */
    if (code == EX_OK)
        code = append_publish_remade_state(growth);
    if (code != EX_OK)
        return code;
    if (fstat(growth->fd, &status) != 0 || /* readers see a file that only grows, if nothing is to be cut off */
        (status.st_size != growth->end && ftruncate(growth->fd, growth->end) != 0) ||
        lseek(growth->fd, growth->end, SEEK_SET) < 0)
        return fail(EX_IOERR, "%s: %s", to, strerror(errno));
    job->output = (struct atomic_file){.name = to, .direct = true, .slot = -1, .start = -1};
    job->output.fd = fcntl(growth->fd, F_DUPFD_CLOEXEC, 0);
    if (job->output.fd < 0)
        return fail(EX_OSERR, "%s: %s", to, strerror(errno));
    job->header_written = true;
    growth->is_growing = true;
    signals_truncate(growth->fd, growth->end);
    return atomic_file_reserve(&job->output, job->out_layout.bytes);
}

static int finish_growth(struct growth *growth) {
    int code = atomic_file_finish(&growth->job.output);
    if (code == EX_OK)
        code = append_save_state(growth);
    if (code == EX_OK)
        code = write_header_in_place(growth);
    if (code != EX_OK)
        return code;
    signals_truncate(-1, 0);
    growth->is_growing = false;
    if (append_settle_state(growth) != EX_OK) /* two will do as well as one, but not for others */
        message("%s: holds the state of the old rows, too, which only append takes", growth->state_path);
    return EX_OK;
}

/* Of a growth that has failed, what lies after the rows that the header counts. */
static void cut_off(const struct growth *growth) {
    signals_truncate(-1, 0);
    if (ftruncate(growth->fd, growth->end) != 0)
        message("%s: what lies behind its rows could not be cut off: %s", growth->job.arguments.to, strerror(errno));
}

static int begin(void *context) {
    struct growth *growth = context;
    growth->job.output_format = &output_npy;
    growth->job.rows_said = growth->job.out_layout.rows;
    return growth->fd < 0 ? begin_sums(growth) : begin_growth(growth);
}

static int finish(void *context) {
    struct growth *growth = context;
    return growth->fd < 0 ? finish_sums(growth) : finish_growth(growth);
}

static void close_all(void *context) {
    struct growth *growth = context;
    if (growth->is_growing)
        cut_off(growth);
    scan_close(&growth->job);
    atomic_file_discard(&growth->state_file);
    input_close(&growth->old);
    if (growth->fd >= 0)
        close(growth->fd);
    free(growth->saved);
}

int append_main(int argc, char **argv) {
    static const struct job_step steps[] = {{open_sums, STEP_READ, false},         {check_at, STEP_READ, false},
                                            {append_read_state, STEP_READ, false}, {scan_open_tables, STEP_READ, false},
                                            {check_shape, STEP_READ, false},       {begin, STEP_WRITE, false},
                                            {scan_sum_up, STEP_WORK, true},        {finish, STEP_WRITE, false}};
    static const struct job_table table = {&options_of_append, check_arguments,  JOB_STEPS(steps),
                                           scan_tell,          scan_free_tables, close_all};
    static struct growth growth = {.job = SCAN_NO_FILES, .fd = -1, .state_file = ATOMIC_FILE_NONE};
    return job_run(&table, &growth, &growth.job.arguments.common, argc, argv);
}
