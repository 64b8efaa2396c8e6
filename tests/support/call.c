#include "call.h"

#include <stdlib.h>

#include <tuplescan/linear_recurrence.h>

static bool open_workspace(const struct way *way, table_scan_options *options, struct random *random,
                           struct block *workspace) {
    const size_t bytes = options->workspace_bytes;
    unsigned char *rubbish = get_memory(bytes);
    block_open(workspace, way->memory, bytes, 0, EDGE_FRONT);
    for (size_t i = 0; i < bytes; i++)
        rubbish[i] = (unsigned char)random_bits(random);
    const bool opened = block_upload(workspace, rubbish);
    free(rubbish);
    options->workspace = bytes > 0 ? workspace->address : NULL;
    return opened;
}

const char *call_on_stream(const struct way *way, const table_view *a, const table_view *in, const table_view *out,
                           table_scan_options *options, struct random *random) {
    struct block workspace;
    options->stream = way->stream_open();
    if ((a ? table_linear_recurrence_workspace(a, in, out, options, &options->workspace_bytes)
           : table_prefix_sum_workspace(in, out, options, &options->workspace_bytes)) != TABLE_OK)
        return "table_prefix_sum_workspace";
    if (!open_workspace(way, options, random, &workspace))
        return "the workspace cannot be written";
    if ((a ? table_linear_recurrence_async(a, in, out, options) : table_prefix_sum_async(in, out, options)) != TABLE_OK)
        return "table_prefix_sum_async";
    if (!way->stream_wait(options->stream))
        return "the stream came to an error";
    way->stream_close(options->stream);
    if (!block_surroundings_intact(&workspace))
        return "the memory around the workspace was written";
    block_close(&workspace);
    return NULL;
}
