/* Stage 1 of rows that can be read and written by whole vectors. */
#include "stages/stage1.cuh"
#include "stages/vectors.cuh"

int run_stage1_vectors(const kernel_pass &pass, void *prefixes) {
    return run_stage_vectors(pass, stage1_launcher{prefixes, pass.stream});
}
