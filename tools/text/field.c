#include "text/field.h"

#include <string.h>
#include <strings.h>

#include "text/number_text.h"

static bool may_delimit(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '|'; }

static const char *skip_delimiters(const char *at, const char *end) {
    while (at < end && may_delimit(*at))
        at++;
    return at;
}

bool text_cut_quotes(const char **from, const char **end) {
    const bool quoted = *end - *from >= 2 && **from == '"' && (*end)[-1] == '"';
    *from += quoted;
    *end -= quoted;
    return quoted;
}

const char *text_next_name(const char **names, size_t *length) {
    const char *name = *names;
    *length = 0;
    if (!name)
        return NULL;
    const char *end = name + strlen(name);
    *names = end + 1;
    text_cut_quotes(&name, &end);
    *length = (size_t)(end - name);
    return name;
}

/* Cuts off quotes, and blanks within them. Whether there were quotes. */
static bool trim(const char **from, const char **end) {
    const bool quoted = text_cut_quotes(from, end);
    while (*from < *end && (**from == ' ' || **from == '\t'))
        (*from)++;
    while (*end > *from && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
        (*end)--;
    return quoted;
}

bool text_is_missing(const char *from, const char *end) {
    static const char *const words[] = {"NA", "N/A", "<NA>", "#N/A", "#NA", "null", "none"};
    trim(&from, &end);
    const size_t length = (size_t)(end - from);
    bool is_missing = length == 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !is_missing; i++)
        is_missing = strlen(words[i]) == length && strncasecmp(words[i], from, length) == 0;
    return is_missing;
}

bool text_begins_as_number(const char *from, const char *end) {
    while (from < end && (*from == '+' || *from == '-' || *from == '.'))
        from++;
    return from < end && *from >= '0' && *from <= '9';
}

/* Groups of three digits after up to three, each with the mark before it, and perhaps a point and more digits. */
static bool is_grouped(const char *at, const char *end) {
    static const char digits[] = "0123456789";
    char number[32] = "";
    at += at < end && (*at == '-' || *at == '+');
    if (end - at >= (ptrdiff_t)sizeof number)
        return false;
    memcpy(number, at, (size_t)(end - at));
    const char *c = number + strspn(number, digits), mark = *c;
    if (c == number || c - number > 3 || mark == '\0' || !strchr("_',", mark))
        return false;
    while (*c == mark && strspn(c + 1, digits) == 3)
        c += 4;
    c += *c == '.' ? 1 + strspn(c + 1, digits) : 0;
    return *c == '\0';
}

enum text_field text_field_of(const char *from, const char *end) {
    char value[sizeof(double)];
    const bool quoted = trim(&from, &end);
    if (from == end)
        return TEXT_NOTHING;
    const char *at = from;
    if (number_text_read(TABLE_F64, &at, end, value) != NUMBER_TEXT_NONE && at == end)
        return TEXT_NUMBER;
    if (is_grouped(from, end))
        return TEXT_GROUPED;
    at = skip_delimiters(from, end);
    if (quoted || at == end)
        return TEXT_NAME;
    while (at < end) {
        const char *after = number_text_read(TABLE_F64, &at, end, value) == NUMBER_TEXT_NONE ? NULL : at;
        at = skip_delimiters(at, end);
        if (!after || (at == after && at < end))
            return TEXT_NAME;
    }
    return TEXT_NUMBERS;
}
