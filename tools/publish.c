/* Outputs that are whole get their names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "message.h"
#include "output_path.h"
#include "signals.h"
#include "transfer.h"

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

static int sync_folder(const struct atomic_file *file) {
    if (file->direct || sync_directory(file->target) == 0)
        return EX_OK;
    return fail(EX_IOERR, "%s: is written, but its folder could not be brought to the disk: %s", file->name,
                strerror(errno));
}

int atomic_file_publish(struct atomic_file *file) { return atomic_file_publish_both(file, NULL); }

int atomic_file_publish_both(struct atomic_file *file, struct atomic_file *beside) {
    struct atomic_file *failed;
    const sigset_t before = signals_hold();
    const int error = name_both(file, beside, &failed);
    atomic_file_discard(file); /* a temporary that is left is what was there before, or was taken back */
    if (beside)
        atomic_file_discard(beside);
    signals_release(before);
    if (error != 0)
        return fail(EX_CANTCREAT, "%s: %s", failed->name, strerror(error));
    const int code = sync_folder(file);
    return code == EX_OK && beside ? sync_folder(beside) : code;
}
