/* Where the sums of floats leave their type though the values do not. */
#include <stdlib.h>
#include <string.h>

#include "scan.h"
#include "values.h"

/* Row `row` holds the sums through the values at `values`; the sums through the rows above are finite, and with them
 * the values there. */
static void look_at_row(struct scan_job *job, uint64_t row, const char *values, const char *sums) {
    const struct table_layout *in = &job->input->layout, *out = &job->out_layout;
    const size_t in_size = table_type_size(in->type), size = table_type_size(out->type);
    const table_type carry_type = table_sum_type(out->type);
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

bool not_finite_look(struct scan_job *job, uint64_t row, const table_view *in, const table_view *out) {
    struct not_finite *found = &job->not_finite;
    const size_t in_row = in->columns * table_type_size(in->type);
    const size_t out_row = out->columns * table_type_size(out->type);
    const bool exclusive = job->arguments.exclusive;
    if (found->over)
        return true;
    const size_t i = first_not_finite(out->type, out->data, out->rows * out->columns) / out->columns;
    const char *sums = (const char *)out->data + i * out_row, *values = (const char *)in->data + i * in_row;
    if (i < out->rows && exclusive && row + i == 0)
        found->over = true; /* the carry in */
    else if (i < out->rows && exclusive)
        look_at_row(job, row + i - 1, i > 0 ? values - in_row : found->last, sums);
    else if (i < out->rows)
        look_at_row(job, row + i, values, sums);
    if (!found->last && !(found->last = malloc(in_row)))
        return false;
    memcpy(found->last, (const char *)in->data + (in->rows - 1) * in_row, in_row);
    return true;
}

void not_finite_look_at_end(struct scan_job *job) {
    const table_type type = job->out_layout.type;
    const size_t columns = job->out_layout.columns;
    if (!job->not_finite.over && job->not_finite.last && job->carry_out &&
        first_not_finite(type, job->carry_out, columns) < columns)
        look_at_row(job, job->out_layout.rows - 1, job->not_finite.last, job->carry_out);
}
