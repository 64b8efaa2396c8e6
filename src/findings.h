/* What a sum finds on its way. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <tuplescan/prefix_sum.h>

struct findings {
    uint64_t first_overflow; /* TABLE_NO_OVERFLOW: none */
    uint64_t nans;           /* that counted as nothing */
};

#define FINDINGS_NONE ((struct findings){TABLE_NO_OVERFLOW, 0})

/* Adds those of a part, whose first value is number `first` of all. Any thread may do it. */
static inline void findings_add(struct findings *all, const struct findings *part, uint64_t first) {
    uint64_t known = __atomic_load_n(&all->first_overflow, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->nans, part->nans, __ATOMIC_RELAXED);
    while (part->first_overflow != TABLE_NO_OVERFLOW && first + part->first_overflow < known)
        if (__atomic_compare_exchange_n(&all->first_overflow, &known, first + part->first_overflow, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            break;
}

/* What the host is told of them, where the options want it; and that a part's are wanted here, if all of them are. */
static inline void findings_tell(const struct findings *found, const table_scan_options *options) {
    if (options->first_overflow)
        *options->first_overflow = found->first_overflow;
    if (options->skipped)
        *options->skipped = found->nans;
}

static inline void findings_of_part(struct findings *found, table_scan_options *options) {
    options->first_overflow = options->first_overflow ? &found->first_overflow : NULL;
    options->skipped = options->skipped ? &found->nans : NULL;
}

#endif
