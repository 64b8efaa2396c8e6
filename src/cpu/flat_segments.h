/* Segments of one column and at most FLAT_ROWS rows, in vectors that lie as the table does, wherever segments begin in
 * them: a row knows its number in its segment, and takes the total of the left half from the lane where that ends, in
 * its own vector or in the one before. Part of short_segments.h. */
#define FLAT_ROWS (2 * LANES)
#if VECTOR_BYTES == 32
#define NUMBERS        __m256i /* one for each lane */
#define ALL_LANES(x)   _mm256_set1_epi32(x)
#define LANE_NUMBERS   _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0)
#define WIDEN(numbers) _mm256_cvtepu8_epi32(numbers)
#define LESS(x, y)     _mm256_sub_epi32(x, y)
#define BOTH(x, y)     _mm256_and_si256(x, y)
#define TAKE(before, v, from)                                                                                          \
    _mm256_blendv_ps(_mm256_permutevar8x32_ps((__m256)(v), from), _mm256_permutevar8x32_ps((__m256)(before), from),    \
                     (__m256)(from))
#define CHOOSE(numbers, bit, x, y)                                                                                     \
    _mm256_blendv_ps((__m256)(y), (__m256)(x), (__m256)_mm256_slli_epi32(numbers, __builtin_clz(bit)))
#define NEGATIVE(numbers, x, y) _mm256_blendv_ps((__m256)(y), (__m256)(x), (__m256)(numbers))
#else
#if SUM_BYTES == 4
#define OF_LANES(name) PASTE(name, epi32)
#define MASK_OF(name)  PASTE(name, epi32_mask)
#define ALL_LANES(x)   _mm512_set1_epi32(x)
#define LANE_NUMBERS   _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define WIDEN(numbers) _mm512_cvtepu8_epi32(numbers)
#else
#define OF_LANES(name) PASTE(name, epi64)
#define MASK_OF(name)  PASTE(name, epi64_mask)
#define ALL_LANES(x)   _mm512_set1_epi64(x)
#define LANE_NUMBERS   _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)
#define WIDEN(numbers) _mm512_cvtepu8_epi64(numbers)
#endif
#if !FLOATING
#define OF_VALUES(name) OF_LANES(name)
#define RAW             __m512i
#elif SUM_BYTES == 4
#define OF_VALUES(name) PASTE(name, ps)
#define RAW             __m512
#else
#define OF_VALUES(name) PASTE(name, pd)
#define RAW             __m512d
#endif
#define NUMBERS               __m512i
#define LESS(x, y)            OF_LANES(_mm512_sub)(x, y)
#define BOTH(x, y)            _mm512_and_si512(x, y)
#define TAKE(before, v, from) OF_VALUES(_mm512_permutex2var)((RAW)(v), from, (RAW)(before))
#define CHOOSE(numbers, bit, x, y)                                                                                     \
    OF_VALUES(_mm512_mask_mov)((RAW)(y), MASK_OF(_mm512_test)(numbers, ALL_LANES(bit)), (RAW)(x))
#define NEGATIVE(numbers, x, y)                                                                                        \
    OF_VALUES(_mm512_mask_mov)((RAW)(y), MASK_OF(_mm512_cmplt)(numbers, ALL_LANES(0)), (RAW)(x))
#endif

/* Each lane takes the lane of `v` that `from` names, and from -1 on downwards the lanes of `before`. */
INLINE VECTOR KERNEL(take)(VECTOR before, VECTOR v, NUMBERS from) { return (VECTOR)TAKE(before, v, from); }

/* The lanes of `x` whose `numbers` have `bit`, and the others of `y`. */
INLINE VECTOR KERNEL(choose)(NUMBERS numbers, int bit, VECTOR x, VECTOR y) {
    return (VECTOR)CHOOSE(numbers, bit, x, y);
}

/* Joins two runs of `half` rows, whose sums are there. */
INLINE VECTOR KERNEL(join_halves)(VECTOR *before, VECTOR v, NUMBERS rows, int half) {
    const NUMBERS right = BOTH(rows, ALL_LANES(half - 1));
    const NUMBERS from = LESS(LESS(LANE_NUMBERS, ALL_LANES(1)), right);
    const VECTOR left = KERNEL(take)(*before, v, from);
    *before = v;
    return KERNEL(choose)(rows, half, COMBINE(left, v), v);
}

/* Rows from `row` up to `end`, whole segments of at most `longest` rows. numbers: of each row in its segment. */
INLINE void KERNEL(sum_run)(const struct cpu_short *all, const unsigned char *numbers, size_t row, size_t end,
                            int longest) {
    const VECTOR start = (VECTOR){0} + START_VALUE;
    VECTOR halves[5] = {start, start, start, start, start}, before = start;
    for (; row < end; row += LANES) {
        const size_t few = end - row < LANES ? end - row : LANES;
        const SUM *const from = (const SUM *)all->in + row;
        const NUMBERS rows = WIDEN(_mm_loadu_si128((const __m128i *)(numbers + row)));
        __builtin_prefetch((const void *)((uintptr_t)from + CPU_SHORT_AHEAD));
        VECTOR v = KERNEL(join_halves)(&halves[0], NAME(load_few)(from, few), rows, 1);
        v = KERNEL(join_halves)(&halves[1], v, rows, 2);
        v = KERNEL(join_halves)(&halves[2], v, rows, 4);
        if (longest > 8)
            v = KERNEL(join_halves)(&halves[3], v, rows, 8);
        if (longest > 16)
            v = KERNEL(join_halves)(&halves[4], v, rows, 16);
        v = COMBINE(start, v);
        VECTOR sums = v;
        if (all->exclusive) {
            sums = KERNEL(take)(before, v, LESS(LANE_NUMBERS, ALL_LANES(1)));
            sums = (VECTOR)NEGATIVE(LESS(rows, ALL_LANES(1)), start, sums);
        }
        if (few == LANES)
            NAME(store)((SUM *)all->out + row, sums); /* which is twice as fast as one of some lanes */
        else
            NAME(store_few)((SUM *)all->out + row, sums, few);
        before = v;
    }
}

/* The runs between the `left` segments that are longer, which `rest` lists. */
INLINE void KERNEL(sum_runs)(const struct cpu_short *all, const unsigned char *numbers, const unsigned short *rest,
                             size_t left, int longest) {
    const uint64_t *const bounds = all->bounds, first = bounds[0];
    size_t row = 0;
    for (size_t i = 0; i < left; row = bounds[rest[i++] + 1] - first)
        KERNEL(sum_run)(all, numbers, row, bounds[rest[i]] - first, longest);
    KERNEL(sum_run)(all, numbers, row, bounds[all->count] - first, longest);
}

/* Notes the number of each row in its segment, of at most `longest` rows. The next segment overwrites the numbers after
 * a segment's end. */
INLINE void KERNEL(number_rows)(const struct cpu_short *all, unsigned char *numbers, int longest) {
    const __m128i count = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const uint64_t *const bounds = all->bounds;
    for (size_t k = 0; k < all->count; k++)
        for (int at = 0; at < longest; at += 16)
            _mm_storeu_si128((__m128i *)(numbers + (bounds[k] - bounds[0]) + at),
                             _mm_add_epi8(count, _mm_set1_epi8((char)at)));
}

/* Whether a segment has more rows than `longest`. */
INLINE bool KERNEL(has_longer)(const struct cpu_short *all, uint64_t longest) {
    uint64_t longer = 0; /* its highest bit */
    for (size_t k = 0; k < all->count; k++)
        longer |= longest - (all->bounds[k + 1] - all->bounds[k]);
    return longer >> 63;
}

/* Sums all segments of at most FLAT_ROWS rows, if most are. Returns how many are left, whose numbers are `rest`. */
static size_t KERNEL(sum_flat)(const struct cpu_short *all, unsigned short rest[CPU_SHORT_SEGMENTS + 1]) {
    unsigned char numbers[CPU_SHORT_VALUES + FLAT_ROWS];
    const uint64_t *const bounds = all->bounds;
    const SUM *const out = all->out;
    SUM *const ends = all->ends;
    size_t left = 0;
    if (all->starts || all->row_before || (all->exclusive && ends))
        return all->count;
    if (!KERNEL(has_longer)(all, 8)) {
        KERNEL(number_rows)(all, numbers, 8);
        KERNEL(sum_runs)(all, numbers, rest, 0, 8);
    } else {
        for (size_t k = 0; k < all->count; k++) {
            rest[left] = (unsigned short)k;
            left += bounds[k + 1] - bounds[k] > FLAT_ROWS;
        }
        if (4 * left > all->count)
            return all->count;
        KERNEL(number_rows)(all, numbers, FLAT_ROWS);
        KERNEL(sum_runs)(all, numbers, rest, left, FLAT_ROWS);
    }
    for (size_t k = 0; k < all->count && ends; k++)
        ends[(ptrdiff_t)k * all->step] = bounds[k] < bounds[k + 1] ? out[bounds[k + 1] - bounds[0] - 1] : START_VALUE;
    return left;
}

#undef ALL_LANES
#undef LANE_NUMBERS
#undef WIDEN
#undef OF_LANES
#undef MASK_OF
#undef OF_VALUES
#undef RAW
