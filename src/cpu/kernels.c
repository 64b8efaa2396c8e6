/* Compiled once for each instruction set, with KERNELS naming the table. Vectors are as wide as the set's own; without
 * one that is known here, of 16 bytes, which the compiler makes of what there is. */
#include <stdint.h>
#include <string.h>

#include "instruction_set.h"
#include "kernels.h"

#define SUM       uint32_t
#define TAG       u32
#define SUM_BYTES 4
#define FLOATING  0
#define OPERATION "sums.h"
#include "type_kernels.h"

#define SUM       uint64_t
#define TAG       u64
#define SUM_BYTES 8
#define FLOATING  0
#define OPERATION "sums.h"
#include "type_kernels.h"

#define SUM       float
#define TAG       f32
#define SUM_BYTES 4
#define FLOATING  1
#define OPERATION "sums.h"
#include "type_kernels.h"

#define SUM       double
#define TAG       f64
#define SUM_BYTES 8
#define FLOATING  1
#define OPERATION "sums.h"
#include "type_kernels.h"

#include "stream.h"

/* The kernels of maxima, minima and products are those of operations.c. */
#define DECLARE(OPERATION, TYPE, C, ORDER, CHECK)                                                                      \
    extern const struct cpu_element_kernels OPERATION_KERNELS(OPERATION, TYPE);
TABLE_EXTREMES(DECLARE, MAXIMUM)
TABLE_EXTREMES(DECLARE, MINIMUM)
DECLARE(PRODUCT, U32, , , )
DECLARE(PRODUCT, U64, , , )

#define EXTREME_ENTRY(OPERATION, TYPE, C, ORDER, CHECK)                                                                \
    [ELEMENT_##OPERATION##_##TYPE] = &OPERATION_KERNELS(OPERATION, TYPE),

#ifndef TUPLESCAN_WITHOUT_KEYS
extern const struct cpu_key_kernels KEY_KERNELS;
#endif
extern const struct cpu_conversions CONVERSIONS;

const struct cpu_kernels KERNELS = {
    .name = KERNELS_NAME,
    .vector_bytes = VECTOR_BYTES,
    .elements = {[ELEMENT_SUM_U32] = &kernels_u32,
                 [ELEMENT_SUM_I32] = &kernels_u32,
                 [ELEMENT_SUM_U64] = &kernels_u64,
                 [ELEMENT_SUM_I64] = &kernels_u64,
                 [ELEMENT_SUM_F32] = &kernels_f32,
                 [ELEMENT_SUM_F64] = &kernels_f64,
                 TABLE_EXTREMES(EXTREME_ENTRY, MAXIMUM) TABLE_EXTREMES(EXTREME_ENTRY, MINIMUM)[ELEMENT_PRODUCT_U32] =
                     &OPERATION_KERNELS(PRODUCT, U32),
                 [ELEMENT_PRODUCT_I32] = &OPERATION_KERNELS(PRODUCT, U32),
                 [ELEMENT_PRODUCT_U64] = &OPERATION_KERNELS(PRODUCT, U64),
                 [ELEMENT_PRODUCT_I64] = &OPERATION_KERNELS(PRODUCT, U64),
                 [ELEMENT_PRODUCT_F32] = &product_kernels_f32,
                 [ELEMENT_PRODUCT_F64] = &product_kernels_f64,
                 [ELEMENT_RECURRENCE_F32] = &map_kernels_f32,
                 [ELEMENT_RECURRENCE_F64] = &map_kernels_f64},
    .conversions = &CONVERSIONS,
#ifndef TUPLESCAN_WITHOUT_KEYS
    .keys = &KEY_KERNELS,
#endif
    .stream = stream,
    .stream_end = stream_end,
};
