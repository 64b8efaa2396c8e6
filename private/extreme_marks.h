/* Which values are their own running extremes: what src and kernels mark rows by. */
#ifndef EXTREME_MARKS_H
#define EXTREME_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include <tuplescan/table.h>

#include "range_list.h"

/* A value and its result are the same where their bits are; both are NaN, whose magnitude is above infinity; or both
 * are true. */
struct extreme_rule {
    uint64_t magnitude, infinity;
    int is_truth;
};

static inline struct extreme_rule extreme_rule_of(table_type type) {
    struct extreme_rule rule = {UINT64_MAX, UINT64_MAX, type == TABLE_BOOL};
    if (type == TABLE_F16 || type == TABLE_BF16) {
        rule.magnitude = 0x7fff;
        rule.infinity = type == TABLE_F16 ? 0x7c00 : 0x7f80;
    } else if (type == TABLE_F32) {
        rule.magnitude = INT32_MAX;
        rule.infinity = 0x7f800000;
    } else if (type == TABLE_F64) {
        rule.magnitude = INT64_MAX;
        rule.infinity = 0x7ff0000000000000;
    }
    return rule;
}

/* Ranges of values, of their results, and of the marks, of TABLE_I64: strides and steps in elements. Marks have the
 * step of results. */
struct extreme_marks {
    const void *values, *extremes;
    void *marks;
    ptrdiff_t values_stride, extremes_stride, marks_stride;
    struct range_list ranges;
    size_t rows, columns;
    table_type type;
    uint64_t first_row;
};

#endif
