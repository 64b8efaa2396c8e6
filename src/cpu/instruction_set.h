/* What a file that is compiled once for each instruction set knows of it. Vectors are as wide as the set's own; without
 * one that is known here, of 16 bytes, which the compiler makes of what there is. */
#ifndef CPU_INSTRUCTION_SET_H
#define CPU_INSTRUCTION_SET_H

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__)
#define VECTOR_BYTES 64
#if defined(__AVX512VPOPCNTDQ__) && defined(__GFNI__)
#define KERNELS_NAME "x86-64-v4+VPOPCNTDQ+GFNI"
#else
#define KERNELS_NAME "x86-64-v4"
#endif
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define KERNELS_NAME "x86-64-v3"
#elif defined(__SSE4_2__)
#define VECTOR_BYTES 16
#define KERNELS_NAME "x86-64-v2"
#else
#define VECTOR_BYTES 16
#define KERNELS_NAME "plain C"
#endif

/* What the instruction sets with vectors of one width share: they gain nothing from what else they have. */
#if VECTOR_BYTES == 64
#define OPERATION_TAG(operation, type) operation##_##type##_v4
#elif VECTOR_BYTES == 32
#define OPERATION_TAG(operation, type) operation##_##type##_v3
#else
#define OPERATION_TAG(operation, type) operation##_##type##_plain
#endif
#define OPERATION_KERNELS(operation, type) PASTE(kernels, OPERATION_TAG(operation, type))

#define PASTE_(a, b) a##_##b
#define PASTE(a, b)  PASTE_(a, b)

/* The loops are functions that call each other where the build says that they have a sanitizer's checks in them
 * (meson.build), and one function otherwise. */
#ifdef SANITIZED
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

#endif
