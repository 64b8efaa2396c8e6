#include "fused.h"

#include <limits.h>

#include "../checked.h"
#include "../plan.h"
#include "pass.h"
#include "runtime.h"

/* Kernels that were translated for an older GPU have no wave and no bulk copies, wherever they run. */
enum { HOPPER = 9, OLDEST_WAVE = TUPLESCAN_NEWEST_GPU >= 90 ? HOPPER : INT_MAX };
enum { OLDEST_PARKED = TUPLESCAN_NEWEST_GPU >= 80 ? 8 : INT_MAX };

/* Of all forms but the small one and that of rows, on one multiprocessor. */
enum { TILES_AT_ONCE = 2 };

/* From so many bytes of sums for each multiprocessor on, rows are better not parked: four rounds of four tiles; or
 * one, of rows that are no whole vectors, unless they are short and not of widened integers; or very long ones that
 * begin on sectors, or widened ones of whole lines, when the words of parked tiles stay in the cache no more
 * (docs/tuning.md). */
enum { ROWS_FROM_BYTES = 800 << 10, RAGGED_FROM_BYTES = 200 << 10, LONG_FROM_BYTES = 8 << 20 };
enum { VECTOR_BYTES = 16, SECTOR_BYTES = 32, LINE_BYTES = 128 };
enum { LONG_BYTES = 2048, WIDENED_FROM_BYTES = 1024, WIDENED_TO_BYTES = 4096 };

enum cuda_fused_form cuda_forced_form = CUDA_FUSED_BEST;

/* The device that the table is on, or else the current one; -1 when it cannot be known. */
static int device_of(const struct scan *scan) {
    int device = scan->in.data ? backend_device_of(scan->in.data) : -1;
    if (device >= 0 || cudaGetDevice(&device) == cudaSuccess)
        return device;
    cudaGetLastError();
    return -1;
}

/* 0 when it cannot be known. */
static int attribute(int device, enum cudaDeviceAttr which) {
    int value = 0;
    if (device >= 0 && cudaDeviceGetAttribute(&value, which, device) == cudaSuccess)
        return value;
    cudaGetLastError();
    return 0;
}

/* What of the device and the table decides on the form. */
struct choice {
    int major;
    size_t processors, tiles;
    bool one_panel;
};

static struct choice choice_of(const struct scan *scan) {
    const size_t panels = divide_up(scan->in.columns * table_type_size(scan->out.type), KERNEL_PANEL_BYTES);
    const int device = device_of(scan), major = attribute(device, cudaDevAttrComputeCapabilityMajor);
    return (struct choice){.major = major,
                           .processors = (size_t)attribute(device, cudaDevAttrMultiProcessorCount),
                           .tiles = panels * scan->chunks,
                           .one_panel = panels == 1};
}

/* Tiles that find all their room at once go in one wave, on devices of the kind that it was measured on. */
static bool is_wave(const struct choice *choice) {
    return choice->major >= OLDEST_WAVE && choice->tiles <= TILES_AT_ONCE * choice->processors &&
           (cuda_forced_form == CUDA_FUSED_BEST || cuda_forced_form == CUDA_FUSED_WAVE);
}

static bool widens(const struct scan *scan) { return table_type_size(scan->in.type) < table_type_size(scan->out.type); }

static bool widens_integers(const struct scan *scan) { return widens(scan) && plan_is_integer(scan->out.type); }

/* Whether the small form is worth trying, by blocks that each can have a multiprocessor to themselves: up to half a
 * chunk, or of values that are widened a quarter, where the rest can go in a wave. */
static bool is_small(const struct scan *scan, const struct choice *choice) {
    if (scan->chunks > 1)
        return false;
    if (cuda_forced_form != CUDA_FUSED_BEST)
        return cuda_forced_form == CUDA_FUSED_SMALL;
    return choice->tiles <= choice->processors &&
           (!is_wave(choice) || scan->in.rows <= scan->chunk_rows / (widens(scan) ? 4 : 2));
}

/* As measured on an H200 (docs/tuning.md); the form for older devices was never measured on one. */
bool cuda_prefers_fused(const struct scan *scan) { return choice_of(scan).major >= HOPPER; }

/* Of sums for each multiprocessor, given those of a row. */
static size_t rows_from_bytes(const struct scan *scan, size_t row) {
    const bool lines = row % LINE_BYTES == 0 && row >= WIDENED_FROM_BYTES && row <= WIDENED_TO_BYTES;
    const bool is_long = row % SECTOR_BYTES == 0 && row >= LONG_BYTES;
    if (row % VECTOR_BYTES != 0)
        return row > LINE_BYTES || widens_integers(scan) ? RAGGED_FROM_BYTES : ROWS_FROM_BYTES;
    return (widens(scan) ? lines : is_long) ? LONG_FROM_BYTES : ROWS_FROM_BYTES;
}

static bool is_rows(const struct scan *scan, const struct choice *choice) {
    const size_t row = scan->in.columns * table_type_size(scan->out.type), bytes = scan->in.rows * row;
    const size_t from = rows_from_bytes(scan, row);
    return choice->major >= OLDEST_WAVE &&
           (cuda_forced_form == CUDA_FUSED_ROWS ||
            (cuda_forced_form == CUDA_FUSED_BEST && bytes / from >= choice->processors));
}

static bool is_parked(const struct choice *choice) {
    if (choice->major < OLDEST_PARKED || cuda_forced_form == CUDA_FUSED_LOOKBACK)
        return false;
    return cuda_forced_form == CUDA_FUSED_PARKED || cuda_forced_form == CUDA_FUSED_GENERAL ||
           choice->tiles > TILES_AT_ONCE * choice->processors;
}

/* Room for each of the forms that the table may be given. */
size_t cuda_fused_workspace(const struct scan *scan) {
    const struct choice choice = choice_of(scan);
    const struct kernel_pass pass = cuda_pass(scan);
    const size_t columns = scan->in.columns, parked = kernel_fused_workspace(&pass);
    const size_t lookback = kernel_fused_lookback_workspace(scan->chunks, columns, scan->out.type);
    const size_t large = parked > lookback ? parked : lookback;
    const size_t wave = is_wave(&choice) ? kernel_fused_wave_workspace(scan->chunks, columns) : 0;
    const size_t rows = is_rows(scan, &choice) ? kernel_fused_rows_workspace(&pass) : 0;
    const size_t other = wave > rows ? wave : rows;
    return large > other ? large : other;
}

/* Before a kernel that only lowers the overflow's word; the others set it themselves. */
static int set_overflow(const struct scan *scan) {
    if (!scan->first_overflow)
        return cudaSuccess;
    return (int)cudaMemsetAsync(scan->first_overflow, 0xff, sizeof *scan->first_overflow, scan->stream);
}

/* Blocks that park tiles must all be resident, and those of a wave in place. Where somebody else has a part of the
 * device, they may not be. */
static bool is_refused(int error) {
    return error == cudaErrorCooperativeLaunchTooLarge || error == cudaErrorNotSupported;
}

static int run_lookback(const struct scan *scan, const struct kernel_pass *pass, void *workspace) {
    const size_t bytes = kernel_fused_lookback_workspace(scan->chunks, scan->in.columns, scan->out.type);
    int error = set_overflow(scan);
    if (error == cudaSuccess)
        error = (int)cudaMemsetAsync(workspace, 0, bytes, scan->stream);
    return error == cudaSuccess ? kernel_fused_lookback(pass, scan->carry_in, scan->carry_out, workspace) : error;
}

/* A lone block and a wave set the overflow's word themselves where one panel has all columns. */
static int set_overflow_of_panels(const struct scan *scan, const struct choice *choice) {
    return choice->one_panel ? cudaSuccess : set_overflow(scan);
}

static int run_small(const struct scan *scan, const struct kernel_pass *pass, const struct choice *choice) {
    const int error = set_overflow_of_panels(scan, choice);
    return error == cudaSuccess ? kernel_fused_small(pass, scan->carry_in, scan->carry_out) : error;
}

static int run_wave(const struct scan *scan, const struct kernel_pass *pass, const struct choice *choice,
                    void *workspace) {
    const int error = set_overflow_of_panels(scan, choice);
    return error == cudaSuccess ? kernel_fused_wave(pass, scan->carry_in, scan->carry_out, workspace) : error;
}

static int run_large(const struct scan *scan, const struct kernel_pass *pass, const struct choice *choice,
                     void *workspace) {
    int error = is_wave(choice) ? run_wave(scan, pass, choice, workspace) : cudaErrorNotSupported;
    if (!is_refused(error))
        return error;
    cudaGetLastError();
    if (is_rows(scan, choice))
        error = kernel_fused_rows(pass, scan->carry_in, scan->carry_out, workspace);
    if (!is_refused(error))
        return error;
    cudaGetLastError();
    const bool bulk = choice->major >= OLDEST_WAVE && cuda_forced_form != CUDA_FUSED_GENERAL;
    if (is_parked(choice))
        error = kernel_fused(pass, scan->carry_in, scan->carry_out, bulk, workspace);
    if (!is_refused(error))
        return error;
    cudaGetLastError();
    return run_lookback(scan, pass, workspace);
}

table_status cuda_fused(const struct scan *scan, void *workspace) {
    const struct kernel_pass pass = cuda_pass(scan);
    const struct choice choice = choice_of(scan);
    int error = is_small(scan, &choice) ? run_small(scan, &pass, &choice) : cudaErrorNotSupported;
    if (error == cudaErrorNotSupported)
        error = run_large(scan, &pass, &choice, workspace);
    return cuda_check_launch(error, "the fused pass");
}
