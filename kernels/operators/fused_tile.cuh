/* A tile of the fused pass of operators (operator_fused.cu), from its load until its results are written. */
#ifndef OPERATORS_FUSED_TILE_CUH
#define OPERATORS_FUSED_TILE_CUH

#include "operators/operator_tile.cuh"
#include "operators/runs.cuh"

/* A tile that a block has fetched. Tiles of a table are numbered by rows. */
template <class PLACE> struct alignas(VECTOR_BYTES) fetched_tile {
    PLACE place;
    unsigned number;
    bool is_there;
};

/* A block's shared memory after its tile. */
template <class OPS, tile_layout LAYOUT, class CELL> struct fused_memory {
    typedef typename OPS::Value Value;
    typedef typename OPS::Kept Kept;
    typedef tile_memory<OPS, LAYOUT, CELL> Tile;
    typedef fetched_tile<unit_place<>> Fetched;
    Fetched *fetched; /* the block's tile, and its next one, in turns */
    Kept *units;
    Value *begins, *befores;
    Kept *gathered; /* the runs of each digit of the tile's number */

    static HOST_DEVICE unsigned lanes(const operator_pass &pass) { return 1u << Tile::log_lanes(pass); }
    static HOST_DEVICE unsigned threads(const operator_pass &pass) { return UNIT_RUNS * lanes(pass); }
    static HOST_DEVICE size_t tile_bytes(const operator_pass &pass) {
        return (Tile::bytes(pass) + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    }
    static HOST_DEVICE size_t bytes(const operator_pass &pass) {
        unsigned digits = 0;
        while (digits < 32 && pass.groups >> digits != 0)
            digits++;
        return tile_bytes(pass) + 2 * sizeof(Fetched) + lanes(pass) * (sizeof(Kept) + 2 * sizeof(Value)) +
               (digits << pass.log_across) * sizeof(Kept);
    }
    DEVICE fused_memory(const operator_pass &pass, unsigned char *memory) {
        fetched = reinterpret_cast<Fetched *>(memory + tile_bytes(pass));
        units = reinterpret_cast<Kept *>(fetched + 2);
        begins = reinterpret_cast<Value *>(units + lanes(pass));
        befores = begins + lanes(pass);
        gathered = reinterpret_cast<Kept *>(befores + lanes(pass));
    }
};

template <class OPS, tile_layout LAYOUT, class CELL> struct fused_tile {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef shared_runs<OPS> Shared;

    typedef operator_tile<OPS, false, LAYOUT, CELL> Tile;
    typedef fused_memory<OPS, LAYOUT, CELL> Memory;
    typedef typename Tile::Place Place;
    typedef fetched_tile<Place> Fetched;

    const operator_pass &pass;
    const Shared &shared;
    const Memory memory;
    const Fetched &fetched;
    const Tile tile;
    const unsigned lanes;  /* of the first warp: one for each unit and column of the tile */
    const unsigned number; /* of the tile in its table, by rows */

    DEVICE fused_tile(const operator_pass &pass_, const Shared &shared_, unsigned char *bytes, unsigned turn)
        : pass(pass_), shared(shared_), memory(pass_, bytes), fetched(fetched_at(memory, turn)),
          tile(pass_, bytes, fetched.place), lanes(Memory::lanes(pass_)), number(fetched.number) {}

    DEVICE static Fetched &fetched_at(const Memory &memory, unsigned turn) {
        static_assert(sizeof(Fetched) == sizeof *memory.fetched, "");
        return reinterpret_cast<Fetched *>(memory.fetched)[turn];
    }
    /* By one thread, as the divisions take long. */
    DEVICE static void put_fetched(const operator_pass &pass, const Shared &shared, const Memory &memory, unsigned turn,
                                   unsigned tile_number) {
        Fetched &to = fetched_at(memory, turn);
        to.is_there = tile_number < shared.tiles;
        if (!to.is_there)
            return;
        put_unit_place(pass, tile_number, 0, to.place);
        to.number = static_cast<unsigned>(to.place.first_unit >> pass.log_units);
    }

    /* Begins to load the tile: cells that stay as they are come by asynchronous copies. A warp loads the cells of its
     * own threads, whose results of the tile before it has written, so that it waits for no other warp. */
    DEVICE void load(bool is_first) const {
        const factor_table &factors = pass.factors;
        const bool terms_copied =
            pass.has_terms && copy_tile_ahead(pass.in, pass, tile.place,
                                              cell_of_value<CELL>(OPS::no_term(pass.careful)), tile.memory.cells);
        const bool factors_copied = OPS::HAS_FACTORS && has_factor_table() &&
                                    !(factors.shifted && tile.place.first_row == 0) &&
                                    copy_tile_ahead(factors.cells, pass, tile.place,
                                                    cell_of_value<CELL>(OPS::no_factor()), tile.memory.factors);
        if (!terms_copied)
            tile.load_terms();
        if (OPS::HAS_FACTORS && !factors_copied && !has_products(is_first))
            load_factors(pass, tile.place, OPS::no_factor(), tile.memory.factors, cell_of_value<CELL, Value>);
        load_start();
    }
    DEVICE bool has_factor_table() const {
        return LAYOUT == tile_layout::WIDE || (pass.factors.per_row && pass.factors.per_column);
    }
    /* Whether the block has the factor of all tables, and its products, from its first tile. */
    DEVICE bool has_products(bool is_first) const {
        return LAYOUT == tile_layout::WIDE_OF_ONE_FACTOR && !is_first && pass.factors.cells.step == 0;
    }
    /* Factors that are no table are loaded by all warps, and so are shifted ones in a first tile. */
    DEVICE void end_load(bool is_first) const {
        copies_ahead_wait();
        if (OPS::HAS_FACTORS && !has_products(is_first) && (!has_factor_table() || pass.factors.shifted))
            block_barrier();
        else
            warp_barrier(WARP_ALL);
        if constexpr (LAYOUT == tile_layout::WIDE_OF_ONE_FACTOR)
            if (!has_products(is_first)) {
                tile.products().make(tile.memory.factors);
                block_barrier();
            }
    }
    /* Reads the carries. No tile waits for the last tile's run, which so is made after all reads of the carries, whose
     * row the last tile may write. */
    DEVICE void load_start() const {
        const unsigned column = thread_index();
        if (column >= 1u << pass.log_across)
            return;
        Value start = OPS::start(pass.careful);
        if (shared.carry_in && column < tile.place.columns) {
            start = load_carry(shared.carry_in, carry_at(column));
            fence_device();
        }
        memory.begins[column] = start;
    }
    DEVICE size_t carry_at(unsigned column) const {
        return tile.place.table * pass.columns + tile.place.first_column + column;
    }

    /* Makes the elements of runs of rows, and of units. Returns whether they may be wrong by the rule. A thread looks
     * for its run of other tiles meanwhile; `lacks` becomes whether it has none yet. has_resets: by MAP_RESETS, whether
     * the tile has any. */
    template <int RULE> DEVICE bool put_elements(bool &lacks, bool &has_resets) const {
        bool may_be_wrong = tile.template put_total<RULE>();
        if (OPS::HAS_FACTORS && RULE == MAP_RESETS) {
            has_resets = may_be_wrong;
            may_be_wrong = false;
        }
        typename Shared::Run::Loaded loaded = {};
        lacks = wants_run(0, WARP_LANES);
        if (lacks)
            loaded = Shared::Run::load(wanted_run());
        Value spoiled = 0;
        tile.template join_runs<RULE>([&](unsigned lane, const Element &element) {
            OPS::look_at(element, spoiled);
            OPS::put(memory.units + lane, element);
        });
        Element run;
        if (lacks && Shared::Run::is_there(loaded, &run)) {
            OPS::put(memory.gathered + thread_index(), run);
            lacks = false;
        }
        return block_barrier_any(may_be_wrong || spoiled != 0);
    }
    /* put_elements(), by the next rule if the given one may be wrong. Returns the rule that was right, and leaves the
     * one to begin the next tile with. */
    DEVICE int make_elements(int &rule, bool &lacks) const {
        KEEP_LOOP
        for (int tried = rule;; tried = OPS::next_rule(tried, pass.careful)) {
            bool has_resets = false, is_doubtful = false;
            OPS::with_any_rule(
                tried, [&](auto known) { is_doubtful = put_elements<decltype(known)::value>(lacks, has_resets); });
            if (is_doubtful && tried != pass.careful)
                continue;
            rule = is_doubtful || has_resets ? tried : OPS::first_rule(pass.careful);
            return tried;
        }
    }

    DEVICE word_pair *descriptor_at(word_pair *descriptors, unsigned of_tile, unsigned column, unsigned pairs) const {
        return descriptors + (carry_at(column) * pass.groups + of_tile) * pairs;
    }
    struct gathered_runs { /* of each digit, in a column */
        const fused_tile &tile;
        unsigned column;
        DEVICE Element operator[](unsigned digit) const {
            return OPS::get(tile.memory.gathered + (digit << tile.pass.log_across) + column);
        }
    };

    /* By the first warp, a lane a unit: the element of the longest aligned run of the tile's units that ends there. */
    template <int RULE> DEVICE Element join_units() const {
        const unsigned lane = thread_index() & (lanes - 1), unit = lane >> pass.log_across;
        Element own = OPS::template settle<RULE>(OPS::get(memory.units + lane));
        KEEP_LOOP
        for (unsigned half = 1; half < 1u << pass.log_units; half *= 2) {
            const Element left = OPS::template from_lane_above<RULE>(own, half << pass.log_across);
            if ((unit & (2 * half - 1)) == 2 * half - 1)
                own = join_settled<OPS, RULE>()(left, own);
        }
        return own;
    }
    DEVICE bool ends_tile(unsigned lane) const {
        return lane < lanes && lane >> pass.log_across == (1u << pass.log_units) - 1;
    }
    DEVICE bool is_there(unsigned column) const { return column < tile.place.columns; }
    DEVICE unsigned column_of(unsigned number_) const { return number_ & ((1u << pass.log_across) - 1); }
    DEVICE void publish(unsigned lane, const Element &run) const {
        if (ends_tile(lane) && is_there(column_of(lane)) && number + 1 < pass.groups)
            Shared::Run::put(descriptor_at(shared.runs, number, column_of(lane), Shared::Run::PAIRS), run);
    }

    /* A thread stands for a digit of the tile's number and a column. It wants the run of that digit if it is 1. */
    DEVICE bool wants_run(unsigned from_digit, unsigned to_digit) const {
        const unsigned digit = thread_index() >> pass.log_across;
        return digit >= from_digit && digit < to_digit && (number >> digit & 1) != 0 &&
               is_there(column_of(thread_index()));
    }
    DEVICE const word_pair *wanted_run() const {
        const unsigned digit = thread_index() >> pass.log_across;
        return descriptor_at(shared.runs, (number >> digit << digit) - 1, column_of(thread_index()),
                             Shared::Run::PAIRS);
    }
    /* Gathers the runs of some digits, which threads lack, in shared memory. */
    DEVICE void gather(unsigned from_digit, unsigned to_digit, bool lacks) const {
        if (!lacks || !wants_run(from_digit, to_digit))
            return;
        Element run;
        while (!Shared::Run::look(wanted_run(), &run))
            wait_a_little(20);
        OPS::put(memory.gathered + thread_index(), run);
    }

    /* By the first warp: the tile's run, of which others are a part. */
    template <int RULE> DEVICE void publish_run(const Element &own) const {
        Element run = own;
        carry_total(number, gathered_runs{*this, column_of(thread_index())}, run, join_settled<OPS, RULE>());
        publish(thread_index(), run);
    }

    /* Makes the values that the tile's units begin with, by the first warp. */
    template <int RULE> DEVICE void begin_units(const Element &own) const {
        const unsigned lane = thread_index() & (lanes - 1), unit = lane >> pass.log_across, column = column_of(lane);
        const gathered_runs gathered{*this, column};
        Value begin = memory.begins[column];
        each_digit_down(number, bit_width(number), 0,
                        [&](unsigned digit) { begin = OPS::template apply<RULE>(gathered[digit], begin); });
        const Element total = OPS::get(memory.units + lane);
        warp_barrier(WARP_ALL);
        if (thread_index() < lanes)
            OPS::put(memory.units + lane, own);
        warp_barrier(WARP_ALL);
        each_digit_down(unit, pass.log_units, 0, [&](unsigned level) {
            begin = OPS::template apply<RULE>(
                OPS::get(memory.units + (((unit >> level << level) - 1) << pass.log_across) + column), begin);
        });
        if (thread_index() < lanes)
            end_unit(unit, column, begin, OPS::template apply<RULE>(total, begin));
    }
    DEVICE void end_unit(unsigned unit, unsigned column, Value begin, Value end) const {
        const bool is_last = unit == (1u << pass.log_units) - 1;
        Value *const before = memory.befores + (unit << pass.log_across) + column;
        memory.begins[(unit << pass.log_across) + column] = is_there(column) ? begin : Value(0);
        if (!is_last)
            before[1u << pass.log_across] = end;
        if (!is_there(column))
            return;
        if (shared.ends && is_last && number + 1 < pass.groups)
            Shared::End::put(descriptor_at(shared.ends, number, column, 1), end);
        if (unit == 0 && (number == 0 || !shared.ends))
            *before = begin;
        else if (unit == 0)
            while (!Shared::End::look(descriptor_at(shared.ends, number - 1, column, 1), before))
                wait_a_little(20);
    }

    /* A tile's run is published before the tile waits for runs that are no part of it: otherwise each tile would wait
     * for the one two before it, and all of them in a chain. After it the first warp alone is busy with the exchange,
     * and hands over what units begin with; others take it when their first rows are half done. */
    DEVICE void exchange(bool lacks) const {
        const unsigned parts = lowest_bit(~number);
        const bool leads = thread_index() < WARP_LANES;
        OPS::with_careful_rule(pass.careful, [&](auto known) {
            constexpr int RULE = decltype(known)::value;
            Element own = OPS::template identity<RULE>();
            if (leads) {
                own = join_units<RULE>();
                if (parts == 0)
                    publish(thread_index(), own);
            }
            const bool waits = block_barrier_any(lacks);
            if (waits && parts != 0) {
                gather(0, parts, lacks);
                block_barrier();
            }
            if (leads && parts != 0)
                publish_run<RULE>(own);
            if (waits) {
                gather(parts, WARP_LANES, lacks);
                block_barrier();
            }
            if (leads)
                begin_units<RULE>(own);
        });
        if (leads) {
            warp_barrier(WARP_ALL);
            block_hand_over();
        }
    }

    /* The results in shared memory. Results that are not finite are made again by the careful rule. One thread fetches
     * the block's next tile, no sooner, as others may wait for it. */
    DEVICE void make_results(int rule, unsigned turn) const {
        for (bool is_first = true;; is_first = false) {
            Value spoiled = 0;
            OPS::with_any_rule(rule, [&](auto known) {
                tile.template scan_run<decltype(known)::value>(
                    [&] {
                        if (is_first && thread_index() >= WARP_LANES)
                            block_take_over();
                        return memory.begins[tile.lane];
                    },
                    spoiled);
            });
            if (is_first && thread_index() == block_threads() / 2)
                put_fetched(pass, shared, memory, turn ^ 1, atomic_add(shared.tile_counter, 1u));
            if (!block_barrier_any(spoiled != 0) || rule == pass.careful)
                return;
            tile.load_terms();
            warp_barrier(WARP_ALL);
            bool lacks, has_resets;
            OPS::with_careful_rule(pass.careful,
                                   [&](auto known) { put_elements<decltype(known)::value>(lacks, has_resets); });
            rule = pass.careful;
        }
    }

    /* The result of the last row, by the thread that made it. */
    DEVICE void write_carry() const {
        const unsigned last = tile.place.rows - 1;
        if (shared.carry_out && number + 1 == pass.groups && is_there(tile.column) &&
            last / RUN_ROWS == tile.unit * UNIT_RUNS + tile.run)
            store_carry(shared.carry_out, carry_at(tile.column),
                        value_of_cell(tile.memory.cells[unit_cell_at(last, tile.column, pass)]));
    }
    /* A warp writes the results of its own threads, but for an exclusive pass, which writes a row's below it. */
    DEVICE void write() const {
        tile.store_results_of_tile(
            [&](unsigned unit, unsigned column) { return memory.befores[(unit << pass.log_across) + column]; });
        write_carry();
        if (pass.exclusive)
            block_barrier();
        else
            warp_barrier(WARP_ALL);
    }
};

#endif
