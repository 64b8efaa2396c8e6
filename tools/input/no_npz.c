/* Where there was no libzip when this was built. */
#include "input/file.h"
#include "message.h"

static void refuse(struct input_file *file, const struct input_request *request) {
    die(EX_UNAVAILABLE,
        "%s: is a .npz or other zip file, and this program was built without libzip, which reads them: unzip -p "
        "FILE.npz %s.npy | tuplescan ... -",
        file->name, request->member ? request->member : "MEMBER");
}

const struct input_format input_npz = {
    .name = "npz", .output = "npy", .ending = ".npz", .begins = "PK", .open = refuse};
