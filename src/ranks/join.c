/* Two states become one, where the memory of both is a transport's. */
#include "together.h"

#include <stdlib.h>
#include <string.h>

#include <tuplescan/state.h>

#include "state.h"

void ranks_lose(void *state, size_t bytes, table_status reason) {
    struct sum_state *header = state;
    memset(state, 0, bytes);
    header->flags = (uint32_t)reason;
}

/* One that has not even begun is no state to join. */
table_status ranks_lost(const void *state) {
    const struct sum_state *header = state;
    if (header->magic != 0)
        return TABLE_OK;
    return header->flags ? (table_status)header->flags : TABLE_ERROR_STATE;
}

void ranks_join(const void *left, void *right, size_t bytes) {
    table_status status = ranks_lost(left);
    if (status == TABLE_OK)
        status = ranks_lost(right);
    struct sum_state *const joined = status == TABLE_OK ? malloc(bytes) : NULL;
    if (status == TABLE_OK && !joined)
        status = TABLE_ERROR_HOST_MEMORY;
    if (status == TABLE_OK) {
        memcpy(joined, left, bytes);
        status = table_state_join(joined, right);
    }
    if (status == TABLE_OK)
        memcpy(right, joined, bytes);
    else
        ranks_lose(right, bytes, status);
    free(joined);
}
