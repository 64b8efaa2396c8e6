/* Stage 3 of any table: by whole vectors, or else by single values of ANY type. */
#include "stages/stage3.cuh"
#include "stages/stages.h"

int kernel_stage3_global_pass(const kernel_pass *pass, void *prefixes) {
    const int error = run_stage3_vectors(*pass, prefixes);
    return error == static_cast<int>(cudaErrorNotSupported) ? run_any(*pass, stage3_launcher{prefixes, pass->stream})
                                                            : error;
}
