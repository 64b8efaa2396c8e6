/* Members of zip archives, such as the arrays of a .npz: read by libzip, stored or compressed, piece by piece. */
#ifndef INPUT_ZIP_H
#define INPUT_ZIP_H

#include "input/input.h"

/* Opens a member of the archive that the open file is: that called `member`, or `member`.npy; for NULL the only one
 * there is. file->zip_bytes are its bytes then. EX_OK, or the exit code after a message. */
int input_zip_open(struct input_file *file, const char *member);

/* Visits all members of the archive that the open file is, of which there are *count; what is read of each is the
 * beginning. EX_OK, or the exit code after a message. */
int input_zip_each(struct input_file *file, const struct input_request *request, input_visit *visit, void *context,
                   size_t *count);

/* As read(); -1 after a message, also where the checksum at the end is wrong. */
ssize_t input_zip_read(struct input_file *file, void *to, size_t bytes);

void input_zip_close(struct input_file *file);

#endif
