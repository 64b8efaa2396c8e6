/* What narrow and wide kernels do alike with the eight vectors of a group. The vectors are rows, or runs of rows whose
 * own sums have been made; TOTAL(v) is the last row of v in the place of all of them.
 * Included once for each kernel. */

/* The running sums of the group, halves by halves. Written out, as compilers leave the loops in, and the vectors in
 * memory. */
INLINE void KERNEL(sum_group)(VECTOR v[GROUP]) {
    v[1] = COMBINE(TOTAL(v[0]), v[1]);
#if GROUP >= 4
    v[3] = COMBINE(TOTAL(v[2]), v[3]);
    const VECTOR left_2 = TOTAL(v[1]);
    v[2] = COMBINE(left_2, v[2]);
    v[3] = COMBINE(left_2, v[3]);
#endif
#if GROUP >= 8
    v[5] = COMBINE(TOTAL(v[4]), v[5]);
    v[7] = COMBINE(TOTAL(v[6]), v[7]);
    const VECTOR left_6 = TOTAL(v[5]);
    v[6] = COMBINE(left_6, v[6]);
    v[7] = COMBINE(left_6, v[7]);
    const VECTOR left_4 = TOTAL(v[3]);
    v[4] = COMBINE(left_4, v[4]);
    v[5] = COMBINE(left_4, v[5]);
    v[6] = COMBINE(left_4, v[6]);
    v[7] = COMBINE(left_4, v[7]);
#endif
}

INLINE void KERNEL(put_before_all)(VECTOR v[GROUP], VECTOR value) {
    for (int r = 0; r < GROUP; r++)
        v[r] = COMBINE(value, v[r]);
}

/* Puts the total of the group, or unit, after `count` others on the stack, joined with the totals that it completes. */
INLINE void KERNEL(push)(VECTOR total, VECTOR *stack, size_t pitch, uint64_t count) {
    for (; count & 1; count >>= 1, stack += pitch)
        total = COMBINE(*stack, total);
    *stack = total;
}

#if ORDERED
/* Puts before each vector the totals of the left halves above the group, the smallest first, and the seed. */
INLINE void KERNEL(put_left)(VECTOR v[GROUP], const VECTOR *stack, size_t pitch, size_t group, VECTOR seed) {
    for (size_t bits = group; bits != 0; bits &= bits - 1)
        KERNEL(put_before_all)(v, stack[(size_t)__builtin_ctzll(bits) * pitch]);
    KERNEL(put_before_all)(v, seed);
}

/* The full unit becomes a block of one unit, joined with the blocks that it completes. */
INLINE void KERNEL(push_unit)(VECTOR *stack, size_t pitch, unsigned top, uint64_t unit) {
    KERNEL(push)(stack[top * pitch], stack + (top + 1) * pitch, pitch, unit);
}

/* The seed of a unit: the blocks of its binary digits, from the largest on. */
INLINE VECTOR KERNEL(seed_of)(VECTOR start, const VECTOR *stack, size_t pitch, unsigned top, uint64_t unit) {
    const VECTOR *const blocks = stack + (top + 1) * pitch;
    for (uint64_t bits = unit; bits != 0;) {
        const unsigned level = 63 - (unsigned)__builtin_clzll(bits);
        start = COMBINE(start, blocks[level * pitch]);
        bits ^= (uint64_t)1 << level;
    }
    return start;
}
#endif

#if CHECKED
/* Is any sum of the group wrong? `before` holds the row before each. */
INLINE VECTOR KERNEL(overflow)(const VECTOR before[GROUP], const VECTOR v[GROUP], bool signed_values) {
    VECTOR wrong = {0};
    for (int r = 0; r < GROUP; r++)
        wrong |= NAME(overflow)(before[r], v[r], signed_values);
    return wrong;
}
#endif
