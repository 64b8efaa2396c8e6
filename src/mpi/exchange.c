/* Ranges of rows are joined by MPI itself: MPI_Exscan with an operation of our own. */
#include "exchange.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { LARGE = 1 << 30 }; /* counts of MPI are ints: what has more bytes is a number of these, and a rest */

_Static_assert(_Alignof(max_align_t) >= TABLE_STATE_ALIGNMENT, "malloc() aligns states");

bool state_is_lost(const void *state) {
    static const struct sum_state none;
    return memcmp(state, &none, sizeof none) == 0;
}

/* The rows of a state from `slot` on, those of the levels in the mask: as they are in `from`; zeros if it is NULL. */
static void put_rows(struct sum_state *to, const struct sum_state *from, unsigned slot, uint64_t levels) {
    const size_t bytes = (size_t)to->columns * table_type_size((table_type)to->type);
    for (; levels; levels &= levels - 1) {
        const unsigned row = slot + (unsigned)__builtin_ctzll(levels);
        if (from)
            memcpy(state_row(to, bytes, row), state_row(from, bytes, row), bytes);
        else
            memset(state_row(to, bytes, row), 0, bytes);
    }
}

/* The rows that mean something in a state with that header, which are few of all. */
static void put_state(struct sum_state *to, const struct sum_state *from, const struct sum_state *header) {
    const struct state_digits digits = state_digits(header->first, header->rows);
    *to = *header;
    put_rows(to, from, STATE_START, 1);
    if (state_is_integer(header->type)) {
        put_rows(to, from, STATE_SUM, 1);
        return;
    }
    put_rows(to, from, STATE_RUNS, digits.runs);
    put_rows(to, from, STATE_BLOCKS, digits.blocks);
    put_rows(to, from, STATE_RISING_RUNS, digits.rising_runs);
    put_rows(to, from, STATE_RISING_BLOCKS, digits.rising_blocks);
}

/* right = left followed by right, or zeros if that cannot be. Both are MPI's, whose memory is aligned as malloc()'s is;
 * left stays as it is. What is zero is not touched, since most of a state is. */
static void join_states(const struct sum_state *left, struct sum_state *right, size_t bytes) {
    struct sum_state *joined = state_is_lost(left) || state_is_lost(right) ? NULL : calloc(1, bytes);
    if (joined)
        put_state(joined, left, left);
    if (joined && table_state_join(joined, right) == TABLE_OK) {
        const struct sum_state old = *right;
        put_state(right, NULL, &old);
        put_state(right, joined, joined);
    } else {
        memset(right, 0, bytes);
    }
    free(joined);
}

/* An MPI_User_function. */
static void join_in_order(void *left, void *right, int *count, MPI_Datatype *type) {
    MPI_Count bytes = 0;
    if (MPI_Type_size_x(*type, &bytes) != MPI_SUCCESS || bytes <= 0)
        return;
    for (int i = 0; i < *count; i++)
        join_states((void *)((char *)left + (size_t)i * (size_t)bytes),
                    (void *)((char *)right + (size_t)i * (size_t)bytes), (size_t)bytes);
}

/* `blocks` blocks of LARGE bytes and `rest` bytes. */
static int make_large_type(size_t blocks, size_t rest, MPI_Datatype *type) {
    MPI_Datatype block;
    int code = MPI_Type_contiguous(LARGE, MPI_BYTE, &block);
    if (code != MPI_SUCCESS)
        return code;
    const int counts[] = {(int)blocks, (int)rest};
    const MPI_Aint places[] = {0, (MPI_Aint)(blocks * LARGE)};
    const MPI_Datatype types[] = {block, MPI_BYTE};
    code = MPI_Type_create_struct(2, counts, places, types, type);
    MPI_Type_free(&block);
    return code;
}

table_status exchange_open(struct exchange *exchange, size_t state_bytes) {
    MPI_Datatype type;
    *exchange = (struct exchange){MPI_DATATYPE_NULL, MPI_OP_NULL};
    int code = state_bytes < LARGE ? MPI_Type_contiguous((int)state_bytes, MPI_BYTE, &type)
                                   : make_large_type(state_bytes / LARGE, state_bytes % LARGE, &type);
    if (code != MPI_SUCCESS)
        return mpi_failed("MPI_Type_contiguous()", code);
    exchange->type = type;
    if ((code = MPI_Type_commit(&exchange->type)) != MPI_SUCCESS)
        return mpi_failed("MPI_Type_commit()", code);
    code = MPI_Op_create(join_in_order, 0, &exchange->join);
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Op_create()", code);
}

void exchange_close(struct exchange *exchange) {
    if (exchange->join != MPI_OP_NULL)
        MPI_Op_free(&exchange->join);
    if (exchange->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&exchange->type);
}

table_status exchange_rows(const struct together *all, uint64_t rows, uint64_t *first) {
    uint64_t before = 0;
    const int code = MPI_Exscan(&rows, &before, 1, MPI_UINT64_T, MPI_SUM, all->comm);
    *first = all->rank == 0 ? 0 : before; /* MPI leaves that of rank 0 undefined */
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Exscan()", code);
}

table_status exchange_before(const struct together *all, const struct exchange *exchange, const void *range,
                             void *before) {
    const int code = MPI_Exscan(range, before, 1, exchange->type, exchange->join, all->comm);
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Exscan()", code);
}

table_status exchange_whole(const struct together *all, const struct exchange *exchange, const void *range,
                            void *whole) {
    const int code = MPI_Allreduce(range, whole, 1, exchange->type, exchange->join, all->comm);
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Allreduce()", code);
}

table_status exchange_end(const struct together *all, const struct exchange *exchange, void *end) {
    const int code = MPI_Bcast(end, 1, exchange->type, all->ranks - 1, all->comm);
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Bcast()", code);
}
