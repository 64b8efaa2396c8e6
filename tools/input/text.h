/* Tables as text: a row is a line, whose fields have a delimiter between them, or blanks. */
#ifndef INPUT_TEXT_H
#define INPUT_TEXT_H

#include "input/input.h"

/* The format, if the request is for text, or the name of the file says so; or NULL. */
const struct input_format *input_text_format(const struct input_file *file, const struct input_request *request);

/* Reads the first line, which says how many columns there are, and what they are called, if it has no numbers. EX_OK,
 * or the exit code after a message. */
int input_text_begin(struct input_file *file, const struct input_request *request);

/* The next values, as input_some(). */
ssize_t input_text_read(struct input_file *file, void *to, size_t bytes);

/* After all of a text that was only looked at: the first line in which that column has no number; 0: there is none. */
uint64_t input_text_other(const struct input_file *file, size_t column);

/* When all values have been read: gives back the memory that reading took. */
void input_text_taken(struct input_file *file);

void input_text_end(struct input_file *file);

#endif
