/* What formats read a file by. */
#ifndef INPUT_FILE_H
#define INPUT_FILE_H

#include "input/input.h"

/* Opens the file, if it is no folder, and notes what it is. */
void input_open_path(struct input_file *file, const char *path);

/* Bytes of the file, from where it began; INPUT_UNKNOWN if only reading tells. */
size_t input_total(const struct input_file *file);

/* Whether the file can be read at any place, from file->base on. */
bool input_can_seek(const struct input_file *file);

/* Has the header of the format in file->memory: file->bytes, or fewer, where the file ends. */
void input_peek(struct input_file *file, const struct input_format *format);

/* What lies after the layout's offset is read as values: what input_peek() has brought of it becomes the head. */
void input_values_follow(struct input_file *file);

/* The next bytes that have not been read, at least one of up to `bytes` bytes; 0: there are no more. */
size_t input_read_anew(struct input_file *file, void *to, size_t bytes);

/* As input_read_anew(), after the bytes before the values. */
size_t input_bytes_read(struct input_file *file, void *to, size_t bytes);

/* Finds the format, and opens the file by it: a member of an archive, if it has a source. */
void input_open_format(struct input_file *file, const struct input_request *request);

/* Whether the bytes are the first ones of a .npy; bytes before the values of one, 0: it is none (so far); and whether a
 * table may end after `bytes` bytes of values. */
enum { INPUT_NPY_LEAST = 12, INPUT_TENSORS_LEAST = 8 }; /* the bytes that say how long a header is */
bool input_npy_recognise(const unsigned char *bytes, size_t count);
size_t input_npy_header(const unsigned char *bytes, size_t count);
bool input_npy_has(struct table_layout *layout, size_t bytes, struct input_reason *reason);

/* Finds the rows of a table of which `bytes` bytes are values: whole rows, or there is a reason. */
bool input_raw_has(struct table_layout *layout, size_t bytes, struct input_reason *reason);

/* Bytes before the values of a safetensors file that begins with these bytes; 0: it is none. */
size_t input_safetensors_header(const unsigned char *bytes, size_t count);

/* Has values that lie in the file in another way than in a table (struct layout_stored) brought into order piece by
 * piece, in little memory. From a pipe, those that lie column by column are brought into memory first. */
void input_convert_begin(struct input_file *file);

/* What a file has, for messages. */
struct input_names {
    size_t count;
    bool cut;
    char text[240];
    struct guess guess; /* at the one that is asked for */
};

/* For a member that is asked for, or NULL. Names must live until input_names_reason(). */
struct input_names input_names_begin(const char *member);
void input_names_add(struct input_names *names, const char *name, size_t length);

/* Why no table of them was taken: there is none called `member`, or, for NULL, there are several. Always false. */
bool input_names_reason(const char *member, const struct input_names *names, struct input_reason *reason);

/* The ends of the command: the file was refused; `bytes` bytes are needed, and no more than `most` may be used; the
 * file is not what it was. */
_Noreturn void input_refused(const struct input_file *file, const struct input_reason *reason);
_Noreturn void input_too_much(const struct input_file *file, size_t bytes, size_t most);
_Noreturn void input_changed(const struct input_file *file);

#endif
