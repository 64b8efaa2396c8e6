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

static struct kernel_facts facts_of(const struct scan *scan, const struct kernel_pass *pass, bool *known) {
    const int device = known_device(scan);
    return kernel_facts_of(pass, (unsigned)attribute(device, cudaDevAttrMultiProcessorCount, known),
                           gpu_of(device, known));
}

static bool takes(const struct kernel_form *form, const struct kernel_facts *facts, bool goes_on) {
    if (facts->gpu < form->oldest_gpu || (goes_on && !form->goes_on))
        return false;
    return cuda_forced_form ? strcmp(form->name, cuda_forced_form) == 0 : form->takes(facts);
}

/* As measured on an H200; the forms that older devices have were never measured on one. */
bool cuda_prefers_fused(const struct scan *scan) {
    bool known;
    return gpu_of(known_device(scan), &known) >= HOPPER;
}

/* Room for each of the forms that the table may be given: those that take it, up to one that is never refused. */
size_t cuda_fused_workspace(const struct scan *scan, bool *may_be_refused) {
    const struct kernel_pass pass = cuda_pass(scan);
    bool known;
    const struct kernel_facts facts = facts_of(scan, &pass, &known);
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

table_status cuda_run_forms(const struct scan *scan, const struct kernel_pass *pass, const struct kernel_carry *carry,
                            void *workspace) {
    bool known = true;
    const struct kernel_facts facts = facts_of(scan, pass, &known);
    if (!known) /* the workspace is for the form that its facts have chosen */
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

table_status cuda_fused(const struct scan *scan, void *workspace) {
    const struct kernel_pass pass = cuda_pass(scan);
    const struct kernel_carry carry = {scan->carry_in, scan->carry_out, NULL};
    return cuda_run_forms(scan, &pass, &carry, workspace);
}
