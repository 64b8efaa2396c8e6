/* Stage 3 of rows that can be read and written by whole vectors. */
#include "stages/stage3.cuh"
#include "stages/vectors.cuh"

int run_stage3_vectors(const kernel_pass &pass, void *prefixes) {
    return run_stage_vectors(pass, stage3_launcher{prefixes, pass.stream});
}
