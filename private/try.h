/* How calls inside of the library fail: what cannot go on ends, with the status of the step that has failed. */
#ifndef TRY_H
#define TRY_H

#include <tuplescan/status.h>

/* Ends the calling function with the status of a step that fails. For functions that have nothing to give back. */
#define TRY(step)                                                                                                      \
    do {                                                                                                               \
        const table_status tried = (step);                                                                             \
        if (tried != TABLE_OK)                                                                                         \
            return tried;                                                                                              \
    } while (0)

#endif
