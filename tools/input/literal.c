#include "input/literal.h"

#include <string.h>

static void skip_space(struct literal *literal) {
    while (literal->at < literal->end && memchr(" \t\r\n", *literal->at, 4))
        literal->at++;
}

bool literal_take(struct literal *literal, char wanted) {
    skip_space(literal);
    if (literal->at == literal->end || *literal->at != wanted)
        return false;
    literal->at++;
    return true;
}

bool literal_word(struct literal *literal, const char *word) {
    size_t length = strlen(word);
    skip_space(literal);
    if ((size_t)(literal->end - literal->at) < length || memcmp(literal->at, word, length) != 0)
        return false;
    literal->at += length;
    return true;
}

bool literal_string(struct literal *literal, struct literal_text *text) {
    skip_space(literal);
    if (literal->at == literal->end || (*literal->at != '\'' && *literal->at != '"'))
        return false;
    char quote = *literal->at;
    for (const char *c = literal->at + 1; c < literal->end && *c != '\n' && *c != '\0'; c++) {
        if (*c == quote) {
            *text = (struct literal_text){literal->at + 1, (size_t)(c - literal->at - 1)};
            literal->at = c + 1;
            return true;
        }
        if (*c == '\\' && c + 1 < literal->end)
            c++;
    }
    return false;
}

bool literal_at_end(struct literal *literal) {
    skip_space(literal);
    return literal->at == literal->end;
}

enum literal_number literal_integer(struct literal *literal, size_t *number) {
    size_t value = 0;
    skip_space(literal);
    const char *c = literal->at;
    if (c < literal->end && *c == '-')
        return NUMBER_NEGATIVE;
    const char *first = c;
    for (; c < literal->end && *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(value, (size_t)10, &value) ||
            __builtin_add_overflow(value, (size_t)(*c - '0'), &value))
            return NUMBER_HUGE;
    if (c == first || (*first == '0' && c - first > 1))
        return NUMBER_NONE;
    if (c < literal->end && *c == 'L')
        c++;
    literal->at = c;
    *number = value;
    return NUMBER_OK;
}

bool literal_equals(struct literal_text text, const char *word) {
    return text.length == strlen(word) && memcmp(text.start, word, text.length) == 0;
}
