/* The algebra of linear recurrences and running products, for one kind of value: a float, or a vector of floats, one a
 * column. Included once for each kind; linear_map.h is it for float and double.
 *
 * The includer defines
 *   MAP_VALUE               the type of the values
 *   MAP_TRUTH               the type of comparisons of them: all bits set or none, with the operators & | ~
 *   MAP_NAME(name)          names for this kind
 *   MAP_INLINE              how functions are declared
 *   MAP_FMA(x, y, z)        x * y + z, rounded once
 *   MAP_MUL(x, y), MAP_ADD(x, y), MAP_SUB(x, y)   never contracted with another operation
 *   MAP_IF(truth, x)        x where it is true, and +0.0 elsewhere
 *   MAP_CHOOSE(truth, x, y) x where it is true, and y elsewhere
 *   MAP_FINITE(x), MAP_IS_ZERO(x), MAP_ALL_FALSE  truths
 *
 * A row of a recurrence is the map h -> a h + b. A run of rows is one map, too:
 *
 *   h -> (factor + rest) h + term      factor + rest, with |rest| at most half a unit of factor, is the product of the
 *                                      run's a, which one float could not hold: its roundings would add up
 *   reset                              whether one of the run's a was 0: nothing before that row comes through
 *
 * A value that is known, such as the row that a recurrence starts with, is the constant map: factor and rest 0, reset.
 * So that the value after a run is the term of the run's map after that of the start.
 *
 * A running product is a recurrence whose terms are +0.0. A 0 is a value like others in it, and `reset` says no more
 * than that a map is constant. */

/* Facts about the values. Compilers are told them as a constant, and leave out what they make needless. Where a
 * value after a run comes out finite by MAP_RESETS, or by MAP_PLAIN if none of its rows is a reset or none of its
 * factors has a minus sign, it and the map have the bits that MAP_CAREFUL gives: a value that is not finite on the way
 * stays so to the end, and a factor of 0 makes the products +0.0 by itself. */
#ifndef LINEAR_MAP_KNOWN
#define LINEAR_MAP_KNOWN
enum map_known {
    MAP_PLAIN,   /* finite, and with a reset no factor has a minus sign; the caller keeps the truths of resets */
    MAP_RESETS,  /* finite */
    MAP_CAREFUL, /* nothing */
    MAP_PRODUCT  /* nothing, and they are running products */
};
#endif

struct MAP_NAME(map) {
    MAP_VALUE factor, rest, term;
    MAP_TRUTH reset;
};

/* The map of a single row; `b` of a product is +0.0. */
MAP_INLINE struct MAP_NAME(map) MAP_NAME(map_of_row)(MAP_VALUE a, MAP_VALUE b, enum map_known known) {
    struct MAP_NAME(map) map = {a, MAP_IF(MAP_ALL_FALSE, a), b, MAP_ALL_FALSE};
    if (known == MAP_RESETS || known == MAP_CAREFUL)
        map.reset = MAP_IS_ZERO(a);
    return map;
}

/* The value after a run, if `h` comes before it. Over a reset a value that is not finite counts as 0; so does a product
 * that overflowed, times 0; the rest is left out beside a value that is not finite. */
MAP_INLINE MAP_VALUE MAP_NAME(map_apply)(struct MAP_NAME(map) map, MAP_VALUE h, enum map_known known) {
    if (known == MAP_PRODUCT) {
        const MAP_VALUE zero = MAP_IF(MAP_ALL_FALSE, h), product = MAP_MUL(map.factor, h);
        const MAP_VALUE exact = MAP_FMA(map.factor, h, MAP_FMA(map.rest, h, zero));
        return MAP_CHOOSE(MAP_FINITE(h) & MAP_FINITE(map.factor), exact, product);
    }
    if (known != MAP_CAREFUL)
        return MAP_FMA(map.factor, h, MAP_FMA(map.rest, h, map.term));
    h = MAP_IF(MAP_FINITE(h) | ~map.reset, h);
    const MAP_TRUTH finite = MAP_FINITE(map.factor);
    const MAP_VALUE factor = MAP_IF(finite | ~MAP_IS_ZERO(h), map.factor);
    const MAP_VALUE inner = MAP_CHOOSE(MAP_FINITE(h) & finite, MAP_FMA(map.rest, h, map.term), map.term);
    return MAP_FMA(factor, h, inner);
}

/* The map of two runs that follow each other: later after earlier. A rest that underflows to -0.0 counts as +0.0, as it
 * does in memory: otherwise the sign of a value that is 0 would tell whether the map had been in memory since it was
 * joined. A product has no such values, as its terms are +0.0. */
MAP_INLINE struct MAP_NAME(map)
    MAP_NAME(map_after)(struct MAP_NAME(map) later, struct MAP_NAME(map) earlier, enum map_known known) {
    const MAP_VALUE factor = MAP_MUL(later.factor, earlier.factor);
    const MAP_VALUE error = MAP_FMA(later.factor, earlier.factor, -factor);
    const MAP_VALUE exact = MAP_FMA(later.rest, earlier.factor, MAP_FMA(later.factor, earlier.rest, error));
    const MAP_VALUE rest = known == MAP_PRODUCT ? exact : MAP_ADD(exact, MAP_IF(MAP_ALL_FALSE, exact));
    const MAP_VALUE term = MAP_NAME(map_apply)(later, earlier.term, known);
    struct MAP_NAME(map) map = {factor, rest, term, MAP_ALL_FALSE};
    if (known == MAP_PLAIN)
        return map;
    map.reset = later.reset | earlier.reset;
    if (known == MAP_CAREFUL || known == MAP_PRODUCT)
        map.rest = MAP_IF(MAP_FINITE(factor), rest);
    map.factor = MAP_IF(~map.reset, map.factor);
    map.rest = MAP_IF(~map.reset, map.rest);
    if (known == MAP_PRODUCT)
        map.term = MAP_IF(earlier.reset, term);
    return map;
}

/* The map of two rows that follow each other. Their rests are +0.0, and by MAP_PLAIN their product's error is the
 * rest. */
MAP_INLINE struct MAP_NAME(map)
    MAP_NAME(map_of_two_rows)(struct MAP_NAME(map) later, struct MAP_NAME(map) earlier, enum map_known known) {
    const MAP_VALUE zero = MAP_IF(MAP_ALL_FALSE, later.factor), factor = MAP_MUL(later.factor, earlier.factor);
    const MAP_VALUE rest = MAP_ADD(MAP_FMA(later.factor, earlier.factor, -factor), zero);
    const struct MAP_NAME(map) map = {factor, rest, MAP_NAME(map_apply)(later, earlier.term, known), MAP_ALL_FALSE};
    return known == MAP_PLAIN ? map : MAP_NAME(map_after)(later, earlier, known);
}

/* The map of a unit, or of a block of units, as it is kept: what has gathered in the rest moves into the factor. A rest
 * of -0.0 counts as +0.0, as it does in memory: otherwise the sign of a factor that is 0 would tell whether the map had
 * been in memory since it was joined. So no settled factor is -0.0, and settling twice is settling once. */
MAP_INLINE struct MAP_NAME(map) MAP_NAME(map_settle)(struct MAP_NAME(map) map, enum map_known known) {
    const MAP_VALUE rest = MAP_ADD(map.rest, MAP_IF(MAP_ALL_FALSE, map.rest)), factor = MAP_ADD(map.factor, rest);
    map.rest = MAP_SUB(rest, MAP_SUB(factor, map.factor));
    if (known == MAP_CAREFUL || known == MAP_PRODUCT)
        map.rest = MAP_IF(MAP_FINITE(factor), map.rest);
    map.factor = factor;
    return map;
}

/* The map that changes nothing. */
MAP_INLINE struct MAP_NAME(map) MAP_NAME(map_identity)(MAP_VALUE one, MAP_VALUE minus_zero) {
    return MAP_NAME(map_of_row)(one, minus_zero, MAP_PLAIN);
}

/* The map of a known value. */
MAP_INLINE struct MAP_NAME(map) MAP_NAME(map_constant)(MAP_VALUE value) {
    const MAP_VALUE zero = MAP_IF(MAP_ALL_FALSE, value);
    const struct MAP_NAME(map) map = {zero, zero, value, (MAP_TRUTH)~MAP_ALL_FALSE};
    return map;
}
