#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "message.h"
#include "transfer.h"

/* A state with that many bytes is one of more columns than there are anywhere: some other file. */
static const off_t MOST_BYTES = (off_t)1 << 40;

static const char MARK[8] = "tplstate";

bool state_file_recognise(const char *path) {
    char mark[sizeof MARK];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    const int fd = transfer_open(path, O_RDONLY);
    const bool found =
        fd >= 0 && transfer_read(fd, mark, sizeof mark) == (ssize_t)sizeof mark && memcmp(mark, MARK, sizeof mark) == 0;
    if (fd >= 0)
        close(fd);
    return found;
}

/* The header is looked at before there is memory for all of the state. */
static int check_header(const struct state_file *file, int fd, size_t bytes) {
    enum { HEADER = 64 }; /* of any state */
    char header[HEADER];
    table_state_facts facts;
    const ssize_t got = pread(fd, header, sizeof header, 0);
    if (got < 0)
        return fail(EX_IOERR, "%s: %s", file->name, strerror(errno));
    if (table_state_describe(header, (size_t)got < sizeof header ? (size_t)got : bytes, &facts) != TABLE_OK)
        return fail(EX_DATAERR, "%s: %s", file->name, table_error_detail());
    return EX_OK;
}

/* All of the open file into file->state. */
static int read_all(struct state_file *file, int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return fail(EX_IOERR, "%s: %s", file->name, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size > MOST_BYTES)
        return fail(EX_DATAERR, "%s: is not the file of a state", file->name);
    const int code = check_header(file, fd, (size_t)status.st_size);
    if (code != EX_OK)
        return code;
    file->bytes = (size_t)status.st_size;
    file->state = memory_allocate(file->bytes);
    if (!file->state)
        return fail(EX_OSERR, "%s: out of memory for %zu bytes", file->name, file->bytes);
    const ssize_t got = transfer_read_all(fd, file->state, file->bytes);
    return got == (ssize_t)file->bytes
               ? EX_OK
               : fail(EX_IOERR, "%s: %s", file->name, got < 0 ? strerror(errno) : "has become shorter");
}

/* Puts the state in the place of its saved form. */
static int load(struct state_file *file) {
    if (table_state_describe(file->state, file->bytes, &file->facts) != TABLE_OK ||
        table_state_load(file->state, file->bytes, file->state) != TABLE_OK)
        return fail(EX_DATAERR, "%s: %s", file->name, table_error_detail());
    return EX_OK;
}

int state_file_take_lock(const char *name, int fd) {
    const int error = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == EWOULDBLOCK)
        return fail(EX_TEMPFAIL, "%s: another command is going on from it", name);
    if (error != 0)
        message("%s: cannot be locked (%s): nothing else may go on from it meanwhile", name, strerror(error));
    if (!transfer_is_named(fd, name))
        return fail(EX_TEMPFAIL, "%s: was replaced by another command meanwhile", name);
    return EX_OK;
}

int state_file_read(struct state_file *file, const char *path, bool locked) {
    struct stat status;
    file->name = path;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return fail(EX_DATAERR, "%s: is not the file of a state", path);
    const int fd = transfer_open(path, O_RDONLY);
    if (fd < 0 && errno == ENOENT && locked)
        return EX_OK;
    if (fd < 0)
        return fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
    int code = locked ? state_file_take_lock(path, fd) : EX_OK;
    if (code == EX_OK)
        code = read_all(file, fd);
    if (code == EX_OK)
        code = load(file);
    if (code == EX_OK && locked)
        file->lock = fd;
    else
        close(fd);
    return code;
}

int state_file_fit(struct state_file *file, const char *input, table_operation operation, table_type type,
                   size_t columns) {
    const table_state_facts *facts = &file->facts;
    if (facts->version != 0) {
        if (facts->operation != operation)
            return fail(EX_DATAERR, "%s: is the state of a %s, not of a %s", file->name,
                        table_operation_name(facts->operation), table_operation_name(operation));
        if (facts->type != type || facts->columns != columns)
            return fail(EX_DATAERR, "%s: is the state of %zu columns of %s, and the sums of %s are %zu of %s",
                        file->name, facts->columns, table_type_name(facts->type), input, columns,
                        table_type_name(type));
        if (facts->first_row != 0)
            return fail(EX_DATAERR, "%s: is of a range that begins at row %llu, above which the sums are not known",
                        file->name, (unsigned long long)facts->first_row);
        return EX_OK;
    }
    const table_status status = table_state_bytes_of(operation, type, columns, &file->bytes);
    if (status != TABLE_OK)
        return fail_status(file->name, status);
    file->state = memory_allocate(file->bytes);
    if (!file->state)
        return fail(EX_OSERR, "%s: out of memory for %zu bytes", file->name, file->bytes);
    memset(file->state, 0, file->bytes);
    return EX_OK;
}

int state_file_sums(struct state_file *file, const char *input, table_operation operation, table_type type,
                    size_t columns, void **row) {
    size_t bytes;
    *row = NULL;
    int code = state_file_fit(file, input, operation, type, columns);
    if (code == EX_OK && (!size_multiply(columns, table_type_size(type), &bytes) || !(*row = memory_allocate(bytes))))
        code = fail(EX_OSERR, "%s: out of memory", file->name);
    if (code == EX_OK && table_state_sums(file->state, *row) != TABLE_OK)
        code = fail(EX_DATAERR, "%s: %s", file->name, table_error_detail());
    return code;
}

/* A file that came to be there while this one was not is not replaced. */
int state_file_open(struct state_file *file) {
    const int code = atomic_file_open(&file->output, file->name, file->facts.version != 0);
    return code == EX_OK ? atomic_file_reserve(&file->output, file->bytes) : code;
}

int state_file_write(struct state_file *file) {
    const table_status status = table_state_save(file->state, file->state, file->bytes);
    if (status != TABLE_OK)
        return fail_status(file->name, status);
    return atomic_file_write(&file->output, file->state, file->bytes);
}

void state_file_close(struct state_file *file) {
    atomic_file_discard(&file->output);
    if (file->lock >= 0)
        close(file->lock);
    file->lock = -1;
    free(file->state);
    file->state = NULL;
}
