#include "tables.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "types.h"

enum { GAP_CANARY = 0x5A };

#define TYPE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) {TABLE_##IN, TABLE_##OUT},
const struct type_pair type_pairs[] = {TABLE_PAIRS(TYPE_PAIR)};
const size_t type_pair_count = sizeof type_pairs / sizeof *type_pairs;

#define ONE_TYPE(TYPE, NAME, C, KIND, NUMPY, CODE) TABLE_##TYPE,
static const table_type all_types[] = {TABLE_TYPES(ONE_TYPE)};

static bool takes_pair(table_operation operation, struct type_pair pair) {
    return operation != TABLE_RECURRENCE ||
           (element_is_float(pair.in) &&
            (pair.in == pair.out || (element_size(pair.in) == 2 && pair.out == TABLE_F32)));
}

bool operation_pair(table_operation operation, size_t number, struct type_pair *pair) {
    if (operation == TABLE_MAXIMUM || operation == TABLE_MINIMUM) {
        if (number < sizeof all_types / sizeof *all_types)
            *pair = (struct type_pair){all_types[number], all_types[number]};
        return number < sizeof all_types / sizeof *all_types;
    }
    for (size_t i = 0; i < type_pair_count; i++)
        if (takes_pair(operation, type_pairs[i]) && number-- == 0) {
            *pair = type_pairs[i];
            return true;
        }
    return false;
}

size_t element_size(table_type type) { return type_bytes(type); }

bool element_is_float(table_type type) { return type_is_float(type); }

uint64_t element_bits(const void *element, table_type type) {
    uint64_t bits = 0;
    memcpy(&bits, element, element_size(type)); /* x86-64 and arm64: the low bytes come first */
    return bits;
}

static bool bits_are_nan(uint64_t bits, table_type type) {
    if (type == TABLE_F16 || type == TABLE_BF16)
        return (bits & 0x7FFF) > (type == TABLE_F16 ? 0x7C00u : 0x7F80u);
    if (type == TABLE_F32)
        return (bits & 0x7FFFFFFFu) > 0x7F800000u;
    return type == TABLE_F64 && (bits & INT64_MAX) > 0x7FF0000000000000u;
}

bool elements_same(uint64_t a, uint64_t b, table_type type) {
    return a == b || (bits_are_nan(a, type) && bits_are_nan(b, type));
}

/* From 2^-24 up to 2^24, of either sign. */
static double random_magnitude(struct random *random) {
    const uint64_t drawn = random_bits(random), exponent = 1023 - 24 + (drawn >> 52 & 0x7FF) % 48;
    const uint64_t bits = (drawn & ~((uint64_t)0x7FF << 52)) | exponent << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double random_float(struct random *random, enum pattern pattern) {
    const double sign = random_once_in(random, 2) ? -1.0 : 1.0;
    switch (pattern) {
    case PATTERN_BITS:
        return random_magnitude(random);
    case PATTERN_EXTREME:
        if (random_once_in(random, 5000))
            return random_once_in(random, 2) ? sign * INFINITY : NAN;
        if (random_once_in(random, 50))
            return sign * FLT_MIN * random_unit(random); /* denormal as a float */
        return sign * random_unit(random);
    case PATTERN_ZEROS:
        return random_once_in(random, 10000) ? sign * random_unit(random) : -0.0;
    default:
        return random_unit(random);
    }
}

static uint64_t random_integer(struct random *random, enum pattern pattern) {
    switch (pattern) {
    case PATTERN_BITS:
        return random_bits(random);
    case PATTERN_EXTREME:
        /* The largest and the smallest value of each type, and small ones. */
        if (random_once_in(random, 3000))
            return random_once_in(random, 2) ? 0x7FFFFFFF7FFFFFFFu : 0x8000000080000000u;
        return random_below(random, 3);
    case PATTERN_ZEROS:
        return random_once_in(random, 1000) ? random_bits(random) : 0;
    default:
        return random_below(random, 100);
    }
}

void element_randomize(void *element, table_type type, struct random *random, enum pattern pattern) {
    if (type == TABLE_F32) {
        const float value = (float)random_float(random, pattern);
        memcpy(element, &value, sizeof value);
    } else if (type == TABLE_F64) {
        const double value = random_float(random, pattern);
        memcpy(element, &value, sizeof value);
    } else if (type == TABLE_F16 || type == TABLE_BF16) {
        const float value = (float)random_float(random, pattern);
        reference_round(TABLE_F32, &value, type, element, 1);
    } else {
        const uint64_t bits = random_integer(random, pattern);
        memcpy(element, &bits, element_size(type));
    }
}

void table_open_anywhere(struct table *table, const struct memory *memory, table_type type, size_t rows, size_t columns,
                         ptrdiff_t stride, size_t offset, enum edge edge) {
    const size_t size = element_size(type), pitch = (size_t)(stride < 0 ? -stride : stride);
    const size_t bytes = rows == 0 ? 0 : ((rows - 1) * pitch + columns) * size;
    memset(table, 0, sizeof *table);
    table->image = get_memory(bytes);
    memset(table->image, GAP_CANARY, bytes);
    block_open(&table->block, memory, bytes, offset, edge);
    table->view = (table_view){.rows = rows, .columns = columns, .stride = stride, .type = type};
    table->first = stride < 0 && rows > 0 ? (rows - 1) * pitch * size : 0;
    table->view.data = (char *)table->block.address + table->first;
}

void table_open(struct table *table, const struct memory *memory, table_type type, size_t rows, size_t columns,
                size_t stride, size_t offset, enum edge edge) {
    table_open_anywhere(table, memory, type, rows, columns, (ptrdiff_t)stride, offset * element_size(type), edge);
}

void table_close(struct table *table) {
    block_close(&table->block);
    free(table->image);
    table->image = NULL;
}

static unsigned char *image_element(const struct table *table, size_t row, size_t column) {
    return table->image + table->first +
           ((ptrdiff_t)row * table->view.stride + (ptrdiff_t)column) * (ptrdiff_t)element_size(table->view.type);
}

void table_randomize(struct table *table, struct random *random, enum pattern pattern) {
    for (size_t i = 0; i < table->view.rows; i++)
        for (size_t j = 0; j < table->view.columns; j++)
            element_randomize(image_element(table, i, j), table->view.type, random, pattern);
}

void table_fill_rubbish(struct table *table, struct random *random) {
    const size_t row_bytes = table->view.columns * element_size(table->view.type);
    uint64_t bits = random_bits(random);
    for (size_t i = 0; i < table->view.rows; i++) {
        unsigned char *row = image_element(table, i, 0);
        for (size_t at = 0; at < row_bytes; at += sizeof bits, bits += 0x9E3779B97F4A7C15u)
            memcpy(row + at, &bits, row_bytes - at < sizeof bits ? row_bytes - at : sizeof bits);
    }
}

void table_set_packed(struct table *table, const void *packed) {
    const size_t row_bytes = table->view.columns * element_size(table->view.type);
    for (size_t i = 0; i < table->view.rows; i++)
        memcpy(image_element(table, i, 0), (const char *)packed + i * row_bytes, row_bytes);
}

table_view table_image_view(const struct table *table) {
    table_view view = table->view;
    view.data = table->image + table->first;
    return view;
}

bool table_upload(const struct table *table) { return block_upload(&table->block, table->image); }

static bool find_difference(const struct table *table, const unsigned char *found, struct difference *difference) {
    const size_t size = element_size(table->view.type);
    const size_t pitch = (size_t)(table->view.stride < 0 ? -table->view.stride : table->view.stride);
    for (size_t byte = 0; byte < table->block.bytes; byte += size) {
        if (memcmp(table->image + byte, found + byte, size) == 0)
            continue;
        difference->row = byte / size / pitch;
        difference->column = byte / size % pitch;
        if (table->view.stride < 0)
            difference->row = table->view.rows - 1 - difference->row;
        difference->expected = element_bits(table->image + byte, table->view.type);
        difference->found = element_bits(found + byte, table->view.type);
        if (difference->column >= table->view.columns ||
            !elements_same(difference->expected, difference->found, table->view.type))
            return true;
    }
    return false;
}

bool table_holds_image(const struct table *table, struct difference *difference) {
    unsigned char *found = get_memory(table->block.bytes);
    bool holds = block_download(&table->block, found);
    *difference = (struct difference){.row = table->view.rows};
    if (holds && memcmp(found, table->image, table->block.bytes) != 0)
        holds = !find_difference(table, found, difference);
    if (holds) {
        *difference = (struct difference){.row = table->view.rows};
        holds = block_surroundings_intact(&table->block);
    }
    free(found);
    return holds;
}
