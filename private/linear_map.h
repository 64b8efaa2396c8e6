/* Maps of float and of double, and how a map lies in memory. Plain C that CUDA C can include, too. The formulas are in
 * linear_map_rules.h. */
#ifndef LINEAR_MAP_H
#define LINEAR_MAP_H

#include <math.h>

#include "values.h"

#define MAP_INLINE              VALUE_INLINE
#define MAP_TRUTH               int
#define MAP_ALL_FALSE           0
#define MAP_IF(truth, x)        ((truth) ? (x) : 0)
#define MAP_CHOOSE(truth, x, y) ((truth) ? (x) : (y))
#define MAP_IS_ZERO(x)          (-((x) == 0))
#define MAP_FINITE(x)           (-((x) - (x) == 0))

#define MAP_VALUE      float
#define MAP_NAME(name) name##_f32
#ifdef __CUDA_ARCH__
#define MAP_FMA(x, y, z) __fmaf_rn(x, y, z)
#define MAP_MUL(x, y)    __fmul_rn(x, y)
#define MAP_ADD(x, y)    __fadd_rn(x, y)
#define MAP_SUB(x, y)    __fsub_rn(x, y)
#else
#define MAP_FMA(x, y, z) fmaf(x, y, z)
#define MAP_MUL(x, y)    ((x) * (y))
#define MAP_ADD(x, y)    ((x) + (y))
#define MAP_SUB(x, y)    ((x) - (y))
#endif
#include "linear_map_rules.h"
#undef MAP_SUB
#undef MAP_ADD
#undef MAP_MUL
#undef MAP_FMA
#undef MAP_NAME
#undef MAP_VALUE

#define MAP_VALUE      double
#define MAP_NAME(name) name##_f64
#ifdef __CUDA_ARCH__
#define MAP_FMA(x, y, z) __fma_rn(x, y, z)
#define MAP_MUL(x, y)    __dmul_rn(x, y)
#define MAP_ADD(x, y)    __dadd_rn(x, y)
#define MAP_SUB(x, y)    __dsub_rn(x, y)
#else
#define MAP_FMA(x, y, z) fma(x, y, z)
#define MAP_MUL(x, y)    ((x) * (y))
#define MAP_ADD(x, y)    ((x) + (y))
#define MAP_SUB(x, y)    ((x) - (y))
#endif
#include "linear_map_rules.h"
#undef MAP_SUB
#undef MAP_ADD
#undef MAP_MUL
#undef MAP_FMA
#undef MAP_NAME
#undef MAP_VALUE

#undef MAP_FINITE
#undef MAP_IS_ZERO
#undef MAP_CHOOSE
#undef MAP_IF
#undef MAP_ALL_FALSE
#undef MAP_TRUTH
#undef MAP_INLINE

/* A map in memory, in rows of totals and in states: four values, `reset` being 0 or 1. A rest that is 0 is +0.0 there:
 * its sign would tell whether maps that change nothing have been joined with it. */
typedef struct linear_map_f32 {
    float factor, rest, term, reset;
} linear_map_f32;
typedef struct linear_map_f64 {
    double factor, rest, term, reset;
} linear_map_f64;

VALUE_INLINE struct map_f32 map_read_f32(linear_map_f32 from) {
    const struct map_f32 map = {from.factor, from.rest, from.term, -(from.reset != 0)};
    return map;
}
VALUE_INLINE struct map_f64 map_read_f64(linear_map_f64 from) {
    const struct map_f64 map = {from.factor, from.rest, from.term, -(from.reset != 0)};
    return map;
}
VALUE_INLINE linear_map_f32 map_write_f32(struct map_f32 map) {
    const linear_map_f32 to = {map.factor, map.rest + 0.0f, map.term, map.reset ? 1.0f : 0.0f};
    return to;
}
VALUE_INLINE linear_map_f64 map_write_f64(struct map_f64 map) {
    const linear_map_f64 to = {map.factor, map.rest + 0.0, map.term, map.reset ? 1.0 : 0.0};
    return to;
}

#endif
