/* Every call of the CUDA runtime that the library makes fails once: the library must give back all that it took, and
 * say so unless the call was one that only gives back or looks. */
#include <cstdio>
#include <cstring>
#include <vector>

#include <tuplescan/tuplescan.h>

extern "C" {
#include "../../src/cuda/fused.h"
}
#include "cuda_runtime.h"
#include "double.h"

static int passed = 0, failed = 0;

static void check(bool right, const char *what, unsigned call) {
    right ? passed++ : failed++;
    if (!right)
        fprintf(stderr, "%s, call %u: not as it should be: %s\n", what, call, table_error_detail());
}

struct form {
    const char *name;
    bool on_device, timed;
    table_strategy strategy;
    cuda_fused_form fused = CUDA_FUSED_BEST;
};

static table_status scan(const form &how, void *data, size_t rows) {
    const table_view view = {data, rows, 3, 0, TABLE_U32};
    table_report report = {};
    uint32_t carry[3] = {1, 2, 3};
    uint64_t overflow = 0;
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = how.strategy;
    options.carry_in = options.carry_out = carry;
    options.first_overflow = &overflow;
    options.report = how.timed ? &report : nullptr;
    return table_prefix_sum(&view, &view, &options);
}

static void check_form(const form &how) {
    const size_t rows = 9000, bytes = rows * 3 * 4;
    std::vector<uint32_t> values(rows * 3, 7);
    cuda_forced_form = how.fused;
    scan(how, values.data(), rows); /* what is kept for the life of the process is there then */
    for (unsigned call = 1;; call++) {
        void *data = values.data();
        double_clear();
        if (how.on_device) {
            cudaMalloc(&data, bytes);
            cudaMemset(data, 0, bytes);
        }
        const size_t objects = double_objects();
        const uint64_t before = double_calls();
        double_fail_call(call, cudaErrorMemoryAllocation);
        const table_status status = scan(how, data, rows);
        const bool reached = double_calls() - before >= call;
        double_fail_call(0, 0);
        const size_t left = double_objects();
        check(left == objects, how.name, call);
        check(status == TABLE_OK || (table_error_detail()[0] && strlen(table_status_name(status)) > 0), how.name, call);
        check(!double_report()[0], how.name, call);
        double_clear();
        if (how.on_device)
            cudaFree(data);
        if (!reached) {
            check(status == TABLE_OK, how.name, call);
            printf("%s: %u calls\n", how.name, call - 1);
            return;
        }
    }
}

static void check_no_device() {
    const form how = {"no device", false, false, TABLE_STRATEGY_AUTO};
    uint32_t row[3] = {};
    double_devices(0);
    check(scan(how, row, 1) == TABLE_ERROR_BACKEND, how.name, 0);
    check(table_cuda_unavailable() != nullptr, how.name, 0);
    double_devices(1);
    check(scan(how, row, 1) == TABLE_OK, how.name, 0);
}

static void check_no_memory() {
    const form how = {"no device memory", false, false, TABLE_STRATEGY_AUTO};
    std::vector<uint32_t> values(30000);
    const size_t objects = double_objects();
    double_memory_limit(64);
    check(scan(how, values.data(), 10000) == TABLE_ERROR_DEVICE_MEMORY, how.name, 0);
    double_memory_limit(SIZE_MAX);
    check(double_objects() == objects, how.name, 0);
}

int main() {
    check_form({"device, host", true, true, TABLE_STRATEGY_HOST});
    check_form({"device, recursive", true, false, TABLE_STRATEGY_RECURSIVE});
    check_form({"device, fused, a small table", true, true, TABLE_STRATEGY_FUSED, CUDA_FUSED_SMALL});
    check_form({"device, fused", true, true, TABLE_STRATEGY_FUSED, CUDA_FUSED_PARKED});
    check_form({"device, fused, looking back", true, true, TABLE_STRATEGY_FUSED, CUDA_FUSED_LOOKBACK});
    check_form({"host, recursive", false, true, TABLE_STRATEGY_RECURSIVE});
    check_no_device();
    check_no_memory();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
