/* tuplescan gen: a table of random values, the same for the same seed wherever it is made. */
#include <stdlib.h>

#include "commands.h"
#include "job.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "splitmix64.h"
#include "table_io.h"
#include "types.h"
#include "values.h"

enum { BUFFER_VALUES = 1 << 17, DEFAULT_MAX = 100 };

__extension__ typedef unsigned __int128 uint128;

/* Makes a number from 0 to most of random bits. */
static uint64_t scale(uint64_t bits, uint64_t most) {
    return most == UINT64_MAX ? bits : (uint64_t)((uint128)bits * (most + 1) >> 64);
}

/* A value of each kind, of type C. Integers with a sign are from -max to max, floats from -1 to 1. */
#define UNSIGNED_VALUE(C) (C) scale(bits, max)
#define SIGNED_VALUE(C)   (C)(scale(bits, 2 * max) - max)
#define FLOATING_VALUE(C)                                                                                              \
    (sizeof(C) == sizeof(float) ? (C)((float)(bits >> 40) * 0x1p-23f - 1.0f)                                           \
                                : (C)((double)(bits >> 11) * 0x1p-52 - 1.0))

static void put(table_type type, void *to, size_t k, uint64_t bits, uint64_t max) {
#define PUT(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                          \
    case TABLE_##TYPE:                                                                                                 \
        ((C *)to)[k] = KIND##_VALUE(C);                                                                                \
        break;
    switch (type) {
        TABLE_NUMBER_TYPES(PUT)
    case TABLE_BOOL:
        ((value_bool *)to)[k].byte = UNSIGNED_VALUE(uint8_t);
        break;
    case TABLE_F16:
        ((value_f16 *)to)[k] = value_f16_of(FLOATING_VALUE(float));
        break;
    case TABLE_BF16:
        ((value_bf16 *)to)[k] = value_bf16_of(FLOATING_VALUE(float));
        break;
    }
}

static uint64_t greatest(table_type type) {
    const unsigned bits = 8 * (unsigned)table_type_size(type);
    if (type == TABLE_BOOL)
        return 1;
    return type_is_float(type) ? UINT64_MAX : UINT64_MAX >> (64 - bits) >> type_is_signed_integer(type);
}

static void check_arguments(struct gen_arguments *arguments, struct table_layout *layout) {
    table_type type = arguments->common.type;
    const char *missing = !type                        ? "--type"
                          : !arguments->has_rows       ? "--rows"
                          : !arguments->common.columns ? "--columns"
                          : !arguments->common.output  ? "-o FILE"
                                                       : NULL;
    if (missing)
        die(EX_USAGE, "%s is missing", missing);
    if (!layout_set(layout, type, arguments->rows, arguments->common.columns))
        die(EX_USAGE, "%zu rows of %zu %s are beyond the address space", arguments->rows, arguments->common.columns,
            table_type_name(type));
    if (!arguments->has_max)
        arguments->max = greatest(type) < DEFAULT_MAX ? greatest(type) : DEFAULT_MAX;
    else if (type_is_float(type))
        die(EX_USAGE, "--max is for integers, and the type is %s", table_type_name(type));
    if (arguments->max > greatest(type))
        die(EX_USAGE, "--max %llu does not fit in %s", (unsigned long long)arguments->max, table_type_name(type));
    check_outputs(&arguments->common, NULL, NULL, NULL);
}

int gen_main(int argc, char **argv) {
    static struct gen_arguments arguments;
    struct table_layout layout;
    static struct atomic_file file; /* too large for a small stack */
    job_begin(&options_of_gen, &arguments, argc, argv);
    check_arguments(&arguments, &layout);
    const struct output_format *const format =
        output_format_for(arguments.common.output, arguments.common.output_format, "raw");
    open_output(&file, arguments.common.output, arguments.common.force, format, &layout);
    write_header(&file, format, &layout);
    const size_t size = table_type_size(layout.type), values = layout.bytes / size;
    void *buffer = memory_for(file.name, BUFFER_VALUES * size);
    for (size_t first = 0; first < values; first += BUFFER_VALUES) {
        const size_t count = least(values - first, BUFFER_VALUES);
        for (size_t k = 0; k < count; k++)
            put(layout.type, buffer, k, splitmix64_at(arguments.seed, first + k), arguments.max);
        write_values(&file, format, &layout, first, buffer, count * size);
        progress_show((first + count) / layout.columns, layout.rows, (first + count) * size);
    }
    free(buffer);
    atomic_file_publish(&file, NULL);
    return EX_OK;
}
