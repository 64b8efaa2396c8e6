/* What a segment begins with, and where results lie that are put beside the table of results. */
#ifndef SEGMENTS_SEGMENT_CARRIES_CUH
#define SEGMENTS_SEGMENT_CARRIES_CUH

#include "segments/segment_ops.cuh"
#include "segments/segment_plan.cuh"

/* One result, of any type. */
template <class VALUE> DEVICE void put_cell(unsigned char *to, VALUE value, any_type any) {
    const uint64_t bits = result_bits(value, any);
    if (any.by_bytes || any.size == 1)
        return store_bytes(to, bits, any.size);
    if (any.size == 2)
        return store_vector(reinterpret_cast<uint16_t *>(to), static_cast<uint16_t>(bits));
    if (any.size == 4)
        return store_vector(reinterpret_cast<uint32_t *>(to), static_cast<uint32_t>(bits));
    store_vector(reinterpret_cast<uint64_t *>(to), bits);
}

/* Where results are that have a row more for each segment. */
DEVICE unsigned char *cell_of_segment(const segment_pass &pass, uint64_t row, uint64_t segment, size_t column) {
    const uint64_t lacking = pass.where.is_reversed ? pass.most_segments - pass.where.count() : 0;
    const cell_table &out = pass.cells.out;
    const ptrdiff_t at = static_cast<ptrdiff_t>(row + segment + lacking) * out.stride + static_cast<ptrdiff_t>(column);
    return out.data + at * static_cast<ptrdiff_t>(out.any.size);
}

/* What a segment begins with: the caller's row, or a value if there is none. */
template <class VALUE>
DEVICE VALUE start_or(const segment_pass &pass, uint64_t segment, size_t column, VALUE otherwise) {
    return pass.carry_in ? load_vector(static_cast<const VALUE *>(pass.carry_in) +
                                       pass.where.number_of(segment) * pass.cells.columns + column)
                         : otherwise;
}
template <class OPS> DEVICE typename OPS::Value start_of(const segment_pass &pass, uint64_t segment, size_t column) {
    return start_or(pass, segment, column, OPS::start());
}

#endif
