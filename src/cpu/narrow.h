/* The kernel for a table of COLUMNS columns, rows side by side. A vector holds ROWS rows, each in SLOTS lanes (COLUMNS
 * rounded up to a power of two); lanes that are left over hold nothing and stay so.
 * Included once for each element type and number of columns. */
#define KERNEL(name)   PASTE(NAME(name), COLUMNS)
#define ROWS           (LANES / SLOTS)
#define VECTOR_VALUES  (ROWS * COLUMNS)
#define GROUP_VALUES   (CPU_GROUP * VECTOR_VALUES)
#define TOTAL(v)       SHUFFLE(v, v, LAST_ROW, 0)

/* Rules for SHUFFLE. */
#define LAST_ROW(l, x)  (LANES - SLOTS + (l) % SLOTS)
#define ROW_BEFORE(l, x) (LANES - SLOTS + (l))
#define LEFT_TOTAL(l, half)                                                                                            \
    ((l) / (half) % 2 ? (l) / (half) * (half) - SLOTS + (l) % SLOTS : LANES + (l))
#define SPREAD(l, skip) ((l) % SLOTS < COLUMNS ? (l) / SLOTS * COLUMNS + (l) % SLOTS + (skip) : LANES + (l))
#define PACKED(value)   ((value) / COLUMNS * SLOTS + (value) % COLUMNS)
#define PACK(l, x)      ((l) < VECTOR_VALUES ? PACKED(l) : (l))
#define PACK_LAST(l, x)                                                                                                \
    ((l) < LANES - VECTOR_VALUES ? PACKED((l) + 2 * VECTOR_VALUES - LANES)                                             \
                                 : LANES + PACKED((l) + VECTOR_VALUES - LANES))
#define EVEN_ROWS(l, x) ((l) / SLOTS * 2 * SLOTS + (l) % SLOTS)
#define ODD_ROWS(l, x)  (EVEN_ROWS(l, x) + SLOTS)

/* Vectors that are not full are read and written whole, within the group: what they touch beyond their own rows
 * belongs to the next vector, which is written later. The last one reaches back instead. */
INLINE void KERNEL(load_group)(VECTOR v[CPU_GROUP], const SUM *in) {
#if COLUMNS == SLOTS
    for (int r = 0; r < CPU_GROUP; r++)
        v[r] = NAME(load)(in + r * LANES);
#else
    for (int r = 0; r < CPU_GROUP - 1; r++)
        v[r] = SHUFFLE(NAME(load)(in + r * VECTOR_VALUES), NOTHING, SPREAD, 0);
    v[CPU_GROUP - 1] = SHUFFLE(NAME(load)(in + GROUP_VALUES - LANES), NOTHING, SPREAD, LANES - VECTOR_VALUES);
#endif
}

INLINE void KERNEL(store_group)(SUM *out, const VECTOR v[CPU_GROUP]) {
#if COLUMNS == SLOTS
    for (int r = 0; r < CPU_GROUP; r++)
        NAME(store)(out + r * LANES, v[r]);
#else
    for (int r = 0; r < CPU_GROUP - 1; r++)
        NAME(store)(out + r * VECTOR_VALUES, SHUFFLE(v[r], v[r], PACK, 0));
    NAME(store)(out + GROUP_VALUES - LANES, SHUFFLE(v[CPU_GROUP - 2], v[CPU_GROUP - 1], PACK_LAST, 0));
#endif
}

/* The running sums inside each vector. */
INLINE void KERNEL(sum_vectors)(VECTOR v[CPU_GROUP]) {
    for (int r = 0; r < CPU_GROUP; r++) {
        v[r] += SHUFFLE(v[r], NOTHING, LEFT_TOTAL, SLOTS);
#if ROWS >= 4
        v[r] += SHUFFLE(v[r], NOTHING, LEFT_TOTAL, 2 * SLOTS);
#endif
#if ROWS >= 8
        v[r] += SHUFFLE(v[r], NOTHING, LEFT_TOTAL, 4 * SLOTS);
#endif
#if ROWS >= 16
        v[r] += SHUFFLE(v[r], NOTHING, LEFT_TOTAL, 8 * SLOTS);
#endif
    }
}

#include "group.h"

/* One whole group. */
INLINE void KERNEL(scan_group)(struct cpu_state *state, const SUM *in, SUM *out) {
    VECTOR *const memory = (VECTOR *)state->memory;
    VECTOR v[CPU_GROUP], before[CPU_GROUP];
    KERNEL(load_group)(v, in);
    KERNEL(sum_vectors)(v);
    KERNEL(sum_group)(v);
    const VECTOR last = memory[CPU_LAST_ROW];
#if FLOATING
    if (state->group == 0)
        memory[CPU_SEED_ROW] = TOTAL(last);
    const VECTOR total = TOTAL(v[CPU_GROUP - 1]);
    KERNEL(add_left)(v, memory + CPU_STACK_ROW, 1, state->group, memory[CPU_SEED_ROW]);
    KERNEL(push)(total, memory + CPU_STACK_ROW, 1, state->group);
#else
    const VECTOR left = TOTAL(last);
    for (int r = 0; r < CPU_GROUP; r++)
        v[r] += left;
#endif
    memory[CPU_LAST_ROW] = v[CPU_GROUP - 1];
    state->group = (state->group + 1) & (state->groups - 1);
    for (int r = 0; r < CPU_GROUP; r++)
        before[r] = SHUFFLE(r > 0 ? v[r - 1] : last, v[r], ROW_BEFORE, 0);
    KERNEL(store_group)(out, state->exclusive ? before : v);
}
