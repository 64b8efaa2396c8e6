/* tuplescan gen: a table of random values, the same for the same seed wherever it is made. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "job.h"
#include "memory.h"
#include "message.h"
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

struct gen_job {
    struct job base;
    struct gen_arguments arguments;
    struct table_layout layout;
    const struct output_format *format;
    struct atomic_file file;
};

static int check_arguments(void *context) {
    struct gen_job *job = context;
    struct gen_arguments *arguments = &job->arguments;
    struct table_layout *layout = &job->layout;
    table_type type = arguments->common.type;
    const char *missing = !type                        ? "--type"
                          : !arguments->has_rows       ? "--rows"
                          : !arguments->common.columns ? "--columns"
                          : !arguments->common.output  ? "-o FILE"
                                                       : NULL;
    if (missing)
        return fail(EX_USAGE, "%s is missing", missing);
    if (!layout_set(layout, type, arguments->rows, arguments->common.columns))
        return fail(EX_USAGE, "%zu rows of %zu %s are beyond the address space", arguments->rows,
                    arguments->common.columns, table_type_name(type));
    if (!arguments->has_max)
        arguments->max = greatest(type) < DEFAULT_MAX ? greatest(type) : DEFAULT_MAX;
    else if (type_is_float(type))
        return fail(EX_USAGE, "--max is for integers, and the type is %s", table_type_name(type));
    if (arguments->max > greatest(type))
        return fail(EX_USAGE, "--max %llu does not fit in %s", (unsigned long long)arguments->max,
                    table_type_name(type));
    return check_outputs(&arguments->common, NULL, NULL, NULL);
}

static int open_table(void *context) {
    struct gen_job *job = context;
    const struct arguments *arguments = &job->arguments.common;
    job->format = output_format_for(arguments->output, arguments->output_format, "raw");
    const int code = open_output(&job->file, arguments->output, arguments->force, job->format, &job->layout);
    return code == EX_OK ? write_header(&job->file, job->format, &job->layout) : code;
}

static int generate(void *context) {
    struct gen_job *job = context;
    const struct table_layout *layout = &job->layout;
    size_t size = table_type_size(layout->type), values = layout->bytes / size;
    void *buffer = memory_allocate(BUFFER_VALUES * size);
    int code = buffer ? EX_OK : fail(EX_OSERR, "out of memory");
    for (size_t first = 0; first < values && code == EX_OK; first += BUFFER_VALUES) {
        size_t count = values - first < BUFFER_VALUES ? values - first : BUFFER_VALUES;
        for (size_t k = 0; k < count; k++)
            put(layout->type, buffer, k, splitmix64_at(job->arguments.seed, first + k), job->arguments.max);
        code = write_values(&job->file, job->format, layout, first, buffer, count * size);
        progress_show(&job->base.progress, (first + count) / layout->columns, layout->rows, (first + count) * size);
    }
    free(buffer);
    return code;
}

static int publish(void *context) {
    struct gen_job *job = context;
    return atomic_file_publish(&job->file, NULL);
}

static void close_all(void *context) { atomic_file_discard(&((struct gen_job *)context)->file); }

int gen_main(int argc, char **argv) {
    static const struct job_step steps[] = {
        {open_table, STEP_WRITE, false}, {generate, STEP_WORK, true}, {publish, STEP_WRITE, false}};
    static const struct job_table table = {&options_of_gen, check_arguments, JOB_STEPS(steps), NULL, NULL, close_all};
    static struct gen_job job = {.file = ATOMIC_FILE_NONE};
    return job_run(&table, &job, &job.arguments.common, argc, argv);
}
