/* What the rows of a sort are sorted by, and the sorting. */
#include "sort.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "message.h"
#include "number.h"
#include "values.h"

/* What moves when the keys are sorted. */
struct moved {
    void *data;
    size_t bytes; /* of each */
};

/* The only column of a table that has no more, or one for each --by that is no field. */
static void choose_column(const struct sort_job *job, const char *by, struct input_field *field) {
    const struct table_layout *layout = &job->input.layout;
    uint64_t column = 0;
    char meant[GUESS_LONGEST + 32] = "";
    if (*field->meant)
        snprintf(meant, sizeof meant, "; did you mean '%s'?", field->meant);
    if (!layout->type && by)
        die(EX_USAGE, "%s: --by %s: its records have no such field%s", job->input.name, by, meant);
    if (!layout->type)
        die(EX_USAGE, "%s: has records, which stay whole: --by FIELD says what to sort them by", job->input.name);
    if (layout->columns == 0)
        die(EX_DATAERR, "%s: has no columns that its rows could be sorted by", job->input.name);
    if (!by && layout->columns > 1)
        die(EX_USAGE, "%s: has %zu columns, and its rows stay whole: --by COLUMN, from 0 on, says what to sort them by",
            job->input.name, layout->columns);
    if (by && (!parse_number(by, SIZE_MAX, &column) || column >= layout->columns))
        die(EX_USAGE, "%s: --by %s: is none of its columns, 0 to %zu%s", job->input.name, by, layout->columns - 1,
            meant);
    *field = (struct input_field){
        .type = layout->type, .values = 1, .offset = (size_t)column * table_type_size(layout->type)};
}

void sort_choose_keys(struct sort_job *job) {
    const struct sort_arguments *arguments = &job->arguments;
    const struct table_layout *layout = &job->input.layout;
    if (!layout->type && layout->columns > 1)
        die(EX_DATAERR, "%s: has rows of %zu records, and such rows have no key", job->input.name, layout->columns);
    job->by_count = arguments->by.count > 0 ? arguments->by.count : 1;
    for (unsigned i = 0; i < job->by_count; i++) {
        if (!job->by[i].found)
            choose_column(job, arguments->by.list[i], &job->by[i]);
        if (job->by[i].type > TABLE_F64 && job->by[i].found)
            die(EX_DATAERR, "%s: field '%s' is %s, which no keys are", job->input.name, job->by[i].name,
                table_type_name(job->by[i].type));
        if (job->by[i].type > TABLE_F64)
            die(EX_DATAERR, "%s: is %s, which no keys are", job->input.name, table_type_name(job->by[i].type));
    }
    const struct input_field *first = &job->by[0];
    const size_t size = table_type_size(first->type), width = 8 * size;
    const bool lone = job->by_count == 1 && first->values == 1;
    if ((arguments->has_bits || arguments->first_bit) && !lone)
        die(EX_USAGE, "--first-bit and --bits are for one key of one value");
    if (arguments->first_bit >= width || arguments->bits > width - arguments->first_bit)
        die(EX_USAGE, "--first-bit %u and --bits %u: keys of %s have %zu bits", arguments->first_bit, arguments->bits,
            table_type_name(first->type), width);
    job->row_is_key = lone && size == job->row_bytes && !first->swapped;
}

/* Bytes of each key, of those that are brought together; 0: the rows are keys. */
size_t sort_key_bytes(const struct sort_job *job) {
    size_t most = 0;
    for (unsigned i = 0; i < job->by_count && !job->row_is_key; i++)
        most = table_type_size(job->by[i].type) > most ? table_type_size(job->by[i].type) : most;
    return most;
}

/* How many values all keys have: there is a sort by each. */
static size_t key_values(const struct sort_job *job) {
    size_t count = 0;
    for (unsigned i = 0; i < job->by_count; i++)
        count += job->by[i].values;
    return count;
}

static table_sort_options sort_options(const struct sort_job *job) {
    const struct sort_arguments *arguments = &job->arguments;
    return (table_sort_options){.run = {.backend = arguments->common.backend, .threads = arguments->common.threads},
                                .descending = arguments->descending,
                                .first_bit = arguments->first_bit,
                                .bits = arguments->bits};
}

/* At least the bytes that the library takes for a sort by keys of this type which moves values of `value_bytes`
 * bytes. It is asked before there are any, with addresses that are never read. */
static size_t scratch_of(const struct sort_job *job, table_type type, size_t value_bytes) {
    enum { APART = TABLE_WORKSPACE_ALIGNMENT };
    const size_t keys_end = job->rows * table_type_size(type) / APART * APART + 2 * APART;
    const table_view keys = {.data = (void *)(uintptr_t)APART, .rows = job->rows, .columns = 1, .type = type};
    void *const values = value_bytes ? (void *)(uintptr_t)keys_end : NULL;
    table_sort_options options = sort_options(job);
    size_t bytes = 0;
    if (options.run.backend == TABLE_BACKEND_CUDA) /* it is memory of the device */
        return 0;
    options.run.backend = TABLE_BACKEND_CPU;
    die_unless_ok(job->input.name, table_radix_sort_workspace(&keys, values, value_bytes, &options, &bytes));
    return bytes;
}

size_t sort_scratch(const struct sort_job *job) {
    const bool argsort = job->arguments.argsort, moves_rows = !job->row_is_key && (!argsort || key_values(job) > 1);
    const size_t beside = argsort ? table_type_size(job->order_layout.type) : job->value_bytes;
    size_t most = 0;
    for (unsigned i = 0; i < job->by_count; i++) {
        const size_t own = scratch_of(job, job->by[i].type, beside);
        const size_t rows = moves_rows ? scratch_of(job, job->by[i].type, job->row_bytes) : 0;
        most = own > most ? own : most;
        most = rows > most ? rows : most;
    }
    return most;
}

static void make_order(struct sort_job *job) {
    job->order = memory_for(job->input.name, job->order_layout.bytes);
    for (size_t i = 0; i < job->rows; i++) {
        if (job->order_layout.type == TABLE_U32)
            ((uint32_t *)job->order)[i] = (uint32_t)i;
        else
            ((uint64_t *)job->order)[i] = i;
    }
}

/* The keys of one column: in the rows, or brought together out of them. */
static table_view take_keys(struct sort_job *job, const struct input_field *field, size_t offset) {
    const size_t size = table_type_size(field->type);
    if (job->row_is_key)
        return keys_view(&job->input);
    values_move(job->keys, size, (const char *)job->input.data + offset, job->row_bytes, size, job->rows);
    if (field->swapped)
        input_swap(job->keys, size, job->rows);
    return (table_view){.data = job->keys, .rows = job->rows, .columns = 1, .type = field->type};
}

/* Sorts by one column. Rows are moved last, as the keys are taken from them; where the order alone is written, the rows
 * need not follow the last column. */
static void sort_by_column(struct sort_job *job, const struct input_field *field, size_t offset, bool is_last) {
    table_pipeline_report report;
    table_sort_options options = sort_options(job);
    options.run.report = &report;
    struct moved moved[2];
    unsigned count = 0;
    if (job->order)
        moved[count++] = (struct moved){job->order, table_type_size(job->order_layout.type)};
    if (job->arguments.values)
        moved[count++] = (struct moved){job->value_file.head, job->value_bytes};
    if (!job->row_is_key && !(job->order && is_last))
        moved[count++] = (struct moved){job->input.head, job->row_bytes};
    if (count == 0)
        moved[count++] = (struct moved){NULL, 0};
    for (unsigned i = 0; i < count; i++) {
        const table_view keys = take_keys(job, field, offset);
        die_unless_ok(job->input.name, table_radix_sort(&keys, moved[i].data, moved[i].bytes, &options));
        add_report(&job->report, &report);
    }
}

/* The least significant column comes first: each sort leaves rows alike in the order of those before it. */
void sort_rows(struct sort_job *job) {
    if (job->arguments.argsort)
        make_order(job);
    if (!job->row_is_key)
        job->keys = memory_for(job->input.name, job->rows * sort_key_bytes(job));
    for (unsigned i = job->by_count; i-- > 0;) {
        const struct input_field *field = &job->by[i];
        const size_t size = table_type_size(field->type);
        for (size_t value = field->values; value-- > 0;)
            sort_by_column(job, field, field->offset + value * size, i == 0 && value == 0);
    }
    free(job->keys);
}
