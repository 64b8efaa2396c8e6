/* The algorithms of the fused pass, in the order in which they are asked. Each is described in its own file, and their
 * differences in kernels/README.md.
 *
 * The alone algorithm has kernels for every pair of types. The others refuse small floats that become f64, and tables
 * that are not aligned to their type; NaNs that count as nothing are for rows and some buffered tiles alone, integers
 * that become floats for rows and few buffered tiles; and the wave refuses small floats, too. The separate stages do
 * all of these. */
#include <climits>

#include "choose/algorithms.h"
#include "choose/dispatch.cuh"
#include "choose/tuning.h"
#include "device.cuh"

/* Rows of a table so flat that the exchange of the other algorithms, six descriptors a column, would be a tenth of it
 * or more. */
constexpr size_t FLAT_ROWS = 64;

/* One chunk, of which a lone block for each panel has at most a quarter. Each block has a multiprocessor to itself,
 * unless the table is flat. */
static bool alone_takes(const kernel_problem *problem) {
    return problem->chunks == 1 && problem->rows <= problem->chunk_rows / ALONE_SHARES &&
           (problem->panels <= problem->processors || problem->rows <= FLAT_ROWS);
}

/* Tables whose tiles all run at once. */
static bool wave_takes(const kernel_problem *problem) { return !fills_device(problem); }

static bool takes_all(const kernel_problem *) { return true; }

static size_t no_workspace(const kernel_pass *) { return 0; }

/* The part of an algorithm that has the pair of types of a pass, or of a batch; the other arguments are run()'s. */
template <class ALGORITHM, int PART = 0, class PASS, class... A> static int run_part_of(const PASS *pass, A... a) {
    if constexpr (PART < ALGORITHM::PARTS) {
        if (part_of_types(pass->in_type, pass->out_type) == PART)
            return ALGORITHM::template run<PART>(pass, a...);
        return run_part_of<ALGORITHM, PART + 1>(pass, a...);
    }
    return static_cast<int>(cudaErrorNotSupported);
}

/* The alone algorithm sets the word of the first overflow where one panel has all columns. Otherwise it only lowers the
 * word, as the wave does, and the word is set before. */
static int set_overflow(const kernel_pass *pass) {
    if (!pass->first_overflow)
        return 0;
    return static_cast<int>(cudaMemsetAsync(pass->first_overflow, 0xff, sizeof *pass->first_overflow,
                                            static_cast<cudaStream_t>(pass->stream)));
}
static int run_alone(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const bool one_panel = pass->columns * kernel_result_bytes(pass->out_type) <= KERNEL_PANEL_BYTES;
    const int error = one_panel ? 0 : set_overflow(pass);
    return error == 0 ? algorithm_alone::run(pass, carry, workspace) : error;
}
static int run_wave(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const int error = set_overflow(pass);
    return error == 0 ? run_part_of<algorithm_wave>(pass, carry, workspace) : error;
}

/* Whether values are of a family that has kernels of tables as panels; small floats are summed as f32. */
static bool may_be_panels(const kernel_batch *batch, bool is_small) {
    return is_small ? kernel_sum_type(batch->out_type) == TABLE_F32
                    : type_bytes(batch->in_type) == kernel_sum_bytes(batch->out_type) &&
                          type_is_float(batch->in_type) == type_is_float(batch->out_type);
}

/* Whether the rows of all tables are panels of that many bytes of sums, or several of them. */
static bool are_panels(const kernel_batch *batch, bool is_small, size_t bytes, unsigned processors) {
    const ptrdiff_t apart = static_cast<ptrdiff_t>(MEMORY_VECTOR_BYTES / kernel_sum_bytes(batch->out_type));
    const ptrdiff_t gapless = static_cast<ptrdiff_t>(batch->columns);
    if (batch->ranges.in % apart != 0 || batch->ranges.out % apart != 0 || (bytes & (bytes - 1)) != 0)
        return false;
    if (bytes >= MEMORY_LINE_BYTES)
        return !is_small && batch->rows >= FEWEST_WIDE_TABLE_ROWS && batch->in_stride % apart == 0 &&
               batch->out_stride % apart == 0 &&
               batch->ranges.count < size_t(MOST_WIDE_TABLE_LINES) * processors * MEMORY_LINE_BYTES / bytes;
    return bytes <= (is_small ? MOST_SMALL_TABLE_BYTES : MOST_TABLE_BYTES) && batch->in_stride == gapless &&
           batch->out_stride == gapless;
}

/* Batches of long tables of few columns or of whole lines, with at least a tile for each multiprocessor. A partial tile
 * costs as much as a whole one: so at least three quarters of the tiles' rows must be in the tables. */
size_t kernel_batch_panels_workspace(const kernel_batch *batch, unsigned processors, int gpu) {
    const value_kind kind = kind_of_type(batch->in_type);
    const bool is_small = kind == value_kind::F16 || kind == value_kind::BF16;
    const size_t bytes = batch->columns * kernel_sum_bytes(batch->out_type);
    const size_t rows = kernel_chunk_rows(batch->out_type, batch->columns), chunks = (batch->rows + rows - 1) / rows;
    const size_t panels = chunks * ((bytes + MEMORY_LINE_BYTES - 1) / MEMORY_LINE_BYTES);
    if (gpu < 90 || batch->exclusive || batch->load.without_nan || batch->first_overflow ||
        !may_be_panels(batch, is_small) || !are_panels(batch, is_small, bytes, processors) ||
        batch->ranges.count > INT32_MAX / panels || batch->ranges.count * panels < processors ||
        4 * batch->rows < 3 * chunks * rows)
        return 0;
    kernel_pass wide = pass_of_table(*batch);
    wide.columns *= batch->ranges.count;
    return algorithm_buffered::workspace(&wide);
}

int kernel_run_batch_panels(const kernel_batch *batch, void *workspace) {
    return run_part_of<algorithm_batch>(batch, workspace);
}

const kernel_algorithm kernel_algorithms[] = {
    {"alone", 75, alone_takes, false, true, no_workspace, run_alone},
    {"wave", 90, wave_takes, false, false, algorithm_wave::workspace, run_wave},
    {"rows", ROWS_OLDEST_GPU, rows_takes, true, false, algorithm_rows::workspace, run_part_of<algorithm_rows>},
    {"bytes", BYTES_OLDEST_GPU, bytes_can, false, false, algorithm_bytes::workspace, algorithm_bytes::run},
    {"buffered", 90, takes_all, true, false, algorithm_buffered::workspace, run_part_of<algorithm_buffered>},
    {"no_bulk", BUFFERED_OLDEST_GPU, takes_all, true, false, algorithm_buffered::workspace,
     run_part_of<algorithm_no_bulk>},
    {nullptr, INT_MAX, nullptr, false, false, nullptr, nullptr},
};

/* Blocks that wait for each other must all be resident. They may not be where another process has a part of the device,
 * or where the device has no cooperative launches. */
int kernel_is_refused(int error) {
    return error == static_cast<int>(cudaErrorCooperativeLaunchTooLarge) ||
           error == static_cast<int>(cudaErrorNotSupported);
}
