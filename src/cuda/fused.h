/* Which algorithm does the fused pass of a call. */
#ifndef CUDA_FUSED_H
#define CUDA_FUSED_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/table.h>

/* The name of a row of kernel_algorithms (kernels.h), or NULL: the algorithm that was measured to be the fastest for
 * the table and the device. Tests and measurements set it while no call is under way. Where the forced algorithm is not
 * there, the separate stages do the call. */
extern const char *cuda_forced_algorithm;

struct kernel_carry;
struct kernel_pass;
struct scan;

/* The facts beside the table that decide on the algorithm. */
struct cuda_device {
    unsigned processors;
    int gpu;       /* see gpu_of() */
    bool is_known; /* whether the device has said it */
};
struct cuda_device cuda_device_facts(const struct scan *scan);

/* Room for all algorithms that take a carry state, for the pass or a part of it, wherever that begins. */
size_t cuda_algorithms_workspace(const struct kernel_pass *pass);

/* TABLE_ERROR_STRATEGY: no algorithm has taken the pass, and nothing is done. */
table_status cuda_run_algorithms(const struct scan *scan, const struct cuda_device *device,
                                 const struct kernel_pass *pass, const struct kernel_carry *carry, void *workspace);

/* Floats that go on: their workspace; and their sum, by a fused pass as far as can be on that device, or in separate
 * stages (NULL). */
size_t cuda_piece_workspace(const struct scan *scan, bool in_one);
table_status cuda_piece(const struct scan *scan, const struct cuda_device *device, void *workspace);

#endif
