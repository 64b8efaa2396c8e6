/* Marks the rows whose values are their own running extremes. */
#include <string.h>

#include "../checked.h"
#include "../pool.h"
#include "extreme_marks.h"
#include "stages.h"

/* Cells of one job. */
enum { JOB_CELLS = 1 << 16 };

typedef void mark_row(const char *values, const char *extremes, char *marks, size_t columns, int64_t number,
                      const struct extreme_rule *rule);

struct marking {
    const struct extreme_marks *of;
    struct extreme_rule rule;
    mark_row *row;
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
    const struct marking *marking = jobs->context;
    const struct extreme_marks *of = marking->of;
    const ptrdiff_t table = (ptrdiff_t)(number / marking->jobs_of_table);
    const ptrdiff_t size = (ptrdiff_t)table_type_size(of->type), mark_size = sizeof(int64_t);
    const size_t first = number % marking->jobs_of_table * marking->rows_of_job;
    const size_t rows = of->rows - first < marking->rows_of_job ? of->rows - first : marking->rows_of_job;
    (void)thread;
    for (size_t i = first; i < first + rows; i++) {
        const ptrdiff_t row = (ptrdiff_t)i;
        marking->row((const char *)of->values + (table * of->ranges.in + row * of->values_stride) * size,
                     (const char *)of->extremes + (table * of->ranges.out + row * of->extremes_stride) * size,
                     (char *)of->marks + (table * of->ranges.out + row * of->marks_stride) * mark_size, of->columns,
                     (int64_t)(of->first_row + i), &marking->rule);
    }
}

table_status cpu_mark_extremes(const struct scan *scan, const struct extreme_marks *marks) {
    static mark_row *const by_size[] = {[1] = mark_row_8, [2] = mark_row_16, [4] = mark_row_32, [8] = mark_row_64};
    struct marking marking = {
        .of = marks, .rule = extreme_rule_of(marks->type), .row = by_size[table_type_size(marks->type)]};
    struct jobs jobs = {.work = mark_rows, .context = &marking};
    if (marks->rows == 0 || marks->columns == 0)
        return TABLE_OK;
    marking.rows_of_job = divide_up(JOB_CELLS, marks->columns);
    marking.jobs_of_table = divide_up(marks->rows, marking.rows_of_job);
    jobs.count = marking.jobs_of_table * marks->ranges.count;
    return jobs_run(&jobs, jobs_threads(scan->threads, jobs.count));
}
