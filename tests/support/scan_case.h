/* One table, its expected running sums, and all the ways there are to have them computed. */
#ifndef SCAN_CASE_H
#define SCAN_CASE_H

#include <tuplescan/prefix_sum.h>

#include "reference.h"
#include "tables.h"
#include "ways.h"

/* What a test asks for. All zero is the plainest case; what is not a shape or type is chosen at random by
 * scan_case_vary(). */
struct scan_case {
    table_operation operation;
    table_type in_type, out_type;
    size_t rows, columns;
    size_t in_gap, out_gap;       /* stride - columns */
    size_t in_offset, out_offset; /* elements from a well aligned address */
    enum edge in_edge, out_edge;
    enum pattern pattern;
    bool in_turned, out_turned; /* rows from the last one to the first; in place both are */
    size_t in_skew, out_skew;   /* bytes from an address that is aligned to the element */
    bool reverse;
    bool skip_nan;
    bool zero_stride; /* where there is no gap, say 0 instead of columns */
    bool in_place;
    bool exclusive;
    bool carry_in, carry_out, same_carry; /* same_carry: both are one row */
    bool check_overflow;
    bool host_rows; /* one-call form: carries and first_overflow in host memory, wherever the tables are */
    unsigned threads;
    uint64_t seed; /* of the values */
};

/* Fills in all but operation, types and shape. */
void scan_case_vary(struct scan_case *scan_case, struct random *random);

/* Computes the case in every strategy of the way, as one call, on a stream, stage by stage, and its totals alone, and
 * fails the running test at the first thing that is not as the reference says. */
void scan_case_check(const struct scan_case *scan_case, const struct way *way);

/* Whether the strategy is there on the way's backend. */
bool way_has_strategy(const struct way *way, table_strategy strategy, table_type in, table_type out);

const char *strategy_name(table_strategy strategy);

#endif
