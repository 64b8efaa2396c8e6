/* Where there was no libzip when this was built. */
#include "input/zip.h"
#include "message.h"

int input_zip_open(struct input_file *file, const char *member) {
    return fail(
        EX_UNAVAILABLE,
        "%s: is a .npz or other zip file, and this program was built without libzip, which reads them: unzip -p "
        "FILE.npz %s.npy | tuplescan ... -",
        file->name, member ? member : "MEMBER");
}

int input_zip_each(struct input_file *file, const struct input_request *request, input_visit *visit, void *context,
                   size_t *count) {
    (void)request;
    (void)visit;
    (void)context;
    (void)count;
    return input_zip_open(file, NULL);
}

ssize_t input_zip_read(struct input_file *file, void *to, size_t bytes) {
    (void)file;
    (void)to;
    (void)bytes;
    return 0;
}

void input_zip_close(struct input_file *file) { (void)file; }
