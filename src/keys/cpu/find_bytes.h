/* Finding even bins as bytes, for values of one type. Expects VALUE, TAG, DOUBLES(p) (eight values from p on, made
 * doubles; integers that are no doubles are rounded down, so that they compare with doubles as they would unrounded),
 * and what values are compared with and as: BOUND, BOUNDS(search, which), IN_VECTOR (how many at a time), LOAD(p),
 * FILL(bound), AT_LEAST(a, b), AT_MOST(a, b). Included once for each type.
 *
 * The arithmetic is that of even_bins.h. */
#define BYTES_NAME(what) PASTE(what, TAG)

INLINE void BYTES_NAME(find_bytes_by)(const struct byte_search *search, const VALUE *values, uint8_t *bytes,
                                      uint64_t outside[TABLE_OUTSIDE_WORDS], bool exact) {
    const struct byte_guess guess = byte_guess_of(&search->even);
    const BOUND least = BOUNDS(search, least), greatest = BOUNDS(search, greatest);
    uint64_t from_least = 0, to_greatest = 0, inside = 0;
    for (size_t i = 0; i < BYTE_BLOCK; i += 64) {
        uint64_t reach = 0, stay = 0; /* a bit a value */
        __m512i bins[8];
        for (unsigned k = 0; k < 64; k += IN_VECTOR) {
            reach |= (uint64_t)AT_LEAST(LOAD(values + i + k), FILL(least)) << k;
            stay |= (uint64_t)AT_MOST(LOAD(values + i + k), FILL(greatest)) << k;
        }
        for (unsigned k = 0; k < 8; k++)
            bins[k] = find_eight(&guess, DOUBLES(values + i + 8 * k), (__mmask8)((reach & stay) >> 8 * k), exact);
        _mm512_storeu_si512(bytes + i, low_bytes(bins));
        from_least += (uint64_t)__builtin_popcountll(reach);
        to_greatest += (uint64_t)__builtin_popcountll(stay);
        inside += (uint64_t)__builtin_popcountll(reach & stay);
    }
    outside[TABLE_OUTSIDE_BELOW] += to_greatest - inside;
    outside[TABLE_OUTSIDE_ABOVE] += from_least - inside;
    outside[TABLE_OUTSIDE_NAN] += BYTE_BLOCK - from_least - to_greatest + inside;
}

static void BYTES_NAME(find_bytes)(const struct byte_search *search, const void *values, uint8_t *bytes,
                                   uint64_t outside[TABLE_OUTSIDE_WORDS]) {
    if (search->even.exact)
        BYTES_NAME(find_bytes_by)(search, values, bytes, outside, true);
    else
        BYTES_NAME(find_bytes_by)(search, values, bytes, outside, false);
}

#undef BYTES_NAME
#undef VALUE
#undef TAG
#undef DOUBLES
