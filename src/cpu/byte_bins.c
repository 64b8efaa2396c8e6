#include "byte_bins.h"

#include <string.h>

/* Where values change from one answer to the next: each of these is false for the values up to one, and true from
 * there on. */
enum turn { IN_RANGE_OR_ABOVE, ABOVE, IN_LAST_OR_ABOVE };

static bool has_turned(const struct bin_search *search, enum turn turn, double value) {
    switch (turn) {
    case IN_RANGE_OR_ABOVE:
        return value >= search->bins.low;
    case ABOVE:
        return value > search->bins.high;
    default:
        return (value - search->bins.low) * search->scale >= (double)search->bins.count;
    }
}

/* What values are compared as: floats and integers of up to 32 bits as they are, all others as doubles. */
static uint64_t last_rank(table_type type) {
    return type == TABLE_U16                                             ? UINT16_MAX
           : type == TABLE_U32 || type == TABLE_I32 || type == TABLE_F32 ? UINT32_MAX
                                                                         : UINT64_MAX;
}

/* The value of that rank in ascending order. For floats, what is beyond the infinities is not a number. */
static double value_of(table_type type, uint64_t rank) {
    const uint32_t sign = (uint32_t)1 << 31, rank_32 = (uint32_t)rank;
    const uint32_t bits_32 = rank_32 & sign ? rank_32 ^ sign : ~rank_32;
    const uint64_t sign_64 = (uint64_t)1 << 63, bits = rank & sign_64 ? rank ^ sign_64 : ~rank;
    float small;
    double value;
    switch (type) {
    case TABLE_U16:
    case TABLE_U32:
        return (double)rank;
    case TABLE_I32:
        return (double)rank - 0x1p31;
    case TABLE_F32:
        memcpy(&small, &bits_32, sizeof small);
        return (double)small;
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static void ranks_of_numbers(table_type type, uint64_t *first, uint64_t *last) {
    const unsigned fraction = type == TABLE_F32 ? 23 : 52;
    const uint64_t nans = ((uint64_t)1 << fraction) - 1;
    const bool integer = type == TABLE_U16 || type == TABLE_U32 || type == TABLE_I32;
    *first = integer ? 0 : nans;
    *last = last_rank(type) - *first;
}

/* The first rank from which on that is true; one after the last rank where there is none. */
static uint64_t first_turned(const struct bin_search *search, table_type type, enum turn turn) {
    uint64_t first, last;
    ranks_of_numbers(type, &first, &last);
    uint64_t end = last + 1;
    while (first < end) {
        const uint64_t middle = first + (end - first) / 2;
        if (has_turned(search, turn, value_of(type, middle)))
            end = middle;
        else
            first = middle + 1;
    }
    return first;
}

bool byte_search_make(const struct bin_search *bins, table_type type, struct byte_search *search) {
    const uint64_t least = first_turned(bins, type, IN_RANGE_OR_ABOVE), above = first_turned(bins, type, ABOVE);
    const uint64_t last = first_turned(bins, type, IN_LAST_OR_ABOVE), end = last < above ? last : above;
    if (least >= end)
        return false;
    *search = (struct byte_search){.low = bins->bins.low,
                                   .scale = bins->scale,
                                   .least = value_of(type, least),
                                   .greatest = value_of(type, above - 1),
                                   .greatest_by_itself = value_of(type, end - 1)};
    return true;
}
