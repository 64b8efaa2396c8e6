/* The state of a continued scan (private/state.h), in device memory, before and after a call in a stream: enter()
 * begins or checks it, and leave() replaces its rows by those that the call has left. */
#include "continued/continued.cuh"
#include "kernels.h"
#include "operators/operator_ops.cuh"
#include "types.h"

constexpr unsigned STATE_THREADS = 256, STATE_BLOCKS_MOST = 1 << 12;

/* What a call has to do with a state, whatever its elements are. */
struct header_pass {
    sum_state *state;
    uint32_t operation, type;
    size_t columns;
    uint64_t rows;   /* of the call */
    uint64_t before; /* rows before the call, or KERNEL_UNKNOWN_ROWS */
    uint64_t *first_overflow;
};

/* OPS: the elements of the state's rows. */
template <class OPS> struct state_pass : header_pass {
    typedef typename OPS::Value Value;
    typedef typename OPS::Stored Stored;
    const sum_state *left; /* what elements in the tree's order leave */
    const Value *carry_in;
    Value *carry_out;
    Value start;     /* without carry_in */
    bool is_ordered; /* whether they are joined in the tree's order; if not, the state is their result so far */
    int careful;     /* the rule of maps */
};

DEVICE bool is_zero(const sum_state &header) {
    return header.magic == 0 && header.version == 0 && header.type == 0 && header.columns == 0 && header.first == 0 &&
           header.rows == 0 && header.checksum == 0 && header.flags == 0;
}

/* Whether a header that is not zero is of the call's elements, and has room for the call's rows. */
DEVICE bool fits(const header_pass &pass, const sum_state &header) {
    return header.magic == STATE_MAGIC && header.version == STATE_VERSION && header.type == pass.type &&
           header.operation == pass.operation && header.columns == pass.columns && header.first == 0 &&
           header.rows <= STATE_ROWS_MOST && pass.rows <= STATE_ROWS_MOST - header.rows && header.checksum == 0 &&
           header.flags == 0;
}

/* The start of a sum that has not begun. */
template <class OPS> KERNEL LAUNCH_BOUNDS(STATE_THREADS, 1) start_kernel(state_pass<OPS> pass) {
    typedef typename OPS::Stored Stored;
    const size_t threads = static_cast<size_t>(block_count()) * STATE_THREADS;
    if (!is_zero(*pass.state))
        return;
    for (size_t j = static_cast<size_t>(block_index()) * STATE_THREADS + thread_index(); j < pass.columns;
         j += threads) {
        const typename OPS::Value start = pass.carry_in ? pass.carry_in[j] : pass.start;
        OPS::write_value(row_of_state<Stored>(pass.state, pass.columns, STATE_START) + j, start);
        if (!pass.is_ordered)
            OPS::write_value(row_of_state<Stored>(pass.state, pass.columns, STATE_SUM) + j, start);
    }
}

/* The header. One thread. */
KERNEL LAUNCH_BOUNDS(WARP_LANES, 1) begin_kernel(header_pass pass) {
    if (thread_index() != 0)
        return;
    sum_state header = *pass.state;
    if (is_zero(header)) {
        header.magic = STATE_MAGIC;
        header.version = STATE_VERSION;
        header.type = pass.type;
        header.operation = pass.operation;
        header.columns = pass.columns;
    } else if (!fits(pass, header)) {
        header.flags |= STATE_REFUSED;
    }
    *pass.state = header;
}

/* Whether row `slot` of a state in the tree's order means something. */
DEVICE bool counts(const struct state_digits &digits, unsigned slot) {
    if (slot >= STATE_RISING_RUNS)
        return false;
    return slot >= STATE_BLOCKS ? (digits.blocks >> (slot - STATE_BLOCKS) & 1) != 0
                                : (digits.runs >> (slot - STATE_RUNS) & 1) != 0;
}

/* Counts the rows, and moves the finding of the first overflow by the rows before. By one thread. */
DEVICE void count_rows(const header_pass &pass, uint64_t before) {
    if (pass.first_overflow && *pass.first_overflow != ~uint64_t(0))
        *pass.first_overflow += before * pass.columns;
    pass.state->rows = before + pass.rows;
}

/* Writes the rows of the state after the call; and if the host knows how many rows there were before, which no thread
 * reads from the state then, the count. Without rows it carries out the results so far. */
template <class OPS> KERNEL LAUNCH_BOUNDS(STATE_THREADS, 1) rows_kernel(state_pass<OPS> pass) {
    typedef typename OPS::Stored Stored;
    const size_t threads = static_cast<size_t>(block_count()) * STATE_THREADS;
    const size_t first = static_cast<size_t>(block_index()) * STATE_THREADS + thread_index();
    const bool known = pass.before != KERNEL_UNKNOWN_ROWS;
    if (!known && (pass.state->flags & STATE_REFUSED) != 0)
        return;
    const uint64_t rows_before = known ? pass.before : pass.state->rows;
    if (known && first == 0 && pass.rows > 0)
        count_rows(pass, rows_before);
    if (pass.rows == 0) {
        for (size_t j = first; pass.carry_out && j < pass.columns; j += threads)
            OPS::with_careful_rule(pass.careful, [&](auto known) {
                pass.carry_out[j] = column_of_state<OPS, decltype(known)::value>(pass.state, pass.columns, j).last();
            });
        return;
    }
    const struct state_digits before = state_digits(0, rows_before), now = state_digits(0, rows_before + pass.rows);
    for (size_t at = first; at < (STATE_RISING_RUNS - STATE_RUNS) * pass.columns; at += threads) {
        const unsigned slot = STATE_RUNS + static_cast<unsigned>(at / pass.columns);
        const size_t j = at % pass.columns;
        if (counts(now, slot))
            row_of_state<Stored>(pass.state, pass.columns, slot)[j] =
                row_of_state<Stored>(pass.left, pass.columns, slot)[j];
        else if (counts(before, slot))
            row_of_state<Stored>(pass.state, pass.columns, slot)[j] = Stored{};
    }
}

/* One thread. */
KERNEL LAUNCH_BOUNDS(WARP_LANES, 1) count_kernel(header_pass pass) {
    if (thread_index() == 0 && (pass.state->flags & STATE_REFUSED) == 0)
        count_rows(pass, pass.state->rows);
}

template <class OPS> static state_pass<OPS> make_state_pass(const kernel_state_call &call, bool is_ordered) {
    typedef typename OPS::Value Value;
    state_pass<OPS> pass = {};
    pass.state = static_cast<sum_state *>(call.state);
    pass.left = static_cast<const sum_state *>(call.left);
    pass.operation = static_cast<uint32_t>(call.operation);
    pass.type = call.type;
    pass.columns = call.columns;
    pass.rows = call.rows;
    pass.before = call.before;
    pass.carry_in = static_cast<const Value *>(call.carry_in);
    pass.carry_out = static_cast<Value *>(call.carry_out);
    pass.first_overflow = call.first_overflow;
    pass.careful = call.operation == KERNEL_PRODUCT ? MAP_PRODUCT : MAP_CAREFUL;
    pass.is_ordered = is_ordered;
    if (call.operation != KERNEL_SUM)
        with_ops(call.operation, call.type, [&](auto ops) {
            typedef decltype(ops) Ops;
            pass.start = static_cast<Value>(Ops::start(Ops::HAS_FACTORS ? pass.careful : call.operation));
            return 0;
        });
    return pass;
}

static unsigned blocks_for(size_t cells) { return grid_for(cells, STATE_THREADS, STATE_BLOCKS_MOST); }

template <class OPS> static int enter(const kernel_state_call &call, const state_pass<OPS> &pass) {
    const int error =
        pass.columns > 0 ? launch(start_kernel<OPS>, blocks_for(pass.columns), STATE_THREADS, 0, call.stream, pass) : 0;
    return error == 0 ? launch(begin_kernel, 1, WARP_LANES, 0, call.stream, static_cast<const header_pass &>(pass))
                      : error;
}

template <class OPS> static int leave(const kernel_state_call &call, const state_pass<OPS> &pass) {
    int error = 0;
    if constexpr (!may_reorder<typename OPS::Value>())
        if (pass.is_ordered && pass.columns > 0)
            error = launch(rows_kernel<OPS>, blocks_for((STATE_RISING_RUNS - STATE_RUNS) * pass.columns), STATE_THREADS,
                           0, call.stream, pass);
    const bool counts = !pass.is_ordered || pass.columns == 0 || call.before == KERNEL_UNKNOWN_ROWS;
    return error == 0 && counts
               ? launch(count_kernel, 1, WARP_LANES, 0, call.stream, static_cast<const header_pass &>(pass))
               : error;
}

/* Sums and plain numbers: their elements lie in a state as they are. */
template <class SUM> struct numbers_of_state : sums_as_elements<SUM> {
    static DEVICE void write_value(SUM *to, SUM value) { *to = value; }
    template <class RUN> static DEVICE void with_careful_rule(int, const RUN &run) {
        run(std::integral_constant<int, 0>());
    }
};

/* Calls run(what of the elements lies in the state, whether they are joined in the tree's order). */
template <class RUN> static int run_elements(const kernel_state_call &call, const RUN &run) {
    const bool is_product = call.operation == KERNEL_PRODUCT;
    if (call.operation == KERNEL_LINEAR || (is_product && type_is_float(call.type)))
        return call.type == TABLE_F32 ? run(map_ops<float>(), true) : run(map_ops<double>(), true);
#define RUN_SUM(TYPE, NAME, C)                                                                                         \
    if (call.type == TABLE_##TYPE)                                                                                     \
        return run(numbers_of_state<C>(), !may_reorder<C>() && call.operation == KERNEL_SUM);
    TABLE_SUMS(RUN_SUM)
#undef RUN_SUM
    return static_cast<int>(cudaErrorInvalidValue);
}

int kernel_state_enter(const kernel_state_call *call) {
    return run_elements(*call, [&](auto ops, bool is_ordered) {
        return enter(*call, make_state_pass<decltype(ops)>(*call, is_ordered));
    });
}

int kernel_state_leave(const kernel_state_call *call) {
    return run_elements(*call, [&](auto ops, bool is_ordered) {
        return leave(*call, make_state_pass<decltype(ops)>(*call, is_ordered));
    });
}
