/* Several tables at once: see src/backend.h. */
#ifndef CUDA_BATCH_H
#define CUDA_BATCH_H

#include "../scan.h"

bool cuda_prefers_batch(const struct scan *scan);
table_status cuda_batch(const struct scan *scan, void *workspace);

#endif
