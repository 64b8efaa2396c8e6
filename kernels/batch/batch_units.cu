/* A batch of tables of one column in one launch, whose rows lie side by side: a warp has 32 runs of 16 rows, which
 * follow each other in memory, a run a lane: short tables (several of 2, 4 or 8 rows in a run), or a unit of a longer
 * one, of which it takes one after the other. They come and go by whole vectors, by way of the warp's shared memory,
 * where values lie as in the table, results as written. Small values take few accesses, and no warp waits for others.
 * docs/lab/2026-11-30.md#several-tables-of-small-values */
#include "batch/batch_kinds.h"
#include "batch/units_above.cuh"
#include "batch/vector_read.cuh"
#include "choose/dispatch.cuh"
#include "tile/store.cuh"

struct units_pass {
    const void *in;
    void *out;
    ptrdiff_t in_table, out_table; /* from one to the next */
    size_t count, rows;            /* tables, and of one of them */
    const void *carry_in;
    void *carry_out;
    value_reading reading;
    value_kind result;
    bool exclusive;
    unsigned lanes;  /* that have rows of a table: a power of two; or 1, if these have several tables */
    unsigned tables; /* of a warp */
};

/* 16 bytes of the table. */
typedef vector_of<uint32_t, VECTOR_BYTES / sizeof(uint32_t)> unit_vector;

/* Where a vector lies in shared memory, if a lane has EACH of them: lanes that access their own ones meet in no bank,
 * nor do lanes that take vectors in the order of the table. */
template <unsigned EACH> DEVICE unsigned unit_place(unsigned number) {
    constexpr unsigned BANKS = LINE_BYTES / VECTOR_BYTES;
    static_assert(EACH <= BANKS && EACH == power_of_two_in(EACH), "a row of banks is permuted by its number");
    return number ^ (number / BANKS & (EACH - 1));
}

/* The shared memory of a warp: its results have a place of their own, so that the next values may come, where there is
 * room for it. */
template <class SUM> struct units_memory {
    static constexpr bool AHEAD = sizeof(SUM) == 4;
    SUM values[AHEAD ? 2 : 1][UNIT_ROWS];
};

/* The runs of a warp, of which the first `runs` ones are there; the others change no sum. */
template <class INPUT, class SUM> struct warp_runs {
    static constexpr unsigned COUNT = VECTOR_BYTES / sizeof(INPUT), VECTORS = UNIT_EACH / COUNT;
    units_memory<SUM> *memory;
    ptrdiff_t from, to; /* the first value and result */
    unsigned runs;

    /* Begins to load the values. */
    DEVICE void request(const units_pass &pass) const {
        const unit_vector *const source =
            reinterpret_cast<const unit_vector *>(static_cast<const INPUT *>(pass.in) + from);
        unit_vector *const there = reinterpret_cast<unit_vector *>(memory->values[0]);
        const unsigned lane = thread_index_anew() % WARP_LANES;
        UNROLL
        for (unsigned k = 0; k < VECTORS; k++) {
            const unsigned number = k * WARP_LANES + lane;
            unit_vector &place = there[unit_place<VECTORS>(number)];
            if (number < runs * VECTORS)
                copy_ahead<VECTOR_BYTES>(&place, source + number);
            else
                reinterpret_cast<read_vector<INPUT, COUNT> &>(place) = identity_vector<INPUT, COUNT>();
        }
    }
    /* Takes the values of run number `own`, when they have come. */
    DEVICE void take(const units_pass &pass, unsigned own, lane_rows<SUM> &rows) const {
        const unit_vector *const there = reinterpret_cast<const unit_vector *>(memory->values[0]);
        read_vector<INPUT, COUNT> read[VECTORS];
        copies_ahead_wait();
        warp_barrier(WARP_ALL);
        UNROLL
        for (unsigned k = 0; k < VECTORS; k++)
            read[k] =
                reinterpret_cast<const read_vector<INPUT, COUNT> &>(there[unit_place<VECTORS>(own * VECTORS + k)]);
        warp_barrier(WARP_ALL); /* all lanes have taken their values */
        each_sum<SUM, INPUT, COUNT>(pass.reading, read,
                                    [&](unsigned k, unsigned j, SUM sum) { rows[k * COUNT + j] = sum; });
    }
    /* Writes the results, those of run number `own` from this lane, if that is there. */
    template <value_kind KIND>
    DEVICE void write(const units_pass &pass, unsigned own, const lane_rows<SUM> &results) const {
        constexpr bool IS_PLAIN = KIND == value_kind::PLAIN;
        constexpr unsigned BYTES = IS_PLAIN ? sizeof(SUM) : sizeof(uint16_t), EACH = VECTOR_BYTES / BYTES;
        constexpr unsigned OUT = UNIT_EACH / EACH;
        unit_vector *const there = reinterpret_cast<unit_vector *>(memory->values[memory->AHEAD ? 1 : 0]);
        unit_vector *const target =
            reinterpret_cast<unit_vector *>(static_cast<unsigned char *>(pass.out) + to * ptrdiff_t(BYTES));
        UNROLL
        for (unsigned k = 0; k < OUT; k++) {
            vector_of<SUM, EACH> part;
            UNROLL
            for (unsigned j = 0; j < EACH; j++)
                part.at[j] = results[k * EACH + j];
            unit_vector &place = there[unit_place<OUT>(own * OUT + k)];
            if (own >= runs)
                continue;
            if constexpr (IS_PLAIN)
                place = reinterpret_cast<const unit_vector &>(part);
            else
                place = rounded<KIND>(part);
        }
        warp_barrier(WARP_ALL);
        const unsigned lane = thread_index_anew() % WARP_LANES;
        UNROLL
        for (unsigned k = 0; k < OUT; k++) {
            const unsigned number = k * WARP_LANES + lane;
            if (number < runs * OUT)
                store_vector(target + number, there[unit_place<OUT>(number)]);
        }
        warp_barrier(WARP_ALL); /* before others come there */
    }
    /* Writes the sums from the prefix on. `above`: the value above the first row, if results are exclusive. */
    DEVICE void put(const units_pass &pass, unsigned own, lane_rows<SUM> &rows, SUM prefix, SUM above) const {
        add_to_rows(prefix, rows);
        if (pass.exclusive) {
            UNROLL
            for (unsigned k = UNIT_EACH - 1; k > 0; k--)
                rows[k] = rows[k - 1];
            rows[0] = above;
        }
        with_result<input_traits<INPUT>::LOOSE>(pass.result,
                                                [&](auto kind) { write<decltype(kind)::value>(pass, own, rows); });
    }
};

template <class SUM> DEVICE SUM start_of_table(const units_pass &pass, size_t table, bool is_there) {
    return is_there && pass.carry_in ? static_cast<const SUM *>(pass.carry_in)[table] : SUM(0);
}

/* Tables of at most a unit, each of `lanes` lanes. */
template <class INPUT, class SUM>
DEVICE void sum_short_tables(const units_pass &pass, size_t first, unsigned count, units_memory<SUM> &memory) {
    const unsigned each = static_cast<unsigned>(pass.rows) / UNIT_EACH, lane = thread_index() % WARP_LANES;
    const unsigned in_group = lane & (pass.lanes - 1), table = lane / pass.lanes;
    const unsigned own = table < count && in_group < each ? table * each + in_group : WARP_LANES - 1;
    const ptrdiff_t begin = static_cast<ptrdiff_t>(first * pass.rows);
    const warp_runs<INPUT, SUM> runs = {&memory, begin, begin, count * each};
    runs.request(pass);
    const SUM start = start_of_table<SUM>(pass, first + table, table < count);
    lane_rows<SUM> rows;
    SUM prefix = start;
    runs.take(pass, own, rows);
    sum_column(rows, pass.lanes, prefix);
    const SUM last = combine(prefix, rows[UNIT_EACH - 1]), left = warp_shuffle_up(WARP_ALL, last, 1);
    if (pass.carry_out && table < count && in_group == pass.lanes - 1)
        static_cast<SUM *>(pass.carry_out)[first + table] = last;
    runs.put(pass, own, rows, prefix, in_group == 0 ? start : left);
}

/* Tables of 2, 4 or 8 rows: a run is several tables, which begin with nothing. */
template <class INPUT, class SUM>
DEVICE void sum_tiny_tables(const units_pass &pass, size_t first, unsigned count, units_memory<SUM> &memory) {
    const ptrdiff_t begin = static_cast<ptrdiff_t>(first * pass.rows);
    const unsigned lane = thread_index() % WARP_LANES;
    const warp_runs<INPUT, SUM> runs = {&memory, begin, begin, count * static_cast<unsigned>(pass.rows) / UNIT_EACH};
    lane_rows<SUM> rows;
    runs.request(pass);
    runs.take(pass, lane, rows);
    UNROLL
    for (unsigned half = 1; half < UNIT_EACH / 2; half *= 2)
        if (half < pass.rows)
            UNROLL
    for (unsigned k = 0; k < UNIT_EACH; k++)
        if (k & half)
            rows[k] = combine(rows[(k & ~(2 * half - 1)) + half - 1], rows[k]);
    runs.put(pass, lane, rows, SUM(0), SUM(0));
}

/* A longer table, unit after unit, of which the next one is on its way where there is room for it. */
template <class INPUT, class SUM>
DEVICE void sum_long_table(const units_pass &pass, size_t table, units_memory<SUM> &memory) {
    const ptrdiff_t number = static_cast<ptrdiff_t>(table);
    const unsigned lane = thread_index() % WARP_LANES;
    warp_runs<INPUT, SUM> runs = {&memory, number * pass.in_table, number * pass.out_table, WARP_LANES};
    SUM above = start_of_table<SUM>(pass, table, true);
    units_above<SUM> units(above);
    runs.request(pass);
    KEEP_LOOP
    for (size_t left = pass.rows;;) {
        lane_rows<SUM> rows;
        SUM prefix = sum_identity<SUM>();
        warp_runs<INPUT, SUM> next = runs;
        runs.take(pass, lane, rows);
        left -= runs.runs * UNIT_EACH;
        next.from += UNIT_ROWS;
        next.to += UNIT_ROWS;
        next.runs = left < UNIT_ROWS ? static_cast<unsigned>(left) / UNIT_EACH : WARP_LANES;
        if (memory.AHEAD && left > 0)
            next.request(pass);
        sum_column(rows, WARP_LANES, prefix);
        const SUM total = warp_shuffle(WARP_ALL, combine(prefix, rows[UNIT_EACH - 1]), WARP_LANES - 1);
        prefix = combine(units.prefix, prefix);
        const SUM before = warp_shuffle_up(WARP_ALL, combine(prefix, rows[UNIT_EACH - 1]), 1);
        runs.put(pass, lane, rows, prefix, lane == 0 ? above : before);
        above = combine(units.prefix, total);
        if (left == 0)
            break;
        units.add(total, above);
        runs = next;
        if (!memory.AHEAD)
            runs.request(pass);
    }
    if (pass.carry_out && lane == 0)
        static_cast<SUM *>(pass.carry_out)[table] = above;
}

template <class INPUT, class SUM> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, sizeof(SUM) == 4 ? 4 : 3)
    units_kernel(units_pass pass) {
    SHARED_ARRAY(units_memory<SUM>, of_warps, COLUMN_WARPS);
    units_memory<SUM> &memory = of_warps[thread_index() / WARP_LANES];
    const size_t first = (size_t(block_index()) * COLUMN_WARPS + thread_index() / WARP_LANES) * pass.tables;
    if (first >= pass.count)
        return;
    const unsigned count = pass.count - first < pass.tables ? static_cast<unsigned>(pass.count - first) : pass.tables;
    if (pass.rows < UNIT_EACH)
        sum_tiny_tables<INPUT>(pass, first, count, memory);
    else if (pass.rows <= UNIT_ROWS)
        sum_short_tables<INPUT>(pass, first, count, memory);
    else
        sum_long_table<INPUT>(pass, first, memory);
}

/* The fewest longer tables, for each warp that the device runs at once: with fewer, many warps have none at the end. */
constexpr size_t TABLES_OF_WARP = 4;

/* Whether tables are runs of whole vectors, and how many of them a warp has. */
static bool make_units(const kernel_batch &batch, units_pass &pass) {
    const size_t in_bytes = type_bytes(batch.in_type), out_bytes = type_bytes(batch.out_type), rows = batch.rows;
    const size_t count = batch.ranges.count;
    const ptrdiff_t joined = static_cast<ptrdiff_t>(rows);
    const size_t in_table = static_cast<size_t>(batch.ranges.in), out_table = static_cast<size_t>(batch.ranges.out);
    const bool side_by_side = count == 1 || (batch.ranges.in == joined && batch.ranges.out == joined);
    const bool is_tiny = rows < UNIT_EACH && (rows & (rows - 1)) == 0 && count * rows % UNIT_EACH == 0 &&
                         !batch.exclusive && !batch.carry_in && !batch.carry_out;
    if (batch.load.without_nan || batch.first_overflow || batch.columns != 1 || rows == 1 || batch.in_stride != 1 ||
        batch.out_stride != 1 || (!is_tiny && rows % UNIT_EACH != 0) ||
        (reinterpret_cast<uintptr_t>(batch.in) | reinterpret_cast<uintptr_t>(batch.out)) % VECTOR_BYTES != 0)
        return false;
    if (rows <= UNIT_ROWS ? !side_by_side
                          : in_table * in_bytes % VECTOR_BYTES != 0 || out_table * out_bytes % VECTOR_BYTES != 0)
        return false;
    pass = {batch.in,
            batch.out,
            batch.ranges.in,
            batch.ranges.out,
            count,
            rows,
            batch.carry_in,
            batch.carry_out,
            reading_of(batch.in_type),
            kind_of_result(batch.out_type),
            batch.exclusive != 0,
            1,
            1};
    while (pass.lanes < WARP_LANES && pass.lanes * UNIT_EACH < rows)
        pass.lanes *= 2;
    pass.tables = static_cast<unsigned>(is_tiny ? UNIT_ROWS / rows : WARP_LANES / pass.lanes);
    return count / pass.tables / COLUMN_WARPS < INT32_MAX;
}

int run_batch_units(const kernel_batch &batch) {
    units_pass pass = {};
    if (!make_units(batch, pass))
        return static_cast<int>(cudaErrorNotSupported);
    return run_types(pass_of_table(batch), [&](auto pair) {
        typedef typename decltype(pair)::Input Input;
        typedef typename decltype(pair)::Sum Sum;
        if constexpr (sizeof(Sum) == 8 && sizeof(Input) < sizeof(Sum)) {
            return static_cast<int>(cudaErrorNotSupported); /* so rare that batch_lines.cu will do */
        } else {
            const size_t of_block = size_t(COLUMN_WARPS) * pass.tables, blocks = (pass.count + of_block - 1) / of_block;
            unsigned at_once = 0;
            const int error =
                pass.rows > UNIT_ROWS ? resident_blocks(units_kernel<Input, Sum>, COLUMN_THREADS, 0, &at_once) : 0;
            if (error == 0 && blocks < TABLES_OF_WARP * at_once)
                return static_cast<int>(cudaErrorNotSupported);
            return error != 0 ? error
                              : launch(units_kernel<Input, Sum>, static_cast<unsigned>(blocks), COLUMN_THREADS, 0,
                                       batch.stream, pass);
        }
    });
}
