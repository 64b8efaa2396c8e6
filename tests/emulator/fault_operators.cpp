#include "fault_operators.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <tuplescan/tuplescan.h>

#include "emulator.h"
#include "fault_memory.h"
#include "kernels.h"

extern "C" {
#include "support/recurrence.h"
}

/* A recurrence by the kernels of operators, in stages or in one pass, and by the serial reference: all bits alike. */
static bool recurrence_is_right(size_t rows, size_t columns, const char *kind, bool exclusive, bool fused,
                                float start = 0, char coefficients = 't') {
    const size_t all = rows * columns, units = (rows + KERNEL_UNIT_ROWS - 1) / KERNEL_UNIT_ROWS;
    std::vector<float> a(all), b(all), expected(all), got(all);
    recurrence_make(TABLE_F32, kind, rows, columns, 11, a.data(), b.data());
    for (size_t at = 0; at < all && coefficients != 't'; at++) /* a 'c'olumn, or one 'n'umber */
        a[at] = a[coefficients == 'c' ? at - at % columns : 0];
    recurrence asked = {};
    asked.type = TABLE_F32, asked.rows = rows, asked.columns = columns;
    const std::vector<float> starts(columns, start);
    asked.a = a.data(), asked.b = b.data(), asked.start = starts.data();
    (exclusive ? asked.exclusive : asked.inclusive) = expected.data();
    recurrence_reference(&asked);
    const memory factors(all * 4, a.data()), terms(all * 4, b.data()), carries(columns * 4, starts.data()),
        seeds((2 * units + 1) * columns * 16 + 256);
    kernel_operator_pass given = {};
    given.pass.in = given.pass.out = terms.data;
    given.pass.rows = rows, given.pass.columns = columns;
    given.pass.in_stride = given.pass.out_stride = static_cast<ptrdiff_t>(columns);
    given.pass.in_type = given.pass.out_type = given.kept = given.factors.type = TABLE_F32;
    given.pass.exclusive = exclusive;
    given.operation = KERNEL_LINEAR, given.ranges.count = 1;
    given.factors.data = factors.data;
    given.factors.stride = coefficients == 'n' ? 0 : static_cast<ptrdiff_t>(columns);
    given.factors.per_column = coefficients == 't';
    given.carry_in = carries.data;
    const bool is_queued = fused ? kernel_operator_fused(&given, seeds.data) == 0
                                 : kernel_operator_totals(&given, seeds.data) == 0 &&
                                       kernel_operator_sweep(&given, seeds.data, units + 1) == 0 &&
                                       kernel_operator_results(&given, seeds.data) == 0;
    if (!is_queued || cudaMemcpy(got.data(), terms.data, all * 4, cudaMemcpyDeviceToHost) != cudaSuccess)
        return false;
    for (size_t at = 0; at < all; at++)
        if (memcmp(&got[at], &expected[at], 4) != 0 && !(got[at] != got[at] && expected[at] != expected[at]))
            return false;
    return true;
}
static bool recurrences_are_right(bool fused) {
    return recurrence_is_right(37 * KERNEL_UNIT_ROWS + 77, 3, "near1", true, fused) &&
           recurrence_is_right(2 * KERNEL_UNIT_ROWS + 9, 17, "mixed+reset+wild", false, fused) &&
           recurrence_is_right(KERNEL_UNIT_ROWS + 9, 16, "decay+reset+zeros", false, fused);
}
/* Powers of 2 in place, whose first overflow is asked for: it is looked for in values that the results replace. */
static bool product_is_right(size_t rows, size_t columns) {
    std::vector<uint32_t> values(rows * columns, 1), expected(values.size()), got(values.size());
    for (size_t row = 0; row < rows; row += 40)
        values[row * columns + row % columns] = 2, values[row * columns] = 2;
    table_view from = {values.data(), rows, columns, 0, TABLE_U32}, to = {expected.data(), rows, columns, 0, TABLE_U32};
    uint64_t words[2] = {};
    table_scan_options options = {};
    options.operation = TABLE_PRODUCT;
    options.first_overflow = &words[0];
    options.backend = TABLE_BACKEND_CPU;
    if (table_prefix_sum(&from, &to, &options) != TABLE_OK)
        abort();
    const memory device(values.size() * 4, values.data()), word(sizeof *words);
    from.data = to.data = device.data;
    options.first_overflow = word.as<uint64_t>();
    options.backend = TABLE_BACKEND_CUDA;
    return table_prefix_sum(&from, &to, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), device.data, got.size() * 4, cudaMemcpyDeviceToHost) == cudaSuccess &&
           cudaMemcpy(&words[1], word.data, sizeof *words, cudaMemcpyDeviceToHost) == cudaSuccess &&
           words[0] == words[1] && got == expected;
}
bool recurrences_in_stages_are_right() { return recurrences_are_right(false) && product_is_right(1500, 17); }
bool fused_recurrences_are_right() {
    return recurrences_are_right(true) &&
           recurrence_is_right(70 * KERNEL_UNIT_ROWS + 77, 17, "near1+reset", true, true) &&
           recurrence_is_right(70 * KERNEL_UNIT_ROWS, 7, "mixed+reset", false, true, 0, 'c') &&
           recurrence_is_right(20 * KERNEL_UNIT_ROWS + 77, 17, "near1", false, true, 0, 'n') &&
           recurrence_is_right(2 * KERNEL_UNIT_ROWS, 17, "near1", false, true, HUGE_VALF);
}

/* Short segments, and now and then a longer one. */
static bool segments_are_right(size_t count, size_t columns, bool exclusive, int64_t longer = 1700) {
    std::vector<int64_t> lengths(count);
    size_t rows = 0;
    for (size_t k = 0; k < count; k++)
        rows += static_cast<size_t>(lengths[k] = k % 97 == 5 ? longer : static_cast<int64_t>(k * 2654435761u >> 7 & 3));
    std::vector<float> values(rows * columns), expected(values.size()), got(values.size());
    for (size_t at = 0; at < values.size(); at++)
        values[at] = static_cast<float>(at * 2654435761u % 1000003) * 1e-3f;
    table_view from = {values.data(), rows, columns, 0, TABLE_F32}, to = {expected.data(), rows, columns, 0, TABLE_F32};
    table_segments segments = {};
    segments.kind = TABLE_SEGMENT_LENGTHS, segments.type = TABLE_I64;
    segments.data = lengths.data(), segments.count = count;
    table_scan_options options = {};
    options.exclusive = exclusive;
    options.backend = TABLE_BACKEND_CPU;
    if (table_segmented_prefix_sum(&from, &to, &segments, &options) != TABLE_OK)
        abort();
    const memory in(values.size() * 4, values.data()), out(values.size() * 4), where(count * 8, lengths.data());
    from.data = in.data, to.data = out.data, segments.data = where.data;
    options.backend = TABLE_BACKEND_CUDA;
    return table_segmented_prefix_sum(&from, &to, &segments, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), out.data, got.size() * 4, cudaMemcpyDeviceToHost) == cudaSuccess && got == expected;
}
bool all_segments_are_right() {
    return segments_are_right(5000, 1, false) && segments_are_right(5000, 3, false) &&
           segments_are_right(5000, 4, false) && segments_are_right(1500, 8, true) &&
           segments_are_right(3000, 4, false, 3) && segments_are_right(200, 2, true) &&
           segments_are_right(1500, 7, true) && segments_are_right(3000, 2, false, 3) &&
           segments_are_right(8, 2, true, 70 * KERNEL_UNIT_ROWS) &&
           segments_are_right(8, 1, true, 70 * KERNEL_UNIT_ROWS);
}
