/* Segments: the plan of a pass, its launches in order, and how many NaNs count as nothing. */
#include "operators/operator_launch.cuh"
#include "persistent/descriptors/tile_descriptor.cuh"
#include "segments/segment_plan.cuh"

constexpr unsigned WORKSPACE_ALIGNMENT = 256;
constexpr size_t CHUNK_LEAST = 1024;

/* Hands out the workspace. Without one, counts its bytes. */
struct segment_cutter {
    char *memory;
    size_t bytes = 0;
    bool fits = true;

    template <class T = void> T *cut(size_t count, size_t each) {
        size_t size = 0, end = 0;
        fits = fits && !__builtin_mul_overflow(count, each, &size) &&
               !__builtin_add_overflow(bytes, size + WORKSPACE_ALIGNMENT, &end) && size <= SIZE_MAX / 2;
        if (!fits)
            return nullptr;
        void *const at = memory ? memory + bytes : nullptr;
        bytes = end / WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
        return static_cast<T *>(at);
    }
};

static uint64_t most_segments(const kernel_segmented_pass &from) {
    const uint64_t limit = segments_limit(from);
    return is_counted(from.segments.kind) || limit < from.pass.rows ? limit : from.pass.rows;
}

/* The tables of totals; or of maps, which have four values each. */
static void cut_map_totals(const kernel_segmented_pass &from, segment_cutter &cutter, segment_plan &plan) {
    constexpr size_t VALUES = 4;
    const size_t value = type_bytes(from.kept), cells = plan.unit_rows;
    plan.totals = cutter.cut(cells * VALUES * value, from.pass.columns);
    plan.prefixes = cutter.cut(cells * value, from.pass.columns);
}
static void cut_totals(const kernel_segmented_pass &from, segment_cutter &cutter, segment_plan &plan) {
    const size_t each =
        type_bytes(from.kept) == 4 ? sizeof(tile_descriptor<uint32_t>) : sizeof(tile_descriptor<uint64_t>);
    size_t rows = 0;
    plan.unit_rows = from.pass.rows > 0 ? (from.pass.rows - 1) >> UNIT_BITS : 0;
    plan.owners = cutter.cut<uint32_t>(plan.unit_rows, sizeof(uint32_t));
    if (is_of_maps(from))
        return cut_map_totals(from, cutter, plan);
    for (unsigned level = 0; level < BLOCK_LEVELS; level++) {
        plan.level_rows[level] = rows;
        rows += plan.unit_rows >> BLOCK_PART_BITS * level;
    }
    plan.totals = cutter.cut(rows * each, from.pass.columns);
    plan.total_bytes = rows * each * from.pass.columns;
}

static bool make_plan(const kernel_segmented_pass &from, void *workspace, segment_plan &plan) {
    segment_cutter cutter{static_cast<char *>(workspace)};
    const size_t columns = from.pass.columns, value = type_bytes(from.kept);
    const uint64_t rows = from.pass.rows, items = from.segments.count < rows ? rows : from.segments.count;
    plan.where.header = cutter.cut<segment_header>(1, sizeof(segment_header));
    plan.where.rows = rows;
    plan.where.is_wide = rows > UINT32_MAX;
    plan.where.is_reversed = from.is_reversed != 0;
    plan.where.most_long = rows / MOST_SHORT_ROWS;
    plan.where.long_segments = cutter.cut<long_segment>(plan.where.most_long, sizeof(long_segment));
    plan.most_segments = most_segments(from);
    plan.where.offsets = cutter.cut(plan.most_segments + 1, plan.where.is_wide ? sizeof(uint64_t) : sizeof(uint32_t));
    if (from.segments.kind != KERNEL_SEGMENT_OFFSETS)
        plan.chunk_sums = cutter.cut<uint64_t>(items / CHUNK_LEAST + 1, sizeof(uint64_t));
    plan.carry_in = from.carry_in;
    if (from.carry_in && from.carry_out) {
        cutter.fits = cutter.fits && !__builtin_mul_overflow(columns, value, &plan.carry_bytes) &&
                      !__builtin_mul_overflow(plan.carry_bytes, from.segments.count, &plan.carry_bytes);
        plan.carry_in = plan.carry_copy = cutter.cut(plan.carry_bytes, 1);
    }
    if (columns > 0)
        cut_totals(from, cutter, plan);
    plan.bytes = cutter.bytes;
    return cutter.fits && plan.most_segments < UINT32_MAX;
}

size_t kernel_segments_workspace(const kernel_segmented_pass *pass) {
    segment_plan plan = {};
    return make_plan(*pass, nullptr, plan) ? plan.bytes : SIZE_MAX;
}

struct nan_pass {
    segment_where where;
    const void *in;
    ptrdiff_t stride;
    size_t columns;
    any_type any;
    uint64_t *nans;
};

KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_nans_kernel(nan_pass pass) {
    uint64_t count = 0;
    const uint64_t segments = pass.where.count();
    if (!pass.where.is_right() || segments == 0)
        return;
    const uint64_t first = pass.where.offset(0), rows = pass.where.offset(segments) - first;
    each_index(rows * pass.columns, [&](uint64_t index) {
        const uint64_t row = index / pass.columns;
        const ptrdiff_t at =
            static_cast<ptrdiff_t>(first + row) * pass.stride + static_cast<ptrdiff_t>(index - row * pass.columns);
        const double value = any_value_at<double>(pass.in, at, pass.any);
        count += value != value;
    });
    if (count > 0)
        atomic_add(pass.nans, count);
}

static int count_nans(const kernel_segmented_pass &from, const segment_plan &plan) {
    const kernel_pass &given = from.pass;
    if (!given.load.nans || !type_is_float(given.in_type) || given.rows == 0 || given.columns == 0)
        return 0;
    const nan_pass pass = {
        plan.where,     given.in, given.in_stride, given.columns, any_type_of(given.in, given.in_type, false),
        given.load.nans};
    return launch(segment_nans_kernel, each_blocks(given.rows * given.columns), EACH_THREADS, 0, given.stream, pass);
}

int kernel_run_segments(const kernel_segmented_pass *pass, void *workspace) {
    segment_plan plan = {};
    if (!make_plan(*pass, workspace, plan))
        return static_cast<int>(cudaErrorInvalidValue);
    int error = run_segment_offsets(*pass, plan);
    if (error != 0 || pass->pass.columns == 0)
        return error;
    const cudaStream_t stream = static_cast<cudaStream_t>(pass->pass.stream);
    if (plan.carry_copy)
        error = static_cast<int>(
            cudaMemcpyAsync(plan.carry_copy, pass->carry_in, plan.carry_bytes, cudaMemcpyDeviceToDevice, stream));
    if (error == 0 && plan.total_bytes > 0)
        error = static_cast<int>(cudaMemsetAsync(plan.totals, 0, plan.total_bytes, stream));
    if (error == 0)
        error = count_nans(*pass, plan);
    if (error != 0)
        return error;
    return is_of_maps(*pass) ? run_segment_maps(*pass, plan) : run_segment_results(*pass, plan);
}
