/* The proof that the emulator's tests can fail. Small tables go through the real kernels, and the examples run, each
 * time with one deliberate fault; some seed must notice it: by a result that differs, by a misuse, or by a sanitizer.
 * The runs are processes of their own, for a sanitizer ends them. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <tuplescan/tuplescan.h>

extern "C" {
#include "../../src/cuda/fused.h"
}
#include "emulator.h"
#include "examples.cuh"
#include "fiber.h"
#include "support/forms.h"

constexpr uint64_t MOST_SEEDS = 48, SEEDS_WITHOUT_FAULT = EMULATOR_SANITIZED ? 3 : 12;

struct memory { /* of the device */
    void *data = nullptr;
    memory(size_t bytes, const void *from = nullptr) {
        if (cudaMalloc(&data, bytes) == cudaSuccess && from)
            cudaMemcpy(data, from, bytes, cudaMemcpyHostToDevice);
        else
            cudaMemset(data, 0, bytes);
    }
    memory(const memory &) = delete;
    ~memory() { cudaFree(data); }
    template <class T> T *as() const { return static_cast<T *>(data); }
};

static std::vector<uint32_t> numbers(size_t count) {
    std::vector<uint32_t> all(count);
    for (size_t index = 0; index < count; index++)
        all[index] = static_cast<uint32_t>(index) * 2654435761u >> 5;
    return all;
}

/* One table by the emulator and by the CPU backend: all bits alike. */
static bool table_is_right(table_type type, size_t rows, size_t columns, bool exclusive, table_strategy strategy) {
    const size_t bytes = rows * columns * table_type_size(type);
    std::vector<uint32_t> values = numbers(bytes / 4), expected(bytes / 4), got(bytes / 4, 0xabababab);
    if (type == TABLE_F32)
        for (uint32_t &value : values) {
            const float number = static_cast<float>(static_cast<int32_t>(value)) * 1e-3f;
            memcpy(&value, &number, sizeof value);
        }
    const memory in(bytes, values.data()), out(bytes, got.data());
    uint64_t overflow = 0, overflow_expected = 0;
    table_scan_options options = {};
    options.exclusive = exclusive;
    options.first_overflow = type == TABLE_F32 ? nullptr : &overflow_expected;
    table_view from = {values.data(), rows, columns, 0, type}, to = {expected.data(), rows, columns, 0, type};
    options.backend = TABLE_BACKEND_CPU;
    if (table_prefix_sum(&from, &to, &options) != TABLE_OK)
        abort();
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = strategy;
    options.first_overflow = type == TABLE_F32 ? nullptr : &overflow;
    from.data = in.data;
    to.data = out.data;
    return table_prefix_sum(&from, &to, &options) == TABLE_OK &&
           cudaMemcpy(got.data(), out.data, bytes, cudaMemcpyDeviceToHost) == cudaSuccess && got == expected &&
           overflow == overflow_expected;
}

static bool fused_is_right(table_type type, size_t rows, size_t columns) {
    bool right = true;
    for (const char *const form : {FORM_ALONE, FORM_WAVE, FORM_ROWS, FORM_BYTES, FORM_PARKED, FORM_GENERAL}) {
        const size_t count = is_form(form, FORM_ALONE) ? table_chunk_rows(type, columns) / 4 - 7 : rows;
        cuda_forced_form = form;
        right = right && table_is_right(type, count, columns, columns == 1, TABLE_STRATEGY_FUSED);
    }
    return right;
}

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

static bool tables_are_right() {
    const table_type types[] = {TABLE_U32, TABLE_F32, TABLE_I64};
    for (const table_type type : types)
        for (const size_t columns : {1, 3, 40}) {
            const size_t rows = 3 * table_chunk_rows(type, columns) + 77;
            if (!table_is_right(type, rows, columns, columns == 3, TABLE_STRATEGY_HOST) ||
                !table_is_right(type, rows, columns, columns == 40, TABLE_STRATEGY_RECURSIVE) ||
                !fused_is_right(type, rows, columns))
                return false;
        }
    return true;
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

static bool keys_are_right() {
    return sort_is_right(30000, 4) && sort_is_right(10000, 0) && histogram_is_right(TABLE_U32, 4000, 60) &&
           histogram_is_right(TABLE_U8, 6000, 20);
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

/* Under a sanitizer a process is dear, and the tables' own tests cover the kernels: the examples, and to
 * AddressSanitizer a table, are enough to see what it notices. */
static bool all_is_right() {
    if (!examples_are_right())
        return false;
    if (EMULATOR_ASAN && !table_is_right(TABLE_U32, 777, 40, false, TABLE_STRATEGY_HOST))
        return false;
    return (EMULATOR_SANITIZED || (tables_are_right() && fold_is_right() && keys_are_right())) && !emulator_report()[0];
}

/* In a process of its own: whether the fault was noticed with that seed. */
static bool notices(const char *self, emulator_fault fault, int which, uint64_t seed) {
    const std::string arguments[] = {std::to_string(fault), std::to_string(which), std::to_string(seed)};
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) /* what a sanitizer has to say is expected */
            _exit(0);
        execl(self, self, arguments[0].c_str(), arguments[1].c_str(), arguments[2].c_str(), nullptr);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int caught = 0, missed = 0;

static void expect_caught(const char *self, const char *name, emulator_fault fault, int which) {
    for (uint64_t seed = 1; seed <= MOST_SEEDS; seed++)
        if (notices(self, fault, which, seed)) {
            printf("%s: caught by seed %llu\n", name, static_cast<unsigned long long>(seed));
            caught++;
            return;
        }
    printf("%s: NOT CAUGHT by %llu seeds\n", name, static_cast<unsigned long long>(MOST_SEEDS));
    missed++;
}

int main(int argc, char **argv) {
    if (argc == 4) {
        emulator_quiet(getenv("TUPLESCAN_EMULATOR_LOUD") == nullptr);
        emulator_seed(strtoull(argv[3], nullptr, 0));
        emulator_set_fault(static_cast<emulator_fault>(atoi(argv[1])), atoi(argv[2]));
        return all_is_right() ? 0 : 1;
    }
    setvbuf(stdout, nullptr, _IOLBF, 0);
    emulator_seed(1);
    if (!all_is_right()) {
        printf("wrong without a fault: %s\n", emulator_report());
        return 1;
    }
    for (uint64_t seed = 1; seed <= SEEDS_WITHOUT_FAULT; seed++)
        if (notices(argv[0], EMULATOR_FAULT_NONE, 0, seed)) {
            printf("seed %llu notices a fault where there is none\n", static_cast<unsigned long long>(seed));
            missed++;
        }
    const int barriers = emulator_barriers();
    for (int which = 0; which < barriers; which++)
        expect_caught(argv[0], (std::string("barrier at ") + emulator_barrier_place(which)).c_str(),
                      EMULATOR_FAULT_BARRIER, which);
    expect_caught(argv[0], "store_release relaxed", EMULATOR_FAULT_RELAXED_RELEASE, 0);
    if (EMULATOR_TSAN)
        expect_caught(argv[0], "load_acquire relaxed", EMULATOR_FAULT_RELAXED_ACQUIRE, 0);
    expect_caught(argv[0], "shuffle masks without lane 31", EMULATOR_FAULT_MASK, 31);
    if (!EMULATOR_TSAN) {
        expect_caught(argv[0], "tail one row short", EMULATOR_FAULT_TAIL, -1);
        expect_caught(argv[0], "tail one row long", EMULATOR_FAULT_TAIL, 1);
    }
    expect_caught(argv[0], "bulk copies not waited for", EMULATOR_FAULT_COPY_WAIT, 0);
    expect_caught(argv[0], "stage buffer used again too early", EMULATOR_FAULT_COPY_REUSE, 0);
    if (!EMULATOR_TSAN)
        expect_caught(argv[0], "bulk copies without a fence", EMULATOR_FAULT_COPY_FENCE, 0);
    printf("%d passed, %d failed, 0 skipped\n", caught, missed);
    return missed > 0;
}
