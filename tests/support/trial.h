/* A table that is summed as one sum, whole or in pieces, in any form of call: its values, what its sums are, and how
 * far it has come. Rows are counted in the order of the sum, from the last one of the table on when it is reversed. */
#ifndef TRIAL_H
#define TRIAL_H

#include "random.h"
#include "reference.h"
#include "tables.h"
#include "ways.h"

enum { TRIAL_COLUMNS_MOST = 1000 };

struct trial {
    const struct way *way;
    struct random random;
    table_operation operation;              /* TABLE_RECURRENCE, too */
    table_type in_type, out_type, sum_type; /* the last one is what states and carries are kept in */
    size_t rows, columns;
    bool reverse, exclusive, offsets, skip_nan, with_state, has_start, in_tables; /* in_tables: as a batch */
    bool keeps_f64;            /* results of f32, rounded once from f64 */
    bool same_carry, in_lines; /* both carries are one row; rows are whole vectors apart, and none begins beside one */
    uint64_t before;           /* rows that are summed already, or as good as that: in the tree's order, with a state */
    const char *form;          /* the form of the call in hand */
    size_t done, piece;        /* rows of the table that are counted before the piece, and in it */
    char *values;              /* rows of in_type, side by side, in the order of the table */
    char *start;               /* the sums before the table's first row, or NULL */
    char *nothing;             /* or else this row of what no rows have */
    char *begun, *state;       /* what the sum begins with; and the state of the sum in hand, on the host */
    size_t state_bytes;
    struct reference expected; /* `kept`; of sums without a state totals and seeds; of no maps and with no rows before,
                                * skipped and first_overflow */

    /* A recurrence has coefficients for each row, for each column, or for both, as the flags say. They lie side by side
     * in the order of the table, and shifted ones have a row before them. */
    table_type a_type;
    bool a_by_row, a_by_column, shifted;
    char *a, *first;
};

/* Recurrences and products of floats are made of maps, and have a reference of their own. trial_open_map() makes their
 * values, coefficients and results. */
bool trial_is_map(const struct trial *t);
void trial_open_map(struct trial *t);

/* A row of maps such as runs of rows leave; the maps of a start are known values. */
void trial_pretend_maps(struct trial *t, bool is_start, char *row);

/* The coefficients of the rows counted from `first` on, of so many columns; and a row's, one for each column of the
 * table, or shifted the row before's. */
size_t trial_a_columns(const struct trial *t);
const char *trial_a(const struct trial *t, size_t first, size_t rows);
void trial_a_of_row(const struct trial *t, size_t row, bool shifted, char *to);

/* Makes values, a start, a state, and the sums: by the reference, or where rows were summed before, by a state that is
 * joined row by row. */
void trial_open(struct trial *t, enum pattern pattern);
void trial_close(struct trial *t);

/* Fail the test, saying all that is needed to have the same trial again. */
void trial_fail(const struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trial_require(const struct trial *t, bool condition, const char *what);
void trial_ok(const struct trial *t, table_status status);

/* The units of the table. */
static inline size_t trial_units(const struct trial *t) { return (t->rows + REFERENCE_UNIT - 1) / REFERENCE_UNIT; }

/* A row of sums of the `rows` rows that are counted first. */
const char *trial_sums(const struct trial *t, size_t rows);

/* The `rows` rows of the table that are counted from row `first` on, in the order of the table. */
const char *trial_values(const struct trial *t, size_t first, size_t rows);

/* Their results, packed; one row `more`: the offsets' own. To be freed. */
char *trial_results(const struct trial *t, size_t first, size_t rows, bool more);

/* The table holds these results, and nothing beside it was written. */
void trial_require_results(const struct trial *t, struct table *out, size_t first, size_t rows, bool more);
void trial_require_image(const struct trial *t, const struct table *table, const char *name);
void trial_require_row(const struct trial *t, const void *expected, const void *found, const char *name);

/* Puts the sum back to where it begins. */
void trial_begin(struct trial *t);

/* Memory beside the tables of a call: the state, a start, a carry out, and the word of the first overflow or of NaN. */
struct sides {
    struct block state, start, carry_out, word, first;
};
void *trial_open_side(const struct trial *t, struct block *block, const struct memory *memory, size_t bytes,
                      const void *from);

/* Options of a call for the piece that point to nothing. */
table_scan_options trial_plain_options(struct trial *t);

/* Options of a call for the piece, with all that they point to in `memory`, but a row of coefficients in the memory of
 * the tables, to which it belongs. always_starts: the start is given also to a
 * sum that has begun, which does not look at it in a stream. */
table_scan_options trial_options(struct trial *t, const struct memory *memory, const struct memory *tables,
                                 bool always_starts, struct sides *sides);

/* Requires what the call has left beside the tables, and takes the state back. */
void trial_close_sides(struct trial *t, const table_scan_options *options, struct sides *sides);

#endif
