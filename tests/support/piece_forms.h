/* The forms of call that a piece of a trial may be summed by: each opens tables at random, sums the piece, and requires
 * all that the call has left. */
#ifndef PIECE_FORMS_H
#define PIECE_FORMS_H

#include "trial.h"

/* The tables of rows that are counted from `first` on. With offsets `in` may begin at the second row of `out`. */
struct tables {
    struct table in, out;
    table_view from;
    size_t first, rows;
    bool more, in_place;
};
void open_tables(struct trial *t, struct tables *tables, const struct memory *memory, size_t first, size_t rows,
                 bool more);
void close_tables(struct trial *t, struct tables *tables);

void sum_here(struct trial *t);
void sum_on_cpu(struct trial *t);
void sum_with_host_state(struct trial *t); /* and carries */
void sum_on_stream(struct trial *t);
void feed_totals(struct trial *t);
void join_range(struct trial *t); /* a range by itself, joined to a sum that has begun */
void sum_batch(struct trial *t);  /* columns, or several at a time, as tables */
void sum_stream(struct trial *t); /* piece_stream.c */

/* Columns that lie apart, of which there are not more than so many. */
enum { PIECE_COLUMNS_MOST = 40 };
void sum_columns(struct trial *t);

#endif
