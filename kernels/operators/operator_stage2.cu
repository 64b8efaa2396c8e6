/* Stage 2 of operators: from the elements of units to the values that units begin with, by the tree of
 * tuplescan/prefix_sum.h. A block has some columns, and all their units, round by round: a thread has SWEEP_UNITS
 * neighbouring units of a column, and the threads of a column are PARTS. In a round elements are joined upwards, by
 * halves, and values go downwards: the value of a right half is the left half's element applied to the left half's
 * value (Blelloch's scan, 1990). Rounds are blocks of units: as in a binary counter, the elements of blocks that wait
 * for a right half are kept, with the value that each began with.
 *
 * In place: row u, which becomes the value that unit u begins with, holds the element of unit u - 1. Row 0 is made of
 * the carry. */
#include "operators/operator_launch.cuh"

constexpr unsigned LOG_SWEEP_UNITS = 2, SWEEP_UNITS = 1 << LOG_SWEEP_UNITS, MOST_ACROSS = 32;
constexpr unsigned SWEEP_LEVELS = 54; /* rows are at most 2^63, and a round has 4 units or more */
/* The most threads that registers and shared memory allow. */
template <class VALUE> HOST_DEVICE constexpr unsigned sweep_threads() { return sizeof(VALUE) == 4 ? 1024 : 512; }

template <class OPS> struct sweep_of_operators {
    typename OPS::Stored *prefixes; /* of the tables one after the other */
    const sum_state *from;          /* of a continued table; its units are those that its `rows` touch */
    sum_state *to;
    size_t rows;
    const typename OPS::Value *carry_in;
    typename OPS::Value *carry_out;
    size_t units, columns;
    unsigned panels, log_across, log_parts;
    int careful;
};

/* The earlier rounds, as the first thread of a column keeps them. */
template <class OPS> struct rounds_before {
    waiting_block<OPS> levels[SWEEP_LEVELS]; /* of 2^k rounds */

    /* Returns the value that round number `round` begins with. blocks(level) is the element of 2^level rounds before
     * it. */
    template <int RULE, class BLOCKS>
    DEVICE typename OPS::Value open(uint64_t round, typename OPS::Value start, const BLOCKS &blocks) {
        each_digit_down(round, SWEEP_LEVELS, 0, [&](unsigned level) {
            levels[level] = waiting_block<OPS>{blocks(level), start};
            start = levels[level].template end<RULE>();
        });
        return start;
    }

    /* The value that the round after this one begins with, given the element of this one and its value. */
    template <int RULE>
    DEVICE typename OPS::Value next(uint64_t round, const typename OPS::Element &total, typename OPS::Value begin) {
        waiting_block<OPS> block = {total, begin};
        push_total(round, levels, block, join_waiting<OPS, RULE>());
        return block.template end<RULE>();
    }
};

/* Where a continued table has its units: `ahead` units of its first round came before it, and it has units through
 * number `end` of the round. */
struct sweep_place {
    uint64_t round; /* the number of the first round, among all */
    unsigned ahead;
    size_t end;
};
template <class OPS, bool GOES_ON> DEVICE sweep_place sweep_place_of(const sweep_of_operators<OPS> &pass) {
    if (!GOES_ON)
        return sweep_place{0, 0, pass.units};
    const uint64_t before = pass.from->rows, unit = before / UNIT_ROWS;
    const unsigned log_round = pass.log_parts + LOG_SWEEP_UNITS;
    const unsigned ahead = static_cast<unsigned>(unit & ((1u << log_round) - 1));
    return sweep_place{unit >> log_round, ahead,
                       ahead + (static_cast<size_t>(before % UNIT_ROWS) + pass.rows + UNIT_ROWS - 1) / UNIT_ROWS};
}

template <class OPS, bool GOES_ON> struct sweep_block {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef typename OPS::Kept Kept;
    typedef typename OPS::Stored Stored;
    const sweep_of_operators<OPS> &pass;
    const sweep_place place;
    Kept *elements; /* in shared memory: of each thread */
    Value *values;  /* so are these */
    Stored *column; /* row 0 */
    size_t carry;   /* the place of the column in rows of carries */
    unsigned part;
    bool is_there;

    DEVICE sweep_block(const sweep_of_operators<OPS> &pass_, Kept *elements_, Value *values_)
        : pass(pass_), place(sweep_place_of<OPS, GOES_ON>(pass_)), elements(elements_), values(values_) {
        const unsigned table = block_index() / pass.panels, panel = block_index() - table * pass.panels;
        const size_t first = static_cast<size_t>(panel) << pass.log_across;
        const unsigned across = thread_index() & ((1u << pass.log_across) - 1);
        part = thread_index() >> pass.log_across;
        is_there = first + across < pass.columns;
        carry = static_cast<size_t>(table) * pass.columns + first + across;
        column = pass.prefixes + static_cast<size_t>(table) * (pass.units + 1) * pass.columns + first + across;
    }
    DEVICE unsigned parts_above(unsigned count) const { return count << pass.log_across; }
    DEVICE Kept *element_of(unsigned of_part) const {
        return elements + thread_index() - parts_above(part) + parts_above(of_part);
    }

    template <int RULE> DEVICE column_of_state<OPS, RULE> state() const {
        return column_of_state<OPS, RULE>(pass.from, pass.columns, carry);
    }
    /* The row of the value that a unit begins with; `unit` counts from the first round on. */
    DEVICE Stored *row_of(size_t unit) const { return column + (unit - place.ahead) * pass.columns; }
    template <int RULE> DEVICE Element total_of(size_t unit) const {
        if constexpr (GOES_ON)
            if (is_there && unit < place.ahead)
                return missing_row<OPS, RULE>(pass.from, pass.columns, carry, place.ahead, static_cast<unsigned>(unit),
                                              true);
        return is_there && unit < place.end ? OPS::read(row_of(unit + 1)) : OPS::template identity<RULE>();
    }

    /* Joins the elements of the parts to the elements of the longest aligned runs of parts that end with each. */
    template <int RULE> DEVICE void join_parts(Element element) const {
        Kept *const own = elements + thread_index();
        OPS::put(own, element);
        KEEP_LOOP
        for (unsigned half = 1; half < 1u << pass.log_parts; half *= 2) {
            block_barrier();
            if ((part & (2 * half - 1)) == 2 * half - 1) {
                element = join_settled<OPS, RULE>()(OPS::get(own - parts_above(half)), element);
                OPS::put(own, element);
            }
        }
    }
    /* Returns the value that the thread's part begins with, given the first part's. */
    template <int RULE> DEVICE Value begin_parts(Value begin) const {
        Value *const own = values + thread_index();
        if (part == 0)
            *own = begin;
        KEEP_LOOP
        for (unsigned half = (1u << pass.log_parts) / 2; half > 0; half /= 2) {
            block_barrier();
            if ((part & (2 * half - 1)) == half)
                *own = OPS::template apply<RULE>(OPS::get(elements + thread_index() - parts_above(1)),
                                                 *(own - parts_above(half)));
        }
        return *own;
    }
};

/* The units of a thread in one round: totals become values, in registers. */
template <class OPS, int RULE, bool GOES_ON> struct sweep_lane {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef sweep_block<OPS, GOES_ON> block_of_sweep;
    Element lefts[SWEEP_UNITS];
    Value begins[SWEEP_UNITS], ends[SWEEP_UNITS];

    DEVICE Element join_up(const block_of_sweep &block, size_t first) {
        UNROLL
        for (unsigned k = 0; k < SWEEP_UNITS; k++)
            lefts[k] = OPS::template settle<RULE>(block.template total_of<RULE>(first + k));
        tree_totals<SWEEP_UNITS>(lefts, join_settled<OPS, RULE>());
        return lefts[SWEEP_UNITS - 1];
    }
    DEVICE void go_down(const block_of_sweep &block, size_t first, Value begin) {
        begins[0] = begin;
        tree_prefixes<SWEEP_UNITS>(lefts, begins, apply_after<OPS, RULE>());
        UNROLL
        for (unsigned k = 0; k < SWEEP_UNITS; k++) /* by the elements as they are in the table, not settled */
            ends[k] = OPS::template apply<RULE>(block.template total_of<RULE>(first + k), begins[k]);
    }
    static DEVICE void end(const block_of_sweep &block, typename OPS::Stored *row, Value value) {
        OPS::write_value(row, value);
        if (block.pass.carry_out)
            store_vector(block.pass.carry_out + block.carry, value);
    }
    DEVICE void write(const block_of_sweep &block, size_t first) const {
        UNROLL
        for (unsigned k = 0; k < SWEEP_UNITS; k++) {
            if (!block.is_there || first + k >= block.place.end)
                return;
            if (GOES_ON && first + k < block.place.ahead)
                continue;
            typename OPS::Stored *const row = block.row_of(first + k);
            OPS::write_prefix(row, begins[k]);
            if constexpr (GOES_ON)
                if (first + k == block.place.ahead)
                    OPS::write_before(row, block.template state<RULE>().last());
            if (first + k == block.place.end - 1)
                end(block, row + block.pass.columns, ends[k]);
            else
                OPS::write_before(row + block.pass.columns, ends[k]);
        }
    }
};

/* Leaves the blocks of the table before its last unit, which is in the current round, number `round`: the thread that
 * has the unit knows the blocks inside of the round, and the first thread the blocks of whole rounds. */
template <class OPS, int RULE> DEVICE void leave_blocks(const sweep_block<OPS, true> &block,
                                                        const sweep_lane<OPS, RULE, true> &lane,
                                                        const rounds_before<OPS> &before, uint64_t round) {
    const unsigned log_round = block.pass.log_parts + LOG_SWEEP_UNITS;
    const unsigned unit = static_cast<unsigned>(block.place.end - 1) & ((1u << log_round) - 1);
    const auto leave = [&](unsigned level, const typename OPS::Element &element) {
        OPS::write(row_of_state<typename OPS::Stored>(block.pass.to, block.pass.columns, STATE_BLOCKS + level) +
                       block.carry,
                   element);
    };
    if (block.is_there && block.part == unit / SWEEP_UNITS) {
        static_assert(SWEEP_UNITS == 4, "");
        if (unit & 1)
            leave(0, (unit & 2) != 0 ? lane.lefts[2] : lane.lefts[0]);
        if (unit & 2)
            leave(1, lane.lefts[1]);
        each_digit_up(unit, LOG_SWEEP_UNITS, log_round, [&](unsigned level) {
            leave(level, OPS::get(block.element_of((unit >> level << level) / SWEEP_UNITS - 1)));
        });
    }
    if (block.is_there && block.part == 0)
        each_digit_up(round, 0, SWEEP_LEVELS,
                      [&](unsigned level) { leave(log_round + level, before.levels[level].element); });
}

template <class OPS, bool GOES_ON> KERNEL LAUNCH_BOUNDS(sweep_threads<typename OPS::Value>(), 1)
    operator_sweep_kernel(sweep_of_operators<OPS> pass) {
    typedef typename OPS::Value Value;
    constexpr unsigned THREADS = sweep_threads<Value>();
    SHARED_ARRAY(typename OPS::Kept, elements, THREADS);
    SHARED_ARRAY(Value, values, THREADS);
    const sweep_block<OPS, GOES_ON> block(pass, elements, values);
    rounds_before<OPS> before;
    OPS::with_careful_rule(pass.careful, [&](auto known) {
        constexpr int RULE = decltype(known)::value;
        Value begin = OPS::start(pass.careful);
        if (pass.carry_in && block.part == 0 && block.is_there)
            begin = load_vector(pass.carry_in + block.carry);
        if constexpr (GOES_ON)
            if (block.part == 0 && block.is_there) {
                const auto state = block.template state<RULE>();
                begin = before.template open<RULE>(block.place.round, state.start(), [&](unsigned level) {
                    return state.block(level + pass.log_parts + LOG_SWEEP_UNITS);
                });
            }
        for (size_t round = 0; (round << pass.log_parts) * SWEEP_UNITS < block.place.end; round++) {
            const size_t first = ((round << pass.log_parts) + block.part) * SWEEP_UNITS;
            sweep_lane<OPS, RULE, GOES_ON> lane;
            block.template join_parts<RULE>(lane.join_up(block, first));
            lane.go_down(block, first, block.template begin_parts<RULE>(begin));
            if constexpr (GOES_ON)
                if (((round + 1) << pass.log_parts) * SWEEP_UNITS >= block.place.end)
                    leave_blocks<OPS, RULE>(block, lane, before, block.place.round + round);
            if (block.part == 0)
                begin = before.template next<RULE>(block.place.round + round,
                                                   OPS::get(block.element_of((1u << pass.log_parts) - 1)), begin);
            block_barrier();
            lane.write(block, first);
        }
    });
}

/* Few columns of many units are spread over blocks, as long as a row of theirs is a sector of memory. */
template <class OPS> static void cut_sweep(sweep_of_operators<OPS> *pass, size_t count) {
    constexpr unsigned LOG_THREADS = sizeof(typename OPS::Value) == 4 ? 10 : 9, ENOUGH_BLOCKS = 128;
    static_assert(1u << LOG_THREADS == sweep_threads<typename OPS::Value>(), "");
    const auto cut = [&](unsigned log_across) {
        pass->log_across = log_across;
        pass->log_parts = log_above((pass->units + SWEEP_UNITS - 1) / SWEEP_UNITS, LOG_THREADS - log_across);
        pass->panels = static_cast<unsigned>((pass->columns + (size_t(1) << log_across) - 1) >> log_across);
    };
    unsigned log_across = log_above(pass->columns, log_above(MOST_ACROSS, 31));
    cut(log_across);
    while (log_across > 1 && pass->panels * count < ENOUGH_BLOCKS && (SWEEP_UNITS << pass->log_parts) < pass->units)
        cut(--log_across);
}

int kernel_operator_sweep(const kernel_operator_pass *given, void *prefixes, size_t rows) {
    const size_t count = given->ranges.count;
    if (rows < 2 || given->pass.columns == 0)
        return static_cast<int>(cudaErrorInvalidValue);
    return with_ops(given->operation, given->kept, [&](auto ops) {
        typedef decltype(ops) Ops;
        sweep_of_operators<Ops> pass = {};
        pass.prefixes = static_cast<typename Ops::Stored *>(prefixes);
        pass.carry_in = static_cast<const typename Ops::Value *>(given->carry_in);
        pass.carry_out = static_cast<typename Ops::Value *>(given->carry_out);
        pass.units = rows - 1;
        pass.from = static_cast<const sum_state *>(given->from);
        pass.to = static_cast<sum_state *>(given->to);
        pass.rows = given->pass.rows;
        pass.columns = given->pass.columns;
        pass.careful = careful_rule(given->operation, Ops::HAS_FACTORS);
        cut_sweep(&pass, count);
        if (count > INT32_MAX / pass.panels)
            return static_cast<int>(cudaErrorInvalidConfiguration);
        return with_state<Ops>(*given, [&](auto goes_on) {
            return launch(operator_sweep_kernel<Ops, decltype(goes_on)::value>,
                          static_cast<unsigned>(pass.panels * count), 1u << (pass.log_across + pass.log_parts), 0,
                          given->pass.stream, pass);
        });
    });
}

constexpr unsigned START_THREADS = 256;
template <class OPS> KERNEL LAUNCH_BOUNDS(START_THREADS, 1)
    operator_start_kernel(typename OPS::Value *row, size_t columns, int careful) {
    const size_t column = static_cast<size_t>(block_index()) * START_THREADS + thread_index();
    if (column < columns)
        store_vector(row + column, OPS::start(careful));
}

int kernel_operator_start(const kernel_operator_pass *given, void *row) {
    const size_t columns = given->pass.columns, blocks = (columns + START_THREADS - 1) / START_THREADS;
    if (columns == 0)
        return 0;
    if (blocks > INT32_MAX)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    return with_ops(given->operation, given->kept, [&](auto ops) {
        typedef decltype(ops) Ops;
        return launch(operator_start_kernel<Ops>, static_cast<unsigned>(blocks), START_THREADS, 0, given->pass.stream,
                      static_cast<typename Ops::Value *>(row), columns,
                      careful_rule(given->operation, Ops::HAS_FACTORS));
    });
}
