/* Where there was no json-c when this was built. */
#include "input/file.h"
#include "message.h"

static int guess(struct input_file *file, const struct input_request *request, bool *is) {
    *is = !input_is_asked_raw(request) && !file->source.state &&
          (request->member || input_ends_in(file->name, ".safetensors"));
    return EX_OK;
}

static int refuse(struct input_file *file, const struct input_request *request) {
    (void)request;
    return fail(EX_UNAVAILABLE,
                "%s: is a safetensors file, and this program was built without json-c, which reads what it says",
                file->name);
}

static int refuse_all(struct input_file *file, const struct input_request *request, input_visit *visit, void *context,
                      size_t *count) {
    (void)visit, (void)context, (void)count;
    return refuse(file, request);
}

const struct input_format input_safetensors = {"safetensors", "npy",  ".safetensors", 0,
                                               guess,         refuse, NULL,           refuse_all};
