/* Finding even bins as bytes and counting bytes without a store a byte, for key_kernels.c where the instruction set has
 * what it takes.
 *
 * A counter in memory costs a store, and a processor finishes one or two stores a cycle. Here 512 bytes at a time are
 * turned into eight planes of one bit of each, the lower and the upper four planes into 16 masks each: where the bytes
 * are that have these four bits. A byte's count is then the number of bits that its two masks share. It takes as long
 * whatever the bytes are. Their order is lost in the planes, and does not matter. */
enum { PLANE_BYTES = 512, PLANE_GROUPS = BYTE_BLOCK / PLANE_BYTES, NIBBLES = 16 };

struct byte_masks {
    __m512i low[PLANE_GROUPS][NIBBLES], high[PLANE_GROUPS][NIBBLES];
};

/* One step of a transposition: exchanges the elements above the diagonal with those below. `upper` are the places of
 * the bytes in a word that come from the other one. */
INLINE void exchange_bytes(__m512i *a, __m512i *b, unsigned shift, __mmask64 upper) {
    const __m512i first = _mm512_mask_blend_epi8(upper, *a, _mm512_slli_epi64(*b, shift));
    *b = _mm512_mask_blend_epi8(upper, _mm512_srli_epi64(*a, shift), *b);
    *a = first;
}

/* Of each eight bytes the matrix of bits is transposed, then each eight such matrices as a matrix of bytes. */
INLINE void bit_planes(const uint8_t *bytes, __m512i planes[8]) {
    const __m512i one = _mm512_set1_epi64((long long)0x8040201008040201u);
    for (int i = 0; i < 8; i++)
        planes[i] = _mm512_gf2p8affine_epi64_epi8(one, _mm512_loadu_si512(bytes + 64 * i), 0);
    for (int i = 0; i < 8; i += 2)
        exchange_bytes(&planes[i], &planes[i + 1], 8, 0xAAAAAAAAAAAAAAAAu);
    for (int i = 0; i < 8; i += i % 2 ? 3 : 1)
        exchange_bytes(&planes[i], &planes[i + 2], 16, 0xCCCCCCCCCCCCCCCCu);
    for (int i = 0; i < 4; i++)
        exchange_bytes(&planes[i], &planes[i + 4], 32, 0xF0F0F0F0F0F0F0F0u);
}

/* masks[n]: where the four planes, the first being the lowest, make the number n. */
INLINE void nibble_masks(const __m512i planes[4], __m512i masks[NIBBLES]) {
    const __m512i ones = _mm512_set1_epi64(-1);
    const __m512i not_first = _mm512_xor_si512(planes[0], ones), not_second = _mm512_xor_si512(planes[1], ones);
    const __m512i pairs[4] = {_mm512_and_si512(not_first, not_second), _mm512_and_si512(planes[0], not_second),
                              _mm512_and_si512(not_first, planes[1]), _mm512_and_si512(planes[0], planes[1])};
    for (int i = 0; i < 4; i++) { /* the constants: which values of the three bits make a 1 */
        masks[i] = _mm512_ternarylogic_epi64(pairs[i], planes[2], planes[3], 0x10);
        masks[i + 4] = _mm512_ternarylogic_epi64(pairs[i], planes[2], planes[3], 0x40);
        masks[i + 8] = _mm512_ternarylogic_epi64(pairs[i], planes[2], planes[3], 0x20);
        masks[i + 12] = _mm512_ternarylogic_epi64(pairs[i], planes[2], planes[3], 0x80);
    }
}

/* table[i] += the sum of sums[i]'s eight words, i less than 8. */
INLINE void add_sums(uint32_t *table, const __m512i sums[8]) {
    __m512i pairs[4], fours[2];
    for (int i = 0; i < 4; i++)
        pairs[i] = _mm512_add_epi64(_mm512_unpacklo_epi64(sums[2 * i], sums[2 * i + 1]),
                                    _mm512_unpackhi_epi64(sums[2 * i], sums[2 * i + 1]));
    for (int i = 0; i < 2; i++) {
        const __m512i others = _mm512_mask_blend_epi64(0x33, pairs[2 * i], pairs[2 * i + 1]);
        fours[i] = _mm512_add_epi64(_mm512_mask_blend_epi64(0xCC, pairs[2 * i], pairs[2 * i + 1]),
                                    _mm512_permutex_epi64(others, 0x4E));
    }
    const __m512i all = _mm512_add_epi64(_mm512_shuffle_i64x2(fours[0], fours[1], 0x44),
                                         _mm512_shuffle_i64x2(fours[0], fours[1], 0xEE));
    __m256i *const to = (__m256i *)(void *)table;
    _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(to), _mm512_cvtepi64_epi32(all)));
}

/* One row of masks after the other, with its sixteen sums in registers. The bytes read next come to the caches
 * meanwhile: otherwise memory would be at rest for as long as this takes. */
static void count_bytes(const uint8_t *bytes, unsigned counters, uint32_t *table, const void *next, size_t next_bytes) {
    const unsigned rows = (counters + NIBBLES - 1) / NIBBLES;
    const size_t lines = (next_bytes / KEY_LINE + rows - 1) / rows;
    const char *line = next;
    struct byte_masks masks;
    for (unsigned group = 0; group < PLANE_GROUPS; group++) {
        __m512i planes[8];
        bit_planes(bytes + group * PLANE_BYTES, planes);
        nibble_masks(planes, masks.low[group]);
        nibble_masks(planes + 4, masks.high[group]);
    }
    for (unsigned row = 0; row < rows; row++) {
        __m512i sums[NIBBLES];
        for (unsigned i = 0; i < NIBBLES; i++)
            sums[i] = _mm512_setzero_si512();
        for (size_t i = 0; i < lines; i++, line += KEY_LINE)
            _mm_prefetch(line, _MM_HINT_T0);
        for (unsigned group = 0; group < PLANE_GROUPS; group++) {
            const __m512i high = masks.high[group][row];
            for (unsigned i = 0; i < NIBBLES; i++) {
                const __m512i both = _mm512_and_si512(high, masks.low[group][i]);
                sums[i] = _mm512_add_epi64(sums[i], _mm512_popcnt_epi64(both));
            }
        }
        add_sums(table + row * NIBBLES, sums);
        add_sums(table + row * NIBBLES + 8, sums + 8);
    }
}

/* The bins of the values in the range, 0 for the others, in the lowest bytes of words whose other bytes are those of
 * EVEN_ROUNDING. */
INLINE __m512i find_eight(const struct even_bins *even, __m512d values, __mmask8 inside, bool exact) {
    const __m512d rounding = _mm512_set1_pd(EVEN_ROUNDING), last = _mm512_set1_pd((double)(even->count - 1));
    const __m512d from_guess = _mm512_sub_pd(values, _mm512_set1_pd(even->guess_low));
    const __m512d place = _mm512_maskz_mul_pd(inside, from_guess, _mm512_set1_pd(even->scale));
    const __m512d rounded = _mm512_add_pd(_mm512_min_pd(place, last), rounding);
    const __m512i bins = _mm512_castpd_si512(rounded);
    if (exact)
        return bins;
    const __m512d from_low = _mm512_mul_pd(_mm512_sub_pd(rounded, rounding), _mm512_set1_pd(even->width));
    const __m512d edges = _mm512_add_pd(_mm512_set1_pd(even->low), from_low);
    return _mm512_mask_sub_epi64(bins, _mm512_mask_cmp_pd_mask(inside, values, edges, _CMP_LT_OQ), bins,
                                 _mm512_set1_epi64(1));
}

/* The lowest bytes of 64 words, in any order: they are shifted beside each other, and the bytes above them are the same
 * in all and cancel out. */
INLINE __m512i low_bytes(const __m512i bins[8]) {
    const uint64_t above = (uint64_t)0x4338 << 48;
    __m512i bytes = _mm512_set1_epi64((long long)(above ^ above << 8));
    for (unsigned k = 0; k < 8; k += 2)
        bytes = _mm512_ternarylogic_epi64(bytes, _mm512_slli_epi64(bins[k], 8 * k),
                                          _mm512_slli_epi64(bins[k + 1], 8 * (k + 1)), 0x96); /* exclusive or */
    return bytes;
}
