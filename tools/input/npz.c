/* .npz files: the arrays in them are members of a zip archive, which libzip reads piece by piece. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "input/file.h"
#include "memory.h"
#include "message.h"

struct archive {
    zip_t *archive;
    zip_file_t *member;
    size_t given; /* bytes of it that were read */
};

static struct archive *archive_of(const struct input_file *file) { return file->source.state; }

static _Noreturn void bad_archive(const struct input_file *file, int error, const char *what) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, error);
    die(EX_DATAERR, "%s: %s: %s", file->name, what, zip_error_strerror(&reason));
}

/* Whether the name is what the member is called, with this ending. */
static bool is_called(const char *name, const char *member, const char *ending) {
    const size_t length = strlen(member);
    return name && strncmp(name, member, length) == 0 && strcmp(name + length, ending) == 0;
}

/* How many members are called so; *place is where the last one is. */
static unsigned count_members(zip_t *archive, const char *member, const char *ending, zip_uint64_t *place) {
    unsigned found = 0;
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    for (zip_int64_t i = 0; i < count; i++) {
        if (!is_called(zip_get_name(archive, (zip_uint64_t)i, 0), member, ending))
            continue;
        *place = (zip_uint64_t)i;
        found++;
    }
    return found;
}

/* The name of a member, as it may be given. */
static const char *name_of(zip_t *archive, zip_uint64_t place, size_t *length) {
    const char *name = zip_get_name(archive, place, 0);
    *length = name ? strlen(name) : 0;
    *length -= *length > 4 && strcmp(name + *length - 4, ".npy") == 0 ? 4 : 0;
    return name ? name : "";
}

static zip_uint64_t find_member(struct input_file *file, const char *member) {
    zip_t *archive = archive_of(file)->archive;
    const zip_uint64_t count = (zip_uint64_t)zip_get_num_entries(archive, 0);
    struct input_names names = input_names_begin(member);
    struct input_reason reason;
    unsigned found = !member && count == 1;
    zip_uint64_t place = 0;
    if (member)
        found = count_members(archive, member, "", &place);
    if (member && found == 0)
        found = count_members(archive, member, ".npy", &place);
    if (found == 1)
        return place;
    if (found > 1)
        die(EX_DATAERR, "%s: has %u members that are called '%s'", file->name, found, member);
    for (zip_uint64_t i = 0; i < count; i++) {
        size_t length;
        const char *name = name_of(archive, i, &length);
        input_names_add(&names, name, length);
    }
    input_names_reason(member, &names, &reason);
    input_refused(file, &reason);
}

/* Fails also where the checksum at the end is wrong. */
static size_t read_member(struct input_file *file, void *to, size_t bytes) {
    struct archive *const archive = archive_of(file);
    const zip_int64_t got = zip_fread(archive->member, to, bytes);
    archive->given += got > 0 ? (size_t)got : 0;
    if (got == 0 && bytes > 0 && archive->given != file->source.bytes)
        die(EX_DATAERR, "%s: a member has %zu bytes, and the archive says %zu", file->name, archive->given,
            file->source.bytes);
    if (got >= 0)
        return (size_t)got;
    zip_error_t *error = zip_file_get_error(archive->member);
    die(zip_error_code_zip(error) == ZIP_ER_READ ? EX_IOERR : EX_DATAERR, "%s: the archive cannot be read: %s",
        file->name, zip_error_strerror(error));
}

static void close_archive(struct input_file *file) {
    struct archive *archive = archive_of(file);
    if (archive->member)
        zip_fclose(archive->member);
    if (archive->archive)
        zip_discard(archive->archive);
    free(archive);
}

/* libzip takes a descriptor over that it opens, and has its own place in the file. */
static void open_archive(struct input_file *file) {
    int error = 0;
    struct archive *const archive = memory_cleared(file->name, sizeof *archive);
    file->source = (struct input_reader){.read = read_member, .close = close_archive, .state = archive};
    const int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        die(EX_OSERR, "%s: %s", file->name, strerror(errno));
    archive->archive = zip_fdopen(fd, ZIP_RDONLY, &error);
    if (!archive->archive)
        bad_archive(file, error, "is not an archive that can be read");
}

static void open_member(struct input_file *file, const struct input_request *request) {
    zip_stat_t facts;
    if (!input_can_seek(file))
        die(EX_DATAERR,
            "%s: is not a file, and a .npz can only be read out of one: unzip -p FILE.npz MEMBER.npy | "
            "tuplescan ... -",
            file->name);
    open_archive(file);
    const zip_uint64_t place = find_member(file, request->member);
    zip_t *archive = archive_of(file)->archive;
    if (zip_stat_index(archive, place, 0, &facts) != 0 || !(facts.valid & ZIP_STAT_SIZE) ||
        !(archive_of(file)->member = zip_fopen_index(archive, place, 0)))
        bad_archive(file, zip_error_code_zip(zip_get_error(archive)), zip_get_name(archive, place, 0));
    if (facts.size >= SIZE_MAX)
        die(EX_OSERR, "%s: larger than the address space", file->name);
    file->source.bytes = (size_t)facts.size;
    input_open_format(file, request);
}

/* The layout of the table that is the member at this place. */
static bool look_at_member(struct input_file *file, zip_uint64_t place, const struct input_request *request,
                           struct table_layout *layout, struct input_reason *reason) {
    enum { HEADER_MOST = 1 << 20 };
    unsigned char begins[INPUT_NPY_LEAST], *header = NULL;
    zip_stat_t facts;
    zip_file_t *member = zip_fopen_index(archive_of(file)->archive, place, 0);
    const bool is_open = member && zip_stat_index(archive_of(file)->archive, place, 0, &facts) == 0 &&
                         zip_fread(member, begins, sizeof begins) == sizeof begins;
    const size_t bytes = is_open ? input_npy_header(begins, sizeof begins) : 0;
    bool is_read = bytes >= sizeof begins && bytes <= HEADER_MOST && (header = malloc(bytes));
    if (is_read) {
        const size_t rest = bytes - sizeof begins;
        memcpy(header, begins, sizeof begins);
        is_read = zip_fread(member, header + sizeof begins, rest) == (zip_int64_t)rest;
    }
    is_read = is_read ? input_npy.locate(header, bytes, (size_t)facts.size, request, layout, reason)
                      : input_refuse(reason, EX_DATAERR, "is not a .npy file");
    free(header);
    if (member)
        zip_fclose(member);
    return is_read;
}

static size_t visit_members(struct input_file *file, const struct input_request *request, input_visit *visit,
                            void *context) {
    if (!input_can_seek(file)) /* as is said when it is opened */
        return 1;
    open_archive(file);
    const size_t count = (size_t)zip_get_num_entries(archive_of(file)->archive, 0);
    for (size_t i = 0; i < count && visit; i++) {
        struct table_layout layout = {0};
        struct input_reason reason;
        size_t length;
        const char *name = name_of(archive_of(file)->archive, i, &length);
        const bool is_table = look_at_member(file, i, request, &layout, &reason);
        visit(context, name, length, is_table ? &layout : NULL, reason.text);
    }
    return count;
}

const struct input_format input_npz = {
    .name = "npz", .output = "npy", .ending = ".npz", .begins = "PK", .open = open_member, .each = visit_members};
