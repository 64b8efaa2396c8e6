/* The pieces of segments that begin in a window of rows, and the list of their runs.
 *
 * A **piece** is a unit of a segment: UNIT_ROWS rows, or the last rows of the segment. A **run** is RUN_OF_PIECE rows
 * of a piece, counted from its first one; the last run may have fewer. A piece is **passed** if another one of its
 * segment follows it: its total is a part of the prefixes of other pieces. Passed pieces are whole units, and begin
 * UNIT_ROWS rows apart at least, so that a window has no more of them than of units. They come before all others. As
 * vectors have a thread and cells a place for each of their runs, all of their totals are in shared memory at once, and
 * a block publishes them before it waits for anything (exchange() of segment_window.cuh). Where tiles are split, tiles
 * of passed pieces alone come first; the others have longer windows, and nothing waits for them. */
#ifndef SEGMENTS_SEGMENT_LIST_CUH
#define SEGMENTS_SEGMENT_LIST_CUH

#include "segments/segment_plan.cuh"

/* Words of a block in shared memory: of its tile, which one thread finds. */
struct segment_words {
    uint64_t top, first_segment, last_segment; /* rows and segments of the window, and perhaps some segments more */
    uint32_t number, panel;                    /* of the tile, and of its columns */
    uint32_t rows, first_row, end_row;         /* of the window; of its pieces, counted from its first row */
    uint32_t takes_passed, takes_others;       /* which pieces are the tile's */
    uint32_t listed;  /* runs of pieces that are not passed; in the upper half, pieces that are passed */
    uint32_t shorts;  /* of these runs the short ones, if they are listed apart */
    uint32_t numbers; /* bits of the numbers of runs in their pieces; HAS_UNITS: the list of units is not empty */
};
/* A piece that is passed, or is not the first one of its segment. */
struct segment_unit {
    uint64_t number;  /* in its segment */
    uint32_t begin;   /* its first row in the tile */
    uint32_t segment; /* counted from the tile's first one */
};
static_assert(sizeof(segment_words) <= SEGMENT_WORD_BYTES && sizeof(segment_unit) <= SEGMENT_UNIT_BYTES,
              "shared memory has room for them");
/* A run, of no rows where there is none. */
struct segment_run {
    unsigned row, rows;             /* the first one in the tile; how many */
    unsigned number;                /* in its piece */
    unsigned unit;                  /* its piece in the list of units; NO_UNIT: a first piece that is not passed */
    unsigned segment;               /* counted from the tile's first one; known only if wanted */
    bool is_passed, begins_segment; /* of its piece */
    bool ends_piece, ends_segment;  /* of the run */
};

/* A run in the list: its first row; and from each of these bits on its rows but one, its number in its piece, whether
 * its piece is a later one of its segment, and whether it is the last run of the segment. */
constexpr unsigned LIST_ROWS = 14, LIST_NUMBER = LIST_ROWS + RUN_OF_PIECE_BITS,
                   LIST_IS_LATER = LIST_NUMBER + PIECE_RUN_BITS, LIST_IS_LAST = LIST_IS_LATER + 1;
constexpr unsigned NO_UNIT = ~0u, HAS_UNITS = PIECE_RUNS;
/* Runs of at most these rows are listed apart if lists_shorts, from the end on: at most one warp has both kinds.
 * docs/lab/2026-11-30.md#segments-of-rows-that-are-no-vectors-on-a-gpu */
constexpr unsigned SHORT_RUN = RUN_OF_PIECE / 4;

struct segment_list {
    const segment_pass &pass;
    segment_words *const words;
    segment_unit *const units; /* passed pieces; then others that are not the first of their segments, each at its place
                                  by its first row, with number 0 at all other places */
    uint32_t *const runs, *const segments; /* of pieces that are not passed */
    uint64_t top, first_segment;           /* as in the words */
    unsigned rows;

    DEVICE segment_list(const segment_pass &pass_, unsigned char *memory)
        : pass(pass_), words(reinterpret_cast<segment_words *>(memory)),
          units(reinterpret_cast<segment_unit *>(memory + SEGMENT_WORD_BYTES)),
          runs(reinterpret_cast<uint32_t *>(units + segment_units(pass_.window))),
          segments(runs + segment_list_runs(pass_.window)), top(0), first_segment(0), rows(0) {}

    /* The last segment that begins before a row, which is a multiple of UNIT_ROWS; or segment 0. */
    template <class PASS> static DEVICE uint64_t last_segment_above(const PASS &pass, uint64_t row) {
        const uint64_t of_units = row >> UNIT_BITS;
        if (of_units == 0)
            return 0;
        return of_units <= pass.unit_rows ? load_vector(pass.owners + of_units - 1) : pass.where.count() - 1;
    }
    /* The first row of a segment at which a piece begins that is not above `row`, or the segment's end. */
    static DEVICE uint64_t piece_from(const segment_range &range, uint64_t row) {
        if (range.begin >= row)
            return range.begin;
        const uint64_t begin = row + (range.begin - row) % UNIT_ROWS;
        return begin < range.end() ? begin : range.end();
    }

    /* Finds the pieces of a window, by one thread. */
    DEVICE void find(uint64_t window, unsigned of_window) const {
        const uint64_t begin = window * of_window, bottom = begin + of_window;
        words->top = begin;
        words->rows = of_window;
        words->first_segment = last_segment_above(pass, begin);
        words->last_segment = last_segment_above(pass, bottom);
        const uint64_t first = piece_from(pass.where.range(words->first_segment), begin);
        const uint64_t end = piece_from(pass.where.range(words->last_segment), bottom);
        words->first_row = first < bottom ? static_cast<unsigned>(first - begin) : 0;
        words->end_row = first < bottom ? static_cast<unsigned>(end - begin) : 0;
    }
    /* Goes to the window that was found. */
    DEVICE void take() {
        top = words->top;
        first_segment = words->first_segment;
        rows = words->rows;
    }
    /* Lists the pieces, which is done when the block has met. */
    DEVICE void list() {
        const uint64_t last = words->last_segment;
        if (thread_index() == 0)
            words->listed = words->numbers = words->shorts = 0;
        for (unsigned unit = thread_index(); unit < rows / UNIT_ROWS; unit += block_threads())
            units[rows / UNIT_ROWS + unit].number = 0;
        block_barrier();
        KEEP_LOOP
        for (uint64_t segment = first_segment + thread_index(); segment - thread_index() % WARP_LANES <= last;
             segment += block_threads())
            list_segment(segment <= last ? pass.where.range(segment) : segment_range{}, segment);
    }

    /* Lists the pieces of a segment, perhaps of no rows. All lanes of a warp call it together. */
    DEVICE void list_segment(const segment_range &range, uint64_t segment) {
        const unsigned of_segment = static_cast<unsigned>(segment - first_segment);
        const unsigned row = static_cast<unsigned>(range.begin - top);
        if (!warp_any(WARP_ALL, range.rows > UNIT_ROWS))
            return list_piece(row, words->takes_others && range.begin >= top ? static_cast<unsigned>(range.rows) : 0, 0,
                              0, range, of_segment);
        const uint64_t all = range.rows == 0 ? 0 : (range.rows - 1) >> UNIT_BITS; /* units but the last one */
        const uint64_t above = range.begin >= top ? 0 : (top - range.begin + UNIT_ROWS - 1) >> UNIT_BITS;
        const uint64_t below = (top + rows - range.begin + UNIT_ROWS - 1) >> UNIT_BITS;
        const unsigned passed =
            words->takes_passed && above < all ? static_cast<unsigned>((below < all ? below : all) - above) : 0;
        const bool has_last = words->takes_others && range.rows > 0 && above <= all && all < below;
        list_piece(row + static_cast<unsigned>(all << UNIT_BITS),
                   has_last ? static_cast<unsigned>(range.rows - (all << UNIT_BITS)) : 0, above, passed, range,
                   of_segment);
    }
    /* Lists the last piece of a segment, if it has rows here, and `passed` others from number `unit` on. */
    DEVICE void list_piece(unsigned row, unsigned of_piece, uint64_t unit, unsigned passed, const segment_range &range,
                           unsigned of_segment) {
        const unsigned count = (of_piece + RUN_OF_PIECE - 1) >> RUN_OF_PIECE_BITS;
        const bool is_later = of_piece > 0 && range.rows > UNIT_ROWS;
        const unsigned numbers = warp_or(WARP_ALL, (count > 0 ? count - 1 : 0) | (passed > 0 ? PIECE_RUNS - 1 : 0) |
                                                       (passed > 0 || is_later ? HAS_UNITS : 0));
        const bool is_short = pass.lists_shorts && count > 0 && (of_piece - 1) % RUN_OF_PIECE < SHORT_RUN;
        const unsigned lane = thread_index() % WARP_LANES, own = (count - is_short) | passed << 16;
        const unsigned sum = sum_in_warp(own);
        unsigned at = 0;
        if (lane == WARP_LANES - 1 && sum != 0)
            at = atomic_add(&words->listed, sum);
        if (lane == 0 && numbers != 0)
            atomic_or(&words->numbers, numbers);
        at = warp_shuffle(WARP_ALL, at, WARP_LANES - 1) + sum - own;
        const unsigned place = at & 0xffff, short_place = pass.lists_shorts ? short_place_of(is_short) : 0;
        unsigned entry = row | (RUN_OF_PIECE - 1) << LIST_ROWS | unsigned(is_later) << LIST_IS_LATER;
        KEEP_LOOP
        for (unsigned k = 0; k < count; k++, entry += RUN_OF_PIECE | 1u << LIST_NUMBER) {
            const unsigned to = is_short && k + 1 == count ? short_place : place + k;
            runs[to] = k + 1 < count ? entry
                                     : (entry & ~((RUN_OF_PIECE - 1) << LIST_ROWS)) |
                                           (of_piece - 1) % RUN_OF_PIECE << LIST_ROWS | 1u << LIST_IS_LAST;
            if (pass.wants_segments)
                segments[to] = of_segment;
        }
        const uint64_t last = (range.rows - 1) >> UNIT_BITS;
        if (is_later)
            units[rows / UNIT_ROWS + row / UNIT_ROWS] = segment_unit{last, row, of_segment};
        KEEP_LOOP
        for (unsigned k = 0; k < passed; k++)
            units[(at >> 16) + k] = segment_unit{
                unit + k, static_cast<unsigned>(range.begin + ((unit + k) << UNIT_BITS) - top), of_segment};
    }

    /* Where a lane lists its short run, if it has one. */
    DEVICE unsigned short_place_of(bool is_short) const {
        const unsigned lanes = warp_ballot(WARP_ALL, is_short), lane = thread_index() % WARP_LANES;
        unsigned before = 0;
        if (lane == 0 && lanes != 0)
            before = atomic_add(&words->shorts, bit_count(lanes));
        before = warp_shuffle(WARP_ALL, before, 0) + bit_count(lanes & ((1u << lane) - 1));
        return segment_list_runs(pass.window) - 1 - before;
    }

    DEVICE unsigned passed_runs() const { return words->listed >> 16 << PIECE_RUN_BITS; }
    DEVICE unsigned all_runs() const { return passed_runs() + (words->listed & 0xffff) + words->shorts; }
    /* Where a run that is not passed is listed. */
    DEVICE unsigned listed_at(unsigned place) const {
        const unsigned at = place - passed_runs(), longer = words->listed & 0xffff;
        return !pass.lists_shorts || at < longer ? at : segment_list_runs(pass.window) - 1 - (at - longer);
    }
    DEVICE unsigned entry(unsigned place) const { return runs[listed_at(place)]; }
    static DEVICE unsigned number_of(unsigned entry) { return entry >> LIST_NUMBER & (PIECE_RUNS - 1); }
    /* Where a round that begins with a run ends: it takes whole pieces. */
    DEVICE unsigned end_of_round(unsigned begin, unsigned most) const {
        const unsigned end = begin + most;
        return end >= all_runs() ? all_runs() : end - (end < passed_runs() ? 0 : number_of(entry(end)));
    }
    DEVICE segment_run run_at(unsigned place, bool is_there) const {
        segment_run run = {};
        run.unit = NO_UNIT;
        if (!is_there)
            return run;
        if (place < passed_runs()) {
            run.unit = place >> PIECE_RUN_BITS;
            run.number = place & (PIECE_RUNS - 1);
            run.row = units[run.unit].begin + (run.number << RUN_OF_PIECE_BITS);
            run.rows = RUN_OF_PIECE;
            run.segment = units[run.unit].segment;
            run.is_passed = true;
            run.begins_segment = units[run.unit].number == 0;
            run.ends_piece = run.number == PIECE_RUNS - 1;
            return run;
        }
        const unsigned of_run = entry(place);
        run.row = of_run & ((1u << LIST_ROWS) - 1);
        run.rows = (of_run >> LIST_ROWS & (RUN_OF_PIECE - 1)) + 1;
        run.number = number_of(of_run);
        run.begins_segment = (of_run >> LIST_IS_LATER & 1) == 0;
        run.ends_piece = run.ends_segment = (of_run >> LIST_IS_LAST & 1) != 0;
        if (!run.begins_segment)
            run.unit = rows / UNIT_ROWS + (run.row - (run.number << RUN_OF_PIECE_BITS)) / UNIT_ROWS;
        if (pass.wants_segments)
            run.segment = segments[listed_at(place)];
        return run;
    }
};

#endif
