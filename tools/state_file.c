#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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

/* All of the open file, whose header is looked at before there is memory for it. */
static void read_all(struct state_file *file, int fd) {
    enum { HEADER = 64 }; /* of any state */
    char header[HEADER];
    struct stat status;
    if (fstat(fd, &status) != 0)
        die(EX_IOERR, "%s: %s", file->name, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_size > MOST_BYTES)
        die(EX_DATAERR, "%s: is not the file of a state", file->name);
    file->bytes = (size_t)status.st_size;
    const ssize_t begun = pread(fd, header, sizeof header, 0);
    if (begun < 0)
        die(EX_IOERR, "%s: %s", file->name, strerror(errno));
    const size_t said = (size_t)begun < sizeof header ? (size_t)begun : file->bytes;
    if (table_state_describe(header, said, &file->facts) != TABLE_OK)
        die(EX_DATAERR, "%s: %s", file->name, table_error_detail());
    file->state = memory_for(file->name, file->bytes);
    const ssize_t got = transfer_read_all(fd, file->state, file->bytes);
    if (got != (ssize_t)file->bytes)
        die(EX_IOERR, "%s: %s", file->name, got < 0 ? strerror(errno) : "has become shorter");
    /* The state takes the place of its saved form. */
    if (table_state_describe(file->state, file->bytes, &file->facts) != TABLE_OK ||
        table_state_load(file->state, file->bytes, file->state) != TABLE_OK)
        die(EX_DATAERR, "%s: %s", file->name, table_error_detail());
}

void state_file_take_lock(const char *name, int fd) {
    const int error = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == EWOULDBLOCK)
        die(EX_TEMPFAIL, "%s: another command is going on from it", name);
    if (error != 0)
        message("%s: cannot be locked (%s): nothing else may go on from it meanwhile", name, strerror(error));
    if (!transfer_is_named(fd, name))
        die(EX_TEMPFAIL, "%s: was replaced by another command meanwhile", name);
}

void state_file_read(struct state_file *file, const char *path, bool locked) {
    struct stat status;
    file->name = path;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        die(EX_DATAERR, "%s: is not the file of a state", path);
    const int fd = transfer_open(path, O_RDONLY);
    if (fd < 0 && errno == ENOENT && locked)
        return;
    if (fd < 0)
        die(EX_NOINPUT, "%s: %s", path, strerror(errno));
    if (locked)
        state_file_take_lock(path, fd);
    read_all(file, fd);
    if (!locked)
        close(fd);
}

void state_file_fit(struct state_file *file, const char *input, table_operation operation, table_type type,
                    size_t columns) {
    const table_state_facts *facts = &file->facts;
    if (facts->version != 0) {
        if (facts->operation != operation)
            die(EX_DATAERR, "%s: is the state of a %s, not of a %s", file->name, table_operation_name(facts->operation),
                table_operation_name(operation));
        if (facts->type != type || facts->columns != columns)
            die(EX_DATAERR, "%s: is the state of %zu columns of %s, and the sums of %s are %zu of %s", file->name,
                facts->columns, table_type_name(facts->type), input, columns, table_type_name(type));
        if (facts->first_row != 0)
            die(EX_DATAERR, "%s: is of a range that begins at row %llu, above which the sums are not known", file->name,
                (unsigned long long)facts->first_row);
        return;
    }
    die_unless_ok(file->name, table_state_bytes_of(operation, type, columns, &file->bytes));
    file->state = memory_cleared(file->name, file->bytes);
}

void *state_file_sums(struct state_file *file, const char *input, table_operation operation, table_type type,
                      size_t columns) {
    size_t bytes;
    state_file_fit(file, input, operation, type, columns);
    void *const row = memory_for(file->name, size_multiply(columns, table_type_size(type), &bytes) ? bytes : SIZE_MAX);
    if (table_state_sums(file->state, row) != TABLE_OK)
        die(EX_DATAERR, "%s: %s", file->name, table_error_detail());
    return row;
}

/* A file that came to be there while this one was not is not replaced. */
void state_file_open(struct state_file *file) {
    atomic_file_open(&file->output, file->name, file->facts.version != 0);
    atomic_file_reserve(&file->output, file->bytes);
}

void state_file_write(struct state_file *file) {
    die_unless_ok(file->name, table_state_save(file->state, file->state, file->bytes));
    atomic_file_write(&file->output, file->state, file->bytes);
}
