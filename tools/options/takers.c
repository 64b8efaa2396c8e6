#include "options/takers.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tuplescan/prefix_sum.h>

#include "message.h"
#include "number.h"
#include "values.h"
#include "words.h"

int take_flag(const char *option, char *text, void *place) {
    (void)option, (void)text;
    *(bool *)place = true;
    return EX_OK;
}

int take_no_flag(const char *option, char *text, void *place) {
    (void)option, (void)text;
    *(bool *)place = false;
    return EX_OK;
}

int ignore_option(const char *option, char *text, void *place) {
    (void)option, (void)text, (void)place;
    return EX_OK;
}

int take_text(const char *option, char *text, void *place) {
    (void)option;
    *(const char **)place = text;
    return EX_OK;
}

static int take_size_from(const char *option, const char *text, size_t least, size_t *size) {
    uint64_t number;
    if (!parse_number(text, SIZE_MAX, &number) || number < least)
        return fail(EX_USAGE, "--%s %s: not a number from %zu on, such as 1000, 64K, 2^20 or 1e6", option, text, least);
    *size = (size_t)number;
    return EX_OK;
}

int take_size(const char *option, char *text, void *place) { return take_size_from(option, text, 1, place); }

int take_size_or_0(const char *option, char *text, void *place) { return take_size_from(option, text, 0, place); }

static int take_number_to(const char *option, const char *text, uint64_t most, uint64_t *number) {
    if (!parse_number(text, most, number))
        return fail(EX_USAGE, "--%s %s: not a number from 0 to %llu", option, text, (unsigned long long)most);
    return EX_OK;
}

int take_number(const char *option, char *text, void *place) { return take_number_to(option, text, UINT64_MAX, place); }

int take_unsigned(const char *option, char *text, void *place) {
    uint64_t number = 0;
    const int code = take_number_to(option, text, UINT_MAX, &number);
    *(unsigned *)place = (unsigned)number;
    return code;
}

int take_type(const char *option, char *text, void *place) {
    const table_type type = type_of_name(text);
    if (type == 0 && *text == '>')
        return fail(EX_USAGE, "--%s %s: not a type; big-endian values are neither read nor written", option, text);
    if (type == 0)
        return fail(EX_USAGE,
                    "--%s %s: not a type; there are i8 to i64, u8 to u64, f16, bf16, f32, f64 and bool, also as NumPy "
                    "writes them "
                    "(uint8, <f4)",
                    option, text);
    *(table_type *)place = type;
    return EX_OK;
}

int take_input(const char *option, char *text, void *place) { return take_text(option, text, place); }

/* One of the words; `what` they are: for the message. *place: its number. */
static int take_one_of(const char *option, const char *text, const char *const *words, const char *what, int *place) {
    *place = word_place(words, text);
    return *place >= 0 ? EX_OK : fail(EX_USAGE, "--%s %s: not %s", option, text, what);
}

int take_format(const char *option, char *text, void *place) {
    int word;
    *(const char **)place = text;
    return take_one_of(option, text, format_words, "a format; there are npy, raw, csv, tsv and text", &word);
}

int take_backend(const char *option, char *text, void *place) {
    int word;
    const int code = take_one_of(option, text, backend_words, "a backend; there are auto, cpu and cuda", &word);
    *(table_backend *)place = (table_backend)word;
    return code;
}

int take_operation(const char *option, char *text, void *place) {
    int word;
    const int code =
        take_one_of(option, text, operation_words, "an operation; there are sum, max, min and product", &word);
    *(table_operation *)place = (table_operation)word;
    return code;
}

/* A:B, A: or :B. */
int take_row_range(const char *option, char *text, void *place) {
    struct option_rows *rows = place;
    const char *colon = strchr(text, ':');
    char left[24];
    uint64_t a = 0, b = SIZE_MAX;
    if (!colon || colon - text >= (ptrdiff_t)sizeof left)
        return fail(EX_USAGE, "--%s %s: not A:B", option, text);
    memcpy(left, text, (size_t)(colon - text));
    left[colon - text] = '\0';
    if ((*left && !parse_number(left, SIZE_MAX, &a)) || (colon[1] && !parse_number(colon + 1, SIZE_MAX, &b)))
        return fail(EX_USAGE, "--%s %s: not A:B with two numbers of rows", option, text);
    if (a > b)
        return fail(EX_USAGE, "--%s %s: A is greater than B", option, text);
    *rows = (struct option_rows){(size_t)a, (size_t)b};
    return EX_OK;
}

/* A:B, two numbers of any kind; what they may be is for the library to say. */
int take_range(const char *option, char *text, void *place) {
    struct option_range *range = place;
    char *end = NULL, *last = NULL;
    range->low = strtod(text, &end);
    if (end == text || *end != ':')
        return fail(EX_USAGE, "--%s %s: not A:B", option, text);
    range->high = strtod(end + 1, &last);
    if (last == end + 1 || *last)
        return fail(EX_USAGE, "--%s %s: not A:B with two numbers", option, text);
    if (is_rounded_integer(text, range->low) || is_rounded_integer(end + 1, range->high))
        return fail(EX_USAGE, "--%s %s: the ends of a range are doubles, of which the nearest are %.0f and %.0f",
                    option, text, range->low, range->high);
    return EX_OK;
}

int take_integer(const char *option, char *text, void *place) {
    if (!parse_integer(text, place))
        return fail(EX_USAGE, "--%s %s: not an integer from -2^63 to 2^63 - 1", option, text);
    return EX_OK;
}

int take_word(const char *option, char *word, void *place) {
    struct option_words *words = place;
    if (words->count == BY_MOST)
        return fail(EX_USAGE, "--%s %s: is one more than the %d that are possible", option, word, BY_MOST);
    words->list[words->count++] = word;
    return EX_OK;
}

int take_delimiter(const char *option, char *text, void *place) {
    const bool is_named = strcmp(text, "\\t") == 0;
    const char delimiter = is_named ? '\t' : text[0];
    if (!delimiter || (text[1] != '\0' && !is_named) || strchr("0123456789+-.eEinfa\"\r\n ", delimiter))
        return fail(EX_USAGE, "--%s '%s': not one character that is in no number, such as ';' or \\t", option, text);
    *(char *)place = delimiter;
    return EX_OK;
}

/* The words are cut out of the text. */
int take_words(const char *option, char *text, void *place) {
    int code = EX_OK;
    for (char *word = text, *rest; word && code == EX_OK; word = rest) {
        rest = strchr(word, ',');
        if (rest)
            *rest++ = '\0';
        if (*word == '\0')
            return fail(EX_USAGE, "--%s: an empty name; there are names with commas between them", option);
        code = take_word(option, word, place);
    }
    return code;
}

static int take_all_devices(size_t there, struct option_devices *devices) {
    if (there == 0)
        return fail(EX_UNAVAILABLE, "--devices all: %s", table_cuda_unavailable());
    for (size_t i = 0; i < there && i < DEVICES_MOST; i++)
        devices->numbers[devices->count++] = (int)i;
    return EX_OK;
}

int take_devices(const char *option, char *text, void *place) {
    struct option_devices *devices = place;
    (void)option;
    const size_t there = table_devices(NULL, 0) - 1;
    devices->count = 0;
    if (strcmp(text, "all") == 0)
        return take_all_devices(there, devices);
    for (const char *at = text;; at++) {
        char *end;
        const unsigned long number = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && *end != ',') || devices->count == DEVICES_MOST)
            return fail(EX_USAGE, "--devices %s: not all, nor numbers such as 0,1, at most %d", text, DEVICES_MOST);
        if (number >= there)
            return fail(EX_UNAVAILABLE, "--devices %s: there is no CUDA device %lu%s%s", text, number,
                        there ? "" : ": ", there ? "" : table_cuda_unavailable());
        devices->numbers[devices->count++] = (int)number;
        at = end;
        if (!*at)
            return EX_OK;
    }
}
