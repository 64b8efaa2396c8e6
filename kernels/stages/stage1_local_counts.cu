/* Stage 1 of any table: by whole vectors, or else by single values of ANY type. */
#include "stages/stage1.cuh"
#include "stages/stages.h"

int kernel_stage1_local_counts(const kernel_pass *pass, void *prefixes) {
    kernel_pass reading = *pass;
    reading.out = nullptr;
    const int error = run_stage1_vectors(reading, prefixes);
    return error == static_cast<int>(cudaErrorNotSupported) ? run_any(reading, stage1_launcher{prefixes, pass->stream})
                                                            : error;
}
