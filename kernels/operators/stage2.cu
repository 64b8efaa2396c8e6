/* Stage 2 of operators: from the elements of units to the values that units begin with, by the tree of
 * tuplescan/prefix_sum.h. A block has some columns, and all their units, round by round: a thread has SWEEP_UNITS
 * neighbouring units of a column, and the threads of a column are PARTS. In a round elements are joined upwards, by
 * halves, and values go downwards: that of a right half is the left one's element applied to that of the left half
 * (Blelloch's scan, 1990). Rounds are the blocks of units above: as in a binary counter, the elements of those that
 * wait for a right half are kept, and the value that each began with.
 *
 * In place: row u, which becomes what unit u begins with, holds the element of unit u - 1. Row 0 is made of the carry.
 */
#include "operators/launch.cuh"

constexpr unsigned SWEEP_UNITS = 4, MOST_ACROSS = 32, SWEEP_LEVELS = 48;
/* The most threads, which is as many as registers and shared memory allow. */
template <class VALUE> HOST_DEVICE constexpr unsigned sweep_threads() { return sizeof(VALUE) == 4 ? 1024 : 512; }

template <class OPS> struct sweep_of_operators {
    typename OPS::Stored *seeds; /* of each table one behind the other */
    const typename OPS::Value *carry_in;
    typename OPS::Value *carry_out;
    size_t units, columns;
    unsigned panels, log_across, log_parts;
    int careful;
};

/* What the first thread of a column keeps of the rounds before. */
template <class OPS> struct rounds_before {
    typename OPS::Element waiting[SWEEP_LEVELS]; /* of 2^k rounds */
    typename OPS::Value begins[SWEEP_LEVELS]; /* what the round whose number has its lowest k bits cleared began with */

    /* The value that the round after this one begins with, given the element of this one. */
    template <int RULE> DEVICE typename OPS::Value next(size_t round, typename OPS::Element total) {
        unsigned level = 0;
        for (; round >> level & 1; level++)
            total = OPS::template settle<RULE>(OPS::template after<RULE>(total, waiting[level]));
        waiting[level] = total;
        const typename OPS::Value value = OPS::template apply<RULE>(total, begins[level]);
        for (unsigned below = 0; below <= level; below++)
            begins[below] = value;
        return value;
    }
};

template <class OPS> struct sweep_block {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef typename OPS::Stored Stored;
    const sweep_of_operators<OPS> &pass;
    Value *elements, *values; /* in shared memory: of each thread */
    Stored *column;           /* row 0 */
    size_t carry;             /* the place of the column in rows of carries */
    unsigned part;
    bool is_there;

    DEVICE sweep_block(const sweep_of_operators<OPS> &pass_, Value *elements_, Value *values_)
        : pass(pass_), elements(elements_), values(values_) {
        const unsigned table = block_index() / pass.panels, panel = block_index() - table * pass.panels;
        const size_t first = static_cast<size_t>(panel) << pass.log_across;
        const unsigned across = thread_index() & ((1u << pass.log_across) - 1);
        part = thread_index() >> pass.log_across;
        is_there = first + across < pass.columns;
        carry = static_cast<size_t>(table) * pass.columns + first + across;
        column = pass.seeds + static_cast<size_t>(table) * (pass.units + 1) * pass.columns + first + across;
    }
    DEVICE unsigned parts_above(unsigned count) const { return count << pass.log_across; }

    template <int RULE> DEVICE Element total_of(size_t unit) const {
        return is_there && unit < pass.units ? OPS::read(column + (unit + 1) * pass.columns)
                                             : OPS::template identity<RULE>();
    }
    template <int RULE> DEVICE Element join(const Element &later, const Element &earlier) const {
        return OPS::template settle<RULE>(OPS::template after<RULE>(later, earlier));
    }

    /* The elements of the parts become those of the longest aligned runs of parts that end with them. */
    template <int RULE> DEVICE void join_parts(Element element) const {
        Value *const own = elements + thread_index();
        OPS::template put<RULE>(own, block_threads(), element);
        KEEP_LOOP
        for (unsigned half = 1; half < 1u << pass.log_parts; half *= 2) {
            block_barrier();
            if ((part & (2 * half - 1)) == 2 * half - 1) {
                element = join<RULE>(element, OPS::template get<RULE>(own - parts_above(half), block_threads()));
                OPS::template put<RULE>(own, block_threads(), element);
            }
        }
    }
    /* What each part begins with, given what the first one does. */
    template <int RULE> DEVICE Value begin_parts(Value begin) const {
        Value *const own = values + thread_index();
        if (part == 0)
            *own = begin;
        KEEP_LOOP
        for (unsigned half = (1u << pass.log_parts) / 2; half > 0; half /= 2) {
            block_barrier();
            if ((part & (2 * half - 1)) == half)
                *own = OPS::template apply<RULE>(
                    OPS::template get<RULE>(elements + thread_index() - parts_above(1), block_threads()),
                    *(own - parts_above(half)));
        }
        return *own;
    }
};

/* The units of a thread in one round: totals become values, in registers. */
template <class OPS, int RULE> struct sweep_lane {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    Element lefts[SWEEP_UNITS];
    Value begins[SWEEP_UNITS], ends[SWEEP_UNITS];

    DEVICE Element join_up(const sweep_block<OPS> &block, size_t first) {
        UNROLL
        for (unsigned k = 0; k < SWEEP_UNITS; k++)
            lefts[k] = OPS::template settle<RULE>(block.template total_of<RULE>(first + k));
        UNROLL
        for (unsigned half = 1; half < SWEEP_UNITS; half *= 2)
            UNROLL
        for (unsigned k = 2 * half - 1; k < SWEEP_UNITS; k += 2 * half)
            lefts[k] = block.template join<RULE>(lefts[k], lefts[k - half]);
        return lefts[SWEEP_UNITS - 1];
    }
    DEVICE void go_down(const sweep_block<OPS> &block, size_t first, Value begin) {
        begins[0] = begin;
        UNROLL
        for (unsigned half = SWEEP_UNITS / 2; half > 0; half /= 2)
            UNROLL
        for (unsigned k = 0; k < SWEEP_UNITS; k += 2 * half)
            begins[k + half] = OPS::template apply<RULE>(lefts[k + half - 1], begins[k]);
        UNROLL
        for (unsigned k = 0; k < SWEEP_UNITS; k++) /* by the elements as they are in the table, not settled */
            ends[k] = OPS::template apply<RULE>(block.template total_of<RULE>(first + k), begins[k]);
    }
    static DEVICE void end(const sweep_block<OPS> &block, typename OPS::Stored *row, Value value) {
        OPS::write_value(row, value);
        if (block.pass.carry_out)
            store_vector(block.pass.carry_out + block.carry, value);
    }
    DEVICE void write(const sweep_block<OPS> &block, size_t first) const {
        UNROLL
        for (unsigned k = 0; k < SWEEP_UNITS; k++) {
            typename OPS::Stored *const row = block.column + (first + k) * block.pass.columns;
            if (!block.is_there || first + k >= block.pass.units)
                return;
            OPS::write_seed(row, begins[k]);
            if (first + k == block.pass.units - 1)
                end(block, row + block.pass.columns, ends[k]);
            else
                OPS::write_before(row + block.pass.columns, ends[k]);
        }
    }
};

template <class OPS> KERNEL LAUNCH_BOUNDS(sweep_threads<typename OPS::Value>(), 1)
    operator_sweep_kernel(sweep_of_operators<OPS> pass) {
    typedef typename OPS::Value Value;
    constexpr unsigned THREADS = sweep_threads<Value>();
    SHARED_ARRAY(Value, elements, THREADS * OPS::COMPONENTS);
    SHARED_ARRAY(Value, values, THREADS);
    const sweep_block<OPS> block(pass, elements, values);
    OPS::with_careful_rule(pass.careful, [&](auto known) {
        constexpr int RULE = decltype(known)::value;
        rounds_before<OPS> before;
        Value begin = OPS::start(pass.careful);
        if (pass.carry_in && block.part == 0 && block.is_there)
            begin = load_vector(pass.carry_in + block.carry);
        for (unsigned level = 0; level < SWEEP_LEVELS && block.part == 0; level++)
            before.begins[level] = begin;
        for (size_t round = 0; (round << pass.log_parts) * SWEEP_UNITS < pass.units; round++) {
            const size_t first = ((round << pass.log_parts) + block.part) * SWEEP_UNITS;
            sweep_lane<OPS, RULE> lane;
            block.template join_parts<RULE>(lane.join_up(block, first));
            lane.go_down(block, first, block.template begin_parts<RULE>(begin));
            if (block.part == 0)
                begin = before.template next<RULE>(
                    round,
                    OPS::template get<RULE>(elements + thread_index() + block.parts_above((1u << pass.log_parts) - 1),
                                            block_threads()));
            block_barrier();
            lane.write(block, first);
        }
    });
}

/* Few columns of many units are spread over blocks, as long as a row of theirs is a sector of memory. */
template <class OPS> static void cut_sweep(sweep_of_operators<OPS> *pass, size_t tables) {
    constexpr unsigned LOG_THREADS = sizeof(typename OPS::Value) == 4 ? 10 : 9, LOG_UNITS = 2, ENOUGH_BLOCKS = 128;
    static_assert(1u << LOG_THREADS == sweep_threads<typename OPS::Value>() && 1u << LOG_UNITS == SWEEP_UNITS, "");
    const auto cut = [&](unsigned log_across) {
        pass->log_across = log_across;
        pass->log_parts = log_above((pass->units + SWEEP_UNITS - 1) / SWEEP_UNITS, LOG_THREADS - log_across);
        pass->panels = static_cast<unsigned>((pass->columns + (size_t(1) << log_across) - 1) >> log_across);
    };
    unsigned log_across = log_above(pass->columns, log_above(MOST_ACROSS, 31));
    cut(log_across);
    while (log_across > 1 && pass->panels * tables < ENOUGH_BLOCKS && (SWEEP_UNITS << pass->log_parts) < pass->units)
        cut(--log_across);
}

int kernel_operator_sweep(const kernel_operator_pass *given, void *seeds, size_t rows) {
    const size_t tables = given->tables > 1 ? given->tables : 1;
    if (rows < 2 || given->pass.columns == 0)
        return static_cast<int>(cudaErrorInvalidValue);
    return with_ops(given->operation, given->kept, [&](auto ops) {
        typedef decltype(ops) Ops;
        sweep_of_operators<Ops> pass = {};
        pass.seeds = static_cast<typename Ops::Stored *>(seeds);
        pass.carry_in = static_cast<const typename Ops::Value *>(given->carry_in);
        pass.carry_out = static_cast<typename Ops::Value *>(given->carry_out);
        pass.units = rows - 1;
        pass.columns = given->pass.columns;
        pass.careful = careful_rule(given->operation, Ops::HAS_FACTORS);
        cut_sweep(&pass, tables);
        if (tables > INT32_MAX / pass.panels)
            return static_cast<int>(cudaErrorInvalidConfiguration);
        return launch(operator_sweep_kernel<Ops>, static_cast<unsigned>(pass.panels * tables),
                      1u << (pass.log_across + pass.log_parts), 0, given->pass.stream, pass);
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
