#include "chain.h"

#include <string.h>

#include "../tree.h"
#include "entry.h"

/* Ordered elements have for each binary digit of the number of chunks the total of the digit's block, and the seed
 * through that digit: of the chunk whose number has no lower digits. */
enum { CHAIN_SEED, CHAIN_LAST, CHAIN_START, CHAIN_LEVELS };

static size_t count_levels(const struct division *division) {
    size_t levels = 0;
    if (division->scan->state)
        return ENTRY_LEVELS;
    for (size_t chunks = division->element->ordered ? division->chunks : 0; chunks > 0; chunks /= 2)
        levels++;
    return levels;
}

size_t chain_rows(const struct division *division) {
    return division->element->ordered ? CHAIN_LEVELS + 2 * count_levels(division) : 1;
}

/* A sum that goes on has blocks of chunks from the beginning. */
static void go_on(char *chain, const struct division *division) {
    const struct entry *const entry = division->entry;
    const struct scan *scan = division->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    const unsigned chunk = division_chunk_levels(division);
    memcpy(chain + CHAIN_START * row_bytes, entry->start, row_bytes);
    memcpy(chain + CHAIN_LAST * row_bytes, entry->above, row_bytes);
    entry_put_seed(entry, scan, chunk, chain + CHAIN_SEED * row_bytes);
    for (uint64_t digits = entry->unit >> chunk; digits != 0; digits &= digits - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(digits);
        char *const total = chain + (CHAIN_LEVELS + 2 * level) * row_bytes;
        memcpy(total, entry->blocks[chunk + level], row_bytes);
        entry_put_seed(entry, scan, chunk + level, total + row_bytes);
    }
}

/* The blocks that the last chunk has before it. */
static void leave(const char *chain, const struct division *division) {
    const struct scan *scan = division->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    const unsigned chunk = division_chunk_levels(division);
    tree_copy_levels(state_row(scan->state_out, row_bytes, STATE_BLOCKS + chunk), row_bytes,
                     chain + CHAIN_LEVELS * row_bytes, 2 * row_bytes, entry_last_unit(scan) >> chunk, row_bytes);
}

void chain_begin(char *chain, const struct division *division) {
    const struct scan *scan = division->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    const size_t rows = division->element->ordered ? CHAIN_LEVELS : 1;
    if (division->entry) {
        go_on(chain, division);
        return;
    }
    for (size_t row = 0; row < rows; row++) {
        if (scan->carry_in)
            memcpy(chain + row * row_bytes, scan->carry_in, row_bytes);
        else
            element_fill(division->element, chain + row * row_bytes, division->element->start, scan->in.columns);
    }
}

void chain_end(const char *chain, const struct division *division) {
    const size_t row_bytes = scan_row_bytes(division->scan);
    if (division->scan->carry_out)
        memcpy(division->scan->carry_out, chain + (division->element->ordered ? CHAIN_LAST : CHAIN_SEED) * row_bytes,
               row_bytes);
    if (division->entry)
        leave(chain, division);
}

/* seed(next) = seed(next without its lowest digit) + T(block of that digit). */
static void make_seed(char *chain, struct worker *worker, const struct division *division, const struct part *part,
                      uint64_t next) {
    const size_t bytes = division_part_bytes(division, part);
    const struct tree totals = {.element = division->element,
                                .of_units = true,
                                .columns = part->columns,
                                .levels = division_sums(division, chain, CHAIN_LEVELS, part),
                                .pitch = 2 * scan_row_bytes(division->scan)};
    const size_t level = tree_push(&totals, next - 1, worker->sums);
    const uint64_t above = next & (next - 1);
    const size_t base = above ? CHAIN_LEVELS + 2 * (size_t)__builtin_ctzll(above) + 1 : CHAIN_START;
    char *const total = division_sums(division, chain, CHAIN_LEVELS + 2 * level, part);
    char *const seed = division_sums(division, chain, CHAIN_LEVELS + 2 * level + 1, part);
    memcpy(total, worker->sums, bytes);
    division->element->combine(seed, division_sums(division, chain, base, part), total, part->columns);
    memcpy(division_sums(division, chain, CHAIN_SEED, part), seed, bytes);
}

/* How many chunks come before the table's first one. */
static uint64_t first_chunk(const struct division *division) {
    return division->entry ? division->entry->unit >> division_chunk_levels(division) : 0;
}

void chain_hand_on(char *chain, struct worker *worker, const struct division *division, const struct part *part) {
    const size_t bytes = division_part_bytes(division, part);
    char *const seed = division_sums(division, chain, CHAIN_SEED, part);
    memcpy(worker->start, seed, bytes);
    if (!division->element->ordered) {
        division->element->combine(seed, seed, worker->sums, part->columns);
        return;
    }
    const bool ends = part->chunk + 1 == division->chunks;
    char *const last = division_sums(division, chain, CHAIN_LAST, part);
    if (division->scan->exclusive)
        memcpy(worker->above, last, bytes);
    if (division->scan->exclusive || ends) {
        memcpy(last, worker->start, bytes);
        worker_add_rows(worker, division, part, last);
    }
    if (!ends)
        make_seed(chain, worker, division, part, first_chunk(division) + part->chunk + 1);
}
