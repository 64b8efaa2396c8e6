#include "ways.h"

static const struct way list[] = {
    {"cuda, tables on the device", TABLE_BACKEND_CUDA, &device_memory, true, cuda_stream_open, cuda_stream_wait,
     cuda_stream_close, NULL, NULL, false},
    {"cuda, tables on the host", TABLE_BACKEND_CUDA, &host_memory, false, NULL, NULL, NULL, NULL, NULL, false},
};
const struct way *const ways = list;
size_t way_count = sizeof list / sizeof *list;

const char *ways_unavailable(void) { return table_cuda_unavailable(); }
