#include "output_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "message.h"
#include "transfer.h"

/* Linux's number for /dev/null and its like. */
enum { MEMORY_DEVICES = 1 };

static bool is_memory_device(const struct stat *status) {
    return S_ISCHR(status->st_mode) && major(status->st_rdev) == MEMORY_DEVICES;
}

/* N of /dev/fd/N and of the like. */
static int named_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t length = strlen(folders[i]);
        const char *number = path + length;
        if (strncmp(path, folders[i], length) == 0 && *number && strlen(number) < 9 &&
            strspn(number, "0123456789") == strlen(number))
            return atoi(number);
    }
    return strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

int output_path_descriptor(const char *path) {
    struct stat status, standard;
    const int named = named_descriptor(path);
    if (strcmp(path, "-") == 0)
        return STDOUT_FILENO;
    if (stat(path, &status) != 0 || is_memory_device(&status))
        return -1;
    if (fstat(STDOUT_FILENO, &standard) == 0 && transfer_same_file(&status, &standard))
        return STDOUT_FILENO;
    return named;
}

bool output_path_is_device(mode_t mode) { return S_ISCHR(mode) || S_ISFIFO(mode); }

/* What stat() said of a path that it found nothing at: whether a new file can be made there. */
static void check_absent(const char *path, int error) {
    struct stat status;
    if (error != ENOENT)
        die(EX_CANTCREAT, "%s: %s", path, strerror(error));
    if (path[strlen(path) - 1] == '/')
        die(EX_CANTCREAT, "%s: not the name of a file", path);
    if (lstat(path, &status) == 0)
        die(EX_CANTCREAT, "%s: is a symbolic link to nothing", path);
}

void output_path_check(const char *path, bool force) {
    struct stat status;
    const int descriptor = *path ? output_path_descriptor(path) : -1;
    if (descriptor == STDOUT_FILENO && isatty(STDOUT_FILENO))
        die(EX_USAGE, "standard output is a terminal, and tables are not text: redirect it");
    if (descriptor >= 0)
        return;
    if (!*path)
        die(EX_USAGE, "the name of the output is empty");
    if (stat(path, &status) != 0)
        check_absent(path, errno);
    else if (S_ISDIR(status.st_mode))
        die(EX_CANTCREAT, "%s: is a directory", path);
    else if (!S_ISREG(status.st_mode) && !output_path_is_device(status.st_mode))
        die(EX_CANTCREAT, "%s: is not a file that can be replaced", path);
    else if (S_ISREG(status.st_mode) && !force)
        die(EX_CANTCREAT, "%s: exists already; -f replaces it", path);
}

static int status_of(const char *path, int standard, struct stat *status) {
    return strcmp(path, "-") == 0 ? fstat(standard, status) : stat(path, status);
}

void output_path_directory(const char *path, char directory[]) {
    const char *slash = strrchr(path, '/');
    snprintf(directory, PATH_MAX, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
}

const char *output_path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool output_path_same(const char *a, const char *b) {
    struct stat status_a, status_b;
    const bool a_exists = status_of(a, STDOUT_FILENO, &status_a) == 0;
    const bool b_exists = status_of(b, STDOUT_FILENO, &status_b) == 0;
    if (!a_exists && !b_exists) { /* the same name in the same folder */
        char directory_a[PATH_MAX], directory_b[PATH_MAX];
        output_path_directory(a, directory_a);
        output_path_directory(b, directory_b);
        return strcmp(output_path_name(a), output_path_name(b)) == 0 && stat(directory_a, &status_a) == 0 &&
               stat(directory_b, &status_b) == 0 && transfer_same_file(&status_a, &status_b);
    }
    return a_exists && b_exists && !is_memory_device(&status_a) && transfer_same_file(&status_a, &status_b);
}

/* A terminal or a socket may well be both: its output is not its input. */
bool output_path_is_input(const char *output, const char *input) {
    struct stat written, read;
    return status_of(output, STDOUT_FILENO, &written) == 0 && status_of(input, STDIN_FILENO, &read) == 0 &&
           (S_ISREG(read.st_mode) || S_ISBLK(read.st_mode) || S_ISFIFO(read.st_mode)) &&
           transfer_same_file(&written, &read);
}
