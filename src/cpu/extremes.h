/* What type_kernels.h wants to know of maxima (GREATEST is 1) and minima (0), which begin with EXTREME. */
#define COMBINE(earlier, later)     NAME(extreme)(earlier, later)
#define COMBINE_ONE(earlier, later) NAME(extreme_one)(earlier, later)
#define IDENTITY                    ((VECTOR){0} + EXTREME)
#define START_VALUE                 EXTREME
#define SETTLE(total)               (total)
#define ORDERED                     0
#define CHECKED                     0

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
