#include "byte_bins.h"

#include <math.h>

#include "types.h"

/* Puts the integers of 64 bits from low to high into the search; false where there are none. */
static bool integers_within(const struct even_bins *even, table_type type, struct byte_search *search) {
    const double least = type == TABLE_U64 ? 0 : -0x1p63, end = type == TABLE_U64 ? 0x1p64 : 0x1p63;
    const double first = fmax(ceil(even->low), least);
    if (first >= end || even->high < first)
        return false;
    search->least_bits = type == TABLE_U64 ? (uint64_t)first : (uint64_t)(int64_t)first;
    search->greatest_bits = even->greatest;
    return true;
}

bool byte_search_make(const struct even_bins *even, table_type type, struct byte_search *search) {
    const bool floating = type_is_float(type);
    const double all = ldexp(1, 8 * (int)table_type_size(type)), least = type == TABLE_I32 ? -all / 2 : 0;
    *search = (struct byte_search){
        .even = *even, .least = even_first_from(type, even->low), .greatest = even_last_up_to(type, even->high)};
    if (type == TABLE_U64 || type == TABLE_I64)
        return integers_within(even, type, search);
    if (!floating) {
        search->least = fmax(search->least, least);
        search->greatest = fmin(search->greatest, least + all - 1);
    }
    return search->least <= search->greatest;
}
