#include "element.h"

#include <math.h>
#include <string.h>

#include "state.h"
#include "types.h"

/* Integers are added and multiplied as unsigned ones, which wrap. */
#define COMBINE_SUM(earlier, later)     ((earlier) + (later))
#define COMBINE_PRODUCT(earlier, later) ((earlier) * (later))

/* A NaN is above and below all. Of two zeros, +0 is the greater one. */
#define IS_NAN(value) (!((value) == (value)))
#define COMBINE_MAXIMUM(earlier, later)                                                                                \
    ((earlier) > (later) || IS_NAN(earlier) ? (earlier)                                                                \
     : (earlier) == 0 && (later) == 0       ? (earlier) + (later)                                                      \
                                            : (later))
#define COMBINE_MINIMUM(earlier, later)                                                                                \
    ((earlier) < (later) || IS_NAN(earlier) ? (earlier)                                                                \
     : (earlier) == 0 && (later) == 0       ? -(-(earlier) - (later))                                                  \
                                            : (later))

enum { LEAST_U32 = 0, LEAST_U64 = 0 };
#define LEAST_I32    INT32_MIN
#define LEAST_I64    INT64_MIN
#define LEAST_F32    -INFINITY
#define LEAST_F64    -INFINITY
#define GREATEST_U32 UINT32_MAX
#define GREATEST_U64 UINT64_MAX
#define GREATEST_I32 INT32_MAX
#define GREATEST_I64 INT64_MAX
#define GREATEST_F32 INFINITY
#define GREATEST_F64 INFINITY

/* -0.0 for floats, as +0.0 would turn -0.0 into itself. */
#define IDENTITY_SUM(TYPE)     -0.0
#define IDENTITY_PRODUCT(TYPE) 1
#define IDENTITY_MAXIMUM(TYPE) LEAST_##TYPE
#define IDENTITY_MINIMUM(TYPE) GREATEST_##TYPE
#define START_SUM(TYPE)        0
#define START_PRODUCT(TYPE)    1
#define START_MAXIMUM(TYPE)    LEAST_##TYPE
#define START_MINIMUM(TYPE)    GREATEST_##TYPE

#define DEFINE_ROW(OPERATION, TYPE, C, ORDER, CHECK)                                                                   \
    static void combine_##OPERATION##_##TYPE(void *to, const void *earlier, const void *later, size_t count) {         \
        C *const joined = to;                                                                                          \
        const C *const a = earlier, *const b = later;                                                                  \
        for (size_t j = 0; j < count; j++)                                                                             \
            joined[j] = COMBINE_##OPERATION(a[j], b[j]);                                                               \
    }                                                                                                                  \
    static const C identity_##OPERATION##_##TYPE = (C)IDENTITY_##OPERATION(TYPE);                                      \
    static const C start_##OPERATION##_##TYPE = START_##OPERATION(TYPE);
TABLE_NUMBER_ELEMENTS(DEFINE_ROW)

/* The rows of elements that are maps: a value of a product becomes a map without a term, and a scan begins with the map
 * of a known value. */
#define KNOWN_RECURRENCE MAP_CAREFUL
#define KNOWN_PRODUCT    MAP_PRODUCT
#define DEFINE_MAP_ROW(OPERATION, TYPE, TAG, C, TERM, START)                                                           \
    static void combine_##OPERATION##_##TYPE(void *to, const void *earlier, const void *later, size_t count) {         \
        const linear_map_##TAG *const a = earlier, *const b = later;                                                   \
        for (size_t j = 0; j < count; j++)                                                                             \
            ((linear_map_##TAG *)to)[j] =                                                                              \
                map_write_##TAG(map_after_##TAG(map_read_##TAG(b[j]), map_read_##TAG(a[j]), KNOWN_##OPERATION));       \
    }                                                                                                                  \
    static void row_##OPERATION##_##TYPE(void *elements, const void *factors, const void *values, size_t count) {      \
        const C *const a = factors ? factors : values, *const b = values;                                              \
        for (size_t j = 0; j < count; j++)                                                                             \
            ((linear_map_##TAG *)elements)[j] = map_write_##TAG(map_of_row_##TAG(a[j], TERM, KNOWN_##OPERATION));      \
        (void)b;                                                                                                       \
    }                                                                                                                  \
    static const C nothing_##OPERATION##_##TYPE = START ? 1 : (C)-0.0;                                                 \
    static const linear_map_##TAG identity_##OPERATION##_##TYPE = {1, 0, START ? 0.0 : -0.0, 0},                       \
                                  start_##OPERATION##_##TYPE = {0, 0, START, 1};
DEFINE_MAP_ROW(RECURRENCE, F32, f32, float, b[j], 0)
DEFINE_MAP_ROW(RECURRENCE, F64, f64, double, b[j], 0)
DEFINE_MAP_ROW(PRODUCT, F32, f32, float, 0, 1)
DEFINE_MAP_ROW(PRODUCT, F64, f64, double, 0, 1)

#define DEFINE_MAPS(TYPE, TAG, C)                                                                                      \
    static void settle_##TYPE(void *elements, size_t count) {                                                          \
        linear_map_##TAG *const maps = elements;                                                                       \
        for (size_t j = 0; j < count; j++)                                                                             \
            maps[j] = map_write_##TAG(map_settle_##TAG(map_read_##TAG(maps[j]), MAP_CAREFUL));                         \
    }                                                                                                                  \
    static void take_##TYPE(void *elements, const void *values, size_t count) {                                        \
        for (size_t j = 0; j < count; j++)                                                                             \
            ((linear_map_##TAG *)elements)[j] = map_write_##TAG(map_constant_##TAG(((const C *)values)[j]));           \
    }                                                                                                                  \
    static void give_##TYPE(void *values, const void *elements, size_t count) {                                        \
        for (size_t j = 0; j < count; j++)                                                                             \
            ((C *)values)[j] = ((const linear_map_##TAG *)elements)[j].term;                                           \
    }
DEFINE_MAPS(F32, f32, float)
DEFINE_MAPS(F64, f64, double)

#define KIND_ENTRY(TYPE, NAME, C, KIND, NUMPY, CODE) KIND_OF_##TYPE = TABLE_##KIND,
enum { TABLE_TYPES(KIND_ENTRY) };

#define FIELDS(OPERATION, TYPE, C, ORDER, CHECK)                                                                       \
    .id = ELEMENT_##OPERATION##_##TYPE, .operation = TABLE_##OPERATION, .type = TABLE_##TYPE, .bytes = sizeof(C),      \
    .ordered = (ORDER) == TREE_ORDER, .has_nan = (int)KIND_OF_##TYPE == TABLE_FLOATING, .check = CHECK,                \
    .combine = combine_##OPERATION##_##TYPE, .identity = &identity_##OPERATION##_##TYPE,                               \
    .start = &start_##OPERATION##_##TYPE
#define NUMBER_ROW(OPERATION, TYPE, C, ORDER, CHECK)                                                                   \
    [ELEMENT_##OPERATION##_##TYPE] = {FIELDS(OPERATION, TYPE, C, ORDER, CHECK),                                        \
                                      .nothing = &identity_##OPERATION##_##TYPE,                                       \
                                      .start_is_zero = START_##OPERATION(TYPE) == 0},
#define MAP_ROW(OPERATION, TYPE, C, ORDER, CHECK)                                                                      \
    [ELEMENT_##OPERATION##_##TYPE] = {FIELDS(OPERATION, TYPE, C, ORDER, CHECK),                                        \
                                      .is_map = true,                                                                  \
                                      .take = take_##TYPE,                                                             \
                                      .give = give_##TYPE,                                                             \
                                      .of_row = row_##OPERATION##_##TYPE,                                              \
                                      .settle = settle_##TYPE,                                                         \
                                      .nothing = &nothing_##OPERATION##_##TYPE},
static const struct element elements[ELEMENTS] = {TABLE_NUMBER_ELEMENTS(NUMBER_ROW) TABLE_MAP_ELEMENTS(MAP_ROW)};

static const struct {
    const char *name, *plural;
} operations[] = {[TABLE_SUM] = {"sum", "sums"},
                  [TABLE_MAXIMUM] = {"maximum", "maxima"},
                  [TABLE_MINIMUM] = {"minimum", "minima"},
                  [TABLE_PRODUCT] = {"product", "products"},
                  [TABLE_RECURRENCE] = {"recurrence", "recurrences"}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

const char *table_operation_name(table_operation operation) {
    return (unsigned)operation < OPERATIONS ? operations[operation].name : NULL;
}

const char *element_plural(const struct element *element) { return operations[element->operation].plural; }

static bool is_extreme(table_operation operation) { return operation == TABLE_MAXIMUM || operation == TABLE_MINIMUM; }

/* Types of which there are no elements become wider ones; a number that is no type stays as it is. */
static table_type widened(table_type out) {
    if (type_bytes(out) == 0)
        return out;
    switch (table_kind_of(out)) {
    case TABLE_FLOATING:
        return type_of_sums(out);
    case TABLE_SIGNED:
        return type_bytes(out) < sizeof(int32_t) ? TABLE_I32 : out;
    default:
        return type_bytes(out) < sizeof(uint32_t) ? TABLE_U32 : out;
    }
}

const struct element *element_kept_as(table_operation operation, table_type kept) {
#define ELEMENT_CASE(OPERATION, TYPE, C, ORDER, CHECK)                                                                 \
    case (uint64_t)TABLE_##OPERATION << 32 | TABLE_##TYPE:                                                             \
        return &elements[ELEMENT_##OPERATION##_##TYPE];
    switch ((uint64_t)operation << 32 | (uint32_t)kept) {
        TABLE_ELEMENTS(ELEMENT_CASE)
    default:
        return NULL;
    }
}

const struct element *element_of(table_operation operation, table_type out, table_type kept) {
    const table_type usual = is_extreme(operation) ? widened(out) : type_of_sums(out);
    if (kept == 0 || kept == usual)
        return element_kept_as(operation, usual);
    return kept == TABLE_F64 && out == TABLE_F32 && !is_extreme(operation) ? element_kept_as(operation, kept) : NULL;
}

bool element_takes(const struct element *element, table_type in, table_type out) {
    if (element->operation == TABLE_RECURRENCE)
        return type_is_float(in) && (in == out || type_of_sums(in) == out);
    return is_extreme(element->operation) ? in == out : table_types_supported(in, out);
}

int table_operation_supported(table_operation operation, table_type in, table_type out) {
    const struct element *element = element_of(operation, out, 0);
    return element && element_takes(element, in, out);
}

table_type table_kept_type(table_operation operation, table_type out) {
    const struct element *element = element_of(operation, out, 0);
    return element ? element->type : (table_type)0;
}

void element_fill(const struct element *element, void *to, const void *one, size_t count) {
    char *place = to;
    for (size_t j = 0; j < count; j++, place += element->bytes)
        memcpy(place, one, element->bytes);
}

bool element_is_all(const struct element *element, const void *elements_there, const void *one, size_t count) {
    const char *place = elements_there;
    for (size_t j = 0; j < count; j++, place += element->bytes)
        if (memcmp(place, one, element->bytes) != 0)
            return false;
    return true;
}

unsigned element_state_rows(const struct element *element) {
    return element->ordered ? STATE_TREE_ROWS : STATE_ANY_ORDER_ROWS;
}
