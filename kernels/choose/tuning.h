/* Tuning as data: which persistent algorithm takes which table, by problem.h alone. Every number was measured; its
 * anchor names the section of the guide to tuning that says how, and what would change it. C and CUDA C.
 *
 * NAME_can(): the algorithm is able to sum such a table, wherever it is in memory, and has a workspace for it.
 * NAME_takes(): it was measured to be the best of the algorithms that are asked after it. The buffered one takes all
 * that is left. Neither looks at addresses, as a workspace is asked for before they are known: an algorithm's run()
 * refuses a table that begins where it cannot read, and a device may refuse any launch. */
#ifndef CHOOSE_TUNING_H
#define CHOOSE_TUNING_H

#include "choose/problem.h"

/* The oldest GPU, major * 10 + minor, that runs the algorithm's code. */
enum { BUFFERED_OLDEST_GPU = 80, BYTES_OLDEST_GPU = 80, ROWS_OLDEST_GPU = 90 };

/* A table of more tiles than this on each multiprocessor does not fit in one wave. docs/tuning.md#wave */
enum { TILES_AT_ONCE = 2 };

/* Up to FEW columns, and up to SOME, a resident tile has FEW or SOME lanes across, unless a shape has whole vectors of
 * them. docs/lab/2026-11-28.md#fewer-kernels */
enum { FEW_COLUMNS = 4, SOME_COLUMNS = 8 };

/* Shares of a chunk, at most, of which a wave makes tiles where there are few chunks. */
enum { WAVE_SHARES = 4 };

/* The fewest rows that a chunk of a resident algorithm has, wherever the table is in memory. */
static inline size_t resident_chunk_rows(table_type out, size_t columns) {
    const size_t lanes = columns <= FEW_COLUMNS    ? (size_t)FEW_COLUMNS
                         : columns <= SOME_COLUMNS ? (size_t)SOME_COLUMNS
                                                   : (size_t)MEMORY_LINE_BYTES;
    return kernel_chunk_rows(out, lanes);
}

/* Bytes of sums for each multiprocessor from which on rows are better not buffered.
 * docs/tuning.md#choosing-an-algorithm */
enum {
    ROWS_FROM_BYTES = 800 << 10,   /* four rounds of four tiles */
    RAGGED_FROM_BYTES = 200 << 10, /* one round: rows that are no whole vectors, if long, or of widened integers */
    LONG_FROM_BYTES = 8 << 20 /* the descriptors of buffered tiles stay in the cache up to here: long or widened rows */
};
enum {
    LONG_ROW_FROM_BYTES = 2048, /* of rows that begin on sectors. docs/tuning.md#pieces */
    WIDENED_LINES_FROM_BYTES = 1024,
    WIDENED_LINES_TO_BYTES = 4096 /* of widened rows of whole lines. docs/tuning.md#buffered */
};

/* Vectors of 16 bytes in a row of sums. docs/tuning.md#rows, and #pieces for rows that a tile has only parts of. */
enum { FEWEST_VECTORS = 18, MOST_VECTORS = 31 };
enum { LONG_VECTORS = 128, LONG_VECTORS_OF_PAIRS = 192, PIECE_VECTORS = 24 }; /* PAIRS: sums of 8 bytes */

/* Columns of rows that are no whole vectors. docs/tuning.md#columns-in-lanes */
enum { FEWEST_RAGGED = 9 };

/* Columns of integers that become floats, the most that have buffered tiles; LONG: f64. */
enum { FEW_FROM_INTEGERS = 8, FEW_LONG_FROM_INTEGERS = 7 };

/* Bytes of a row of widened sums that does not begin on lines. docs/tuning.md#columns-in-lanes */
enum { MOST_WIDENED_BYTES = 1024, MOST_WIDENED_LONG_BYTES = 576 }; /* with sums of 4 bytes; of 8 */

/* Columns of bytes that become sums of 4 bytes. docs/tuning.md#bytes and docs/tuning.md#byte-rows */
enum { WORD_BYTES = 4, FEWEST_BYTE_WORDS = 2, MOST_BYTE_WORDS = 16, MOST_BYTE_COLUMNS = MOST_BYTE_WORDS * WORD_BYTES };
enum { HALF_BYTE_ROW = 64, FEWEST_WHOLE_BYTE_ROW = 72, WHOLE_BYTE_ROW = 128, WIDE_BYTE_ROW = 1024 };

/* Bytes in a microsecond for each multiprocessor from which on memory is fast: an H100 has 25000, an H200 37000.
 * docs/tuning.md#bytes */
enum { FAST_MEMORY = 31000 };

static inline bool is_byte_sum(const struct kernel_problem *problem) {
    return problem->in_bytes == 1 && problem->out_bytes == sizeof(uint32_t) && !problem->is_float;
}

/* Whether there are more tiles than run at once. */
static inline bool fills_device(const struct kernel_problem *problem) {
    return problem->chunks * problem->panels > (size_t)TILES_AT_ONCE * problem->processors;
}

/* Long tables that are panels of one pass: the most bytes of sums in rows of values as wide as their sums, and of small
 * floats. docs/lab/2026-11-28.md#several-tables-in-registers
 * And those of whole lines: the fewest rows, and below how many lines across all tables they are panels, for each
 * processor. With more of them blocks of batch/batch_lanes.cu come in four rounds or more, and are as fast.
 * docs/lab/2026-11-30.md#several-tables-of-small-values */
enum { MOST_TABLE_BYTES = 64, MOST_SMALL_TABLE_BYTES = 32, FEWEST_WIDE_TABLE_ROWS = 2048, MOST_WIDE_TABLE_LINES = 8 };

/* ---- bytes: rows of bytes side by side, of few columns or of whole words. */

static inline bool bytes_can(const struct kernel_problem *problem) {
    const size_t columns = problem->columns;
    if (!is_byte_sum(problem) || problem->rows == 0 || !problem->side_by_side)
        return false;
    return columns < FEWEST_BYTE_WORDS * WORD_BYTES || (columns % WORD_BYTES == 0 && columns <= MOST_BYTE_COLUMNS);
}

/* ---- rows: four kinds of tiles, of which the first that fits is taken. */

/* Bytes in long rows, which may lie apart, of whole words: byte rows (docs/tuning.md#byte-rows). */
static inline bool are_byte_rows(const struct kernel_problem *problem) {
    if (!is_byte_sum(problem) || problem->rows == 0 || problem->columns % WORD_BYTES != 0 ||
        problem->in_stride % WORD_BYTES != 0 || problem->out_stride % WORD_BYTES != 0)
        return false;
    return problem->columns >= HALF_BYTE_ROW;
}

/* Whether a row is 5 or 9 whole vectors of sums, or 10 of 4-byte sums, so that more than a third of a buffered tile's
 * lanes would be idle; or FEWEST_VECTORS of 8-byte sums, which are 36 columns: a lane has single ones better.
 * 10 vectors of 8-byte sums stay buffered. docs/lab/2026-11-30.md#ragged-rows-again */
static inline bool leaves_lanes_idle(const struct kernel_problem *problem) {
    const size_t vectors = problem->row_bytes / MEMORY_VECTOR_BYTES;
    return problem->vectors &&
           (vectors == 5 || vectors == 9 || vectors == (problem->out_bytes == 8 ? (size_t)FEWEST_VECTORS : 10));
}

/* How many vectors a tile has across, of rows side by side of whole vectors that are not widened: whole rows if a warp
 * has lanes enough; or pieces of long ones, if rows begin on sectors, but not on lines. 0: not such rows. */
static inline size_t row_tile_vectors(const struct kernel_problem *problem) {
    const size_t vectors = problem->row_bytes / MEMORY_VECTOR_BYTES;
    const size_t pieces_from = problem->out_bytes == 8 ? LONG_VECTORS_OF_PAIRS : LONG_VECTORS;
    if (problem->widened || !problem->vectors || !problem->gapless || problem->rows == 0)
        return 0;
    if (vectors >= FEWEST_VECTORS && vectors <= MOST_VECTORS && !leaves_lanes_idle(problem))
        return vectors;
    return vectors >= pieces_from && problem->sectors && !problem->lines ? PIECE_VECTORS : 0;
}

/* Rows of whole vectors of sums that do not begin on sectors, or would leave lanes idle; and some rows of widened
 * values that do not begin on lines. */
static inline bool is_even_row(const struct kernel_problem *problem) {
    const size_t most = problem->out_bytes == 8 ? MOST_WIDENED_LONG_BYTES : MOST_WIDENED_BYTES;
    if (is_byte_sum(problem))
        return false; /* bytes, byte rows, or packed */
    if (leaves_lanes_idle(problem))
        return true;
    if (!problem->widened)
        return !problem->sectors && problem->row_bytes > 2 * MEMORY_LINE_BYTES;
    if (problem->out_bytes == 8 &&
        (problem->in_bytes == sizeof(uint32_t) ? problem->row_bytes < MEMORY_LINE_BYTES : !problem->sectors))
        return true;
    return problem->row_bytes > MEMORY_LINE_BYTES &&
           (!problem->sectors || (!problem->lines && problem->row_bytes <= most));
}

/* Integers that become floats: all that have more columns than buffered tiles, whole vectors or not. */
static inline bool are_rows_from_integers(const struct kernel_problem *problem) {
    const size_t few = problem->out_bytes == 8 ? FEW_LONG_FROM_INTEGERS : FEW_FROM_INTEGERS;
    return problem->from_integers && problem->columns > few && problem->rows > 0 && problem->gapless;
}

/* Rows side by side that begin anywhere, of which a lane has single columns. */
static inline bool are_ragged_rows(const struct kernel_problem *problem) {
    if (problem->from_integers)
        return are_rows_from_integers(problem);
    if (problem->columns < FEWEST_RAGGED || problem->rows == 0 || !problem->gapless)
        return false;
    return !problem->vectors || (row_tile_vectors(problem) == 0 && is_even_row(problem));
}

static inline bool rows_can(const struct kernel_problem *problem) {
    return are_byte_rows(problem) || are_ragged_rows(problem) || row_tile_vectors(problem) > 0;
}

/* Whether the data of such a table begins where the algorithm can read and write it. */
static inline bool rows_are_aligned(const struct kernel_problem *problem) {
    if (are_byte_rows(problem))
        return problem->in_start >= WORD_BYTES && problem->out_start >= MEMORY_VECTOR_BYTES;
    return problem->in_start >= MEMORY_VECTOR_BYTES &&
           (are_ragged_rows(problem) || problem->out_start >= MEMORY_VECTOR_BYTES);
}

/* Bytes of sums for each multiprocessor from which on a table goes by rows. */
static inline size_t rows_from_bytes(const struct kernel_problem *problem) {
    const size_t row = problem->row_bytes;
    const bool widened_lines = problem->lines && row >= WIDENED_LINES_FROM_BYTES && row <= WIDENED_LINES_TO_BYTES;
    const bool long_row = problem->sectors && row >= LONG_ROW_FROM_BYTES;
    if (problem->from_integers)
        return RAGGED_FROM_BYTES; /* smaller tables go by the separate stages */
    if (!problem->vectors)
        return row > MEMORY_LINE_BYTES || (problem->widened && !problem->is_float) ? RAGGED_FROM_BYTES
                                                                                   : ROWS_FROM_BYTES;
    return (problem->widened ? widened_lines : long_row) ? LONG_FROM_BYTES : ROWS_FROM_BYTES;
}

/* Whether byte rows are better packed: rows of 128 columns, of 65 to 71, and of more than 128 if rows do not begin on
 * sectors. docs/tuning.md#packed */
static inline bool is_better_packed(const struct kernel_problem *problem) {
    if (!are_byte_rows(problem))
        return false;
    if (problem->columns > WHOLE_BYTE_ROW)
        return !problem->sector_rows;
    return problem->columns == WHOLE_BYTE_ROW ||
           (problem->columns > HALF_BYTE_ROW && problem->columns < FEWEST_WHOLE_BYTE_ROW);
}

static inline bool rows_takes(const struct kernel_problem *problem) {
    return rows_can(problem) && !is_better_packed(problem) &&
           problem->rows * problem->row_bytes / rows_from_bytes(problem) >= problem->processors;
}

#endif
