/* What type_kernels.h wants to know of products of unsigned integers, which wrap. Their overflow is looked for in the
 * values: worker.c. */
#define COMBINE(earlier, later)     ((earlier) * (later))
#define COMBINE_ONE(earlier, later) ((earlier) * (later))
#define IDENTITY                    ((VECTOR){0} + 1)
#define START_VALUE                 ((SUM)1)
#define SETTLE(total)               (total)
#define ORDERED                     0
#define CHECKED                     0
