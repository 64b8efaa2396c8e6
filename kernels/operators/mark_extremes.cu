/* Marks the rows whose values are their own running extremes: a thread a cell, grid by grid. */
#include "extreme_marks.h"
#include "operators/cells.cuh"

template <class BITS> DEVICE BITS bits_at(const void *data, ptrdiff_t element) {
    const unsigned char *const bytes = static_cast<const unsigned char *>(data) + element * ptrdiff_t(sizeof(BITS));
    return reinterpret_cast<uintptr_t>(bytes) % sizeof(BITS) == 0 ? load_vector(reinterpret_cast<const BITS *>(bytes))
                                                                  : static_cast<BITS>(load_bytes(bytes, sizeof(BITS)));
}

DEVICE void put_mark(void *data, ptrdiff_t element, int64_t mark) {
    unsigned char *const bytes = static_cast<unsigned char *>(data) + element * ptrdiff_t(sizeof mark);
    store_any(bytes, reinterpret_cast<uintptr_t>(bytes) % sizeof mark != 0, mark);
}

constexpr unsigned MARK_THREADS = 256, MARK_BLOCKS = 1 << 14;
template <class BITS> KERNEL LAUNCH_BOUNDS(MARK_THREADS, 1) mark_extremes_kernel(extreme_marks to, extreme_rule rule) {
    const size_t cells = to.rows * to.columns, all = cells * to.ranges.count;
    const BITS magnitude = static_cast<BITS>(rule.magnitude), infinity = static_cast<BITS>(rule.infinity);
    KEEP_LOOP
    for (size_t number = static_cast<size_t>(block_index()) * MARK_THREADS + thread_index(); number < all;
         number += static_cast<size_t>(block_count()) * MARK_THREADS) {
        const size_t table = number / cells, cell = number - table * cells, row = cell / to.columns;
        const ptrdiff_t column = static_cast<ptrdiff_t>(cell - row * to.columns), i = static_cast<ptrdiff_t>(row);
        const ptrdiff_t from = static_cast<ptrdiff_t>(table) * to.ranges.in + column;
        const ptrdiff_t at = static_cast<ptrdiff_t>(table) * to.ranges.out + column;
        const BITS value = bits_at<BITS>(to.values, from + i * to.values_stride);
        const BITS extreme = bits_at<BITS>(to.extremes, at + i * to.extremes_stride);
        const bool are_nan =
            static_cast<BITS>(value & magnitude) > infinity && static_cast<BITS>(extreme & magnitude) > infinity;
        const bool are_true = rule.is_truth && value != 0 && extreme != 0;
        put_mark(to.marks, at + i * to.marks_stride,
                 value == extreme || are_nan || are_true ? static_cast<int64_t>(to.first_row + row) : int64_t(-1));
    }
}

int kernel_mark_extremes(const struct extreme_marks *marks, void *stream) {
    const size_t cells = marks->rows * marks->columns * marks->ranges.count;
    const unsigned blocks = grid_for(cells, MARK_THREADS, MARK_BLOCKS);
    const extreme_rule rule = extreme_rule_of(marks->type);
    if (cells == 0)
        return 0;
    return with_word(type_bytes(marks->type), [&](auto bits) {
        return launch(mark_extremes_kernel<decltype(bits)>, blocks, MARK_THREADS, 0, stream, *marks, rule);
    });
}
