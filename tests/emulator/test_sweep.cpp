/* The sweep of a recurrence's units by itself: more units than it takes in a round, as the rows of a table of totals,
 * so that a few thousand maps stand for millions of rows. Beside it stands a serial one, all bits alike. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "emulator.h"
#include "kernels.h"
#include "linear_map.h"

extern "C" {
#include "support/recurrence.h"
}

static int passed = 0, failed = 0;

/* The maps before a unit, from the largest block of its number down. */
static linear_map_f32 both(const linear_map_f32 &later, const linear_map_f32 &earlier) {
    return map_write_f32(
        map_settle_f32(map_after_f32(map_read_f32(later), map_read_f32(earlier), MAP_CAREFUL), MAP_CAREFUL));
}
static linear_map_f32 settled(const linear_map_f32 &map) {
    return map_write_f32(map_settle_f32(map_read_f32(map), MAP_CAREFUL));
}
static float apply(const linear_map_f32 &map, float h) { return map_apply_f32(map_read_f32(map), h, MAP_CAREFUL); }
static linear_map_f64 both(const linear_map_f64 &later, const linear_map_f64 &earlier) {
    return map_write_f64(
        map_settle_f64(map_after_f64(map_read_f64(later), map_read_f64(earlier), MAP_CAREFUL), MAP_CAREFUL));
}
static linear_map_f64 settled(const linear_map_f64 &map) {
    return map_write_f64(map_settle_f64(map_read_f64(map), MAP_CAREFUL));
}
static double apply(const linear_map_f64 &map, double h) { return map_apply_f64(map_read_f64(map), h, MAP_CAREFUL); }

template <class MAP> static void sweep_serially(MAP *rows, size_t units, size_t columns) {
    for (size_t j = 0; j < columns; j++) {
        std::vector<std::pair<size_t, MAP>> blocks;
        for (size_t u = 0; u < units; u++) {
            const MAP total = rows[(u + 1) * columns + j];
            auto seed = rows[0].term;
            seed = 0;
            for (const auto &block : blocks)
                seed = apply(block.second, seed);
            rows[u * columns + j].term = seed;
            if (u == units - 1)
                rows[units * columns + j].term = apply(total, seed);
            blocks.emplace_back(1, settled(total));
            while (blocks.size() > 1 && blocks[blocks.size() - 2].first == blocks.back().first) {
                const auto right = blocks.back();
                blocks.pop_back();
                blocks.back() = {2 * right.first, both(right.second, blocks.back().second)};
            }
        }
    }
}

template <class KEPT, class MAP> static void check(table_type kept, size_t units, size_t columns, const char *kind) {
    std::vector<KEPT> a(units * columns), b(units * columns), seeds((units + 1) * columns * 4), got(seeds.size());
    recurrence_make(kept, kind, units, columns, units, a.data(), b.data());
    for (size_t at = 0; at < units * columns; at++) {
        KEPT *const to = &seeds[(columns + at) * 4];
        to[0] = a[at], to[1] = 0, to[2] = b[at], to[3] = a[at] == 0;
    }
    const size_t bytes = seeds.size() * sizeof(KEPT);
    void *on_device = nullptr;
    kernel_operator_pass given = {};
    given.operation = KERNEL_LINEAR, given.kept = kept, given.pass.columns = columns, given.ranges.count = 1;
    bool right = cudaMalloc(&on_device, bytes) == cudaSuccess &&
                 cudaMemcpy(on_device, seeds.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
                 kernel_operator_sweep(&given, on_device, units + 1) == 0 && cudaDeviceSynchronize() == cudaSuccess &&
                 cudaMemcpy(got.data(), on_device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(on_device);
    sweep_serially(reinterpret_cast<MAP *>(seeds.data()), units, columns);
    for (size_t at = 2; at < seeds.size(); at += 4)
        right = right &&
                (memcmp(&got[at], &seeds[at], sizeof(KEPT)) == 0 || (got[at] != got[at] && seeds[at] != seeds[at]));
    right ? passed++ : failed++;
    if (!right)
        fprintf(stderr, "wrong for %zu units of %zu columns, %s. %s\n", units, columns, kind, emulator_report());
}

int main() {
    emulator_device(4, 9);
    check<float, linear_map_f32>(TABLE_F32, 4096 * 5 + 1027, 1, "mixed+reset");
    check<float, linear_map_f32>(TABLE_F32, 4096 + 7, 3, "near1");
    check<double, linear_map_f64>(TABLE_F64, 2048 * 3 + 5, 1, "mixed+reset");
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
