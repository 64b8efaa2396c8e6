#include "recurrence.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "splitmix64.h"

enum { UNIT_LEVEL = 9 };

#define REAL       float
#define FMA        fmaf
#define NAME(name) name##_f32
#include "recurrence_of.h"
#undef REAL
#undef FMA
#undef NAME

#define REAL       double
#define FMA        fma
#define NAME(name) name##_f64
#include "recurrence_of.h"
#undef REAL
#undef FMA
#undef NAME

void recurrence_reference(const struct recurrence *what) {
    for (size_t j = 0; j < what->columns; j++) {
        if (what->type == TABLE_F32)
            column_f32(what, j);
        else
            column_f64(what, j);
    }
}

const char *const recurrence_kinds[] = {"decay",       "near1",
                                        "mixed",       "const",
                                        "one",         "grow",
                                        "decay+reset", "mixed+reset+wild",
                                        "near1+wild",  "decay+wild",
                                        "grow+still",  "grow+reset",
                                        "mixed+zeros", "decay+reset+zeros"};
const size_t recurrence_kind_count = sizeof recurrence_kinds / sizeof *recurrence_kinds;

/* From 0 up to but not including 1, with as many bits as the type has. */
static double unit_of(table_type type, uint64_t bits) {
    return type == TABLE_F32 ? (double)(bits >> 40) * 0x1p-24 : (double)(bits >> 11) * 0x1p-53;
}

static double coefficient(table_type type, const char *kind, uint64_t bits) {
    const double unit = unit_of(type, bits);
    if (strstr(kind, "+reset") && bits % 50 == 0)
        return bits & 64 ? 0.0 : -0.0;
    if (strncmp(kind, "near1", 5) == 0)
        return 1 - unit * 0x1p-10;
    if (strncmp(kind, "mixed", 5) == 0)
        return 2 * unit - 1;
    if (strncmp(kind, "const", 5) == 0)
        return 0.97;
    if (strncmp(kind, "one", 3) == 0)
        return 1;
    return strncmp(kind, "grow", 4) == 0 ? 1 + unit * 0.1875 : unit;
}

static double addend(table_type type, const char *kind, uint64_t bits, bool is_early) {
    static const double wild[] = {INFINITY, -INFINITY, NAN, -0.0, 0.0};
    if (strstr(kind, "+zeros"))
        return bits & 1 ? 0.0 : -0.0;
    if (strstr(kind, "+still") && is_early)
        return 0;
    if (strstr(kind, "+wild") && bits % 500 < 5)
        return wild[bits % 500];
    return ldexp(unit_of(type, bits) - 0.25, (int)(bits % 17) - 8);
}

void recurrence_make(table_type type, const char *kind, size_t rows, size_t columns, uint64_t seed, void *a, void *b) {
    for (size_t i = 0; i < rows * columns; i++) {
        const double factor = coefficient(type, kind, splitmix64_at(seed, 2 * i));
        const double term = addend(type, kind, splitmix64_at(seed, 2 * i + 1), i / columns < rows / 2);
        if (type == TABLE_F32) {
            ((float *)a)[i] = (float)factor;
            ((float *)b)[i] = (float)term;
        } else {
            ((double *)a)[i] = factor;
            ((double *)b)[i] = term;
        }
    }
}

static bool read_line(FILE *file, struct recurrence_line *line) {
    char type[8];
    if (fscanf(file, "%7s %31s %zu %zu %" SCNx64 " %" SCNx64, type, line->kind, &line->rows, &line->columns,
               &line->inclusive, &line->exclusive) != 6)
        return false;
    line->type = strcmp(type, "f32") == 0 ? TABLE_F32 : TABLE_F64;
    line->is_product = strcmp(line->kind, "product") == 0;
    return true;
}

bool recurrence_each_line(const char *file_name, void (*check)(const struct recurrence_line *line, unsigned number)) {
    enum { LEAST_LINES = 81 };
    FILE *const file = fopen(file_name, "r");
    struct recurrence_line line;
    unsigned lines = 0;
    if (!file)
        return false;
    for (; read_line(file, &line); lines++)
        check(&line, lines);
    const bool is_whole = feof(file) && lines >= LEAST_LINES;
    fclose(file);
    return is_whole;
}

/* Recurrences begin with the last row of b, if it is finite. */
#define DEFINE_LINE(REAL)                                                                                              \
    static void make_line_##REAL(const struct recurrence_line *line, REAL *a, REAL *b, REAL *start) {                  \
        const size_t cells = line->rows * line->columns;                                                               \
        const REAL *const last = b + cells - line->columns;                                                            \
        bool finite = true;                                                                                            \
        for (size_t i = 0; line->is_product && i < cells; i++)                                                         \
            a[i] = (REAL)(1 + (double)a[i] * 0x1p-6);                                                                  \
        for (size_t j = 0; j < line->columns; j++)                                                                     \
            finite = finite && isfinite(last[j]);                                                                      \
        for (size_t j = 0; j < line->columns; j++)                                                                     \
            start[j] = line->is_product ? 1 : finite ? last[j] : 0;                                                    \
    }
DEFINE_LINE(float)
DEFINE_LINE(double)

void recurrence_make_line(const struct recurrence_line *line, void *a, void *b, void *start) {
    recurrence_make(line->type, line->is_product ? "mixed" : line->kind, line->rows, line->columns,
                    line->rows * 1000003 + line->columns, a, b);
    if (line->type == TABLE_F32)
        make_line_float(line, a, b, start);
    else
        make_line_double(line, a, b, start);
}

uint64_t recurrence_checksum(table_type type, const void *values, size_t count) {
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        if (type == TABLE_F32) {
            const float value = ((const float *)values)[i];
            memcpy(&bits, &value, sizeof value);
            if (isnan(value))
                bits = 0x7FC00000u;
        } else {
            const double value = ((const double *)values)[i];
            memcpy(&bits, &value, sizeof value);
            if (isnan(value))
                bits = 0x7FF8000000000000u;
        }
        sum = (sum ^ bits) * 0x100000001B3u;
    }
    return sum;
}
