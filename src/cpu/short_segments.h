/* Segments of a few rows each. Each begins with a vector of its own, so that it is known beforehand which vectors are
 * joined. Segments that have equally many vectors are taken one after the other, as the processor cannot guess how long
 * the next segment is. Part of narrow.h. */
#define FEW 4 /* vectors at a time */

#define FIRST_ROW(l, x) ((l) % SLOTS)
#define PACK_ONE(l, x)  ((l) < VECTOR_VALUES ? PACKED(l) : 0)

/* `count` values as rows of a vector, at most a vector's. */
INLINE VECTOR KERNEL(load_rows)(const SUM *from, size_t count) {
    const VECTOR values = NAME(load_few)(from, count);
#if COLUMNS == SLOTS
    return values;
#else
    return SHUFFLE(values, IDENTITY, SPREAD, 0);
#endif
}

INLINE void KERNEL(store_rows)(SUM *to, VECTOR v, size_t count) {
#if COLUMNS == SLOTS
    NAME(store_few)(to, v, count);
#else
    NAME(store_few)(to, SHUFFLE(v, v, PACK_ONE, 0), count);
#endif
}

/* One segment under way. */
struct KERNEL(segment) {
    const SUM *in;
    SUM *out, *end;
    size_t values; /* left */
    VECTOR start, before;
};

INLINE struct KERNEL(segment) KERNEL(begin_segment)(const struct cpu_short *all, size_t k) {
    const SUM *const starts = all->starts;
    const ptrdiff_t row = (ptrdiff_t)k * all->step;
    const uint64_t first = all->bounds[k] - all->bounds[0];
    struct KERNEL(segment) segment = {.in = (const SUM *)all->in + first * COLUMNS,
                                      .out = (SUM *)all->out + (first + (all->row_before ? k : 0)) * COLUMNS,
                                      .values = (all->bounds[k + 1] - all->bounds[k]) * COLUMNS,
                                      .start = (VECTOR){0} + START_VALUE};
    if (all->ends)
        segment.end = (SUM *)all->ends + row;
    if (starts) {
        const VECTOR values = NAME(load_few)(starts + row, COLUMNS);
        segment.start = SHUFFLE(values, values, FIRST_ROW, 0);
    }
    if (all->row_before) {
        KERNEL(store_rows)(segment.out, segment.start, COLUMNS);
        segment.out += COLUMNS;
    }
    segment.before = segment.start;
    return segment;
}

/* How many values vector r has of `left`. */
INLINE size_t KERNEL(values_of)(size_t left, size_t r) {
    const size_t before = r * VECTOR_VALUES;
    return left <= before ? 0 : left - before < VECTOR_VALUES ? left - before : VECTOR_VALUES;
}

/* The rows of the next `few` vectors by themselves. */
INLINE void KERNEL(load_next)(VECTOR v[FEW], const struct KERNEL(segment) * segment, int few) {
    for (int r = 0; r < few; r++) {
        const SUM *const from = segment->in + r * VECTOR_VALUES;
        __builtin_prefetch((const void *)((uintptr_t)from + CPU_SHORT_AHEAD));
        v[r] = KERNEL(sum_vector)(KERNEL(load_rows)(from, KERNEL(values_of)(segment->values, (size_t)r)));
    }
    if (few >= 2)
        v[1] = COMBINE(TOTAL(v[0]), v[1]);
    if (few == FEW) {
        v[3] = COMBINE(TOTAL(v[2]), v[3]);
        const VECTOR left = TOTAL(v[1]);
        v[2] = COMBINE(left, v[2]);
        v[3] = COMBINE(left, v[3]);
    }
}

/* The sums, of which the last ones end the segment or are a whole vector's. */
INLINE void KERNEL(store_next)(const struct cpu_short *all, struct KERNEL(segment) * segment, VECTOR v[FEW], int few) {
    const size_t done = segment->values < (size_t)few * VECTOR_VALUES ? segment->values : (size_t)few * VECTOR_VALUES;
    if (segment->end) {
        VECTOR all_sums[FEW]; /* v itself stays in registers */
        const size_t last = done / COLUMNS - 1;
        for (int r = 0; r < few; r++)
            all_sums[r] = v[r];
        memcpy(segment->end, (const char *)all_sums + (last / ROWS * LANES + last % ROWS * SLOTS) * SUM_BYTES,
               COLUMNS * SUM_BYTES);
    }
    for (int r = 0; r < few; r++) {
        const VECTOR sums = all->exclusive ? SHUFFLE(segment->before, v[r], ROW_BEFORE, 0) : v[r];
        segment->before = v[r];
        KERNEL(store_rows)(segment->out + r * VECTOR_VALUES, sums, KERNEL(values_of)(segment->values, (size_t)r));
    }
    segment->in += done;
    segment->out += done;
    segment->values -= done;
}

INLINE void KERNEL(sum_few)(const struct cpu_short *all, size_t k, int few) {
    struct KERNEL(segment) segment = KERNEL(begin_segment)(all, k);
    VECTOR v[FEW];
    KERNEL(load_next)(v, &segment, few);
    for (int r = 0; r < few; r++)
        v[r] = COMBINE(segment.start, v[r]);
    KERNEL(store_next)(all, &segment, v, few);
}

/* The totals of the finished left halves are kept level by level, as in group.h. */
INLINE void KERNEL(sum_more)(const struct cpu_short *all, size_t k) {
    struct KERNEL(segment) segment = KERNEL(begin_segment)(all, k);
    VECTOR stack[CPU_SHORT_LEVELS], v[FEW];
    for (size_t number = 0; segment.values > 0; number++) {
        KERNEL(load_next)(v, &segment, FEW);
        const VECTOR total = TOTAL(v[FEW - 1]);
        for (size_t bits = number; bits != 0; bits &= bits - 1)
            for (int r = 0; r < FEW; r++)
                v[r] = COMBINE(stack[__builtin_ctzll(bits)], v[r]);
        KERNEL(push)(total, stack, 1, number);
        for (int r = 0; r < FEW; r++)
            v[r] = COMBINE(segment.start, v[r]);
        KERNEL(store_next)(all, &segment, v, FEW);
    }
}

INLINE void KERNEL(sum_none)(const struct cpu_short *all, size_t k) {
    const struct KERNEL(segment) segment = KERNEL(begin_segment)(all, k);
    if (segment.end)
        KERNEL(store_rows)(segment.end, segment.start, COLUMNS);
}

/* `count` segments, which `numbers` lists unless it is NULL, in the order of their vectors: none, one, two, a few,
 * more. The places of all kinds are counted in one word, as counters in memory would wait for each other. */
INLINE void KERNEL(sum_in_order)(const struct cpu_short *all, const unsigned short *numbers, size_t count) {
    enum { KINDS = 5, BITS = 12, MASK = (1 << BITS) - 1 };
    static const unsigned char shift_of[FEW + 2] = {0, BITS, 2 * BITS, 3 * BITS, 3 * BITS, 4 * BITS};
    uint64_t counts = 0, places = 0;
    unsigned ends[KINDS], first = 0;
    unsigned char shifts[CPU_SHORT_SEGMENTS];
    unsigned short order[CPU_SHORT_SEGMENTS];
    for (size_t i = 0; i < count; i++) {
        const size_t k = numbers ? numbers[i] : i;
        const size_t vectors = (all->bounds[k + 1] - all->bounds[k] + ROWS - 1) / ROWS;
        shifts[i] = shift_of[vectors > FEW ? FEW + 1 : vectors];
        counts += (uint64_t)1 << shifts[i];
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        places |= (uint64_t)first << kind * BITS;
        first += counts >> kind * BITS & MASK;
        ends[kind] = first;
    }
    for (size_t i = 0; i < count; i++) {
        order[places >> shifts[i] & MASK] = numbers ? numbers[i] : (unsigned short)i;
        places += (uint64_t)1 << shifts[i];
    }
    size_t i = 0;
    for (; i < ends[0]; i++)
        KERNEL(sum_none)(all, order[i]);
    for (; i < ends[1]; i++)
        KERNEL(sum_few)(all, order[i], 1);
    for (; i < ends[2]; i++)
        KERNEL(sum_few)(all, order[i], 2);
    for (; i < ends[3]; i++)
        KERNEL(sum_few)(all, order[i], FEW);
    for (; i < ends[4]; i++)
        KERNEL(sum_more)(all, order[i]);
}

#define HAS_FLAT (COLUMNS == 1 && (VECTOR_BYTES == 64 || (VECTOR_BYTES == 32 && SUM_BYTES == 4)))
#if HAS_FLAT
#include "flat_segments.h"
#endif

static void KERNEL(segments)(const struct cpu_short *all) {
#if HAS_FLAT
    unsigned short rest[CPU_SHORT_SEGMENTS + 1];
    const size_t left = KERNEL(sum_flat)(all, rest);
    if (left < all->count) {
        KERNEL(sum_in_order)(all, rest, left);
        return;
    }
#endif
    KERNEL(sum_in_order)(all, NULL, all->count);
}
