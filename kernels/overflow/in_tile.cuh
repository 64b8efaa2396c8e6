/* The check for overflow. To compare each sum with the one above it, while other tiles want the registers, costs up to
 * half of a scan's speed. Instead, the bits of a tile's values are or-ed as they are read, and together with the sums
 * above the tile they mostly show that no sum of it can leave the type. Any other tile is read once more when it is
 * stored, unless an overflow above it is known by then: where values are large, there soon is one. */
#ifndef OVERFLOW_IN_TILE_CUH
#define OVERFLOW_IN_TILE_CUH

#include "tile/scan.cuh"

/* The 32 highest bits of a sum. Magnitudes are counted in units of the lowest of these bits. */
template <class SUM> DEVICE uint32_t head_of(SUM value) {
    return static_cast<uint32_t>(value >> (8 * (sizeof value - sizeof(uint32_t))));
}

/* Whether a checked pass looks at its values. Widened values are known to be small. */
template <class SHAPE> HOST_DEVICE constexpr bool looks_at_values() {
    typedef typename SHAPE::Sum Sum;
    return is_checked<Sum>() && sizeof(typename SHAPE::Input) == sizeof(Sum);
}

/* Bits whose highest is the highest of a value's magnitude, given the value's head; one instruction where there is a
 * sign. */
DEVICE uint32_t magnitude_bits(uint32_t head, bool is_signed) {
    return is_signed && static_cast<int32_t>(head) < 0 ? 0 - head : head;
}

/* Bits whose highest is the highest of the greatest magnitude of the lane's values. */
template <class SHAPE, bool SIGNED> DEVICE uint32_t magnitude_of_lane(tile_values<SHAPE> &values) {
    uint32_t bits = 0;
    UNROLL
    for (unsigned k = 0; k < SHAPE::STEPS * SHAPE::VALUES; k++)
        bits |= magnitude_bits(head_of(value_of<SHAPE>(values, k)), SIGNED);
    return bits;
}

/* How far the sum of `rows` values of such a magnitude gets at most. Where values have fewer bytes than sums, their
 * type is what limits them. */
template <class SUM> DEVICE uint64_t reach_of(uint32_t magnitude, unsigned rows, unsigned value_bytes) {
    constexpr unsigned BELOW = 8 * (sizeof(SUM) - sizeof(uint32_t));
    const unsigned width = 8 * value_bytes, widened = width > BELOW ? width - BELOW : 0;
    return static_cast<uint64_t>(rows) << (value_bytes == sizeof(SUM) ? bit_width(magnitude) : widened);
}

/* Whether sums that get `reach` from `base`, up or down, may leave the type. Signed sums are counted from the least on.
 */
template <class SUM> DEVICE bool may_leave(SUM base, uint64_t reach, bool is_signed) {
    const uint64_t head = head_of(base) ^ (is_signed ? 0x80000000u : 0);
    return head + 1 + reach > uint64_t(1) << 32 || (is_signed && head < reach);
}

/* Whether `before` + x = `sum` left the type, all of them wrapped. Unsigned: the sum came out smaller than `before`.
 * Signed: both summands have the sign that the sum has not. */
template <class SUM> DEVICE bool sum_overflowed(SUM before, SUM sum, bool is_signed) {
    const SUM value = sum - before;
    const SUM signs = (before ^ sum) & (value ^ sum);
    return is_signed ? (signs >> (8 * sizeof(SUM) - 1)) != 0 : sum < before;
}

/* Lowers the pass's first overflow to this one, unless an earlier one is known: when most values overflow, few get as
 * far as the atomic. */
DEVICE void report_overflow(const tile_pass &pass, size_t row, size_t column) {
    const uint64_t cell = static_cast<uint64_t>(row) * pass.columns + column;
    if (cell < load_relaxed(pass.first_overflow))
        atomic_min(pass.first_overflow, cell);
}

/* A part of a table whose results are stored, as far as the table goes. */
struct stored_part {
    size_t row, column; /* where the part begins */
    unsigned rows, columns;
};
DEVICE stored_part part_of(const tile_pass &pass, size_t row, size_t column, unsigned rows, unsigned columns) {
    const size_t below = pass.rows - row, right = pass.columns - column;
    return stored_part{row, column, below < rows ? static_cast<unsigned>(below) : rows,
                       right < columns ? static_cast<unsigned>(right) : columns};
}

constexpr unsigned CHECK_ROWS = 8; /* rows that a thread reads at once */

/* A result, which another thread of the block may have stored. */
template <bool LOOSE, class SUM> DEVICE SUM load_sum(const tile_pass &pass, const SUM *from) {
    if (LOOSE && pass.out_by_bytes)
        return static_cast<SUM>(load_bytes(reinterpret_cast<const unsigned char *>(from), sizeof *from));
    return load_relaxed(from);
}

/* The sums of a column from the one above `row` on. Exclusive results stand one row lower, and the last sum of the part
 * is in none of its rows: it is base + total. */
template <class SUM, bool LOOSE> DEVICE void read_sums(const tile_pass &pass, const stored_part &part,
                                                       const SUM *results, unsigned row, SUM base, SUM total,
                                                       SUM (&sums)[CHECK_ROWS + 1]) {
    UNROLL
    for (unsigned k = 0; k <= CHECK_ROWS; k++) {
        const unsigned number = row + k + (pass.exclusive ? 1 : 0); /* of the row that the sum is in, from 1 on */
        sums[k] = number == 0 ? base : SUM(base + total);
        if (number > 0 && number <= part.rows)
            sums[k] = load_sum<LOOSE>(pass, results + (number - ptrdiff_t(1)) * pass.out_stride);
    }
}

/* Reports the first overflow of each column of the part. It is called by `threads` threads, at least one a column, and
 * `thread` is the caller's number. Nothing is read below an overflow that is known. base(c) is the sum above the part
 * in its column c, total(c) the total of its rows there. */
template <class SUM, bool LOOSE, class BASE, class TOTAL>
DEVICE void find_overflow(const tile_pass &pass, const stored_part &part, unsigned thread, unsigned threads,
                          const BASE &base, const TOTAL &total) {
    const unsigned across = 1u << bit_width(part.columns - 1), down = threads / across, c = thread % across;
    if (c >= part.columns || load_relaxed(pass.first_overflow) <= part.row * pass.columns)
        return;
    const SUM *results = static_cast<const SUM *>(pass.out) + static_cast<ptrdiff_t>(part.row) * pass.out_stride +
                         static_cast<ptrdiff_t>(part.column + c);
    const SUM above = base(c), own = total(c);
    for (unsigned row = thread / across * CHECK_ROWS; row < part.rows; row += down * CHECK_ROWS) {
        SUM sums[CHECK_ROWS + 1];
        read_sums<SUM, LOOSE>(pass, part, results, row, above, own, sums);
        UNROLL
        for (unsigned k = 0; k < CHECK_ROWS; k++)
            if (row + k < part.rows && sum_overflowed(sums[k], sums[k + 1], pass.is_signed)) {
                report_overflow(pass, part.row + row + k, part.column + c);
                return;
            }
    }
}

/* The magnitude of the values of each warp of a tile. */
typedef uint32_t tile_magnitude[BLOCK_WARPS];

/* Puts the magnitude of a warp there, if it is `wanted`. All lanes of the warp call it together. */
template <class SHAPE>
DEVICE void put_magnitude(const tile_pass &pass, bool wanted, tile_values<SHAPE> &values, tile_magnitude &magnitudes) {
    if constexpr (looks_at_values<SHAPE>())
        if (wanted) {
            uint32_t magnitude;
            if (pass.is_signed)
                magnitude = magnitude_of_lane<SHAPE, true>(values);
            else
                magnitude = magnitude_of_lane<SHAPE, false>(values);
            magnitude = warp_or(WARP_ALL, magnitude);
            if (thread_index() % WARP_LANES == 0)
                magnitudes[thread_index() / WARP_LANES] = magnitude;
        }
}

/* Checks a tile that its block has to itself. All threads call it together, each when it has stored its results.
 * base(c) is the sum above the tile in the panel's column c, prefix included, and total(c) the total of its rows there.
 * Every warp decides for itself whether the results have to be read, and all decide alike. */
template <class SHAPE, class BASE, class TOTAL> DEVICE void check_tile(const tile_pass &pass, unsigned tile,
                                                                       const tile_magnitude &magnitudes,
                                                                       const BASE &base, const TOTAL &total) {
    typedef typename SHAPE::Sum Sum;
    if constexpr (is_checked<Sum>()) {
        if (!pass.first_overflow)
            return;
        const stored_part part =
            part_of(pass, static_cast<size_t>(tile / pass.panels) * SHAPE::TILE_ROWS,
                    static_cast<size_t>(tile % pass.panels) * pass.panel_columns, SHAPE::TILE_ROWS, pass.panel_columns);
        uint32_t magnitude = 0;
        if (looks_at_values<SHAPE>())
            magnitude = warp_or(WARP_ALL, magnitudes[thread_index() % BLOCK_WARPS]);
        const uint64_t reach = reach_of<Sum>(magnitude, part.rows, sizeof(typename SHAPE::Input));
        bool may = false;
        for (unsigned c = thread_index() % WARP_LANES; c < part.columns; c += WARP_LANES)
            may |= may_leave<Sum>(base(c), reach, pass.is_signed);
        if (!warp_any(WARP_ALL, may))
            return;
        block_barrier(); /* all results are stored */
        find_overflow<Sum, SHAPE::LOOSE>(pass, part, thread_index(), BLOCK_THREADS, base, total);
    }
}

#endif
