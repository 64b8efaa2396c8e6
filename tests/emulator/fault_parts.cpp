#include "fault_parts.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <tuplescan/tuplescan.h>

extern "C" {
#include "../../src/cuda/fused.h"
}
#include "choose/problem.h"
#include "emulator.h"
#include "examples.cuh"
#include "fault_memory.h"
#include "fault_operators.h"
#include "fiber.h"
#include "kernels.h"
#include "support/forms.h"

struct pair {
    table_type in, out;
};

/* One table by the emulator and by the CPU backend: all bits alike. */
static bool table_is_right(pair types, size_t rows, size_t columns, bool exclusive, table_strategy strategy,
                           bool in_place = false, uint32_t first = 0) {
    const size_t in_bytes = rows * columns * table_type_size(types.in);
    const size_t bytes = rows * columns * table_type_size(types.out);
    std::vector<uint32_t> values = numbers(in_bytes / 4 + 1, first), expected(bytes / 4), got(bytes / 4, 0xabababab);
    if (types.in == TABLE_F32)
        for (uint32_t &value : values) {
            const float number = static_cast<float>(static_cast<int32_t>(value)) * 1e-3f;
            memcpy(&value, &number, sizeof value);
        }
    const bool floats = types.out == TABLE_F32 || types.out == TABLE_F64;
    const memory in(values.size() * 4, values.data()), out(bytes, got.data());
    uint64_t overflow = 0, overflow_expected = 0;
    table_scan_options options = {};
    options.exclusive = exclusive;
    options.first_overflow = floats ? nullptr : &overflow_expected;
    table_view from = {values.data(), rows, columns, 0, types.in}, to = {expected.data(), rows, columns, 0, types.out};
    options.backend = TABLE_BACKEND_CPU;
    if (table_prefix_sum(&from, &to, &options) != TABLE_OK)
        abort();
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = strategy;
    options.first_overflow = floats ? nullptr : &overflow;
    from.data = in.data;
    to.data = in_place ? in.data : out.data;
    return table_prefix_sum(&from, &to, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), to.data, bytes, cudaMemcpyDeviceToHost) == cudaSuccess && got == expected &&
           overflow == overflow_expected;
}

static const pair SAME[] = {{TABLE_U32, TABLE_U32}, {TABLE_F32, TABLE_F32}, {TABLE_I64, TABLE_I64}};
static const pair BYTES = {TABLE_U8, TABLE_U32}, AS_FLOATS = {TABLE_U8, TABLE_F32};

static bool stages_are_right(table_strategy strategy, size_t exclusive_columns) {
    for (const pair &types : SAME)
        for (const size_t columns : {1, 3, 40})
            if (!table_is_right(types, 3 * kernel_chunk_rows(types.out, columns) + 77, columns,
                                columns == exclusive_columns, strategy))
                return false;
    return true;
}
static bool host_is_right() { return stages_are_right(TABLE_STRATEGY_HOST, 3); }
static bool recursive_is_right() { return stages_are_right(TABLE_STRATEGY_RECURSIVE, 40); }

/* Floats that go on: two pieces on the device, the second of which begins inside a unit. */
static bool piece_is_right(table_strategy strategy, size_t rows, size_t first, size_t columns, bool exclusive) {
    const size_t all = rows * columns;
    std::vector<float> values(all), expected(all), got(all);
    for (size_t at = 0; at < all; at++)
        values[at] = static_cast<float>(at * 2654435761u % 1000003) * 1e-3f;
    table_view from = {values.data(), rows, columns, 0, TABLE_F32}, to = {expected.data(), rows, columns, 0, TABLE_F32};
    table_scan_options options = {};
    size_t bytes = 0;
    options.exclusive = exclusive;
    options.backend = TABLE_BACKEND_CPU;
    if (table_prefix_sum(&from, &to, &options) != TABLE_OK || table_state_bytes(TABLE_F32, columns, &bytes) != TABLE_OK)
        abort();
    const memory in(all * sizeof(float), values.data()), out(all * sizeof(float)), state(bytes);
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = strategy;
    options.state = state.data;
    for (const size_t begin : {size_t(0), first}) {
        from.data = in.as<float>() + begin * columns;
        to.data = out.as<float>() + begin * columns;
        from.rows = to.rows = begin == 0 ? first : rows - first;
        if (table_prefix_sum(&from, &to, &options) != TABLE_OK)
            return false;
    }
    return cudaMemcpy(got.data(), out.data, all * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess &&
           got == expected;
}
static bool pieces_are_right(table_strategy strategy) {
    return piece_is_right(strategy, 1700, 700, 1, true) && piece_is_right(strategy, 1700, 700, 9, false) &&
           piece_is_right(strategy, 70000, 33333, 1, false);
}
static bool pieces_in_stages_are_right() { return pieces_are_right(TABLE_STRATEGY_RECURSIVE); }
static bool fused_pieces_are_right() { return pieces_are_right(TABLE_STRATEGY_FUSED); }

static bool form_is_right(const char *form, pair types, size_t rows, size_t columns, bool in_place) {
    const bool exclusive = columns % 2 == 1;
    bool right = true;
    cuda_forced_algorithm = form;
    for (const uint32_t first : {99, 0}) /* the second time the workspace holds words that look like those to come */
        right = right && table_is_right(types, rows, columns, exclusive, TABLE_STRATEGY_FUSED, in_place, first);
    cuda_forced_algorithm = FORM_BEST;
    return right;
}

/* Such tables for each form that it takes on the device that is played: several chunks of rows, several ways to do
 * stage 2, which the number of processors decides on. */
struct form_case {
    const char *form;
    unsigned processors;
    pair types;
    size_t columns, chunks, rows; /* so many more rows than chunks have */
    bool in_place = false;        /* then blocks of a wave cannot make each other's totals, whose words must be right */
};
static const form_case FORM_CASES[] = {
    {FORM_WAVE, 8, SAME[0], 1, 3, 77},
    {FORM_WAVE, 8, SAME[1], 3, 3, 77},
    {FORM_WAVE, 8, SAME[2], 40, 3, 77},
    {FORM_WAVE, 12, SAME[0], 32, 20, 9, true},
    {FORM_WAVE, 8, SAME[1], 3, 9, 77, true},
    {FORM_ROWS, 6, SAME[0], 33, 14, 77}, /* more tiles than blocks */
    {FORM_ROWS, 6, SAME[2], 34, 3, 77},
    {FORM_ROWS, 14, SAME[1], 100, 2, 9},
    {FORM_ROWS, 6, SAME[1], 9, 5, 600},    /* two units a tile */
    {FORM_ROWS, 6, SAME[1], 33, 9, 77},    /* two turns of stage 2 */
    {FORM_ROWS, 6, AS_FLOATS, 15, 25, 77}, /* a thread a column, more tiles than blocks */
    {FORM_ROWS, 18, SAME[0], 263, 1, 300}, /* in pieces */
    {FORM_ROWS, 8, BYTES, 64, 3, 77},
    {FORM_ROWS, 18, BYTES, 136, 1, 300},
    {FORM_BYTES, 4, BYTES, 5, 12, 77},
    {FORM_BYTES, 6, BYTES, 4, 12, 9},
    {FORM_BYTES, 16, BYTES, 20, 12, 77},
    {FORM_BUFFERED, 4, SAME[0], 1, 3, 77},
    {FORM_BUFFERED, 4, SAME[1], 3, 3, 77},
    {FORM_BUFFERED, 4, SAME[2], 40, 3, 77},
    {FORM_BUFFERED, 28, SAME[0], 100, 1, 99},
    {FORM_BUFFERED, 16, SAME[0], 600, 1, 99}, /* stage 2 of many columns a block */
    {FORM_BUFFERED, 4, BYTES, 12, 9, 77},
    {FORM_BUFFERED, 28, BYTES, 60, 2, 77},
    {FORM_NO_BULK, 4, SAME[0], 1, 3, 77},
    {FORM_NO_BULK, 4, SAME[1], 3, 3, 77},
    {FORM_NO_BULK, 4, SAME[2], 40, 3, 77},
    {FORM_NO_BULK, 4, BYTES, 12, 9, 77},
};

static bool form_is_right_everywhere(const char *form) {
    bool right = true;
    for (const form_case &what : FORM_CASES)
        if (right && strcmp(what.form, form) == 0) {
            emulator_device(what.processors, 9);
            right = form_is_right(form, what.types,
                                  what.chunks * kernel_chunk_rows(what.types.out, what.columns) + what.rows,
                                  what.columns, what.in_place);
        }
    emulator_device(4, 9);
    return right;
}

static bool alone_is_right() {
    for (const pair &types : SAME)
        for (const size_t columns : {1, 3, 40})
            if (!form_is_right(FORM_ALONE, types, kernel_chunk_rows(types.out, columns) / 4 - 7, columns, false))
                return false;
    return true;
}
static bool wave_is_right() { return form_is_right_everywhere(FORM_WAVE); }
static bool rows_are_right() { return form_is_right_everywhere(FORM_ROWS); }
static bool bytes_are_right() { return form_is_right_everywhere(FORM_BYTES); }
static bool buffered_is_right() { return form_is_right_everywhere(FORM_BUFFERED); }
static bool no_bulk_is_right() { return form_is_right_everywhere(FORM_NO_BULK); }

/* Stage 2 of more chunks than its kernel takes at once. */
static bool fold_is_right() {
    const size_t rows = 9001, columns = 2;
    std::vector<float> expected(rows * columns), got(rows * columns);
    for (size_t index = 0; index < expected.size(); index++)
        expected[index] = 1e-3f * static_cast<float>(index * 2654435761u >> 12 & 0xffff);
    const memory seeds(expected.size() * 4, expected.data());
    table_view view = {expected.data(), rows, columns, 0, TABLE_F32};
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CPU;
    options.strategy = TABLE_STRATEGY_HOST;
    if (table_stage2_scan_totals(&view, &options) != TABLE_OK)
        abort();
    view.data = seeds.data;
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = TABLE_STRATEGY_RECURSIVE;
    return table_stage2_scan_totals(&view, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), seeds.data, got.size() * 4, cudaMemcpyDeviceToHost) == cudaSuccess && got == expected;
}

/* Keys with values by the emulator and by the CPU backend. */
static bool sort_is_right(size_t count, size_t value_bytes) {
    std::vector<uint32_t> keys = numbers(count), values = numbers(count * value_bytes / 4 + 1);
    for (uint32_t &key : keys)
        key %= 70000; /* three passes see some, the last one none */
    const memory device_keys(count * 4, keys.data()), device_values(values.size() * 4, values.data());
    std::vector<uint32_t> got(count), got_values(values.size());
    table_view view = {keys.data(), count, 1, 0, TABLE_U32};
    table_sort_options options = {};
    options.run.backend = TABLE_BACKEND_CPU;
    if (table_radix_sort(&view, value_bytes ? values.data() : nullptr, value_bytes, &options) != TABLE_OK)
        abort();
    view.data = device_keys.data;
    options.run.backend = TABLE_BACKEND_CUDA;
    return table_radix_sort(&view, value_bytes ? device_values.data : nullptr, value_bytes, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), device_keys.data, count * 4, cudaMemcpyDeviceToHost) == cudaSuccess &&
           cudaMemcpy(got_values.data(), device_values.data, values.size() * 4, cudaMemcpyDeviceToHost) ==
               cudaSuccess &&
           got == keys && got_values == values;
}

/* More chunks than there are blocks, so that tables in shared memory are used again. */
static bool histogram_is_right(table_type type, size_t count, size_t chunk_length) {
    const size_t bins = 300, chunks = (count + chunk_length - 1) / chunk_length;
    std::vector<uint32_t> values = numbers(count), expected(bins * chunks), got(bins * chunks);
    const memory in(count * 4, values.data()), out(got.size() * 4);
    const table_bins even = {TABLE_BINS_EVEN, bins, 10, type == TABLE_U8 ? 200 : 1e8, nullptr, 0};
    table_view view = {values.data(), count, 1, 0, type}, result = {expected.data(), chunks, bins, 0, TABLE_U32};
    table_histogram_options options = {};
    options.per_chunk = 1;
    options.chunk_length = chunk_length;
    options.run.backend = TABLE_BACKEND_CPU;
    if (table_histogram(&view, &even, &result, &options) != TABLE_OK)
        abort();
    view.data = in.data;
    result.data = out.data;
    options.run.backend = TABLE_BACKEND_CUDA;
    return table_histogram(&view, &even, &result, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), out.data, got.size() * 4, cudaMemcpyDeviceToHost) == cudaSuccess && got == expected;
}

/* Several tables in one pass. Where NaNs are to be skipped, values are taken one at a time. Results begin `skew` values
 * after a line of memory. */
static bool batch_is_right(size_t tables, size_t rows, size_t columns, bool exclusive, bool skip_nan, size_t skew = 0) {
    const size_t all = tables * rows * columns;
    std::vector<float> values(all), expected(all), got(all);
    for (size_t at = 0; at < all; at++)
        values[at] = static_cast<float>(at * 2654435761u % 1000003) * 1e-3f;
    table_view from = {values.data(), rows, columns, 0, TABLE_F32}, to = {expected.data(), rows, columns, 0, TABLE_F32};
    table_scan_options options = {};
    options.exclusive = exclusive;
    options.skip_nan = skip_nan;
    options.tables = tables;
    options.in_step = options.out_step = static_cast<ptrdiff_t>(rows * columns);
    options.backend = TABLE_BACKEND_CPU;
    if (table_prefix_sum(&from, &to, &options) != TABLE_OK)
        abort();
    const memory in(all * sizeof(float), values.data()), out((all + skew) * sizeof(float));
    options.backend = TABLE_BACKEND_CUDA;
    from.data = in.data;
    to.data = static_cast<float *>(out.data) + skew;
    return table_prefix_sum(&from, &to, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), to.data, all * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess &&
           got == expected;
}
static bool batches_are_right() {
    return batch_is_right(40, 1100, 1, true, true) && batch_is_right(30, 600, 3, false, true) &&
           batch_is_right(300, 20, 2, true, true) && batch_is_right(300, 20, 2, true, false) &&
           batch_is_right(3, 9000, 1, true, false) && batch_is_right(9, 1100, 3, false, false) &&
           batch_is_right(4, 700, 64, true, false) && batch_is_right(3, 1100, 20, false, false) &&
           batch_is_right(3, 30000, 1, false, false) && batch_is_right(5, 6300, 4, false, false) &&
           batch_is_right(3, 30000, 1, false, false, 1) && batch_is_right(3, 3000, 16, false, false);
}

static bool sorts_are_right() { return sort_is_right(30000, 4) && sort_is_right(10000, 0); }
static bool histograms_are_right() {
    return histogram_is_right(TABLE_U32, 4000, 60) && histogram_is_right(TABLE_U8, 6000, 20);
}

static bool examples_are_right() {
    const unsigned tiles = 30, count = tiles * EXAMPLE_THREADS - 3, stages = 17;
    const std::vector<uint32_t> values = numbers(stages * STAGE_WORDS);
    const memory in(values.size() * 4, values.data()), out(values.size() * 4), ticket(4);
    const memory states(tiles * sizeof(tile_state)), copied(values.size() * 4);
    std::vector<uint32_t> got(values.size());
    launch(lookback_kernel, tiles, EXAMPLE_THREADS, 0, nullptr, in.as<uint32_t>(), out.as<uint32_t>(), count,
           ticket.as<uint32_t>(), states.as<tile_state>());
    launch(pipeline_kernel, 2, 64, STAGES * STAGE_BYTES, nullptr, in.as<uint32_t>(), copied.as<uint32_t>(), stages);
    if (cudaMemcpy(got.data(), out.data, count * 4, cudaMemcpyDeviceToHost) != cudaSuccess)
        return false;
    uint32_t sum = 0;
    for (unsigned index = 0; index < count; index++)
        if (got[index] != (sum += values[index]))
            return false;
    if (cudaMemcpy(got.data(), copied.data, got.size() * 4, cudaMemcpyDeviceToHost) != cudaSuccess)
        return false;
    for (size_t index = 0; index < got.size(); index++)
        if (got[index] != values[index] + 1)
            return false;
    return true;
}

/* Parts that run with each fault: under a sanitizer a process is dear, and the tables' own tests cover the kernels. The
 * examples, and to AddressSanitizer a table, are enough to see what it notices. */
static bool small_table_is_right() { return table_is_right(SAME[0], 777, 40, false, TABLE_STRATEGY_HOST); }

struct part {
    const char *name;
    bool (*is_right)();
    bool included;
};
static const part PARTS[] = {
    {"examples", examples_are_right, true},
    {"a small table", small_table_is_right, !EMULATOR_TSAN},
    {"host", host_is_right, !EMULATOR_SANITIZED},
    {"recursive", recursive_is_right, !EMULATOR_SANITIZED},
    {"alone", alone_is_right, !EMULATOR_SANITIZED},
    {"wave", wave_is_right, !EMULATOR_SANITIZED},
    {"rows", rows_are_right, !EMULATOR_SANITIZED},
    {"bytes", bytes_are_right, !EMULATOR_SANITIZED},
    {"buffered", buffered_is_right, !EMULATOR_SANITIZED},
    {"no_bulk", no_bulk_is_right, !EMULATOR_SANITIZED},
    {"fold", fold_is_right, !EMULATOR_SANITIZED},
    {"pieces", pieces_in_stages_are_right, !EMULATOR_SANITIZED},
    {"fused pieces", fused_pieces_are_right, !EMULATOR_SANITIZED},
    {"batches", batches_are_right, !EMULATOR_SANITIZED},
    {"recurrences", recurrences_in_stages_are_right, !EMULATOR_SANITIZED},
    {"fused recurrences", fused_recurrences_are_right, !EMULATOR_SANITIZED},
    {"segments", all_segments_are_right, !EMULATOR_SANITIZED},
    {"sorts", sorts_are_right, !EMULATOR_SANITIZED},
    {"histograms", histograms_are_right, !EMULATOR_SANITIZED},
};
const size_t FAULT_PARTS = sizeof PARTS / sizeof *PARTS;
const char *fault_part_name(size_t index) { return PARTS[index].name; }

bool fault_parts_are_right(uint32_t parts) {
    for (size_t index = 0; index < FAULT_PARTS; index++)
        if ((parts >> index & 1) && PARTS[index].included && (!PARTS[index].is_right() || emulator_report()[0]))
            return false;
    return true;
}
