/* A batch of tables in one launch, whose rows are whole vectors: a lane has some rows of a vector of columns, and keeps
 * them in registers from the load to the store. A **slot** is a vector of columns of one table. Lanes side by side have
 * slots side by side; up to LANES_DOWN lanes of a warp have rows of one slot, one below the other, and the warps of a
 * block have the rows of a unit. Only their totals go by way of shared memory. A block takes the units of a longer
 * table one after the other. docs/lab/2026-11-28.md#several-tables-in-registers */
#include "batch/batch_kinds.h"
#include "batch/units_above.cuh"
#include "batch/vector_read.cuh"
#include "choose/dispatch.cuh"
#include "tile/store.cuh"

constexpr unsigned LANES_FEW = 4, LANES_EACH = 16; /* rows of a lane: in tables of few rows; in all others */
constexpr unsigned LANES_DOWN = UNIT_ROWS / COLUMN_WARPS / LANES_EACH, LANES_ACROSS = WARP_LANES / LANES_DOWN;
constexpr unsigned LANES_APART = 4; /* warps of a block that exchange nothing */
constexpr size_t FEWEST_SLOTS = 4;  /* of a row: two sectors */

struct lanes_pass {
    const void *in;
    void *out;
    ptrdiff_t in_table, in_row, out_table, out_row; /* from one to the next */
    size_t rows;
    unsigned row_slots, slots; /* of a row of a table; of all tables */
    const void *carry_in;
    void *carry_out;
    value_reading reading;
    value_kind result;
    bool exclusive;
    unsigned down;  /* lanes of a warp that have rows of one slot */
    unsigned warps; /* that have rows of one slot, one below the other: all of a block, or 1 */
};

template <class SUM> constexpr unsigned SLOT = VECTOR_BYTES / sizeof(SUM); /* columns */
template <class SUM, unsigned EACH> using lane_slot = SUM[SLOT<SUM>][EACH];

/* The totals and prefixes that the warps of a block exchange. There are two sets, used in turns, so that one barrier a
 * unit is enough. */
template <class SUM> struct lanes_memory {
    static constexpr unsigned COLUMNS = LANES_ACROSS * SLOT<SUM>;
    SUM totals[2][COLUMN_WARPS][COLUMNS];
    SUM prefixes[2][COLUMNS], lasts[2][COLUMNS]; /* lasts: the inclusive results of the row above the unit */
};

/* Where a lane is: its slot, and how many lanes and warps of that are above it. */
struct lanes_place {
    unsigned across, in_warp, down, part, slot;
    bool active;

    DEVICE lanes_place(const lanes_pass &pass) {
        const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
        const unsigned group = pass.warps > 1 ? block_index() : block_index() * LANES_APART + warp;
        across = WARP_LANES / pass.down;
        down = lane / across;
        in_warp = lane - down * across;
        part = pass.warps > 1 ? warp : 0;
        slot = group * across + in_warp;
        active = slot < pass.slots;
    }
    /* How many rows it has, or the rows `below` them, of the unit from row `begin` on. */
    template <unsigned EACH> DEVICE unsigned rows(const lanes_pass &pass, size_t begin, unsigned below) const {
        const unsigned end = pass.rows - begin < UNIT_ROWS ? static_cast<unsigned>(pass.rows - begin) : UNIT_ROWS;
        const unsigned first = (part * pass.down + down) * EACH + below;
        const unsigned rows = active && first < end ? end - first : 0;
        return rows < EACH ? rows : EACH;
    }
    /* Where the first of them lies, given the distances from table to table and from row to row. */
    template <class SUM, unsigned EACH>
    DEVICE ptrdiff_t at(const lanes_pass &pass, ptrdiff_t table, ptrdiff_t row, size_t begin) const {
        const unsigned number = slot / pass.row_slots;
        return static_cast<ptrdiff_t>(number) * table +
               static_cast<ptrdiff_t>(begin + (part * pass.down + down) * EACH) * row +
               static_cast<ptrdiff_t>((slot - number * pass.row_slots) * SLOT<SUM>);
    }
};

template <class INPUT, class SUM, unsigned EACH>
DEVICE void load_slot(const lanes_pass &pass, const INPUT *from, unsigned rows, lane_slot<SUM, EACH> &values) {
    read_vector<INPUT, SLOT<SUM>> read[EACH];
    UNROLL
    for (unsigned k = 0; k < EACH; k++, from += pass.in_row) {
        read[k] = identity_vector<INPUT, SLOT<SUM>>();
        if (k < rows)
            read[k] = load_whole<INPUT, SLOT<SUM>>(from);
    }
    loads_before_sums(pass.warps == 0);
    each_sum<SUM, INPUT, SLOT<SUM>>(pass.reading, read,
                                    [&](unsigned row, unsigned c, SUM sum) { values[c][row] = sum; });
}

template <class SUM, unsigned EACH, class TARGET>
DEVICE void store_slot(const lanes_pass &pass, TARGET to, unsigned rows, const lane_slot<SUM, EACH> &values) {
    UNROLL
    for (unsigned k = 0; k < EACH; k++, to += pass.out_row) {
        vector_of<SUM, SLOT<SUM>> part;
        UNROLL
        for (unsigned c = 0; c < SLOT<SUM>; c++)
            part.at[c] = values[c][k];
        if (k < rows)
            store_results(to, part);
    }
}

/* Calls add(left) with each total to the left of a part in its unit, given the totals of all parts, the lowest level
 * first. */
template <unsigned HALF, class SUM, class ADD>
DEVICE void each_part_left(const SUM *totals, unsigned part, const ADD &add) {
    constexpr unsigned APART = lanes_memory<SUM>::COLUMNS;
    if constexpr (HALF < COLUMN_WARPS) {
        if ((part & HALF) != 0)
            add(block_total<HALF, APART>(totals + (part & ~(2 * HALF - 1)) * APART));
        each_part_left<2 * HALF>(totals, part, add);
    }
}

/* The running sums of a unit, or of the rows that a warp has of a table: all of it but the prefix. */
template <class SUM, unsigned EACH>
DEVICE void scan_slot(const lanes_pass &pass, const lanes_place &place, SUM *totals, lane_slot<SUM, EACH> &values) {
    UNROLL
    for (unsigned c = 0; c < SLOT<SUM>; c++)
        scan_in_lane(values[c]);
    UNROLL
    for (unsigned half = 1; half < LANES_DOWN; half *= 2)
        if (half < pass.down)
            UNROLL
    for (unsigned c = 0; c < SLOT<SUM>; c++) {
        const unsigned end = (place.down & ~(2 * half - 1)) + half - 1;
        const SUM more = warp_shuffle(WARP_ALL, values[c][EACH - 1], end * place.across + place.in_warp);
        add_to_rows((place.down & half) != 0 ? more : sum_identity<SUM>(), values[c]);
    }
    if (pass.warps == 1)
        return;
    constexpr unsigned COLUMNS = lanes_memory<SUM>::COLUMNS;
    if (place.down == LANES_DOWN - 1)
        UNROLL
    for (unsigned c = 0; c < SLOT<SUM>; c++)
        totals[place.part * COLUMNS + place.in_warp * SLOT<SUM> + c] = values[c][EACH - 1];
    block_barrier();
    UNROLL
    for (unsigned c = 0; c < SLOT<SUM>; c++)
        each_part_left<1>(totals + place.in_warp * SLOT<SUM> + c, place.part,
                          [&](SUM more) { add_to_rows(more, values[c]); });
}

template <class SUM> DEVICE SUM start_of(const lanes_pass &pass, unsigned slot, unsigned column) {
    return pass.carry_in && slot < pass.slots
               ? static_cast<const SUM *>(pass.carry_in)[size_t(slot) * SLOT<SUM> + column]
               : SUM(0);
}

/* Prefixes the sums of a unit, or of the rows that a warp has of a table. */
template <class SUM, unsigned EACH> DEVICE void add_prefix_to_slot(const lanes_pass &pass, const lanes_place &place,
                                                                   const SUM *prefixes, lane_slot<SUM, EACH> &values) {
    UNROLL
    for (unsigned c = 0; c < SLOT<SUM>; c++) {
        const SUM prefix =
            pass.warps > 1 ? prefixes[place.in_warp * SLOT<SUM> + c] : start_of<SUM>(pass, place.slot, c);
        add_to_rows(prefix, values[c]);
    }
}

/* Carries out the last row of the last lane of each slot. */
template <class SUM, unsigned EACH>
DEVICE void leave_end(const lanes_pass &pass, const lanes_place &place, const lane_slot<SUM, EACH> &values) {
    if (!place.active || place.part != pass.warps - 1 || place.down != pass.down - 1)
        return;
    UNROLL
    for (unsigned c = 0; c < SLOT<SUM>; c++)
        static_cast<SUM *>(pass.carry_out)[size_t(place.slot) * SLOT<SUM> + c] = values[c][EACH - 1];
}

/* Writes the exclusive result of a unit's first row: the inclusive result of the row above. */
template <class SUM, class TARGET>
DEVICE void store_above(const lanes_pass &pass, const lanes_place &place, const SUM *lasts, const TARGET &to) {
    vector_of<SUM, SLOT<SUM>> above;
    UNROLL
    for (unsigned c = 0; c < SLOT<SUM>; c++)
        above.at[c] = pass.warps > 1 ? lasts[place.in_warp * SLOT<SUM> + c] : start_of<SUM>(pass, place.slot, c);
    if (place.active && place.part == 0 && place.down == 0)
        store_results(to, above);
}

/* Sums a unit from row `begin` on, or all rows that a warp has of a table. Exclusive results are the inclusive ones,
 * each in the row below. The result of a unit's last row is written with the next unit, which has not been read yet. */
template <class INPUT, class SUM, unsigned EACH> DEVICE void sum_unit(const lanes_pass &pass, const lanes_place &place,
                                                                      size_t begin, SUM *totals, const SUM *prefixes,
                                                                      const SUM *lasts) {
    lane_slot<SUM, EACH> values;
    load_slot<INPUT, SUM, EACH>(pass,
                                static_cast<const INPUT *>(pass.in) +
                                    place.template at<SUM, EACH>(pass, pass.in_table, pass.in_row, begin),
                                place.template rows<EACH>(pass, begin, 0), values);
    scan_slot<SUM, EACH>(pass, place, totals, values);
    add_prefix_to_slot<SUM, EACH>(pass, place, prefixes, values);
    const unsigned below = pass.exclusive ? 1 : 0, rows = place.template rows<EACH>(pass, begin, below);
    const ptrdiff_t first = place.template at<SUM, EACH>(pass, pass.out_table, pass.out_row, begin);
    with_result<input_traits<INPUT>::LOOSE>(pass.result, [&](auto kind) {
        const auto to = target_of_kind<decltype(kind)::value, SUM>(pass.out) + first;
        if (pass.exclusive)
            store_above(pass, place, lasts, to);
        warp_barrier(WARP_ALL); /* all lanes have read their rows and start values before a lane writes */
        if (pass.carry_out && pass.rows - begin <= UNIT_ROWS)
            leave_end<SUM, EACH>(pass, place, values);
        store_slot<SUM, EACH>(pass, to + static_cast<ptrdiff_t>(below) * pass.out_row, rows, values);
    });
}

/* EACH: rows of a lane. */
template <class INPUT, class SUM, unsigned EACH> KERNEL LAUNCH_BOUNDS(COLUMN_THREADS, EACH == LANES_FEW ? 4 : 2)
    lanes_kernel(lanes_pass pass) {
    typedef lanes_memory<SUM> memory_type;
    SHARED_ARRAY(memory_type, memory, 1);
    const lanes_place place(pass);
    const unsigned own = thread_index(); /* the column of the block whose prefixes the thread makes */
    const bool makes = own < memory_type::COLUMNS && pass.warps > 1;
    units_above<SUM> units(makes ? start_of<SUM>(pass, place.slot - place.in_warp + own / SLOT<SUM>, own % SLOT<SUM>)
                                 : SUM(0));
    if (makes)
        memory->prefixes[0][own] = memory->lasts[0][own] = units.prefix;
    unsigned turn = 0;
    KEEP_LOOP
    for (size_t begin = 0;; begin += UNIT_ROWS, turn ^= 1) {
        SUM *const totals = &memory->totals[turn][0][0];
        sum_unit<INPUT, SUM, EACH>(pass, place, begin, totals, memory->prefixes[turn], memory->lasts[turn]);
        if (pass.rows - begin <= UNIT_ROWS)
            return;
        if (!makes)
            continue;
        const SUM total = block_total<COLUMN_WARPS, memory_type::COLUMNS>(totals + own);
        const SUM last = combine(units.prefix, total);
        units.add(total, last);
        memory->prefixes[turn ^ 1][own] = units.prefix;
        memory->lasts[turn ^ 1][own] = last;
    }
}

/* Whether rows and tables begin on vectors of `count` elements. */
static bool begin_on_vectors(const kernel_batch &batch, const void *data, table_type type, ptrdiff_t row,
                             ptrdiff_t table, ptrdiff_t count) {
    return reinterpret_cast<uintptr_t>(data) % (type_bytes(type) * static_cast<size_t>(count)) == 0 &&
           (batch.rows == 1 || row % count == 0) && (batch.ranges.count == 1 || table % count == 0);
}

static bool make_lanes(const kernel_batch &batch, lanes_pass &pass) {
    const size_t count = VECTOR_BYTES / kernel_sum_bytes(batch.out_type), row_slots = batch.columns / count;
    const ptrdiff_t apart = static_cast<ptrdiff_t>(count);
    if (batch.load.without_nan || batch.first_overflow || batch.columns % count != 0 || row_slots < FEWEST_SLOTS ||
        row_slots > INT32_MAX / batch.ranges.count ||
        !begin_on_vectors(batch, batch.in, batch.in_type, batch.in_stride, batch.ranges.in, apart) ||
        !begin_on_vectors(batch, batch.out, batch.out_type, batch.out_stride, batch.ranges.out, apart))
        return false;
    pass.in = batch.in;
    pass.out = batch.out;
    pass.in_table = batch.ranges.in;
    pass.in_row = batch.in_stride;
    pass.out_table = batch.ranges.out;
    pass.out_row = batch.out_stride;
    pass.rows = batch.rows;
    pass.row_slots = static_cast<unsigned>(row_slots);
    pass.slots = static_cast<unsigned>(row_slots * batch.ranges.count);
    pass.carry_in = batch.carry_in;
    pass.carry_out = batch.carry_out;
    pass.reading = reading_of(batch.in_type);
    pass.result = kind_of_result(batch.out_type);
    pass.exclusive = batch.exclusive != 0;
    pass.down = 1;
    while (pass.down < LANES_DOWN && pass.down * LANES_EACH < batch.rows)
        pass.down *= 2;
    const size_t warps = (batch.rows + LANES_DOWN * LANES_EACH - 1) / (LANES_DOWN * LANES_EACH);
    pass.warps = warps < COLUMN_WARPS ? static_cast<unsigned>(warps) : COLUMN_WARPS;
    return true;
}

int run_batch_lanes(const kernel_batch &batch) {
    lanes_pass pass = {};
    if (!make_lanes(batch, pass))
        return static_cast<int>(cudaErrorNotSupported);
    const unsigned warps = pass.warps > 1 ? pass.warps : LANES_APART;
    const unsigned slots = WARP_LANES / pass.down * (pass.warps > 1 ? 1 : LANES_APART); /* of a block */
    return run_types(pass_of_table(batch), [&](auto pair) {
        typedef typename decltype(pair)::Input Input;
        typedef typename decltype(pair)::Sum Sum;
        const auto kernel =
            batch.rows <= LANES_FEW ? lanes_kernel<Input, Sum, LANES_FEW> : lanes_kernel<Input, Sum, LANES_EACH>;
        return launch(kernel, (pass.slots + slots - 1) / slots, warps * WARP_LANES, 0, batch.stream, pass);
    });
}
