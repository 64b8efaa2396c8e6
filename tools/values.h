/* Single values and rows of a table, by type. */
#ifndef VALUES_H
#define VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include <tuplescan/table.h>

#include "types.h"

enum { VALUE_TEXT = 40 };

/* The value with all its digits: reading it back gives the same bits. */
void value_text(table_type type, const void *value, char text[VALUE_TEXT]);

bool value_is_finite(table_type type, const void *value);

/* The first of `count` values that is not finite, or `count`. Integers are finite. */
size_t first_not_finite(table_type type, const void *values, size_t count);

/* The type that tables of `in` are summed into when no option says otherwise, as NumPy does it: integers narrower than
 * 64 bits and bool into u64 or i64, everything else into `in` itself. */
table_type default_sum_type(table_type in);

/* "u32, u64": the types that `in` can be summed into. Static text, until the next call. */
const char *sum_types_text(table_type in);

/* f32, or as NumPy writes it: float32, <f4. 0 when there is no type of that name. */
table_type type_of_name(const char *name);

/* Rows of `count` values: to[j] = from[j] as another type (a pair of table_types_supported()), += and -= where integers
 * wrap, and the first j where they differ, `count` when they do not. Floats are the same when their bits are, or when
 * both are NaN. */
void row_convert(table_type from_type, const void *from, table_type to_type, void *to, size_t count);
void row_round(table_type type, const void *sums, void *results, size_t count); /* sums to results of `type` */
size_t row_skip_nan(table_type type, void *values, size_t count); /* makes NaN -0.0, and returns how many there were */
void row_add(table_type type, void *to, const void *left, const void *right, size_t count);
void row_subtract(table_type type, void *to, const void *left, const void *right, size_t count);
size_t row_difference(table_type type, const void *left, const void *right, size_t count);

/* Copies `count` values of `bytes` bytes; steps are bytes from one value to the next. */
void values_move(char *to, size_t to_step, const char *from, size_t from_step, size_t bytes, size_t count);

/* Two rows of `count` running sums, `later` further down in the table: the first j where integer sums have left their
 * type on the way, as far as their two values tell (always, from one row to the next one), and `count` where none has.
 */
size_t row_overflow(table_type type, const void *earlier, const void *later, size_t count);

#endif
