/* What the host knows of an element (private/elements.h). The gate finds it once, from the options and the type of the
 * results; below, nothing else decides on order, state, checks or the bytes of rows. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stdbool.h>

#include "elements.h"

/* to = `later` after `earlier`, for each of `count` elements side by side. `to` may be either of them. */
typedef void element_combine(void *to, const void *earlier, const void *later, size_t count);

struct element {
    enum element_id id;
    table_operation operation;
    table_type type; /* of its value: what carries of the caller and totals are, and what values are loaded as */
    size_t bytes;    /* of one element; may be more than its value has */
    bool ordered;    /* joined along the tree, and in no other order */
    bool is_map;     /* more than its value, so that rows of elements are not rows of values */
    bool has_nan;    /* its values are floats, of which some are no numbers */
    enum element_check check;
    element_combine *combine;
    const void *identity; /* the element that changes nothing where it comes before or after another */
    const void *nothing;  /* the value that does so, if a row of it has no other effect than by its coefficient */
    const void *start;    /* what a scan begins with where the caller has no row for that */
    bool start_is_zero;   /* in all bytes; so is then the identity of elements in any order */

    /* Maps are made of known values by take() and of single rows by of_row(), whose `factors` only recurrences have;
     * give() tells the values of the former. Elements that are no maps have NULL. */
    void (*take)(void *elements, const void *values, size_t count);
    void (*give)(void *values, const void *elements, size_t count);
    void (*of_row)(void *elements, const void *factors, const void *values, size_t count);

    /* Settles the total of a whole unit when it becomes a block, and each block that is made of two; settling twice is
     * settling once. NULL: nothing to do. */
    void (*settle)(void *elements, size_t count);
};

/* The element that results of type `out` are made of, kept as the type that was asked for (0: none was); NULL if there
 * are no such results. */
const struct element *element_of(table_operation operation, table_type out, table_type kept);

/* Whether values of type `in` can become results of type `out` by it. */
bool element_takes(const struct element *element, table_type in, table_type out);

/* The element of carries, totals and states of type `kept`; NULL if that is not the type of such. */
const struct element *element_kept_as(table_operation operation, table_type kept);

/* Makes `count` elements side by side those at `one`; and tells whether they are. */
void element_fill(const struct element *element, void *to, const void *one, size_t count);
bool element_is_all(const struct element *element, const void *elements, const void *one, size_t count);

/* Rows of elements that follow the header of a state. */
unsigned element_state_rows(const struct element *element);

/* "sums", "maxima", ...: what there are of. */
const char *element_plural(const struct element *element);

#endif
