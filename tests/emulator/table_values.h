/* Values of any type in the tables of the emulator's tests, and the random bits that they are made of. */
#ifndef TABLE_VALUES_H
#define TABLE_VALUES_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "types.h"
#include "values.h"

typedef std::vector<unsigned char> bytes;

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint64_t random_bits() {
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1du;
}
static inline uint64_t random_below(uint64_t end) { return (random_bits() >> 11) % end; }

static inline const char *name_of(table_type type) {
#define NAME_OF(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                      \
    if (type == TABLE_##TYPE)                                                                                          \
        return #NAME;
    TABLE_TYPES(NAME_OF)
#undef NAME_OF
    return "no type";
}

/* A value as KEPT, the type that results are kept in. */
template <class KEPT, class C> static KEPT kept_of(C value) { return static_cast<KEPT>(value); }
template <class KEPT> static KEPT kept_of(value_bool value) { return static_cast<KEPT>(value_of_bool(value)); }
template <class KEPT> static KEPT kept_of(value_f16 value) { return static_cast<KEPT>(value_of_f16(value)); }
template <class KEPT> static KEPT kept_of(value_bf16 value) { return static_cast<KEPT>(value_of_bf16(value)); }
template <class KEPT> static KEPT load(table_type type, const unsigned char *from) {
#define LOAD(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                         \
    if (type == TABLE_##TYPE) {                                                                                        \
        C value;                                                                                                       \
        memcpy(&value, from, sizeof value);                                                                            \
        return kept_of<KEPT>(value);                                                                                   \
    }
    TABLE_TYPES(LOAD)
#undef LOAD
    abort();
}

/* Rounds to small floats; of an integer that is wider than the type, its lower bytes are stored. */
template <class KEPT> static void store(table_type type, unsigned char *to, KEPT value) {
    if (type == TABLE_F16) {
        const value_f16 small = value_f16_of(static_cast<float>(value));
        memcpy(to, &small, sizeof small);
    } else if (type == TABLE_BF16) {
        const value_bf16 small = value_bf16_of(static_cast<float>(value));
        memcpy(to, &small, sizeof small);
    } else {
        memcpy(to, &value, std::min(sizeof value, type_bytes(type)));
    }
}

#endif
