/* Tables of a few values each, several at a time: a vector has one value of each of TINY_TABLES tables. Part of
 * type_kernels.h. The rows are summed in place, level by level: row i of a right half adds the last row of the left
 * one, so that it becomes P(i) of tuplescan/prefix_sum.h. */
static void NAME(tiny)(const struct cpu_tiny *tables, const void *in_data, void *out_data, const void *start_rows,
                       void *end_rows, size_t count) {
    const size_t rows = tables->rows, columns = tables->columns, values = rows * columns;
    const SUM *in = in_data, *starts = start_rows;
    SUM *out = out_data, *ends = end_rows;
    SUM sums[CPU_TINY_VALUES][CPU_TINY_TABLES], before[CPU_TINY_VALUES][CPU_TINY_TABLES];
    if (count < CPU_TINY_TABLES) /* no sum of what happens to lie there may trap */
        memset(sums, 0, values * sizeof sums[0]);
    for (size_t k = 0; k < values; k++)
        for (size_t t = 0; t < count; t++)
            sums[k][t] = in[(ptrdiff_t)t * tables->in_step + (ptrdiff_t)k];
    for (size_t k = 0; k < columns; k++)
        for (size_t t = 0; t < CPU_TINY_TABLES; t++)
            before[k][t] = starts && t < count ? starts[t * columns + k] : START_VALUE;
    for (size_t half = 1; half < rows; half *= 2)
        for (size_t i = half; i < rows; i++)
            for (size_t k = 0; (i & half) != 0 && k < columns; k++)
                for (size_t t = 0; t < CPU_TINY_TABLES; t++)
                    sums[i * columns + k][t] =
                        COMBINE_ONE(sums[((i & ~(half - 1)) - 1) * columns + k][t], sums[i * columns + k][t]);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            for (size_t t = 0; t < CPU_TINY_TABLES; t++)
                sums[i * columns + k][t] = COMBINE_ONE(before[k][t], sums[i * columns + k][t]);
    const size_t shift = tables->exclusive ? columns : 0;
    for (size_t k = 0; k < shift; k++)
        for (size_t t = 0; t < count; t++)
            out[(ptrdiff_t)t * tables->out_step + (ptrdiff_t)k] = before[k][t];
    for (size_t k = shift; k < values; k++)
        for (size_t t = 0; t < count; t++)
            out[(ptrdiff_t)t * tables->out_step + (ptrdiff_t)k] = sums[k - shift][t];
    for (size_t k = 0; ends && k < columns; k++)
        for (size_t t = 0; t < count; t++)
            ends[t * columns + k] = sums[values - columns + k][t];
}
