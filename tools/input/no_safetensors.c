/* Where there was no json-c when this was built. */
#include "input/safetensors.h"
#include "message.h"

static bool refuse(struct input_reason *reason) {
    return input_refuse(reason, EX_UNAVAILABLE,
                        "is a safetensors file, and this program was built without json-c, which reads what it says");
}

bool input_safetensors_each(const unsigned char *bytes, size_t count, size_t total, input_visit *visit, void *context,
                            size_t *found, struct input_reason *reason) {
    (void)bytes;
    (void)count;
    (void)total;
    (void)visit;
    (void)context;
    (void)found;
    return refuse(reason);
}

static bool locate(const unsigned char *bytes, size_t count, size_t total, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason) {
    (void)bytes;
    (void)count;
    (void)total;
    (void)request;
    (void)layout;
    return refuse(reason);
}

const struct input_format input_safetensors = {"safetensors", "npy", NULL, locate, 0};
