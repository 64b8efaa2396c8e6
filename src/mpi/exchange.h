/* How ranks tell each other the states of their rows. */
#ifndef MPI_EXCHANGE_H
#define MPI_EXCHANGE_H

#include "agree.h"

/* A state as a message: one element of a type that cannot be cut, joined by an operation whose operands keep their
 * order. A state that is zero, since its rank has failed, makes all states that it is joined with zero. */
struct exchange {
    MPI_Datatype type;
    MPI_Op join;
};

/* Whether a state is zero. */
bool state_is_lost(const void *state);

/* Local. exchange_close() is harmless after an open() that failed. */
table_status exchange_open(struct exchange *exchange, size_t state_bytes);
void exchange_close(struct exchange *exchange);

/* *first = the rows of all ranks before this one, `rows` being its own. */
table_status exchange_rows(const struct together *all, uint64_t rows, uint64_t *first);

/* before = the ranges of all ranks before this one, joined; on rank 0 it is left as it is. */
table_status exchange_before(const struct together *all, const struct exchange *exchange, const void *range,
                             void *before);

/* whole = the ranges of all ranks, joined. */
table_status exchange_whole(const struct together *all, const struct exchange *exchange, const void *range,
                            void *whole);

/* The last rank's `end` goes to all. */
table_status exchange_end(const struct together *all, const struct exchange *exchange, void *end);

#endif
