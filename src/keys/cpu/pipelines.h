/* The pipelines of the CPU backend: see src/backend.h. */
#ifndef CPU_PIPELINES_H
#define CPU_PIPELINES_H

#include "keys/keys.h"
#include "scan.h"

/* From how many keys on a chunk is worth a thread; from how many bytes of keys and values on they are written by lines,
 * past the caches; and, for fewer, how many digits may begin in one set of a first cache before they are written by
 * lines. Tests lower them, so that few keys are many. Not while a pipeline runs. */
struct key_limits {
    size_t chunk, lines, crowd;
};
extern struct key_limits key_limits;

size_t cpu_chunk_length(const struct scan *scan, size_t keys);
size_t cpu_digit_workspace(const struct scan *scan, const struct digit_pass *pass);
table_status cpu_digit_counts(const struct scan *scan, const struct digit_pass *pass, const struct table_view *counters,
                              void *workspace);
table_status cpu_digit_scatter(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
                               void *workspace);
table_status cpu_digit_order(const struct scan *scan, const struct digit_pass *pass, bool *ascends);
table_status cpu_digit_fill(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move);
table_status cpu_gather(const struct scan *scan, const struct gather *gather);
size_t cpu_histogram_workspace(const struct scan *scan, const struct histogram_pass *pass);
table_status cpu_histogram(const struct scan *scan, const struct histogram_pass *pass, void *workspace);

/* Bytes that a thread needs to count, and to move, rounded up to whole lines. */
size_t cpu_digit_counts_bytes(const struct digit_pass *pass);
size_t cpu_digit_scatter_bytes(const struct digit_pass *pass);

/* Adds `tables` times `count` counters to a row, u32 or u64, table by table of `pitch` counters. */
void cpu_add_counters(void *row, table_type type, const uint32_t *counters, unsigned tables, size_t pitch,
                      size_t count);

#endif
