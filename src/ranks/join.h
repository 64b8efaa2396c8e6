/* States as ranks tell them. One that is zero, since its rank has failed, makes all that it is joined with zero. */
#ifndef RANKS_JOIN_H
#define RANKS_JOIN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a state is zero. */
bool ranks_state_is_lost(const void *state);

/* right = left followed by right, or zeros if that cannot be; left stays as it is. Both of `bytes` bytes, aligned to
 * TABLE_STATE_ALIGNMENT. */
void ranks_join(const void *left, void *right, size_t bytes);

#endif
