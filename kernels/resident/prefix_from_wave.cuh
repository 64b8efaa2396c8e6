/* The prefixes of a wave: every block adds up the totals of all tiles above its own (wave_exchange.cuh). */
#ifndef RESIDENT_PREFIX_FROM_WAVE_CUH
#define RESIDENT_PREFIX_FROM_WAVE_CUH

#include "resident/wave_exchange.cuh"

/* SHARES of a chunk are a tile each. SHARED: so it is also where each of them is a chunk to the tree. */
template <class SHAPE, unsigned SHARES, bool SHARED = (SHARES > 1)> struct prefix_from_wave
    : resident_block<SHAPE, wave_state<typename SHAPE::Sum>, wave_held<SHAPE, SHARES>> {
    typedef typename SHAPE::Sum Sum;
    static constexpr bool EITHER = SHAPE::ADDS_ONCE && is_rare<SHAPE>();
    /* Totals that are published before the tile is scanned are made twice, but no block waits for the scan. That is
     * less where few columns have quarters of chunks, and more elsewhere (docs/tuning.md#wave). */
    static constexpr bool PUBLISHES_FIRST = SHARED && SHAPE::LANES == 1;

    uint64_t draw = 0, tag = 0;

    /* Which share of its chunk the tile is. */
    DEVICE unsigned share() const { return this->row % SHARES; }

    /* Totals of the chunks above the tile. */
    DEVICE Sum *chunks() const { return reinterpret_cast<Sum *>(this->memory); }

    DEVICE void begin(const tile_place &place) {
        if (this->state.helps)
            draw = begin_draw(this->state.epoch, this->panel);
        else
            begin_in_place(place.chunk);
    }

    /* Clears the descriptors that the block itself publishes, before it arrives where all meet. */
    DEVICE void begin_in_place(unsigned row) {
        clear_descriptors<SHAPE>(this->pass, this->state, this->panel, row == 0 ? 0 : row + 1, row + 2);
        const unsigned arrival = grid_arrive();
        if (thread_index() == 0)
            this->shared.held.draw = arrival; /* kept there, it takes no register while the tile is read */
    }

    DEVICE void put(const tile_place &) {
        if (!this->state.helps)
            grid_meet(thread_index() == 0 ? static_cast<unsigned>(load_relaxed_block(&this->shared.held.draw)) : 0);
        else if (thread_index() == 0) {
            this->shared.held.draw = draw;
            this->shared.held.birth = birth_of(this->state.epoch, this->panel, draw);
        }
    }

    DEVICE void publish(const tile_place &) {
        tag = this->state.epoch.key; /* any tag will do in descriptors that have been cleared */
        if (this->state.helps)
            tag = join_epoch<SHAPE, SHARES>(this->pass, this->state, this->panel, this->shared.held);
        wave_publish<SHAPE>(this->pass, this->state, this->row, this->panel, tag, this->shared.totals);
        if (thread_index() == 0 && this->state.helps)
            fill_up(this->state.epoch, this->panel, this->shared.held.draw);
    }

    DEVICE void prefix(const tile_place &, tile_values<SHAPE> &values) {
        wave_gather<SHAPE, SHARES>(this->pass, this->state, this->row, this->panel, tag, this->shared, chunks());
        block_barrier();
        if constexpr (SHAPE::ADDS_ONCE)
            wave_fold<SHAPE, SHARES>(this->pass, this->state, this->row, this->panel, this->shared, chunks());
        else
            wave_fold_tree<SHAPE, SHARES>(this->pass, this->state, this->row, this->panel, this->shared, chunks());
        /* The lane's place is found anew: it is not kept in registers while the block waits. */
        const tile_place place = this->place();
        Sum before[SHAPE::COLUMNS];
        UNROLL
        for (unsigned c = 0; c < SHAPE::COLUMNS; c++)
            before[c] = sum_identity<Sum>(); /* above() makes it again, where it is wanted */
        if (SHARES > 1)
            scan_level<SHAPE, 1>(place, share(), this->shared.held.lefts, values, before);
        if (SHARES > 2)
            scan_level<SHAPE, 2>(place, share(), this->shared.held.lefts, values, before);
        block_barrier();
    }

    DEVICE void above(const tile_place &place, Sum (&before)[SHAPE::COLUMNS]) {
        if (SHARES > 1)
            level_before<SHAPE, 1>(place, share(), this->shared.held.lefts, before);
        if (SHARES > 2)
            level_before<SHAPE, 2>(place, share(), this->shared.held.lefts, before);
    }

    DEVICE Sum base(unsigned c) const {
        Sum sum = this->shared.prefixes[0][c];
        for (unsigned left = 0; left < share(); left++)
            sum = combine(sum, this->shared.held.lefts[left][c]);
        return sum;
    }
};

#endif
