/* States as ranks tell them. One that is lost, since its rank has failed, makes all that it is joined with lost. */
#ifndef RANKS_JOIN_H
#define RANKS_JOIN_H

#include <stddef.h>

#include <tuplescan/status.h>

/* Makes a state of `bytes` bytes a lost one: a header of zeros but for the reason, a failure, and zeros behind it. */
void ranks_lose(void *state, size_t bytes, table_status reason);

/* Why a state is lost; TABLE_OK if it is not. */
table_status ranks_lost(const void *state);

/* right = left followed by right, or lost if that cannot be; left stays as it is. Both of `bytes` bytes, aligned to
 * TABLE_STATE_ALIGNMENT. */
void ranks_join(const void *left, void *right, size_t bytes);

#endif
