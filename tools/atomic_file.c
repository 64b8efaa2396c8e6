#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "message.h"

/* The temporaries that exist, where a signal handler can find them. A slot is filled and emptied with the signals
 * blocked, so that no temporary exists outside of this table. */
enum { SLOTS = 4, WRITE_AT_ONCE = 1 << 30 };
static struct {
    volatile sig_atomic_t used;
    char path[PATH_MAX];
} temporaries[SLOTS];

static const int ending_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGBUS,  SIGABRT,
                                     SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof ending_signals[0] };

static void remove_temporaries(void) {
    for (int i = 0; i < SLOTS; i++)
        if (temporaries[i].used)
            unlink(temporaries[i].path);
}

/* The handler stays in place until its work is done: another signal may come meanwhile, in another thread. Then the
 * program ends as it would have without a handler. */
static void on_ending_signal(int signal_number) {
    remove_temporaries();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A mapped input that shrinks, or whose disk fails, while it is read; by several threads at a time, as a rule. */
static void on_bus_error(int signal_number) {
    static const char text[] = "tuplescan: the input could not be read to its end: it shrank, or its disk failed\n";
    static bool taken;
    (void)signal_number;
    while (__atomic_test_and_set(&taken, __ATOMIC_ACQ_REL))
        pause();
    remove_temporaries();
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    (void)ignored;
    _exit(EX_IOERR);
}

void atomic_file_catch_signals(void) {
    for (int i = 0; i < ENDING_SIGNALS; i++) {
        struct sigaction action = {0}, old;
        action.sa_handler = ending_signals[i] == SIGBUS ? on_bus_error : on_ending_signal;
        sigfillset(&action.sa_mask);
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

static sigset_t block_signals(void) {
    sigset_t ending, before;
    sigemptyset(&ending);
    for (int i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&ending, ending_signals[i]);
    pthread_sigmask(SIG_BLOCK, &ending, &before);
    return before;
}

static void restore_signals(sigset_t before) { pthread_sigmask(SIG_SETMASK, &before, NULL); }

static bool is_direct(mode_t mode) { return S_ISCHR(mode) || S_ISFIFO(mode); }

int atomic_file_check(const char *path, bool force) {
    struct stat status;
    if (strcmp(path, "-") == 0) {
        if (isatty(STDOUT_FILENO))
            return fail(EX_USAGE, "standard output is a terminal, and tables are not text: redirect it");
        return EX_OK;
    }
    if (!*path)
        return fail(EX_USAGE, "the name of the output is empty");
    if (stat(path, &status) != 0) {
        if (errno != ENOENT)
            return fail(EX_CANTCREAT, "%s: %s", path, strerror(errno));
        if (path[strlen(path) - 1] == '/')
            return fail(EX_CANTCREAT, "%s: not the name of a file", path);
        if (lstat(path, &status) == 0)
            return fail(EX_CANTCREAT, "%s: is a symbolic link to nothing", path);
        return EX_OK;
    }
    if (is_direct(status.st_mode))
        return EX_OK;
    if (S_ISDIR(status.st_mode))
        return fail(EX_CANTCREAT, "%s: is a directory", path);
    if (!S_ISREG(status.st_mode))
        return fail(EX_CANTCREAT, "%s: is not a file that can be replaced", path);
    if (!force)
        return fail(EX_CANTCREAT, "%s: exists already; -f replaces it", path);
    return EX_OK;
}

/* Linux's number for /dev/null and its like. */
enum { MEMORY_DEVICES = 1 };

static int status_of(const char *path, struct stat *status) {
    return strcmp(path, "-") == 0 ? fstat(STDOUT_FILENO, status) : stat(path, status);
}

/* "DIRECTORY" or "." */
static void directory_of(const char *path, char directory[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    snprintf(directory, PATH_MAX, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool atomic_file_same(const char *a, const char *b) {
    struct stat status_a, status_b;
    const bool a_exists = status_of(a, &status_a) == 0, b_exists = status_of(b, &status_b) == 0;
    if (!a_exists && !b_exists) { /* the same name in the same folder */
        char directory_a[PATH_MAX], directory_b[PATH_MAX];
        directory_of(a, directory_a);
        directory_of(b, directory_b);
        if (strcmp(name_of(a), name_of(b)) != 0 || stat(directory_a, &status_a) != 0 ||
            stat(directory_b, &status_b) != 0)
            return false;
    } else if (!a_exists || !b_exists || (S_ISCHR(status_a.st_mode) && major(status_a.st_rdev) == MEMORY_DEVICES)) {
        return false;
    }
    return status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

/* "DIRECTORY/.tuplescan.XXXXXX" beside the target. */
static bool temporary_path(const char *target, char path[PATH_MAX]) {
    return snprintf(path, PATH_MAX, "%.*s.tuplescan.XXXXXX", (int)(name_of(target) - target), target) < PATH_MAX;
}

static int open_temporary(struct atomic_file *file, mode_t mode) {
    int slot = 0;
    while (slot < SLOTS && temporaries[slot].used)
        slot++;
    if (slot == SLOTS || !temporary_path(file->target, temporaries[slot].path))
        return fail(EX_CANTCREAT, "%s: %s", file->name, strerror(ENAMETOOLONG));

    sigset_t before = block_signals();
    file->fd = mkostemp(temporaries[slot].path, O_CLOEXEC);
    int error = errno;
    if (file->fd >= 0) {
        temporaries[slot].used = 1;
        file->slot = slot;
    }
    restore_signals(before);
    if (file->fd < 0)
        return fail(EX_CANTCREAT, "%s: cannot make a temporary beside it: %s", file->name, strerror(error));
    if (fchmod(file->fd, mode) != 0)
        message("%s: cannot set its permissions: %s", file->name, strerror(errno));
    return EX_OK;
}

/* What a new file would get here, without a way to ask that is safe in a program with threads: there are none yet. */
static mode_t new_file_mode(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

int atomic_file_open(struct atomic_file *file, const char *path, bool force) {
    struct stat status;
    *file = (struct atomic_file){.name = path, .fd = -1, .slot = -1, .force = force};
    int code = atomic_file_check(path, force);
    if (code != EX_OK)
        return code;
    if (strcmp(path, "-") == 0) {
        file->name = "standard output";
        file->direct = true;
        file->fd = STDOUT_FILENO;
        return EX_OK;
    }
    bool exists = stat(path, &status) == 0;
    file->is_new = !exists;
    if (exists && is_direct(status.st_mode)) {
        file->direct = true;
        file->fd = open(path, O_WRONLY | O_CLOEXEC);
        return file->fd >= 0 ? EX_OK : fail(EX_CANTCREAT, "%s: %s", path, strerror(errno));
    }
    /* A symbolic link stays one: what it points to is replaced. */
    if (exists ? !realpath(path, file->target)
               : snprintf(file->target, sizeof file->target, "%s", path) >= (int)sizeof file->target)
        return fail(EX_CANTCREAT, "%s: %s", path, strerror(exists ? errno : ENAMETOOLONG));
    return open_temporary(file, exists ? status.st_mode & 0777 : new_file_mode());
}

int atomic_file_write(struct atomic_file *file, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes > 0) {
        ssize_t written = write(file->fd, at, bytes < WRITE_AT_ONCE ? bytes : WRITE_AT_ONCE);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int code = fail(EX_IOERR, "%s: %s", file->name, strerror(written < 0 ? errno : ENOSPC));
            atomic_file_discard(file);
            return code;
        }
        at += written;
        bytes -= (size_t)written;
    }
    return EX_OK;
}

int atomic_file_finish(struct atomic_file *file) {
    int error = fsync(file->fd) == 0 ? 0 : errno;
    if (file->direct && (error == EINVAL || error == ENOTSUP || error == EROFS))
        error = 0; /* pipes and devices have nothing to bring to the disk */
    if (file->fd != STDOUT_FILENO && close(file->fd) != 0 && error == 0)
        error = errno;
    file->fd = -1;
    if (error == 0)
        return EX_OK;
    atomic_file_discard(file);
    return fail(EX_IOERR, "%s: %s", file->name, strerror(error));
}

/* Without force it never replaces a file that came to be there meanwhile. */
static int rename_to_target(const char *temporary, const char *target, bool force) {
    if (force)
        return rename(temporary, target);
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(temporary, target) != 0)
        return -1;
    return unlink(temporary);
}

static int sync_directory(const char *target) {
    char directory[PATH_MAX];
    directory_of(target, directory);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : -1; /* a folder that one may write to and not list */
    int result = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -1;
    close(fd);
    return result;
}

/* Under its name, and what stood there under the temporary's, if `keeps` and the file system can: then *kept. Returns
 * errno's number, or 0. Signals are blocked. */
static int move_to_target(struct atomic_file *file, bool keeps, bool *kept) {
    const char *temporary = temporaries[file->slot].path;
    *kept = keeps && file->force && renameat2(AT_FDCWD, temporary, AT_FDCWD, file->target, RENAME_EXCHANGE) == 0;
    if (*kept)
        return 0;
    if (rename_to_target(temporary, file->target, file->force) != 0)
        return errno;
    temporaries[file->slot].used = 0;
    file->slot = -1;
    return 0;
}

/* What move_to_target() has done. */
static void take_back(struct atomic_file *file, bool kept) {
    if (kept)
        renameat2(AT_FDCWD, temporaries[file->slot].path, AT_FDCWD, file->target, RENAME_EXCHANGE);
    else if (file->is_new)
        unlink(file->target);
}

/* Returns errno's number, or 0; *failed is the file that could not be renamed. */
static int rename_both(struct atomic_file *file, struct atomic_file *beside, struct atomic_file **failed) {
    bool kept = false, unused;
    *failed = file;
    int error = file->direct ? 0 : move_to_target(file, beside != NULL, &kept);
    if (error != 0 || !beside || beside->direct)
        return error;
    *failed = beside;
    error = move_to_target(beside, false, &unused);
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
    const sigset_t before = block_signals();
    const int error = rename_both(file, beside, &failed);
    restore_signals(before);
    atomic_file_discard(file); /* a temporary that is left is what was there before, or was taken back */
    if (error != 0) {
        if (beside)
            atomic_file_discard(beside);
        return fail(EX_CANTCREAT, "%s: %s", failed->name, strerror(error));
    }
    const int code = sync_folder(file);
    return code == EX_OK && beside ? sync_folder(beside) : code;
}

void atomic_file_discard(struct atomic_file *file) {
    if (file->fd >= 0 && file->fd != STDOUT_FILENO)
        close(file->fd);
    file->fd = -1;
    if (file->slot >= 0) {
        sigset_t before = block_signals();
        unlink(temporaries[file->slot].path);
        temporaries[file->slot].used = 0;
        restore_signals(before);
        file->slot = -1;
    }
}
