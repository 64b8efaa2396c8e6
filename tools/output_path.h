/* Which file the name of an output stands for, and whether that may be written. */
#ifndef OUTPUT_PATH_H
#define OUTPUT_PATH_H

#include <stdbool.h>
#include <sys/stat.h>

/* The open file that the path stands for, which is written to rather than replaced: standard output for "-" and for
 * whatever leads to the same file, such as /dev/stdout; N for /dev/fd/N and 2 for /dev/stderr. -1: none. */
int output_path_descriptor(const char *path);

/* Character devices and FIFOs are opened and written to; there is nothing to replace. */
bool output_path_is_device(mode_t mode);

/* Whether `path` can be written at all: it does not exist, or `force` is given, or it is an open file or a device; it
 * is no directory; standard output is no terminal. If not, the command ends. */
void output_path_check(const char *path, bool force);

/* Whether two outputs, there already or not, would be the same file, however they are spelled. /dev/null is none: it
 * takes what anyone writes. */
bool output_path_same(const char *a, const char *b);

/* Whether the output is a file that `input`, which may be "-", is read from. */
bool output_path_is_input(const char *output, const char *input);

/* "DIRECTORY/" or ".": where the file of that path lies. */
void output_path_directory(const char *path, char directory[]);

/* The rest of the path. */
const char *output_path_name(const char *path);

#endif
