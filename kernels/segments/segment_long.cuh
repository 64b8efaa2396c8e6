/* Long segments of one column: more units than SHORT_UNITS are followed by others in them. A warp takes LONG_UNITS
 * units of a segment at once, or those that are left with the last piece: it sums within them in shared memory,
 * publishes their total, if there are rows after them, and then waits for the totals before it. Tiles are fetched in
 * the order of rows of a segment. */
#ifndef SEGMENTS_SEGMENT_LONG_CUH
#define SEGMENTS_SEGMENT_LONG_CUH

#include "segments/segment_lines.cuh"

/* How blocks of units, of LONG_UNITS * 32^level of them, exchange their totals, by one warp, whose lanes wait for the
 * parts of a block. Blocks have the places that units have in the table of a level, by a quarter of the rows. */
template <class OPS> struct long_exchange : unit_exchange<OPS> {
    typedef typename OPS::Value Value;
    const unsigned lane;
    DEVICE long_exchange(const segment_pass &pass, uint64_t begin)
        : unit_exchange<OPS>{pass, nullptr, begin >> LONG_UNITS_BITS, 0}, lane(thread_index() % WARP_LANES) {}

    /* A lane's part becomes the total of the longest aligned block of parts that ends with it. */
    DEVICE Value join_lanes(Value part) const {
        UNROLL
        for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
            const Value left = warp_shuffle_up(WARP_ALL, part, apart);
            part = (lane & (2 * apart - 1)) == 2 * apart - 1 ? OPS::join(left, part) : part;
        }
        return part;
    }
    /* Publishes the total of a tile, and of the blocks that end with it. */
    DEVICE void publish_tile(uint64_t number, Value total) const {
        if (lane == 0)
            this->put(0, number, total);
        KEEP_LOOP
        for (unsigned level = 0; number % BLOCK_PARTS == BLOCK_PARTS - 1; level++, number /= BLOCK_PARTS) {
            const bool is_own = lane == WARP_LANES - 1;
            total = join_lanes(is_own ? total : this->wait_for(level, number - (WARP_LANES - 1) + lane));
            total = warp_shuffle(WARP_ALL, total, WARP_LANES - 1);
            if (lane == 0)
                this->put(level + 1, number / BLOCK_PARTS, total);
        }
    }
    DEVICE Value prefix_of_tile(uint64_t number, Value start) const {
        unsigned level = 0;
        while (number >> BLOCK_PART_BITS * (level + 1) != 0)
            level++;
        KEEP_LOOP
        for (unsigned next = level + 1; next-- > 0;) {
            const uint64_t block = number >> BLOCK_PART_BITS * next;
            const unsigned count = static_cast<unsigned>(block % BLOCK_PARTS);
            const Value part = join_lanes(lane < count ? this->wait_for(next, block - count + lane) : OPS::nothing());
            UNROLL
            for (unsigned k = BLOCK_PART_BITS; k-- > 0;) {
                const Value left = warp_shuffle(WARP_ALL, part, ((count >> k << k) - 1) % WARP_LANES);
                start = (count >> k & 1) != 0 ? OPS::join(start, left) : start;
            }
        }
        return start;
    }
    /* Where the last result of a tile is, in the unused half of the table of tiles. */
    DEVICE uint64_t last_of(uint64_t number) const { return this->pass.unit_rows / 2 + number; }
};

template <class OPS> struct segment_long {
    typedef typename OPS::Value Value;
    typedef segment_lines<OPS> lines;
    static constexpr unsigned WARPS = SEGMENT_THREADS / WARP_LANES * sizeof(uint32_t) / sizeof(Value);
    const segment_pass &pass;
    Value *const values;
    const unsigned lane;

    static HOST_DEVICE constexpr unsigned bytes() { return LONG_UNITS * PIECE_VALUES * sizeof(Value); } /* of a warp */
    DEVICE segment_long(const segment_pass &pass_, unsigned char *memories)
        : pass(pass_), values(reinterpret_cast<Value *>(memories + thread_index() / WARP_LANES * bytes())),
          lane(thread_index() % WARP_LANES) {}

    /* The long segment that has a tile, of `count`: the last one whose tiles do not begin after it. */
    DEVICE long_segment segment_of_tile(unsigned tile, unsigned count) const {
        KEEP_LOOP
        for (unsigned apart = count, first = 0;;) {
            apart = (apart + WARP_LANES - 1) / WARP_LANES;
            const unsigned at = first + lane * apart;
            const long_segment of_lane = load_vector(pass.where.long_segments + (at < count ? at : 0));
            const unsigned from = bit_width(warp_ballot(WARP_ALL, at < count && of_lane.first_tile <= tile)) - 1;
            first += from * apart;
            if (apart == 1)
                return long_segment{warp_shuffle(WARP_ALL, of_lane.segment, from),
                                    warp_shuffle(WARP_ALL, of_lane.first_tile, from)};
        }
    }
    DEVICE lines piece(uint64_t first_row, uint64_t left, unsigned number) const {
        left -= number << UNIT_BITS;
        return lines(pass, values + number * PIECE_VALUES, first_row + (number << UNIT_BITS),
                     left < UNIT_ROWS ? static_cast<unsigned>(left) : UNIT_ROWS);
    }
    DEVICE void take_tile(unsigned tile, unsigned count) const {
        const long_segment segment = segment_of_tile(tile, count);
        const segment_range range = pass.where.range(segment.segment);
        const uint64_t number = tile - segment.first_tile, above_tile = number * LONG_ROWS,
                       first_row = range.begin + above_tile, left = range.rows - above_tile;
        const bool is_last = left <= LONG_ROWS;
        const unsigned pieces = is_last ? static_cast<unsigned>((left + UNIT_ROWS - 1) >> UNIT_BITS) : LONG_UNITS;
        KEEP_LOOP
        for (unsigned k = 0; k < pieces; k++)
            piece(first_row, left, k).copy_ahead_all();
        copies_ahead_wait();
        warp_barrier(WARP_ALL);
        Value totals = 0; /* a lane's piece's one */
        KEEP_LOOP
        for (unsigned k = 0; k < pieces; k++) {
            const lines of_piece = piece(first_row, left, k);
            Value run[RUN_OF_PIECE];
            of_piece.scan(run);
            of_piece.put_run([&](unsigned row) { return run[row]; });
            const Value total = warp_shuffle(WARP_ALL, run[RUN_OF_PIECE - 1], WARP_LANES - 1);
            totals = lane == k ? total : totals;
        }
        finish(range.begin, number, segment.segment, first_row, left, pieces, is_last, totals);
    }
    DEVICE void finish(uint64_t begin, uint64_t number, uint64_t segment, uint64_t first_row, uint64_t left,
                       unsigned pieces, bool is_last, Value totals_of_lanes) const {
        static_assert(LONG_UNITS == 4, "the prefixes are those of four units");
        const long_exchange<OPS> exchange(pass, begin);
        Value totals[LONG_UNITS];
        UNROLL
        for (unsigned k = 0; k < LONG_UNITS; k++)
            totals[k] = warp_shuffle(WARP_ALL, totals_of_lanes, k);
        const Value of_two = OPS::join(totals[0], totals[1]);
        if (!is_last)
            exchange.publish_tile(number, OPS::join(of_two, OPS::join(totals[2], totals[3])));
        const Value start = start_of<OPS>(pass, segment, 0), prefix = exchange.prefix_of_tile(number, start);
        const Value of_third = OPS::join(prefix, of_two);
        const Value prefixes[] = {prefix, OPS::join(prefix, totals[0]), of_third, OPS::join(of_third, totals[2])};
        Value above = start;
        if (pass.cells.exclusive) {
            if (!is_last && lane == 0)
                exchange.put(0, exchange.last_of(number), OPS::join(prefixes[3], totals[3]));
            if (number > 0)
                above = exchange.wait_for(0, exchange.last_of(number - 1));
        }
        KEEP_LOOP
        for (unsigned k = 0; k < pieces; k++) {
            const lines of_piece = piece(first_row, left, k);
            Value run[RUN_OF_PIECE];
            of_piece.get_run(run);
            of_piece.finish(k < 2    ? k == 0 ? prefixes[0] : prefixes[1]
                               : k == 2 ? prefixes[2]
                                     : prefixes[3],
                            above, run, is_last && k + 1 == pieces, segment);
        }
    }
};

template <class OPS> KERNEL LAUNCH_BOUNDS(segment_long<OPS>::WARPS *WARP_LANES, 3)
    segment_long_kernel(segment_pass pass) {
    SHARED_DYNAMIC(unsigned char, memory);
    const uint64_t long_ones = load_vector(&pass.where.header->long_ones);
    if (!pass.where.is_right() || long_ones == 0)
        return;
    const segment_long<OPS> column(pass, memory);
    const unsigned tiles = static_cast<unsigned>(long_ones);
    KEEP_LOOP
    for (;;) {
        const unsigned tile = pass.where.next_tile(TILE_COUNTERS);
        if (tile >= tiles)
            return;
        column.take_tile(tile, static_cast<unsigned>(long_ones >> LONG_COUNT));
    }
}

#endif
