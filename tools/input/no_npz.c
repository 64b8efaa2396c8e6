/* Where there was no libzip when this was built. */
#include "input/file.h"
#include "message.h"

static int refuse(struct input_file *file, const struct input_request *request) {
    return fail(
        EX_UNAVAILABLE,
        "%s: is a .npz or other zip file, and this program was built without libzip, which reads them: unzip -p "
        "FILE.npz %s.npy | tuplescan ... -",
        file->name, request->member ? request->member : "MEMBER");
}

static int refuse_all(struct input_file *file, const struct input_request *request, input_visit *visit, void *context,
                      size_t *count) {
    (void)visit, (void)context, (void)count;
    return refuse(file, request);
}

const struct input_format input_npz = {"npz", "npy", ".npz", 0, input_guess_archive, refuse, NULL, refuse_all};
