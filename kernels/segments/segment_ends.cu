/* The ends of empty segments; and the begins of all, where there is a row for them. */
#include "operators/operator_launch.cuh"
#include "segments/segment_carries.cuh"

/* `start` is that of segments for which the caller has no row. */
template <class VALUE> KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_ends_kernel(segment_pass pass, VALUE start) {
    const size_t columns = pass.cells.columns;
    if (!pass.where.is_right())
        return;
    each_index(pass.where.count() * columns, [&](uint64_t index) {
        const uint64_t segment = index / columns;
        const size_t column = static_cast<size_t>(index - segment * columns);
        const segment_range range = pass.where.range(segment);
        const bool ends = pass.carry_out && range.rows == 0;
        if (!ends && !pass.has_offsets)
            return;
        const VALUE first = start_or(pass, segment, column, start);
        if (ends)
            store_vector(static_cast<VALUE *>(pass.carry_out) + pass.where.number_of(segment) * columns + column,
                         first);
        if (pass.has_offsets)
            put_cell(cell_of_segment(pass, range.begin, segment, column), first, pass.cells.out.any);
    });
}

template <class VALUE> int run_segment_ends(const kernel_segmented_pass &from, const segment_pass &pass, VALUE start) {
    return launch(segment_ends_kernel<VALUE>, each_blocks(from.segments.count * from.pass.columns), EACH_THREADS, 0,
                  from.pass.stream, pass, start);
}
#define RUN_ENDS(C) template int run_segment_ends(const kernel_segmented_pass &, const segment_pass &, C);
RUN_ENDS(uint32_t)
RUN_ENDS(uint64_t)
RUN_ENDS(int32_t)
RUN_ENDS(int64_t)
RUN_ENDS(float)
RUN_ENDS(double)
#undef RUN_ENDS
