#include "worker.h"

#include <string.h>

#include "../views.h"

bool factors_are_staged(const struct division *division) {
    const struct scan_factors *factors = &division->scan->factors;
    return factors->type != division->element->type || !factors->per_column ||
           !view_is_aligned(factors->data, factors->type);
}

static bool is_staged_by_rows(const struct division *division) {
    return division->stage_factors && division->scan->factors.stride != 0;
}

size_t factors_rows(const struct division *division) {
    return is_staged_by_rows(division) ? division->block_rows : division->kernel->group_rows;
}

static const char *cell(const struct division *division, const struct part *part, size_t row) {
    const struct scan_factors *factors = &division->scan->factors;
    const ptrdiff_t column = factors->per_column ? (ptrdiff_t)part->first_column : 0;
    if (factors->shifted && row == 0)
        return scan_elements_on((void *)(uintptr_t)factors->first, column, factors->type);
    return scan_elements_on((void *)(uintptr_t)factors->data,
                            (ptrdiff_t)(row - factors->shifted) * factors->stride + column, factors->type);
}

/* Puts each of `rows` values that all columns share into all of these. The values may lie at the end of `to`. */
#define SPREAD(C)                                                                                                      \
    for (size_t i = 0; i < rows; i++) {                                                                                \
        const C value = ((const C *)values)[i];                                                                        \
        for (size_t j = 0; j < columns; j++)                                                                           \
            ((C *)to)[i * columns + j] = value;                                                                        \
    }
static void spread(const struct division *division, const char *values, size_t rows, size_t columns, char *to) {
    if (division->element->type == TABLE_F32)
        SPREAD(float)
    else
        SPREAD(double)
}

/* Puts `rows` rows of coefficients, of which the first is at `from`, side by side. The table of zeros that shifted ones
 * begin with, if there is nothing else, is a row of them. */
static void take_rows(const struct division *division, const char *from, size_t rows, size_t columns, char *to) {
    const struct scan_factors *factors = &division->scan->factors;
    const size_t count = factors->per_column ? columns : 1, size = division->value_bytes;
    char *const values = to + rows * (columns - count) * size;
    if (!from) {
        memset(to, 0, columns * size);
        return;
    }
    division->kernels->conversions->convert[factors->type][division->element->type](values, (ptrdiff_t)count, from,
                                                                                    factors->stride, rows, count);
    if (count < columns)
        spread(division, values, rows, columns, to);
}

size_t factors_point(struct worker *worker, const struct division *division, const struct part *part, size_t row,
                     size_t rows) {
    const struct scan_factors *factors = &division->scan->factors;
    const bool is_first = factors->shifted && row == 0;
    worker->state.factors_alike = !factors->per_column;
    if (!division->stage_factors && !is_first) {
        worker->state.factors = cell(division, part, row);
        worker->state.factor_stride = factors->stride;
        return rows;
    }
    if (is_first && !is_staged_by_rows(division) && rows > division->kernel->group_rows)
        rows = division->kernel->group_rows;
    const size_t count = factors->stride == 0 && !is_first ? 1 : rows, first = is_first ? 1 : 0;
    char *const to = worker->block_factors;
    if (is_first)
        take_rows(division, cell(division, part, 0), 1, part->columns, to);
    if (count > first)
        take_rows(division, cell(division, part, row + first), count - first, part->columns,
                  to + first * part->columns * division->value_bytes);
    worker->state.factors = worker->block_factors;
    worker->state.factor_stride = count == 1 && rows > 1 ? 0 : (ptrdiff_t)part->columns;
    return rows;
}
