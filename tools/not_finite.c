/* Where the sums of floats leave their type though the values do not. */
#include <string.h>

#include "memory.h"
#include "scan.h"
#include "values.h"

/* Row `row` holds the sums through the values at `values`; the sums through the rows above are finite, and with them
 * the values there. */
static void look_at_row(struct scan_job *job, uint64_t row, const char *values, const char *sums) {
    const struct table_layout *in = &job->input->layout, *out = &job->out_layout;
    const size_t in_size = table_type_size(in->type), size = table_type_size(out->type);
    const table_type carry_type = scan_kept_type(job);
    const size_t carry_size = table_type_size(carry_type);
    const char *carry = job->above ? job->above : job->carry_in;
    job->not_finite.over = true;
    for (size_t j = 0; j < in->columns; j++) {
        if (value_is_finite(out->type, sums + j * size) || !value_is_finite(in->type, values + j * in_size) ||
            (carry && !value_is_finite(carry_type, carry + j * carry_size)))
            continue;
        job->not_finite.first = row * in->columns + j;
        return;
    }
}

/* The row that comes first in the order of the sum of those with a sum that is not finite; out->rows: there is none. */
static size_t find_row(const table_view *out, size_t out_row, bool reverse) {
    size_t row = first_not_finite(out->type, out->data, out->rows * out->columns) / out->columns;
    if (row < out->rows && reverse)
        for (row = out->rows - 1;
             first_not_finite(out->type, (const char *)out->data + row * out_row, out->columns) == out->columns;)
            row--;
    return row;
}

void not_finite_look(struct scan_job *job, uint64_t row, const table_view *in, const table_view *out) {
    struct not_finite *found = &job->not_finite;
    const size_t in_row = in->columns * table_type_size(in->type);
    const size_t out_row = out->columns * table_type_size(out->type);
    const bool exclusive = job->arguments.exclusive, reverse = job->arguments.reverse;
    if (found->over || in->rows == 0 || in->columns == 0)
        return;
    const size_t i = find_row(out, out_row, reverse), first = reverse ? in->rows - 1 : 0, last = in->rows - 1 - first;
    const char *const all = in->data, *sums = (const char *)out->data + i * out_row;
    const uint64_t start = reverse ? job->input->layout.rows - 1 : 0;
    const size_t before = reverse ? i + 1 : i - 1; /* read where i is not the first */
    if (i < out->rows && exclusive && row + i == start)
        found->over = true; /* the carry in */
    else if (i < out->rows && exclusive)
        look_at_row(job, reverse ? row + i + 1 : row + i - 1, i == first ? found->last : all + before * in_row, sums);
    else if (i < out->rows)
        look_at_row(job, row + i, all + i * in_row, sums);
    if (!found->last)
        found->last = memory_for(job->name, in_row);
    memcpy(found->last, all + last * in_row, in_row);
}

void not_finite_look_at_end(struct scan_job *job) {
    const table_type type = job->out_layout.type;
    const size_t columns = job->out_layout.columns;
    if (!job->not_finite.over && job->not_finite.last && job->carry_out &&
        first_not_finite(type, job->carry_out, columns) < columns)
        look_at_row(job, job->arguments.reverse ? 0 : job->out_layout.rows - 1, job->not_finite.last, job->carry_out);
}
