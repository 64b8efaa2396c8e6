#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "message.h"
#include "output_path.h"
#include "signals.h"
#include "transfer.h"

#define ACCESS_LIST "system.posix_acl_access"

enum { BEGIN_BYTES = 16 << 20, ALL_MAY = 0777, OWNER_MAY = 0700 };

/* Makes an empty file beside the target that its owner alone may use, and that a signal removes. Returns errno's
 * number, or 0. Signals are held. */
static int make_temporary(struct atomic_file *file) {
    char path[PATH_MAX];
    const char *name = output_path_name(file->target);
    if (snprintf(path, PATH_MAX, "%.*s.tuplescan.XXXXXX", (int)(name - file->target), file->target) >= PATH_MAX)
        return ENAMETOOLONG;
    file->fd = mkostemp(path, O_CLOEXEC);
    if (file->fd < 0)
        return errno;
    file->slot = signals_will_remove(path);
    if (file->slot >= 0)
        return 0;
    unlink(path);
    close(file->fd);
    file->fd = -1;
    return ENOSPC;
}

static void open_temporary(struct atomic_file *file) {
    const sigset_t before = signals_hold();
    const int error = make_temporary(file);
    signals_release(before);
    if (error != 0)
        die(EX_CANTCREAT, "%s: cannot make a temporary beside it: %s", file->name, strerror(error));
}

static void open_new(struct atomic_file *file) {
    if (snprintf(file->target, sizeof file->target, "%s", file->name) >= (int)sizeof file->target)
        die(EX_CANTCREAT, "%s: %s", file->name, strerror(ENAMETOOLONG));
    file->is_new = true;
    open_temporary(file);
    const mode_t mask = umask(0); /* there are no threads yet */
    umask(mask);
    if (fchmod(file->fd, 0666 & ~mask) != 0 && errno != EPERM) /* FAT has no such permissions */
        die(EX_CANTCREAT, "%s: %s", file->name, strerror(errno));
}

/* Whether a call about an access control list failed because there is no list. */
static bool has_no_list(int error) { return error == ENODATA || error == ENOTSUP || error == ENOSYS; }

/* Gives the temporary the owner, the group and the permissions of the file that it replaces. Where these cannot be kept
 * whole, it is for its owner alone: the permissions of a file with an access control list show the mask of the list. A
 * list that the folder gave to the temporary is taken away. False: something was not kept. */
static bool keep_access(const struct atomic_file *file, const struct stat *old) {
    const bool is_listed = getxattr(file->target, ACCESS_LIST, NULL, 0) >= 0 || !has_no_list(errno);
    const bool is_bare = fremovexattr(file->fd, ACCESS_LIST) == 0 || has_no_list(errno);
    const bool is_kept = fchown(file->fd, old->st_uid, old->st_gid) == 0 && !is_listed && is_bare;
    return fchmod(file->fd, old->st_mode & (is_kept ? ALL_MAY : OWNER_MAY)) == 0 && is_kept;
}

/* A symbolic link stays one: what it points to is replaced. */
static void open_replacement(struct atomic_file *file, const char *path, const struct stat *old) {
    if (!realpath(path, file->target))
        die(EX_CANTCREAT, "%s: %s", path, strerror(errno));
    open_temporary(file);
    if (!keep_access(file, old))
        message("%s: its owner, group or permissions cannot be kept; nobody but its owner can use it now", path);
}

/* An open file that is a regular one, and no end to append to, begins where it is. */
static off_t place_of_direct(int fd) {
    struct stat status;
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || flags & O_APPEND || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    return lseek(fd, 0, SEEK_CUR);
}

void atomic_file_open(struct atomic_file *file, const char *path, bool force) {
    struct stat status;
    *file = (struct atomic_file){.name = path, .fd = -1, .slot = -1, .force = force};
    output_path_check(path, force);
    const int descriptor = output_path_descriptor(path);
    const bool exists = descriptor < 0 && stat(path, &status) == 0;
    file->direct = descriptor >= 0 || (exists && output_path_is_device(status.st_mode));
    if (descriptor == STDOUT_FILENO) {
        file->name = "standard output";
        file->fd = STDOUT_FILENO;
    } else if (file->direct) {
        file->fd = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : transfer_open(path, O_WRONLY);
    } else {
        if (exists)
            open_replacement(file, path, &status);
        else
            open_new(file);
        return;
    }
    if (file->fd < 0)
        die(EX_CANTCREAT, "%s: %s", path, strerror(errno));
    file->start = place_of_direct(file->fd);
    transfer_widen(file->fd);
}

/* Whether there is room, as far as can be known. Returns errno's number, or 0. */
static int find_room(const struct atomic_file *file, size_t bytes) {
    struct stat status;
    struct statvfs room;
    struct rlimit limit;
    if (fstat(file->fd, &status) != 0 || !S_ISREG(status.st_mode) || bytes == 0)
        return 0;
    if (bytes > INT64_MAX || (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur))
        return EFBIG;
    /* Saves filling a disk that is seen to be too small. Blocks reserved for the superuser count as free. */
    if (fstatvfs(file->fd, &room) == 0 && room.f_blocks > 0 && bytes / room.f_frsize > room.f_bfree)
        return ENOSPC;
    while (!file->direct && fallocate(file->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) != 0)
        if (errno != EINTR)
            return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
    return 0;
}

void atomic_file_reserve(struct atomic_file *file, size_t bytes) {
    const int error = find_room(file, bytes);
    if (error != 0)
        die(EX_IOERR, "%s: no room for %zu bytes: %s", file->name, bytes, strerror(error));
}

/* What a call came to, of which errno's number is `error`. */
static void check(const struct atomic_file *file, bool is_kept, int error) {
    if (!is_kept)
        die(EX_IOERR, "%s: %s", file->name, strerror(error));
}

/* Writes, and has the disk begin with bytes that have gathered. */
void atomic_file_write(struct atomic_file *file, const void *data, size_t bytes) {
    bool is_written = transfer_write(file->fd, data, bytes, -1);
    file->written += is_written ? bytes : 0;
    const size_t ready = file->written - file->begun;
    if (is_written && !file->direct && ready >= BEGIN_BYTES) {
        is_written = transfer_begin_sync(file->fd, file->begun, ready);
        file->begun = file->written;
    }
    check(file, is_written, errno);
}

bool atomic_file_can_go_back(const struct atomic_file *file) { return file->start >= 0; }

void atomic_file_write_at(struct atomic_file *file, const void *data, size_t bytes, size_t place) {
    check(file, transfer_write(file->fd, data, bytes, file->start + (off_t)place), errno);
}

void atomic_file_grown(struct atomic_file *file, size_t bytes) {
    file->written += bytes;
    const bool is_there = lseek(file->fd, file->start + (off_t)file->written, SEEK_SET) >= 0;
    check(file, is_there, errno);
}

void atomic_file_finish(struct atomic_file *file) {
    if (file->fd < 0)
        return;
    int error = transfer_sync(file->fd, file->direct ? 0 : file->written) == 0 ? 0 : errno;
    if (file->direct && (error == EINVAL || error == ENOTSUP || error == EROFS))
        error = 0; /* pipes and devices have nothing to bring to the disk */
    if (file->fd != STDOUT_FILENO && close(file->fd) != 0 && errno != EINTR && error == 0)
        error = errno;
    file->fd = -1;
    check(file, error == 0, error);
}

void atomic_file_discard(struct atomic_file *file) {
    if (file->fd >= 0 && file->fd != STDOUT_FILENO)
        close(file->fd);
    file->fd = -1;
    if (file->slot < 0)
        return;
    const sigset_t before = signals_hold();
    unlink(signals_path(file->slot));
    signals_leave(file->slot);
    signals_release(before);
    file->slot = -1;
}

/* An empty file of that name is this command's to replace. */
static int rename_to_new(const char *temporary, const char *target) {
    const int fd = open(target, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return -1;
    close(fd);
    if (rename(temporary, target) == 0)
        return 0;
    const int error = errno;
    unlink(target);
    errno = error;
    return -1;
}

/* Without force it never replaces a file that came to be there meanwhile. */
static int rename_to_target(const char *temporary, const char *target, bool force) {
    if (force)
        return rename(temporary, target);
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? rename_to_new(temporary, target) : -1;
}

/* Gives the file its name, and the temporary's to what stood there, if `keeps` and the file system can exchange names:
 * then *kept. Returns errno's number, or 0. Signals are held. */
static int move_to_target(struct atomic_file *file, bool keeps, bool *kept) {
    const char *temporary = signals_path(file->slot);
    *kept = keeps && file->force && renameat2(AT_FDCWD, temporary, AT_FDCWD, file->target, RENAME_EXCHANGE) == 0;
    if (*kept)
        return 0;
    if (rename_to_target(temporary, file->target, file->force) != 0)
        return errno;
    signals_leave(file->slot);
    file->slot = -1;
    return 0;
}

/* What move_to_target() has done. */
static void take_back(struct atomic_file *file, bool kept) {
    if (kept)
        renameat2(AT_FDCWD, signals_path(file->slot), AT_FDCWD, file->target, RENAME_EXCHANGE);
    else if (file->is_new)
        unlink(file->target);
}

static int sync_directory(const char *target) {
    char directory[PATH_MAX];
    output_path_directory(target, directory);
    const int fd = transfer_open(directory, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return errno == EACCES ? 0 : -1; /* a folder that one may write to and not list */
    const int error = transfer_sync(fd, 0) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
    close(fd);
    errno = error;
    return error == 0 ? 0 : -1;
}

static bool are_in_one_folder(const struct atomic_file *file, const struct atomic_file *beside) {
    char first[PATH_MAX], second[PATH_MAX];
    output_path_directory(file->target, first);
    output_path_directory(beside->target, second);
    return strcmp(first, second) == 0;
}

/* Returns errno's number, or 0; *failed is the file that could not be named. The disk has the first name before the
 * second one is given: in one folder by the order of the two. */
static int name_both(struct atomic_file *file, struct atomic_file *beside, struct atomic_file **failed) {
    bool kept = false, unused;
    *failed = file;
    int error = file->direct ? 0 : move_to_target(file, beside != NULL, &kept);
    if (error != 0 || !beside || beside->direct)
        return error;
    if (!file->direct && !are_in_one_folder(file, beside) && sync_directory(file->target) != 0)
        error = errno;
    if (error == 0) {
        *failed = beside;
        error = move_to_target(beside, false, &unused);
    }
    if (error != 0 && !file->direct)
        take_back(file, kept);
    return error;
}

static void sync_folder(const struct atomic_file *file) {
    if (!file->direct && sync_directory(file->target) != 0)
        die(EX_IOERR, "%s: is written, but its folder could not be brought to the disk: %s", file->name,
            strerror(errno));
}

void atomic_file_publish(struct atomic_file *file, struct atomic_file *beside) {
    struct atomic_file *failed;
    atomic_file_finish(file);
    if (beside)
        atomic_file_finish(beside);
    const sigset_t before = signals_hold();
    const int error = name_both(file, beside, &failed);
    atomic_file_discard(file); /* a temporary that is left has the old file, or was taken back */
    if (beside)
        atomic_file_discard(beside);
    signals_release(before);
    if (error != 0)
        die(EX_CANTCREAT, "%s: %s", failed->name, strerror(error));
    sync_folder(file);
    if (beside)
        sync_folder(beside);
}
