/* The check for overflow of a persistent pass, a kernel after it. The prefixes are still in the workspace.
 * docs/tuning.md#overflow-check */
#ifndef OVERFLOW_AFTER_PASS_CUH
#define OVERFLOW_AFTER_PASS_CUH

#include "overflow/in_tile.cuh"
#include "persistent/descriptors/tile_descriptor.cuh"

/* Where the check finds the prefixes and magnitudes of a pass: `apart` descriptors from chunk to chunk. */
template <class SUM> struct checked_prefixes {
    const tile_descriptor<SUM> *prefixes;
    const uint32_t *magnitudes;
    size_t apart;
    unsigned chunk_rows;
    size_t chunks;
};

/* Queues the check after the pass. Devices that copy in bulk have launches that overlap, too: the check's launch then
 * costs a microsecond or two less. */
int check_after_pass(const tile_pass &pass, const checked_prefixes<uint32_t> &from, unsigned value_bytes, void *stream);
int check_after_pass(const tile_pass &pass, const checked_prefixes<uint64_t> &from, unsigned value_bytes, void *stream);

#endif
