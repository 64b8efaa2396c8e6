/* What a field of the first line of a text is, as it stands there, quotes and all. */
#ifndef TEXT_FIELD_H
#define TEXT_FIELD_H

#include <stdbool.h>
#include <stddef.h>

enum text_field {
    TEXT_NOTHING, /* also between quotes, and blanks in these */
    TEXT_NUMBER,  /* also between quotes */
    TEXT_GROUPED, /* a number with marks between groups of three digits, also between quotes, such as 1_000 */
    TEXT_NUMBERS, /* with what might be a delimiter between or beside them */
    TEXT_NAME
};

/* Cuts off the quotes around a field, if there are any; returns whether there were. */
bool text_cut_quotes(const char **from, const char **end);

/* The first of several names, each with its '\0', as --field takes it: without quotes; *names are those after it. NULL
 * where columns have none. */
const char *text_next_name(const char **names, size_t *length);

enum text_field text_field_of(const char *from, const char *end);

/* Whether the field begins with a digit, or with signs or points and a digit: so do numbers, and typing errors. */
bool text_begins_as_number(const char *from, const char *end);

/* Whether the field has nothing, also between quotes, or one of the words for that, such as NA. */
bool text_is_missing(const char *from, const char *end);

#endif
