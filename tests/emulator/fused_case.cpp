#include "fused_case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cuda_runtime.h"
#include "emulator.h"
#include "splitmix64.h"

static int passed = 0, failed = 0;
int checks_passed() { return passed; }
int checks_failed() { return failed; }

static uint64_t random_state;
void seed_choices(uint64_t seed) { random_state = seed; }
uint64_t random_bits() { return splitmix64_next(&random_state); }
bool one_in(unsigned times) { return random_bits() % times == 0; }

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

/* Rows of values: any bits, or integers of at most so many, or floats that neither overflow nor are exact, among which
 * there may be NaNs: small ones with the bits next to infinity. */
static bytes values(table_type type, size_t count, unsigned width = 64, bool nans = false) {
    bytes made(count * table_type_size(type));
    const uint64_t flip = one_in(2) ? ~uint64_t(0) : 0; /* signed ones have one sign, or else they never overflow */
    for (size_t at = 0; at < count; at++) {
        uint64_t bits = random_bits();
        if (!type_is_float(type) && width < 64)
            bits = (bits >> 1 >> (63 - width)) ^ (type_is_signed_integer(type) ? flip : 0);
        const bool none = nans && bits % 5 == 0;
        const double number = none ? std::copysign(NAN, static_cast<double>(bits % 2) - 0.5)
                                   : (static_cast<double>(bits >> 12) / 4e15 - 0.5) * (bits % 3 ? 1 : 1e6);
        const float narrow = static_cast<float>(number);
        const value_f16 half = none ? value_f16{static_cast<uint16_t>(0x7c01 | bits << 15)} : value_f16_of(narrow);
        const value_bf16 brief = none ? value_bf16{static_cast<uint16_t>(0x7f81 | bits << 15)} : value_bf16_of(narrow);
        if (type == TABLE_F16)
            memcpy(&made[2 * at], &half, 2);
        else if (type == TABLE_BF16)
            memcpy(&made[2 * at], &brief, 2);
        else if (type == TABLE_F32)
            memcpy(&made[4 * at], &narrow, 4);
        else if (type == TABLE_F64)
            memcpy(&made[8 * at], &number, 8);
        else
            memcpy(&made[table_type_size(type) * at], &bits, table_type_size(type));
    }
    return made;
}

/* Sums that values of that width may or may not take beyond the type. */
static bytes near_limits(const request &what) {
    const unsigned bits = 8 * static_cast<unsigned>(table_type_size(what.types.out));
    const uint64_t most = ~uint64_t(0) >> (64 - bits + (type_is_signed_integer(what.types.out) ? 1 : 0));
    const unsigned shift = what.width + static_cast<unsigned>(random_bits() % 4);
    const uint64_t far = static_cast<uint64_t>(what.rows) << (shift < 64 ? shift : 63);
    const uint64_t span = shift < 40 && far < most ? far : most - 1; /* what the table adds is mostly half of it */
    bytes made(what.columns * table_type_size(what.types.out));      /* of integers: the type of the sums */
    for (size_t c = 0; c < what.columns; c++) {
        const uint64_t left = span / 4 + random_bits() % (span - span / 4 + 1);
        const uint64_t sum = type_is_signed_integer(what.types.out) && one_in(2) ? ~(most - left) : most - left;
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
    const ptrdiff_t in_stride = static_cast<ptrdiff_t>(what.columns + what.in_gap);
    const ptrdiff_t out_stride = static_cast<ptrdiff_t>(what.columns + what.out_gap);
    const auto bytes_of = [&](ptrdiff_t stride, size_t size) {
        return (what.rows * static_cast<size_t>(stride) + what.offset) * size;
    };
    /* Row 0: the last one of those that lie in memory, where they are reversed. */
    const auto view_of = [&](ptrdiff_t stride, size_t size, table_type type) {
        const size_t last = what.reversed && what.rows > 0 ? (what.rows - 1) * static_cast<size_t>(stride) : 0;
        return table_view{reinterpret_cast<void *>((what.offset + last) * size), what.rows, what.columns,
                          what.reversed ? -stride : stride, type};
    };
    prepared made;
    made.in = values(what.types.in, bytes_of(in_stride, in_size) / in_size, what.width, what.skip_nan);
    made.out.assign(bytes_of(out_stride, out_size), 0xab);
    made.carry = what.width < 64 && !type_is_float(what.types.out)
                     ? near_limits(what)
                     : values(table_sum_type(what.types.out), what.columns);
    made.from = view_of(in_stride, in_size, what.types.in);
    made.to = view_of(out_stride, out_size, what.types.out);
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
    options.skip_nan = what.skip_nan;
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

static disturbance harm = NOTHING; /* what happens each time; NOTHING: any of them */
void harm_counts(disturbance each_time) { harm = each_time; }

static uint64_t disturbed_count(uint64_t word, disturbance how) {
    const uint64_t drawn = word & 0xffff; /* after one replay it is what each of them adds */
    switch (how) {
    case COUNT_LOST:
        return random_bits();
    case COUNT_ENDS:
        return drawn != 0 ? word | (0xffff & ~((drawn & (~drawn + 1)) - 1)) * 0x100000001 : word;
    case TICKET: /* another call counts in the lower half */
        return (word & ~uint64_t(0xffffffff)) | random_bits() % 1024;
    case BYTE: /* another call has put a table of one value there */
        return (word & ~uint64_t(0xff)) | random_bits() % 3;
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
    if (how == FILLED)
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
    options.skip_nan = what.skip_nan;
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
    options.skip_nan = what.skip_nan;
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
    fprintf(stderr,
            "%s, form %s: wrong for %s->%s, %zu rows x %zu columns, gaps %zu %zu, offset %zu, in place %d, exclusive "
            "%d, reversed %d,"
            " carry %d %d %d, overflow %d, skip NaN %d %s\n",
            what, form ? form : "best", table_type_name(request.types.in), table_type_name(request.types.out),
            request.rows, request.columns, request.in_gap, request.out_gap, request.offset, request.in_place,
            request.exclusive, request.reversed, request.carry_in, request.carry_out, request.same_carry,
            request.overflow, request.skip_nan, emulator_report());
    emulator_clear();
}

/* The most tiles that a wave makes of the rows: few columns that may lie apart, or anywhere, go by shares of chunks. */
static size_t wave_rows_of_tiles(const request &what) {
    const bool apart = what.in_gap || what.out_gap || what.offset || what.reversed;
    const size_t shares = what.columns <= FEW_COLUMNS && apart ? WAVE_SHARES : 1;
    const size_t rows = resident_chunk_rows(what.types.out, what.columns) / shares;
    return (what.rows + rows - 1) / rows;
}

static size_t panels_of(const request &what) { return (what.columns * kernel_sum_bytes(what.types.out) + 127) / 128; }

/* The most tiles that the wave takes on the device that is played, and whether the device can park tiles. */
static size_t wave_tiles;
static bool parks;
void play_device(unsigned processors, unsigned major) {
    emulator_device(processors, major);
    parks = major >= 8;
    wave_tiles = major >= 9 ? 2 * processors : 0;
}

/* Whether a kernel after that of the tiles puts the last row of each above the next one: 1 or 0, or -1 where it is not
 * known how many tiles there are. A tile has as many rows as a chunk, or by rows up to four chunks, or fewer, but no
 * less than a unit. */
static int has_first_rows(const request &what, const char *form) {
    if (!type_is_float(what.types.out) || !what.exclusive || what.rows <= KERNEL_UNIT_ROWS)
        return 0;
    return what.rows > (is_form(form, FORM_ROWS) ? 4 : 1) * kernel_chunk_rows(what.types.out, what.columns) ? 1 : -1;
}

/* Whether a form skips NaNs: rows do, and buffered tiles of values as wide as their sums. */
static bool skips_nan(const pair &types, const char *form) {
    return is_form(form, FORM_ROWS) || (type_bytes(types.in) == kernel_sum_bytes(types.out) &&
                                        (is_form(form, FORM_BUFFERED) || is_form(form, FORM_NO_BULK)));
}

/* Whether a form has kernels for a call, as far as that is known: the separate stages alone have them for small floats
 * that become f64; for integers that become floats there are rows, and few buffered tiles; and the wave has none for
 * small floats. */
static bool has_kernels(const request &what, const char *form) {
    const pair &types = what.types;
    const bool small = types.in == TABLE_F16 || types.in == TABLE_BF16;
    return (type_is_float(types.in) == type_is_float(types.out) || is_form(form, FORM_ROWS)) &&
           !(small && (types.out == TABLE_F64 || is_form(form, FORM_WAVE))) &&
           (!what.skip_nan || skips_nan(types, form));
}

/* The nodes of a call that the form is known to take, when its rows are on the device; 0: not known, as the separate
 * stages may do the call. There is one more for the overflow's word: before the alone form, if it has several panels,
 * before the wave, and after the other forms, whose sums are then looked at. */
static size_t nodes_of(const request &what, const char *form) {
    if (!is_form(form, FORM_ALONE) && !has_kernels(what, form))
        return 0;
    const size_t chunk = kernel_chunk_rows(what.types.out, what.columns), before = what.overflow && panels_of(what) > 1;
    const int behind = has_first_rows(what, form);
    if (is_form(form, FORM_ALONE))
        return what.rows <= chunk / 4 ? 1 + before : 0;
    if (behind < 0)
        return 0;
    const size_t both = 1 + static_cast<size_t>(behind);
    if (is_form(form, FORM_WAVE))
        return wave_rows_of_tiles(what) * panels_of(what) <= wave_tiles ? both + what.overflow : 0;
    if (is_form(form, FORM_ROWS) || is_form(form, FORM_BYTES)) /* where the table is such */
        return both + what.overflow;
    if (is_form(form, FORM_BUFFERED) || is_form(form, FORM_NO_BULK))
        return parks ? both + what.overflow : 0;
    return 0;
}

void check(const request &what, const char *form) {
    const prepared data = prepare(what);
    const outcome expected = by_cpu(what, data);
    size_t nodes = 0;
    cuda_forced_algorithm = form;
    const unsigned rounds = harm ? 3 : !form || is_form(form, FORM_WAVE) ? 1 + random_bits() % 3 : 1;
    expect(by_graph(what, data, rounds, &nodes) == expected, "graph", form, what);
    expect(nodes_of(what, form) == 0 || nodes == nodes_of(what, form), "nodes", form, what);
    if (one_in(3))
        expect(by_call(what, data) == expected, "one call", form, what);
    cuda_forced_algorithm = FORM_BEST;
}

request vary(pair types, size_t rows, size_t columns) {
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
    made.reversed = one_in(4);
    made.carry_in = !one_in(3);
    made.carry_out = !one_in(3);
    made.same_carry = made.carry_in && made.carry_out && one_in(2);
    made.overflow = !type_is_float(types.out) && one_in(2);
    made.skip_nan = type_is_float(types.out) && one_in(3);
    made.width = 64;
    if (made.overflow && !one_in(4))
        made.width = static_cast<unsigned>(random_bits() % (8 * table_type_size(types.in)));
    return made;
}

void share_carry(request &made) {
    made.same_carry = made.same_carry || one_in(2);
    made.carry_in = made.carry_in || made.same_carry;
    made.carry_out = made.carry_out || made.same_carry;
}
