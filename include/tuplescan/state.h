/* A sum that goes on: a state in memory of the caller, which each call of table_prefix_sum() reads and leaves after
 * its last row, so that the next call goes on from there. A table cut anywhere, at any rows, and summed piece by piece,
 * on any mixture of backends, strategies and threads, has the bits of the table summed whole, floats included.
 *
 * Memory
 * ------
 * A state is table_state_bytes() bytes aligned to TABLE_STATE_ALIGNMENT, for sums of one type (the type of the output)
 * and one number of columns. Zeroed, it is a sum that has not begun: its first call gives it type and columns, and the
 * row that it starts with (options->carry_in, or zeros). It holds no pointers, and may be copied byte by byte, also
 * between host and device and between machines: it is little-endian. No two calls may use one state at a time. Its
 * saved form (table_state_save()) is the one to keep for long; docs/formats.md describes its bytes.
 *
 * The calls of this header work on states in host memory; a state in device memory is copied to the host first
 * (BACKEND). options->state of table_prefix_sum() may lie on either side.
 *
 * What it holds
 * -------------
 * How many rows were summed, the start, and totals of runs of these rows whose lengths are the binary digits of that
 * number: what the tree of tuplescan/prefix_sum.h goes on from. Of integers, and of maxima and minima: the start and
 * the sum so far. A state is of one operation, and of no other (STATE). All else is zero, so that the same rows summed,
 * however they were cut, leave the same bytes (but for the bits of NaNs). That integers overflowed is not kept: a later
 * call goes on from the wrapped sums, and tells overflows of its own rows.
 *
 * Ranges
 * ------
 * A range of rows from the middle of a table can be summed before the rows above it are: table_state_begin() makes an
 * empty range that begins at any row, table_column_totals() feeds it, and table_state_join() appends a range to the one
 * just above it. Joins may be made in any order: the state of the whole has the same bytes. That is what ranks and
 * devices exchange: where each has its own rows, the state of all rows before them is what table_prefix_sum() of these
 * rows goes on from. A range that begins beyond row 0 has no running sums of its own, since they are not known.
 *
 * Errors
 * ------
 * ARGUMENT (a null pointer), ALIGNMENT, TYPE, TOO_LARGE (bytes that do not fit in size_t; rows
 * beyond 2^63), BACKEND (device memory), OVERLAP, and STATE: a state that is damaged, of other sums, or does not fit
 * the call; table_error_detail() names what is wrong in it. A call that fails changes nothing.
 *
 * No state makes a call read or write beyond table_state_bytes(), whatever its other bytes are, for its type and
 * columns. They are known to table_prefix_sum() and to table_state_check(); the calls that are not told believe the
 * state: one that comes from elsewhere is loaded or checked first. */
#ifndef TUPLESCAN_STATE_H
#define TUPLESCAN_STATE_H

#include <tuplescan/table.h>

TABLE_BEGIN

#define TABLE_STATE_ALIGNMENT 16

/* The bytes of a state of `columns` results of sums, or of any operation, kept or saved. type: one that these are kept
 * in (table_kept_type()). They are 64, and 2 rows of values; or 131 rows of sums of floats, or of four values a column
 * of recurrences and products of floats. */
TABLE_API table_status table_state_bytes(table_type type, size_t columns, size_t *bytes);
TABLE_API table_status table_state_bytes_of(table_operation operation, table_type type, size_t columns, size_t *bytes);

/* Makes `state`, whatever it held, an empty range of sums that begins at row first_row of all, at most 2^63. Zeroed
 * memory need not be begun. */
TABLE_API table_status table_state_begin(void *state, table_type type, size_t columns, uint64_t first_row);
TABLE_API table_status table_state_begin_of(void *state, table_operation operation, table_type type, size_t columns,
                                            uint64_t first_row);

/* What the header says. */
typedef struct table_state_facts {
    unsigned version; /* 1: a state; 2: a saved form, or 1 of earlier versions; 0: not begun, and all else is 0 too */
    table_type type;
    size_t columns;
    uint64_t first_row;        /* where the range begins; 0 for a sum that began at its beginning */
    uint64_t rows;             /* summed since then */
    table_operation operation; /* what they were joined by */
    uint32_t unused;           /* 0 */
    uint64_t reserved[TABLE_RESERVED_WORDS - 1];
} table_state_facts;

/* Looks at the header of `bytes` bytes, of any alignment, that are a state, kept or saved, and fills in the facts.
 * STATE if they are none, or of another version, or their number does not fit the header. */
TABLE_API table_status table_state_describe(const void *state, size_t bytes, table_state_facts *facts);

/* Whether `bytes` bytes are a whole state, not a saved form, of `columns` sums of `type`: the header, their number, and
 * that what means nothing is zero. type 0: any type; columns 0: any number. A sum that has not begun passes. */
TABLE_API table_status table_state_check(const void *state, size_t bytes, table_type type, size_t columns);

/* Writes the saved form of a state: as many bytes, at `to`, of any alignment, with the CRC32C of all of them. bytes:
 * the room at `to`, at least those of the state. STATE if the sum has not begun. `to` may be the state itself, which is
 * then no state any more until it is loaded. */
TABLE_API table_status table_state_save(const void *state, void *to, size_t bytes);

/* Makes a state, of `bytes` bytes too, of a saved form of `bytes` bytes, of any alignment, also of one that an earlier
 * version saved. STATE if any byte of it is damaged, missing or too many. The two may be the same memory, and do not
 * overlap otherwise. */
TABLE_API table_status table_state_load(const void *from, size_t bytes, void *state);

/* 1 if both are states of the same rows with the same bytes; 0 if not, or if one of them is none. */
TABLE_API int table_state_equal(const void *a, const void *b);

/* The rows summed since the first one of the range; 0 for a sum that has not begun. */
TABLE_API table_status table_state_rows(const void *state, uint64_t *rows);

/* The running sums through the last row: what table_prefix_sum() left in carry_out, or the start when there were no
 * rows. row: `columns` values of the state's type, side by side, aligned to it, host memory. STATE if the sum has not
 * begun, or is of a range that begins beyond row 0. */
TABLE_API table_status table_state_sums(const void *state, void *row);

/* left = the rows of left followed by the rows of right. Both have begun, right where left ends, and right has no start
 * but zeros (STATE). right is not changed. Associative and exact: neither the bits nor the bytes depend on the order of
 * joins. */
TABLE_API table_status table_state_join(void *left, const void *right);

TABLE_END

#endif
