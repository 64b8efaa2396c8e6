/* Stage 2 of segments: the value that each unit below the first one of its segment begins with, level by level from the
 * top. */
#include "segments/segment_launch.cuh"

struct segment_sweep {
    segment_where where;
    unsigned level;
    size_t rows, columns;
    const uint32_t *owners;
    const void *aligned, *above; /* of this level; the prefixes of the level above */
    void *prefixes, *totals;
    const void *carry_in;
    bool puts_before; /* totals become the results above the units below them */
};

/* Walks along the tree of one segment and column. */
template <class OPS> struct segment_column {
    typedef typename OPS::Value Value;
    const segment_sweep &sweep;
    uint64_t segment, begin; /* its first row of the level */
    size_t column;

    DEVICE const Value *at(const void *table, uint64_t row) const {
        return static_cast<const Value *>(table) + row * sweep.columns + column;
    }
    DEVICE Value start() const {
        return sweep.carry_in ? load_vector(at(sweep.carry_in, sweep.where.number_of(segment))) : OPS::start();
    }
    /* The sum above block number `block` of the segment: the start, and the blocks of the binary digits of the number,
     * the largest first. */
    DEVICE Value prefix(uint64_t block) const {
        const uint64_t of_level_above = block >> UNIT_BITS;
        const uint64_t first_above = sweep.where.offset(segment) >> UNIT_BITS * (sweep.level + 1);
        uint64_t row = begin + (of_level_above << UNIT_BITS);
        Value value = of_level_above > 0 ? load_vector(at(sweep.above, first_above + of_level_above - 1)) : start();
        KEEP_LOOP
        for (unsigned digit = UNIT_BITS; digit-- > 0;)
            if ((block >> digit & 1) != 0) {
                row += uint64_t(1) << digit;
                value = OPS::join(value, load_vector(at(sweep.aligned, row - 1)));
            }
        return value;
    }
};

/* A thread for each total. */
template <class OPS> KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_sweep_kernel(segment_sweep sweep) {
    typedef typename OPS::Value Value;
    if (!sweep.where.is_right() || !sweep.where.has_long())
        return;
    each_index(sweep.rows * sweep.columns, [&](uint64_t index) {
        const uint64_t row = index / sweep.columns, segment = load_vector(sweep.owners + row);
        const segment_range range = sweep.where.range(segment, sweep.level);
        if (row < range.begin || row >= range.end())
            return;
        const segment_column<OPS> column{sweep, segment, range.begin, static_cast<size_t>(index - row * sweep.columns)};
        const uint64_t block = row - range.begin;
        store_vector(static_cast<Value *>(sweep.prefixes) + index, column.prefix(block + 1));
        if (sweep.puts_before) {
            Value *const total = static_cast<Value *>(sweep.totals) + index;
            store_vector(total, OPS::join(column.prefix(block), load_vector(total)));
        }
    });
}

int run_segment_sweep(const kernel_segmented_pass &from, const segment_plan &plan) {
    if (plan.levels == 0)
        return 0;
    return with_segment_ops(from.operation, from.kept, [&](auto ops) {
        typedef decltype(ops) Ops;
        int error = 0;
        for (unsigned level = plan.levels; level > 0 && error == 0; level--) {
            const segment_level &own = plan.level[level];
            segment_sweep sweep = {};
            sweep.where = plan.where;
            sweep.level = level;
            sweep.rows = own.rows;
            sweep.columns = from.pass.columns;
            sweep.owners = own.owners;
            sweep.aligned = own.aligned;
            sweep.above = level < plan.levels ? plan.level[level + 1].prefixes : nullptr;
            sweep.prefixes = own.prefixes;
            sweep.totals = own.totals;
            sweep.carry_in = plan.carry_in;
            sweep.puts_before = level == 1 && from.pass.exclusive;
            error = launch(segment_sweep_kernel<Ops>, each_blocks(own.rows * from.pass.columns), EACH_THREADS, 0,
                           from.pass.stream, sweep);
        }
        return error;
    });
}
