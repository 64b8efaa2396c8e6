/* The forms of the fused pass, each by force, at the sizes where one gives way to another: against the CPU backend, all
 * bits, with everything that a call may ask for; and how many nodes a captured call has. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <tuplescan/tuplescan.h>

extern "C" {
#include "../../src/cuda/fused.h"
}
#include "cuda_runtime.h"
#include "emulator.h"
#include "fiber.h"
#include "support/forms.h"

static int passed = 0, failed = 0;

static uint64_t random_state;
static uint64_t random_bits() { /* splitmix64 */
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static bool one_in(unsigned times) { return random_bits() % times == 0; }

typedef std::vector<unsigned char> bytes;

struct device_bytes {
    void *data = nullptr;
    explicit device_bytes(const bytes &from) {
        if (cudaMalloc(&data, from.size() + 1) != cudaSuccess ||
            cudaMemcpy(data, from.data(), from.size(), cudaMemcpyHostToDevice) != cudaSuccess)
            abort();
    }
    device_bytes(const device_bytes &) = delete;
    ~device_bytes() { cudaFree(data); }
    void set(const bytes &to) const { cudaMemcpy(data, to.data(), to.size(), cudaMemcpyHostToDevice); }
    bytes host(size_t count) const {
        bytes out(count);
        cudaMemcpy(out.data(), data, count, cudaMemcpyDeviceToHost);
        return out;
    }
};

struct pair {
    table_type in, out;
};
static const pair PAIRS[] = {
    {TABLE_U32, TABLE_U32}, {TABLE_I32, TABLE_I32}, {TABLE_F32, TABLE_F32}, {TABLE_U64, TABLE_U64},
    {TABLE_I64, TABLE_I64}, {TABLE_F64, TABLE_F64}, {TABLE_U8, TABLE_U32},  {TABLE_U8, TABLE_U64},
    {TABLE_U16, TABLE_U32}, {TABLE_U16, TABLE_U64}, {TABLE_U32, TABLE_U64}, {TABLE_I32, TABLE_I64},
    {TABLE_F32, TABLE_F64},
};
constexpr size_t PAIR_COUNT = sizeof PAIRS / sizeof *PAIRS;

static bool is_float(table_type type) { return type == TABLE_F32 || type == TABLE_F64; }

static bool is_signed(table_type type) { return type == TABLE_I32 || type == TABLE_I64; }

/* Rows of values: any bits, or integers of at most so many, or floats that neither overflow nor are exact. */
static bytes values(table_type type, size_t count, unsigned width = 64) {
    bytes made(count * table_type_size(type));
    const uint64_t flip = one_in(2) ? ~uint64_t(0) : 0; /* signed ones have one sign, or else they never overflow */
    for (size_t at = 0; at < count; at++) {
        uint64_t bits = random_bits();
        if (!is_float(type) && width < 64)
            bits = (bits >> 1 >> (63 - width)) ^ (is_signed(type) ? flip : 0);
        const double number = (static_cast<double>(bits >> 12) / 4e15 - 0.5) * (bits % 3 ? 1 : 1e6);
        const float narrow = static_cast<float>(number);
        if (type == TABLE_F32)
            memcpy(&made[4 * at], &narrow, 4);
        else if (type == TABLE_F64)
            memcpy(&made[8 * at], &number, 8);
        else
            memcpy(&made[table_type_size(type) * at], &bits, table_type_size(type));
    }
    return made;
}

struct request {
    pair types;
    size_t rows, columns, in_gap, out_gap, offset;
    bool in_place, exclusive, carry_in, carry_out, same_carry, overflow;
    unsigned width; /* of integers, in bits; 64: any */
};

/* Sums that values of that width may or may not take beyond the type. */
static bytes near_limits(const request &what) {
    const unsigned bits = 8 * static_cast<unsigned>(table_type_size(what.types.out));
    const uint64_t most = ~uint64_t(0) >> (64 - bits + (is_signed(what.types.out) ? 1 : 0));
    const unsigned shift = what.width + static_cast<unsigned>(random_bits() % 4);
    const uint64_t far = static_cast<uint64_t>(what.rows) << (shift < 64 ? shift : 63);
    const uint64_t span = shift < 40 && far < most ? far : most - 1; /* what the table adds is mostly half of it */
    bytes made(what.columns * table_type_size(what.types.out));
    for (size_t c = 0; c < what.columns; c++) {
        const uint64_t left = span / 4 + random_bits() % (span - span / 4 + 1);
        const uint64_t sum = is_signed(what.types.out) && one_in(2) ? ~(most - left) : most - left;
        memcpy(&made[c * table_type_size(what.types.out)], &sum, table_type_size(what.types.out));
    }
    return made;
}

/* What a call leaves: the output's memory, the carry, the overflow's word. */
struct outcome {
    bytes out, carry;
    uint64_t overflow = 12345;
    bool operator==(const outcome &other) const {
        return out == other.out && carry == other.carry && overflow == other.overflow;
    }
};

struct prepared {
    bytes in, out, carry;
    table_view from, to; /* data: bytes from the beginning */
};

static prepared prepare(const request &what) {
    const size_t in_size = table_type_size(what.types.in), out_size = table_type_size(what.types.out);
    const size_t in_stride = what.columns + what.in_gap, out_stride = what.columns + what.out_gap;
    prepared made;
    made.in = values(what.types.in, what.rows * in_stride + what.offset, what.width);
    made.out.assign((what.rows * out_stride + what.offset) * out_size, 0xab);
    made.carry = what.width < 64 ? near_limits(what) : values(what.types.out, what.columns);
    made.from = {reinterpret_cast<void *>(what.offset * in_size), what.rows, what.columns, in_stride, what.types.in};
    made.to = {reinterpret_cast<void *>(what.offset * out_size), what.rows, what.columns, out_stride, what.types.out};
    return made;
}

static table_view at(table_view view, void *base) {
    view.data = static_cast<char *>(base) + reinterpret_cast<size_t>(view.data);
    return view;
}

static outcome by_cpu(const request &what, prepared data) {
    bytes carry_out(data.carry.size(), 0xcd);
    outcome left;
    table_scan_options options = {};
    options.backend = TABLE_BACKEND_CPU;
    options.exclusive = what.exclusive;
    options.carry_in = what.carry_in ? data.carry.data() : nullptr;
    options.carry_out = what.same_carry ? data.carry.data() : what.carry_out ? carry_out.data() : nullptr;
    options.first_overflow = what.overflow ? &left.overflow : nullptr;
    bytes &out = what.in_place ? data.in : data.out;
    const table_view from = at(data.from, data.in.data()), to = at(data.to, out.data());
    if (table_prefix_sum(&from, &to, &options) != TABLE_OK)
        abort();
    left.out = out;
    left.carry = what.same_carry ? data.carry : carry_out;
    return left;
}

/* What may become of a workspace between two replays: nothing, or it was used for something else, all of it or a part;
 * or so many replays go by that the wave's count of them is at its end (kernels/resident/wave_epoch.cuh). Or somebody
 * means harm: the word of the count says that a block is clearing. The count is on a boundary of 256 bytes, wherever in
 * the workspace the wave has its part. */
enum disturbance { NOTHING, ALL, COUNT_LOST, COUNT_LEFT, COUNT_ENDS, CLEARS, DISTURBANCES };
static disturbance harm = NOTHING; /* what happens each time; NOTHING: any of them */

static uint64_t disturbed_count(uint64_t word, disturbance how) {
    const uint64_t drawn = word & 0xfffff; /* after one replay it is what each of them adds */
    switch (how) {
    case COUNT_LOST:
        return random_bits();
    case COUNT_ENDS:
        return drawn != 0 ? word | (0xfffff & ~((drawn & (~drawn + 1)) - 1)) : word;
    case CLEARS:
        return ~word;
    default:
        return word;
    }
}

static void disturb(const device_bytes &workspace, size_t count) {
    constexpr size_t BOUNDARY = 256;
    const disturbance how = harm ? harm : static_cast<disturbance>(random_bits() % DISTURBANCES);
    bytes held = workspace.host(count);
    if (how == ALL)
        held.assign(count, one_in(2) ? 0 : 0xff);
    for (size_t at = 0; how == COUNT_LEFT && at < count; at++)
        if (at % BOUNDARY >= sizeof(uint64_t))
            held[at] = static_cast<unsigned char>(random_bits());
    for (size_t at = 0; at + sizeof(uint64_t) <= count; at += BOUNDARY) {
        uint64_t word;
        memcpy(&word, held.data() + at, sizeof word);
        word = disturbed_count(word, how);
        memcpy(held.data() + at, &word, sizeof word);
    }
    workspace.set(held);
}

/* The call captured and replayed, all of it in device memory. The last of so many `rounds` counts. */
static outcome by_graph(const request &what, const prepared &data, unsigned rounds, size_t *nodes) {
    const device_bytes in(data.in), out(data.out), carry(data.carry), carry_out(bytes(data.carry.size(), 0xcd)),
        found(bytes(8, 0x77));
    table_scan_options options = {};
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    outcome left;
    cudaStreamCreate(&stream);
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = TABLE_STRATEGY_FUSED;
    options.exclusive = what.exclusive;
    options.carry_in = what.carry_in ? carry.data : nullptr;
    options.carry_out = what.same_carry ? carry.data : what.carry_out ? carry_out.data : nullptr;
    options.first_overflow = what.overflow ? static_cast<uint64_t *>(found.data) : nullptr;
    options.stream = stream;
    const table_view from = at(data.from, in.data), to = at(data.to, what.in_place ? in.data : out.data);
    if (table_prefix_sum_workspace(&from, &to, &options, &options.workspace_bytes) != TABLE_OK)
        abort();
    const device_bytes workspace(bytes(options.workspace_bytes, 0x5a));
    options.workspace = workspace.data;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    const table_status status = table_prefix_sum_async(&from, &to, &options);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphGetNodes(graph, nullptr, nodes);
    cudaGraphInstantiate(&exec, graph, 0);
    for (unsigned round = 0; round < rounds; round++) {
        if (round > 0)
            disturb(workspace, options.workspace_bytes);
        in.set(round + 1 < rounds ? bytes(data.in.size(), 1) : data.in);
        out.set(data.out);
        carry.set(data.carry);
        cudaGraphLaunch(exec, stream);
        if (status != TABLE_OK || cudaStreamSynchronize(stream) != cudaSuccess)
            fprintf(stderr, "status %d: %s\n", status, table_error_detail());
    }
    left.out = what.in_place ? in.host(data.in.size()) : out.host(data.out.size());
    left.carry = what.same_carry ? carry.host(data.carry.size()) : carry_out.host(data.carry.size());
    if (what.overflow)
        cudaMemcpy(&left.overflow, found.data, 8, cudaMemcpyDeviceToHost);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return left;
}

/* As one call, with the rows in host memory. */
static outcome by_call(const request &what, const prepared &data) {
    const device_bytes in(data.in), out(data.out);
    bytes carry = data.carry, carry_out(data.carry.size(), 0xcd);
    table_scan_options options = {};
    outcome left;
    options.backend = TABLE_BACKEND_CUDA;
    options.strategy = TABLE_STRATEGY_FUSED;
    options.exclusive = what.exclusive;
    options.carry_in = what.carry_in ? carry.data() : nullptr;
    options.carry_out = what.same_carry ? carry.data() : what.carry_out ? carry_out.data() : nullptr;
    options.first_overflow = what.overflow ? &left.overflow : nullptr;
    const table_view from = at(data.from, in.data), to = at(data.to, what.in_place ? in.data : out.data);
    if (table_prefix_sum(&from, &to, &options) != TABLE_OK)
        fprintf(stderr, "%s\n", table_error_detail());
    left.out = what.in_place ? in.host(data.in.size()) : out.host(data.out.size());
    left.carry = what.same_carry ? carry : carry_out;
    return left;
}

static void expect(bool right, const char *what, const char *form, const request &request) {
    right ? passed++ : failed++;
    if (right)
        return;
    fprintf(
        stderr,
        "%s, form %s: wrong for %s->%s, %zu rows x %zu columns, gaps %zu %zu, offset %zu, in place %d, exclusive %d,"
        " carry %d %d %d, overflow %d %s\n",
        what, form ? form : "best", table_type_name(request.types.in), table_type_name(request.types.out), request.rows,
        request.columns, request.in_gap, request.out_gap, request.offset, request.in_place, request.exclusive,
        request.carry_in, request.carry_out, request.same_carry, request.overflow, emulator_report());
    emulator_clear();
}

static size_t chunks_of(const request &what) {
    const size_t chunk = table_chunk_rows(what.types.out, what.columns);
    return (what.rows + chunk - 1) / chunk;
}

static size_t panels_of(const request &what) { return (what.columns * table_type_size(what.types.out) + 127) / 128; }

/* The most tiles that the wave takes on the device that is played, and whether the device can park tiles. */
static size_t wave_tiles;
static bool parks;
static void play_device(unsigned processors, unsigned major) {
    emulator_device(processors, major);
    parks = major >= 8;
    wave_tiles = major >= 9 ? 2 * processors : 0;
}

/* The nodes of a call that the form is known to take, when its rows are on the device; 0: not known, as the separate
 * stages may do the call. There is one more for the overflow's word: before the alone form and the wave, if they have
 * several panels, and behind the other forms, whose sums are then looked at. */
static size_t nodes_of(const request &what, const char *form) {
    const size_t chunk = table_chunk_rows(what.types.out, what.columns), before = what.overflow && panels_of(what) > 1;
    if (is_form(form, FORM_ALONE))
        return what.rows <= chunk / 4 ? 1 + before : 0;
    if (is_form(form, FORM_WAVE))
        return chunks_of(what) * panels_of(what) <= wave_tiles ? 1 + before : 0;
    if (is_form(form, FORM_ROWS) || is_form(form, FORM_BYTES)) /* where the table is such */
        return 1 + what.overflow;
    if (is_form(form, FORM_PARKED) || is_form(form, FORM_GENERAL))
        return parks ? 1 + what.overflow : 0;
    return 0;
}

static void check(const request &what, const char *form) {
    const prepared data = prepare(what);
    const outcome expected = by_cpu(what, data);
    size_t nodes = 0;
    cuda_forced_form = form;
    const unsigned rounds = harm ? 3 : !form || is_form(form, FORM_WAVE) ? 1 + random_bits() % 3 : 1;
    expect(by_graph(what, data, rounds, &nodes) == expected, "graph", form, what);
    expect(nodes_of(what, form) == 0 || nodes == nodes_of(what, form), "nodes", form, what);
    if (one_in(3))
        expect(by_call(what, data) == expected, "one call", form, what);
    cuda_forced_form = FORM_BEST;
}

static request vary(pair types, size_t rows, size_t columns) {
    request made = {};
    made.types = types;
    made.rows = rows;
    made.columns = columns;
    made.in_gap = one_in(3) ? 1 + random_bits() % 5 : 0;
    made.out_gap = one_in(3) ? 1 + random_bits() % 5 : 0;
    made.offset = one_in(3) ? random_bits() % 5 : 0;
    made.in_place = types.in == types.out && one_in(4);
    if (made.in_place)
        made.out_gap = made.in_gap;
    made.exclusive = one_in(2);
    made.carry_in = !one_in(3);
    made.carry_out = !one_in(3);
    made.same_carry = made.carry_in && made.carry_out && one_in(2);
    made.overflow = !is_float(types.out) && one_in(2);
    made.width = 64;
    if (made.overflow && !one_in(4))
        made.width = static_cast<unsigned>(random_bits() % (8 * table_type_size(types.in)));
    return made;
}

/* Every other time at least: the first tile reads it, the last one writes it. */
static void share_carry(request &made) {
    made.same_carry = made.same_carry || one_in(2);
    made.carry_in = made.carry_in || made.same_carry;
    made.carry_out = made.carry_out || made.same_carry;
}

/* Under a sanitizer tables are dear: one in so many more, and none of the longest. */
constexpr unsigned DEAR = EMULATOR_TSAN ? 4 : EMULATOR_ASAN ? 8 : 1;

static const size_t WIDTHS[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 32, 33, 64, 100};

/* A quarter of a chunk, which a block is fast with, a half, and a whole one, and one row more or less. */
static void check_one_chunk(const char *form, unsigned share) {
    for (const size_t width : WIDTHS)
        for (const pair &types : PAIRS) {
            const size_t n = table_chunk_rows(types.out, width);
            for (const size_t count : {size_t(1), n / 4 - 1, n / 4, n / 4 + 1, n / 2, n / 2 + 1, n - 1, n, n + 1})
                if (one_in(share))
                    check(vary(types, count, width), form);
        }
}

/* One, two, eight, sixteen chunks and one row more or less, for narrow and wide tables of every type. */
static void check_boundaries(const char *form, unsigned share) {
    for (const size_t width : WIDTHS)
        for (const pair &types : PAIRS) {
            const size_t n = table_chunk_rows(types.out, width);
            const size_t rows[] = {1,         n - 1, n,         n + 1,  2 * n,  3 * n - 7,  5 * n + 2,
                                   8 * n - 1, 8 * n, 8 * n + 1, 13 * n, 16 * n, 16 * n + 1, 20 * n + 3};
            for (const size_t count : rows)
                if (one_in(share * static_cast<unsigned>(1 + count / n / 4) * (width > 32 ? 3 : 1)))
                    check(vary(types, count, width), form);
        }
}

/* Tables that are small for their rows alone. */
static void check_wide(const char *form) {
    for (const size_t width : {129, 1000, 4097})
        for (unsigned times = 0; times < (EMULATOR_SANITIZED ? 1 : 3); times++)
            check(vary(PAIRS[random_bits() % PAIR_COUNT], 1 + random_bits() % 40, width), form);
}

/* So many chunks that what is waited for is farther away than is looked at in one go. 12 columns of 4 bytes: than stage
 * 2 has room for. */
static void check_long(const char *form) {
    static const size_t columns[] = {1, 2, 6, 12, 32, 40};
    for (const size_t width : columns) {
        const pair &types = PAIRS[width == 12 ? 0 : random_bits() % PAIR_COUNT];
        const size_t chunks = EMULATOR_SANITIZED ? 36 : width > 32 ? 65 : width == 12 ? 290 : 130;
        if (!EMULATOR_SANITIZED || width == 32)
            check(vary(types, chunks * table_chunk_rows(types.out, width) + 5, width), form);
    }
}

/* As many as go in one wave, and one more. */
static void check_wave(size_t tiles) {
    for (const size_t width : {1, 3, 4, 40}) {
        const pair &types = PAIRS[random_bits() % PAIR_COUNT];
        const size_t chunk_rows = table_chunk_rows(types.out, width);
        for (const size_t more : {0, 1})
            check(vary(types, tiles * chunk_rows / (width > 32 ? 2 : 1) + more, width), FORM_WAVE);
    }
}

/* Sums overflow from the second chunk on, by when a thread may have made the first tile's totals, whose block has not
 * even drawn: its totals do not tell that the overflow's word is set. */
static void check_overflow_of_wave(unsigned times) {
    for (unsigned k = 0; k < times; k++) {
        request made = {};
        made.types = PAIRS[one_in(2) ? 0 : 3];
        made.columns = one_in(2) ? 1 : 3;
        const size_t chunk = table_chunk_rows(made.types.out, made.columns);
        made.rows = (3 + random_bits() % 4) * chunk;
        made.overflow = true;
        made.width = static_cast<unsigned>(8 * table_type_size(made.types.out));
        for (size_t rows = chunk; rows > 1; rows /= 2)
            made.width--;
        check(made, FORM_WAVE);
    }
}

/* Workspaces of a wave that somebody means harm with: all of it ends, and is right. */
static void check_harmed_wave(unsigned times) {
    harm = CLEARS;
    for (const size_t width : {1, 3, 8, 40})
        for (unsigned k = 0; k < times; k++) {
            request made = vary(PAIRS[random_bits() % PAIR_COUNT], 0, width);
            made.rows = (1 + random_bits() % 5) * table_chunk_rows(made.types.out, width) / 2;
            check(made, FORM_WAVE);
        }
    harm = NOTHING;
}

/* Rows of whole vectors and more than a line of memory, so that two tiles share a chunk: chunks of which the lower
 * tile, or a part of either, is lacking. The number of processors decides on who does stage 2. */
static void check_shared_chunks(unsigned processors, const std::vector<size_t> &columns, unsigned share) {
    play_device(processors, 9);
    for (const size_t width : columns)
        for (const size_t chunks : {0, 1, 3})
            for (const size_t rows : {1, 127, 128, 129, 255, 256, 257, 300, 384, 385, 511, 512}) {
                if (!one_in(share * DEAR))
                    continue;
                request made = vary(PAIRS[random_bits() % PAIR_COUNT], chunks * 512 + rows, width);
                made.in_gap = one_in(2) ? 4 : 0;
                made.out_gap = made.in_place ? made.in_gap : one_in(2) ? 12 : 0;
                made.offset = one_in(3) ? 4 : 0;
                share_carry(made);
                check(made, FORM_PARKED);
            }
}

/* Bytes in parked tiles, in rows of whole words that may lie apart: ends of tiles, warps and lanes; where rows begin in
 * the middle of a sector, and where the blocks that do stage 2 would be too many. */
static void check_parked_bytes(unsigned processors, const std::vector<size_t> &columns, unsigned share) {
    play_device(processors, 9);
    for (const size_t width : columns)
        for (const size_t tiles : {0, 1, 3})
            for (const size_t rows : {1, 15, 16, 17, 32, 33, 127, 128, 129, 511, 512, 700, 1023, 1025, 2047, 2048}) {
                const size_t chunk = width <= 16 ? 2048 : width <= 32 ? 1024 : 512;
                if (!one_in(share * DEAR) || rows > chunk)
                    continue;
                const bool wide = one_in(3);
                request made = vary({TABLE_U8, wide ? TABLE_U64 : TABLE_U32}, tiles * chunk + rows, width);
                made.in_gap = 4 * (one_in(2) ? random_bits() % 5 : 0);
                made.out_gap = (wide ? 2 : 4) * (one_in(2) ? random_bits() % 5 : 0);
                made.offset = one_in(2) ? 4 : 0;
                share_carry(made);
                check(made, one_in(4) ? FORM_GENERAL : FORM_PARKED);
            }
}

/* Bytes in rows side by side, which are read twice: ends of tiles, strips and lines, and of the chunks of four tiles,
 * or of eight small ones of lines, where blocks take several tiles each, and where there are fewer tiles than blocks.
 */
static void check_bytes(unsigned processors, const std::vector<size_t> &columns, unsigned share) {
    static const size_t FEW_ROWS[] = {0, 16384, 8192, 6144, 3584, 4096, 3072, 2048}; /* of a tile */
    play_device(processors, 9);
    for (const size_t width : columns)
        for (const size_t tiles : {0, 1, 3, 4, 5, 9}) {
            const bool fast = one_in(2);
            const size_t tile = width < 8 ? FEW_ROWS[width] : 16 * (fast ? 7 : 4) * (32 / (width / 4));
            emulator_memory_rate(fast ? SIZE_MAX : 0);
            for (const size_t rows : {size_t(1), size_t(2), size_t(3), size_t(5), tile / 16 - 1, tile / 16,
                                      tile / 16 + 1, tile / 2 + 7, tile - 3, tile - 1}) {
                if (!one_in(share * DEAR))
                    continue;
                request made = vary({TABLE_U8, TABLE_U32}, tiles * tile + rows, width);
                made.in_gap = made.out_gap = made.offset = 0;
                share_carry(made);
                check(made, FORM_BYTES);
            }
        }
}

/* By the size of their sums, 4 bytes or 8, where values are as long; and where they are shorter. */
typedef std::vector<pair> pairs;
static const pairs WORDS(PAIRS, PAIRS + 3), LONG_WORDS(PAIRS + 3, PAIRS + 6), WIDENED(PAIRS + 6, PAIRS + PAIR_COUNT);
static const pairs SHORT(PAIRS + 6, PAIRS + 10); /* values of one and two bytes */
static const pairs WIDENED_LONG = {PAIRS[7], PAIRS[9], PAIRS[10], PAIRS[11], PAIRS[12]};
static const pair &one_of(const pairs &types) { return types[random_bits() % types.size()]; }

/* Long rows side by side, as tiles that stay where they came (rows.cu), whole or in pieces: ends of
 * tiles, strips and chunks. So many processors have room for all blocks of stage 2. */
static void check_rows(unsigned processors, const pairs &types, const std::vector<size_t> &columns, unsigned share) {
    play_device(processors, 9);
    for (const size_t width : columns)
        for (const size_t chunks : {0, 1, 3, 7})
            for (const size_t rows : {1, 4, 15, 16, 17, 33, 63, 65, 127, 128, 129, 255, 257, 384, 385, 511, 512}) {
                const bool is_long = width > 32; /* short rows have tiles of up to two chunks */
                if (!one_in(share * DEAR) || (chunks == 7 && is_long))
                    continue;
                const pair &chosen = one_of(types);
                request made = vary(chosen, chunks * 512 + rows, width);
                made.in_gap = made.out_gap = 0;
                made.offset = one_in(4) ? 16 / table_type_size(chosen.in) : 0;
                share_carry(made);
                check(made, FORM_ROWS);
            }
}

/* The same of bytes, which wait in registers, in rows that may lie apart. */
static void check_long_bytes(unsigned processors, const std::vector<size_t> &columns, unsigned share) {
    play_device(processors, 9);
    for (const size_t width : columns)
        for (const size_t chunks : {0, 1, 3})
            for (const size_t rows : {1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 777, 1024}) {
                if (!one_in(share * DEAR))
                    continue;
                request made = vary({TABLE_U8, TABLE_U32}, chunks * 512 + rows, width);
                made.in_gap = 4 * (one_in(2) ? random_bits() % 5 : 0);
                made.out_gap = 4 * (one_in(2) ? random_bits() % 5 : 0);
                made.offset = one_in(2) ? 4 : 0;
                share_carry(made);
                check(made, FORM_ROWS);
            }
}

/* So many chunks that the words of the first ones are those of others, too, more than once. */
static void check_ring(unsigned processors, pair types, size_t columns, size_t chunks, unsigned times) {
    play_device(processors, 9);
    times = !EMULATOR_SANITIZED ? times : one_in(4);
    while (times-- > 0) {
        request made = vary(types, chunks * 512 + random_bits() % 512, columns);
        made.in_gap = made.out_gap = made.offset = 0;
        check(made, FORM_ROWS);
    }
}

static void check_nothing() {
    for (const pair &types : PAIRS)
        check(vary(types, 0, 3), FORM_BEST);
}

int main() {
    const char *seed = getenv("TUPLESCAN_EMULATOR_SEED"), *few = getenv("TUPLESCAN_TEST_FEW");
    const unsigned share = 2 * (few ? static_cast<unsigned>(atoi(few)) : 4);
    random_state = seed ? strtoull(seed, nullptr, 0) : 1;
    check_nothing();
    if (!EMULATOR_TSAN) { /* it knows no more than 8128 threads */
        play_device(8, 9);
        check_boundaries(FORM_WAVE, 2 * share);
    }
    play_device(4, 9);
    check_one_chunk(FORM_ALONE, share);
    check_wide(FORM_ALONE);
    check_one_chunk(FORM_BEST, 2 * share);
    check_boundaries(FORM_WAVE, 4 * share);
    check_wide(FORM_WAVE);
    check_overflow_of_wave(EMULATOR_SANITIZED ? 8 : 60);
    check_harmed_wave(EMULATOR_SANITIZED ? 1 : 3);
    check_boundaries(FORM_PARKED, 3 * share);
    check_wide(FORM_PARKED);
    check_boundaries(FORM_GENERAL, 4 * share);
    check_long(FORM_PARKED);
    check_boundaries(FORM_BEST, 4 * share);
    play_device(2, 9); /* fewer tiles at once than chunks that stage 2 takes in a group */
    check_long(FORM_PARKED);
    check_shared_chunks(4, {100, 132}, 3); /* nobody: a chain */
    if (!EMULATOR_TSAN) {
        check_shared_chunks(8, {20, 36, 60, 64, 260, 300}, 6); /* up to two blocks, or nobody */
        check_shared_chunks(28, {68, 100, 124}, 6);            /* up to eight, of 16 columns each, or nobody */
        check_shared_chunks(16, {600, 1000}, 24);              /* of 256 columns each */
    }
    check_bytes(4, {2, 5, 12}, 8);
    if (!EMULATOR_TSAN) {
        check_bytes(6, {1, 3, 4, 6, 7}, 16);         /* one block for stage 2 */
        check_bytes(16, {8, 20, 36, 44, 48, 64}, 8); /* up to four; 44, 48: a quarter of the lanes is idle */
    }
    check_parked_bytes(4, {12, 100}, 4); /* 12: one block for stage 2; 100: a chain */
    if (!EMULATOR_TSAN) {
        check_parked_bytes(8, {16, 20, 32, 36, 64}, 8); /* one or two; 36, 64: nobody */
        check_parked_bytes(28, {60, 68, 100}, 6);       /* up to seven of 16 columns each */
        check_parked_bytes(20, {140, 124}, 6);          /* five of 32; or nobody */
    }
    check_rows(6, LONG_WORDS, {34, 36, 48}, 6); /* three blocks for stage 2 */
    check_rows(6, WORDS, {17, 31, 33}, 6);      /* rows of no whole vectors */
    check_rows(6, SHORT, {9, 10, 11}, 12);      /* half a warp for a strip */
    check_rows(6, WIDENED, {15, 23, 33, 47}, 8);
    check_ring(6, one_of(LONG_WORDS), 34, 40, 4);
    check_ring(6, one_of(WORDS), 33, 80, 4);
    check_long_bytes(8, {64}, 6); /* four blocks for stage 2 */
    if (!EMULATOR_TSAN) {
        check_rows(6, WIDENED, {13, 17, 25, 31}, 12);
        check_rows(6, WORDS, {9, 10, 11}, 8);
        check_rows(6, LONG_WORDS, {13, 15}, 8);
        check_ring(6, one_of(SHORT), 9, 240, 2);
        check_ring(6, one_of(WIDENED), 23, 240, 2);
        check_rows(14, LONG_WORDS, {66, 94}, 8); /* whole vectors that begin anywhere in a sector */
        check_rows(56, WORDS, {132, 180}, 16);
        check_rows(20, WORDS, {204, 260}, 12);
        check_rows(18, LONG_WORDS, {102, 130}, 12);
        check_rows(22, WIDENED_LONG, {18, 20, 36, 68, 98, 130}, 12);
        check_rows(22, {{TABLE_U16, TABLE_U32}}, {36, 40, 68, 100, 132, 260}, 12);
        check_rows(14, WORDS, {68, 72, 100}, 6); /* up to seven */
        check_rows(22, WORDS, {124}, 6);
        check_rows(14, LONG_WORDS, {17, 31, 33, 63}, 6);
        check_rows(18, WORDS, {63, 66, 70, 71, 97}, 8);
        check_rows(56, WORDS, {127, 131, 201}, 16);
        check_rows(28, LONG_WORDS, {67, 99}, 12);
        check_rows(20, WORDS, {205, 263}, 12); /* in pieces that begin anywhere */
        check_rows(18, LONG_WORDS, {103, 133}, 12);
        check_rows(40, WORDS, {1031}, 24);
        check_rows(6, WIDENED_LONG, {17, 31}, 8);
        check_rows(24, WIDENED, {65, 95, 97, 127}, 8);
        check_rows(34, WIDENED, {129, 201, 255}, 8);
        check_rows(34, WIDENED, {263, 333, 667}, 16); /* in pieces */
        check_ring(24, one_of(WIDENED), 99, 40, 2);
        check_ring(34, one_of(WIDENED), 263, 24, 1);
        check_ring(18, one_of(WORDS), 263, 24, 1);
        check_ring(6, one_of(LONG_WORDS), 17, 80, 2);
        check_ring(6, one_of(WORDS), 19, 80, 2);
        check_rows(34, WORDS, {520}, 16); /* in pieces: 17, of 32 columns each */
        check_rows(26, LONG_WORDS, {388}, 16);
        check_ring(10, one_of(WORDS), 72, 30, 2);
        check_ring(34, one_of(WORDS), 520, 24, 1);
        check_long_bytes(16, {68, 72, 100, 128}, 6); /* up to eight */
        check_long_bytes(18, {132, 136, 264}, 12);   /* of 32 columns each */
        check_long_bytes(18, {1032}, 24);            /* of 128 */
        check_ring(10, {TABLE_U8, TABLE_U32}, 72, 40, 2);
        check_ring(18, {TABLE_U8, TABLE_U32}, 1032, 24, 1);
    }
    if (!EMULATOR_TSAN) {
        play_device(20, 9);
        check_wave(40);
    }
    play_device(4, 8); /* no wave, no bulk copies */
    check_boundaries(FORM_BEST, 8 * share);
    play_device(4, 7); /* no parking either */
    check_one_chunk(FORM_ALONE, 4 * share);
    check_boundaries(FORM_BEST, 4 * share);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0;
}
