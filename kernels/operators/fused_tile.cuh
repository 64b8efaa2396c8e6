/* A tile of the fused pass of operators (operator_fused.cu), from its load until its results are written. */
#ifndef OPERATORS_FUSED_TILE_CUH
#define OPERATORS_FUSED_TILE_CUH

#include "operators/operator_tile.cuh"
#include "operators/runs.cuh"

/* A block's shared memory after its tile. */
template <class OPS> struct fused_memory {
    typedef typename OPS::Value Value;
    Value *gathered, *units, *begins, *befores;
    uint32_t *next; /* the number of the block's next tile */

    static HOST_DEVICE unsigned threads(const operator_pass &pass) {
        return UNIT_RUNS << (pass.log_across + pass.log_units);
    }
    static HOST_DEVICE unsigned lanes(const operator_pass &pass) { return 1u << (pass.log_across + pass.log_units); }
    static HOST_DEVICE size_t tile_bytes(const operator_pass &pass) {
        return (tile_memory<OPS>::bytes(pass) + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
    }
    static HOST_DEVICE size_t bytes(const operator_pass &pass) {
        const unsigned values = OPS::COMPONENTS * (threads(pass) + lanes(pass)) + 2 * lanes(pass);
        return tile_bytes(pass) + values * sizeof(Value) + sizeof(uint32_t);
    }
    DEVICE fused_memory(const operator_pass &pass, unsigned char *memory) {
        gathered = reinterpret_cast<Value *>(memory + tile_bytes(pass));
        units = gathered + OPS::COMPONENTS * threads(pass);
        begins = units + OPS::COMPONENTS * lanes(pass);
        befores = begins + lanes(pass);
        next = reinterpret_cast<uint32_t *>(befores + lanes(pass));
    }
};

template <class OPS, tile_layout LAYOUT> struct fused_tile {
    typedef typename OPS::Value Value;
    typedef typename OPS::Element Element;
    typedef shared_runs<OPS> Shared;
    static constexpr int WHOLE = MAP_CAREFUL; /* elements with all their components, whatever the rule */

    const operator_pass &pass;
    const Shared &shared;
    const operator_tile<OPS, false, LAYOUT> tile;
    const fused_memory<OPS> memory;
    const unsigned lanes;  /* of the first warp: one for each unit and column of the tile */
    const unsigned number; /* of the tile in its table, by rows */

    DEVICE fused_tile(const operator_pass &pass_, const Shared &shared_, unsigned char *bytes, unsigned tile_number)
        : pass(pass_), shared(shared_), tile(pass_, bytes, tile_number), memory(pass_, bytes),
          lanes(fused_memory<OPS>::lanes(pass_)),
          number(static_cast<unsigned>(tile.place.first_unit >> pass_.log_units)) {}

    /* Cells that stay as they are come by asynchronous copies. */
    DEVICE void load() const {
        const factor_table &factors = pass.factors;
        operator_place above = tile.place;
        if (factors.shifted)
            above.first_row--;
        const bool terms_copied =
            pass.has_terms && copy_tile_ahead(pass.in, pass, tile.place, OPS::no_term(pass.careful), tile.memory.cells);
        const bool factors_copied = OPS::HAS_FACTORS && factors.per_row && factors.per_column &&
                                    !(factors.shifted && tile.place.first_row == 0) &&
                                    copy_tile_ahead(factors.cells, pass, above, OPS::no_factor(), tile.memory.factors);
        if (!terms_copied)
            tile.load_terms();
        if (OPS::HAS_FACTORS && !factors_copied)
            load_factors(pass, tile.place, OPS::no_factor(), tile.memory.factors, [](Value) {});
        load_start();
        copies_ahead_wait();
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

    /* Makes the elements of runs of rows, and of units. Returns the rule that was right for them. */
    DEVICE int make_totals(int rule, bool *had_resets) const {
        for (;;) {
            OPS::with_rule(rule, [&](auto known) {
                constexpr int RULE = decltype(known)::value;
                bool has_resets = false;
                tile.template put_total<RULE>([&](const Element &row) {
                    if constexpr (OPS::HAS_FACTORS)
                        has_resets = has_resets || row.factor == 0;
                });
                block_barrier();
                Value spoiled = 0;
                tile.template join_runs<RULE>([&](unsigned unit, unsigned column, const Element &element) {
                    OPS::look_at(element, spoiled);
                    OPS::template put<WHOLE>(memory.units + (unit << pass.log_across) + column, lanes, element);
                });
                tile.raise(tile_memory<OPS>::HAS_RESETS, has_resets);
                tile.raise(tile_memory<OPS>::IS_DOUBTFUL, spoiled != 0);
            });
            block_barrier();
            *had_resets = tile.is_raised(tile_memory<OPS>::HAS_RESETS);
            if (rule == pass.careful)
                return rule;
            const int least = OPS::first_rule(pass.careful, *had_resets);
            const bool is_doubtful = tile.is_raised(tile_memory<OPS>::IS_DOUBTFUL);
            if (!is_doubtful && rule >= least)
                return rule;
            rule = is_doubtful ? pass.careful : least;
        }
    }

    DEVICE word_pair *descriptor_at(word_pair *descriptors, unsigned of_tile, unsigned column, unsigned pairs) const {
        return descriptors + (carry_at(column) * pass.groups + of_tile) * pairs;
    }
    DEVICE Element gathered_at(unsigned digit, unsigned column) const {
        return OPS::template get<WHOLE>(memory.gathered + (digit << pass.log_across) + column, block_threads());
    }
    template <int RULE> DEVICE static Element join(const Element &later, const Element &earlier) {
        return OPS::template settle<RULE>(OPS::template after<RULE>(later, earlier));
    }

    /* By the first warp, a lane a unit: the element of the longest aligned run of the tile's units that ends there. */
    template <int RULE> DEVICE Element join_units() const {
        const unsigned lane = thread_index() & (lanes - 1), unit = lane >> pass.log_across;
        Element own = OPS::template settle<RULE>(OPS::template get<WHOLE>(memory.units + lane, lanes));
        KEEP_LOOP
        for (unsigned half = 1; half < 1u << pass.log_units; half *= 2) {
            const Element left = OPS::template from_lane_above<RULE>(own, half << pass.log_across);
            if ((unit & (2 * half - 1)) == 2 * half - 1)
                own = join<RULE>(own, left);
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

    /* A thread a digit and column: gathers the runs of some digits of the tile's number in shared memory. */
    DEVICE void gather(unsigned from_digit, unsigned to_digit) const {
        const unsigned digit = thread_index() >> pass.log_across, column = column_of(thread_index());
        if (digit < from_digit || digit >= to_digit || (number >> digit & 1) == 0 || !is_there(column))
            return;
        const word_pair *const descriptor =
            descriptor_at(shared.runs, (number >> digit << digit) - 1, column, Shared::Run::PAIRS);
        Element run;
        while (!Shared::Run::look(descriptor, &run))
            wait_a_little(20);
        OPS::template put<WHOLE>(memory.gathered + thread_index(), block_threads(), run);
    }

    /* By the first warp: the tile's run, of which others are a part. */
    template <int RULE> DEVICE void publish_run(const Element &own) const {
        Element run = own;
        KEEP_LOOP
        for (unsigned digit = 0; number >> digit & 1; digit++)
            run = join<RULE>(run, gathered_at(digit, column_of(thread_index())));
        publish(thread_index(), run);
    }

    /* Makes the values that the tile's units begin with, by the first warp. */
    template <int RULE> DEVICE void begin_units(const Element &own) const {
        const unsigned lane = thread_index() & (lanes - 1), unit = lane >> pass.log_across, column = column_of(lane);
        Value begin = memory.begins[column];
        KEEP_LOOP
        for (unsigned digit = bit_width(number); digit-- > 0;)
            if (number >> digit & 1)
                begin = OPS::template apply<RULE>(gathered_at(digit, column), begin);
        const Element total = OPS::template get<WHOLE>(memory.units + lane, lanes);
        warp_barrier(WARP_ALL);
        if (thread_index() < lanes)
            OPS::template put<WHOLE>(memory.units + lane, lanes, own);
        warp_barrier(WARP_ALL);
        KEEP_LOOP
        for (unsigned level = pass.log_units; level-- > 0;)
            if (unit >> level & 1)
                begin = OPS::template apply<RULE>(
                    OPS::template get<WHOLE>(
                        memory.units + (((unit >> level << level) - 1) << pass.log_across) + column, lanes),
                    begin);
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
     * for the one two before it, and all of them in a chain. */
    DEVICE void exchange() const {
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
            if (parts != 0) {
                gather(0, parts);
                block_barrier();
                if (leads)
                    publish_run<RULE>(own);
            }
            gather(parts, WARP_LANES);
            block_barrier();
            if (leads)
                begin_units<RULE>(own);
        });
        block_barrier();
    }

    /* The results in shared memory. Results that are not finite are made again by the careful rule. */
    DEVICE void make_results(int rule) const {
        const Value begin = memory.begins[(tile.unit << pass.log_across) + tile.column];
        for (;;) {
            OPS::with_rule(rule, [&](auto known) {
                Value spoiled = 0;
                tile.template scan_run<decltype(known)::value>(begin, spoiled);
                tile.raise(tile_memory<OPS>::IS_DOUBTFUL, spoiled != 0);
            });
            block_barrier();
            if (rule == pass.careful || !tile.is_raised(tile_memory<OPS>::IS_DOUBTFUL))
                return;
            tile.load_terms();
            block_barrier();
            bool had_resets;
            rule = make_totals(pass.careful, &had_resets);
        }
    }

    /* The result of the last row. */
    DEVICE void write_carry() const {
        const unsigned column = thread_index();
        if (shared.carry_out && number + 1 == pass.groups && is_there(column))
            store_carry(shared.carry_out, carry_at(column),
                        tile.memory.cells[cell_at(tile.place.rows - 1, column, pass.log_across)]);
    }
    DEVICE void write() const {
        uint32_t fetched = 0;
        if (thread_index() == 0)
            fetched = atomic_add(shared.tile_counter, 1u);
        tile.store_results_of_tile(
            [&](unsigned unit, unsigned column) { return memory.befores[(unit << pass.log_across) + column]; });
        write_carry();
        if (thread_index() == 0)
            *memory.next = fetched;
        block_barrier();
    }
};

#endif
