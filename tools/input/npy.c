/* .npy files: a header, and values that lie as it says. */
#include <stdlib.h>
#include <string.h>

#include "input/file.h"
#include "message.h"

/* As far as the file is no .npy, its first byte may be all that comes for long. */
static int bytes_wanted(const struct input_file *file, size_t *bytes) {
    enum { MOST = 1 << 20 };
    *bytes = !input_npy_begins(file->memory, file->bytes) ? 0
             : file->bytes < INPUT_NPY_LEAST              ? INPUT_NPY_LEAST
                                                          : input_npy_header(file->memory, file->bytes);
    return *bytes <= MOST
               ? EX_OK
               : fail(EX_DATAERR, "%s: its header says that it has %zu bytes, and of a .npy it has %d at most",
                      file->name, *bytes, MOST);
}

static int guess(struct input_file *file, const struct input_request *request, bool *is) {
    enum { MAGIC = 6 };
    if (input_is_asked_raw(request))
        return EX_OK;
    const int code = input_peek(file, INPUT_NPY_LEAST, bytes_wanted);
    *is = request->format || (file->bytes >= MAGIC && input_npy_begins(file->memory, MAGIC));
    return code;
}

static int open_npy(struct input_file *file, const struct input_request *request) {
    struct input_reason reason;
    if (!input_npy_locate(file->memory, file->bytes, input_total(file), request, &file->layout, &reason))
        return fail(reason.code, "%s: %s", file->name, reason.text);
    const size_t offset = file->layout.offset;
    file->rows_known = true;
    if (request->longer && input_can_seek(file)) {
        file->kept = malloc(offset);
        if (!file->kept)
            return input_no_memory(file, offset);
        memcpy(file->kept, file->memory, offset);
    }
    if (request->own && file->layout.stored.element_bytes == 0) {
        file->header = file->memory;
        file->memory = NULL;
    }
    return input_convert_begin(file);
}

const struct input_format input_npy = {"npy", "npy", NULL, 0, guess, open_npy, input_npy_has, NULL};
