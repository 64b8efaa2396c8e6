/* Times by CUDA events on the stream of the work. */
#ifndef CUDA_CLOCK_H
#define CUDA_CLOCK_H

#include "../backend.h"

table_status cuda_clock_open(struct scan *scan);
table_status cuda_clock_mark(const struct scan *scan, unsigned mark);
table_status cuda_clock_seconds(const struct scan *scan, unsigned from, unsigned to, double *seconds);
void cuda_clock_close(struct scan *scan);
table_status cuda_follow(const struct scan *scan, const struct scan *before);

#endif
