/* Compiled once for each instruction set, with KEY_KERNELS naming the table: see key_kernels.h. */
#include "key_kernels.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b)  PASTE_(a, b)
#define INLINE       static inline __attribute__((always_inline))

#include "key_lines.h"

/* Counting by bytes is before counting digits, which uses it. */
#if defined(__AVX512VPOPCNTDQ__) && defined(__GFNI__)
#define BYTE_KERNELS 1
#include "count_bytes.h"
#else
#define BYTE_KERNELS 0
#endif

#define KEY          uint8_t
#define KEY_SIGNED   int8_t
#define TAG          u8
#define KEY_IN_WORD  8
#define KEY_FLOATING 0
#include "key_digits.h"

#define KEY          uint16_t
#define KEY_SIGNED   int16_t
#define TAG          u16
#define KEY_IN_WORD  4
#define KEY_FLOATING 0
#include "key_digits.h"

#define KEY          uint32_t
#define KEY_SIGNED   int32_t
#define TAG          u32
#define KEY_IN_WORD  2
#define KEY_FLOATING 0
#include "key_digits.h"

#define KEY          uint64_t
#define KEY_SIGNED   int64_t
#define TAG          u64
#define KEY_IN_WORD  1
#define KEY_FLOATING 0
#include "key_digits.h"

#define KEY          uint32_t
#define KEY_SIGNED   int32_t
#define TAG          f32
#define KEY_IN_WORD  1
#define KEY_FLOATING 1
#include "key_digits.h"

#define KEY          uint64_t
#define KEY_SIGNED   int64_t
#define TAG          f64
#define KEY_IN_WORD  1
#define KEY_FLOATING 1
#include "key_digits.h"

#define VALUE        uint8_t
#define VALUE_BITS   8
#define TAG          u8
#define VALUE_SIGNED 0
#define KEY_FLOATING 0
#include "key_bins.h"

#define VALUE        uint16_t
#define VALUE_BITS   16
#define TAG          u16
#define VALUE_SIGNED 0
#define KEY_FLOATING 0
#include "key_bins.h"

#define VALUE        uint32_t
#define VALUE_BITS   32
#define TAG          u32
#define VALUE_SIGNED 0
#define KEY_FLOATING 0
#include "key_bins.h"

#define VALUE        uint64_t
#define VALUE_BITS   64
#define TAG          u64
#define VALUE_SIGNED 0
#define KEY_FLOATING 0
#include "key_bins.h"

#define VALUE        int32_t
#define VALUE_BITS   32
#define TAG          i32
#define VALUE_SIGNED 1
#define KEY_FLOATING 0
#include "key_bins.h"

#define VALUE        int64_t
#define VALUE_BITS   64
#define TAG          i64
#define VALUE_SIGNED 1
#define KEY_FLOATING 0
#include "key_bins.h"

#define VALUE        float
#define VALUE_BITS   32
#define TAG          f32
#define VALUE_SIGNED 1
#define KEY_FLOATING 1
#include "key_bins.h"

#define VALUE        double
#define VALUE_BITS   64
#define TAG          f64
#define VALUE_SIGNED 1
#define KEY_FLOATING 1
#include "key_bins.h"

#if BYTE_KERNELS
#include "byte_kernels.h"
#endif

static void add_ones(uint32_t *tables, size_t pitch, const uint32_t *bins, size_t count) {
    uint32_t *const second = tables + pitch, *const third = second + pitch, *const fourth = third + pitch;
    const size_t whole = count & ~(size_t)3;
    for (size_t i = 0; i < whole; i += 4) {
        tables[bins[i]]++;
        second[bins[i + 1]]++;
        third[bins[i + 2]]++;
        fourth[bins[i + 3]]++;
    }
    for (size_t i = whole; i < count; i++)
        tables[bins[i]]++;
}

#define DEFINE_ADD_WEIGHTS(NAME, CHUNKS, WEIGHT, SUM)                                                                  \
    static void NAME(void *const sums[BIN_CHUNKS], uint32_t *const bins[BIN_CHUNKS],                                   \
                     const void *const weights[BIN_CHUNKS], size_t count) {                                            \
        for (size_t i = 0; i < count; i++)                                                                             \
            for (unsigned c = 0; c < CHUNKS; c++)                                                                      \
                ((SUM *)sums[c])[bins[c][i]] += (SUM)((const WEIGHT *)weights[c])[i];                                  \
    }

DEFINE_ADD_WEIGHTS(add_f32_f32, BIN_CHUNKS, float, float)
DEFINE_ADD_WEIGHTS(add_f32_f64, BIN_CHUNKS, float, double)
DEFINE_ADD_WEIGHTS(add_f64_f64, BIN_CHUNKS, double, double)
DEFINE_ADD_WEIGHTS(add_f32_f32_alone, 1, float, float)
DEFINE_ADD_WEIGHTS(add_f32_f64_alone, 1, float, double)
DEFINE_ADD_WEIGHTS(add_f64_f64_alone, 1, double, double)

#define SCATTERS(TAG)                                                                                                  \
    { scatter_keys_##TAG, scatter_4_##TAG, scatter_8_##TAG, scatter_index_4_##TAG, scatter_index_8_##TAG }
#define FINDS(TAG)                                                                                                     \
    {                                                                                                                  \
        [TABLE_BINS_EVEN] = find_even_##TAG, [TABLE_BINS_EDGES] = find_edges_##TAG,                                    \
        [TABLE_BINS_INTEGER] = find_integer_##TAG                                                                      \
    }

const struct cpu_key_kernels KEY_KERNELS = {
    .count = {[TABLE_U8] = count_u8,
              [TABLE_U16] = count_u16,
              [TABLE_U32] = count_u32,
              [TABLE_U64] = count_u64,
              [TABLE_I32] = count_u32,
              [TABLE_I64] = count_u64,
              [TABLE_F32] = count_f32,
              [TABLE_F64] = count_f64},
    .ascend = {[TABLE_U8] = ascend_u8,
               [TABLE_U16] = ascend_u16,
               [TABLE_U32] = ascend_u32,
               [TABLE_U64] = ascend_u64,
               [TABLE_I32] = ascend_u32,
               [TABLE_I64] = ascend_u64,
               [TABLE_F32] = ascend_f32,
               [TABLE_F64] = ascend_f64},
    .scatter = {[TABLE_U8] = SCATTERS(u8),
                [TABLE_U16] = SCATTERS(u16),
                [TABLE_U32] = SCATTERS(u32),
                [TABLE_U64] = SCATTERS(u64),
                [TABLE_I32] = SCATTERS(u32),
                [TABLE_I64] = SCATTERS(u64),
                [TABLE_F32] = SCATTERS(f32),
                [TABLE_F64] = SCATTERS(f64)},
    .find = {[TABLE_U8] = FINDS(u8),
             [TABLE_U16] = FINDS(u16),
             [TABLE_U32] = FINDS(u32),
             [TABLE_U64] = FINDS(u64),
             [TABLE_I32] = FINDS(i32),
             [TABLE_I64] = FINDS(i64),
             [TABLE_F32] = {[TABLE_BINS_EVEN] = find_even_f32, [TABLE_BINS_EDGES] = find_edges_f32},
             [TABLE_F64] = {[TABLE_BINS_EVEN] = find_even_f64, [TABLE_BINS_EDGES] = find_edges_f64}},
#if BYTE_KERNELS
    .find_bytes = {[TABLE_U16] = find_bytes_u16,
                   [TABLE_U32] = find_bytes_u32,
                   [TABLE_U64] = find_bytes_u64,
                   [TABLE_I32] = find_bytes_i32,
                   [TABLE_I64] = find_bytes_i64,
                   [TABLE_F32] = find_bytes_f32,
                   [TABLE_F64] = find_bytes_f64},
    .count_bytes = count_bytes,
#endif
    .add_ones = add_ones,
    .add_weights = {add_f32_f32, add_f32_f64, add_f64_f64},
    .add_weights_alone = {add_f32_f32_alone, add_f32_f64_alone, add_f64_f64_alone},
};
