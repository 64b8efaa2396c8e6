/* The forms of the fused pass, in the order in which they are asked. What each of them is stands in its own file; what
 * a tile waits in, and who adds the totals up, in kernels/README.md.
 *
 * The alone form has kernels for every pair of types. The others refuse integers that become floats, small floats that
 * become f64, NaNs that count as nothing, and tables that are not aligned to their type; and the wave refuses small
 * floats, too. The separate stages do all of that. */
#include <climits>

#include "choose/dispatch.cuh"
#include "choose/forms.h"
#include "choose/shapes.h"
#include "device.cuh"

/* Rows of a table so flat that what the other forms share would be a tenth of it or more: six words for each column. */
constexpr size_t FLAT_ROWS = 64;

/* One chunk, of which a lone block for each panel has at most a quarter. Each block has a multiprocessor to itself,
 * unless the table is flat. */
static bool alone_takes(const kernel_facts *facts) {
    return facts->chunks == 1 && facts->rows <= facts->chunk_rows / ALONE_SHARES &&
           (facts->panels <= facts->processors || facts->rows <= FLAT_ROWS);
}

/* Tables whose tiles all run at once. */
static bool wave_takes(const kernel_facts *facts) { return !fills_device(facts); }

static bool takes_all(const kernel_facts *) { return true; }

static size_t no_workspace(const kernel_pass *) { return 0; }

/* The part of a form that has the pass's pair of types. */
template <class FORM, int PART = 0>
static int run_part_of(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    if constexpr (PART < KERNEL_PARTS) {
        if (part_of_types(pass->in_type, pass->out_type) == PART)
            return FORM::template run<PART>(pass, carry, workspace);
        return run_part_of<FORM, PART + 1>(pass, carry, workspace);
    }
    return static_cast<int>(cudaErrorNotSupported);
}

/* The alone form sets the word of the first overflow where one panel has all columns. Otherwise it only lowers the
 * word, as the wave does, and the word is set before. */
static int set_overflow(const kernel_pass *pass) {
    if (!pass->first_overflow)
        return 0;
    return static_cast<int>(cudaMemsetAsync(pass->first_overflow, 0xff, sizeof *pass->first_overflow,
                                            static_cast<cudaStream_t>(pass->stream)));
}
static int run_alone(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const bool one_panel = pass->columns * type_bytes(pass->out_type) <= KERNEL_PANEL_BYTES;
    const int error = one_panel ? 0 : set_overflow(pass);
    return error == 0 ? form_alone::run(pass, carry, workspace) : error;
}
static int run_wave(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const int error = set_overflow(pass);
    return error == 0 ? run_part_of<form_wave>(pass, carry, workspace) : error;
}

/* The part that has the types of several tables. */
template <int PART = 0> static int run_tables(const kernel_batch *batch, void *workspace) {
    if constexpr (PART < KERNEL_PARTS) {
        if (part_of_types(batch->in_type, batch->out_type) == PART)
            return form_tables::run<PART>(batch, workspace);
        return run_tables<PART + 1>(batch, workspace);
    }
    return static_cast<int>(cudaErrorNotSupported);
}

/* Long tables of few columns, of as many tiles as there are multiprocessors. Tiles that are not whole cost as much as
 * whole ones: so three quarters of their rows are in the tables. docs/lab/2026-11-28.md#several-tables-in-registers */
size_t kernel_tables_workspace(const kernel_batch *batch, unsigned processors, int gpu) {
    const size_t element = type_bytes(batch->out_type), count = FACT_VECTOR_BYTES / element, columns = batch->columns;
    const size_t rows = kernel_chunk_rows(batch->out_type, columns), chunks = (batch->rows + rows - 1) / rows;
    const ptrdiff_t gapless = static_cast<ptrdiff_t>(columns), apart = static_cast<ptrdiff_t>(count);
    if (gpu < 90 || batch->exclusive || batch->load.without_nan || batch->first_overflow || element < 4 ||
        type_bytes(batch->in_type) != element || type_is_float(batch->in_type) != type_is_float(batch->out_type) ||
        columns * element > MOST_TABLE_BYTES || (columns & (columns - 1)) != 0 || batch->in_stride != gapless ||
        batch->out_stride != gapless || batch->in_step % apart != 0 || batch->out_step % apart != 0 ||
        batch->tables > INT32_MAX / chunks || batch->tables * chunks < processors ||
        4 * batch->rows < 3 * chunks * rows)
        return 0;
    kernel_pass wide = pass_of_table(*batch);
    wide.columns *= batch->tables;
    return form_parked::workspace(&wide);
}

int kernel_run_tables(const kernel_batch *batch, void *workspace) { return run_tables(batch, workspace); }

const kernel_form kernel_forms[] = {
    {"alone", 75, alone_takes, false, true, no_workspace, run_alone},
    {"wave", 90, wave_takes, false, false, form_wave::workspace, run_wave},
    {"rows", ROWS_OLDEST_GPU, rows_takes, true, false, form_rows::workspace, run_part_of<form_rows>},
    {"bytes", BYTES_OLDEST_GPU, bytes_can, false, false, form_bytes::workspace, form_bytes::run},
    {"parked", 90, takes_all, true, false, form_parked::workspace, run_part_of<form_parked>},
    {"general", PARKED_OLDEST_GPU, takes_all, true, false, form_parked::workspace, run_part_of<form_general>},
    {nullptr, INT_MAX, nullptr, false, false, nullptr, nullptr},
};

/* Blocks that wait for each other must all be resident. Where somebody else has a part of the device, or the device has
 * no cooperative launches, they may not be. */
int kernel_is_refused(int error) {
    return error == static_cast<int>(cudaErrorCooperativeLaunchTooLarge) ||
           error == static_cast<int>(cudaErrorNotSupported);
}
