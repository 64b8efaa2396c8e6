/* What input.c and start.c have in common. */
#ifndef INPUT_START_H
#define INPUT_START_H

#include "input/input.h"

/* Opens the file, if it is no folder, and notes what it is. EX_OK, or the exit code after a message. */
int input_open_path(struct input_file *file, const char *path);

/* Reads what lies before the values of a safetensors file, to file->data. EX_OK, or the exit code after a message. */
int input_read_tensors_header(struct input_file *file);

/* The request for a file that rows may just be appended to: beside it is what says so. */
struct input_request input_request_for(const char *path, const struct input_request *request);

/* Bytes from here to the end of the file; INPUT_UNKNOWN if only reading tells. */
size_t input_bytes_ahead(const struct input_file *file);

/* The format that was asked for, or that the file->bytes bytes at file->data show. */
bool input_choose_format(struct input_file *file, const struct input_request *request, struct input_reason *reason);

/* If the file is an archive whose members are to be read, opens the one that is asked for. EX_OK, or the exit code
 * after a message. */
int input_open_member(struct input_file *file, const char *path, const struct input_request *request);

/* Whether the request is for a file of tensors. */
bool input_has_tensors(const struct input_file *file, const struct input_request *request);

/* Bytes before the values of a safetensors file that begins with these bytes; 0: it is none. */
size_t input_safetensors_header(const unsigned char *bytes, size_t count);

/* EX_OK if there may be memory for such a header of a .npy, and for such a one of a safetensors file: bytes, 0 of what
 * it is not. Else the exit code after a message. */
int input_header_fits(const struct input_file *file, size_t npy, size_t tensors);

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

/* Keeps the header, which the file begins with at file->data, of a file that may grow while it is read. EX_OK, or the
 * exit code after a message. */
int input_keep_header(struct input_file *file, const struct input_request *request);

/* Notes that reading failed with that code, after a message; -1. */
ssize_t input_failed(struct input_file *file, int code);

/* The bytes that have not been read, as read(); -1 after a message. */
ssize_t input_read_anew(struct input_file *file, void *to, size_t bytes);

/* The next bytes of the file, as read(); -1 after a message. */
ssize_t input_bytes_read(struct input_file *file, void *to, size_t bytes);

/* Whether the file can be read at any place, from file->base on. */
bool input_can_seek(const struct input_file *file);

/* EX_OSERR after a message: there are no `bytes` bytes, or no more than `most` may be used. */
int input_no_memory(const struct input_file *file, size_t bytes);
int input_too_much(const struct input_file *file, size_t bytes, size_t most);

/* EX_IOERR after a message: the file is not what it was. */
int input_changed(const struct input_file *file);

#endif
