/* Parked: the form for large tables that no other form takes better. Every GPU from 8.0 on.
 *
 *   a tile waits in   shared memory, while the next one has the registers (parked_tile.cuh); LAG 1
 *   it is brought     into registers; or of widened values, and of rows of no power of two, by itself into shared
 *                     memory while its block finishes the tile before (coming_tile.cuh; 9.0 and later)
 *   bytes a cell      one read, one write, and two words a column and chunk (words/per_chunk.cuh)
 *   who adds          an adding warp (adds/adding_warp.cuh); of wide rows a block of many columns (adds/wide.cuh);
 *                     where a row has so many panels that the chunk before is long done, nobody: each tile hands the
 *                     next one its seed (a chain)
 *
 * Rows of bytes of whole words, where two columns share a word until they are written, have a policy of their own
 * (packed.cuh).
 *
 * Wide tiles have so few rows that two, one below the other, share a chunk (SHARES). Each tells its own totals; stage 2
 * puts them together, and the lower one takes what is to the left of it in the tree, the total of the upper one,
 * together with its seed. The upper tile was taken before the lower one, by a block that waits for nothing but the
 * meeting of all from when it takes a tile to when it tells its totals: this wait ends, too. */
#include "choose/dispatch.cuh"
#include "choose/shapes.h"
#include "persistent/adds/adders.cuh"
#include "persistent/coming_tile.cuh"
#include "persistent/launch.cuh"
#include "persistent/packed.cuh"
#include "persistent/parked_block.cuh"
#include "persistent/words/per_chunk.cuh"
#include "tile/first_rows.cuh"

/* ABOVE: exclusive results, what stands one row above. CHECKED: the pass may be checked for overflow. */
template <class SHAPE, bool ABOVE, bool CHECKED> struct parked_form {
    typedef typename SHAPE::Input Input;
    typedef typename SHAPE::Sum Sum;
    typedef pass_state<Sum> State;
    static constexpr unsigned THREADS = SHAPE::THREADS, BLOCKS = 2, LAG = 1;
    static constexpr unsigned ADDERS_ALONE = 2; /* adding blocks that have a multiprocessor each to themselves */
    static constexpr bool CHAINS = true, MAY_CHECK = CHECKED;

    /* Where the device can: whenever values are as wide as sums, as such rows can all be copied, and no register is
     * taken by a choice (f64 of 7 columns spills 28 bytes more for it); or else if the pass says so. */
    static constexpr bool MAY_COME = comes_by_itself<SHAPE, ABOVE>();
    static_assert(!MAY_COME || SHAPE::WIDENED || SHAPE::STAGED, "rows of few columns, side by side on vectors");
    static constexpr size_t TILE_BYTES =
        sizeof(parked_tile<SHAPE, ABOVE>) + (puts_aside<SHAPE, ABOVE>() ? sizeof(aside_tile<SHAPE>) : 0);

    /* What a lane has of a tile in registers. */
    struct Lane {
        tile_place place;
        tile_values<SHAPE> values;
        Sum before[SHAPE::COLUMNS]; /* the sums of the rows of the tile before the warp */
    };

    const tile_pass &pass;
    const State &state;
    const unsigned tiles, adders;
    typedef parked_block<SHAPE> block;
    parked_tile<SHAPE, ABOVE> &parked;
    aside_tile<SHAPE> &aside; /* or else: */
    coming_tile<SHAPE> &coming;

    DEVICE parked_form(const tile_pass &pass_, const State &state_, unsigned char *memory, unsigned tiles_,
                       unsigned adders_, unsigned arrival)
        : pass(pass_), state(state_), tiles(tiles_), adders(adders_),
          parked(*reinterpret_cast<parked_tile<SHAPE, ABOVE> *>(memory)),
          aside(*reinterpret_cast<aside_tile<SHAPE> *>(&parked + 1)),
          coming(*reinterpret_cast<coming_tile<SHAPE> *>(&parked + 1)) {
        const unsigned number = block_index();
        if (thread_index() == 0)
            block::role() = block_role{number < adders ? number : NO_PART, number - adders, arrival, 0};
        if (number < adders)
            grid_meet(arrival);
        block_barrier();
    }

    DEVICE static warp_row<SHAPE> *ends() {
        if constexpr (ABOVE && SHAPE::UNITS > 1)
            return block::ends();
        return nullptr;
    }
    DEVICE bool comes() const { return MAY_COME && copies_in_bulk() && (!SHAPE::WIDENED || pass.comes); }
    DEVICE bool adds() const { return block::role().part != NO_PART; }
    DEVICE void add() {
        add_chunks<SHAPE>(state, reinterpret_cast<void *>(&parked), pass.columns, chunks_of<SHAPE>(pass, tiles),
                          block::role().part);
    }
    DEVICE void take() {
        const unsigned tile = block::role().tile;
        if (comes()) {
            prepare_coming<SHAPE>(coming);
            request_coming<SHAPE>(pass, tile, tiles, coming);
        }
        take_tiles(*this, tile, tiles);
    }

    DEVICE void read(const tile_place &place, tile_values<SHAPE> &values) {
        if constexpr (MAY_COME)
            if (comes() && place.end == SHAPE::TILE_ROWS)
                return take_coming<SHAPE>(pass, place, coming, values);
        tile_load<SHAPE>(pass, place, values);
    }
    DEVICE void bring(unsigned tile, Lane &lane) {
        lane.place = tile_place_of<SHAPE>(pass, tile);
        const tile_place &place = lane.place;
        read(place, lane.values);
        loads_before_sums(place.end == 0);
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
    /* The magnitude is told between totals and sums: before or behind, 8-byte sums spill. What has no room in registers
     * while another tile is written is put aside. */
    DEVICE void tell(unsigned tile, Lane &lane) {
        publish_totals<SHAPE>(pass, state, tile, block::totals());
        if (CHECKED)
            publish_magnitude<SHAPE>(pass, state, tile, block::magnitudes());
        scan_warps<SHAPE>(lane.place, block::totals(), lane.values, lane.before);
        if (puts_aside<SHAPE, ABOVE>())
            put_aside<SHAPE>(aside, lane.values);
    }
    DEVICE void wait(unsigned due, Lane &) {
        if (due == NO_TILE)
            return;
        if constexpr (SHAPE::UNITS == 1)
            wait_for_seeds<SHAPE, CHECKED>(pass, state, due, adders == 0, block::seeds());
        else if (thread_index() / WARP_LANES == 0)
            wait_for_units<SHAPE>(pass, state, due, adders == 0, parked, block::seeds(), ends());
    }
    /* A ticket is drawn as late as can be, as the tiles after it wait for its totals while this block finishes others;
     * but before the tile that is due is written, as what comes by itself is requested by it. */
    DEVICE void draw(unsigned due, bool more) {
        if (more && thread_index() == 0)
            block::ticket() = draw_ticket(state, adders, due == NO_TILE, block::role());
        block_barrier();
        if (comes() && more)
            request_coming<SHAPE>(pass, block::ticket(), tiles, coming);
    }
    DEVICE void write(unsigned due, Lane &) {
        const tile_place place = tile_place_of<SHAPE>(pass, due);
        if constexpr (!sums_wrap<SHAPE>() && SHAPE::UNITS == 1)
            leave_end<SHAPE>(pass, state, place, parked, block::seeds());
        with_result<SHAPE::LOOSE>(pass.result, [&](auto kind) {
            finish_parked<SHAPE, ABOVE, decltype(kind)::value>(pass, place, parked, block::seeds(), ends());
        });
    }
    DEVICE unsigned settle(unsigned, Lane &lane) {
        if (puts_aside<SHAPE, ABOVE>())
            take_back<SHAPE>(aside, lane.values);
        park<SHAPE, ABOVE>(parked, lane.values, lane.before);
        return block::ticket();
    }
};

/* Rows of words for blocks of chunks of floats: in a chain those that end with each chunk, or else those that wait. */
static inline size_t block_rows(size_t chunks) { return chunks > TREE_LEVELS ? chunks : TREE_LEVELS; }

/* What the launcher asks of a parked pass. */
template <class SHAPE> struct parked_plan {
    typedef typename SHAPE::Sum Sum;
    const tile_pass &pass;
    const unsigned tiles;
    const size_t chunks, adders, shared, needed;

    size_t pairs(unsigned most) const {
        const bool chain = !may_reorder<Sum>() && !are_few_adders(adders, most);
        return shared_pairs(chunks, SHAPE::SHARES, pass.columns, sizeof(Sum), pass.first_overflow,
                            chain ? block_rows(chunks) : 0);
    }
    pass_state<Sum> state(const persistent_call &call, unsigned, unsigned, size_t) const {
        pass_state<Sum> state = call.state_of_chunks<Sum>(pass, chunks * SHAPE::SHARES, block_rows(chunks));
        if constexpr (!may_reorder<Sum>())
            state.stack = call.stack_of<Sum>(SHAPE::TILE_ROWS * SHAPE::SHARES);
        return state;
    }
    last_rows<Sum> lasts(const persistent_call &call) const {
        if constexpr (may_reorder<Sum>())
            return last_rows<Sum>{};
        else
            return call.lasts_of<Sum>(state(call, 0, 0, 0).lasts, pass, chunks, SHAPE::TILE_ROWS * SHAPE::SHARES);
    }
    checked_seeds<Sum> seeds(const pass_state<Sum> &state) const {
        return checked_seeds<Sum>{state.seeds, SHAPE::SHARES * pass.columns, SHAPE::TILE_ROWS * SHAPE::SHARES, chunks};
    }
};

/* Whether unchecked passes have a kernel of their own, for the registers: with vectors of 4 bytes they spill otherwise.
 * docs/tuning.md#overflow-check */
template <class SHAPE> HOST_DEVICE constexpr bool has_unchecked() {
    return SHAPE::VECTOR > 1 && looks_at_values<SHAPE>() && sizeof(typename SHAPE::Sum) == 4;
}

struct parked_launcher {
    static constexpr bool PARKS = true;
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
            return pass.exclusive ? run_plan<SHAPE, packed_form<SHAPE, true>>(pass, tiles)
                                  : run_plan<SHAPE, packed_form<SHAPE, false>>(pass, tiles);
        else
            return run_parked<SHAPE>(pass, tiles);
    }

    template <class SHAPE> int run_parked(const tile_pass &pass, unsigned tiles) const {
        if (pass.exclusive)
            return run_plan<SHAPE, parked_form<SHAPE, true, true>>(pass, tiles);
        if constexpr (has_unchecked<SHAPE>())
            if (!pass.first_overflow)
                return run_plan<SHAPE, parked_form<SHAPE, false, false>>(pass, tiles);
        return run_plan<SHAPE, parked_form<SHAPE, false, true>>(pass, tiles);
    }

    /* Where tiles come, two blocks of a multiprocessor have to find room, or the general form takes the table: it has
     * what the largest block can have, and what is reserved for that. */
    template <class SHAPE, class FORM> int run_plan(tile_pass pass, unsigned tiles) const {
        const bool may = FORM::MAY_COME && (!SHAPE::WIDENED || (may_bulk && may_come(pass)));
        const int error = may ? code_copies_in_bulk(persistent_kernel<FORM>, &pass.comes) : 0;
        if (error != 0)
            return error;
        const size_t tile = FORM::TILE_BYTES + (pass.comes ? sizeof(coming_tile<SHAPE>) : 0);
        const size_t adding = adding_bytes<SHAPE>(pass.columns), shared = tile > adding ? tile : adding;
        const size_t block = shared + parked_block<SHAPE>::BYTES;
        const parked_plan<SHAPE> plan = {pass,
                                         tiles,
                                         chunks_of<SHAPE>(pass, tiles),
                                         adders_of<SHAPE>(pass.columns),
                                         shared,
                                         pass.comes && may_bulk ? 2 * block + RESERVED_BYTES : block};
        return launch_first_rows<SHAPE>(launch_persistent<FORM>(call, pass, plan), pass, plan.lasts(call), call.stream);
    }
};

/* Inclusive sums of several tables, of which the pass is the first: a panel each, of values as wide as their sums. */
struct tables_launcher : parked_launcher {
    const kernel_batch &batch;

    tables_launcher(const kernel_batch &batch_, const kernel_pass &pass, void *workspace)
        : parked_launcher{persistent_call(pass, kernel_carry{batch_.carry_in, batch_.carry_out, nullptr}, workspace),
                          true},
          batch(batch_) {}

    template <class SHAPE> int run(const tile_pass &pass, unsigned tiles) const {
        constexpr bool IS_ROW = SHAPE::PANEL == power_of_two_above(SHAPE::PANEL) &&
                                SHAPE::PANEL * sizeof(typename SHAPE::Sum) <= MOST_TABLE_BYTES;
        if constexpr (IS_ROW && (SHAPE::ROWS > 1 || SHAPE::LANES > 1) && SHAPE::VECTOR > 1 && !SHAPE::WIDENED &&
                      !SHAPE::LOOSE && !is_halved<SHAPE>()) {
            if (pass.columns != SHAPE::PANEL)
                return static_cast<int>(cudaErrorNotSupported);
            typedef parked_form<table_panels<SHAPE>, false, false> form;
            static_assert(!form::MAY_COME, "what comes by itself is one table");
            tile_pass made = pass;
            made.panels = static_cast<unsigned>(batch.tables);
            made.columns *= batch.tables;
            made.in_table = batch.in_step;
            made.out_table = batch.out_step;
            return run_plan<table_panels<SHAPE>, form>(made, tiles * made.panels);
        }
        return static_cast<int>(cudaErrorNotSupported);
    }
};

#if KERNEL_PART == 0
/* By strides alone, as the table may be anywhere. */
size_t form_parked::workspace(const kernel_pass *pass) {
    const size_t chunks = (pass->rows + pass->chunk_rows - 1) / pass->chunk_rows, shares = is_wide(*pass) ? 2 : 1;
    const size_t element = kernel_sum_bytes(pass->out_type);
    const bool floats = type_is_float(pass->out_type);
    return TICKET_BYTES +
           sizeof(word_pair) * shared_pairs(chunks, shares, pass->columns, element, pass->first_overflow,
                                            floats ? block_rows(chunks) : 0) +
           (floats && pass->exclusive ? chunks * pass->columns * element : 0);
}
#endif

template <> int form_parked::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    return run_pass(*pass, parked_launcher{persistent_call(*pass, *carry, workspace), true});
}

template <> int form_tables::run<KERNEL_PART>(const kernel_batch *batch, void *workspace) {
    const kernel_pass pass = pass_of_table(*batch);
    return run_pass(pass, tables_launcher(*batch, pass, workspace));
}

template <> int form_general::run<KERNEL_PART>(const kernel_pass *pass, const kernel_carry *carry, void *workspace) {
    return run_pass(*pass, parked_launcher{persistent_call(*pass, *carry, workspace), false});
}
