/* The value of --devices. */
#ifndef DEVICE_LIST_H
#define DEVICE_LIST_H

enum { DEVICES_MOST = 64 };

/* Numbers of CUDA devices with commas between them, or `all`, into *count numbers. EX_OK, or the exit code after a
 * message. */
int device_list_read(const char *text, int devices[DEVICES_MOST], unsigned *count);

#endif
