/* From the description of an operator's pass to the launch of its tiles. */
#ifndef OPERATORS_OPERATOR_LAUNCH_CUH
#define OPERATORS_OPERATOR_LAUNCH_CUH

#include "choose/dispatch.cuh"
#include "operators/operator_tile.cuh"

static inline unsigned log_above(size_t count, unsigned most) {
    unsigned log = 0;
    while (log < most && size_t(1) << log < count)
        log++;
    return log;
}

/* How cells of the type are read or written where rows are `across` columns of a tile. */
template <class VALUE> static cell_table cells_of(const void *data, ptrdiff_t stride, ptrdiff_t step, table_type type,
                                                  bool skips_nan, size_t columns, unsigned across) {
    constexpr unsigned COUNT = VECTOR_BYTES / sizeof(VALUE), SMALL = VECTOR_BYTES / sizeof(small_of<VALUE>);
    const bool is_small = (std::is_same<VALUE, float>::value && (type == TABLE_F16 || type == TABLE_BF16)) ||
                          (std::is_same<VALUE, double>::value && type == TABLE_F32);
    const bool is_kept = type_bytes(type) == sizeof(VALUE) && type_is_float(type) == !std::is_integral<VALUE>::value;
    const auto is_by = [&](unsigned count) {
        return columns % count == 0 && across % count == 0 && step % static_cast<ptrdiff_t>(count) == 0 &&
               allows_vectors(data, stride, type_bytes(type), count);
    };
    cell_table cells = {static_cast<unsigned char *>(const_cast<void *>(data)),
                        stride,
                        step,
                        any_type_of(data, type, skips_nan),
                        cell_access::ANY,
                        CELLS_IN};
    if (is_kept && is_by(COUNT))
        cells.access = cell_access::VECTORS;
    else if (is_kept && !cells.any.by_bytes)
        cells.access = cell_access::VALUES;
    else if (is_small && is_by(SMALL))
        cells.access = cell_access::SMALL_VECTORS;
    return cells;
}

/* The cells of a pass's table, and of its results; `step` from range to range. */
template <class VALUE> static cell_table cells_in(const kernel_pass &pass, ptrdiff_t step, unsigned across) {
    return cells_of<VALUE>(pass.in, pass.in_stride, step, pass.in_type, pass.load.without_nan, pass.columns, across);
}
template <class VALUE> static cell_table cells_out(const kernel_pass &pass, ptrdiff_t step, unsigned across) {
    return cells_of<VALUE>(pass.out, pass.out_stride, step, kernel_result_type(pass.out_type), false, pass.columns,
                           across);
}

/* Rows of one column are read by vectors, where they lie one after the other from a vector's place on. */
template <class VALUE> static cell_access access_by_rows(const cell_table &table, size_t columns) {
    constexpr ptrdiff_t COUNT = VECTOR_BYTES / sizeof(VALUE);
    const unsigned char *const end = table.data + (table.stride < 0 ? sizeof(VALUE) : 0);
    const bool is_by = columns == 1 && (table.stride == 1 || table.stride == -1) && table.step % COUNT == 0 &&
                       reinterpret_cast<uintptr_t>(end) % VECTOR_BYTES == 0;
    return table.access == cell_access::VALUES && is_by ? cell_access::ROWS : table.access;
}

static inline bool rows_differ(const kernel_factors &factors) { return factors.stride != 0 || factors.shifted; }

/* Factors that are the same in all rows are there once in a tile only if each tile ends in the table, as missing rows
 * have other factors. Where a continued table ends in its tiles the device alone knows. */
template <class VALUE>
static factor_table factors_of(const kernel_operator_pass &given, unsigned across, unsigned tile_rows) {
    const kernel_factors &from = given.factors;
    factor_table factors = {};
    factors.per_row = factors.per_column = true;
    if (given.operation != KERNEL_LINEAR) {
        factors.cells = cells_in<VALUE>(given.pass, given.ranges.in, across);
        return factors;
    }
    factors.cells = cells_of<VALUE>(from.data, from.stride, from.step, from.type, false,
                                    from.per_column ? given.pass.columns : 1, across);
    factors.first = static_cast<unsigned char *>(const_cast<void *>(from.first));
    factors.first_step = from.per_column ? static_cast<ptrdiff_t>(given.pass.columns) : 1;
    factors.per_column = from.per_column != 0;
    factors.shifted = from.shifted != 0;
    factors.per_row = rows_differ(from) || (!given.from && given.pass.rows % tile_rows != 0);
    factors.cells.any.by_bytes |= factors.first && !is_aligned(factors.first, from.type);
    return factors;
}

/* Units that the table has, or, if it continues from a row that the device alone knows, the most that it touches. */
static inline size_t operator_units(const kernel_operator_pass &given) {
    const size_t rows = given.pass.rows;
    return given.from && rows > 0 ? (rows - 1) / UNIT_ROWS + 2 : (rows + UNIT_ROWS - 1) / UNIT_ROWS;
}

/* Calls run(whether the rows continue a state, as a constant): only elements in the tree's order do. */
template <class OPS, class RUN> static int with_state(const kernel_operator_pass &given, const RUN &run) {
    if constexpr (OPS::IS_ORDERED)
        if (given.from)
            return run(std::true_type());
    return given.from ? static_cast<int>(cudaErrorInvalidValue) : run(std::false_type());
}

/* The rule that is right for all values. */
static inline int careful_rule(kernel_operation operation, bool is_map) {
    if (!is_map)
        return operation;
    return operation == KERNEL_PRODUCT ? MAP_PRODUCT : MAP_CAREFUL;
}

template <class OPS>
static operator_pass make_operator_pass(const kernel_operator_pass &given, bool writes, unsigned log_all) {
    typedef typename OPS::Value Value;
    const kernel_pass &pass = given.pass;
    operator_pass made = {};
    made.rows = pass.rows;
    made.columns = pass.columns;
    made.units = operator_units(given);
    made.log_across = log_above(pass.columns, log_all);
    made.log_units = log_all - made.log_across;
    const unsigned across = 1u << made.log_across, units = 1u << made.log_units;
    made.panels = static_cast<unsigned>((pass.columns + across - 1) / across);
    made.groups = static_cast<unsigned>((made.units + units - 1) / units);
    made.careful = careful_rule(given.operation, OPS::HAS_FACTORS);
    made.from = static_cast<const sum_state *>(given.from);
    made.to = static_cast<sum_state *>(given.to);
    made.exclusive = pass.exclusive != 0;
    made.first_overflow = pass.first_overflow;
    made.is_signed = given.kept == TABLE_I32 || given.kept == TABLE_I64;
    made.has_terms = !OPS::HAS_FACTORS || given.operation == KERNEL_LINEAR;
    made.in = cells_in<Value>(pass, given.ranges.in, across);
    if (writes)
        made.out = cells_out<Value>(pass, given.ranges.out, across);
    made.out.role = CELLS_OUT;
    if (OPS::HAS_FACTORS)
        made.factors = factors_of<Value>(given, across, UNIT_ROWS << made.log_units);
    made.factors.cells.role = CELLS_OF_FACTORS;
    if (given.from) /* which rows begin a unit is not known */
        return made;
    made.in.access = access_by_rows<Value>(made.in, pass.columns);
    made.out.access = access_by_rows<Value>(made.out, pass.columns);
    if (made.factors.per_column && !made.factors.shifted)
        made.factors.cells.access = access_by_rows<Value>(made.factors.cells, pass.columns);
    return made;
}

/* The largest tile of which a block's MEMORY has room on the device, of at most 2^log_all columns x units. A block has
 * at least a warp. */
template <class OPS, class MEMORY = tile_memory<OPS>>
static int fit_operator_pass(const kernel_operator_pass &given, bool writes, operator_pass *made,
                             unsigned log_all = log_most_across<typename OPS::Value>()) {
    static_assert(sizeof(typename OPS::Value) << log_most_across<typename OPS::Value>() == TILE_ACROSS_BYTES, "");
    size_t most = 0;
    const int error = most_shared_bytes(&most);
    do
        *made = make_operator_pass<OPS>(given, writes, log_all--);
    while (MEMORY::bytes(*made) > most && log_all > 0);
    return error;
}

/* Calls run(OPS(), whether rows go on from a state, pass, blocks): a block a tile. */
template <class RUN> static int run_operator_tiles(const kernel_operator_pass &given, bool writes, const RUN &run) {
    const size_t count = given.ranges.count;
    return with_ops(given.operation, given.kept, [&](auto ops) {
        operator_pass pass;
        const int error = fit_operator_pass<decltype(ops)>(given, writes, &pass);
        const size_t tiles = static_cast<size_t>(pass.panels) * pass.groups;
        if (error != 0)
            return error;
        if (pass.rows == 0 || pass.columns == 0)
            return 0;
        if (count > INT32_MAX / tiles)
            return static_cast<int>(cudaErrorInvalidConfiguration);
        return with_state<decltype(ops)>(
            given, [&](auto goes_on) { return run(ops, goes_on, pass, static_cast<unsigned>(tiles * count)); });
    });
}

template <class OPS, class STORED> static int launch_operator_tiles(void (*kernel)(operator_pass, STORED *),
                                                                    const operator_pass &pass, unsigned blocks,
                                                                    void *stream, STORED *prefixes) {
    const size_t bytes = tile_memory<OPS>::bytes(pass);
    const int error = allow_shared_bytes(kernel);
    return error != 0
               ? error
               : launch(kernel, blocks, UNIT_RUNS << (pass.log_across + pass.log_units), bytes, stream, pass, prefixes);
}

#endif
