/* Rows: the algorithm for large tables of rows that begin anywhere in a line of memory, where panels of lines read and
 * write parts of them, or anywhere in a vector; and for bytes in long rows. GPUs from 9.0 on.
 *
 *   a tile waits in   shared memory, where it was loaded (row_tile.cuh); bytes that become sums of 4 bytes in registers
 *                     (byte_rows.cuh); LAG 0: blocks are so small that four of a multiprocessor hide each other's waits
 *   it is loaded      by bulk copies (row_load.cuh); bytes by loads
 *   bytes a cell      one read, one write; descriptors are a ring in the cache (descriptors/descriptor_ring.cuh)
 *   stage 2           the warps of a block take turns (stage2/prefix_turns.cuh) */
#include "choose/row_dispatch.cuh"
#include "persistent/descriptors/per_row_tile.cuh"
#include "persistent/launch_persistent.cuh"
#include "persistent/row_load.cuh"
#include "persistent/stage2/prefix_turns.cuh"
#include "tile/first_rows.cuh"

constexpr unsigned MOST_SHARES = 4; /* tiles of a chunk */

/* Whether exclusive passes have a kernel of their own: of floats in ragged rows, which lose 0.01 to 0.05 of memcpy in a
 * kernel for both, but not where f32 becomes f64, or where they were integers; and of bytes, where a branch at each row
 * costs 0.04 to 0.08 (u8 to u32 on an H200, inclusive, at 256 columns 0.883 to 0.806, at 1024 0.886 to 0.815).
 * docs/lab/2026-11-29.md#one-kernel-for-both-kinds-of-results */
template <class SHAPE> HOST_DEVICE constexpr bool has_exclusive() {
    typedef typename SHAPE::Input Input;
    typedef typename SHAPE::Sum Sum;
    const bool is_ragged = SHAPE::APART && !SHAPE::PIECES;
    return SHAPE::KEPT_ROWS == 0 ||
           (is_ragged && (std::is_same<Input, Sum>::value || input_traits<Input>::LOOSE) && !SHAPE::ADDS_ONCE);
}

template <class SHAPE, results RESULTS> struct rows_policy {
    typedef typename SHAPE::Input Input;
    typedef typename SHAPE::Sum Sum;
    typedef ring_state<Sum> State;
    static constexpr unsigned THREADS = SHAPE::THREADS, BLOCKS = SHAPE::BLOCKS, LAG = 0;
    static constexpr unsigned PREFIX_BLOCKS_ALONE = SHAPE::PREFIX_BLOCKS_ALONE;
    static constexpr bool CHAINS = false, MAY_CHECK = is_checked<Sum>();
    static constexpr bool BULK_LOADS = SHAPE::KEPT_ROWS > 0;

    /* A lane's part of a tile in registers. */
    struct Lane {
        row_place place;
        typename SHAPE::Values values;
    };

    const tile_pass &pass;
    const State &state;
    const unsigned tiles, prefix_blocks, arrival;
    unsigned char *const shared;
    row_block<SHAPE> &block;
    row_memory<SHAPE> memory;
    unsigned turn; /* tiles of this block before */

    DEVICE rows_policy(const tile_pass &pass_, const State &state_, unsigned char *shared_, unsigned tiles_,
                       unsigned prefix_blocks_, unsigned arrival_)
        : pass(pass_), state(state_), tiles(tiles_), prefix_blocks(prefix_blocks_), arrival(arrival_), shared(shared_),
          block(*reinterpret_cast<row_block<SHAPE> *>(shared)), turn(0) {}

    DEVICE bool exclusive() const { return makes_exclusive<RESULTS>(pass); }
    DEVICE bool scans_totals() const { return block_index() < prefix_blocks; }
    DEVICE void scan_totals() {
        grid_meet(arrival);
        take_turns<SHAPE>(state, *reinterpret_cast<turn_block<SHAPE> *>(shared), pass.columns, tiles / pass.panels,
                          static_cast<size_t>(block_index()) * SHAPE::TURN_COLUMNS);
    }
    DEVICE void take() {
        const unsigned tile = block_index() - prefix_blocks;
        memory = row_memory_of(pass, block);
        if (BULK_LOADS && thread_index() < SHAPE::STRIPS)
            bulk_barrier_init(&block.arrived[thread_index()], 1);
        if (thread_index() == 0) {
            block.role = block_role{NO_PART, tile, arrival, 0};
            block.next_tile = tile;
        }
        block_barrier();
        take_tiles(*this, tile, tiles);
    }

    DEVICE unsigned panel_of(const row_place &place) const { return place.column / pass.panel_columns; }

    DEVICE void load(unsigned tile, Lane &lane) {
        lane.place = row_place_of(pass, tile);
        if (SHAPE::PIECES)
            memory.width = units_of<SHAPE>(pass, lane.place);
        if constexpr (SHAPE::DENSE)
            request_dense<SHAPE>(pass, lane.place, memory, block);
        else if constexpr (SHAPE::PIECES)
            request_pieces<SHAPE>(pass, lane.place, memory, block);
        else if constexpr (BULK_LOADS)
            request_rows<SHAPE>(pass, lane.place, memory, block);
        else
            read_rows<SHAPE>(pass, lane.place, lane.values);
    }
    /* After the first barrier the totals of the tile before are not used any more. DENSE, put_back() has that barrier.
     */
    DEVICE void total(unsigned, unsigned, Lane &lane) {
        if (turn > 0 && thread_index() == 0)
            wait_for_ring<SHAPE::SHARES>(state, lane.place.row / SHAPE::SHARES, panel_of(lane.place), pass.panels);
        if constexpr (!SHAPE::DENSE)
            block_barrier();
        if constexpr (BULK_LOADS) {
            if constexpr (SHAPE::DENSE)
                wait_for_dense<SHAPE>(pass, lane.place, memory, block, turn & 1);
            else
                wait_for_rows<SHAPE>(pass, lane.place, memory, block, turn & 1);
            put_rows_totals<SHAPE>(pass, lane.place, memory);
        } else {
            put_bytes_totals<SHAPE>(pass, lane.place, memory, lane.values);
        }
        if constexpr (looks_at_values<SHAPE>())
            if (state.magnitudes)
                put_rows_magnitude<SHAPE>(pass, lane.place, memory, block);
        if (turn == 0)
            grid_meet(arrival);
        block_barrier();
    }
    DEVICE void total_none() {}
    DEVICE void publish(unsigned, Lane &lane) { publish_rows<SHAPE>(pass, state, lane.place, memory, block); }
    DEVICE void poll(unsigned, Lane &lane) {
        wait_for_lefts<SHAPE>(pass, state, lane.place, memory);
        block_barrier();
        if (thread_index() == 0)
            atomic_add(done_counter(state, slot_of<SHAPE>(state, lane.place), panel_of(lane.place), pass.panels), 1u);
        if constexpr (!SHAPE::ADDS_ONCE)
            leave_last_row<SHAPE>(pass, state, exclusive(), lane.place, memory);
    }
    DEVICE void fetch(unsigned, bool) {}
    DEVICE void write(unsigned, Lane &lane) {
        if constexpr (BULK_LOADS)
            write_rows<SHAPE>(pass, exclusive(), lane.place, memory);
        else
            write_bytes<SHAPE, RESULTS == results::EXCLUSIVE>(pass, lane.place, memory, lane.values);
    }
    /* The next tile is fetched here, by the block's last lane when the lane's warp has written: a tile that is fetched
     * early is loaded late, and all tiles after it wait. DENSE, strips share warps: all wait for all. */
    DEVICE unsigned put_back(unsigned tile, Lane &) {
        warp_barrier(WARP_ALL);
        if constexpr (SHAPE::DENSE) {
            if (thread_index() == SHAPE::STRIPS * memory.across - 1)
                block.next_tile = fetch_tile(state, prefix_blocks, turn == 0, block.role);
            turn++;
            block_barrier();
            return block.next_tile;
        }
        if (thread_index() == SHAPE::THREADS - 1)
            store_release_block(&block.next_tile, fetch_tile(state, prefix_blocks, turn == 0, block.role));
        turn++;
        unsigned next;
        do
            next = acquire_by_warp(&block.next_tile);
        while (next == tile);
        return next;
    }
};

/* The descriptors of a ring of chunks, the counters of each, and the magnitudes of `chunks`, in pairs. */
static size_t ring_pairs(const kernel_pass &pass, size_t shares, size_t panels, size_t ring, size_t chunks) {
    const size_t words = (shares + 1) * ring * pass.columns * 2 * kernel_sum_bytes(pass.out_type);
    const size_t counts = (ring * panels + (pass.first_overflow ? chunks : 0)) * sizeof(uint32_t);
    return (words + counts + sizeof(word_pair) - 1) / sizeof(word_pair);
}

/* Bytes of the workspace, which has room for a descriptor ring of all chunks of a table. By strides alone, as the table
 * may be anywhere. */
struct rows_room {
    static size_t chunks(const kernel_pass &pass) { return (pass.rows + UNIT_ROWS - 1) / UNIT_ROWS; }
    static size_t words(const kernel_pass &pass) {
        return COUNTER_BYTES +
               sizeof(word_pair) * ring_pairs(pass, MOST_SHARES, pass.columns, chunks(pass) + 1, chunks(pass));
    }
    /* After the descriptors: the prefixes that the check wants, of all chunks; or the last rows of chunks of floats. */
    static size_t kept(const kernel_pass &pass) {
        const size_t row = pass.columns * kernel_sum_bytes(pass.out_type);
        return pass.first_overflow ? (chunks(pass) + 1) * row * 2 : pass.exclusive ? chunks(pass) * row : 0;
    }
};

/* The plan of a pass by rows, for the launcher. */
template <class SUM> struct rows_plan {
    typedef SUM Sum;
    const kernel_pass &pass;
    const tile_pass &made;
    const unsigned tiles, shares, chunk_rows;
    const size_t prefix_blocks, shared, needed, chunks;

    /* Chunks of the ring: twice the chunks that are under way; or all, and one after the last, whose prefix is the
     * carry out. */
    size_t ring(unsigned most) const {
        const size_t all = chunks + 1, few = 2 * (most / made.panels / shares + 2);
        return all < few ? all : few;
    }
    size_t pairs(unsigned most) const { return ring_pairs(pass, shares, made.panels, ring(most), chunks); }

    ring_state<Sum> state(const persistent_call &call, unsigned most, unsigned, size_t cleared) const {
        ring_state<Sum> state;
        static_cast<pass_state<Sum> &>(state) = call.state_for<Sum>();
        const size_t length = ring(most);
        state.ring = static_cast<unsigned>(length);
        state.prefixes = state.totals + length * shares * pass.columns;
        state.done = reinterpret_cast<uint32_t *>(state.prefixes + length * pass.columns);
        state.all_prefixes = nullptr;
        state.put_last_rows(last_rows_in(call.workspace));
        state.go_on_from(call.carry_state_of<Sum>(chunk_rows));
        if (is_checked<Sum>() && pass.first_overflow) {
            state.magnitudes = state.done + length * made.panels;
            state.all_prefixes = state.totals + cleared * sizeof(word_pair) / sizeof(tile_descriptor<Sum>);
        }
        return state;
    }
    checked_prefixes<Sum> prefixes(const ring_state<Sum> &state) const {
        return checked_prefixes<Sum>{state.all_prefixes, state.magnitudes, pass.columns, chunk_rows, chunks};
    }

    /* The last rows of a table of floats: after all descriptors, the number of which depends on the launch. */
    Sum *last_rows_in(void *workspace) const {
        return reinterpret_cast<Sum *>(static_cast<char *>(workspace) + rows_room::words(pass));
    }
    last_rows<Sum> left_in(const persistent_call &call) const {
        return call.lasts_of<Sum>(last_rows_in(call.workspace), made, chunks, chunk_rows);
    }
};

/* For choose/row_dispatch.cuh. */
struct rows_launcher {
    const kernel_pass &pass;
    const persistent_call &call;
    template <class SHAPE> int run(tile_pass made) const {
        static_assert(SHAPE::SHARES <= MOST_SHARES, "room in the workspace");
        const size_t rows = (pass.rows + SHAPE::TILE_ROWS - 1) / SHAPE::TILE_ROWS;
        const size_t prefix_blocks = (pass.columns + SHAPE::TURN_COLUMNS - 1) / SHAPE::TURN_COLUMNS;
        lay_rows<SHAPE>(made);
        const size_t tile = row_memory_bytes<SHAPE>(made), turns = sizeof(turn_block<SHAPE>);
        const size_t shared = tile > turns ? tile : turns, chunk = SHAPE::TILE_ROWS * SHAPE::SHARES;
        if (rows > INT32_MAX / made.panels || (call.carry_state && chunk > pass.chunk_rows) ||
            (!SHAPE::ADDS_ONCE && rows / SHAPE::SHARES / turn_block<SHAPE>::CHUNKS >> TURN_LEVELS != 0))
            return static_cast<int>(cudaErrorNotSupported);
        const rows_plan<typename SHAPE::Sum> plan = {pass,
                                                     made,
                                                     static_cast<unsigned>(rows) * made.panels,
                                                     SHAPE::SHARES,
                                                     SHAPE::TILE_ROWS * SHAPE::SHARES,
                                                     prefix_blocks,
                                                     shared,
                                                     shared,
                                                     (pass.rows + chunk - 1) / chunk};
        int error;
        if constexpr (!has_exclusive<SHAPE>())
            error = launch_persistent<rows_policy<SHAPE, results::EITHER>>(call, made, plan);
        else if (!pass.exclusive)
            error = launch_persistent<rows_policy<SHAPE, results::INCLUSIVE>>(call, made, plan);
        else
            error = launch_persistent<rows_policy<SHAPE, results::EXCLUSIVE>>(call, made, plan);
        return launch_first_rows<SHAPE>(error, made, plan.left_in(call), call.stream);
    }
};

#if KERNEL_PART == 0
size_t algorithm_rows::workspace(const kernel_pass *pass) {
    const kernel_problem problem = kernel_problem_of(pass, 0, 0);
    return rows_can(&problem) ? rows_room::words(*pass) + rows_room::kept(*pass) : 0;
}
#endif

template <> int algorithm_rows::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    const persistent_call call(*pass, *carry, workspace);
    const kernel_problem problem = kernel_problem_of(pass, 0, 0);
    const rows_launcher launcher = {*pass, call};
    return run_types<true>(*pass, [&](auto types) { return run_rows_of(*pass, problem, launcher, types); });
}
