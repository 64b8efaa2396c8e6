/* Stage 2 for totals that must be added from left to right, as floats must: one chain of additions a column, which is
 * bound by the latency of an addition (4 cycles on most devices) and short: one addition for each 64 KiB of a column.
 *
 * A block takes a panel of columns; one column, if there are few. All its threads bring a piece of rows into shared
 * memory, where one thread a column adds it up while the next piece is on its way; what is added up goes back the same
 * way. In shared memory a column lies side by side, so that its thread reads four values at a time ahead of the chain.
 */
#include "kernels.h"
#include "tile/sum.cuh"
#include "tile/vector.cuh"

constexpr unsigned FOLD_THREADS = 256;
constexpr unsigned FOLD_EACH = 16; /* values that a thread carries */
constexpr unsigned FOLD_VALUES = FOLD_THREADS * FOLD_EACH;
constexpr unsigned FOLD_SINGLES = 64; /* up to as many columns each has a block of its own, */
constexpr unsigned FOLD_PANEL = 8;    /* and if there are more, a block has as many as this */
constexpr unsigned FOLD_AHEAD = 16;   /* rows that are read ahead of the chain */
constexpr unsigned FOLD_PAD = 20;     /* between columns: room to read ahead, and against bank conflicts */

/* The panel of a block and the piece of rows in hand, and where the calling thread is in them: in column `column`, at
 * every `step`th row from `row` on. */
template <class SUM> struct fold_piece {
    SUM *values;    /* the piece's first row, the panel's first column */
    size_t columns; /* of the table */
    unsigned rows;  /* of the piece */
    unsigned most;  /* rows of a whole piece */
    unsigned column, row, step;
    bool active;
};

template <class SUM> DEVICE fold_piece<SUM> fold_first_piece(SUM *seeds, size_t columns, unsigned lanes) {
    const size_t first_column = static_cast<size_t>(block_index()) * lanes;
    const size_t left = columns - first_column;
    fold_piece<SUM> piece;
    piece.values = seeds + columns + first_column;
    piece.columns = columns;
    piece.most = FOLD_VALUES / lanes;
    piece.column = thread_index() % lanes;
    piece.row = thread_index() / lanes;
    piece.step = FOLD_THREADS / lanes;
    piece.active = piece.column < left;
    return piece;
}

/* How many rows the piece has, given how many are left in the table from its first one on. */
template <class SUM> DEVICE void fold_set_rows(fold_piece<SUM> &piece, size_t left) {
    piece.rows = left < piece.most ? static_cast<unsigned>(left) : piece.most;
}

template <class SUM> DEVICE void fold_read(const fold_piece<SUM> &piece, SUM (&carried)[FOLD_EACH]) {
    UNROLL
    for (unsigned each = 0; each < FOLD_EACH; each++) {
        const unsigned row = piece.row + each * piece.step;
        carried[each] = SUM(0);
        if (piece.active && row < piece.rows)
            carried[each] = piece.values[row * piece.columns + piece.column];
    }
}

template <class SUM> DEVICE void fold_ahead(const SUM *column, SUM (&part)[FOLD_AHEAD]) {
    constexpr unsigned COUNT = 16 / sizeof(SUM);
    UNROLL
    for (unsigned first = 0; first < FOLD_AHEAD; first += COUNT) {
        const vector_of<SUM, COUNT> some = *reinterpret_cast<const vector_of<SUM, COUNT> *>(column + first);
        UNROLL
        for (unsigned k = 0; k < COUNT; k++)
            part[first + k] = some.at[k];
    }
}

/* Adds up one column of the piece in shared memory, from `sum` on. Rows are read while the chain runs over the ones
 * before them. What lies beyond the piece is added up, too, but nobody looks at it. */
template <class SUM> DEVICE SUM fold_column(SUM *column, unsigned rows, SUM sum) {
    constexpr unsigned COUNT = 16 / sizeof(SUM);
    SUM part[FOLD_AHEAD], next[FOLD_AHEAD];
    fold_ahead(column, part);
    for (unsigned row = 0; row < rows; row += FOLD_AHEAD) {
        fold_ahead(column + row + FOLD_AHEAD, next);
        UNROLL
        for (unsigned first = 0; first < FOLD_AHEAD; first += COUNT) {
            vector_of<SUM, COUNT> sums;
            UNROLL
            for (unsigned k = 0; k < COUNT; k++)
                sums.at[k] = sum = combine(sum, part[first + k]);
            *reinterpret_cast<vector_of<SUM, COUNT> *>(column + row + first) = sums;
        }
        UNROLL
        for (unsigned k = 0; k < FOLD_AHEAD; k++)
            part[k] = next[k];
    }
    return column[rows - 1];
}

template <class SUM> DEVICE void fold_write(const fold_piece<SUM> &piece, const SUM *column) {
    UNROLL
    for (unsigned each = 0; each < FOLD_EACH; each++) {
        const unsigned row = piece.row + each * piece.step;
        if (piece.active && row < piece.rows)
            piece.values[row * piece.columns + piece.column] = column[row];
    }
}

template <class SUM> KERNEL LAUNCH_BOUNDS(FOLD_THREADS, 1)
    stage2_kernel(SUM *seeds, size_t rows, size_t columns, unsigned panel) {
    SHARED_ARRAY(SUM, shared, FOLD_VALUES + FOLD_PAD * FOLD_PANEL);
    fold_piece<SUM> piece = fold_first_piece(seeds, columns, panel);
    SUM *column = shared + piece.column * (piece.most + FOLD_PAD);
    SUM carried[FOLD_EACH], sum = SUM(0);
    if (piece.row == 0 && piece.active)
        sum = *(piece.values + piece.column - columns); /* row 0 */
    size_t left = rows - 1;
    fold_set_rows(piece, left);
    fold_read(piece, carried);
    while (left > 0) {
        UNROLL
        for (unsigned each = 0; each < FOLD_EACH; each++)
            column[piece.row + each * piece.step] = carried[each];
        block_barrier();
        fold_piece<SUM> next = piece;
        left -= piece.rows;
        next.values += piece.most * columns;
        fold_set_rows(next, left);
        fold_read(next, carried);
        if (piece.row == 0)
            sum = fold_column(column, piece.rows, sum);
        block_barrier();
        fold_write(piece, column); /* a thread takes back just what it brought, so the next piece needs no barrier */
        piece = next;
    }
}

template <class SUM> static int run_fold(void *seeds, size_t rows, size_t columns, void *stream) {
    const unsigned panel = columns <= FOLD_SINGLES ? 1 : FOLD_PANEL;
    const size_t blocks = (columns + panel - 1) / panel;
    if (blocks > INT32_MAX)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    return launch(stage2_kernel<SUM>, static_cast<unsigned>(blocks), FOLD_THREADS, 0, stream, static_cast<SUM *>(seeds),
                  rows, columns, panel);
}

int kernel_stage2_fold(void *seeds, size_t rows, size_t columns, table_type type, void *stream) {
    switch (type) {
    case TABLE_U32:
    case TABLE_I32:
        return run_fold<uint32_t>(seeds, rows, columns, stream);
    case TABLE_U64:
    case TABLE_I64:
        return run_fold<uint64_t>(seeds, rows, columns, stream);
    case TABLE_F32:
        return run_fold<float>(seeds, rows, columns, stream);
    case TABLE_F64:
        return run_fold<double>(seeds, rows, columns, stream);
    case TABLE_U8:
    case TABLE_U16:
        break;
    }
    return static_cast<int>(cudaErrorInvalidValue);
}
