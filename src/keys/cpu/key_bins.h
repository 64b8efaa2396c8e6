/* Finding bins, for values of one type. Expects TAG, a row of key_kernels.c. Without branches, so that vectors can be
 * made of the loops. Included once for each type. */
#define BINS_NAME(what) PASTE(what, TAG)

#if VALUE_BITS == 64 && !KEY_FLOATING
/* Whether an integer became a double that is greater than itself. */
INLINE bool BINS_NAME(rounded_up)(VALUE value, double rounded) {
    const double end = VALUE_SIGNED ? 0x1p63 : 0x1p64, last = VALUE_SIGNED ? 0x1p63 - 0x1p10 : 0x1p64 - 0x1p11;
    return (rounded >= end) | ((VALUE)(rounded < last ? rounded : last) > value);
}
#endif

/* All of it in doubles, with EVEN_ROUNDING added to the number of a bin, which is then in the lowest bits in any case.
 * `exact` and `wide` are even_bins.h's, known where this is inlined. */
INLINE void BINS_NAME(find_even_by)(const struct even_bins *even, const VALUE *restrict values, size_t count,
                                    uint32_t *restrict bins, bool exact, bool wide) {
    const double low = even->low, high = even->high, guess_low = even->guess_low, scale = even->scale;
    const double all = (double)even->count, last = all - 1, width = even->width;
    const VALUE greatest = (VALUE)even->greatest;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        bool up = false, beyond = false;
#if VALUE_BITS == 64 && !KEY_FLOATING
        up = wide & BINS_NAME(rounded_up)(values[i], value);
        beyond = wide & (values[i] > greatest);
#else
        (void)greatest;
        (void)wide;
#endif
        double place = (value - guess_low) * scale;
        place = place < last ? place : last;
        union {
            double number;
            uint64_t bits;
        } bin = {place + EVEN_ROUNDING};
        if (!exact) {
            const double from_low = (bin.number - EVEN_ROUNDING) * width, edge = low + from_low;
            bin.number = ((value < edge) | (up & (value == edge))) ? bin.number - 1 : bin.number;
        }
        bin.number = ((value < low) | (up & (value == low))) ? EVEN_ROUNDING + all : bin.number;
        bin.number = ((value > high) | beyond) ? EVEN_ROUNDING + (all + 1) : bin.number;
#if KEY_FLOATING
        bin.number = value == value ? bin.number : EVEN_ROUNDING + (all + 2);
#endif
        bins[i] = (uint32_t)bin.bits;
    }
}

static void BINS_NAME(find_even)(const struct bin_search *search, const void *data, size_t count,
                                 uint32_t *restrict bins) {
    const struct even_bins *even = &search->even;
    if (even->exact)
        BINS_NAME(find_even_by)(even, data, count, bins, true, false);
    else if (VALUE_BITS == 64 && !KEY_FLOATING && even->wide)
        BINS_NAME(find_even_by)(even, data, count, bins, false, true);
    else
        BINS_NAME(find_even_by)(even, data, count, bins, false, false);
}

#if BYTE_KERNELS && VALUE_BITS > 8
/* Integers that are no doubles are rounded down for comparisons with left
 * edges, which are doubles, and up for those with the right one, so that they compare as they would unrounded. Where
 * guesses are exact, all integers up to the right edge are doubles. */
INLINE void BINS_NAME(find_bytes_by)(const struct even_bins *even, const VALUE *values, uint8_t *bytes,
                                     uint64_t outside[TABLE_OUTSIDE_WORDS], bool exact) {
    uint64_t from_low = 0, to_high = 0, inside = 0;
    for (size_t i = 0; i < BYTE_BLOCK; i += 64, values += 64) {
        uint64_t reach = 0, stay = 0; /* a bit a value */
        __m512i bins[8];
        for (unsigned k = 0; k < 8; k++) {
            const __m512d some = PASTE(DOUBLES, TAG)(values + 8 * k, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
            const __m512d most =
                exact ? some : PASTE(DOUBLES, TAG)(values + 8 * k, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
            const __mmask8 low = _mm512_cmp_pd_mask(some, _mm512_set1_pd(even->low), _CMP_GE_OQ);
            const __mmask8 high = _mm512_cmp_pd_mask(most, _mm512_set1_pd(even->high), _CMP_LE_OQ);
            bins[k] = find_eight(even, some, low & high, exact);
            reach |= (uint64_t)low << 8 * k;
            stay |= (uint64_t)high << 8 * k;
        }
        _mm512_storeu_si512(bytes + i, low_bytes(bins));
        from_low += (uint64_t)__builtin_popcountll(reach);
        to_high += (uint64_t)__builtin_popcountll(stay);
        inside += (uint64_t)__builtin_popcountll(reach & stay);
    }
    outside[TABLE_OUTSIDE_BELOW] += to_high - inside;
    outside[TABLE_OUTSIDE_ABOVE] += from_low - inside;
    outside[TABLE_OUTSIDE_NAN] += BYTE_BLOCK - from_low - to_high + inside;
}

static void BINS_NAME(find_bytes)(const struct even_bins *even, const void *values, uint8_t *bytes,
                                  uint64_t outside[TABLE_OUTSIDE_WORDS]) {
    if (even->exact)
        BINS_NAME(find_bytes_by)(even, values, bytes, outside, true);
    else
        BINS_NAME(find_bytes_by)(even, values, bytes, outside, false);
}
#endif

/* Bins are found by halves, for all values of a block in step. */
static void BINS_NAME(find_edges)(const struct bin_search *search, const void *data, size_t count,
                                  uint32_t *restrict bins) {
    const VALUE *restrict values = data, *edges = search->bins.edges;
    const uint32_t all = (uint32_t)search->bins.count;
    const VALUE first = edges[0], last = edges[all];
    for (size_t i = 0; i < count; i++)
        bins[i] = 0;
    for (uint32_t left = all + 1; left > 1;) {
        const uint32_t half = left / 2;
        const VALUE *const upper = edges + half;
        for (size_t i = 0; i < count; i++)
            bins[i] += half & -(uint32_t)(upper[(int32_t)bins[i]] <= values[i]);
        left -= half;
    }
    for (size_t i = 0; i < count; i++) {
        const VALUE value = values[i];
        const uint32_t bin = bins[i] < all ? bins[i] : all - 1;
        bins[i] = value < first ? all : value > last ? all + 1 : value >= first && value <= last ? bin : all + 2;
    }
}

#if !KEY_FLOATING
/* In unsigned integers, which wrap. A negative `first` under unsigned values wraps to a great one; then only
 * differences less than the number of bins can be in one. */
static void BINS_NAME(find_integer)(const struct bin_search *search, const void *data, size_t count,
                                    uint32_t *restrict bins) {
    const VALUE *restrict values = data;
    const int64_t first = search->bins.first;
    const uint64_t all = search->bins.count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bin = (uint64_t)values[i] - (uint64_t)first;
#if VALUE_SIGNED
        const int below = (int64_t)values[i] < first, inside = !below && bin < all;
#else
        const int below = first > 0 && (uint64_t)values[i] < (uint64_t)first;
        const int inside = !below && bin < all && (first >= 0 || (uint64_t)values[i] < all);
#endif
        bins[i] = (uint32_t)(inside ? bin : below ? all : all + 1);
    }
}
#endif

#undef TAG
