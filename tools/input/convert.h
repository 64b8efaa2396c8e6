/* Values that lie in the file in another way than in a table (struct layout_stored): they are brought into order piece
 * by piece, in little memory. */
#ifndef INPUT_CONVERT_H
#define INPUT_CONVERT_H

#include "input/input.h"

/* Makes ready to read the values of the file, if they need it. `all`: the bytes of the values, if they are in memory;
 * else they are read from the file, at any place where that can be; elsewhere those that lie column by column are
 * brought into memory first, at most `most` bytes (0: any). EX_OK, or the exit code after a message. */
int input_convert_begin(struct input_file *file, const void *all, size_t most);

/* The next values, as read(): at least one byte, at most `bytes`; 0: there are none any more; -1 after a message. */
ssize_t input_convert_read(struct input_file *file, void *to, size_t bytes);

/* Goes on with that row. False where the file can only be read from one end to the other. */
bool input_convert_seek(struct input_file *file, size_t row);

/* Bytes of values in the file that were read. */
size_t input_convert_taken(const struct input_file *file);

void input_convert_end(struct input_file *file);

#endif
