/* Maxima, minima and products by the reference: part of reference.c. They are exact, or wrap, so that each column is
 * joined from top to bottom. */
static bool is_extreme(table_operation operation) { return operation == TABLE_MAXIMUM || operation == TABLE_MINIMUM; }

table_type reference_kept_type(table_operation operation, table_type type) {
    if (!is_extreme(operation))
        return reference_sum_type(type);
    if (is_float(type) || size_of(type) >= 4)
        return reference_sum_type(type);
    return type == TABLE_I8 || type == TABLE_I16 ? TABLE_I32 : TABLE_U32;
}

/* The least and the greatest integer of a type. */
static exact least_of(table_type type) {
    switch (type) {
    case TABLE_I8:
        return -0x80;
    case TABLE_I16:
        return -0x8000;
    case TABLE_I32:
        return INT32_MIN;
    case TABLE_I64:
        return INT64_MIN;
    default:
        return 0;
    }
}
static exact greatest_of(table_type type) {
    if (type == TABLE_BOOL)
        return 1;
    return ((exact)1 << (8 * size_of(type) - (least_of(type) < 0))) - 1;
}

static double join_floats(table_operation operation, double a, double b) {
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b && operation == TABLE_MAXIMUM)
        return signbit(a) ? b : a;
    if (a == b)
        return signbit(a) ? a : b;
    return (operation == TABLE_MAXIMUM) == (a > b) ? a : b;
}

static void joined_floats(const table_view *in, size_t column, const void *carry_in, bool exclusive,
                          struct reference *result) {
    const table_type kept = reference_kept_type(result->operation, result->type);
    const double none = result->operation == TABLE_MAXIMUM ? -INFINITY : INFINITY;
    double running = carry_in ? load_float(carry_in, (ptrdiff_t)column, kept) : none;
    for (size_t i = 0; i < in->rows; i++) {
        const size_t cell = row_of(in, result, i) * in->columns + column;
        const double before = running,
                     value = load_float(in->data, index_of(in, row_of(in, result, i), column), in->type);
        if (result->skip_nan && isnan(value))
            result->skipped++;
        else
            running = join_floats(result->operation, running, value);
        if (result->sums)
            store_float(result->sums, cell, result->type, exclusive ? before : running);
    }
    if (result->carry_out)
        store_float(result->carry_out, column, kept, running);
}

/* What the type does not have is its nearest value; products have wrapped before. */
static void store_nearest(void *values, size_t index, table_type type, exact value) {
    if (value < least_of(type))
        value = least_of(type);
    if (value > greatest_of(type))
        value = greatest_of(type);
    if (size_of(type) == 1)
        ((uint8_t *)values)[index] = (uint8_t)value;
    else if (size_of(type) == 2)
        ((uint16_t *)values)[index] = (uint16_t)value;
    else
        store_integer(values, index, type, value);
}

/* The same bits as a value of the type. */
static exact wrapped(exact value, table_type type) {
    const exact range = (exact)1 << (8 * size_of(type));
    value = (exact)((exact_bits)value % (exact_bits)range);
    return value > greatest_of(type) ? value - range : value;
}

static exact join_integers(table_operation operation, exact a, exact b, table_type type, bool *leaves) {
    exact product;
    if (is_extreme(operation))
        return (operation == TABLE_MAXIMUM) == (a > b) ? a : b;
    *leaves = __builtin_mul_overflow(a, b, &product) || product < least_of(type) || product > greatest_of(type);
    return wrapped((exact)((exact_bits)a * (exact_bits)b), type);
}

static void joined_integers(const table_view *in, size_t column, const void *carry_in, bool exclusive,
                            struct reference *result) {
    const table_type kept = reference_kept_type(result->operation, result->type);
    const exact none = result->operation == TABLE_PRODUCT   ? 1
                       : result->operation == TABLE_MAXIMUM ? least_of(kept)
                                                            : greatest_of(kept);
    exact running = carry_in ? load_integer(carry_in, (ptrdiff_t)column, kept) : none;
    for (size_t i = 0; i < in->rows; i++) {
        const size_t cell = row_of(in, result, i) * in->columns + column, counted = i * in->columns + column;
        const exact before = running;
        bool leaves = false;
        running =
            join_integers(result->operation, running,
                          load_integer(in->data, index_of(in, row_of(in, result, i), column), in->type), kept, &leaves);
        if (result->sums)
            store_nearest(result->sums, cell, result->type, exclusive ? before : running);
        if (leaves && counted < result->first_overflow)
            result->first_overflow = counted;
    }
    if (result->carry_out)
        store_nearest(result->carry_out, column, kept, running);
}
