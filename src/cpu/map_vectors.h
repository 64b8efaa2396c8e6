/* Maps in vectors, a lane for each column: the rules of private/linear_map_rules.h for them, and how they lie in
 * memory, where a map is four values side by side. Part of maps.h. */
#define MAP_VALUE        VECTOR
#define MAP_TRUTH        NAME(truth)
#define MAP_NAME(name)   PASTE(NAME(name), v)
#define MAP_INLINE       INLINE
#define MAP_MUL(x, y)    ((x) * (y))
#define MAP_ADD(x, y)    ((x) + (y))
#define MAP_SUB(x, y)    ((x) - (y))
#define MAP_FMA(x, y, z) NAME(fma)(x, y, z)
#define MAP_ALL_FALSE    ((MAP_TRUTH){0})

/* Comparisons are masks, where there are registers for these, and otherwise vectors. */
#if VECTOR_BYTES == 64 && SUM_BYTES == 4
typedef __mmask16 MAP_TRUTH;
#define MAP_IF(truth, x)        ((VECTOR)_mm512_maskz_mov_ps((MAP_TRUTH)(truth), (__m512)(x)))
#define MAP_CHOOSE(truth, x, y) ((VECTOR)_mm512_mask_blend_ps((MAP_TRUTH)(truth), (__m512)(y), (__m512)(x)))
#define MAP_IS_ZERO(x)          _mm512_cmp_ps_mask((__m512)(x), _mm512_setzero_ps(), _CMP_EQ_OQ)
#elif VECTOR_BYTES == 64
typedef __mmask8 MAP_TRUTH;
#define MAP_IF(truth, x)        ((VECTOR)_mm512_maskz_mov_pd((MAP_TRUTH)(truth), (__m512d)(x)))
#define MAP_CHOOSE(truth, x, y) ((VECTOR)_mm512_mask_blend_pd((MAP_TRUTH)(truth), (__m512d)(y), (__m512d)(x)))
#define MAP_IS_ZERO(x)          _mm512_cmp_pd_mask((__m512d)(x), _mm512_setzero_pd(), _CMP_EQ_OQ)
#else
#if SUM_BYTES == 4
typedef int32_t MAP_TRUTH __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int64_t MAP_TRUTH __attribute__((vector_size(VECTOR_BYTES)));
#endif
#define MAP_IF(truth, x)        ((VECTOR)((truth) & (MAP_TRUTH)(x)))
#define MAP_CHOOSE(truth, x, y) ((VECTOR)(((truth) & (MAP_TRUTH)(x)) | (~(truth) & (MAP_TRUTH)(y))))
#define MAP_IS_ZERO(x)          ((MAP_TRUTH)((x) == (VECTOR){0}))
#endif
#define MAP_FINITE(x) MAP_IS_ZERO((x) - (x))

/* Without an instruction for it, by the C library, which is exact and slow. */
FMA_INLINE VECTOR NAME(fma)(VECTOR x, VECTOR y, VECTOR z) {
#if VECTOR_BYTES == 64 && SUM_BYTES == 4
    return (VECTOR)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif VECTOR_BYTES == 64
    return (VECTOR)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif VECTOR_BYTES == 32 && SUM_BYTES == 4
    return (VECTOR)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#elif VECTOR_BYTES == 32
    return (VECTOR)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#else
    for (int l = 0; l < LANES; l++)
#if SUM_BYTES == 4
        x[l] = __builtin_fmaf(x[l], y[l], z[l]);
#else
        x[l] = __builtin_fma(x[l], y[l], z[l]);
#endif
    return x;
#endif
}

#include "linear_map_rules.h"

#define KERNEL(name) PASTE(NAME(name), maps)
#define WIDE(name)   PASTE(NAME(name), wide)
#define MAP          struct MAP_NAME(map)
#define GROUP        8 /* rows, however many registers there are: docs/lab/2026-11-28.md, "Wide rows on the CPU" */

/* Rules for SHUFFLE: four vectors of maps side by side, taken two at a time, become halves of two of their parts and
 * then parts; and back. */
#define HALF(l)         ((l) % (LANES / 2))
#define PARTS(l, part)  (4 * HALF(l) + (part) + (l) / (LANES / 2))
#define JOINED(l, half) (HALF(l) + (half) * (LANES / 2) + (l) / (LANES / 2) * LANES)
#define PAIRED(l, half) ((l) / 2 + (half) * (LANES / 2) + (l) % 2 * LANES)
#define QUADS(l, half)  ((l) / 4 * 2 + (l) % 2 + (half) * (LANES / 2) + (l) / 2 % 2 * LANES)

/* The maps that lie at `from`. */
INLINE MAP KERNEL(load)(const char *from) {
    const VECTOR *const m = (const VECTOR *)from;
    const VECTOR front01 = SHUFFLE(m[0], m[1], PARTS, 0), front23 = SHUFFLE(m[0], m[1], PARTS, 2);
    const VECTOR back01 = SHUFFLE(m[2], m[3], PARTS, 0), back23 = SHUFFLE(m[2], m[3], PARTS, 2);
    const VECTOR reset = SHUFFLE(front23, back23, JOINED, 1);
    return (MAP){SHUFFLE(front01, back01, JOINED, 0), SHUFFLE(front01, back01, JOINED, 1),
                 SHUFFLE(front23, back23, JOINED, 0), (MAP_TRUTH)~MAP_IS_ZERO(reset)};
}

INLINE void KERNEL(store)(char *to, MAP map) {
    VECTOR *const m = (VECTOR *)to;
    const VECTOR one = (VECTOR){0} + (SUM)1, reset = MAP_IF(map.reset, one);
    map.rest += (VECTOR){0}; /* not -0.0: private/linear_map.h */
#if LANES == 2
    const VECTOR parts[4] = {map.factor, map.rest, map.term, reset};
    for (int k = 0; k < 4; k++)
        m[k] = (VECTOR){parts[k % 2 * 2][k / 2], parts[k % 2 * 2 + 1][k / 2]};
#else
    const VECTOR front01 = SHUFFLE(map.factor, map.rest, PAIRED, 0), back01 = SHUFFLE(map.factor, map.rest, PAIRED, 1);
    const VECTOR front23 = SHUFFLE(map.term, reset, PAIRED, 0), back23 = SHUFFLE(map.term, reset, PAIRED, 1);
    m[0] = SHUFFLE(front01, front23, QUADS, 0);
    m[1] = SHUFFLE(front01, front23, QUADS, 1);
    m[2] = SHUFFLE(back01, back23, QUADS, 0);
    m[3] = SHUFFLE(back01, back23, QUADS, 1);
#endif
}

INLINE bool KERNEL(any)(MAP_TRUTH truth) {
#if VECTOR_BYTES == 64
    return truth != 0;
#elif VECTOR_BYTES == 32
    return !_mm256_testz_si256((__m256i)truth, (__m256i)truth);
#else
    bool any = false;
    for (int l = 0; l < LANES; l++)
        any |= truth[l] != 0;
    return any;
#endif
}

INLINE VECTOR KERNEL(load_values)(const SUM *from, size_t lanes) {
    return lanes == LANES ? NAME(load)(from) : NAME(load_part)(from, lanes);
}

/* Lanes beyond the columns say nothing. */
INLINE MAP_TRUTH KERNEL(there)(MAP_TRUTH truth, size_t lanes) {
#if VECTOR_BYTES == 64
    return truth & (MAP_TRUTH)((1u << lanes) - 1);
#else
    for (size_t l = lanes; l < LANES; l++)
        truth[l] = 0;
    return truth;
#endif
}
