/* The peers of a command that was built without CUB's headers. */
#include "peers.h"

const char *peer_cub_version(void) { return NULL; }

bool peer_cub_has_segments(void) { return false; }

int peer_cub_scan(const struct peer_scan *what, void *workspace, size_t *workspace_bytes) {
    (void)what, (void)workspace, (void)workspace_bytes;
    return PEER_NOT_SUPPORTED;
}

int peer_cub_sort(const struct peer_keys *what, void *workspace, size_t *workspace_bytes) {
    (void)what, (void)workspace, (void)workspace_bytes;
    return PEER_NOT_SUPPORTED;
}

int peer_cub_histogram(const struct peer_keys *what, void *workspace, size_t *workspace_bytes) {
    (void)what, (void)workspace, (void)workspace_bytes;
    return PEER_NOT_SUPPORTED;
}
