#include "text/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "types.h"

/* Whether a float that is out of range is below 1: from_chars() says the same of 1e-400 and 1e400. */
static bool is_small(const char *from, const char *end) {
    const char *const e = std::find_if(from, end, [](char c) { return c == 'e' || c == 'E'; });
    const char *const point = std::find(from, e, '.');
    const char *const first = std::find_if(from, e, [](char c) { return c >= '1' && c <= '9'; });
    int64_t exponent = 0;
    const char *digits = e + (e != end);
    digits += digits != end && *digits == '+';
    if (std::from_chars(digits, end, exponent).ec == std::errc::result_out_of_range)
        return *digits == '-';
    return exponent + (point - first) <= 0;
}

template <typename T> static number_text_result read(const char **at, const char *end, void *to) {
    T value{};
    const char *from = *at;
    if (end - from > 1 && *from == '+' && from[1] != '-') /* which from_chars() knows nothing of */
        from++;
    const std::from_chars_result result = std::from_chars(from, end, value);
    if (result.ec == std::errc::invalid_argument)
        return NUMBER_TEXT_NONE;
    *at = result.ptr;
    if (result.ec != std::errc()) {
        if (!std::is_floating_point<T>::value || !is_small(from, result.ptr))
            return NUMBER_TEXT_TOO_LARGE;
        value = static_cast<T>(*from == '-' ? -0.0 : 0.0);
    }
    std::memcpy(to, &value, sizeof value);
    return NUMBER_TEXT_READ;
}

/* Toward an odd last bit, so that rounding once more rounds as if there had been no step between. */
static float odd_float(double value) {
    float near = static_cast<float>(value);
    if (static_cast<double>(near) == value || std::isnan(value) || std::isinf(near))
        return near;
    uint32_t bits = value_bits_of_float(near);
    bits -= std::fabs(static_cast<double>(near)) > std::fabs(value) ? 1 : 0;
    return value_float_of_bits(bits | 1);
}

/* Small floats, as the numbers that they are. */
template <typename T> static number_text_result read_small(const char **at, const char *end, void *to,
                                                           T round(float value), float number_of(T value)) {
    double value;
    const number_text_result result = read<double>(at, end, &value);
    if (result != NUMBER_TEXT_READ)
        return result;
    const T small = round(odd_float(value));
    std::memcpy(to, &small, sizeof small);
    return std::isinf(number_of(small)) && !std::isinf(value) ? NUMBER_TEXT_TOO_LARGE : NUMBER_TEXT_READ;
}
template <> number_text_result read<value_f16>(const char **at, const char *end, void *to) {
    return read_small<value_f16>(at, end, to, value_f16_of, value_of_f16);
}
template <> number_text_result read<value_bf16>(const char **at, const char *end, void *to) {
    return read_small<value_bf16>(at, end, to, value_bf16_of, value_of_bf16);
}

/* 0 or 1. */
template <> number_text_result read<value_bool>(const char **at, const char *end, void *to) {
    uint8_t value;
    const number_text_result result = read<uint8_t>(at, end, &value);
    if (result == NUMBER_TEXT_READ)
        std::memcpy(to, &value, sizeof value);
    return result == NUMBER_TEXT_READ && value > 1 ? NUMBER_TEXT_TOO_LARGE : result;
}

/* Exponents are for numbers that people write with one. */
template <typename T> static char *write(const void *from, char *to) {
    T value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::is_floating_point<T>::value) {
        value = std::isnan(value) ? static_cast<T>(NAN) : value; /* whose sign is no number's */
        const double size = std::fabs(value);                    /* the f32 nearest to 1e17 is below it */
        if (std::fabs(value) >= static_cast<T>(1e-5) && size < 1e17)
            return std::to_chars(to, to + NUMBER_TEXT, value, std::chars_format::fixed).ptr;
    }
    return std::to_chars(to, to + NUMBER_TEXT, value).ptr;
}

/* As few digits as are read as the same bits: those nearest to the value, or, as the values above a power of two are
 * farther apart than those below it, to the middle between it and the next one. 5 digits are always enough. */
template <typename T> static char *write_small(const void *from, char *to, float number_of(T value)) {
    T small, again;
    uint16_t bits;
    std::memcpy(&small, from, sizeof small);
    std::memcpy(&bits, from, sizeof bits);
    bits++;
    std::memcpy(&again, &bits, sizeof again);
    const double value = number_of(small), middle = value / 2 + static_cast<double>(number_of(again)) / 2;
    if (!std::isfinite(value))
        return write<double>(&value, to);
    double shorter = value;
    for (int tried = 0; tried < 10; tried++) {
        const char *at = to, *end = std::to_chars(to, to + NUMBER_TEXT, tried % 2 == 0 ? value : middle,
                                                  std::chars_format::scientific, tried / 2)
                                        .ptr;
        std::from_chars(to, end, shorter);
        if (read<T>(&at, end, &again) == NUMBER_TEXT_READ && std::memcmp(&again, from, sizeof again) == 0)
            break;
    }
    return write<double>(&shorter, to);
}
template <> char *write<value_f16>(const void *from, char *to) {
    return write_small<value_f16>(from, to, value_of_f16);
}
template <> char *write<value_bf16>(const void *from, char *to) {
    return write_small<value_bf16>(from, to, value_of_bf16);
}
template <> char *write<value_bool>(const void *from, char *to) {
    *to = *static_cast<const uint8_t *>(from) != 0 ? '1' : '0';
    return to + 1;
}

extern const bool number_text_is_here = true;

number_text_result number_text_read(table_type type, const char **at, const char *end, void *value) {
#define READ(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                         \
    case TABLE_##TYPE:                                                                                                 \
        return read<C>(at, end, value);
    switch (type) { TABLE_TYPES(READ) }
    return NUMBER_TEXT_NONE;
}

char *number_text_write(table_type type, const void *value, char to[NUMBER_TEXT]) {
#define WRITE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                        \
    case TABLE_##TYPE:                                                                                                 \
        return write<C>(value, to);
    switch (type) { TABLE_TYPES(WRITE) }
    return to;
}
