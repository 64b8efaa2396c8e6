/* Vectors of one element type, for kernels.c. Expects OPERATION, TYPE, NAME and VECTOR_BYTES.
 * Included once for each element type. */
#define TRAITS_U32 uint32_t, 4, 0, 0, UINT32_MAX
#define TRAITS_I32 int32_t, 4, 0, INT32_MIN, INT32_MAX
#define TRAITS_U64 uint64_t, 8, 0, 0, UINT64_MAX
#define TRAITS_I64 int64_t, 8, 0, INT64_MIN, INT64_MAX
#define TRAITS_F32 float, 4, 1, -INFINITY, INFINITY
#define TRAITS_F64 double, 8, 1, -INFINITY, INFINITY

#define SUM         TRAIT(1, PASTE(TRAITS, TYPE))
#define SUM_BYTES   TRAIT(2, PASTE(TRAITS, TYPE))
#define FLOATING    TRAIT(3, PASTE(TRAITS, TYPE))
#define LEAST_VALUE TRAIT(4, PASTE(TRAITS, TYPE))
#define MOST_VALUE  TRAIT(5, PASTE(TRAITS, TYPE))

#define LANES (VECTOR_BYTES / SUM_BYTES)

typedef SUM NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
typedef SUM NAME(unaligned) __attribute__((vector_size(VECTOR_BYTES), aligned(SUM_BYTES), may_alias));
#define VECTOR    NAME(vector)
#define UNALIGNED NAME(unaligned)

#include "operators.h"

/* Fills a vector from two by a rule: lane l takes lane RULE(l, x) of both, the second counting from LANES. */
#define SHUFFLE_4(RULE, x, l) RULE((l), x), RULE((l + 1), x), RULE((l + 2), x), RULE((l + 3), x)
#define SHUFFLE_8(RULE, x, l) SHUFFLE_4(RULE, x, l), SHUFFLE_4(RULE, x, (l) + 4)
#if LANES == 2
#define SHUFFLE(a, b, RULE, x) __builtin_shufflevector(a, b, RULE(0, x), RULE(1, x))
#elif LANES == 4
#define SHUFFLE(a, b, RULE, x) __builtin_shufflevector(a, b, SHUFFLE_4(RULE, x, 0))
#elif LANES == 8
#define SHUFFLE(a, b, RULE, x) __builtin_shufflevector(a, b, SHUFFLE_8(RULE, x, 0))
#else
#define SHUFFLE(a, b, RULE, x) __builtin_shufflevector(a, b, SHUFFLE_8(RULE, x, 0), SHUFFLE_8(RULE, x, 8))
#endif

INLINE VECTOR NAME(load)(const SUM *from) { return *(const UNALIGNED *)from; }

INLINE void NAME(store)(SUM *to, VECTOR values) { *(UNALIGNED *)to = values; }

INLINE void NAME(stream)(SUM *to, VECTOR values) { stream_one(to, (stream_vector)values); }

#if VECTOR_BYTES == 64
#define CAN_TURN 1

/* Vectors that follow each other in memory from anywhere on, on their way past the caches: whole lines are made of the
 * end of one and the beginning of the next. A line that the row shares with its neighbours is written as usual. */
struct NAME(line) {
    SUM *to;         /* the line that is written next */
    unsigned offset; /* where in a line a vector begins, in lanes */
    bool begun;
    __m512i turn; /* the lanes of a line, counted through two vectors */
    VECTOR left;  /* the vector before */
};

INLINE struct NAME(line) NAME(begin_line)(SUM *to) {
    const unsigned offset = (unsigned)((uintptr_t)to % VECTOR_BYTES / SUM_BYTES);
#if SUM_BYTES == 4
    const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i turn = _mm512_add_epi32(count, _mm512_set1_epi32((int)(LANES - offset)));
#else
    const __m512i count = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i turn = _mm512_add_epi64(count, _mm512_set1_epi64((long long)(LANES - offset)));
#endif
    return (struct NAME(line)){to - offset, offset, offset == 0, turn, {0}};
}

/* The line that `right` begins in. */
INLINE VECTOR NAME(turned)(const struct NAME(line) * line, VECTOR right) {
#if SUM_BYTES == 4
    return (VECTOR)_mm512_permutex2var_epi32((__m512i)line->left, line->turn, (__m512i)right);
#else
    return (VECTOR)_mm512_permutex2var_epi64((__m512i)line->left, line->turn, (__m512i)right);
#endif
}

/* Lanes from `first` on, before `end`. */
INLINE void NAME(store_lanes)(SUM *to, VECTOR values, unsigned first, unsigned end) {
    const unsigned lanes = (1u << end) - (1u << first);
#if SUM_BYTES == 4
    _mm512_mask_storeu_epi32(to, (__mmask16)lanes, (__m512i)values);
#else
    _mm512_mask_storeu_epi64(to, (__mmask8)lanes, (__m512i)values);
#endif
}

INLINE void NAME(put_vector)(struct NAME(line) * line, VECTOR values) {
    const VECTOR whole = NAME(turned)(line, values);
    if (line->begun)
        NAME(stream)(line->to, whole);
    else
        NAME(store_lanes)(line->to, whole, line->offset, LANES);
    line->begun = true;
    line->to += LANES;
    line->left = values;
}

/* The last `lanes` values of a row, less than a vector, or none. */
INLINE void NAME(end_line)(struct NAME(line) * line, VECTOR values, unsigned lanes) {
    const unsigned end = line->offset + lanes, first = line->begun ? 0 : line->offset;
    const VECTOR whole = NAME(turned)(line, values);
    NAME(store_lanes)(line->to, whole, first, end < LANES ? end : LANES);
    if (end <= LANES)
        return;
    line->left = values;
    NAME(store_lanes)(line->to + LANES, NAME(turned)(line, values), 0, end - LANES);
}
#else
#define CAN_TURN 0
#endif

/* The first `count` lanes, 0 < count < LANES, of a vector at any element; the others come as zeros, or stay in memory
 * as they are. */
#if VECTOR_BYTES == 64 && SUM_BYTES == 4
INLINE VECTOR NAME(load_part)(const SUM *from, size_t count) {
    return (VECTOR)_mm512_maskz_loadu_epi32((__mmask16)((1u << count) - 1), from);
}
INLINE void NAME(store_part)(SUM *to, VECTOR values, size_t count) {
    _mm512_mask_storeu_epi32(to, (__mmask16)((1u << count) - 1), (__m512i)values);
}
#elif VECTOR_BYTES == 64
INLINE VECTOR NAME(load_part)(const SUM *from, size_t count) {
    return (VECTOR)_mm512_maskz_loadu_epi64((__mmask8)((1u << count) - 1), from);
}
INLINE void NAME(store_part)(SUM *to, VECTOR values, size_t count) {
    _mm512_mask_storeu_epi64(to, (__mmask8)((1u << count) - 1), (__m512i)values);
}
#else
#if VECTOR_BYTES == 32 && SUM_BYTES == 4
INLINE VECTOR NAME(load_part)(const SUM *from, size_t count) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (VECTOR)_mm256_maskload_epi32((const int *)from, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), lanes));
}
#elif VECTOR_BYTES == 32
INLINE VECTOR NAME(load_part)(const SUM *from, size_t count) {
    const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
    return (VECTOR)_mm256_maskload_epi64((const long long *)from,
                                         _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)count), lanes));
}
#elif LANES == 4
INLINE VECTOR NAME(load_part)(const SUM *from, size_t count) {
    return (VECTOR){from[0], count > 1 ? from[1] : 0, count > 2 ? from[2] : 0, 0};
}
#else
INLINE VECTOR NAME(load_part)(const SUM *from, size_t count) { return (VECTOR){count > 0 ? from[0] : 0, 0}; }
#endif

/* Masked stores of 32 bytes are slow on many processors; at most three stores of a power of two are not. */
INLINE void NAME(store_part)(SUM *to, VECTOR values, size_t count) {
    const char *from = (const char *)&values;
    size_t done = 0;
#if LANES == 8
    if (count & 4) {
        memcpy(to, from, 4 * SUM_BYTES);
        done = 4;
    }
#endif
#if LANES >= 4
    if (count & 2) {
        memcpy(to + done, from + done * SUM_BYTES, 2 * SUM_BYTES);
        done += 2;
    }
#endif
    if (count & 1)
        memcpy(to + done, from + done * SUM_BYTES, SUM_BYTES);
}
#endif

/* load_part() and store_part() of any number of lanes: count may be 0, and LANES. */
#if VECTOR_BYTES == 64
INLINE VECTOR NAME(load_few)(const SUM *from, size_t count) { return NAME(load_part)(from, count); }
INLINE void NAME(store_few)(SUM *to, VECTOR values, size_t count) { NAME(store_part)(to, values, count); }
#else
INLINE VECTOR NAME(load_few)(const SUM *from, size_t count) {
    return count == LANES ? NAME(load)(from) : count > 0 ? NAME(load_part)(from, count) : (VECTOR){0};
}
INLINE void NAME(store_few)(SUM *to, VECTOR values, size_t count) {
    if (count == LANES)
        NAME(store)(to, values);
    else
        NAME(store_part)(to, values, count);
}
#endif

/* The highest bit of a lane is set where `sum`, which follows `before`, has left the type. The value added is their
 * difference, and for signed values the sum is wrong when its sign differs from those of both that were added. */
#if CHECKED
INLINE VECTOR NAME(overflow)(VECTOR before, VECTOR sum, bool signed_values) {
    if (signed_values)
        return (before ^ sum) & (sum ^ (sum - before));
    return (VECTOR)(sum < before);
}
#endif

INLINE void NAME(note_overflow)(struct cpu_state *state, VECTOR wrong) {
#if CHECKED
    for (int l = 0; l < LANES; l++)
        state->overflowed |= wrong[l] >> (8 * SUM_BYTES - 1) != 0;
#else
    (void)state, (void)wrong;
#endif
}

/* What a narrow kernel keeps in registers while it runs. */
struct NAME(run) {
    VECTOR last, seed, wrong;
    size_t group;
    uint64_t unit;
};

INLINE struct NAME(run) NAME(resume)(const struct cpu_state *state) {
    const VECTOR *const memory = (const VECTOR *)state->memory;
    return (struct NAME(run)){memory[CPU_LAST_ROW], memory[CPU_SEED_ROW], {0}, state->group, state->unit};
}

INLINE void NAME(suspend)(struct cpu_state *state, const struct NAME(run) * run) {
    VECTOR *const memory = (VECTOR *)state->memory;
    memory[CPU_LAST_ROW] = run->last;
    memory[CPU_SEED_ROW] = run->seed;
    state->group = run->group;
    state->unit = run->unit;
    NAME(note_overflow)(state, run->wrong);
}

/* Rows of a narrow kernel, side by side, group by group. */
struct NAME(rows) {
    char *lowest;   /* the lowest row of the group */
    ptrdiff_t step; /* bytes from group to group */
    enum cpu_format format;
    bool turned; /* the lowest row is the last one */
};

INLINE void NAME(fetch_ahead)(struct NAME(rows) rows) {
    enum { AHEAD = 2048, LINE = 64 };
    const ptrdiff_t bytes = rows.turned ? -rows.step : rows.step;
    const uintptr_t first = (uintptr_t)rows.lowest + (uintptr_t)(rows.turned ? -AHEAD : AHEAD);
    for (ptrdiff_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const void *)(first + (uintptr_t)at));
}

#include "halves.h"
