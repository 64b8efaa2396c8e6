/* The state of a sum that goes on (private/state.h), in memory of the device, before and behind a call in a stream: it
 * is begun, or found to be of other sums; and what the call leaves takes the place of what it had. */
#include "kernels.h"
#include "pieces/piece.cuh"
#include "types.h"

constexpr unsigned STATE_THREADS = 256, STATE_BLOCKS_MOST = 1 << 12;

template <class SUM> struct state_pass {
    sum_state *state;
    const sum_state *left; /* what floats leave */
    uint32_t type;
    size_t columns;
    uint64_t rows;   /* of the call */
    uint64_t before; /* rows before the call, or KERNEL_UNKNOWN_ROWS */
    const SUM *carry_in;
    SUM *carry_out;
    uint64_t *first_overflow;
    bool sums_only; /* integers: the sum so far is all */
};

DEVICE bool is_zero(const sum_state &header) {
    return header.magic == 0 && header.version == 0 && header.type == 0 && header.columns == 0 && header.first == 0 &&
           header.rows == 0 && header.checksum == 0 && header.flags == 0;
}

/* Whether a header that is not zero is that of the call's sums, which may go on by that many rows. */
template <class SUM> DEVICE bool fits(const state_pass<SUM> &pass, const sum_state &header) {
    return header.magic == STATE_MAGIC && header.version == STATE_VERSION && header.type == pass.type &&
           header.operation == TABLE_SUM && header.columns == pass.columns && header.first == 0 &&
           header.rows <= STATE_ROWS_MOST && pass.rows <= STATE_ROWS_MOST - header.rows && header.checksum == 0 &&
           header.flags == 0;
}

/* The start of a sum that has not begun. */
template <class SUM> KERNEL LAUNCH_BOUNDS(STATE_THREADS, 1) start_kernel(state_pass<SUM> pass) {
    const size_t threads = static_cast<size_t>(block_count()) * STATE_THREADS;
    if (!is_zero(*pass.state))
        return;
    for (size_t j = static_cast<size_t>(block_index()) * STATE_THREADS + thread_index(); j < pass.columns;
         j += threads) {
        const SUM start = pass.carry_in ? pass.carry_in[j] : SUM(0);
        row_of_state<SUM>(pass.state, pass.columns, STATE_START)[j] = start;
        if (pass.sums_only)
            row_of_state<SUM>(pass.state, pass.columns, STATE_SUM)[j] = start;
    }
}

/* The header. One thread. */
template <class SUM> KERNEL LAUNCH_BOUNDS(WARP_LANES, 1) begin_kernel(state_pass<SUM> pass) {
    if (thread_index() != 0)
        return;
    sum_state header = *pass.state;
    if (is_zero(header)) {
        header.magic = STATE_MAGIC;
        header.version = STATE_VERSION;
        header.type = pass.type;
        header.columns = pass.columns;
    } else if (!fits(pass, header)) {
        header.flags |= STATE_REFUSED;
    }
    *pass.state = header;
}

/* Whether row `slot` of a state of floats means something. */
DEVICE bool counts(const struct state_digits &digits, unsigned slot) {
    if (slot >= STATE_RISING_RUNS)
        return false;
    return slot >= STATE_BLOCKS ? (digits.blocks >> (slot - STATE_BLOCKS) & 1) != 0
                                : (digits.runs >> (slot - STATE_RUNS) & 1) != 0;
}

/* Counts the rows, and with them the finding goes on. By one thread. */
template <class SUM> DEVICE void count_rows(const state_pass<SUM> &pass, uint64_t before) {
    if (pass.first_overflow && *pass.first_overflow != ~uint64_t(0))
        *pass.first_overflow += before * pass.columns;
    pass.state->rows = before + pass.rows;
}

/* The rows of the state behind the call; and if it is known how many there were before, which then nobody looks up, the
 * count. Without rows the sums so far are the carry out. */
template <class SUM> KERNEL LAUNCH_BOUNDS(STATE_THREADS, 1) rows_kernel(state_pass<SUM> pass) {
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
            pass.carry_out[j] = state_column<SUM>(pass.state, pass.columns, j).last();
        return;
    }
    const struct state_digits before = state_digits(0, rows_before), now = state_digits(0, rows_before + pass.rows);
    for (size_t at = first; at < (STATE_RISING_RUNS - STATE_RUNS) * pass.columns; at += threads) {
        const unsigned slot = STATE_RUNS + static_cast<unsigned>(at / pass.columns);
        const size_t j = at % pass.columns;
        if (counts(now, slot))
            row_of_state<SUM>(pass.state, pass.columns, slot)[j] = row_of_state<SUM>(pass.left, pass.columns, slot)[j];
        else if (counts(before, slot))
            row_of_state<SUM>(pass.state, pass.columns, slot)[j] = SUM(0);
    }
}

/* One thread. */
template <class SUM> KERNEL LAUNCH_BOUNDS(WARP_LANES, 1) count_kernel(state_pass<SUM> pass) {
    if (thread_index() == 0 && (pass.state->flags & STATE_REFUSED) == 0)
        count_rows(pass, pass.state->rows);
}

template <class SUM> static state_pass<SUM> make_state_pass(const kernel_state_call &call) {
    state_pass<SUM> pass = {};
    pass.state = static_cast<sum_state *>(call.state);
    pass.left = static_cast<const sum_state *>(call.left);
    pass.type = call.type;
    pass.columns = call.columns;
    pass.rows = call.rows;
    pass.before = call.before;
    pass.carry_in = static_cast<const SUM *>(call.carry_in);
    pass.carry_out = static_cast<SUM *>(call.carry_out);
    pass.first_overflow = call.first_overflow;
    pass.sums_only = std::is_integral<SUM>::value;
    return pass;
}

static unsigned blocks_for(size_t cells) {
    const size_t blocks = (cells + STATE_THREADS - 1) / STATE_THREADS;
    return static_cast<unsigned>(blocks < STATE_BLOCKS_MOST ? blocks : STATE_BLOCKS_MOST);
}

template <class SUM> static int enter(const kernel_state_call &call) {
    const state_pass<SUM> pass = make_state_pass<SUM>(call);
    const int error =
        pass.columns > 0 ? launch(start_kernel<SUM>, blocks_for(pass.columns), STATE_THREADS, 0, call.stream, pass) : 0;
    return error == 0 ? launch(begin_kernel<SUM>, 1, WARP_LANES, 0, call.stream, pass) : error;
}

template <class SUM> static int leave(const kernel_state_call &call) {
    constexpr bool FLOATS = !std::is_integral<SUM>::value;
    const state_pass<SUM> pass = make_state_pass<SUM>(call);
    int error = 0;
    if constexpr (FLOATS)
        if (pass.columns > 0)
            error = launch(rows_kernel<SUM>, blocks_for((STATE_RISING_RUNS - STATE_RUNS) * pass.columns), STATE_THREADS,
                           0, call.stream, pass);
    const bool counts = !FLOATS || pass.columns == 0 || call.before == KERNEL_UNKNOWN_ROWS;
    return error == 0 && counts ? launch(count_kernel<SUM>, 1, WARP_LANES, 0, call.stream, pass) : error;
}

/* Calls run(a sum of the type), signed ones as unsigned ones. */
template <class RUN> static int run_sums(uint32_t type, const RUN &run) {
#define RUN_SUM(TYPE, NAME, C)                                                                                         \
    if (type == TABLE_##TYPE)                                                                                          \
        return run(C());
    TABLE_SUMS(RUN_SUM)
#undef RUN_SUM
    return static_cast<int>(cudaErrorInvalidValue);
}

int kernel_state_enter(const kernel_state_call *call) {
    return run_sums(call->type, [&](auto sum) { return enter<decltype(sum)>(*call); });
}

int kernel_state_leave(const kernel_state_call *call) {
    return run_sums(call->type, [&](auto sum) { return leave<decltype(sum)>(*call); });
}
