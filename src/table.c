#include <tuplescan/table.h>

#include "types.h"

/* The list has each number of the enum once, from 1 on without a gap. Where the list is expanded in a switch, the
 * compiler warns of a type that only table.h has. */
#define COUNT(TYPE, NAME, C, KIND, NUMPY, CODE) +1
#define BIT(TYPE, NAME, C, KIND, NUMPY, CODE)   | 1 << TABLE_##TYPE
_Static_assert((0 TABLE_TYPES(BIT)) == (1 << (1 TABLE_TYPES(COUNT))) - 2, "private/types.h and enum table_type differ");

#define TYPE_ENTRY(TYPE, NAME, C, KIND, NUMPY, CODE) [TABLE_##TYPE] = {#NAME, sizeof(C)},
static const struct {
    const char *name;
    size_t size;
} types[] = {TABLE_TYPES(TYPE_ENTRY)};

#define PAIR_ENTRY(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) [TABLE_##IN][TABLE_##OUT] = 1,
enum { TYPES = sizeof types / sizeof *types };
static const unsigned char supported[TYPES][TYPES] = {TABLE_PAIRS(PAIR_ENTRY)};

size_t table_type_size(table_type type) { return (size_t)type < TYPES ? types[type].size : 0; }

const char *table_type_name(table_type type) { return (size_t)type < TYPES ? types[type].name : NULL; }

int table_types_supported(table_type in, table_type out) {
    return (size_t)in < TYPES && (size_t)out < TYPES && supported[in][out];
}

table_type table_sum_type(table_type out) {
    const table_type sums = type_of_sums(out);
    return table_types_supported(sums, sums) ? sums : (table_type)0;
}
