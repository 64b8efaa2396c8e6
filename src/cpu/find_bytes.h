/* Finding even bins as bytes, for values of one type. Expects VALUE, TAG, DOUBLES(p) (eight values from p on, made
 * doubles), and what values are compared with and as: BOUND, IN_VECTOR (how many at a time), LOAD(p), FILL(bound),
 * AT_LEAST(a, b), AT_MOST(a, b). Included once for each type.
 *
 * The arithmetic is that of key_bins.h. A double of 2^52 and more has no fraction: adding 2^52 and rounding towards 0
 * leaves the bin's number in the lowest byte. */
#define BYTES_NAME(what) PASTE(what, TAG)

static void BYTES_NAME(find_bytes)(const struct byte_search *search, const void *data, uint8_t *bytes,
                                   uint64_t apart[BYTES_APART]) {
    const VALUE *values = data;
    const __m512d low = _mm512_set1_pd(search->low), scale = _mm512_set1_pd(search->scale);
    const BOUND least = (BOUND)search->least, greatest = (BOUND)search->greatest;
    const BOUND by_itself = (BOUND)search->greatest_by_itself;
    uint64_t from_least = 0, to_greatest = 0, inside = 0, found = 0;
    for (size_t i = 0; i < BYTE_BLOCK; i += 64) {
        uint64_t reach = 0, stay = 0, find = 0; /* a bit a value */
        __m512d bins[8];
        for (unsigned k = 0; k < 64; k += IN_VECTOR) {
            const uint64_t from = AT_LEAST(LOAD(values + i + k), FILL(least));
            reach |= from << k;
            stay |= (uint64_t)AT_MOST(LOAD(values + i + k), FILL(greatest)) << k;
            find |= (uint64_t)(from & AT_MOST(LOAD(values + i + k), FILL(by_itself))) << k;
        }
        for (unsigned k = 0; k < 8; k++) {
            const __m512d above = _mm512_sub_pd(DOUBLES(values + i + 8 * k), low);
            bins[k] = _mm512_maskz_mul_pd((__mmask8)(find >> 8 * k), above, scale);
        }
        _mm512_storeu_si512(bytes + i, low_bytes(bins));
        from_least += (uint64_t)__builtin_popcountll(reach);
        to_greatest += (uint64_t)__builtin_popcountll(stay);
        inside += (uint64_t)__builtin_popcountll(reach & stay);
        found += (uint64_t)__builtin_popcountll(find);
    }
    apart[TABLE_OUTSIDE_BELOW] += to_greatest - inside;
    apart[TABLE_OUTSIDE_ABOVE] += from_least - inside;
    apart[TABLE_OUTSIDE_NAN] += BYTE_BLOCK - from_least - to_greatest + inside;
    apart[BYTES_IN_LAST] += inside - found;
}

#undef BYTES_NAME
#undef VALUE
#undef TAG
#undef DOUBLES
