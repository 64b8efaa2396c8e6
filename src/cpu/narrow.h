/* The kernel for a table of COLUMNS columns, rows side by side, from the first one to the last or the other way. A
 * vector holds ROWS rows, each in SLOTS lanes (COLUMNS rounded up to a power of two); lanes that are left over hold
 * nothing and stay so. Included once for each element type and number of columns; nothing is
 * there where that does not fit. */
#define SLOTS (COLUMNS == 1 ? 1 : COLUMNS == 2 ? 2 : COLUMNS <= 4 ? 4 : COLUMNS <= 8 ? 8 : 16)
#if SLOTS <= LANES && !(defined(FEW_WIDTHS) && (COLUMNS == 3 || COLUMNS > 4))
#define KERNEL(name)  PASTE(NAME(name), COLUMNS)
#define GROUP         8 /* vectors */
#define ROWS          (LANES / SLOTS)
#define VECTOR_VALUES (ROWS * COLUMNS)
#define GROUP_ROWS    (GROUP * ROWS)
#define FULL_VECTORS  (GROUP * COLUMNS / SLOTS)
#define GROUP_VALUES  (GROUP * VECTOR_VALUES)
#define TOTAL(v)      SHUFFLE(v, v, LAST_ROW, 0)

/* Rules for SHUFFLE. */
#define LAST_ROW(l, x)      (LANES - SLOTS + (l) % SLOTS)
#define ROW_BEFORE(l, x)    (LANES - SLOTS + (l))
#define LEFT_TOTAL(l, half) ((l) / (half) % 2 ? (l) / (half) * (half)-SLOTS + (l) % SLOTS : LANES + (l))
#define SPREAD(l, skip)     ((l) % SLOTS < COLUMNS ? (l) / SLOTS * COLUMNS + (l) % SLOTS + (skip) : LANES + (l))
#define PACKED(value)       ((value) / COLUMNS * SLOTS + (value) % COLUMNS)
#define PACK_TWO(l, start)                                                                                             \
    ((start) + (l) < VECTOR_VALUES       ? PACKED((start) + (l))                                                       \
     : (start) + (l) < 2 * VECTOR_VALUES ? LANES + PACKED((start) + (l)-VECTOR_VALUES)                                 \
                                         : (l))
#define PACK_THIRD(l, start) ((start) + (l) < 2 * VECTOR_VALUES ? (l) : LANES + PACKED((start) + (l)-2 * VECTOR_VALUES))
#define TURNED(l, x)         ((ROWS - 1 - (l) / SLOTS) * SLOTS + (l) % SLOTS)
#define EVEN_ROWS(l, x)      ((l) / SLOTS * 2 * SLOTS + (l) % SLOTS)
#define ODD_ROWS(l, x)       (EVEN_ROWS(l, x) + SLOTS)

/* Vectors that are not full are read whole, within the group; the last one reaches back for that. */
INLINE void KERNEL(load_format)(VECTOR v[GROUP], const void *in, enum cpu_format format) {
#if COLUMNS == SLOTS
    for (int r = 0; r < GROUP; r++)
        v[r] = NAME(load_as)(in, r * LANES, format);
#else
    for (int r = 0; r < GROUP - 1; r++)
        v[r] = SHUFFLE(NAME(load_as)(in, r * VECTOR_VALUES, format), IDENTITY, SPREAD, 0);
    v[GROUP - 1] = SHUFFLE(NAME(load_as)(in, GROUP_VALUES - LANES, format), IDENTITY, SPREAD, LANES - VECTOR_VALUES);
#endif
}

/* The rows of a group from the last one to the first. */
INLINE void KERNEL(turn)(VECTOR v[GROUP]) {
    for (int r = 0; r < GROUP / 2; r++) {
        const VECTOR left = SHUFFLE(v[r], v[r], TURNED, 0);
        v[r] = SHUFFLE(v[GROUP - 1 - r], v[GROUP - 1 - r], TURNED, 0);
        v[GROUP - 1 - r] = left;
    }
}

/* A group from its lowest row on; `turned`: that one is the last. */
INLINE void KERNEL(load_group)(VECTOR v[GROUP], const void *in, enum cpu_format format, bool turned) {
#define LOAD(known) KERNEL(load_format)(v, in, known)
    BY_FORMAT(format, LOAD);
#undef LOAD
    if (turned)
        KERNEL(turn)(v);
}

/* The groups from row 0 on. */
INLINE struct NAME(rows) KERNEL(first_group)(const void *row, ptrdiff_t stride, enum cpu_format format) {
    const ptrdiff_t size = format == CPU_AS_SUMS ? SUM_BYTES : sizeof(uint16_t), bytes = GROUP_VALUES * size;
    struct NAME(rows) rows = {.lowest = (char *)(uintptr_t)row, .step = bytes, .format = format};
    if (stride < 0)
        rows = (struct NAME(rows)){rows.lowest - bytes + COLUMNS * size, -bytes, format, true};
    return rows;
}

/* The first row of the group, where rows lie as sums. */
INLINE SUM *KERNEL(first_row)(struct NAME(rows) rows) {
    return (SUM *)rows.lowest + (rows.turned ? GROUP_VALUES - COLUMNS : 0);
}

/* Brings the values of a group together in its first vectors, which are then full: FULL(n) is made of the vector in
 * which its first value lies and the one or two after it. The rest, half a vector or none, stays out. */
#if COLUMNS != SLOTS
#define FIRST(n) ((n)*LANES / VECTOR_VALUES < GROUP - 2 ? (n)*LANES / VECTOR_VALUES : GROUP - 2)
#define START(n) ((n)*LANES - FIRST(n) * VECTOR_VALUES)
#define THIRD(n) (FIRST(n) + 2 < GROUP ? FIRST(n) + 2 : GROUP - 1)
#define TWO(n)   SHUFFLE(v[FIRST(n)], v[FIRST(n) + 1], PACK_TWO, START(n))
#define FULL(n)  (START(n) + LANES <= 2 * VECTOR_VALUES ? TWO(n) : SHUFFLE(TWO(n), v[THIRD(n)], PACK_THIRD, START(n)))
INLINE void KERNEL(pack)(VECTOR v[GROUP]) {
    v[0] = FULL(0);
    v[1] = FULL(1);
    v[2] = FULL(2);
    v[3] = FULL(3);
#if FULL_VECTORS >= 5
    v[4] = FULL(4);
#endif
#if FULL_VECTORS >= 6
    v[5] = FULL(5);
#endif
#if FULL_VECTORS >= 7
    v[6] = FULL(6);
#endif
}
#undef FIRST
#undef START
#undef THIRD
#undef TWO
#undef FULL
#endif

/* Two vectors of halves fill a line, which begins with them only where each group has whole lines of them. */
INLINE void KERNEL(store_full)(void *out, const VECTOR v[GROUP], enum cpu_format format, bool past_caches) {
    const bool past = past_caches && GROUP_VALUES % LANES == 0;
    const int in_pairs = past && FULL_VECTORS % 2 != 0 ? 0 : FULL_VECTORS / 2;
    for (int n = 0; n < in_pairs; n++)
        NAME(store_two_as)(out, 2 * n * LANES, v[2 * n], v[2 * n + 1], format, past);
    for (int n = 2 * in_pairs; n < FULL_VECTORS; n++)
        NAME(store_as)(out, n * LANES, v[n], format, past);
}

/* The rest is written by a vector that reaches back. */
INLINE void KERNEL(store_group)(void *out, VECTOR v[GROUP], enum cpu_format format, bool turned, bool past_caches) {
    if (turned)
        KERNEL(turn)(v);
#if GROUP_VALUES % LANES != 0
    const VECTOR rest = SHUFFLE(v[GROUP - 2], v[GROUP - 1], PACK_TWO, 2 * VECTOR_VALUES - LANES);
    NAME(store_as)(out, GROUP_VALUES - LANES, rest, format, false);
#endif
#if COLUMNS != SLOTS
    KERNEL(pack)(v);
#endif
#define STORE(known) KERNEL(store_full)(out, v, known, past_caches)
    BY_FORMAT(format, STORE);
#undef STORE
}

/* The running sums inside a vector. */
INLINE VECTOR KERNEL(sum_vector)(VECTOR v) {
#if ROWS >= 2
    v = COMBINE(SHUFFLE(v, IDENTITY, LEFT_TOTAL, SLOTS), v);
#endif
#if ROWS >= 4
    v = COMBINE(SHUFFLE(v, IDENTITY, LEFT_TOTAL, 2 * SLOTS), v);
#endif
#if ROWS >= 8
    v = COMBINE(SHUFFLE(v, IDENTITY, LEFT_TOTAL, 4 * SLOTS), v);
#endif
#if ROWS >= 16
    v = COMBINE(SHUFFLE(v, IDENTITY, LEFT_TOTAL, 8 * SLOTS), v);
#endif
    return v;
}

INLINE void KERNEL(copy_rows)(SUM *to, ptrdiff_t to_stride, const SUM *from, ptrdiff_t from_stride, size_t rows) {
    for (size_t i = 0; i < rows; i++, to += to_stride, from += from_stride)
        memcpy(to, from, COLUMNS * SUM_BYTES);
}

/* The beginning of a group, filled up to a whole one with rows that change nothing. */
INLINE void KERNEL(fill_up)(SUM values[GROUP_VALUES], const SUM *in, ptrdiff_t in_stride, size_t rows) {
    const VECTOR nothing = IDENTITY;
    for (size_t i = rows * COLUMNS; i < GROUP_VALUES; i++)
        values[i] = nothing[0];
    KERNEL(copy_rows)(values, COLUMNS, in, in_stride, rows);
}

#include "group.h"

#if ORDERED
/* Begins the unit that follows on a full one. */
INLINE void KERNEL(next_unit)(const struct cpu_state *state, struct NAME(run) * run) {
    VECTOR *const memory = (VECTOR *)state->memory, *const stack = memory + CPU_STACK_ROW;
    KERNEL(push_unit)(stack, 1, state->top, run->unit++);
    run->seed = KERNEL(seed_of)(TOTAL(memory[CPU_START_ROW]), stack, 1, state->top, run->unit);
    run->group = 0;
}
#endif

/* One whole group. `run` is what it leaves for the next one. */
INLINE void KERNEL(scan_group)(const struct cpu_state *state, struct NAME(run) * run, struct NAME(rows) in,
                               struct NAME(rows) out, bool past_caches) {
    VECTOR v[GROUP], before[GROUP];
    KERNEL(load_group)(v, in.lowest, in.format, in.turned);
    for (int r = 0; r < GROUP; r++)
        v[r] = KERNEL(sum_vector)(v[r]);
    KERNEL(sum_group)(v);
#if ORDERED
    VECTOR *const stack = (VECTOR *)state->memory + CPU_STACK_ROW;
    if (run->group == state->groups)
        KERNEL(next_unit)(state, run);
    const VECTOR total = TOTAL(v[GROUP - 1]);
    KERNEL(put_left)(v, stack, 1, run->group, run->seed);
    KERNEL(push)(total, stack, 1, run->group++);
#else
    KERNEL(put_before_all)(v, TOTAL(run->last));
#endif
    const VECTOR last = run->last;
    run->last = v[GROUP - 1];
    if (state->exclusive || state->check) {
        for (int r = 0; r < GROUP; r++)
            before[r] = SHUFFLE(r > 0 ? v[r - 1] : last, v[r], ROW_BEFORE, 0);
#if CHECKED
        if (state->check)
            run->wrong |= KERNEL(overflow)(before, v, state->signed_values);
#endif
        for (int r = 0; r < GROUP && state->exclusive; r++)
            v[r] = before[r];
    }
    KERNEL(store_group)(out.lowest, v, out.format, out.turned, past_caches);
}

static void KERNEL(scan)(struct cpu_state *state, const void *from, ptrdiff_t in_stride, void *to, ptrdiff_t out_stride,
                         size_t rows) {
    struct NAME(rows) in = KERNEL(first_group)(from, in_stride, state->in_format);
    struct NAME(rows) out = KERNEL(first_group)(to, out_stride, state->out_format);
    struct NAME(run) run = NAME(resume)(state);
    run.seed = TOTAL(run.seed);
    for (; rows >= GROUP_ROWS; rows -= GROUP_ROWS) {
        NAME(fetch_ahead)(in);
        KERNEL(scan_group)(state, &run, in, out, state->past_caches);
        in.lowest += in.step;
        out.lowest += out.step;
    }
    if (rows > 0) {
        SUM values[GROUP_VALUES];
        const struct NAME(rows) filled = {.lowest = (char *)values};
        KERNEL(fill_up)(values, KERNEL(first_row)(in), in_stride, rows);
        KERNEL(scan_group)(state, &run, filled, filled, false);
        KERNEL(copy_rows)(KERNEL(first_row)(out), out_stride, values, COLUMNS, rows);
    }
    NAME(suspend)(state, &run);
}

/* Two vectors become one by adding up rows that lie side by side. */
INLINE VECTOR KERNEL(join)(VECTOR a, VECTOR b) {
    return COMBINE(SHUFFLE(a, b, EVEN_ROWS, 0), SHUFFLE(a, b, ODD_ROWS, 0));
}

/* The total of a group. Joined three times over, its vectors become one that holds the sums of ROWS runs of eight rows.
 */
INLINE VECTOR KERNEL(total_of_group)(struct NAME(rows) in) {
    VECTOR v[GROUP];
    KERNEL(load_group)(v, in.lowest, in.format, in.turned);
    const VECTOR front = KERNEL(join)(KERNEL(join)(v[0], v[1]), KERNEL(join)(v[2], v[3]));
    const VECTOR back = KERNEL(join)(KERNEL(join)(v[4], v[5]), KERNEL(join)(v[6], v[7]));
    return TOTAL(KERNEL(sum_vector)(KERNEL(join)(front, back)));
}

static void KERNEL(totals)(struct cpu_state *state, const void *from, ptrdiff_t in_stride, size_t rows) {
    struct NAME(rows) in = KERNEL(first_group)(from, in_stride, state->in_format);
    SUM values[GROUP_VALUES];
    const struct NAME(rows) filled = {.lowest = (char *)values};
    struct NAME(run) run = NAME(resume)(state);
#if ORDERED
    VECTOR *const stack = (VECTOR *)state->memory + CPU_STACK_ROW;
#endif
    while (rows > 0) {
        const bool whole = rows >= GROUP_ROWS;
        if (!whole)
            KERNEL(fill_up)(values, KERNEL(first_row)(in), in_stride, rows);
        const VECTOR total = KERNEL(total_of_group)(whole ? in : filled);
#if ORDERED
        if (run.group == state->groups) {
            KERNEL(push_unit)(stack, 1, state->top, run.unit++);
            run.group = 0;
        }
        KERNEL(push)(total, stack, 1, run.group++);
#else
        run.last = COMBINE(run.last, total);
#endif
        rows -= whole ? GROUP_ROWS : rows;
        in.lowest += in.step;
    }
    NAME(suspend)(state, &run);
}

#include "short_segments.h"

#undef KERNEL
#undef GROUP
#undef ROWS
#undef TOTAL
#undef SPREAD
#endif
#undef COLUMNS
