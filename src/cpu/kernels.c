/* Compiled once for each instruction set, with KERNELS naming the table. Vectors are as wide as the set's own; without
 * one that is known here, of 16 bytes, which the compiler makes of what there is. */
#include <stdint.h>
#include <string.h>

#include "instruction_set.h"
#include "kernels.h"

#define OPERATION ADDITION
#define TYPE      U32
#include "type_kernels.h"
#define TYPE U64
#include "type_kernels.h"
#define TYPE F32
#include "type_kernels.h"
#define TYPE F64
#include "type_kernels.h"

/* A copy that leaves the caches alone: whole lines are written past them, without being read first. */
static void stream(void *to, const void *from, size_t bytes) {
    enum { LINE = 64 };
    char *out = to;
    const char *in = from;
    const size_t head = -(uintptr_t)to % LINE;
    if (bytes < head + LINE) {
        memcpy(out, in, bytes);
        return;
    }
    memcpy(out, in, head);
    size_t done = head;
    for (; done + LINE <= bytes; done += LINE)
        stream_line(out + done, in + done);
    memcpy(out + done, in + done, bytes - done);
}

#undef OPERATION /* a name of columns from here on */

/* operations.c has the kernels of maxima, minima and products. */
#define DECLARE(OPERATION, TYPE, C, ORDER, CHECK)                                                                      \
    extern const struct cpu_element_kernels KERNELS_OF(kernels, OPERATION, TYPE);
TABLE_EXTREMES(DECLARE, MAXIMUM)
TABLE_EXTREMES(DECLARE, MINIMUM)
DECLARE(PRODUCT, U32, , , )
DECLARE(PRODUCT, U64, , , )

#define EXTREME_ENTRY(OPERATION, TYPE, C, ORDER, CHECK)                                                                \
    [ELEMENT_##OPERATION##_##TYPE] = &KERNELS_OF(kernels, OPERATION, TYPE),

static const struct cpu_element_kernels *const elements[ELEMENTS] = {
    [ELEMENT_SUM_U32] = &KERNELS_OF(kernels, ADDITION, U32),
    [ELEMENT_SUM_I32] = &KERNELS_OF(kernels, ADDITION, U32),
    [ELEMENT_SUM_U64] = &KERNELS_OF(kernels, ADDITION, U64),
    [ELEMENT_SUM_I64] = &KERNELS_OF(kernels, ADDITION, U64),
    [ELEMENT_SUM_F32] = &KERNELS_OF(kernels, ADDITION, F32),
    [ELEMENT_SUM_F64] = &KERNELS_OF(kernels, ADDITION, F64),
    TABLE_EXTREMES(EXTREME_ENTRY, MAXIMUM) TABLE_EXTREMES(EXTREME_ENTRY, MINIMUM)[ELEMENT_PRODUCT_U32] =
        &KERNELS_OF(kernels, PRODUCT, U32),
    [ELEMENT_PRODUCT_I32] = &KERNELS_OF(kernels, PRODUCT, U32),
    [ELEMENT_PRODUCT_U64] = &KERNELS_OF(kernels, PRODUCT, U64),
    [ELEMENT_PRODUCT_I64] = &KERNELS_OF(kernels, PRODUCT, U64),
    [ELEMENT_PRODUCT_F32] = &KERNELS_OF(product_kernels, ADDITION, F32),
    [ELEMENT_PRODUCT_F64] = &KERNELS_OF(product_kernels, ADDITION, F64),
    [ELEMENT_RECURRENCE_F32] = &KERNELS_OF(map_kernels, ADDITION, F32),
    [ELEMENT_RECURRENCE_F64] = &KERNELS_OF(map_kernels, ADDITION, F64)};

extern const struct cpu_conversions CONVERSIONS;

#ifdef TUPLESCAN_WITHOUT_KEYS
#define KEYS_OF(key_kernels) NULL
#else
#define KEYS_OF(key_kernels) &(key_kernels)
extern const struct cpu_key_kernels KEY_KERNELS;
#endif
#define ALL_KERNELS(label, key_kernels)                                                                                \
    { label, VECTOR_BYTES, elements, &CONVERSIONS, stream, KEYS_OF(key_kernels), stream_end }
const struct cpu_kernels KERNELS = ALL_KERNELS(KERNELS_NAME, KEY_KERNELS);

/* The kernels of keys alone gain by instructions that count bits and turn matrices of them. */
#ifdef KERNELS_WITH_BITS
#ifndef TUPLESCAN_WITHOUT_KEYS
extern const struct cpu_key_kernels KEY_KERNELS_WITH_BITS;
#endif
const struct cpu_kernels KERNELS_WITH_BITS = ALL_KERNELS(KERNELS_NAME "+VPOPCNTDQ+GFNI", KEY_KERNELS_WITH_BITS);
#endif
