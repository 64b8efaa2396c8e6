#include "../checked.h"
#include "keys.h"

/* Chunks are rows of the counter table that is scanned for each digit: few, but so many that the blocks which have the
 * last ones do not work alone for long. */
enum { CHUNKS_PER_PROCESSOR = 8 };

size_t cuda_sort_chunk_length(const struct scan *scan, size_t keys, size_t key_bytes, size_t value_bytes) {
    const size_t tile = kernel_digit_scatter_tile(key_bytes, value_bytes), tiles = divide_up(keys, tile);
    const size_t chunks = (size_t)cuda_processors(scan) * CHUNKS_PER_PROCESSOR;
    return divide_up(tiles, chunks) * tile;
}

table_status cuda_digit_scatter(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
                                void *workspace) {
    const struct kernel_keys keys = cuda_keys(scan, pass);
    const struct kernel_move places = {.ranks = cuda_counters(&move->ranks),
                                       .offsets = move->offsets,
                                       .keys = move->keys,
                                       .values_from = move->values_from,
                                       .values = move->values,
                                       .value_bytes = move->value_bytes};
    (void)workspace;
    return cuda_check_launch(kernel_digit_scatter(&keys, &places), "digit scatter");
}
