/* Finding bins, for values of one type. Expects VALUE, TAG, VALUE_SIGNED and KEY_FLOATING, for key_kernels.c. Without
 * branches, so that vectors can be made of the loops. Included once for each type. */
#define BINS_NAME(what) PASTE(what, TAG)

/* All of it in doubles, up to the conversion of what is then the number of a bin in any case. */
static void BINS_NAME(find_even)(const struct bin_search *search, const void *data, size_t count,
                                 uint32_t *restrict bins) {
    const VALUE *restrict values = data;
    const double low = search->bins.low, high = search->bins.high, scale = search->scale;
    const double all = (double)search->bins.count, last = all - 1;
    for (size_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        double bin = (value - low) * scale;
        bin = bin < last ? bin : last;
        bin = value < low ? all : bin;
        bin = value > high ? all + 1 : bin;
#if KEY_FLOATING
        bin = value == value ? bin : all + 2;
#endif
        bins[i] = (uint32_t)(int32_t)bin;
    }
}

/* By halves, all values of a block in step. */
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
/* In unsigned integers, which wrap. A negative `first` under unsigned values wraps to a great one; then only what is
 * less than the number of bins can be in one. */
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

#undef BINS_NAME
#undef VALUE
#undef VALUE_SIGNED
#undef KEY_FLOATING
#undef TAG
