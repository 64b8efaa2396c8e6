/* Even bins as bytes: find_bytes.h for each type, in vectors of 64 bytes. For key_kernels.c. */

struct byte_guess {
    __m512d low, guess_low, scale, width, last;
};

INLINE struct byte_guess byte_guess_of(const struct even_bins *even) {
    return (struct byte_guess){_mm512_set1_pd(even->low), _mm512_set1_pd(even->guess_low), _mm512_set1_pd(even->scale),
                               _mm512_set1_pd(even->width), _mm512_set1_pd((double)(even->count - 1))};
}

/* The bins of the values in the range, 0 for the others, in the lowest bytes of words whose other bytes are those of
 * EVEN_ROUNDING. */
INLINE __m512i find_eight(const struct byte_guess *guess, __m512d values, __mmask8 inside, bool exact) {
    const __m512d rounding = _mm512_set1_pd(EVEN_ROUNDING);
    const __m512d place = _mm512_maskz_mul_pd(inside, _mm512_sub_pd(values, guess->guess_low), guess->scale);
    const __m512d rounded = _mm512_add_pd(_mm512_min_pd(place, guess->last), rounding);
    const __m512i bins = _mm512_castpd_si512(rounded);
    if (exact)
        return bins;
    const __m512d from_low = _mm512_mul_pd(_mm512_sub_pd(rounded, rounding), guess->width);
    const __mmask8 too_high = _mm512_mask_cmp_pd_mask(inside, values, _mm512_add_pd(guess->low, from_low), _CMP_LT_OQ);
    return _mm512_mask_sub_epi64(bins, too_high, bins, _mm512_set1_epi64(1));
}

/* The lowest bytes of 64 words, in any order: they are shifted beside each other, and what is above them is the same in
 * all and cancels out. */
INLINE __m512i low_bytes(const __m512i bins[8]) {
    __m512i words[8];
    for (unsigned k = 0; k < 8; k++)
        words[k] = _mm512_slli_epi64(bins[k], 8 * k);
    const uint64_t above = (uint64_t)0x4338 << 48;
    const __m512i a = _mm512_ternarylogic_epi64(words[0], words[1], words[2], 0x96); /* exclusive or */
    const __m512i b = _mm512_ternarylogic_epi64(words[3], words[4], words[5], 0x96);
    const __m512i c =
        _mm512_ternarylogic_epi64(words[6], words[7], _mm512_set1_epi64((long long)(above ^ above << 8)), 0x96);
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/* 16 integers of up to 32 bits with a sign at a time, 16 without, 16 floats, and 8 of what is wider. */
#define BOUNDS(search, which) ((BOUND)(search)->which)
#define BOUND                 int32_t
#define IN_VECTOR             16
#define FILL(bound)           _mm512_set1_epi32(bound)
#define AT_LEAST(a, b)        _mm512_cmpge_epi32_mask(a, b)
#define AT_MOST(a, b)         _mm512_cmple_epi32_mask(a, b)

#define VALUE      uint16_t
#define TAG        u16
#define LOAD(p)    _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(p)))
#define DOUBLES(p) _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p))))
#include "find_bytes.h"
#undef LOAD

#define LOAD(p)    _mm512_loadu_si512(p)
#define VALUE      int32_t
#define TAG        i32
#define DOUBLES(p) _mm512_cvtepi32_pd(_mm256_loadu_si256((const void *)(p)))
#include "find_bytes.h"
#undef BOUND
#undef FILL
#undef AT_LEAST
#undef AT_MOST

#define BOUND          uint32_t
#define FILL(bound)    _mm512_set1_epi32((int32_t)(bound))
#define AT_LEAST(a, b) _mm512_cmpge_epu32_mask(a, b)
#define AT_MOST(a, b)  _mm512_cmple_epu32_mask(a, b)
#define VALUE          uint32_t
#define TAG            u32
#define DOUBLES(p)     _mm512_cvtepu32_pd(_mm256_loadu_si256((const void *)(p)))
#include "find_bytes.h"
#undef BOUND
#undef FILL
#undef LOAD
#undef AT_LEAST
#undef AT_MOST

#define BOUND          float
#define FILL(bound)    _mm512_set1_ps(bound)
#define LOAD(p)        _mm512_loadu_ps(p)
#define AT_LEAST(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ)
#define AT_MOST(a, b)  _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define VALUE          float
#define TAG            f32
#define DOUBLES(p)     _mm512_cvtps_pd(_mm256_loadu_ps(p))
#include "find_bytes.h"
#undef BOUND
#undef IN_VECTOR
#undef FILL
#undef LOAD
#undef AT_LEAST
#undef AT_MOST

#define BOUND          double
#define IN_VECTOR      8
#define FILL(bound)    _mm512_set1_pd(bound)
#define LOAD(p)        DOUBLES(p)
#define AT_LEAST(a, b) _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ)
#define AT_MOST(a, b)  _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)
#define VALUE          double
#define TAG            f64
#define DOUBLES(p)     _mm512_loadu_pd(p)
#include "find_bytes.h"
#undef BOUND
#undef BOUNDS
#undef FILL
#undef LOAD
#undef AT_LEAST
#undef AT_MOST

#define BOUNDS(search, which) ((BOUND)(search)->which##_bits)
#define FILL(bound)           _mm512_set1_epi64((long long)(bound))
#define LOAD(p)               _mm512_loadu_si512(p)
#define ROUND_DOWN            (_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)

#define BOUND          uint64_t
#define AT_LEAST(a, b) _mm512_cmpge_epu64_mask(a, b)
#define AT_MOST(a, b)  _mm512_cmple_epu64_mask(a, b)
#define VALUE          uint64_t
#define TAG            u64
#define DOUBLES(p)     _mm512_cvt_roundepu64_pd(_mm512_loadu_si512(p), ROUND_DOWN)
#include "find_bytes.h"
#undef BOUND
#undef AT_LEAST
#undef AT_MOST

#define BOUND          int64_t
#define AT_LEAST(a, b) _mm512_cmpge_epi64_mask(a, b)
#define AT_MOST(a, b)  _mm512_cmple_epi64_mask(a, b)
#define VALUE          int64_t
#define TAG            i64
#define DOUBLES(p)     _mm512_cvt_roundepi64_pd(_mm512_loadu_si512(p), ROUND_DOWN)
#include "find_bytes.h"
