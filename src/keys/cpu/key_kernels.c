/* Compiled once for each instruction set, with KEY_KERNELS naming the table: see key_kernels.h. */
#include "key_kernels.h"

#include <string.h>

#include "cpu/instruction_set.h"

/* Values beside keys, and lines that are written past the caches. */

INLINE size_t move_bytes(enum key_move move) {
    return move == MOVE_KEYS ? 0 : move == MOVE_4 || move == MOVE_INDEX_4 ? 4 : 8;
}

/* The value of key i to `slot`. Values may lie anywhere. */
INLINE void move_value(char *slot, const struct key_places *to, size_t i, enum key_move move) {
    const uint64_t index = to->first_index + i;
    const uint32_t small_index = (uint32_t)index;
    switch (move) {
    case MOVE_KEYS:
        break;
    case MOVE_4:
        memcpy(slot, (const char *)to->values_from + 4 * i, 4);
        break;
    case MOVE_8:
        memcpy(slot, (const char *)to->values_from + 8 * i, 8);
        break;
    case MOVE_INDEX_4:
        memcpy(slot, &small_index, 4);
        break;
    case MOVE_INDEX_8:
        memcpy(slot, &index, 8);
        break;
    }
}

/* A line that is full, `last` being the place of its last element: all of it, or, if it is a digit's first line, what
 * there is from the digit's first place on. What lies before that is another digit's. */
INLINE void write_line(void *memory, const void *line, size_t last, size_t before, size_t first, size_t size,
                       bool stream) {
    const size_t in_line = KEY_LINE / size, begin = last + 1 - in_line;
    char *to = (char *)memory + (last + 1 - before) * size;
    if (first > begin)
        memcpy(to - (last + 1 - first) * size, (const char *)line + (first - begin) * size, (last + 1 - first) * size);
    else if (stream)
        stream_line(to - KEY_LINE, line);
    else
        memcpy(to - KEY_LINE, line, KEY_LINE);
}

/* Writes the rest of a line when the digit ends at the place `end`. */
INLINE void write_rest(void *memory, const void *line, size_t end, size_t before, size_t first, size_t size) {
    const size_t begin = end - end % (KEY_LINE / size), from = first > begin ? first : begin;
    if (from < end)
        memcpy((char *)memory + (from - before) * size, (const char *)line + (from - begin) * size,
               (end - from) * size);
}

/* Counting by bytes is before counting digits, which uses it. */
#if defined(__AVX512VPOPCNTDQ__) && defined(__GFNI__)
#define BYTE_KERNELS 1
#include "bytes.h"
#else
#define BYTE_KERNELS 0
#endif

/* The row of a TAG has the type of its values; their bits, whether they have a sign, whether they are floats; the types
 * of its keys without and with a sign, and how many keys are made digits in one word of eight bytes. */
#define KEY_TRAITS_u8  uint8_t, 8, 0, 0, uint8_t, int8_t, 8
#define KEY_TRAITS_u16 uint16_t, 16, 0, 0, uint16_t, int16_t, 4
#define KEY_TRAITS_u32 uint32_t, 32, 0, 0, uint32_t, int32_t, 2
#define KEY_TRAITS_u64 uint64_t, 64, 0, 0, uint64_t, int64_t, 1
#define KEY_TRAITS_i32 int32_t, 32, 1, 0, uint32_t, int32_t, 2
#define KEY_TRAITS_i64 int64_t, 64, 1, 0, uint64_t, int64_t, 1
#define KEY_TRAITS_f32 float, 32, 1, 1, uint32_t, int32_t, 1
#define KEY_TRAITS_f64 double, 64, 1, 1, uint64_t, int64_t, 1

#define VALUE        TRAIT(1, PASTE(KEY_TRAITS, TAG))
#define VALUE_BITS   TRAIT(2, PASTE(KEY_TRAITS, TAG))
#define VALUE_SIGNED TRAIT(3, PASTE(KEY_TRAITS, TAG))
#define KEY_FLOATING TRAIT(4, PASTE(KEY_TRAITS, TAG))
#define KEY          TRAIT(5, PASTE(KEY_TRAITS, TAG))
#define KEY_SIGNED   TRAIT(6, PASTE(KEY_TRAITS, TAG))
#define KEY_IN_WORD  TRAIT(7, PASTE(KEY_TRAITS, TAG))

#define TAG u8
#include "key_digits.h"
#define TAG u16
#include "key_digits.h"
#define TAG u32
#include "key_digits.h"
#define TAG u64
#include "key_digits.h"
#define TAG f32
#include "key_digits.h"
#define TAG f64
#include "key_digits.h"

/* Eight values at p as doubles. */
#define DOUBLES_u16(p, r) _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p))))
#define DOUBLES_u32(p, r) _mm512_cvtepu32_pd(_mm256_loadu_si256((const void *)(p)))
#define DOUBLES_u64(p, r) _mm512_cvt_roundepu64_pd(_mm512_loadu_si512(p), r)
#define DOUBLES_i32(p, r) _mm512_cvtepi32_pd(_mm256_loadu_si256((const void *)(p)))
#define DOUBLES_i64(p, r) _mm512_cvt_roundepi64_pd(_mm512_loadu_si512(p), r)
#define DOUBLES_f32(p, r) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#define DOUBLES_f64(p, r) _mm512_loadu_pd(p)

#define TAG u8
#include "key_bins.h"
#define TAG u16
#include "key_bins.h"
#define TAG u32
#include "key_bins.h"
#define TAG u64
#include "key_bins.h"
#define TAG i32
#include "key_bins.h"
#define TAG i64
#include "key_bins.h"
#define TAG f32
#include "key_bins.h"
#define TAG f64
#include "key_bins.h"

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

/* The kernels for keys of a type, which are those for keys of that width, and for its values. */
#define KERNELS_FOR(TYPE, KEY_TAG, TAG)                                                                                \
    .count[TYPE] = count_##KEY_TAG, .ascend[TYPE] = ascend_##KEY_TAG,                                                  \
    .scatter[TYPE] = {scatter_keys_##KEY_TAG, scatter_4_##KEY_TAG, scatter_8_##KEY_TAG, scatter_index_4_##KEY_TAG,     \
                      scatter_index_8_##KEY_TAG},                                                                      \
    .find[TYPE][TABLE_BINS_EVEN] = find_even_##TAG, .find[TYPE][TABLE_BINS_EDGES] = find_edges_##TAG
#define KERNELS_FOR_INTEGERS(TYPE, KEY_TAG, TAG)                                                                       \
    KERNELS_FOR(TYPE, KEY_TAG, TAG), .find[TYPE][TABLE_BINS_INTEGER] = find_integer_##TAG

const struct cpu_key_kernels KEY_KERNELS = {
    KERNELS_FOR_INTEGERS(TABLE_U8, u8, u8),
    KERNELS_FOR_INTEGERS(TABLE_U16, u16, u16),
    KERNELS_FOR_INTEGERS(TABLE_U32, u32, u32),
    KERNELS_FOR_INTEGERS(TABLE_U64, u64, u64),
    KERNELS_FOR_INTEGERS(TABLE_I32, u32, i32),
    KERNELS_FOR_INTEGERS(TABLE_I64, u64, i64),
    KERNELS_FOR(TABLE_F32, f32, f32),
    KERNELS_FOR(TABLE_F64, f64, f64),
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
