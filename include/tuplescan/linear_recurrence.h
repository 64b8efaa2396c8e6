/* Linear recurrences down the columns of a table, h(i, j) = a(i, j) h(i - 1, j) + b(i, j): discounted returns,
 * exponential moving averages, gated networks, one-pole filters.
 *
 * The order of operations
 * -----------------------
 * It is that of the running sums of tuplescan/prefix_sum.h, with maps in the place of values: the results are the same
 * bits on any backend, with any threads, and however the table is cut. Row i is the map h -> a(i) h + b(i). Rows that
 * follow each other are one map, too, h -> (A + e) h + B: A + e is the product of their a in two floats, as one float
 * would gather the roundings of all multiplications (Dekker's two-float arithmetic, 1971; the tree is Sklansky's). With
 * fma(x, y, z) = x y + z, rounded once, and everything else rounded once, too:
 *
 *   a row               A = a, e = 0, B = b
 *   a map applied to h  fma(A, h, fma(e, h, B))
 *   map 2 after map 1   A = A2 A1
 *                       e = fma(e2, A1, fma(A2, e1, fma(A2, A1, -A))), a -0.0 counting as +0.0
 *                       B = map 2 applied to B1
 *   the map of a unit, or of a block of units
 *                       A and e become A' = A + e and e - (A' - A)
 *
 *   P(i) and T are as in prefix_sum.h: in a right half, P(i) is P_right(i) after T(left half).
 *   seed(u) = the T of the blocks of the binary digits of u, applied to the start, the largest block first
 *   h(i)    = P(i) applied to seed(unit of i)
 *
 * With a = 1 these are the bits of the running sums of b. Where a is near 1 the results are closer to the exact ones
 * than those of a loop: docs/recurrences.md has errors, beside what a loop and other trees have.
 *
 * Resets: a row whose a is 0 (of either sign) lets nothing of the rows before it through, NaN and infinity included: a
 * map with such a row takes a value that is not finite as 0, and its A and e are +0.0. The sign of a zero may come
 * through: 0 times -1 is -0.0. A product of a that is 0 because it is too small for the type is no reset.
 *
 * Not finite: where |a| > 1, the product of the a of many rows may leave the type. Such an A is infinite and its e 0,
 * and applied to exactly 0 it gives B. So a result can be infinite, or NaN, though the loop's is finite: when h is very
 * small and all a together very large. e is also left out where it would meet a value that is not finite. A NaN or
 * infinity in b is in all results from its row on to the next reset, as in a loop.
 *
 * Tables that are larger than memory: table_stream() with coefficients (stream.h).
 *
 * A processor without fma takes that of the C library, which is exact, too, and many times slower. */
#ifndef TUPLESCAN_LINEAR_RECURRENCE_H
#define TUPLESCAN_LINEAR_RECURRENCE_H

#include <tuplescan/prefix_sum.h>

TABLE_BEGIN

/* h(i, j) = a(i, j) h(i - 1, j) + b(i, j), where h(-1, j) is options->carry_in, or 0.
 *
 * b, h: tables of the same rows and columns. b is f32 or f64, and h is of that type; or b is f16 or bf16, and h of that
 * type or f32: the recurrence is kept as f32 then, and each result is rounded once. h may be b (same data, type,
 * stride); otherwise no element of one may lie in the other, as for table_prefix_sum(). NULL for h: no results are
 * written, only carry_out and the state.
 *
 * a: the coefficients, of b's type, or of the type that the recurrence is kept in: f32 where b is f16 or bf16, and f64
 *    where options->kept says so. Its shape says which they are:
 *   rows 1, columns 1       one number
 *   rows 1, b's columns     a row: one for each column
 *   b's rows, columns 1     a column: one for each row; its stride leads from one to the next (0 means 1)
 *   b's rows and columns    a table
 * Anything else is a SHAPE error. No element of h may lie in a (OVERLAP).
 *
 * options: as for table_prefix_sum(), with these differences:
 *   exclusive     row i is h(i - 1): the carry in for row 0
 *   carry_in, carry_out  h before the first row and of the last row, in the type that the recurrence is kept in
 *   reverse       h(i) = a(i) h(i + 1) + b(i), from the last row up; carry_in is h after the last row
 *   state         goes on after any row, with the bits of the whole. It is a state of TABLE_RECURRENCE
 *                 (table_state_bytes_of()): one of sums is a STATE error.
 *   skip_nan      a NaN in b is taken as -0.0, which adds nothing; a stays, and NaN in it stays NaN
 *   tables        several recurrences at once; coefficient_step leads from the a of one to that of the next (0: all
 *                 have the same)
 *   shifted_coefficients  row i has the coefficients of row i - 1; with `reverse`, of row i + 1. That is how gradients
 *                 go back through a recurrence: dh(i) = g(i) + a(i + 1) dh(i + 1). The coefficients of the row where
 *                 the recurrence begins are first_coefficients: the row of a that is beyond this piece of the table
 *                 (`columns` values of a's type side by side, or one where a has one column, for each of `tables`).
 *                 NULL: zeros, with which no carry_in and no state that has begun go together (ARGUMENT; of a state the
 *                 stream form on CUDA does not know it, and lets nothing through).
 *   offsets, first_overflow, operation  are refused (ARGUMENT)
 *   strategy      FUSED is taken whatever is asked for
 *
 * On CUDA: one launch for any number of tables, three with a state, in the stream form without waiting or allocating.
 * a, b, h and first_coefficients are memory of one device; or all of the host, and then they go through the device in
 * pieces if options->backend names CUDA: AUTO takes them to the CPU. A state goes on after any row, in a captured graph
 * too.
 *
 * Errors: as table_prefix_sum(), found before anything is written. */
TABLE_API table_status table_linear_recurrence(const table_view *a, const table_view *b, const table_view *h,
                                               const table_scan_options *options);

/* Bytes of workspace of table_linear_recurrence_async() for these views and options, which may be 0. */
TABLE_API table_status table_linear_recurrence_workspace(const table_view *a, const table_view *b, const table_view *h,
                                                         const table_scan_options *options, size_t *bytes);

/* The stream form, in options->workspace: as table_prefix_sum_async(). h is a table. */
TABLE_API table_status table_linear_recurrence_async(const table_view *a, const table_view *b, const table_view *h,
                                                     const table_scan_options *options);

TABLE_END

#endif
