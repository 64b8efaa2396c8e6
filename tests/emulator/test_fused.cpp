/* The forms of the fused pass, each by force, at the sizes where one gives way to another: see the table at the end. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emulator.h"
#include "fiber.h"
#include "fused_case.h"
#include "fused_pairs.h"

typedef std::vector<size_t> sizes;

/* A row of the table: what check() is to do, on which device. */
struct plan {
    void (*check)(const plan &);
    const char *form;
    unsigned processors, major; /* of the device that is played */
    pairs types;
    sizes widths;   /* columns */
    unsigned share; /* one table in so many is computed; or so many tables of a kind are */
    const char *why;
    size_t chunks = 0;
};

/* TUPLESCAN_TEST_FEW: twice as much is half of the tables. The table at the end is written for 4. */
constexpr unsigned USUAL_FEW = 4;
static unsigned few = USUAL_FEW;

static bool is_due(const plan &what) { return random_bits() % (what.share * few) < USUAL_FEW; }

/* How often something is done that is to be done so many times; a part of one is a chance. */
static unsigned times_of(unsigned times) {
    const unsigned all = times * USUAL_FEW;
    return all / few + (random_bits() % few < all % few);
}

static const pair &one_of(const pairs &types) { return types[random_bits() % types.size()]; }

static void check_nothing(const plan &what) {
    for (const pair &types : what.types)
        check(vary(types, 0, what.widths[0]), what.form);
}

/* A quarter of a chunk, which a block is fast with, a half, and a whole one, and one row more or less. */
static void check_one_chunk(const plan &what) {
    for (const size_t width : what.widths)
        for (const pair &types : what.types) {
            const size_t n = kernel_chunk_rows(types.out, width);
            for (const size_t count : {size_t(1), n / 4 - 1, n / 4, n / 4 + 1, n / 2, n / 2 + 1, n - 1, n, n + 1})
                if (is_due(what))
                    check(vary(types, count, width), what.form);
        }
}

/* One, two, eight, sixteen chunks and one row more or less. Tables of many rows and wide ones are dear. */
static void check_boundaries(const plan &what) {
    for (const size_t width : what.widths)
        for (const pair &types : what.types) {
            const size_t n = kernel_chunk_rows(types.out, width);
            const size_t rows[] = {1,         n - 1, n,         n + 1,  2 * n,  3 * n - 7,  5 * n + 2,
                                   8 * n - 1, 8 * n, 8 * n + 1, 13 * n, 16 * n, 16 * n + 1, 20 * n + 3};
            for (const size_t count : rows)
                if (one_in(static_cast<unsigned>(1 + count / n / 4) * (width > 32 ? 3 : 1)) && is_due(what))
                    check(vary(types, count, width), what.form);
        }
}

/* Units of the tree, many to a tile, one row more or less: whole, half and broken tiles. */
static void check_units(const plan &what) {
    for (const size_t width : what.widths)
        for (unsigned times = times_of(what.share); times > 0; times--) {
            const pair &types = one_of(what.types);
            const size_t units = 1 + random_bits() % (3 * kernel_chunk_rows(types.out, width) / KERNEL_UNIT_ROWS);
            for (const size_t rows : {511, 512, 513, 812})
                check(vary(types, units * KERNEL_UNIT_ROWS - KERNEL_UNIT_ROWS + rows, width), what.form);
        }
}

/* Tables that are small for their rows alone. */
static void check_wide(const plan &what) {
    for (const size_t width : what.widths)
        for (unsigned times = times_of(what.share); times > 0; times--)
            check(vary(one_of(what.types), 1 + random_bits() % 40, width), what.form);
}

/* So many chunks that an awaited total is farther away than one look reaches. */
static void check_long(const plan &what) {
    const size_t chunks = EMULATOR_SANITIZED ? 36 : what.chunks;
    for (const size_t width : what.widths)
        for (unsigned times = times_of(what.share); times > 0; times--) {
            const pair &types = one_of(what.types);
            check(vary(types, chunks * kernel_chunk_rows(types.out, width) + 5, width), what.form);
        }
}

/* As many tiles as go in one wave, and one row more. */
static void check_full_wave(const plan &what) {
    for (const size_t width : what.widths)
        for (const size_t more : {0, 1})
            for (unsigned times = times_of(what.share); times > 0; times--) {
                const pair &types = one_of(what.types);
                const size_t tiles = 2 * what.processors, chunk_rows = kernel_chunk_rows(types.out, width);
                check(vary(types, tiles * chunk_rows / (width > 32 ? 2 : 1) + more, width), what.form);
            }
}

/* Sums overflow from the second chunk on, by when a thread may have made the first tile's totals, whose block has not
 * even drawn: its totals do not tell that the overflow's word is set. */
static void check_late_overflow(const plan &what) {
    for (unsigned times = times_of(what.share); times > 0; times--) {
        request made = {};
        made.types = one_of(what.types);
        made.columns = what.widths[random_bits() % what.widths.size()];
        const size_t chunk = kernel_chunk_rows(made.types.out, made.columns);
        made.rows = (3 + random_bits() % 4) * chunk;
        made.overflow = true;
        made.width = static_cast<unsigned>(8 * table_type_size(made.types.out));
        for (size_t rows = chunk; rows > 1; rows /= 2)
            made.width--;
        check(made, what.form);
    }
}

/* Waves out of place, or anywhere, in a workspace of which something becomes between two replays. */
static void check_harmed_waves(const plan &what, disturbance each_time, bool apart) {
    harm_counts(each_time);
    for (const size_t width : what.widths)
        for (unsigned times = times_of(what.share); times > 0; times--) {
            const pair &types = one_of(what.types);
            request made = vary(types, (1 + random_bits() % 5) * (kernel_chunk_rows(types.out, width) / 2), width);
            if (apart)
                made.in_place = made.same_carry = false;
            check(made, what.form);
        }
    harm_counts(NOTHING);
}
static void check_clearing_waves(const plan &what) { check_harmed_waves(what, CLEARS, false); }
static void check_waves_and_bytes(const plan &what) { check_harmed_waves(what, BYTE, true); }

/* Counts that begin anew each time, over words of the replay before that are not cleared. */
static void check_waves_without_clearing(const plan &what) {
    emulator_set_fault(EMULATOR_FAULT_CLEARS, 0);
    check_harmed_waves(what, COUNT_LOST, true);
    emulator_set_fault(EMULATOR_FAULT_NONE, 0);
}

/* Rows of whole vectors and more than a line of memory, so that two tiles share a chunk: chunks of which the lower
 * tile, or a part of either, is lacking. Stage 2 is done as the number of processors has it. */
static void check_shared_chunks(const plan &what) {
    for (const size_t width : what.widths)
        for (const size_t chunks : {0, 1, 3})
            for (const size_t rows : {1, 127, 128, 129, 255, 256, 257, 300, 384, 385, 511, 512}) {
                if (!is_due(what))
                    continue;
                request made = vary(one_of(what.types), chunks * 512 + rows, width);
                made.in_gap = one_in(2) ? 4 : 0;
                made.out_gap = made.in_place ? made.in_gap : one_in(2) ? 12 : 0;
                made.offset = one_in(3) ? 4 : 0;
                share_carry(made);
                check(made, what.form);
            }
}

/* Bytes in rows of whole words: packed tiles, of several chunks of the tree. Ends of tiles, warps and lanes; where rows
 * begin in the middle of a sector, panels overlap, unless the blocks that do stage 2 would be too many. */
static void check_packed(const plan &what) {
    for (const size_t width : what.widths)
        for (const size_t tiles : {0, 1, 3})
            for (const size_t rows : {1, 15, 16, 17, 32, 33, 127, 128, 129, 511, 512, 700, 1023, 1025, 2047, 2048}) {
                const size_t chunk = width <= 16 ? 2048 : width <= 32 ? 1024 : 512;
                if (!is_due(what) || rows > chunk)
                    continue;
                request made = vary(one_of(what.types), tiles * chunk + rows, width);
                made.in_gap = 4 * (one_in(2) ? random_bits() % 5 : 0);
                made.out_gap = (made.types.out == TABLE_U64 ? 2 : 4) * (one_in(2) ? random_bits() % 5 : 0);
                made.offset = one_in(2) ? 4 : 0;
                share_carry(made);
                check(made, one_in(4) ? FORM_NO_BULK : what.form);
            }
}

/* Bytes in rows side by side, which are read twice: ends of tiles, strips and lines, and of the chunks of four tiles,
 * or of eight small ones of lines, where blocks take several tiles each, and where there are fewer tiles than blocks.
 */
static void check_bytes(const plan &what) {
    static const size_t FEW_ROWS[] = {0, 16384, 8192, 6144, 3584, 4096, 3072, 2048}; /* of a tile */
    for (const size_t width : what.widths)
        for (const size_t tiles : {0, 1, 3, 4, 5, 9}) {
            const bool fast = one_in(2);
            const size_t tile = width < 8 ? FEW_ROWS[width] : 16 * (fast ? 7 : 4) * (32 / (width / 4));
            emulator_memory_rate(fast ? SIZE_MAX : 0);
            for (const size_t rows : {size_t(1), size_t(2), size_t(3), size_t(5), tile / 16 - 1, tile / 16,
                                      tile / 16 + 1, tile / 2 + 7, tile - 3, tile - 1}) {
                if (!is_due(what))
                    continue;
                request made = vary(one_of(what.types), tiles * tile + rows, width);
                made.in_gap = made.out_gap = made.offset = 0;
                made.reversed = false;
                share_carry(made);
                check(made, what.form);
            }
        }
}

/* Long rows side by side, as tiles that stay where they came, whole or in pieces: ends of tiles, strips and chunks. So
 * many processors have room for all blocks of stage 2. */
static void check_rows(const plan &what) {
    for (const size_t width : what.widths)
        for (const size_t chunks : {0, 1, 3, 6, 7})
            for (const size_t rows : {1, 4, 15, 16, 17, 33, 63, 65, 127, 128, 129, 255, 257, 384, 385, 511, 512}) {
                const bool is_long = width > 32; /* short rows have tiles of up to four chunks */
                if (!is_due(what) || (chunks > 3 && is_long))
                    continue;
                const pair &chosen = one_of(what.types);
                request made = vary(chosen, chunks * 512 + rows, width);
                made.in_gap = made.out_gap = 0;
                made.reversed = one_in(2);
                made.offset = one_in(4) ? 16 / table_type_size(chosen.in) : 0;
                share_carry(made);
                check(made, what.form);
            }
}

/* The same of bytes, which wait in registers, in rows that may lie apart; pieces begin on sectors. */
static void check_long_bytes(const plan &what) {
    for (const size_t width : what.widths)
        for (const size_t chunks : {0, 1, 3})
            for (const size_t rows : {1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 777, 1024}) {
                if (!is_due(what))
                    continue;
                request made = vary(one_of(what.types), chunks * 512 + rows, width);
                made.in_gap = 4 * (one_in(2) ? random_bits() % 5 : 0);
                made.out_gap = (width > 128 ? 8 : 4) * (one_in(2) ? random_bits() % 5 : 0);
                made.offset = one_in(2) ? 4 : 0;
                share_carry(made);
                check(made, what.form);
            }
}

/* So many chunks that the first ones' words are used by others, too, more than once. */
static void check_ring(const plan &what) {
    for (const size_t width : what.widths)
        for (unsigned times = times_of(what.share); times > 0; times--) {
            request made = vary(one_of(what.types), what.chunks * 512 + random_bits() % 512, width);
            made.in_gap = made.out_gap = made.offset = 0;
            check(made, what.form);
        }
}

static const sizes WIDTHS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 32, 33, 64, 100};

static const plan PLANS[] = {
    {check_nothing, FORM_BEST, 4, 9, ALL, {3}, 1, "no rows"},
    {check_boundaries, FORM_WAVE, 8, 9, ALL, WIDTHS, 16, "all tiles run at once"},
    {check_one_chunk, FORM_ALONE, 4, 9, ALL, WIDTHS, 8, "ends of the lone block"},
    {check_wide, FORM_ALONE, 4, 9, ALL, {129, 1000, 4097}, 3, "several panels of a lone block each"},
    {check_one_chunk, FORM_BEST, 4, 9, ALL, WIDTHS, 16, "alone gives way to the wave"},
    {check_boundaries, FORM_WAVE, 4, 9, ALL, WIDTHS, 32, "more tiles than go in a wave"},
    {check_wide, FORM_WAVE, 4, 9, ALL, {129, 1000, 4097}, 3, "several panels"},
    {check_units, FORM_ALONE, 4, 9, FLOATS, WIDTHS, 4, "several units to a lone block, or the wave"},
    {check_units, FORM_WAVE, 20, 9, FLOATS, WIDTHS, 4, "several units to a tile of the wave"},
    {check_units, FORM_BUFFERED, 4, 9, FLOATS, WIDTHS, 2, "several units to a buffered tile"},
    {check_units, FORM_BUFFERED, 4, 9, FROM_INTEGERS, {1, 2, 3, 4, 5, 6, 7, 8}, 3, "integers that become floats"},
    {check_units, FORM_NO_BULK, 4, 9, FLOATS, WIDTHS, 1, "the same with few bulk copies"},
    {check_late_overflow, FORM_WAVE, 4, 9, UNSIGNED, {1, 3}, 60, "totals do not tell that the overflow's word is set"},
    {check_clearing_waves, FORM_WAVE, 4, 9, ALL, {1, 3, 8, 40}, 3, "a count that says that a block is clearing"},
    {check_waves_and_bytes, FORM_WAVE, 4, 9, ALL, {1, 3, 8, 40}, 6, "a byte of the count belongs to another call"},
    {check_waves_without_clearing, FORM_WAVE, 4, 9, ALL, {1, 3, 8, 40}, 6, "words of the launch before are left"},
    {check_boundaries, FORM_BUFFERED, 4, 9, ALL, WIDTHS, 24, "tiles that are buffered, bulk copies"},
    {check_wide, FORM_BUFFERED, 4, 9, ALL, {129, 1000, 4097}, 3, "several panels"},
    {check_boundaries, FORM_NO_BULK, 4, 8, ALL, WIDTHS, 32, "the same without bulk copies"},
    {check_long, FORM_BUFFERED, 4, 9, ALL, {1, 2, 6, 32}, 1, "more chunks than are looked at in one go", 130},
    {check_long, FORM_BUFFERED, 4, 9, WORD, {12}, 1, "more chunks than stage 2 has room for", 290},
    {check_long, FORM_BUFFERED, 4, 9, ALL, {40}, 1, "the same of two panels", 65},
    {check_boundaries, FORM_BEST, 4, 9, ALL, WIDTHS, 32, "each form gives way to the next"},
    {check_long, FORM_BUFFERED, 2, 9, ALL, {1, 6, 32}, 1, "fewer tiles at once than chunks of a group of stage 2", 130},

    {check_shared_chunks, FORM_BUFFERED, 4, 9, ALL, {100, 132}, 3, "nobody does stage 2: a chain"},
    {check_shared_chunks, FORM_BUFFERED, 8, 9, ALL, {20, 36, 60, 64, 260, 300}, 6, "up to two blocks do, or nobody"},
    {check_shared_chunks, FORM_BUFFERED, 28, 9, ALL, {68, 100, 124}, 6, "up to eight, of 16 columns each, or nobody"},
    {check_shared_chunks, FORM_BUFFERED, 16, 9, ALL, {600, 1000}, 24, "of 256 columns each"},

    {check_bytes, FORM_BYTES, 4, 9, BYTES, {2, 5, 12}, 8, "read twice; a chain"},
    {check_bytes, FORM_BYTES, 6, 9, BYTES, {1, 3, 4, 6, 7}, 16, "one block for stage 2"},
    {check_bytes,
     FORM_BYTES,
     16,
     9,
     BYTES,
     {8, 20, 36, 44, 48, 64},
     8,
     "up to four; 44, 48: a quarter of the lanes is idle"},

    {check_packed, FORM_BUFFERED, 4, 9, ANY_BYTES, {12, 100}, 4, "12: one block for stage 2; 100: a chain"},
    {check_packed, FORM_BUFFERED, 8, 9, ANY_BYTES, {16, 20, 32, 36, 64}, 8, "one or two; 36, 64: nobody"},
    {check_packed, FORM_BUFFERED, 28, 9, ANY_BYTES, {60, 68, 100}, 6, "up to seven of 16 columns each"},
    {check_packed, FORM_BUFFERED, 20, 9, ANY_BYTES, {140, 124}, 6, "five of 32; or nobody"},

    {check_rows, FORM_ROWS, 6, 9, LONG_WORDS, {34, 36, 48}, 6, "three blocks for stage 2"},
    {check_rows, FORM_ROWS, 6, 9, WORDS, {13, 14, 17, 31, 33}, 8, "rows of no whole vectors"},
    {check_rows, FORM_ROWS, 6, 9, WORDS, {20, 36, 40}, 8, "whole vectors that would leave lanes idle"},
    {check_rows, FORM_ROWS, 6, 9, SHORT, {9, 10, 11}, 12, "half a warp for a strip"},
    {check_rows, FORM_ROWS, 6, 9, WIDENED, {13, 15, 17, 23, 25, 31, 33, 47}, 8, "widened, no whole vectors"},
    {check_rows, FORM_ROWS, 6, 9, WORDS, {9, 10, 11}, 8, "short rows of words"},
    {check_rows, FORM_ROWS, 6, 9, LONG_WORDS, {10, 13, 15, 18}, 8, "short rows of long words"},
    {check_rows, FORM_ROWS, 6, 9, {F32_F64, U32_U64, I32_I64}, {10, 12, 14}, 8, "whole vectors, from words"},
    {check_rows, FORM_ROWS, 6, 9, WIDENED_LONG, {17, 31}, 8, "widened to long words"},
    {check_rows, FORM_ROWS, 6, 9, SHORT_FLOATS, {9, 10, 11, 17}, 3, "two and four units a tile, of floats"},
    {check_rows, FORM_ROWS, 6, 9, {F64_F64}, {9}, 12, "two units a tile, of long floats"},
    {check_rows, FORM_ROWS, 6, 9, {F16_F16, BF16_BF16}, {17, 33, 35}, 4, "a thread a column of small results"},
    {check_rows, FORM_ROWS, 8, 9, {F64_F64}, {11, 15, 23, 31}, 4, "a unit of f64 a tile, or two, or half of one"},
    {check_rows, FORM_ROWS, 6, 9, LONG_FLOATS, {13, 15, 17, 19, 31, 33}, 12, "two units a tile, or one, of floats"},
    {check_rows, FORM_ROWS, 8, 9, FROM_INTEGERS, {9, 12, 15, 16, 17, 31, 32, 33, 60, 64}, 8, "from integers"},
    {check_rows, FORM_ROWS, 24, 9, FROM_INTEGERS, {65, 96, 128, 129, 200, 333, 667}, 12, "from integers, longer"},
    {check_rows, FORM_ROWS, 14, 9, LONG_WORDS, {66, 94}, 8, "whole vectors that begin anywhere in a sector"},
    {check_rows, FORM_ROWS, 56, 9, WORDS, {132, 180}, 16, "many blocks for stage 2"},
    {check_rows, FORM_ROWS, 20, 9, WORDS, {204, 260}, 12, "whole vectors, longer"},
    {check_rows, FORM_ROWS, 18, 9, LONG_WORDS, {102, 130}, 12, "whole vectors, longer"},
    {check_rows, FORM_ROWS, 22, 9, WIDENED_LONG, {18, 20, 36, 68, 98, 130}, 12, "widened, whole vectors"},
    {check_rows, FORM_ROWS, 22, 9, SHORTS, {36, 40, 68, 100, 132, 260}, 12, "widened, whole vectors"},
    {check_rows, FORM_ROWS, 14, 9, WORDS, {68, 72, 100}, 6, "up to seven blocks for stage 2"},
    {check_rows, FORM_ROWS, 22, 9, WORDS, {124}, 6, "the widest of whole rows"},
    {check_rows, FORM_ROWS, 14, 9, LONG_WORDS, {17, 31, 33, 63}, 6, "no whole vectors"},
    {check_rows, FORM_ROWS, 18, 9, WORDS, {63, 66, 70, 71, 97}, 8, "no whole vectors, two columns a lane and more"},
    {check_rows, FORM_ROWS, 56, 9, WORDS, {127, 131, 201}, 16, "the same, longer"},
    {check_rows, FORM_ROWS, 28, 9, LONG_WORDS, {67, 99}, 12, "the same of long words"},
    {check_rows, FORM_ROWS, 24, 9, WIDENED, {65, 95, 97, 127}, 8, "the same, widened"},
    {check_rows, FORM_ROWS, 34, 9, WIDENED, {129, 201, 255}, 8, "the same, widened, longer"},
    {check_rows, FORM_ROWS, 20, 9, WORDS, {205, 263}, 12, "in pieces that begin anywhere"},
    {check_rows, FORM_ROWS, 18, 9, LONG_WORDS, {103, 133}, 12, "in pieces that begin anywhere"},
    {check_rows, FORM_ROWS, 40, 9, WORDS, {1031}, 24, "in many pieces"},
    {check_rows, FORM_ROWS, 34, 9, WIDENED, {263, 333, 667}, 16, "in pieces, widened"},
    {check_rows, FORM_ROWS, 34, 9, WORDS, {520}, 16, "in pieces: 17, of 32 columns each"},
    {check_rows, FORM_ROWS, 26, 9, LONG_WORDS, {388}, 16, "in pieces that begin on sectors"},

    {check_long_bytes, FORM_ROWS, 8, 9, BYTES, {64}, 6, "four blocks for stage 2"},
    {check_long_bytes, FORM_ROWS, 16, 9, BYTES, {72, 100, 124}, 6, "up to eight"},
    {check_long_bytes, FORM_ROWS, 18, 9, BYTES, {136, 264}, 12, "of 32 columns each"},
    {check_long_bytes, FORM_ROWS, 18, 9, BYTES, {1032}, 24, "of 128"},

    {check_ring, FORM_ROWS, 6, 9, LONG_WORDS, {34}, 4, "words used again", 40},
    {check_ring, FORM_ROWS, 6, 9, WORDS, {33}, 4, "words used again, no whole vectors", 80},
    {check_ring, FORM_ROWS, 6, 9, SHORT_FLOATS, {9, 19}, 2, "of many turns of stage 2, of floats", 240},
    {check_ring, FORM_ROWS, 6, 9, LONG_FLOATS, {15, 33}, 2, "the same, long", 90},
    {check_ring, FORM_ROWS, 6, 9, FROM_INTEGERS, {11, 33}, 2, "the same, from integers", 90},
    {check_ring, FORM_ROWS, 24, 9, FROM_INTEGERS, {129}, 1, "the same, in pieces", 40},
    {check_ring, FORM_ROWS, 8, 9, {F64_F64}, {11, 31}, 2, "the same, of f64", 90},
    {check_ring, FORM_ROWS, 40, 9, SHORT_FLOATS, {263}, 1, "of turns of a chunk", 40},
    {check_ring, FORM_ROWS, 6, 9, SHORT, {9}, 2, "short rows have tiles of two chunks", 240},
    {check_ring, FORM_ROWS, 6, 9, WIDENED, {23}, 2, "the same, widened", 240},
    {check_ring, FORM_ROWS, 24, 9, WIDENED, {99}, 2, "several columns a lane", 40},
    {check_ring, FORM_ROWS, 34, 9, WIDENED, {263}, 1, "in pieces", 24},
    {check_ring, FORM_ROWS, 18, 9, WORDS, {263}, 1, "in pieces", 24},
    {check_ring, FORM_ROWS, 6, 9, LONG_WORDS, {17}, 2, "no whole vectors, long words", 80},
    {check_ring, FORM_ROWS, 6, 9, WORDS, {19}, 2, "no whole vectors", 80},
    {check_ring, FORM_ROWS, 14, 9, WORDS, {72}, 2, "whole vectors", 30},
    {check_ring, FORM_ROWS, 34, 9, WORDS, {520}, 1, "in 17 pieces", 24},
    {check_ring, FORM_ROWS, 16, 9, BYTES, {72}, 2, "bytes", 40},
    {check_ring, FORM_ROWS, 18, 9, BYTES, {1032}, 1, "bytes in pieces", 24},

    {check_full_wave, FORM_WAVE, 20, 9, ALL, {1, 3, 4, 40}, 1, "the wave is full, and one row more"},
    {check_full_wave, FORM_WAVE, 140, 9, FLOATS, {16}, 1, "more tiles than a warp adds up at once"},
    {check_boundaries, FORM_BEST, 4, 8, ALL, WIDTHS, 64, "a device without the wave and bulk copies"},
    {check_one_chunk, FORM_ALONE, 4, 7, ALL, WIDTHS, 32, "a device that cannot park tiles either"},
    {check_boundaries, FORM_BEST, 4, 7, ALL, WIDTHS, 32, "a device that cannot park tiles either"},
};

/* ThreadSanitizer knows no more than 8128 threads: 15 blocks of 512. */
static bool is_possible(const plan &what) { return !EMULATOR_TSAN || what.processors <= 6; }

int main() {
    const char *seed = getenv("TUPLESCAN_EMULATOR_SEED"), *given = getenv("TUPLESCAN_TEST_FEW");
    seed_choices(seed ? strtoull(seed, nullptr, 0) : 1);
    few = given && atoi(given) > 0 ? static_cast<unsigned>(atoi(given)) : USUAL_FEW;
    for (const plan &what : PLANS) {
        if (!is_possible(what))
            continue;
        const int before = checks_failed();
        play_device(what.processors, what.major);
        what.check(what);
        if (checks_failed() > before)
            fprintf(stderr, "... of: %s, form %s\n", what.why, what.form ? what.form : "best");
    }
    printf("%d passed, %d failed, 0 skipped\n", checks_passed(), checks_failed());
    return checks_failed() > 0;
}
