#include "fused.h"

#include <string.h>

#include <choose/facts.h>

#include "../status.h"
#include "pass.h"
#include "runtime.h"

enum { HOPPER = 90 };

const char *cuda_forced_form;

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

/* The compute capability of the machine code that runs there: the newest of its generation that is no newer. 0: there
 * is none, and kernels that are kept as PTX do what no form does. */
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

static bool takes(const struct kernel_form *form, const struct kernel_facts *facts, bool goes_on) {
    if (facts->gpu < form->oldest_gpu || (goes_on && !form->goes_on))
        return false;
    return cuda_forced_form ? strcmp(form->name, cuda_forced_form) == 0 : form->takes(facts);
}

/* As measured on an H200; the forms that older devices have were never measured on one. */
bool cuda_prefers_fused(const struct scan *scan) {
    bool known;
    if (cuda_is_operator(scan))
        return true;
    return gpu_of(known_device(scan), &known) >= HOPPER;
}

/* Room for each of the forms that the table may be given: those that take it, up to one that is never refused. */
static size_t plan_forms(const struct scan *scan, const struct cuda_device *device, bool *may_be_refused) {
    const struct kernel_pass pass = cuda_pass(scan);
    const struct kernel_facts facts = kernel_facts_of(&pass, device->processors, device->gpu);
    size_t most = 0;
    *may_be_refused = true;
    for (const struct kernel_form *form = kernel_forms; form->name && *may_be_refused; form++) {
        if (!takes(form, &facts, false))
            continue;
        const size_t bytes = form->workspace(&pass);
        most = bytes > most ? bytes : most;
        *may_be_refused = cuda_forced_form || !form->is_certain;
    }
    return most;
}

size_t cuda_forms_workspace(const struct kernel_pass *pass) {
    size_t most = 0;
    for (const struct kernel_form *form = kernel_forms; form->name; form++) {
        const size_t bytes = form->goes_on ? form->workspace(pass) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

table_status cuda_run_forms(const struct scan *scan, const struct cuda_device *device, const struct kernel_pass *pass,
                            const struct kernel_carry *carry, void *workspace) {
    const struct kernel_facts facts = kernel_facts_of(pass, device->processors, device->gpu);
    if (!device->is_known) /* the workspace is for the form that its facts have chosen */
        return status_fail(TABLE_ERROR_DEVICE, "the device of the table does not say what it is");
    for (const struct kernel_form *form = kernel_forms; form->name; form++) {
        if (!takes(form, &facts, carry->stack != NULL))
            continue;
        const bool counts = form->is_certain && !carry->stack;
        /* A form that may be refused does no pass where NaN count as nothing; those of a piece were counted before. */
        int error = counts ? cuda_count_nans(scan, pass) : 0;
        if (error == 0)
            error = form->run(pass, carry, workspace);
        if (!kernel_is_refused(error))
            return cuda_check(error, "the fused pass");
        cuda_forget((cudaError_t)error);
        if (counts) { /* a forced form was refused: the one that does the pass counts anew */
            const table_status status = cuda_check(cuda_forget_nans(scan), "filling device memory");
            if (status != TABLE_OK)
                return status;
        }
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
    return scan->state ? cuda_piece_workspace(scan, in_one) : plan_forms(scan, &pass->device, may_be_refused);
}

table_status cuda_fused(const struct scan *scan, const struct backend_pass *own, void *workspace) {
    const struct pass *const pass = (const void *)own;
    if (cuda_is_operator(scan))
        return cuda_operator(scan, workspace);
    const struct kernel_pass forms = cuda_pass(scan);
    const struct kernel_carry carry = {scan->carry_in, scan->carry_out, NULL};
    return scan->state ? cuda_piece(scan, pass->in_one ? &pass->device : NULL, workspace)
                       : cuda_run_forms(scan, &pass->device, &forms, &carry, workspace);
}
