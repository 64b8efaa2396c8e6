/* Stage 3, global pass: the running sums of each chunk, started from its seed. A cell is read once and written once. In
 * place is safe: a tile is read whole before any of it is written, and nobody else reads it. */
#include "resident/seed_from_table.cuh"

struct stage3_launcher {
    static constexpr bool PARKS = false;
    const void *seeds;
    void *stream;
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        return launch(resident_kernel_for<SHAPE, seed_from_table<SHAPE>>(pass), tiles, BLOCK_THREADS,
                      staging_bytes<SHAPE>(), stream, pass, seed_table<Sum>{static_cast<const Sum *>(seeds)});
    }
};

int kernel_stage3_global_pass(const kernel_pass *pass, const void *seeds) {
    return run_resident(*pass, stage3_launcher{seeds, pass->stream});
}
