#include "element.h"

#include <string.h>

#include "state.h"
#include "types.h"

/* Integers are added as unsigned ones, which wrap. */
#define COMBINE_SUM(earlier, later) ((earlier) + (later))

/* -0.0 for floats, as +0.0 would turn -0.0 into itself. */
#define IDENTITY_SUM(C) ((C)-0.0)

#define DEFINE_COMBINE(OPERATION, TYPE, C, ORDER, CHECK)                                                               \
    static void combine_##OPERATION##_##TYPE(void *to, const void *earlier, const void *later, size_t count) {         \
        C *const joined = to;                                                                                          \
        const C *const a = earlier, *const b = later;                                                                  \
        for (size_t j = 0; j < count; j++)                                                                             \
            joined[j] = COMBINE_##OPERATION(a[j], b[j]);                                                               \
    }                                                                                                                  \
    static const C identity_##OPERATION##_##TYPE = IDENTITY_##OPERATION(C);
TABLE_ELEMENTS(DEFINE_COMBINE)

#define ROW(OPERATION, TYPE, C, ORDER, CHECK)                                                                          \
    [ELEMENT_##OPERATION##_##TYPE] = {.id = ELEMENT_##OPERATION##_##TYPE,                                              \
                                      .type = TABLE_##TYPE,                                                            \
                                      .bytes = sizeof(C),                                                              \
                                      .ordered = (ORDER) == TREE_ORDER,                                                \
                                      .check = CHECK,                                                                  \
                                      .combine = combine_##OPERATION##_##TYPE,                                         \
                                      .identity = &identity_##OPERATION##_##TYPE},
static const struct element elements[ELEMENTS] = {TABLE_ELEMENTS(ROW)};

const struct element *element_kept_as(table_type kept) {
    const enum element_id id = element_id_of(kept);
    return id == NO_ELEMENT ? NULL : &elements[id];
}

const struct element *element_of(table_type out) { return element_kept_as(type_of_sums(out)); }

void element_fill(const struct element *element, void *to, const void *one, size_t count) {
    char *place = to;
    for (size_t j = 0; j < count; j++, place += element->bytes)
        memcpy(place, one, element->bytes);
}

unsigned element_state_rows(const struct element *element) { return state_rows_of(element->id); }
