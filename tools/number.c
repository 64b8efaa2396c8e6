#include "number.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* One digit at least; *text then points after them. */
static bool parse_digits(const char **text, uint64_t *number) {
    const char *start = *text;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        if (__builtin_mul_overflow(*number, (uint64_t)10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(**text - '0'), number))
            return false;
    return *text > start;
}

/* False when the product does not fit, which an exponent of 64 sees to, unless the base is 1 or a factor is 0. */
static bool multiply_by_power(uint64_t base, uint64_t exponent, uint64_t *number) {
    for (; exponent > 0 && base != 1 && *number != 0; exponent--)
        if (__builtin_mul_overflow(*number, base, number))
            return false;
    return true;
}

bool parse_number(const char *text, uint64_t most, uint64_t *number) {
    uint64_t value, exponent;
    if (!parse_digits(&text, &value))
        return false;
    if (*text == '^' || *text == 'e') {
        bool is_power = *text++ == '^';
        uint64_t base = is_power ? value : 10;
        value = is_power ? 1 : value;
        if (!parse_digits(&text, &exponent) || !multiply_by_power(base, exponent, &value))
            return false;
    }
    const char *unit = *text ? strchr("KMG", *text) : NULL;
    if (unit && !multiply_by_power(1024, (uint64_t)(unit - "KMG") + 1, &value))
        return false;
    *number = value;
    return text[unit != NULL] == '\0' && value <= most;
}

bool parse_integer(const char *text, int64_t *number) {
    const bool negative = *text == '-';
    uint64_t size;
    if (!parse_number(text + negative, (uint64_t)INT64_MAX + negative, &size))
        return false;
    *number = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

bool is_rounded_integer(const char *text, double number) {
    char exact[400];
    const char *const digits = text + (*text == '-');
    const size_t length = strspn(digits, "0123456789"), zeros = strspn(digits, "0");
    if (fabs(number) < 0x1p53 || !isfinite(number) || (digits[length] != ':' && digits[length] != 0))
        return false;
    snprintf(exact, sizeof exact, "%.0f", fabs(number));
    return strlen(exact) != length - zeros || strncmp(exact, digits + zeros, length - zeros) != 0;
}
