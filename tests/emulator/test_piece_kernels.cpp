/* The kernels of pieces of sums that go on, by themselves: tables cut at random, the state going from piece to piece in
 * memory of the device, beside states that the host feeds row by row. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <choose/problem.h>
#include <kernels.h>

#include "cuda_runtime.h"
extern "C" {
#include "../../src/state/state_call.h"
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
            state_sums(state, &made[i * row.size()], false);
        for (size_t j = 0; j < what.columns; j++)
            store(what.out, &row[j * out], load(what.in, &values[(i * stride + j) * in]));
        struct state_end end = state_end(state);
        state_append_total(&end, false, 0, row.data());
        if (!what.exclusive)
            state_sums(state, &made[i * row.size()], false);
    }
    return made;
}

static void *device(size_t size) {
    void *memory = nullptr;
    cudaMalloc(&memory, size);
    return memory;
}

/* Memory of the device for the time of a piece. */
struct device_memory {
    void *const data;
    device_memory(size_t size) : data(device(size)) {}
    device_memory(const device_memory &) = delete;
    ~device_memory() { cudaFree(data); }
};

static bool run_stages(const kernel_pass &pass, const kernel_continued &goes_on) {
    const device_memory workspace(kernel_continued_workspace(&pass));
    return kernel_run_continued(&pass, &goes_on, workspace.data) == 0 && cudaDeviceSynchronize() == cudaSuccess;
}

/* How often each form has taken the rows after a head, and none has. */
struct form_count {
    const char *name;
    unsigned taken;
};
static form_count form_counts[] = {{"rows", 0}, {"buffered", 0}, {"no_bulk", 0}, {"none", 0}};

/* The ends of a piece, and a form of the fused pass over what lies after the head; or if the form does not take that,
 * the stages, from the state after the head on. */
static bool run_fused(const kernel_pass &pass, const kernel_continued &goes_on, uint64_t before, size_t state_bytes) {
    const size_t row = pass.columns * type_bytes(pass.out_type), rows = kernel_prologue_rows(&pass, before);
    const device_memory first(sizeof(uint32_t)), carry_state(KERNEL_CARRY_ROWS * row), prologue_state(state_bytes);
    const kernel_prologue prologue = {before,
                                      prologue_state.data,
                                      {static_cast<uint32_t *>(first.data), carry_state.data,
                                       state_row(static_cast<sum_state *>(goes_on.to), row, STATE_BLOCKS)}};
    if (kernel_run_prologue_epilogue(&pass, &goes_on, &prologue) != 0)
        return false;
    kernel_pass after = pass;
    after.rows -= rows;
    after.in = static_cast<const char *>(pass.in) + rows * pass.in_stride * type_bytes(pass.in_type);
    after.out = static_cast<char *>(pass.out) + rows * pass.out_stride * type_bytes(pass.out_type);
    if (after.rows == 0)
        return cudaDeviceSynchronize() == cudaSuccess;
    static unsigned turn = 0;
    form_count &count = form_counts[turn++ % 3];
    const kernel_algorithm *form = kernel_algorithms;
    while (strcmp(form->name, count.name) != 0)
        form++;
    const device_memory workspace(form->workspace(&after));
    const kernel_carry carry = {nullptr, goes_on.carry_out, &prologue.carry_state};
    const int error = form->run(&after, &carry, workspace.data);
    if (!kernel_is_refused(error)) {
        count.taken++;
        return error == 0 && cudaDeviceSynchronize() == cudaSuccess;
    }
    form_counts[3].taken++;
    const kernel_continued rest = {rows > 0 ? prologue.state : goes_on.from, goes_on.to, goes_on.carry_out};
    return run_stages(after, rest);
}

static bool piece(const table_case &what, char *in, char *out, size_t first, size_t rows, void *from, void *to,
                  void *carry, uint64_t before, size_t state_bytes) {
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
    pass.chunk_rows = kernel_chunk_rows(what.out, what.columns);
    pass.exclusive = what.exclusive;
    const kernel_continued goes_on = {from, to, carry};
    return random_below(4) == 0 ? run_stages(pass, goes_on) : run_fused(pass, goes_on, before, state_bytes);
}

/* Rows that were summed before: few, or so many that the tree above the table has many blocks, some of which become one
 * in the table. Whole stacks end at multiples of 2^KERNEL_CARRY_LEVELS units, over which no pass goes. */
static uint64_t rows_before() {
    const uint64_t most = uint64_t(KERNEL_UNIT_ROWS) << KERNEL_CARRY_LEVELS;
    const uint64_t any = random_below(uint64_t(1) << (random_below(3) ? 24 : 50)), ones = uint64_t(1)
                                                                                          << random_below(34);
    const uint64_t rows =
        random_below(2) ? any : any / ones * ones + ones - 1 - random_below(ones < 4000 ? ones : 4000);
    return random_below(3) == 0 ? 0 : rows % most > most - 400000 ? rows - 400000 : rows;
}

/* As if so many rows had been summed. */
static void fill_state(const table_case &what, sum_state *state, uint64_t rows) {
    const size_t out = type_bytes(what.out), row = what.columns * out;
    const struct state_digits digits = state_digits(0, rows);
    state->rows = rows;
    const auto fill = [&](unsigned slot) {
        for (size_t j = 0; j < what.columns; j++)
            store(what.out, static_cast<unsigned char *>(state_row(state, row, slot)) + j * out,
                  (static_cast<double>(random_below(1 << 20)) - 3e5) * 1e-2);
    };
    for (unsigned k = 0; k < STATE_BLOCK_LEVELS; k++)
        if (digits.blocks >> k & 1)
            fill(STATE_BLOCKS + k);
    for (unsigned k = 0; k < STATE_RUN_LEVELS; k++)
        if (digits.runs >> k & 1)
            fill(STATE_RUNS + k);
}

/* Zeroes the rows of a state on the device that mean nothing. */
static void clear_rest(sum_state *state, size_t row, uint64_t rows) {
    const struct state_digits digits = state_digits(0, rows);
    const uint64_t kept = digits.runs << STATE_RUNS | digits.blocks << STATE_BLOCKS;
    for (unsigned slot = STATE_RUNS; slot < STATE_TREE_ROWS; slot++)
        if (slot >= 64 || (kept >> slot & 1) == 0)
            cudaMemset(state_row(state, row, slot), 0, row);
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
    state_make(expected.state, element_kept_as(TABLE_SUM, what.out), what.columns, 0);
    memcpy(state_row(expected.state, row, STATE_START), start.data(), row);
    const uint64_t before = rows_before();
    fill_state(what, expected.state, before);
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
        cudaMemset(states[1], static_cast<int>(random_below(256)), expected.size);
        cudaMemcpy(states[1], states[0], sizeof(sum_state) + row, cudaMemcpyDefault); /* the start stays */
        right = piece(what, from, to, done, rows, states[0], states[1], carry, before + done, expected.size);
        const uint64_t now = before + done + rows;
        clear_rest(static_cast<sum_state *>(states[1]), row, now);
        cudaMemcpy(static_cast<char *>(states[1]) + offsetof(sum_state, rows), &now, sizeof now, cudaMemcpyDefault);
        void *const swap = states[0];
        states[0] = states[1], states[1] = swap;
        done += rows;
    }
    const bytes wanted = results_of(what, values, expected.state);
    bytes carried(row), last(row);
    cudaMemcpy(found.data(), to, found.size(), cudaMemcpyDefault);
    cudaMemcpy(left.state, states[0], left.size, cudaMemcpyDefault);
    cudaMemcpy(carried.data(), carry, row, cudaMemcpyDefault);
    state_sums(expected.state, last.data(), false);
    for (size_t i = 0; right && i < what.rows; i++)
        right = memcmp(&found[i * out_stride * out], &wanted[i * row], row) == 0;
    const bool state_right = memcmp(left.state, expected.state, left.size) == 0 && carried == last;
    right &&state_right ? passed++ : failed++;
    if (!right || !state_right)
        fprintf(stderr, "%s -> %s, %zu x %zu behind %llu, gaps %zu %zu, %zu pieces%s%s: %s. %s\n",
                table_type_name(what.in), table_type_name(what.out), what.rows, what.columns,
                static_cast<unsigned long long>(before), what.in_gap, what.out_gap, what.pieces,
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
    const size_t rows[] = {1, 2, 511, 512, 513, 1023, 1024, 1025, 1500, 2048, 3001, 5000, 9000, 20000};
    const size_t columns[] = {1, 1, 2, 3, 4, 5, 8, 9, 17, 33, 66, 300};
    for (unsigned k = 0; k < cases + 8; k++) {
        table_case what = {};
        const unsigned pair = static_cast<unsigned>(random_below(3));
        what.in = pairs[pair][0], what.out = pairs[pair][1];
        what.rows = rows[random_below(14)] + (random_below(3) ? 0 : random_below(700));
        what.columns = columns[random_below(12)];
        if (what.columns > 33)
            what.rows %= 4000, what.rows += 1;
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
        } else if (k % 8 == 0) { /* long chains of chunks */
            what.rows = 20000 + random_below(20000), what.columns = columns[5 + random_below(4)];
        }
        if (k < 6) { /* for each form tables that it takes, however few there are */
            what.in = what.out = TABLE_F32, what.columns = 9, what.in_gap = what.out_gap = 0;
            what.rows = 8000 + random_below(1000), what.pieces = 2;
        }
        emulator_device(4 + static_cast<unsigned>(random_below(25)), 9);
        check(what);
    }
    printf("%d passed, %d failed;", passed, failed);
    for (const form_count &count : form_counts) {
        printf(" %s %u", count.name, count.taken);
        failed += count.taken == 0;
    }
    printf("\n");
    return failed != 0;
}
