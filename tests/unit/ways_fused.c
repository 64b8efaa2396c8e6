/* The CUDA backend with each form of the fused pass by force, one after the other, whatever the device would choose. */
#include "fused.h"
#include "support/streams_cuda.h"
#include "support/ways.h"

static void enter(const struct way *way) { cuda_forced_form = *(const enum cuda_fused_form *)way->context; }

static const enum cuda_fused_form forms[] = {CUDA_FUSED_SMALL,  CUDA_FUSED_WAVE,    CUDA_FUSED_ROWS,
                                             CUDA_FUSED_PARKED, CUDA_FUSED_GENERAL, CUDA_FUSED_LOOKBACK};

static const struct way list[] = {
    {"cuda, fused small", TABLE_BACKEND_CUDA, &device_memory, true, cuda_stream_open, cuda_stream_wait,
     cuda_stream_close, enter, &forms[0]},
    {"cuda, fused in one wave", TABLE_BACKEND_CUDA, &device_memory, true, cuda_stream_open, cuda_stream_wait,
     cuda_stream_close, enter, &forms[1]},
    {"cuda, fused by rows", TABLE_BACKEND_CUDA, &device_memory, true, cuda_stream_open, cuda_stream_wait,
     cuda_stream_close, enter, &forms[2]},
    {"cuda, fused parked", TABLE_BACKEND_CUDA, &device_memory, true, cuda_stream_open, cuda_stream_wait,
     cuda_stream_close, enter, &forms[3]},
    {"cuda, fused parked, no bulk copies", TABLE_BACKEND_CUDA, &device_memory, true, cuda_stream_open, cuda_stream_wait,
     cuda_stream_close, enter, &forms[4]},
    {"cuda, fused looking back", TABLE_BACKEND_CUDA, &device_memory, true, cuda_stream_open, cuda_stream_wait,
     cuda_stream_close, enter, &forms[5]},
};
const struct way *const ways = list;
size_t way_count = sizeof list / sizeof *list;

const char *ways_unavailable(void) { return table_cuda_unavailable(); }
