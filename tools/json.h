/* Writes JSON on standard output: one object, members in the order of the calls, no parsing. A key is NULL for an
 * element of an array. Errors of writing are found by main(), which checks standard output at the end. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout.h"

void json_object(const char *key); /* the outermost one has no key */
void json_array(const char *key);
void json_end(void); /* of the object or array begun last; a newline after the outermost */

void json_string(const char *key, const char *text); /* bytes that are no UTF-8 become U+FFFD; NULL becomes null */
void json_text(const char *key, const char *text, size_t length);
void json_size(const char *key, uint64_t number);
void json_number(const char *key, double number); /* null when it is not finite: JSON has no word for it */
void json_bool(const char *key, bool value);
void json_null(const char *key);

/* A place in a table, as an object; null, where it is not `found`. */
void json_place(const char *key, bool found, uint64_t row, uint64_t column);

/* The sizes of a table, as an array `shape`. */
void json_shape(const struct table_layout *layout);

/* A value of a table, with all its digits. */
void json_value(const char *key, table_type type, const void *value);

#endif
