/* The fused pass of operators beside their separate stages, all bits alike: two kinds of kernels that share the tile,
 * and not how tiles learn what they begin with. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda_runtime.h"
#include "emulator.h"
#include "kernels.h"
#include "values.h"

extern "C" {
#include "support/recurrence.h"
}

namespace {

enum {
    EXCLUSIVE = 1,
    REVERSED = 2,
    SHIFTED = 4,
    IN_PLACE = 8,
    CARRIES = 16,
    PADDED = 32,
    SKIPS_NAN = 64,
    BF16 = 128,
    SHARED = 256
};

struct plan {
    const char *why;
    kernel_operation operation;
    table_type kept;
    size_t tables, rows, columns;
    char factors; /* 't'able, 'r'ow, 'c'olumn, 'n'umber */
    const char *kind;
    int flags;
};
const plan plans[] = {
    {"one tile", KERNEL_LINEAR, TABLE_F32, 1, 5, 3, 't', "mixed+reset", CARRIES},
    {"tiles below each other", KERNEL_LINEAR, TABLE_F32, 1, 512 * 13 + 7, 20, 't', "near1", EXCLUSIVE | CARRIES},
    {"panels, in place", KERNEL_LINEAR, TABLE_F32, 1, 512 * 6, 36, 't', "mixed+reset", IN_PLACE},
    {"many units of a column", KERNEL_LINEAR, TABLE_F32, 1, 512 * 70 + 1, 1, 't', "decay", EXCLUSIVE | REVERSED},
    {"a column, from the end", KERNEL_LINEAR, TABLE_F32, 2, 512 * 36, 1, 't', "mixed+reset", REVERSED | CARRIES},
    {"a column that ends anywhere", KERNEL_LINEAR, TABLE_F64, 1, 512 * 36 + 101, 1, 't', "near1", CARRIES},
    {"two columns", KERNEL_LINEAR, TABLE_F32, 1, 512 * 21 + 3, 2, 't', "mixed+reset", IN_PLACE},
    {"two columns from the end", KERNEL_PRODUCT, TABLE_F32, 1, 512 * 21 + 3, 2, 't', "near1", REVERSED},
    {"units of few columns", KERNEL_LINEAR, TABLE_F32, 3, 512 * 37, 4, 't', "mixed+reset", SHIFTED | CARRIES},
    {"values that are not finite", KERNEL_LINEAR, TABLE_F32, 2, 512 * 5 + 3, 8, 't', "mixed+wild", EXCLUSIVE | CARRIES},
    {"values that are not finite, f64", KERNEL_LINEAR, TABLE_F64, 1, 512 * 9, 5, 't', "mixed+wild", IN_PLACE},
    {"f64, more than a tile across", KERNEL_LINEAR, TABLE_F64, 2, 512 * 4 + 100, 11, 't', "mixed+reset",
     EXCLUSIVE | PADDED | CARRIES},
    {"a row of factors", KERNEL_LINEAR, TABLE_F32, 2, 512 * 4, 20, 'r', "near1", CARRIES},
    {"a row of factors, tiles that end below", KERNEL_LINEAR, TABLE_F32, 1, 512 * 4 + 9, 20, 'r', "near1", CARRIES},
    {"a column of factors", KERNEL_LINEAR, TABLE_F32, 1, 512 * 5 + 9, 17, 'c', "mixed+reset", REVERSED | SHIFTED},
    {"a number", KERNEL_LINEAR, TABLE_F32, 1, 512 * 8, 2, 'n', "near1", 0},
    {"a number, tiles that end below", KERNEL_LINEAR, TABLE_F32, 1, 512 * 8 + 100, 2, 'n', "near1", CARRIES},
    {"a number for each table", KERNEL_LINEAR, TABLE_F32, 3, 512 * 9 + 100, 20, 'n', "mixed+reset", CARRIES},
    {"a number for all tables", KERNEL_LINEAR, TABLE_F32, 2, 512 * 20 + 100, 20, 'n', "near1", SHARED | EXCLUSIVE},
    {"a number for units of few columns, f64", KERNEL_LINEAR, TABLE_F64, 4, 512 * 70, 3, 'n', "decay",
     SHARED | REVERSED},
    {"a number that is not finite", KERNEL_LINEAR, TABLE_F32, 3, 512 * 9, 16, 'n', "mixed+wild", 0},
    {"bf16", KERNEL_LINEAR, TABLE_F32, 1, 512 * 6 + 9, 40, 't', "mixed+reset", BF16},
    {"bf16 that is not finite, from the end", KERNEL_LINEAR, TABLE_F32, 2, 512 * 3, 16, 't', "mixed+wild",
     BF16 | REVERSED | SHIFTED},
    {"bf16 in place", KERNEL_LINEAR, TABLE_F32, 1, 512 * 5, 8, 't', "near1", BF16 | IN_PLACE},
    {"bf16 with carries", KERNEL_LINEAR, TABLE_F32, 1, 512 * 5, 24, 't', "near1", BF16 | CARRIES | EXCLUSIVE},
    {"products", KERNEL_PRODUCT, TABLE_F32, 1, 512 * 7 + 50, 10, 't', "near1", EXCLUSIVE | IN_PLACE | CARRIES},
    {"products with zeros", KERNEL_PRODUCT, TABLE_F64, 2, 512 * 3, 3, 't', "near1+wild", CARRIES},
    {"products, NaN skipped", KERNEL_PRODUCT, TABLE_F32, 1, 512 * 3, 16, 't', "near1+wild", SKIPS_NAN},
    {"maxima", KERNEL_MAXIMUM, TABLE_F32, 1, 512 * 7 + 50, 19, 't', "decay+wild", EXCLUSIVE | CARRIES},
    {"minima", KERNEL_MINIMUM, TABLE_F64, 3, 512 * 40 + 50, 1, 't', "decay", IN_PLACE | REVERSED},
    {"products that wrap", KERNEL_PRODUCT, TABLE_U32, 1, 512 * 9 + 50, 16, 't', "decay", EXCLUSIVE | CARRIES},
    {"products that wrap, 8 bytes", KERNEL_PRODUCT, TABLE_I64, 1, 512 * 9 + 50, 9, 't', "decay", CARRIES},
};

struct memory {
    std::vector<unsigned char> host;
    void *device = nullptr;
    explicit memory(size_t bytes) : host(bytes + 16, 0xa5) {
        if (cudaMalloc(&device, host.size()) != cudaSuccess)
            abort();
    }
    ~memory() { cudaFree(device); }
    bool to() { return cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice) == cudaSuccess; }
    bool from() { return cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost) == cudaSuccess; }
};

struct tables {
    const plan &of;
    size_t kept = of.kept == TABLE_F64 || of.kept == TABLE_I64 ? 8 : 4, each = of.flags & BF16 ? 2 : kept;
    size_t stride = of.columns + (of.flags & PADDED ? 3 : 0), cells = of.tables * of.rows * stride;
    memory a{cells * each}, b{cells * each}, above{of.tables * of.columns * kept};
    bool is_map = of.operation == KERNEL_LINEAR || (of.operation == KERNEL_PRODUCT && is_float());

    explicit tables(const plan &plan_) : of(plan_) {
        const table_type type = kept == 8 ? TABLE_F64 : TABLE_F32;
        const bool swaps = of.operation != KERNEL_LINEAR; /* values of products are like factors */
        std::vector<unsigned char> made_a(cells * kept), made_b(cells * kept);
        recurrence_make(type, of.kind, of.tables * of.rows, stride, 7, made_a.data(), made_b.data());
        put(swaps ? made_b : made_a, a);
        put(swaps ? made_a : made_b, b);
        memcpy(above.host.data(), (of.flags & CARRIES ? (swaps ? made_b : made_a) : a.host).data(),
               of.tables * of.columns * (of.flags & CARRIES ? kept : each));
        if (!a.to() || !b.to() || !above.to())
            abort();
    }
    void put(const std::vector<unsigned char> &made, memory &to) const {
        for (size_t cell = 0; cell < cells && each == 2; cell++) {
            float value;
            memcpy(&value, &made[cell * kept], sizeof value);
            const uint16_t bits = value_bf16_of(value).bits;
            memcpy(&to.host[cell * each], &bits, sizeof bits);
        }
        if (each != 2)
            memcpy(to.host.data(), made.data(), made.size());
    }
    bool is_float() const { return of.kept == TABLE_F32 || of.kept == TABLE_F64; }

    /* The results and the carries, of the pass or of the stages. */
    bool run(bool fused, std::vector<unsigned char> *results, std::vector<unsigned char> *carries) {
        const bool reversed = (of.flags & REVERSED) != 0;
        const size_t first = reversed ? (of.rows - 1) * stride * each : 0, units = (of.rows + 511) / 512;
        const ptrdiff_t down = reversed ? -static_cast<ptrdiff_t>(stride) : static_cast<ptrdiff_t>(stride);
        memory out(cells * each), carry(of.tables * of.columns * kept);
        kernel_operator_pass pass = {};
        const bool in_place = (of.flags & IN_PLACE) != 0;
        if (in_place)
            out.host = b.host;
        memcpy(carry.host.data(), above.host.data(), carry.host.size());
        pass.pass.in = static_cast<char *>(in_place ? out.device : b.device) + first;
        pass.pass.out = static_cast<char *>(out.device) + first;
        pass.pass.rows = of.rows, pass.pass.columns = of.columns;
        pass.pass.in_stride = pass.pass.out_stride = down;
        const table_type type = of.flags & BF16 ? TABLE_BF16 : of.kept;
        pass.pass.in_type = pass.pass.out_type = type;
        pass.kept = of.kept;
        pass.pass.exclusive = (of.flags & EXCLUSIVE) != 0, pass.pass.load.without_nan = (of.flags & SKIPS_NAN) != 0;
        pass.operation = of.operation, pass.ranges.count = of.tables;
        pass.ranges.in = pass.ranges.out = static_cast<ptrdiff_t>(of.rows * stride);
        const bool per_row = of.factors == 't' || of.factors == 'c';
        pass.factors.data = static_cast<char *>(a.device) + (per_row ? first : 0);
        pass.factors.stride = per_row ? down : 0;
        pass.factors.step = per_row ? pass.ranges.in : of.flags & SHARED ? 0 : static_cast<ptrdiff_t>(of.columns);
        pass.factors.type = type;
        pass.factors.per_column = of.factors == 't' || of.factors == 'r';
        pass.factors.shifted = (of.flags & SHIFTED) != 0;
        pass.factors.first = pass.factors.shifted ? above.device : nullptr;
        if (of.flags & CARRIES)
            pass.carry_in = pass.carry_out = carry.device;
        const size_t stages = of.tables * (units + 1) * of.columns * kept * (is_map ? 4 : 1);
        memory workspace(fused ? kernel_operator_fused_workspace(&pass) : stages);
        if (!out.to() || !carry.to() || !workspace.to())
            return false;
        const int error = fused ? kernel_operator_fused(&pass, workspace.device)
                                : kernel_operator_totals(&pass, workspace.device) +
                                      kernel_operator_sweep(&pass, workspace.device, units + 1) +
                                      kernel_operator_results(&pass, workspace.device);
        if (error != 0 || cudaDeviceSynchronize() != cudaSuccess || !out.from() || !carry.from())
            return false;
        *results = out.host;
        *carries = carry.host;
        return true;
    }
};

} // namespace

int main() {
    int passed = 0, failed = 0;
    emulator_device(4, 9);
    for (const plan &of : plans) {
        tables made(of);
        std::vector<unsigned char> expected, got, expected_carries, got_carries;
        const bool right = made.run(false, &expected, &expected_carries) && made.run(true, &got, &got_carries) &&
                           expected == got && expected_carries == got_carries;
        right ? passed++ : failed++;
        if (!right)
            fprintf(stderr, "wrong: %s. %s\n", of.why, emulator_report());
    }
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
