/* The serial reference: the definition in tuplescan/prefix_sum.h written down as directly as possible. It is slow, sums
 * each column by one thread, and shares no code with the library, so that the two are not wrong together. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>

#include <tuplescan/table.h>

/* Rows of a unit. */
enum { REFERENCE_UNIT = 512 };

/* A request to the reference, and where it puts its results: rows of `columns` values, side by side. Any pointer may be
 * NULL. */
struct reference {
    table_operation operation; /* of products, integers alone; of other than sums no `totals` and `seeds` are wanted */
    table_type type;           /* of the results; all but `sums` is of reference_kept_type(operation, type) */
    bool reverse, skip_nan;    /* as the options; units are counted from the last row when reversed */
    void *sums;                /* rows x columns, in the order of the table's rows */
    void *kept;                /* rows x columns, in that order: the inclusive results before they are rounded */
    void *totals;              /* units x columns: T of each unit */
    void *seeds;               /* (units + 1) x columns: the seed of each unit, and the carry out */
    void *carry_out;           /* 1 x columns */
    uint64_t skipped;          /* always set */
    uint64_t first_overflow;   /* always set; UINT64_MAX for none, and for floats */
};

/* What results of `type` are kept in. */
table_type reference_kept_type(table_operation operation, table_type type);

/* Every element type as one of two: floats in a double (a float fits exactly), integers in 128 bits (any product of two
 * values of 64 bits fits, but for its sign). The other one of a number is 0. */
__extension__ typedef __int128 exact_integer;
struct number {
    double real;
    exact_integer whole;
};
struct number reference_load(const void *values, ptrdiff_t index, table_type type, bool real);

/* `count` kept values as results of `type`. */
void reference_round(table_type kept, const void *values, table_type type, void *results, size_t count);

/* `in` is a table in host memory, its stride may be 0; carry_in is a row of kept values or NULL. */
void reference_prefix_sum(const table_view *in, const void *carry_in, bool exclusive, struct reference *result);

/* Stage 2 by itself, of a seeds table of tuplescan/stages.h with `rows` rows. */
void reference_stage2(void *seeds, size_t rows, size_t columns, table_type type);

#endif
