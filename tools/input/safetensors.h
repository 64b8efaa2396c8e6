/* Files of tensors, of which json-c reads the header. */
#ifndef INPUT_SAFETENSORS_H
#define INPUT_SAFETENSORS_H

#include "input/input.h"

/* Visits the tensors in a file of `total` bytes (or INPUT_UNKNOWN), of which the first `count`, among them the header,
 * are at hand; adds how many there are to *found. False with a reason. */
bool input_safetensors_each(const unsigned char *bytes, size_t count, size_t total, input_visit *visit, void *context,
                            size_t *found, struct input_reason *reason);

#endif
