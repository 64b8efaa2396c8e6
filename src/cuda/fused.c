#include "fused.h"

#include <string.h>

#include <choose/problem.h>

#include "../status.h"
#include "pass.h"
#include "runtime.h"

enum { HOPPER = 90 };

const char *cuda_forced_algorithm;

/* -1 when it cannot be known. */
static int known_device(const struct scan *scan) {
    int device = cuda_device_of(scan);
    if (device >= 0 || cudaGetDevice(&device) == cudaSuccess)
        return device;
    cudaGetLastError();
    return -1;
}

/* 0 when it cannot be known; then *known becomes false. */
static int attribute(int device, enum cudaDeviceAttr which, bool *known) {
    int value = 0;
    if (device >= 0 && cudaDeviceGetAttribute(&value, which, device) == cudaSuccess)
        return value;
    cudaGetLastError();
    *known = false;
    return 0;
}

/* The compute capability of the one pass's machine code that runs there: the newest of its generation that is no newer.
 * 0: there is none, and the separate stages do all passes, whose kernels are kept as PTX as well. */
static int gpu_of(int device, bool *known) {
    static const int compiled[] = {TUPLESCAN_MACHINE_CODE};
    const int gpu = 10 * attribute(device, cudaDevAttrComputeCapabilityMajor, known) +
                    attribute(device, cudaDevAttrComputeCapabilityMinor, known);
    int found = 0;
    for (size_t k = 0; k < sizeof compiled / sizeof *compiled; k++)
        if (compiled[k] / 10 == gpu / 10 && compiled[k] <= gpu && compiled[k] > found)
            found = compiled[k];
    return found;
}

struct cuda_device cuda_device_facts(const struct scan *scan) {
    const int device = known_device(scan);
    struct cuda_device facts = {.is_known = true};
    facts.processors = (unsigned)attribute(device, cudaDevAttrMultiProcessorCount, &facts.is_known);
    facts.gpu = gpu_of(device, &facts.is_known);
    return facts;
}

static bool takes(const struct kernel_algorithm *algorithm, const struct kernel_problem *problem, bool goes_on) {
    if (problem->gpu < algorithm->oldest_gpu || (goes_on && !algorithm->goes_on))
        return false;
    return cuda_forced_algorithm ? strcmp(algorithm->name, cuda_forced_algorithm) == 0 : algorithm->takes(problem);
}

/* As measured on an H200; the algorithms for older devices were never measured on one. */
bool cuda_prefers_fused(const struct scan *scan) {
    bool known;
    if (cuda_is_operator(scan))
        return true;
    return gpu_of(known_device(scan), &known) >= HOPPER;
}

/* Room for each algorithm that the table may be given: all that take it, up to one that is never refused. */
static size_t plan_algorithms(const struct scan *scan, const struct cuda_device *device, bool *may_be_refused) {
    const struct kernel_pass pass = cuda_pass(scan);
    const struct kernel_problem problem = kernel_problem_of(&pass, device->processors, device->gpu);
    size_t most = 0;
    *may_be_refused = true;
    for (const struct kernel_algorithm *algorithm = kernel_algorithms; algorithm->name && *may_be_refused;
         algorithm++) {
        if (!takes(algorithm, &problem, false))
            continue;
        const size_t bytes = algorithm->workspace(&pass);
        most = bytes > most ? bytes : most;
        *may_be_refused = cuda_forced_algorithm || !algorithm->is_certain;
    }
    return most;
}

size_t cuda_algorithms_workspace(const struct kernel_pass *pass) {
    size_t most = 0;
    for (const struct kernel_algorithm *algorithm = kernel_algorithms; algorithm->name; algorithm++) {
        const size_t bytes = algorithm->goes_on ? algorithm->workspace(pass) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

table_status cuda_run_algorithms(const struct scan *scan, const struct cuda_device *device,
                                 const struct kernel_pass *pass, const struct kernel_carry *carry, void *workspace) {
    const struct kernel_problem problem = kernel_problem_of(pass, device->processors, device->gpu);
    if (!device->is_known) /* the workspace is for the algorithm that its facts have chosen */
        return status_fail(TABLE_ERROR_DEVICE, "the device of the table does not say what it is");
    const bool goes_on = carry->carry_state != NULL; /* a continued scan has counted its NaNs */
    bool counted = goes_on;
    for (const struct kernel_algorithm *algorithm = kernel_algorithms; algorithm->name; algorithm++) {
        if (!takes(algorithm, &problem, goes_on))
            continue;
        int error = counted ? 0 : cuda_count_nans(scan, pass);
        counted = true;
        if (error == 0)
            error = algorithm->run(pass, carry, workspace);
        if (!kernel_is_refused(error))
            return cuda_check(error, "the fused pass");
        cuda_forget((cudaError_t)error);
    }
    if (counted && !goes_on) { /* the separate stages count again */
        const table_status status = cuda_check(cuda_forget_nans(scan), "filling device memory");
        if (status != TABLE_OK)
            return status;
    }
    return TABLE_ERROR_STRATEGY; /* not a failure of the call: see fused.h */
}

/* What a backend_pass holds here. */
struct pass {
    struct cuda_device device;
    bool in_one; /* of floats that go on */
};
_Static_assert(sizeof(struct pass) <= sizeof(struct backend_pass), "a pass has room in a plan");

size_t cuda_fused_plan(const struct scan *scan, bool in_one, struct backend_pass *own, bool *may_be_refused) {
    struct pass *const pass = (void *)own;
    *pass = (struct pass){cuda_device_facts(scan), in_one};
    *may_be_refused = false;
    if (cuda_is_operator(scan))
        return cuda_operator_workspace(scan);
    return scan->state ? cuda_piece_workspace(scan, in_one) : plan_algorithms(scan, &pass->device, may_be_refused);
}

table_status cuda_fused(const struct scan *scan, const struct backend_pass *own, void *workspace) {
    const struct pass *const pass = (const void *)own;
    if (cuda_is_operator(scan))
        return cuda_operator(scan, workspace);
    const struct kernel_pass given = cuda_pass(scan);
    const struct kernel_carry carry = {scan->carry_in, scan->carry_out, NULL};
    return scan->state ? cuda_piece(scan, pass->in_one ? &pass->device : NULL, workspace)
                       : cuda_run_algorithms(scan, &pass->device, &given, &carry, workspace);
}
