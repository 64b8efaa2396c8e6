/* Marks the rows whose values are their own running extremes. */
#include <string.h>

#include "../checked.h"
#include "../pool.h"
#include "extreme_marks.h"
#include "stages.h"

/* Cells of one job. */
enum { JOB_CELLS = 1 << 16 };

struct marks {
    const struct extreme_tables *tables;
    struct extreme_rule rule;
    size_t rows_of_job, jobs_of_table;
};

/* One row: values and results may be at any address. */
#define MARK_ROW(BITS, NAME)                                                                                           \
    static void NAME(const char *values, const char *extremes, char *marks, size_t columns, int64_t number,            \
                     const struct extreme_rule *rule) {                                                                \
        const BITS magnitude = (BITS)rule->magnitude, infinity = (BITS)rule->infinity;                                 \
        const int is_truth = rule->is_truth;                                                                           \
        for (size_t j = 0; j < columns; j++) {                                                                         \
            BITS value, extreme;                                                                                       \
            memcpy(&value, values + j * sizeof value, sizeof value);                                                   \
            memcpy(&extreme, extremes + j * sizeof extreme, sizeof extreme);                                           \
            const int same = (value == extreme) |                                                                      \
                             (((BITS)(value & magnitude) > infinity) & ((BITS)(extreme & magnitude) > infinity)) |     \
                             (is_truth & (value != 0) & (extreme != 0));                                               \
            const int64_t mark = same ? number : -1;                                                                   \
            memcpy(marks + j * sizeof mark, &mark, sizeof mark);                                                       \
        }                                                                                                              \
    }
MARK_ROW(uint8_t, mark_row_8)
MARK_ROW(uint16_t, mark_row_16)
MARK_ROW(uint32_t, mark_row_32)
MARK_ROW(uint64_t, mark_row_64)

static void mark_rows(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct marks *marks = jobs->context;
    const struct extreme_tables *tables = marks->tables;
    const struct extreme_table *at = &tables->first;
    const ptrdiff_t table = (ptrdiff_t)(number / marks->jobs_of_table);
    const ptrdiff_t size = (ptrdiff_t)table_type_size(tables->type), mark_size = sizeof(int64_t);
    const size_t first = number % marks->jobs_of_table * marks->rows_of_job;
    const size_t rows = tables->rows - first < marks->rows_of_job ? tables->rows - first : marks->rows_of_job;
    (void)thread;
    for (size_t i = first; i < first + rows; i++) {
        const ptrdiff_t row = (ptrdiff_t)i;
        const char *values = (const char *)at->values + (table * tables->values_step + row * at->values_stride) * size;
        const char *extremes =
            (const char *)at->extremes + (table * tables->results_step + row * at->extremes_stride) * size;
        char *to = (char *)at->marks + (table * tables->results_step + row * at->marks_stride) * mark_size;
        const int64_t mark = (int64_t)(tables->first_row + i);
        if (size == 1)
            mark_row_8(values, extremes, to, tables->columns, mark, &marks->rule);
        else if (size == 2)
            mark_row_16(values, extremes, to, tables->columns, mark, &marks->rule);
        else if (size == 4)
            mark_row_32(values, extremes, to, tables->columns, mark, &marks->rule);
        else
            mark_row_64(values, extremes, to, tables->columns, mark, &marks->rule);
    }
}

table_status cpu_mark_extremes(const struct scan *scan, const struct extreme_tables *tables) {
    struct marks marks = {.tables = tables, .rule = extreme_rule_of(tables->type), .rows_of_job = JOB_CELLS};
    struct jobs jobs = {.work = mark_rows, .context = &marks};
    if (tables->rows == 0 || tables->columns == 0)
        return TABLE_OK;
    if (tables->columns > 1)
        marks.rows_of_job = divide_up(JOB_CELLS, tables->columns);
    marks.jobs_of_table = divide_up(tables->rows, marks.rows_of_job);
    jobs.count = marks.jobs_of_table * tables->tables;
    return jobs_run(&jobs, jobs_threads(scan->threads, jobs.count));
}
