/* How vectors are joined by each OPERATION. Included once for each element type.
 *   COMBINE(earlier, later), COMBINE_ONE(earlier, later)  two vectors, or two values, joined in that order
 *   IDENTITY     a vector that changes nothing where it comes before or after
 *   START_VALUE  the value that a scan begins with where the caller has none
 *   ORDERED      1: joined along the tree; 0: by one running element
 *   CHECKED      1: sums that wrap, whose overflow is looked for; that of products is found from the values: worker.c
 * Unsigned integers wrap. */
#undef COMBINE
#undef COMBINE_ONE
#undef IDENTITY
#undef START_VALUE
#undef ORDERED
#undef CHECKED
#define ADDS_ADDITION      1
#define MULTIPLIES_PRODUCT 1
#define GROWS_MAXIMUM      1
#define ORDERED            (PASTE(ADDS, OPERATION) && FLOATING)
#define CHECKED            (PASTE(ADDS, OPERATION) && !FLOATING)

#if PASTE(ADDS, OPERATION)
#define COMBINE(earlier, later)     ((earlier) + (later))
#define COMBINE_ONE(earlier, later) ((earlier) + (later))
#define IDENTITY                    (-(VECTOR){0}) /* +0.0 would turn -0.0 into itself */
#define START_VALUE                 ((SUM)0)

#elif PASTE(MULTIPLIES, OPERATION)
#define COMBINE(earlier, later)     ((earlier) * (later))
#define COMBINE_ONE(earlier, later) ((earlier) * (later))
#define IDENTITY                    ((VECTOR){0} + 1)
#define START_VALUE                 ((SUM)1)

#else
#define COMBINE(earlier, later)     NAME(extreme)(earlier, later)
#define COMBINE_ONE(earlier, later) NAME(extreme_one)(earlier, later)
#define IDENTITY                    ((VECTOR){0} + START_VALUE)
#if PASTE(GROWS, OPERATION)
#define GREATEST    1
#define START_VALUE LEAST_VALUE
#else
#define GREATEST    0
#define START_VALUE MOST_VALUE
#endif

/* Lanes as integers. A NaN is above and below all; of equal values the bits differ in zeros alone, where +0 has fewer.
 * */
INLINE VECTOR NAME(extreme)(VECTOR earlier, VECTOR later) {
    typedef __typeof__(earlier > later) bits;
    const bits beyond = GREATEST ? earlier > later : earlier < later;
#if FLOATING
    const bits stays = beyond | (earlier != earlier), differ = earlier != later;
    const bits other = GREATEST ? (bits)later & ((bits)earlier | differ) : (bits)later | ((bits)earlier & ~differ);
#else
    const bits stays = beyond, other = (bits)later;
#endif
    return (VECTOR)((stays & (bits)earlier) | (~stays & other));
}

INLINE SUM NAME(extreme_one)(SUM earlier, SUM later) {
    const bool beyond = GREATEST ? earlier > later : earlier < later;
#if FLOATING
    if (earlier == 0 && later == 0)
        return GREATEST ? earlier + later : -(-earlier - later);
    return beyond || earlier != earlier ? earlier : later;
#else
    return beyond ? earlier : later;
#endif
}
#undef GREATEST
#endif
