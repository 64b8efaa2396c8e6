/* The CUDA backend with each form of the fused pass by force, one after the other, whatever the device would choose. */
#include <stdio.h>

#include <kernels.h>

#include "fused.h"
#include "support/ways.h"

enum { MOST_FORMS = 16 };
static char names[MOST_FORMS][40];
static struct way list[MOST_FORMS];
const struct way *const ways = list;
size_t way_count;

static void enter(const struct way *way) { cuda_forced_algorithm = way->context; }

__attribute__((constructor)) static void list_forms(void) {
    for (const struct kernel_algorithm *form = kernel_algorithms; form->name && way_count < MOST_FORMS;
         form++, way_count++) {
        snprintf(names[way_count], sizeof names[way_count], "cuda, fused, %s", form->name);
        list[way_count] =
            (struct way){names[way_count], TABLE_BACKEND_CUDA, &device_memory, true,       cuda_stream_open,
                         cuda_stream_wait, cuda_stream_close,  enter,          form->name, true};
    }
}

const char *ways_unavailable(void) { return table_cuda_unavailable(); }
