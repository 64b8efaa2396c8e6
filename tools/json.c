#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

enum { DEPTH = 16 };

static struct {
    char closing[DEPTH];
    bool has_members[DEPTH];
    unsigned depth;
} writer;

/* Bytes of the UTF-8 character at `text`, 0 if there is none. Overlong forms and surrogates count as none. */
static unsigned utf8_bytes(const unsigned char *text) {
    unsigned bytes = text[0] < 0x80 ? 1 : text[0] >= 0xc2 && text[0] <= 0xdf ? 2 : (text[0] & 0xf0) == 0xe0 ? 3 : 4;
    if (bytes == 4 && (text[0] < 0xf0 || text[0] > 0xf4))
        return 0;
    for (unsigned i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f))
        return 0;
    if ((text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return bytes;
}

static void print_string(const char *text, size_t length) {
    const unsigned char *c = (const unsigned char *)text, *const end = c + length;
    putchar('"');
    while (c < end) {
        unsigned bytes = utf8_bytes(c);
        if (bytes == 0)
            fputs("\\ufffd", stdout);
        else if (*c < 0x20 || *c == 0x7f)
            printf("\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else
            fwrite(c, 1, bytes, stdout);
        c += bytes ? bytes : 1;
    }
    putchar('"');
}

/* The comma before a member, and its key. */
static void begin_member(const char *key) {
    if (writer.depth > 0) {
        if (writer.has_members[writer.depth - 1])
            fputs(", ", stdout);
        writer.has_members[writer.depth - 1] = true;
    }
    if (key) {
        print_string(key, strlen(key));
        fputs(": ", stdout);
    }
}

static void begin_group(const char *key, char opening, char closing) {
    begin_member(key);
    putchar(opening);
    writer.closing[writer.depth] = closing;
    writer.has_members[writer.depth] = false;
    writer.depth++;
}

void json_object(const char *key) { begin_group(key, '{', '}'); }

void json_array(const char *key) { begin_group(key, '[', ']'); }

void json_end(void) {
    putchar(writer.closing[--writer.depth]);
    if (writer.depth == 0)
        putchar('\n');
}

void json_text(const char *key, const char *text, size_t length) {
    begin_member(key);
    print_string(text, length);
}

void json_string(const char *key, const char *text) {
    if (text)
        json_text(key, text, strlen(text));
    else
        json_null(key);
}

void json_size(const char *key, uint64_t number) {
    begin_member(key);
    printf("%llu", (unsigned long long)number);
}

void json_number(const char *key, double number) {
    begin_member(key);
    if (isfinite(number))
        printf("%.9g", number);
    else
        fputs("null", stdout);
}

void json_bool(const char *key, bool value) {
    begin_member(key);
    fputs(value ? "true" : "false", stdout);
}

void json_null(const char *key) {
    begin_member(key);
    fputs("null", stdout);
}

void json_value(const char *key, table_type type, const void *value) {
    char text[VALUE_TEXT];
    value_text(type, value, text);
    begin_member(key);
    fputs(value_is_finite(type, value) ? text : "null", stdout);
}

void json_place(const char *key, bool found, uint64_t row, uint64_t column) {
    if (!found) {
        json_null(key);
        return;
    }
    json_object(key);
    json_size("row", row);
    json_size("column", column);
    json_end();
}

void json_shape(const struct table_layout *layout) {
    json_array("shape");
    for (unsigned i = 0; i < layout->dimensions; i++)
        json_size(NULL, layout->shape[i]);
    json_end();
}
