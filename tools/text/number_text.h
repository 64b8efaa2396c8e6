/* Numbers as text, in no locale, both ways exactly: writes the shortest text that is read as the same bits, and reads
 * the nearest number that there is. The C++ library does it. */
#ifndef NUMBER_TEXT_H
#define NUMBER_TEXT_H

#include <stdbool.h>

#include <tuplescan/table.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NUMBER_TEXT = 40 }; /* bytes that a number has at most */

enum number_text_result { NUMBER_TEXT_READ, NUMBER_TEXT_NONE, NUMBER_TEXT_TOO_LARGE };

/* Reads a number from *at on, and moves *at after it; a number too large is skipped, too. */
enum number_text_result number_text_read(table_type type, const char **at, const char *end, void *value);

/* Returns the end of the text. */
char *number_text_write(table_type type, const void *value, char to[NUMBER_TEXT]);

/* Whether there is such a library. */
extern const bool number_text_is_here;

#ifdef __cplusplus
}
#endif

#endif
