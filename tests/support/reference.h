/* The serial reference: the definition in tuplescan/prefix_sum.h written down as directly as possible. It is slow, uses
 * one thread, and shares no code with the library, so that the two are not wrong together. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>

#include <tuplescan/table.h>

/* N of the definition. */
size_t reference_chunk_rows(table_type type, size_t columns);

/* Where the reference puts its results: rows of `columns` values of `type`, side by side. Any pointer may be NULL. */
struct reference {
    table_type type;
    void *sums;              /* rows x columns */
    void *totals;            /* chunks x columns: T of each chunk, without any carry */
    void *seeds;             /* (chunks + 1) x columns: S */
    void *carry_out;         /* 1 x columns */
    uint64_t first_overflow; /* always set; UINT64_MAX for none, and for floats */
};

/* `in` is a table in host memory, its stride may be 0; carry_in is a row of result->type or NULL. Returns false when it
 * runs out of memory. */
bool reference_prefix_sum(const table_view *in, const void *carry_in, bool exclusive, struct reference *result);

/* Stage 2 by itself: rows x columns values of `type`, side by side; each row is added onto the one below it. */
void reference_fold(void *rows, size_t row_count, size_t columns, table_type type);

#endif
