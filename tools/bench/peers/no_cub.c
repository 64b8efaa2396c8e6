/* The peers of a command that was built without CUB's headers. */
#include "peers.h"

const char *peer_cub_version(void) { return NULL; }

int peer_cub_workspace(table_type in_type, table_type type, size_t rows, size_t columns, size_t *bytes) {
    (void)in_type, (void)type, (void)rows, (void)columns, (void)bytes;
    return PEER_NOT_SUPPORTED;
}

int peer_cub_scan(table_type in_type, table_type type, size_t rows, size_t columns, const void *in, void *out,
                  void *workspace, size_t workspace_bytes, void *stream) {
    (void)in_type, (void)type, (void)rows, (void)columns, (void)in, (void)out, (void)workspace, (void)workspace_bytes,
        (void)stream;
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
