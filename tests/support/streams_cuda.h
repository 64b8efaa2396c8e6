/* Streams for the ways that have CUDA (ways.h). */
#ifndef STREAMS_CUDA_H
#define STREAMS_CUDA_H

#include <stdbool.h>

void *cuda_stream_open(void);
bool cuda_stream_wait(void *stream);
void cuda_stream_close(void *stream);

#endif
