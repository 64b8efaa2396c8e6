/* The pieces of segments in a tile (segment_tile.cuh): how its block finds them, and lists their runs. */
#ifndef SEGMENTS_SEGMENT_PIECES_CUH
#define SEGMENTS_SEGMENT_PIECES_CUH

#include "operators/cells.cuh"
#include "segments/segment_plan.cuh"

constexpr unsigned RUN_BITS = 5, UNIT_RUN_BITS = UNIT_BITS - RUN_BITS, WORD_ROWS = 32;
static_assert(1u << RUN_BITS == RUN_ROWS && RUN_ROWS == WORD_ROWS, "a run has the rows of a word of bits");
constexpr unsigned SEGMENTS_AT_ONCE = 4, ROWS_AHEAD = 4;
constexpr unsigned PIECE_RUN_BITS = UNIT_RUN_BITS + 2, MOST_PIECE = 1u << (PIECE_RUN_BITS + RUN_BITS);

enum class segment_role : uint8_t {
    TOTALS, /* marked are units that are followed by rows of a long segment; above level 0 all units */
    RESULTS /* marked are pieces that begin a segment */
};

/* A block's shared memory. */
template <class VALUE> struct segment_memory {
    VALUE *cells;
    uint32_t *pieces, *marks, *runs; /* bits: where each begins */
    uint32_t *warp_runs;             /* how many each warp has listed */
    uint32_t *first, *end;           /* of the rows that are taken; the end as its complement */
    uint32_t *depth;                 /* bits of the numbers of full runs in their pieces */
    uint32_t *segments;              /* of a row that begins a piece: its segment, counted from the tile's first one */
    uint16_t *begins;                /* of each word of bits: where the piece before it begins, if it goes on there */
    uint16_t *list;                  /* of runs, by their first rows; then where the last one ends */
    DEVICE segment_memory(const segment_pass &pass, unsigned char *memory) {
        const unsigned words = pass.tile_rows / WORD_ROWS;
        cells = reinterpret_cast<VALUE *>(memory);
        pieces = reinterpret_cast<uint32_t *>(cells + cell_at(pass.tile_rows, 0, pass.cells.log_across));
        marks = pieces + words;
        runs = marks + words;
        warp_runs = runs + words;
        first = warp_runs + SEGMENT_WARPS;
        end = first + 1;
        depth = end + 1;
        segments = first + SEGMENT_WORDS;
        begins = reinterpret_cast<uint16_t *>(segments + (pass.wants_segments ? pass.tile_rows : 0));
        list = begins + words;
    }
};

template <class OPS, segment_role ROLE> struct segment_pieces {
    typedef typename OPS::Value Value;
    const segment_pass &pass;
    const segment_memory<Value> memory;
    const unsigned piece, window; /* the most rows of a piece, and the rows where pieces of the tile may begin */
    uint64_t first_segment;
    operator_place place; /* its rows from place.missing to place.rows are taken */
    unsigned column;      /* the thread's */
    unsigned listed;      /* runs */

    DEVICE segment_pieces(const segment_pass &pass_, unsigned char *bytes)
        : pass(pass_), memory(pass_, bytes), piece(pass_.level == 0 ? pass_.where.piece_rows() : UNIT_ROWS),
          window(pass_.tile_rows - piece) {
        place = operator_place{};
        column = thread_index() & ((1u << pass.cells.log_across) - 1);
    }
    /* How many tiles there are. */
    DEVICE unsigned tiles() const {
        return static_cast<unsigned>((pass.level_rows + window - 1) / window) * pass.panels;
    }
    /* Goes to a tile, and finds its pieces. False: there are none. */
    DEVICE bool find(unsigned number) {
        const unsigned tile = number / pass.panels, panel = number - tile * pass.panels;
        const size_t across = size_t(1) << pass.cells.log_across;
        place.first_row = static_cast<size_t>(tile) * window;
        place.first_column = static_cast<size_t>(panel) * across;
        const size_t columns = pass.cells.columns - place.first_column;
        place.columns = static_cast<unsigned>(columns < across ? columns : across);
        first_segment = pass.level == 0 ? last_segment_above(place.first_row) : 0;
        return find_pieces();
    }

    static DEVICE bool bit_of(const uint32_t *bits, unsigned row) {
        return (bits[row / WORD_ROWS] >> row % WORD_ROWS & 1) != 0;
    }
    static DEVICE void set_bit(uint32_t *bits, unsigned row) {
        atomic_or(&bits[row / WORD_ROWS], 1u << row % WORD_ROWS);
    }

    /* Sets the bits of a piece, and widens the bounds to it. */
    DEVICE void set_piece(unsigned row, unsigned below, bool is_marked, uint64_t segment, unsigned &first,
                          unsigned &end_inverted) const {
        set_bit(memory.pieces, row);
        if (is_marked)
            set_bit(memory.marks, row);
        if (ROLE == segment_role::TOTALS && below < pass.tile_rows)
            set_bit(memory.pieces, below);
        if (pass.wants_segments)
            memory.segments[row] = static_cast<uint32_t>(segment - first_segment);
        first = row < first ? row : first;
        end_inverted = ~below < end_inverted ? ~below : end_inverted;
    }
    /* The pieces of a segment of the values. */
    DEVICE void set_pieces(const segment_range &range, uint64_t segment, unsigned &first,
                           unsigned &end_inverted) const {
        const uint64_t top = place.first_row, bottom = top + window, end = range.end();
        if (range.rows <= piece) {
            if (ROLE == segment_role::RESULTS && range.begin >= top)
                set_piece(static_cast<unsigned>(range.begin - top), static_cast<unsigned>(end - top), true, segment,
                          first, end_inverted);
            return;
        }
        const uint64_t units = top > range.begin ? (top - range.begin + UNIT_ROWS - 1) / UNIT_ROWS : 0;
        KEEP_LOOP
        for (uint64_t row = range.begin + units * UNIT_ROWS; row < end && row < bottom; row += UNIT_ROWS) {
            if (ROLE == segment_role::TOTALS && row + UNIT_ROWS >= end)
                return;
            const uint64_t below = row + UNIT_ROWS < end ? row + UNIT_ROWS : end;
            set_piece(static_cast<unsigned>(row - top), static_cast<unsigned>(below - top),
                      ROLE == segment_role::TOTALS || row == range.begin, segment, first, end_inverted);
        }
    }

    /* The last segment that begins before a row of the values, which is a multiple of UNIT_ROWS. */
    DEVICE uint64_t last_segment_above(uint64_t row) const {
        const uint64_t of_level = row >> UNIT_BITS;
        if (of_level == 0)
            return 0;
        return of_level <= pass.owner_rows ? load_vector(pass.owners + of_level - 1) : pass.where.count() - 1;
    }
    /* Where the table is one of values, the threads share out the segments of the tile. */
    DEVICE void find_in_segments(unsigned &first, unsigned &end_inverted) const {
        const uint64_t last = last_segment_above(place.first_row + window);
        KEEP_LOOP
        for (uint64_t segment = first_segment + thread_index(); segment <= last;) {
            segment_range ranges[SEGMENTS_AT_ONCE];
            UNROLL
            for (unsigned k = 0; k < SEGMENTS_AT_ONCE; k++) {
                const uint64_t at = segment + k * block_threads();
                ranges[k] = at <= last ? pass.where.range(at, 0) : segment_range{};
            }
            UNROLL
            for (unsigned k = 0; k < SEGMENTS_AT_ONCE; k++, segment += block_threads())
                if (ranges[k].rows > 0)
                    set_pieces(ranges[k], segment, first, end_inverted);
        }
    }
    /* Rows of totals belong to so many more segments that the threads share out the rows. */
    DEVICE void find_in_rows(unsigned &first, unsigned &end_inverted) const {
        const uint64_t top = place.first_row, bottom = top + window;
        KEEP_LOOP
        for (uint64_t row = top + thread_index(); row < bottom && row < pass.level_rows; row += block_threads()) {
            const uint64_t segment = load_vector(pass.owners + row);
            const segment_range range = pass.where.range(segment, pass.level);
            if (row < range.begin || row >= range.end() || (row - range.begin) % UNIT_ROWS != 0)
                continue;
            const uint64_t below = row + UNIT_ROWS < range.end() ? row + UNIT_ROWS : range.end();
            set_piece(static_cast<unsigned>(row - top), static_cast<unsigned>(below - top), true, segment, first,
                      end_inverted);
        }
    }

    /* Finds the pieces of the tile. False: there are none. */
    DEVICE bool find_pieces() {
        const unsigned words = pass.tile_rows / WORD_ROWS;
        unsigned bounds[2] = {~0u, ~0u};
        for (unsigned word = thread_index(); word < 2 * words; word += block_threads())
            memory.pieces[word] = 0;
        if (thread_index() == 0) {
            *memory.first = *memory.end = ~0u;
            *memory.depth = 0;
        }
        block_barrier();
        if (pass.level == 0)
            find_in_segments(bounds[0], bounds[1]);
        else
            find_in_rows(bounds[0], bounds[1]);
        if (bounds[0] != ~0u) {
            atomic_min(memory.first, bounds[0]);
            atomic_min(memory.end, bounds[1]);
        }
        block_barrier();
        place.missing = *memory.first;
        place.rows = ~*memory.end;
        return place.missing != ~0u;
    }

    /* Where the last piece before a word of bits begins; the tile's first one begins before it. */
    DEVICE unsigned last_before(unsigned word) const {
        uint32_t bits = memory.pieces[--word];
        while (bits == 0)
            bits = memory.pieces[--word];
        return word * WORD_ROWS + bit_width(bits) - 1;
    }
    /* The runs that begin in the rows of the thread's word of bits. */
    DEVICE uint32_t runs_of_word() const {
        const unsigned word = thread_index(), row = word * WORD_ROWS;
        if (row >= place.rows || row + WORD_ROWS <= place.missing)
            return 0;
        uint32_t runs = memory.pieces[word];
        if (row > place.missing) {
            const unsigned begin = last_before(word);
            const uint32_t next = 1u << begin % WORD_ROWS;
            memory.begins[word] = static_cast<uint16_t>(begin);
            runs |= (runs & (next | (next - 1))) == 0 ? next : 0;
        }
        return place.rows - row < WORD_ROWS ? runs & ((1u << (place.rows - row)) - 1) : runs;
    }
    DEVICE void list_runs() {
        const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
        uint32_t runs = runs_of_word();
        unsigned sum = bit_count(runs);
        UNROLL
        for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
            const unsigned left = warp_shuffle_up(WARP_ALL, sum, apart);
            sum += lane >= apart ? left : 0;
        }
        if (lane == WARP_LANES - 1)
            memory.warp_runs[warp] = sum;
        if (thread_index() < pass.tile_rows / WORD_ROWS)
            memory.runs[thread_index()] = runs;
        block_barrier();
        unsigned at = sum - bit_count(runs);
        listed = 0;
        KEEP_LOOP
        for (unsigned number = 0; number < block_threads() / WARP_LANES; number++) {
            at += number < warp ? memory.warp_runs[number] : 0;
            listed += memory.warp_runs[number];
        }
        KEEP_LOOP
        for (; runs != 0; runs &= runs - 1)
            memory.list[at++] = static_cast<uint16_t>(thread_index() * WORD_ROWS + lowest_bit(runs));
        if (thread_index() == 0)
            memory.list[listed] = static_cast<uint16_t>(place.rows);
    }
    /* Calls visit(row, how many) for the thread's share of the runs; of none, where others of its warp have one. */
    template <class VISIT> DEVICE void each_run(const VISIT &visit) const {
        KEEP_LOOP
        for (unsigned first = 0; first < listed; first += block_threads() >> pass.cells.log_across) {
            const unsigned number = first + (thread_index() >> pass.cells.log_across);
            const bool is_there = number < listed && column < place.columns;
            const unsigned row = is_there ? memory.list[number] : place.missing;
            const unsigned count = is_there ? memory.list[number + 1] - row : 0;
            visit(row, count < RUN_ROWS ? count : RUN_ROWS);
        }
    }

    DEVICE bool begins_piece(unsigned row) const { return bit_of(memory.pieces, row); }
    DEVICE bool is_marked(unsigned row) const { return bit_of(memory.marks, row); }
    DEVICE uint64_t row_of_table(unsigned row) const { return place.first_row + row; }
    DEVICE uint64_t segment_of(unsigned of_piece) const { return first_segment + memory.segments[of_piece]; }
    /* The first row of the piece that the row is in. */
    DEVICE unsigned piece_of(unsigned row) const {
        const unsigned word = row / WORD_ROWS;
        const uint32_t bits = memory.pieces[word] & ~0u >> (WORD_ROWS - 1 - row % WORD_ROWS);
        return bits != 0 ? word * WORD_ROWS + bit_width(bits) - 1 : memory.begins[word];
    }

    /* Where the last run of a word of bits begins that has one. */
    DEVICE unsigned last_run(unsigned word) const { return word * WORD_ROWS + bit_width(memory.runs[word]) - 1; }
    /* Whether a run, the last one that begins in its word of bits, is full; and, where results are made, is followed by
     * another run of its piece. */
    DEVICE bool is_full(unsigned row) const {
        constexpr bool IS_FOLLOWED = ROLE == segment_role::RESULTS;
        const unsigned bit = row % WORD_ROWS;
        const uint32_t through = IS_FOLLOWED ? (2u << bit) - 1 : (1u << bit) - 1;
        return row + RUN_ROWS + IS_FOLLOWED <= place.rows &&
               (through == 0 || (memory.pieces[row / WORD_ROWS + 1] & through) == 0);
    }
};

#endif
