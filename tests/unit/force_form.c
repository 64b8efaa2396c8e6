/* Linked with the command, so that TUPLESCAN_FORM=wave has `bench` measure one form of the fused pass, whatever the
 * table and the device. A name that no form has is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kernels.h>

#include "fused.h"

__attribute__((constructor)) static void force(void) {
    const char *const wanted = getenv("TUPLESCAN_FORM");
    for (const struct kernel_algorithm *form = kernel_algorithms; wanted && form->name; form++)
        if (strcmp(form->name, wanted) == 0)
            cuda_forced_algorithm = form->name;
    if (wanted && !cuda_forced_algorithm) {
        fprintf(stderr, "TUPLESCAN_FORM=%s: no such form of the fused pass\n", wanted);
        exit(64);
    }
}
