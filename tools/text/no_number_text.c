/* Where there was no C++ library that reads and writes floats when this was built. */
#include <stdbool.h>

#include "text/number_text.h"

const bool number_text_is_here = false;

enum number_text_result number_text_read(table_type type, const char **at, const char *end, void *value) {
    (void)type;
    (void)at;
    (void)end;
    (void)value;
    return NUMBER_TEXT_NONE;
}

char *number_text_write(table_type type, const void *value, char to[NUMBER_TEXT]) {
    (void)type;
    (void)value;
    return to;
}
