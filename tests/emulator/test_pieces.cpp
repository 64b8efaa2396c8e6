/* The kernels of pieces of sums that go on, by themselves: tables cut at random, the state going from piece to piece in
 * memory of the device, beside states that the host feeds row by row. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <kernels.h>

#include "cuda_runtime.h"
extern "C" {
#include "../../src/state_call.h"
}
#include "emulator.h"
#include "types.h"

static int passed = 0, failed = 0;
static uint64_t bits = 0x9e3779b97f4a7c15u;

static uint64_t random_below(uint64_t end) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    return (bits >> 11) % end;
}

typedef std::vector<unsigned char> bytes;

static void store(table_type type, unsigned char *to, double value) {
    const float narrow = static_cast<float>(value);
    type == TABLE_F32 ? memcpy(to, &narrow, sizeof narrow) : memcpy(to, &value, sizeof value);
}
static double load(table_type type, const unsigned char *from) {
    float narrow;
    double wide;
    type == TABLE_F32 ? memcpy(&narrow, from, sizeof narrow) : memcpy(&wide, from, sizeof wide);
    return type == TABLE_F32 ? static_cast<double>(narrow) : wide;
}

struct table_case {
    table_type in, out;
    size_t rows, columns, in_gap, out_gap, pieces;
    bool exclusive, in_place;
};

/* A state in memory that is aligned as it must be. */
struct state_memory {
    size_t size;
    sum_state *state;
    state_memory(table_type type, size_t columns) {
        table_state_bytes(type, columns, &size);
        state = static_cast<sum_state *>(aligned_alloc(64, (size + 63) / 64 * 64));
        memset(static_cast<void *>(state), 0, size);
    }
    ~state_memory() { free(state); }
};

/* What the results are, by feeding a state of the host row by row. */
static bytes results_of(const table_case &what, const bytes &values, sum_state *state) {
    const size_t in = type_bytes(what.in), out = type_bytes(what.out), stride = what.columns + what.in_gap;
    bytes made(what.rows * what.columns * out), row(what.columns * out);
    for (size_t i = 0; i < what.rows; i++) {
        if (what.exclusive)
            state_last_sums(state, &made[i * row.size()]);
        for (size_t j = 0; j < what.columns; j++)
            store(what.out, &row[j * out], load(what.in, &values[(i * stride + j) * in]));
        struct state_end end = state_end(state);
        state_append_run(&end, 0, row.data());
        if (!what.exclusive)
            state_last_sums(state, &made[i * row.size()]);
    }
    return made;
}

static void *device(size_t size) {
    void *memory = nullptr;
    cudaMalloc(&memory, size);
    return memory;
}

static bool piece(const table_case &what, char *in, char *out, size_t first, size_t rows, void *from, void *to,
                  void *carry) {
    const size_t in_stride = what.columns + what.in_gap, out_stride = what.columns + what.out_gap;
    kernel_pass pass = {};
    pass.in = in + first * in_stride * type_bytes(what.in);
    pass.out = out + first * out_stride * type_bytes(what.out);
    pass.rows = rows;
    pass.columns = what.columns;
    pass.in_stride = in_stride;
    pass.out_stride = out_stride;
    pass.in_type = what.in;
    pass.out_type = what.out;
    pass.exclusive = what.exclusive;
    const kernel_piece goes_on = {from, to, carry};
    void *const workspace = device(kernel_piece_workspace(&pass));
    const int error = kernel_run_piece(&pass, &goes_on, workspace);
    const bool right = error == 0 && cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(workspace);
    return right;
}

static void check(const table_case &what) {
    const size_t in = type_bytes(what.in), out = type_bytes(what.out), in_stride = what.columns + what.in_gap;
    const size_t out_stride = what.columns + what.out_gap, row = what.columns * out;
    bytes values(what.rows * in_stride * in), found(what.rows * out_stride * out);
    for (size_t k = 0; k < values.size() / in; k++)
        store(what.in, &values[k * in],
              (static_cast<double>(random_below(1 << 20)) - 3e5) * (random_below(8) ? 1e-3 : 1e3));
    state_memory expected(what.out, what.columns), left(what.out, what.columns);
    bytes start(row);
    for (size_t j = 0; j < what.columns; j++)
        store(what.out, &start[j * out], static_cast<double>(random_below(100)) / 7);
    state_make(expected.state, what.out, what.columns, 0);
    memcpy(state_row(expected.state, row, STATE_START), start.data(), row);
    char *const from = static_cast<char *>(device(values.size() + 1));
    char *const to = what.in_place ? from : static_cast<char *>(device(found.size() + 1));
    void *const carry = device(row);
    void *states[2] = {device(expected.size), device(expected.size)};
    cudaMemcpy(from, values.data(), values.size(), cudaMemcpyDefault);
    cudaMemcpy(states[0], expected.state, expected.size, cudaMemcpyDefault);
    bool right = true;
    size_t done = 0;
    for (size_t k = 0; right && done < what.rows; k++) {
        const size_t rest = what.rows - done, some = k + 1 >= what.pieces ? rest : 1 + random_below(rest);
        const size_t rows = random_below(3) || some <= 512 ? some : some / 512 * 512;
        cudaMemset(states[1], 0, expected.size);
        right = piece(what, from, to, done, rows, states[0], states[1], carry);
        void *const swap = states[0];
        states[0] = states[1], states[1] = swap;
        done += rows;
    }
    const bytes wanted = results_of(what, values, expected.state);
    bytes carried(row), last(row);
    cudaMemcpy(found.data(), to, found.size(), cudaMemcpyDefault);
    cudaMemcpy(left.state, states[0], left.size, cudaMemcpyDefault);
    cudaMemcpy(carried.data(), carry, row, cudaMemcpyDefault);
    state_last_sums(expected.state, last.data());
    for (size_t i = 0; right && i < what.rows; i++)
        right = memcmp(&found[i * out_stride * out], &wanted[i * row], row) == 0;
    const bool state_right = memcmp(left.state, expected.state, left.size) == 0 && carried == last;
    right &&state_right ? passed++ : failed++;
    if (!right || !state_right)
        fprintf(stderr, "%s -> %s, %zu x %zu, gaps %zu %zu, %zu pieces%s%s: %s. %s\n", table_type_name(what.in),
                table_type_name(what.out), what.rows, what.columns, what.in_gap, what.out_gap, what.pieces,
                what.exclusive ? ", exclusive" : "", what.in_place ? ", in place" : "",
                right ? "the state differs" : "results differ", emulator_report());
    for (void *memory :
         {static_cast<void *>(from), what.in_place ? nullptr : static_cast<void *>(to), carry, states[0], states[1]})
        cudaFree(memory);
}

int main() {
    const char *const few = getenv("TUPLESCAN_TEST_FEW");
    const unsigned times = few ? static_cast<unsigned>(atoi(few)) : 1, cases = 480 / (times > 0 ? times : 1);
    const table_type pairs[][2] = {{TABLE_F32, TABLE_F32}, {TABLE_F64, TABLE_F64}, {TABLE_F32, TABLE_F64}};
    const size_t rows[] = {1, 2, 511, 512, 513, 1023, 1024, 1025, 1500, 2048, 3001, 5000};
    const size_t columns[] = {1, 1, 2, 3, 4, 5, 8, 9, 17, 33};
    for (unsigned k = 0; k < cases + 8; k++) {
        table_case what = {};
        const unsigned pair = static_cast<unsigned>(random_below(3));
        what.in = pairs[pair][0], what.out = pairs[pair][1];
        what.rows = rows[random_below(12)] + (random_below(3) ? 0 : random_below(700));
        what.columns = columns[random_below(10)];
        what.in_gap = random_below(3) ? 0 : random_below(4);
        what.out_gap = random_below(3) ? 0 : random_below(4);
        what.pieces = 1 + random_below(random_below(4) ? 5 : 30);
        what.exclusive = random_below(2);
        what.in_place = what.in == what.out && random_below(3) == 0;
        if (what.in_place)
            what.out_gap = what.in_gap;
        if (k >= cases) { /* groups of units */
            what.rows = 300000 + random_below(40000), what.columns = 1, what.pieces = 1 + random_below(4);
            what.in_gap = what.out_gap = 0;
        }
        check(what);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
