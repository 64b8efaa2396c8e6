/* What a file that is compiled once for each instruction set knows of it. Vectors are as wide as the set's own; without
 * one that is known here, of 16 bytes, which the compiler makes of what there is. */
#ifndef CPU_INSTRUCTION_SET_H
#define CPU_INSTRUCTION_SET_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__)
#define VECTOR_BYTES 64
#define KERNELS_NAME "x86-64-v4"
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define KERNELS_NAME "x86-64-v3"
#else
#define VECTOR_BYTES 16
#define KERNELS_NAME "plain C"
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b)  PASTE_(a, b)

/* Column n of a row of facts about a type. */
#define TRAIT(n, row)                     TRAIT_(n, row, )
#define TRAIT_(n, ...)                    TRAIT_##n(__VA_ARGS__)
#define TRAIT_1(a, ...)                   a
#define TRAIT_2(a, b, ...)                b
#define TRAIT_3(a, b, c, ...)             c
#define TRAIT_4(a, b, c, d, ...)          d
#define TRAIT_5(a, b, c, d, e, ...)       e
#define TRAIT_6(a, b, c, d, e, f, ...)    f
#define TRAIT_7(a, b, c, d, e, f, g, ...) g

/* What the instruction sets with vectors of one width share has its width in its names. */
#if VECTOR_BYTES == 64
#define WIDTH_TAG v4
#elif VECTOR_BYTES == 32
#define WIDTH_TAG v3
#else
#define WIDTH_TAG plain
#endif
#define KERNELS_OF(name, operation, type) PASTE(name, PASTE(operation, PASTE(type, WIDTH_TAG)))

/* The loops are functions that call each other where the build says that they have a sanitizer's checks in them
 * (meson.build), and one function otherwise. */
#ifdef SANITIZED
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

/* How fma() of vectors is declared. Where it is calls of the C library, they would be half of the code of kernels. */
#if defined(__x86_64__) && !defined(__FMA__)
#define FMA_INLINE static __attribute__((noinline))
#else
#define FMA_INLINE INLINE
#endif

/* Before loops over the rows of a group, whose vectors are to stay in registers. */
#if defined(SANITIZED)
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* Past the caches, where there is such a thing: a vector to a place that is aligned to it, and a line of 64 bytes to
 * one that begins there. stream_end() has to be called before another thread may look at them. */
typedef char stream_vector __attribute__((vector_size(VECTOR_BYTES)));
typedef char stream_source __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

INLINE void stream_one(void *to, stream_vector bytes) {
#if !defined(__x86_64__)
    *(stream_source *)to = bytes;
#elif VECTOR_BYTES == 64
    _mm512_stream_si512(to, (__m512i)bytes);
#elif VECTOR_BYTES == 32
    _mm256_stream_si256((__m256i *)to, (__m256i)bytes);
#else
    _mm_stream_si128((__m128i *)to, (__m128i)bytes);
#endif
}

INLINE void stream_line(char *to, const char *from) {
    for (int at = 0; at < 64; at += VECTOR_BYTES)
        stream_one(to + at, *(const stream_source *)(from + at));
}

static inline void stream_end(void) {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

#endif
