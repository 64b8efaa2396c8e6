#include "text/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "types.h"

/* Kinds of types, and what C++ says of the C types that stand for them. */
static constexpr bool is_of_kind(bool is_floating, table_kind kind) { return is_floating == (kind == TABLE_FLOATING); }
#define CHECK(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                        \
    static_assert(is_of_kind(std::is_floating_point<C>::value, TABLE_##KIND),                                          \
                  "text of " NUMPY " needs code of its own");
TABLE_TYPES(CHECK)

template <typename T> static number_text_result read(const char **at, const char *end, void *to) {
    T value{};
    const char *from = *at;
    if (end - from > 1 && *from == '+' && from[1] != '-') /* which from_chars() knows nothing of */
        from++;
    const std::from_chars_result result = std::from_chars(from, end, value);
    if (result.ec == std::errc::invalid_argument)
        return NUMBER_TEXT_NONE;
    *at = result.ptr;
    if (result.ec != std::errc())
        return NUMBER_TEXT_TOO_LARGE;
    std::memcpy(to, &value, sizeof value);
    return NUMBER_TEXT_READ;
}

template <typename T> static char *write(const void *from, char *to) {
    T value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::is_floating_point<T>::value)
        value = std::isnan(value) ? static_cast<T>(NAN) : value; /* whose sign is no number's */
    return std::to_chars(to, to + NUMBER_TEXT, value).ptr;
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
