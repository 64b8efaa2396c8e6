/* In the place of a GPU where the command was built without CUDA. bench.c has found out before that there is none. */
#include "bench/peers/peers.h"
#include "bench/place.h"
#include "message.h"

static bool open_nothing(struct bench_place *place) {
    report_note(place->report, "built without CUDA");
    return false;
}

const struct place_kind place_on_gpu = {.backend = TABLE_BACKEND_CUDA, .open = open_nothing};

int peer_copy(void *out, const void *in, size_t bytes, void *stream) {
    (void)out, (void)in, (void)bytes, (void)stream;
    return PEER_NOT_SUPPORTED;
}
