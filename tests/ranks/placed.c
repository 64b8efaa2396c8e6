/* Calls whose tables are taken to the memory of the test, and back. */
#include "ranks/ranks.h"

static void place(struct block *block, table_view *view) {
    const size_t bytes = view->rows * view->columns * element_size(view->type);
    block_open(block, ranks_memory, bytes, 0, EDGE_BACK);
    CHECK(block_upload(block, view->data));
    view->data = block->address;
}

/* What it holds, into `to` (NULL: not wanted). */
static void take_back(struct block *block, void *to) {
    CHECK(block_surroundings_intact(block) && (!to || block_download(block, to)));
    block_close(block);
}

table_status sum_placed(const struct ranks *ranks, const table_view *in, const table_view *out,
                        const table_scan_options *options) {
    const bool in_place = in->data == out->data;
    table_view placed_in = *in, placed_out = *out;
    struct block in_block, out_block;
    place(&out_block, &placed_out); /* has the values of `in`, too, if they are one */
    if (in_place)
        placed_in.data = placed_out.data;
    else
        place(&in_block, &placed_in);
    const table_status status = sum_over(ranks, &placed_in, &placed_out, options);
    take_back(&out_block, out->data);
    if (!in_place)
        take_back(&in_block, NULL);
    return status;
}

table_status totals_placed(const struct ranks *ranks, const table_view *in, table_type type, void *totals,
                           const table_scan_options *options) {
    table_view placed = *in;
    struct block block;
    place(&block, &placed);
    const table_status status = totals_over(ranks, &placed, type, totals, options);
    take_back(&block, NULL);
    return status;
}
