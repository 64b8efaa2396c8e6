/* Buffered: the algorithm for large tables that no other one takes better. Tiles are double-buffered: one waits for its
 * prefix in shared memory while the next one has the registers. Every GPU from 8.0 on.
 *
 *   a tile waits in   shared memory, while the next one has the registers (buffered_tile.cuh); LAG 1
 *   it is loaded      into registers; or, of widened values and of rows of no power of two, by bulk copies (TMA) into
 *                     shared memory while its block finishes the tile before (bulk_tile.cuh; 9.0 and later)
 *   bytes a cell      one read, one write, and two descriptors a column and chunk (descriptors/per_chunk.cuh)
 *   stage 2           a prefix warp (stage2/prefix_warp.cuh); of wide rows a block of many columns
 *                     (stage2/prefix_wide.cuh); where a row has so many panels that the chunk before is long done, each
 *                     tile hands the next one its prefix (a chain)
 *
 * Rows of bytes of whole words, where two columns share a word until they are written, have a policy of their own
 * (packed.cuh).
 *
 * Wide tiles have so few rows that two, one below the other, share a chunk (SHARES). Each publishes its own totals;
 * stage 2 adds them, and the lower tile takes the total to its left in the tree, which is the upper tile's, together
 * with its prefix. The upper tile was fetched before the lower one, by a block that waits for nothing but the meeting
 * of all blocks between the fetch of a tile and the publication of its totals: this wait ends, too. */
#include "choose/dispatch.cuh"
#include "choose/tuning.h"
#include "persistent/buffered_block.cuh"
#include "persistent/bulk_tile.cuh"
#include "persistent/descriptors/per_chunk.cuh"
#include "persistent/launch_persistent.cuh"
#include "persistent/packed.cuh"
#include "persistent/stage2/prefix_blocks.cuh"
#include "tile/first_rows.cuh"

/* Exclusive results are each the inclusive one of the row above. CHECKED: the pass may be checked for overflow. */
template <class SHAPE, results RESULTS, bool CHECKED> struct buffered_policy {
    typedef typename SHAPE::Input Input;
    typedef typename SHAPE::Sum Sum;
    typedef pass_state<Sum> State;
    static constexpr unsigned THREADS = SHAPE::THREADS, BLOCKS = 2, LAG = 1;
    static constexpr unsigned PREFIX_BLOCKS_ALONE = 2; /* prefix blocks that have a multiprocessor each to themselves */
    static constexpr bool CHAINS = true, MAY_CHECK = CHECKED;

    /* Where the device can: whenever values are as wide as sums, as such rows can all be copied, and no register is
     * taken by a choice; otherwise if the pass says so. */
    static constexpr bool SKIPS_NAN = std::is_same<Input, Sum>::value && !SHAPE::ADDS_ONCE && !are_tables<SHAPE>::value;
    static constexpr bool ABOVE = RESULTS != results::INCLUSIVE, MAY_PUT_ASIDE = ABOVE && has_few_registers<SHAPE>();
    static constexpr bool MAY_BULK_LOAD =
        loads_in_bulk<SHAPE, ABOVE>() && !(MAY_PUT_ASIDE && RESULTS == results::EXCLUSIVE);
    static_assert(!MAY_BULK_LOAD || SHAPE::WIDENED || SHAPE::STAGED, "rows of few columns, side by side on vectors");
    /* A vote on NaNs keeps loads before sums, too. Without it f64 is 0.02 slower, and with it f32 of 4 columns spills:
     * docs/lab/2026-11-29.md#nans-skipped-and-integers-that-become-floats-in-one-pass */
    static constexpr bool VOTES_ON_NAN = SKIPS_NAN && sizeof(Sum) == 8 && !MAY_BULK_LOAD;

    /* Whether values are put aside, where a bulk tile lies otherwise. */
    static HOST_DEVICE bool puts_aside(const tile_pass &pass) {
        return MAY_PUT_ASIDE && makes_exclusive<RESULTS>(pass);
    }
    static size_t tile_bytes(const tile_pass &pass) {
        return sizeof(tile_buffer<SHAPE, ABOVE>) + (puts_aside(pass)  ? sizeof(aside_tile<SHAPE>)
                                                    : pass.bulk_loads ? sizeof(bulk_tile<SHAPE>)
                                                                      : 0);
    }

    /* A lane's part of a tile in registers. */
    struct Lane {
        tile_place place;
        tile_values<SHAPE> values;
        Sum before[SHAPE::COLUMNS]; /* the sums of the rows of the tile before the warp */
    };

    const tile_pass &pass;
    const State &state;
    const unsigned tiles, prefix_blocks;
    typedef buffered_block<SHAPE> block;
    tile_buffer<SHAPE, ABOVE> &buffered;
    aside_tile<SHAPE> &aside; /* or else: */
    bulk_tile<SHAPE> &bulk;

    DEVICE buffered_policy(const tile_pass &pass_, const State &state_, unsigned char *memory, unsigned tiles_,
                           unsigned prefix_blocks_, unsigned arrival)
        : pass(pass_), state(state_), tiles(tiles_), prefix_blocks(prefix_blocks_),
          buffered(*reinterpret_cast<tile_buffer<SHAPE, ABOVE> *>(memory)),
          aside(*reinterpret_cast<aside_tile<SHAPE> *>(&buffered + 1)),
          bulk(*reinterpret_cast<bulk_tile<SHAPE> *>(&buffered + 1)) {
        const unsigned number = block_index();
        if (thread_index() == 0)
            block::role() = block_role{number < prefix_blocks ? number : NO_PART, number - prefix_blocks, arrival, 0};
        if (number < prefix_blocks)
            grid_meet(arrival);
        block_barrier();
    }

    DEVICE bool exclusive() const { return makes_exclusive<RESULTS>(pass); }
    DEVICE warp_row<SHAPE> *ends() const {
        if constexpr (ABOVE && SHAPE::UNITS > 1)
            return exclusive() ? block::ends() : nullptr;
        return nullptr;
    }
    DEVICE bool bulk_loads() const { return MAY_BULK_LOAD && copies_in_bulk() && (!SHAPE::WIDENED || pass.bulk_loads); }
    DEVICE bool scans_totals() const { return block::role().part != NO_PART; }
    DEVICE void scan_totals() {
        add_chunks<SHAPE>(state, reinterpret_cast<void *>(&buffered), pass.columns, chunks_of<SHAPE>(pass, tiles),
                          block::role().part);
    }
    DEVICE void take() {
        const unsigned tile = block::role().tile;
        if (bulk_loads()) {
            prepare_bulk<SHAPE>(bulk);
            request_bulk<SHAPE>(pass, tile, tiles, bulk);
        }
        take_tiles(*this, tile, tiles);
    }

    DEVICE void read(const tile_place &place, tile_values<SHAPE> &values) {
        if constexpr (MAY_BULK_LOAD)
            if (bulk_loads() && place.end == SHAPE::TILE_ROWS)
                return take_bulk<SHAPE>(pass, place, bulk, values);
        tile_load<SHAPE>(pass, place, values);
    }
    DEVICE void load(unsigned tile, Lane &lane) {
        lane.place = tile_place_of<SHAPE>(pass, tile);
        const tile_place &place = lane.place;
        read(place, lane.values);
        if (!VOTES_ON_NAN)
            loads_before_sums(place.end == 0);
        if constexpr (SKIPS_NAN)
            if (!VOTES_ON_NAN || warp_any(WARP_ALL, pass.any.without_nan))
                tile_skip_nans<SHAPE>(pass, lane.values);
        if constexpr (SHAPE::LOOSE)
            tile_convert<SHAPE>(pass, lane.values);
    }
    DEVICE void total(unsigned, unsigned waiting, Lane &lane) {
        put_magnitude<SHAPE>(pass, CHECKED && state.magnitudes, lane.values, block::magnitudes());
        scan_warp<SHAPE>(lane.place, lane.values);
        put_warp_totals<SHAPE>(lane.place, lane.values, block::totals());
        if (waiting == NO_TILE)
            grid_meet(block::role().arrival);
        block_barrier();
    }
    DEVICE void total_none() { block_barrier(); }
    /* The magnitude is published between totals and sums: before or after, 8-byte sums spill. Values that registers
     * have no room for while another tile is written are put aside. */
    DEVICE void publish(unsigned tile, Lane &lane) {
        publish_totals<SHAPE>(pass, state, tile, block::totals());
        if (CHECKED)
            publish_magnitude<SHAPE>(pass, state, tile, block::magnitudes());
        scan_warps<SHAPE>(lane.place, block::totals(), lane.values, lane.before);
        if (puts_aside(pass))
            put_aside<SHAPE>(aside, lane.values);
    }
    DEVICE void poll(unsigned due, Lane &) {
        if (due == NO_TILE)
            return;
        if constexpr (SHAPE::UNITS == 1)
            wait_for_prefixes<SHAPE, CHECKED>(pass, state, due, prefix_blocks == 0, block::prefixes());
        else if (thread_index() / WARP_LANES == 0)
            wait_for_units<SHAPE>(pass, state, due, prefix_blocks == 0, buffered, block::prefixes(), ends());
    }
    /* A tile is fetched as late as possible, as the tiles after it wait for its totals while this block finishes
     * others; but before the due tile is written, so that its bulk copy can be requested. */
    DEVICE void fetch(unsigned due, bool more) {
        if (more && thread_index() == 0)
            block::next_tile() = fetch_tile(state, prefix_blocks, due == NO_TILE, block::role());
        block_barrier();
        if (bulk_loads() && more)
            request_bulk<SHAPE>(pass, block::next_tile(), tiles, bulk);
    }
    DEVICE void write(unsigned due, Lane &) {
        const tile_place place = tile_place_of<SHAPE>(pass, due);
        if constexpr (!SHAPE::ADDS_ONCE && SHAPE::UNITS == 1)
            leave_end<SHAPE>(pass, state, exclusive(), place, buffered, block::prefixes());
        with_result<SHAPE::LOOSE>(pass.result, [&](auto kind) {
            constexpr value_kind KIND = decltype(kind)::value;
            if constexpr (ABOVE)
                if (exclusive())
                    return finish_buffered<SHAPE, true, KIND>(pass, place, buffered, block::prefixes(), ends());
            if constexpr (RESULTS != results::EXCLUSIVE)
                finish_buffered<SHAPE, false, KIND>(pass, place, buffered, block::prefixes(), nullptr);
        });
    }
    DEVICE unsigned put_back(unsigned, Lane &lane) {
        if (puts_aside(pass))
            take_back<SHAPE>(aside, lane.values);
        buffer_tile<SHAPE, ABOVE>(buffered, lane.values, lane.before);
        return block::next_tile();
    }
};

/* The plan of a buffered pass, for the launcher. */
template <class SUM> struct buffered_plan {
    typedef SUM Sum;
    const tile_pass &pass;
    const unsigned tiles, shares, chunk_rows;
    const size_t chunks, prefix_blocks, shared, needed;

    size_t pairs(unsigned most) const {
        const bool chain = !are_few_prefix_blocks(prefix_blocks, most);
        return shared_pairs(chunks, shares, pass.columns, sizeof(Sum), pass.first_overflow,
                            chain ? tree_state<Sum>::block_rows(chunks) : 0);
    }
    pass_state<Sum> state(const persistent_call &call, unsigned, unsigned, size_t) const {
        pass_state<Sum> state = call.state_of_chunks<Sum>(pass, chunks * shares, tree_state<Sum>::block_rows(chunks));
        state.go_on_from(call.carry_state_of<Sum>(chunk_rows));
        return state;
    }
    last_rows<Sum> lasts(const persistent_call &call) const {
        return call.lasts_of<Sum>(state(call, 0, 0, 0).last_rows(), pass, chunks, chunk_rows);
    }
    checked_prefixes<Sum> prefixes(const pass_state<Sum> &state) const {
        return checked_prefixes<Sum>{state.prefixes, state.magnitudes, shares * pass.columns, chunk_rows, chunks};
    }
};

/* Whether unchecked passes have a kernel of their own, for the registers: with vectors of 4 bytes they spill otherwise.
 * docs/tuning.md#overflow-check */
template <class SHAPE> HOST_DEVICE constexpr bool has_unchecked() {
    return SHAPE::VECTOR > 1 && looks_at_values<SHAPE>() && sizeof(typename SHAPE::Sum) == 4;
}

/* Whether one kernel makes both kinds of results, where inclusive ones lose nothing by it: of single columns of all but
 * floats of 4 and 8 bytes, and of few columns where registers are enough.
 * docs/lab/2026-11-29.md#one-kernel-for-both-kinds-of-results */
template <class SHAPE> HOST_DEVICE constexpr bool makes_either() {
    typedef typename SHAPE::Sum Sum;
    if (is_from_integer<typename SHAPE::Input, Sum>())
        return false;
    if (SHAPE::VECTOR == 1)
        return SHAPE::ADDS_ONCE || (SHAPE::LOOSE && SHAPE::LANES > 1);
    return !has_few_registers<SHAPE>() && SHAPE::LANES == 1 && (SHAPE::COLUMNS < 4 || SHAPE::COLUMNS == 5);
}

struct buffered_launcher {
    static constexpr bool BUFFERS = true;
    persistent_call call;
    bool may_bulk; /* the device copies in bulk */

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        if constexpr (is_halved<SHAPE>())
            return run_kind<typename SHAPE::halved>(pass, tiles);
        else
            return run_kind<SHAPE>(pass, tiles);
    }

    template <class SHAPE> int run_kind(const tile_pass &pass, unsigned tiles) const {
        if constexpr (SHAPE::PACKED)
            return pass.exclusive ? run_plan<SHAPE, packed_policy<SHAPE, true>>(pass, tiles)
                                  : run_plan<SHAPE, packed_policy<SHAPE, false>>(pass, tiles);
        else
            return run_buffered<SHAPE>(pass, tiles);
    }

    template <class SHAPE> int run_buffered(const tile_pass &pass, unsigned tiles) const {
        if (pass.any.without_nan && !buffered_policy<SHAPE, results::INCLUSIVE, true>::SKIPS_NAN)
            return static_cast<int>(cudaErrorNotSupported);
        if constexpr (has_unchecked<SHAPE>())
            if (!pass.first_overflow && !pass.exclusive)
                return run_results<SHAPE, results::INCLUSIVE, false>(pass, tiles);
        if constexpr (makes_either<SHAPE>())
            return run_results<SHAPE, results::EITHER, true>(pass, tiles);
        else
            return pass.exclusive ? run_exclusive<SHAPE>(pass, tiles)
                                  : run_results<SHAPE, results::INCLUSIVE, true>(pass, tiles);
    }
    template <class SHAPE> int run_exclusive(const tile_pass &pass, unsigned tiles) const {
        if constexpr (is_from_integer<typename SHAPE::Input, typename SHAPE::Sum>())
            return static_cast<int>(cudaErrorNotSupported); /* so rare that the separate stages do */
        else
            return run_results<SHAPE, results::EXCLUSIVE, true>(pass, tiles);
    }
    template <class SHAPE, results RESULTS, bool CHECKED> int run_results(const tile_pass &pass, unsigned tiles) const {
        return run_plan<SHAPE, buffered_policy<SHAPE, RESULTS, CHECKED>>(pass, tiles);
    }

    /* Where tiles are loaded in bulk, two blocks of a multiprocessor have to find room, or the algorithm without bulk
     * copies takes the table: its blocks may have all shared memory, with the bytes that are reserved here. */
    template <class SHAPE, class POLICY> int run_plan(tile_pass pass, unsigned tiles) const {
        const bool may = POLICY::MAY_BULK_LOAD && !POLICY::puts_aside(pass) &&
                         (!SHAPE::WIDENED || (may_bulk && may_bulk_load<SHAPE>(pass)));
        const int error = may ? code_copies_in_bulk(persistent_kernel<POLICY>, &pass.bulk_loads) : 0;
        if (error != 0)
            return error;
        const size_t tile = POLICY::tile_bytes(pass);
        const size_t adding = prefix_block_bytes<SHAPE>(pass.columns), shared = tile > adding ? tile : adding;
        const size_t block = shared + buffered_block<SHAPE>::BYTES;
        const buffered_plan<typename SHAPE::Sum> plan = {pass,
                                                         tiles,
                                                         SHAPE::SHARES,
                                                         SHAPE::TILE_ROWS * SHAPE::SHARES,
                                                         chunks_of<SHAPE>(pass, tiles),
                                                         prefix_blocks_of<SHAPE>(pass.columns),
                                                         shared,
                                                         pass.bulk_loads && may_bulk ? 2 * block + RESERVED_BYTES
                                                                                     : block};
        return launch_first_rows<SHAPE>(launch_persistent<POLICY>(call, pass, plan), pass, plan.lasts(call),
                                        call.stream);
    }
};

/* Inclusive sums of a batch, of which the pass is the first table: of values as wide as their sums, or of small floats.
 */
struct batch_panels_launcher : buffered_launcher {
    const kernel_batch &batch;

    batch_panels_launcher(const kernel_batch &batch_, const kernel_pass &pass, void *workspace)
        : buffered_launcher{persistent_call(pass, kernel_carry{batch_.carry_in, batch_.carry_out, nullptr}, workspace),
                            true},
          batch(batch_) {}

    template <class SHAPE> static constexpr bool has_tables() {
        constexpr unsigned BYTES = SHAPE::PANEL * sizeof(typename SHAPE::Sum);
        if (SHAPE::VECTOR == 1 || SHAPE::PANEL != power_of_two_above(SHAPE::PANEL))
            return false;
        return SHAPE::LOOSE ? SHAPE::STAGED && BYTES <= MOST_SMALL_TABLE_BYTES
                            : !SHAPE::WIDENED && (SHAPE::ROWS > 1 || SHAPE::LANES > 1);
    }
    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        if constexpr (!has_tables<SHAPE>()) {
            return static_cast<int>(cudaErrorNotSupported);
        } else if constexpr (is_halved<SHAPE>()) {
            return run<typename SHAPE::halved>(pass, tiles);
        } else {
            if (pass.columns % SHAPE::PANEL != 0)
                return static_cast<int>(cudaErrorNotSupported);
            typedef buffered_policy<table_panels<SHAPE>, results::INCLUSIVE, false> policy;
            static_assert(!policy::MAY_BULK_LOAD || SHAPE::LANES == 1, "a table's rows are a lane's");
            const unsigned count = static_cast<unsigned>(batch.ranges.count);
            tile_pass made = pass;
            made.panels *= count;
            made.columns *= count;
            while (1u << made.log_table_panels < pass.panels)
                made.log_table_panels++;
            made.in_table = batch.ranges.in;
            made.out_table = batch.ranges.out;
            return run_plan<table_panels<SHAPE>, policy>(made, tiles * count);
        }
    }
};

#if KERNEL_PART == 0
/* By strides alone, as the table may be anywhere. */
size_t algorithm_buffered::workspace(const kernel_pass *pass) {
    const size_t chunks = (pass->rows + pass->chunk_rows - 1) / pass->chunk_rows, shares = is_wide(*pass) ? 2 : 1;
    const size_t element = kernel_sum_bytes(pass->out_type);
    const bool in_order = kernel_sum_in_order(pass->out_type);
    return COUNTER_BYTES +
           sizeof(word_pair) * shared_pairs(chunks, shares, pass->columns, element, pass->first_overflow,
                                            in_order ? tree_state<float>::block_rows(chunks) : 0) +
           (in_order && pass->exclusive ? chunks * pass->columns * element : 0);
}
#endif

template <>
int algorithm_buffered::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    return run_pass(*pass, buffered_launcher{persistent_call(*pass, *carry, workspace), true});
}

template <> int algorithm_batch::run<KERNEL_PART>(const kernel_batch *batch, void *workspace) {
    const kernel_pass pass = pass_of_table(*batch);
    const batch_panels_launcher launcher(*batch, pass, workspace);
    const size_t bytes = batch->columns * kernel_sum_bytes(batch->out_type);
    if (bytes < LINE_BYTES)
        return run_pass(pass, launcher);
    return run_types<true>(pass, [&](auto types) {
        typedef typename decltype(types)::Input Input;
        typedef typename decltype(types)::Sum Sum;
        constexpr unsigned COUNT = VECTOR_BYTES / sizeof(Sum);
        if (!are_whole_vectors<Sum>(pass))
            return static_cast<int>(cudaErrorNotSupported);
        if (bytes > LINE_BYTES)
            return run_tile_shape<tile_shape<Input, Sum, 1, COUNT, WIDE_LANES, COUNT>>(pass, launcher);
        return run_tile_shape<tile_shape<Input, Sum, 1, COUNT, WIDE_LANES / 2, COUNT>>(pass, launcher);
    });
}

template <>
int algorithm_no_bulk::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    return run_pass(*pass, buffered_launcher{persistent_call(*pass, *carry, workspace), false});
}
