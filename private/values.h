/* Element types that C has no numbers for, as structs: a struct is not taken for an integer by mistake, and kernels
 * tell the three apart. What they are as numbers, and how results are rounded to them, is plain code for every
 * compiler, and loops over it become vectors. */
#ifndef TYPE_VALUES_H
#define TYPE_VALUES_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define VALUE_INLINE static __host__ __device__ inline
#else
#define VALUE_INLINE static inline
#endif

typedef struct value_bool {
    uint8_t byte;
} value_bool;
typedef struct value_f16 {
    uint16_t bits;
} value_f16;
typedef struct value_bf16 {
    uint16_t bits;
} value_bf16;

VALUE_INLINE float value_float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
VALUE_INLINE uint32_t value_bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 0 or 1. */
VALUE_INLINE uint8_t value_of_bool(value_bool value) { return value.byte != 0; }

/* Exact. The exponent is moved by a multiplication, which also makes normal numbers of those that were not; infinities
 * and NaN, which it would make finite, get theirs back. */
VALUE_INLINE float value_of_f16(value_f16 value) {
    const uint32_t magnitude = (uint32_t)(value.bits & 0x7fff) << 13, sign = (uint32_t)(value.bits & 0x8000) << 16;
    const uint32_t finite = value_bits_of_float(value_float_of_bits(magnitude) * 0x1p112f);
    return value_float_of_bits((magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : finite) | sign);
}
VALUE_INLINE float value_of_bf16(value_bf16 value) { return value_float_of_bits((uint32_t)value.bits << 16); }

/* Rounded to the nearest, ties to even; a NaN stays one. Values below 2^-14 are rounded by an addition, after which
 * the lowest bit of a float is that of a number that is not normal. Of the others the upper bits are kept: half of
 * their last place is added, less one if that is even. */
VALUE_INLINE value_f16 value_f16_of(float value) {
    const uint32_t bits = value_bits_of_float(value), magnitude = bits & 0x7fffffff;
    const uint32_t small = value_bits_of_float(value_float_of_bits(magnitude) + 0.5f) - 0x3f000000;
    const uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    uint32_t rounded = magnitude < 0x38800000 ? small : normal;
    rounded = magnitude >= 0x47800000 ? 0x7c00 : rounded;
    rounded = magnitude > 0x7f800000 ? 0x7e00 : rounded;
    const value_f16 result = {(uint16_t)(rounded | (bits >> 16 & 0x8000))};
    return result;
}
VALUE_INLINE value_bf16 value_bf16_of(float value) {
    const uint32_t bits = value_bits_of_float(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const value_bf16 result = {(uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded)};
    return result;
}

#endif
