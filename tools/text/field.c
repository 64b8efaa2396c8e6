#include "text/field.h"

#include "text/number_text.h"

static bool may_delimit(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '|'; }

static const char *skip_delimiters(const char *at, const char *end) {
    while (at < end && may_delimit(*at))
        at++;
    return at;
}

enum text_field text_field_of(const char *from, const char *end) {
    char value[sizeof(double)];
    const bool quoted = end - from >= 2 && *from == '"' && end[-1] == '"';
    from += quoted;
    end -= quoted;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (from == end)
        return TEXT_NOTHING;
    const char *at = from;
    if (number_text_read(TABLE_F64, &at, end, value) != NUMBER_TEXT_NONE && at == end)
        return TEXT_NUMBER;
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
