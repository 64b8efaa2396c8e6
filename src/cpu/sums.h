/* What type_kernels.h wants to know of sums. Unsigned integers wrap, and are added in any order. */
#define COMBINE(earlier, later)     ((earlier) + (later))
#define COMBINE_ONE(earlier, later) ((earlier) + (later))
#define START_VALUE                 ((SUM)0)
#define SETTLE(total)               (total)
#define ORDERED                     FLOATING
#define CHECKED                     (!FLOATING)

/* -0.0 for floats, as +0.0 would turn -0.0 into itself. */
#if FLOATING
#define IDENTITY (-(VECTOR){0})
#else
#define IDENTITY ((VECTOR){0})
#endif
