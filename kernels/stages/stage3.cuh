/* Stage 3, global pass: the running sums of each unit, started from its prefix. A cell is read once and written once.
 * In place is safe: a tile is read whole before any of it is written, and no other block reads it. */
#ifndef STAGES_STAGE3_CUH
#define STAGES_STAGE3_CUH

#include "resident/prefix_from_table.cuh"
#include "tile/first_rows.cuh"

struct stage3_launcher {
    static constexpr bool BUFFERS = false;
    void *prefixes, *stream;
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        typedef typename SHAPE::Sum Sum;
        constexpr unsigned UNITS = in_units<SHAPE>::UNITS;
        Sum *const rows = static_cast<Sum *>(prefixes);
        const int error = launch(resident_kernel_for<SHAPE, prefix_from_table<SHAPE>>(pass), tiles, BLOCK_THREADS,
                                 staging_bytes<SHAPE>(), stream, pass, prefix_table<Sum>{rows});
        return launch_first_rows<SHAPE>(
            error, pass, last_rows<Sum>{rows, nullptr, UNITS * pass.columns, tiles / pass.panels, SHAPE::TILE_ROWS},
            stream);
    }
};

#endif
