/* The tables that a file of several has. */
#include "input/safetensors.h"
#include "input/start.h"
#include "input/zip.h"
#include "message.h"

static int visit_tensors(struct input_file *file, input_visit *visit, void *context, size_t *count) {
    struct input_reason reason;
    const size_t ahead = input_bytes_ahead(file);
    const int code = input_read_tensors_header(file);
    if (code != EX_OK || input_safetensors_each(file->data, file->bytes, ahead, visit, context, count, &reason))
        return code;
    return fail(reason.code, "%s: %s", file->name, reason.text);
}

int input_tables(const char *path, const struct input_request *request, input_visit *visit, void *context,
                 size_t *count) {
    const bool is_npz = input_ends_in(path, ".npz"), has_tensors = input_ends_in(path, ".safetensors");
    struct input_file file = {.name = path, .most = request->memory, .used = request->used};
    *count = 1;
    if (request->format || request->member || (!is_npz && !has_tensors))
        return EX_OK;
    int code = input_open_path(&file, path);
    if (code == EX_OK && (has_tensors || input_can_seek(&file))) {
        *count = 0;
        code = is_npz ? input_zip_each(&file, request, visit, context, count)
                      : visit_tensors(&file, visit, context, count);
    }
    input_close(&file);
    return code;
}
