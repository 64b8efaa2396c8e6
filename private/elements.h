/* The one list of elements. A running result is kept in an element from row to row; totals of runs of rows, seeds,
 * carries inside of the library and the rows of a state are elements, too. Two elements that follow each other are
 * joined to one by the operation's combine(earlier, later), which is associative and need not commute.
 *
 * To name elements, pass a macro X, which is expanded once for each row. Plain C that CUDA C can include, too. What
 * only the host knows of a row stands in src/element.c, and the CPU's kernels for it in src/cpu/kernels.c. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include <tuplescan/table.h>

#include "linear_map.h"

/* Whether elements may be joined in any order, or in that of the tree of tuplescan/prefix_sum.h alone. In any order,
 * one running element is all that a sum remembers. */
enum element_order { ANY_ORDER, TREE_ORDER };

/* What can be looked for on the way: nothing, or the first result that has left its type, which wraps. */
enum element_check { CHECKS_NOTHING, CHECKS_SUMS, CHECKS_PRODUCTS };

/* X(operation, type that a value of an element has, C type of an element, order, check). Signed integers are added and
 * multiplied as unsigned ones, which wrap; the bits are those of the signed result. */
#define TABLE_ELEMENTS(X) TABLE_NUMBER_ELEMENTS(X) TABLE_MAP_ELEMENTS(X)

/* Elements that are their values. */
#define TABLE_NUMBER_ELEMENTS(X)                                                                                       \
    X(SUM, U32, uint32_t, ANY_ORDER, CHECKS_SUMS)                                                                      \
    X(SUM, I32, uint32_t, ANY_ORDER, CHECKS_SUMS)                                                                      \
    X(SUM, U64, uint64_t, ANY_ORDER, CHECKS_SUMS)                                                                      \
    X(SUM, I64, uint64_t, ANY_ORDER, CHECKS_SUMS)                                                                      \
    X(SUM, F32, float, TREE_ORDER, CHECKS_NOTHING)                                                                     \
    X(SUM, F64, double, TREE_ORDER, CHECKS_NOTHING)                                                                    \
    TABLE_EXTREMES(X, MAXIMUM)                                                                                         \
    TABLE_EXTREMES(X, MINIMUM)                                                                                         \
    X(PRODUCT, U32, uint32_t, ANY_ORDER, CHECKS_PRODUCTS)                                                              \
    X(PRODUCT, I32, uint32_t, ANY_ORDER, CHECKS_PRODUCTS)                                                              \
    X(PRODUCT, U64, uint64_t, ANY_ORDER, CHECKS_PRODUCTS)                                                              \
    X(PRODUCT, I64, uint64_t, ANY_ORDER, CHECKS_PRODUCTS)

/* Maxima and minima are exact. */
#define TABLE_EXTREMES(X, OPERATION)                                                                                   \
    X(OPERATION, U32, uint32_t, ANY_ORDER, CHECKS_NOTHING)                                                             \
    X(OPERATION, I32, int32_t, ANY_ORDER, CHECKS_NOTHING)                                                              \
    X(OPERATION, U64, uint64_t, ANY_ORDER, CHECKS_NOTHING)                                                             \
    X(OPERATION, I64, int64_t, ANY_ORDER, CHECKS_NOTHING)                                                              \
    X(OPERATION, F32, float, ANY_ORDER, CHECKS_NOTHING)                                                                \
    X(OPERATION, F64, double, ANY_ORDER, CHECKS_NOTHING)

/* Maps of rows: private/linear_map_rules.h. */
#define TABLE_MAP_ELEMENTS(X)                                                                                          \
    X(RECURRENCE, F32, linear_map_f32, TREE_ORDER, CHECKS_NOTHING)                                                     \
    X(RECURRENCE, F64, linear_map_f64, TREE_ORDER, CHECKS_NOTHING)                                                     \
    X(PRODUCT, F32, linear_map_f32, TREE_ORDER, CHECKS_NOTHING)                                                        \
    X(PRODUCT, F64, linear_map_f64, TREE_ORDER, CHECKS_NOTHING)

enum element_id {
    NO_ELEMENT,
#define ELEMENT_NUMBER(OPERATION, TYPE, C, ORDER, CHECK) ELEMENT_##OPERATION##_##TYPE,
    TABLE_ELEMENTS(ELEMENT_NUMBER)
#undef ELEMENT_NUMBER
        ELEMENTS
};

#endif
