/* Vectors of sums that lie in memory as values of another format. Part of vector.h. Only f32 has other formats,
 * f16 and bf16, and f16 only where the instruction set converts it; the bits are those of values.h. */
#if FLOATING && SUM_BYTES == 4
#if defined(__F16C__)
#define FORMATS (1u << CPU_F16 | 1u << CPU_BF16)
#else
#define FORMATS (1u << CPU_BF16)
#endif
#else
#define FORMATS 0
#endif

/* Once, for all vectors of f32. */
#if FORMATS && !defined(HALVES)
#define HALVES
typedef uint16_t half_vector __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef uint16_t half_unaligned __attribute__((vector_size(VECTOR_BYTES / 2), aligned(1), may_alias));
typedef uint32_t bits_vector __attribute__((vector_size(VECTOR_BYTES)));

INLINE VECTOR widen_bf16(half_vector halves) { return (VECTOR)(__builtin_convertvector(halves, bits_vector) << 16); }

INLINE half_vector round_bf16(VECTOR values) {
    const bits_vector bits = (bits_vector)values;
#if VECTOR_BYTES == 64
    const __m512i one = _mm512_set1_epi32(1), half = _mm512_set1_epi32(0x7fff), quiet = _mm512_set1_epi32(0x400000);
    const __mmask16 nan = _mm512_cmp_ps_mask((__m512)values, (__m512)values, _CMP_UNORD_Q);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32((__m512i)bits, 16), one);
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32((__m512i)bits, half), odd);
    const __m512i upper = _mm512_mask_or_epi32(rounded, nan, (__m512i)bits, quiet);
    return (half_vector)_mm512_cvtepi32_epi16(_mm512_srli_epi32(upper, 16));
#else
    const bits_vector nan = (bits_vector)(values != values), rounded = bits + 0x7fff + (bits >> 16 & 1);
    return __builtin_convertvector(((nan & (bits | 0x400000)) | (~nan & rounded)) >> 16, half_vector);
#endif
}

#if defined(__F16C__)
INLINE VECTOR widen_f16(half_vector halves) {
#if VECTOR_BYTES == 64
    return (VECTOR)_mm512_cvtph_ps((__m256i)halves);
#else
    return (VECTOR)_mm256_cvtph_ps((__m128i)halves);
#endif
}

/* Rounds to the nearest; of a NaN no more is left than its sign. */
INLINE half_vector round_f16(VECTOR values) {
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
#if VECTOR_BYTES == 64
    const __mmask16 nan = _mm512_cmp_ps_mask((__m512)values, (__m512)values, _CMP_UNORD_Q);
    const __m256i halves = _mm512_cvtps_ph((__m512)values, NEAREST), kept = _mm256_set1_epi16((short)0xfe00);
    return (half_vector)_mm256_mask_mov_epi16(halves, nan, _mm256_and_si256(halves, kept));
#else
    const half_vector halves = (half_vector)_mm256_cvtps_ph((__m256)values, NEAREST);
    const half_vector nan = (half_vector)((halves & 0x7fff) > 0x7c00);
    return halves & ~(nan & 0x1ff);
#endif
}
#endif

#if VECTOR_BYTES == 64
/* Two vectors without NaN. */
INLINE __m512i round_numbers_f16(VECTOR left, VECTOR right) {
    enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    const __m512i halves = _mm512_castsi256_si512(_mm512_cvtps_ph((__m512)left, NEAREST));
    return _mm512_inserti64x4(halves, _mm512_cvtps_ph((__m512)right, NEAREST), 1);
}

INLINE __m512i add_half(VECTOR values) {
    const __m512i bits = (__m512i)values, one = _mm512_set1_epi32(1), half = _mm512_set1_epi32(0x7fff);
    return _mm512_add_epi32(_mm512_add_epi32(bits, half), _mm512_and_si512(_mm512_srli_epi32(bits, 16), one));
}

INLINE __m512i round_numbers_bf16(VECTOR left, VECTOR right) {
    const __m512i count = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                                           12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i odd_ones = _mm512_add_epi16(_mm512_slli_epi16(count, 1), _mm512_set1_epi16(1));
    return _mm512_permutex2var_epi16(add_half(left), odd_ones, add_half(right));
}
#endif

INLINE void stream_halves(void *to, half_vector halves) {
#if VECTOR_BYTES == 64
    _mm256_stream_si256(to, (__m256i)halves);
#elif VECTOR_BYTES == 32
    _mm_stream_si128(to, (__m128i)halves);
#else
    *(half_unaligned *)to = halves;
#endif
}
#endif

/* The vector from value number `index` on. */
INLINE VECTOR NAME(load_as)(const void *from, ptrdiff_t index, enum cpu_format format) {
#if FORMATS
    const half_unaligned *const halves = (const half_unaligned *)((const uint16_t *)from + index);
    if (format == CPU_BF16)
        return widen_bf16(*halves);
#if defined(__F16C__)
    if (format == CPU_F16)
        return widen_f16(*halves);
#endif
#endif
    (void)format;
    return NAME(load)((const SUM *)from + index);
}

INLINE void NAME(store_as)(void *to, ptrdiff_t index, VECTOR values, enum cpu_format format, bool past_caches) {
#if FORMATS
    if (format != CPU_AS_SUMS) {
        half_vector halves = round_bf16(values);
#if defined(__F16C__)
        if (format == CPU_F16)
            halves = round_f16(values);
#endif
        if (past_caches)
            stream_halves((uint16_t *)to + index, halves);
        else
            *(half_unaligned *)((uint16_t *)to + index) = halves;
        return;
    }
#endif
    (void)format;
    if (past_caches)
        NAME(stream)((SUM *)to + index, values);
    else
        NAME(store)((SUM *)to + index, values);
}

/* Two vectors that follow each other: without NaN, which are rare, rounding is less to do. */
INLINE void NAME(store_two_as)(void *to, ptrdiff_t index, VECTOR left, VECTOR right, enum cpu_format format,
                               bool past_caches) {
#if FORMATS && VECTOR_BYTES == 64
    const void *const at = (uint16_t *)to + index;
    if (format != CPU_AS_SUMS && _mm512_cmp_ps_mask((__m512)left, (__m512)right, _CMP_UNORD_Q) == 0) {
        const __m512i halves = format == CPU_F16 ? round_numbers_f16(left, right) : round_numbers_bf16(left, right);
        if (past_caches)
            _mm512_stream_si512((void *)(uintptr_t)at, halves);
        else
            _mm512_storeu_si512((void *)(uintptr_t)at, halves);
        return;
    }
#endif
    NAME(store_as)(to, index, left, format, past_caches);
    NAME(store_as)(to, index + LANES, right, format, past_caches);
}

/* Calls with a format that the compiler knows, so that loops have no branches in them. */
#if FORMATS
#define BY_FORMAT(format, CALL)                                                                                        \
    do {                                                                                                               \
        if ((format) == CPU_AS_SUMS)                                                                                   \
            CALL(CPU_AS_SUMS);                                                                                         \
        else if ((format) == CPU_BF16)                                                                                 \
            CALL(CPU_BF16);                                                                                            \
        else                                                                                                           \
            CALL(CPU_F16);                                                                                             \
    } while (0)
#else
#define BY_FORMAT(format, CALL)                                                                                        \
    do {                                                                                                               \
        (void)(format);                                                                                                \
        CALL(CPU_AS_SUMS);                                                                                             \
    } while (0)
#endif
