/* The reference of recurrences, for one type of values: see recurrence.h. Expects REAL (the type), FMA (its fused
 * multiplication and addition) and NAME(name). */

/* The maps of rows that follow each other: h -> (a + e) h + b, after a reset if `reset`. */
struct NAME(run) {
    REAL a, e, b;
    bool reset;
};

static REAL NAME(value_after)(struct NAME(run) run, REAL h, bool is_product) {
    if (is_product)
        return isfinite(h) && isfinite(run.a) ? FMA(run.a, h, FMA(run.e, h, 0)) : run.a * h;
    if (run.reset && !isfinite(h))
        h = 0;
    const REAL a = !isfinite(run.a) && h == 0 ? 0 : run.a;
    return FMA(a, h, isfinite(h) && isfinite(run.a) ? FMA(run.e, h, run.b) : run.b);
}

/* A rest of -0.0, of a recurrence, counts as +0.0. */
static struct NAME(run) NAME(both)(struct NAME(run) first, struct NAME(run) second, bool is_product) {
    struct NAME(run) both = {second.a * first.a, 0, 0, first.reset || second.reset};
    if (isfinite(both.a))
        both.e = FMA(second.e, first.a, FMA(second.a, first.e, FMA(second.a, first.a, -both.a)));
    if (both.reset)
        both.a = both.e = 0;
    if (!is_product) {
        both.e += (REAL)0;
        both.b = NAME(value_after)(second, first.b, false);
    }
    return both;
}

static struct NAME(run) NAME(tidied)(struct NAME(run) run) {
    const REAL a = run.a + run.e;
    run.e = isfinite(a) ? run.e - (a - run.a) : 0;
    run.a = a;
    return run;
}

/* One column. The runs that the rows so far are cut into are there for each binary digit of their number. */
static void NAME(column)(const struct recurrence *what, size_t j) {
    const REAL *const a = what->a, *const b = what->b, *const start = what->start;
    struct NAME(run) runs[64];
    REAL before = start ? start[j] : (REAL)(what->is_product ? 1 : 0);
    const REAL first = before;
    for (uint64_t i = 0; i < what->rows; i++) {
        const size_t at = (size_t)i * what->columns + j;
        struct NAME(run) row = {a[at], 0, b ? b[at] : 0, !what->is_product && a[at] == 0}, inside = row;
        REAL h = first;
        unsigned level = 0;
        for (unsigned k = 0; k < UNIT_LEVEL; k++)
            if (i >> k & 1)
                inside = NAME(both)(runs[k], inside, what->is_product);
        for (unsigned k = 63; k >= UNIT_LEVEL; k--)
            if (i >> k & 1)
                h = NAME(value_after)(runs[k], h, what->is_product);
        h = NAME(value_after)(inside, h, what->is_product);
        if (what->exclusive)
            ((REAL *)what->exclusive)[at] = before;
        if (what->inclusive)
            ((REAL *)what->inclusive)[at] = h;
        before = h;
        for (; i >> level & 1; level++) {
            row = NAME(both)(runs[level], row, what->is_product);
            if (level + 1 >= UNIT_LEVEL)
                row = NAME(tidied)(row);
        }
        runs[level] = row;
    }
    if (what->last)
        ((REAL *)what->last)[j] = before;
}
