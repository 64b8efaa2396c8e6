/* tuplescan gen: a table of random values, the same for the same seed wherever it is made. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "memory.h"
#include "message.h"
#include "table_io.h"
#include "values.h"

static const char help[] =
    "usage: tuplescan gen --type T --rows R --columns C [--seed N] [--max V] -o FILE\n"
    "\n"
    "Writes a table of random values. Floats are uniform in [-1, 1); integers are uniform from 0 (signed ones from "
    "-V)\n"
    "to V, which is 100 unless --max says otherwise, so that sums stay readable and few overflow.\n"
    "\n"
    "  --type T           u8 u16 u32 u64 i32 i64 f32 f64\n"
    "  --rows R, --columns C\n"
    "  --seed N           default 0. Value k = i * C + j comes from number k + 1 of the generator splitmix64\n"
    "                     started at N, so the first rows of a longer table are the shorter one\n"
    "  --max V            integers only\n"
    "  -o, --output FILE  a .npy when its name says so, else raw values; - is standard output\n"
    "  --output-format F  npy or raw, whatever the name says\n"
    "  -f, --force        replace FILE if it exists, as scan does\n"
    "\n"
    "example:\n"
    "  tuplescan gen --type u32 --rows 1000000 --columns 4 --seed 7 -o table.npy\n";

enum { BUFFER_VALUES = 1 << 17, DEFAULT_MAX = 100 };

__extension__ typedef unsigned __int128 uint128;

/* Vigna's splitmix64 (public domain), number `index` of its sequence. */
static uint64_t random_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* From 0 to most. */
static uint64_t scale(uint64_t bits, uint64_t most) {
    return most == UINT64_MAX ? bits : (uint64_t)((uint128)bits * (most + 1) >> 64);
}

static void put(table_type type, void *to, size_t k, uint64_t bits, uint64_t max) {
    switch (type) {
    case TABLE_U8:
        ((uint8_t *)to)[k] = (uint8_t)scale(bits, max);
        break;
    case TABLE_U16:
        ((uint16_t *)to)[k] = (uint16_t)scale(bits, max);
        break;
    case TABLE_U32:
        ((uint32_t *)to)[k] = (uint32_t)scale(bits, max);
        break;
    case TABLE_U64:
        ((uint64_t *)to)[k] = scale(bits, max);
        break;
    case TABLE_I32:
        ((int32_t *)to)[k] = (int32_t)((int64_t)scale(bits, 2 * max) - (int64_t)max);
        break;
    case TABLE_I64:
        ((int64_t *)to)[k] = (int64_t)(scale(bits, 2 * max) - max);
        break;
    case TABLE_F32:
        ((float *)to)[k] = (float)(bits >> 40) * 0x1p-23f - 1.0f;
        break;
    case TABLE_F64:
        ((double *)to)[k] = (double)(bits >> 11) * 0x1p-52 - 1.0;
        break;
    }
}

static uint64_t greatest(table_type type) {
    switch (type) {
    case TABLE_U8:
        return UINT8_MAX;
    case TABLE_U16:
        return UINT16_MAX;
    case TABLE_U32:
        return UINT32_MAX;
    case TABLE_I32:
        return INT32_MAX;
    case TABLE_I64:
        return INT64_MAX;
    default:
        return UINT64_MAX;
    }
}

static int check_arguments(struct arguments *arguments, struct table_layout *layout) {
    table_type type = arguments->type;
    const char *missing = !type                  ? "--type"
                          : !arguments->has_rows ? "--rows"
                          : !arguments->columns  ? "--columns"
                          : !arguments->output   ? "-o FILE"
                                                 : NULL;
    if (missing)
        return fail(EX_USAGE, "%s is missing", missing);
    if (!layout_set(layout, type, arguments->rows, arguments->columns))
        return fail(EX_USAGE, "%zu rows of %zu %s are beyond the address space", arguments->rows, arguments->columns,
                    table_type_name(type));
    if (!arguments->has_max)
        arguments->max = DEFAULT_MAX;
    else if (type_is_float(type))
        return fail(EX_USAGE, "--max is for integers, and the type is %s", table_type_name(type));
    if (arguments->max > greatest(type))
        return fail(EX_USAGE, "--max %llu does not fit in %s", (unsigned long long)arguments->max,
                    table_type_name(type));
    return check_outputs(arguments, NULL, NULL);
}

static int write_values(struct atomic_file *file, const struct arguments *arguments,
                        const struct table_layout *layout) {
    size_t size = table_type_size(layout->type), values = layout->bytes / size;
    void *buffer = memory_allocate(BUFFER_VALUES * size);
    if (!buffer)
        return fail(EX_OSERR, "out of memory");
    int code = EX_OK;
    for (size_t first = 0; first < values && code == EX_OK; first += BUFFER_VALUES) {
        size_t count = values - first < BUFFER_VALUES ? values - first : BUFFER_VALUES;
        for (size_t k = 0; k < count; k++)
            put(layout->type, buffer, k, random_bits(arguments->seed, first + k), arguments->max);
        code = atomic_file_write(file, buffer, count * size);
    }
    free(buffer);
    return code;
}

int gen_main(int argc, char **argv) {
    struct arguments arguments;
    struct table_layout layout;
    struct atomic_file file = {.fd = -1, .slot = -1};
    int code = arguments_parse(&arguments, argc, argv, FOR_GEN, 0, help);
    if (code != GO_ON)
        return code;
    code = check_arguments(&arguments, &layout);
    const struct output_format *format = NULL;
    if (code == EX_OK) {
        format = output_format_for(arguments.output, arguments.output_format, "raw");
        code = open_output(&file, arguments.output, arguments.force, format, &layout);
    }
    if (code == EX_OK)
        code = write_header(&file, format, &layout);
    if (code == EX_OK)
        code = write_values(&file, &arguments, &layout);
    if (code == EX_OK)
        code = atomic_file_finish(&file);
    if (code == EX_OK)
        code = atomic_file_publish(&file);
    atomic_file_discard(&file);
    return code;
}
