/* Stage 2 for totals that must be added from left to right, as floats must: one chain of additions a column, which is
 * bound by the latency of an addition (4 cycles on most devices) and short: one addition for each 64 KiB of a column.
 *
 * A block takes a panel of columns. All its threads bring rows into shared memory while one thread a column adds up the
 * rows that came before; what is added up goes back the same way. */
#include "device.cuh"
#include "kernels.h"

constexpr unsigned FOLD_THREADS = 256;
constexpr unsigned FOLD_EACH = 16; /* values that a thread carries */
constexpr unsigned FOLD_VALUES = FOLD_THREADS * FOLD_EACH;
constexpr unsigned FOLD_COLUMNS = 32;

/* The panel of a block, and the piece of its rows in hand: `rows` rows of `width` values. */
template <class SUM> struct fold_piece {
    SUM *values;
    size_t columns;
    unsigned width, rows;
};

template <class SUM> DEVICE SUM *fold_address(const fold_piece<SUM> &piece, unsigned k) {
    return piece.values + static_cast<size_t>(k / piece.width) * piece.columns + k % piece.width;
}

template <class SUM> DEVICE void fold_read(const fold_piece<SUM> &piece, SUM (&carried)[FOLD_EACH]) {
    UNROLL
    for (unsigned each = 0; each < FOLD_EACH; each++) {
        const unsigned k = each * FOLD_THREADS + thread_index();
        carried[each] = k < piece.rows * piece.width ? *fold_address(piece, k) : SUM(0);
    }
}

/* Adds up one column of the piece in shared memory, from `sum` on. Values are read ahead of the chain. */
template <class SUM> DEVICE SUM fold_column(SUM *shared, unsigned width, unsigned rows, SUM sum) {
    constexpr unsigned AHEAD = 16;
    unsigned row = 0;
    for (; row + AHEAD <= rows; row += AHEAD) {
        SUM part[AHEAD];
        UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            part[k] = shared[(row + k) * width];
        UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            part[k] = sum = sum + part[k];
        UNROLL
        for (unsigned k = 0; k < AHEAD; k++)
            shared[(row + k) * width] = part[k];
    }
    for (; row < rows; row++)
        shared[row * width] = sum = sum + shared[row * width];
    return sum;
}

template <class SUM> KERNEL LAUNCH_BOUNDS(FOLD_THREADS, 1) stage2_kernel(SUM *seeds, size_t rows, size_t columns) {
    SHARED_ARRAY(SUM, shared, FOLD_VALUES);
    const size_t first_column = static_cast<size_t>(block_index()) * FOLD_COLUMNS;
    const size_t columns_left = columns - first_column;
    fold_piece<SUM> piece;
    piece.columns = columns;
    piece.width = columns_left < FOLD_COLUMNS ? static_cast<unsigned>(columns_left) : FOLD_COLUMNS;
    const unsigned piece_rows = FOLD_VALUES / piece.width;
    SUM carried[FOLD_EACH], sum = SUM(0);
    if (thread_index() < piece.width)
        sum = seeds[first_column + thread_index()];
    for (size_t first = 1; first < rows; first += piece_rows) {
        piece.values = seeds + first * columns + first_column;
        piece.rows = rows - first < piece_rows ? static_cast<unsigned>(rows - first) : piece_rows;
        fold_read(piece, carried);
        UNROLL
        for (unsigned each = 0; each < FOLD_EACH; each++)
            shared[each * FOLD_THREADS + thread_index()] = carried[each];
        block_barrier();
        if (thread_index() < piece.width)
            sum = fold_column(shared + thread_index(), piece.width, piece.rows, sum);
        block_barrier();
        for (unsigned k = thread_index(); k < piece.rows * piece.width; k += FOLD_THREADS)
            *fold_address(piece, k) = shared[k];
        block_barrier();
    }
}

template <class SUM> static int run_fold(void *seeds, size_t rows, size_t columns, void *stream) {
    const size_t blocks = (columns + FOLD_COLUMNS - 1) / FOLD_COLUMNS;
    if (blocks > INT32_MAX)
        return static_cast<int>(cudaErrorInvalidConfiguration);
    return launch(stage2_kernel<SUM>, static_cast<unsigned>(blocks), FOLD_THREADS, 0, stream, static_cast<SUM *>(seeds),
                  rows, columns);
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
