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

void take_flag(const char *option, char *text, void *place) {
    (void)option, (void)text;
    *(bool *)place = true;
}

void take_no_flag(const char *option, char *text, void *place) {
    (void)option, (void)text;
    *(bool *)place = false;
}

void ignore_option(const char *option, char *text, void *place) { (void)option, (void)text, (void)place; }

void take_text(const char *option, char *text, void *place) {
    (void)option;
    *(const char **)place = text;
}

static void take_size_from(const char *option, const char *text, size_t least, size_t *size) {
    uint64_t number;
    if (!parse_number(text, SIZE_MAX, &number) || number < least)
        die(EX_USAGE, "--%s %s: not a number from %zu on, such as 1000, 64K, 2^20 or 1e6", option, text, least);
    *size = (size_t)number;
}

void take_size(const char *option, char *text, void *place) { take_size_from(option, text, 1, place); }

void take_size_or_0(const char *option, char *text, void *place) { take_size_from(option, text, 0, place); }

static uint64_t number_to(const char *option, const char *text, uint64_t most) {
    uint64_t number;
    if (!parse_number(text, most, &number))
        die(EX_USAGE, "--%s %s: not a number from 0 to %llu", option, text, (unsigned long long)most);
    return number;
}

void take_number(const char *option, char *text, void *place) {
    *(uint64_t *)place = number_to(option, text, UINT64_MAX);
}

void take_unsigned(const char *option, char *text, void *place) {
    *(unsigned *)place = (unsigned)number_to(option, text, UINT_MAX);
}

void take_type(const char *option, char *text, void *place) {
    const table_type type = type_of_name(text);
    if (type == 0 && *text == '>')
        die(EX_USAGE, "--%s %s: not a type; big-endian values are neither read nor written", option, text);
    if (type == 0)
        die(EX_USAGE,
            "--%s %s: not a type; there are i8 to i64, u8 to u64, f16, bf16, f32, f64 and bool, also as NumPy "
            "writes them "
            "(uint8, <f4)",
            option, text);
    *(table_type *)place = type;
}

void take_input(const char *option, char *text, void *place) { take_text(option, text, place); }

/* The place of the text among the words; `what` they are: for the message. */
static int take_one_of(const char *option, const char *text, const char *const *words, const char *what) {
    const int place = word_place(words, text);
    if (place < 0)
        die(EX_USAGE, "--%s %s: not %s", option, text, what);
    return place;
}

void take_format(const char *option, char *text, void *place) {
    take_one_of(option, text, format_words, "a format; there are npy, raw, csv, tsv and text");
    *(const char **)place = text;
}

void take_backend(const char *option, char *text, void *place) {
    *(table_backend *)place =
        (table_backend)take_one_of(option, text, backend_words, "a backend; there are auto, cpu and cuda");
}

void take_operation(const char *option, char *text, void *place) {
    *(table_operation *)place = (table_operation)take_one_of(option, text, operation_words,
                                                             "an operation; there are sum, max, min and product");
}

/* A:B, A: or :B. */
void take_row_range(const char *option, char *text, void *place) {
    struct option_rows *rows = place;
    const char *colon = strchr(text, ':');
    char left[24];
    uint64_t a = 0, b = SIZE_MAX;
    if (!colon || colon - text >= (ptrdiff_t)sizeof left)
        die(EX_USAGE, "--%s %s: not A:B", option, text);
    memcpy(left, text, (size_t)(colon - text));
    left[colon - text] = '\0';
    if ((*left && !parse_number(left, SIZE_MAX, &a)) || (colon[1] && !parse_number(colon + 1, SIZE_MAX, &b)))
        die(EX_USAGE, "--%s %s: not A:B with two numbers of rows", option, text);
    if (a > b)
        die(EX_USAGE, "--%s %s: A is greater than B", option, text);
    *rows = (struct option_rows){(size_t)a, (size_t)b};
}

/* A:B, two numbers of any kind; what they may be is for the library to say. */
void take_range(const char *option, char *text, void *place) {
    struct option_range *range = place;
    char *end = NULL, *last = NULL;
    range->low = strtod(text, &end);
    if (end == text || *end != ':')
        die(EX_USAGE, "--%s %s: not A:B", option, text);
    range->high = strtod(end + 1, &last);
    if (last == end + 1 || *last)
        die(EX_USAGE, "--%s %s: not A:B with two numbers", option, text);
    if (is_rounded_integer(text, range->low) || is_rounded_integer(end + 1, range->high))
        die(EX_USAGE, "--%s %s: the ends of a range are doubles, of which the nearest are %.0f and %.0f", option, text,
            range->low, range->high);
}

void take_integer(const char *option, char *text, void *place) {
    if (!parse_integer(text, place))
        die(EX_USAGE, "--%s %s: not an integer from -2^63 to 2^63 - 1", option, text);
}

void take_word(const char *option, char *word, void *place) {
    struct option_words *words = place;
    if (words->count == BY_MOST)
        die(EX_USAGE, "--%s %s: is one more than the %d that are possible", option, word, BY_MOST);
    words->list[words->count++] = word;
}

void take_delimiter(const char *option, char *text, void *place) {
    const bool is_named = strcmp(text, "\\t") == 0;
    const char delimiter = is_named ? '\t' : text[0];
    if (!delimiter || (text[1] != '\0' && !is_named) || strchr("0123456789+-.eEinfa\"\r\n ", delimiter))
        die(EX_USAGE, "--%s '%s': not one character that is in no number, such as ';' or \\t", option, text);
    *(char *)place = delimiter;
}

/* The words are cut out of the text. */
void take_words(const char *option, char *text, void *place) {
    for (char *word = text, *rest; word; word = rest) {
        rest = strchr(word, ',');
        if (rest)
            *rest++ = '\0';
        if (*word == '\0')
            die(EX_USAGE, "--%s: an empty name; there are names with commas between them", option);
        take_word(option, word, place);
    }
}

void take_devices(const char *option, char *text, void *place) {
    struct option_devices *devices = place;
    (void)option;
    const size_t there = table_devices(NULL, 0) - 1;
    devices->count = 0;
    if (strcmp(text, "all") == 0) {
        if (there == 0)
            die(EX_UNAVAILABLE, "--devices all: %s", table_cuda_unavailable());
        for (size_t i = 0; i < there && i < DEVICES_MOST; i++)
            devices->numbers[devices->count++] = (int)i;
        return;
    }
    for (const char *at = text;; at++) {
        char *end;
        const unsigned long number = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && *end != ',') || devices->count == DEVICES_MOST)
            die(EX_USAGE, "--devices %s: not all, nor numbers such as 0,1, at most %d", text, DEVICES_MOST);
        if (number >= there)
            die(EX_UNAVAILABLE, "--devices %s: there is no CUDA device %lu%s%s", text, number, there ? "" : ": ",
                there ? "" : table_cuda_unavailable());
        devices->numbers[devices->count++] = (int)number;
        at = end;
        if (!*at)
            return;
    }
}
