/* Stage 1, local counts: the column totals of each unit of rows. A block a tile; a cell is read once, and a row of
 * totals is written for each unit. */
#ifndef STAGES_STAGE1_CUH
#define STAGES_STAGE1_CUH

#include "resident/run_resident.cuh"
#include "tile/load.cuh"
#include "tile/totals.cuh"

template <class SHAPE> KERNEL LAUNCH_BOUNDS(BLOCK_THREADS, 2)
    stage1_kernel(tile_pass pass, typename SHAPE::Sum *prefixes) {
    constexpr unsigned ACROSS = power_of_two_above(SHAPE::PANEL);
    SHARED_ARRAY(warp_row<SHAPE>, totals, SHAPE::TOTALS);
    const unsigned row = tile_row_of(pass, block_index()), panel = block_index() - row * pass.panels;
    const tile_place place = tile_place_at<SHAPE>(pass, row, panel);
    tile_values<SHAPE> values;
    tile_load<SHAPE>(pass, place, values);
    tile_convert<SHAPE>(pass, values);
    make_totals<SHAPE>(place, values, totals);
    block_barrier();
    const unsigned unit = thread_index() / ACROSS, in_panel = thread_index() % ACROSS;
    const size_t column = static_cast<size_t>(panel) * pass.panel_columns + in_panel;
    if (unit < SHAPE::UNITS && unit * UNIT_ROWS < place.end && in_panel < pass.panel_columns && column < pass.columns)
        prefixes[(static_cast<size_t>(row) * SHAPE::UNITS + unit + 1) * pass.columns + column] =
            total_of_unit<SHAPE>(totals, unit, in_panel);
}

struct stage1_launcher {
    static constexpr bool BUFFERS = false;
    void *prefixes, *stream;
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        return launch(stage1_kernel<in_units<SHAPE>>, tiles, BLOCK_THREADS, 0, stream, pass,
                      static_cast<typename SHAPE::Sum *>(prefixes));
    }
};

#endif
