/* How far recurrences and running products are from exact ones, beside loops: prints the tables of docs/recurrences.md,
 * in units of the last place of the sum of the terms' magnitudes (2^-24 in f32, 2^-53 in f64), root mean square and
 * worst, and fails where the root mean square is above what stands there. Exact is __float128, or what long double
 * has. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tuplescan/tuplescan.h>

#include "splitmix64.h"

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 exact;
#else
typedef long double exact;
#endif

enum { ROWS = 1 << 16, COLUMNS = 4, CELLS = ROWS * COLUMNS, PRODUCT_ROWS = 1 << 14 };

enum way { TREE, LOOP_FUSED, LOOP, WAYS };

/* Root mean square and worst, of each way. */
struct errors {
    double squares[WAYS], worst[WAYS];
    size_t count;
};

static void note(struct errors *errors, enum way way, double error) {
    errors->squares[way] += error * error;
    errors->worst[way] = error > errors->worst[way] ? error : errors->worst[way];
}

static double unit(uint64_t seed, size_t i) { return (double)(splitmix64_at(seed, i) >> 11) * 0x1p-53; }

/* Sum of twelve, less six: near enough to a normal one. */
static double normal(uint64_t seed, size_t i) {
    double sum = -6;
    for (size_t k = 0; k < 12; k++)
        sum += unit(seed + 1, 12 * i + k);
    return sum;
}

struct kind {
    const char *name;
    double least, most; /* of a */
    bool is_normal;     /* b is, and else lies between 0 and 1 */
    unsigned resets;    /* one of so many; 0: none */
    double bound_f32, bound_f64;
};

static const struct kind kinds[] = {
    {"a in (0, 1)", 0, 1, false, 0, 1.0, 1.0},
    {"a in (0.999, 1)", 0.999, 1, false, 0, 1.2, 1.2},
    {"a in (1 - 1e-5, 1)", 1 - 1e-5, 1, false, 0, 1.8, 1.8},
    {"a in (-1, 1), b normal", -1, 1, true, 0, 1.0, 1.0},
    {"a = 0.9", 0.9, 0.9, false, 0, 1.3, 1.3},
    {"a = 0.99", 0.99, 0.99, false, 0, 1.3, 1.3},
    {"a = 0.9999", 0.9999, 0.9999, false, 0, 1.5, 1.5},
    {"a = 0.9999, b normal", 0.9999, 0.9999, true, 0, 1.2, 1.2},
    {"a = 1", 1, 1, false, 0, 2.0, 2.0},
    {"a in (0.99, 1), 1 of 500 resets", 0.99, 1, false, 500, 1.3, 1.3},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

#define DEFINE_MEASURE(REAL, TYPE, FMA, UNITS)                                                                         \
    static bool measure_##REAL(const struct kind *kind, struct errors *errors) {                                       \
        static REAL a[CELLS], b[CELLS], h[CELLS];                                                                      \
        const table_view factors = {a, ROWS, COLUMNS, 0, TYPE}, terms = {b, ROWS, COLUMNS, 0, TYPE};                   \
        const table_view out = {h, ROWS, COLUMNS, 0, TYPE};                                                            \
        for (size_t i = 0; i < CELLS; i++) {                                                                           \
            a[i] = (REAL)(kind->least + (kind->most - kind->least) * unit(1, i));                                      \
            if (kind->resets && splitmix64_at(2, i) % kind->resets == 0)                                               \
                a[i] = 0;                                                                                              \
            b[i] = (REAL)(kind->is_normal ? normal(3, i) : unit(3, i));                                                \
        }                                                                                                              \
        if (table_linear_recurrence(&factors, &terms, &out, NULL) != TABLE_OK)                                         \
            return false;                                                                                              \
        for (size_t j = 0; j < COLUMNS; j++) {                                                                         \
            exact right = 0, magnitude = 0;                                                                            \
            REAL fused = 0, loop = 0;                                                                                  \
            for (size_t i = j; i < CELLS; i += COLUMNS) {                                                              \
                right = (exact)a[i] * right + (exact)b[i];                                                             \
                magnitude = (a[i] < 0 ? -(exact)a[i] : (exact)a[i]) * magnitude + (b[i] < 0 ? -b[i] : b[i]);           \
                fused = FMA(a[i], fused, b[i]);                                                                        \
                loop = a[i] * loop + b[i];                                                                             \
                const REAL found[WAYS] = {h[i], fused, loop};                                                          \
                for (enum way way = 0; way < WAYS && magnitude > 0; way++)                                             \
                    note(errors, way, fabs((double)(((exact)found[way] - right) / magnitude)) * UNITS);                \
                errors->count += magnitude > 0;                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    static bool multiply_##REAL(double least, double most, struct errors *errors) {                                    \
        static REAL values[PRODUCT_ROWS * COLUMNS], products[PRODUCT_ROWS * COLUMNS];                                  \
        const table_view in = {values, PRODUCT_ROWS, COLUMNS, 0, TYPE},                                                \
                         out = {products, PRODUCT_ROWS, COLUMNS, 0, TYPE};                                             \
        const table_scan_options options = {.operation = TABLE_PRODUCT};                                               \
        for (size_t i = 0; i < PRODUCT_ROWS * COLUMNS; i++)                                                            \
            values[i] = (REAL)(least * pow(most / least, unit(5, i)));                                                 \
        if (table_prefix_sum(&in, &out, &options) != TABLE_OK)                                                         \
            return false;                                                                                              \
        for (size_t j = 0; j < COLUMNS; j++) {                                                                         \
            exact right = 1;                                                                                           \
            REAL loop = 1;                                                                                             \
            for (size_t i = j; i < PRODUCT_ROWS * COLUMNS; i += COLUMNS) {                                             \
                right *= (exact)values[i];                                                                             \
                loop *= values[i];                                                                                     \
                if (!(right > (exact)1e-30 && right < (exact)1e30))                                                    \
                    continue;                                                                                          \
                note(errors, TREE, fabs((double)(((exact)products[i] - right) / right)) * UNITS);                      \
                note(errors, LOOP, fabs((double)(((exact)loop - right) / right)) * UNITS);                             \
                errors->count++;                                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        return true;                                                                                                   \
    }
DEFINE_MEASURE(float, TABLE_F32, fmaf, 0x1p24)
DEFINE_MEASURE(double, TABLE_F64, fma, 0x1p53)

static double rms(const struct errors *errors, enum way way) {
    return sqrt(errors->squares[way] / (double)errors->count);
}

static void print_row(const char *type, const char *name, const struct errors *errors, bool is_product) {
    printf("| %s | %s |", type, name);
    for (enum way way = 0; way < WAYS; way++) {
        if (way == LOOP_FUSED && is_product)
            continue;
        printf(" %.2f / %.3g |", rms(errors, way), errors->worst[way]);
    }
    printf("\n");
}

int main(void) {
    static const struct {
        const char *name;
        double least, most;
    } products[] = {{"1 +- 0.001", 0.999, 1.001}, {"0.9999", 0.9999, 0.9999}, {"0.5 to 2", 0.5, 2}};
    bool good = true;
    for (int is_double = 0; is_double < 2; is_double++)
        for (size_t i = 0; i < KINDS; i++) {
            struct errors errors = {0};
            good &= is_double ? measure_double(&kinds[i], &errors) : measure_float(&kinds[i], &errors);
            good &= rms(&errors, TREE) < (is_double ? kinds[i].bound_f64 : kinds[i].bound_f32);
            print_row(is_double ? "f64" : "f32", kinds[i].name, &errors, false);
        }
    for (int is_double = 0; is_double < 2; is_double++)
        for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
            struct errors errors = {0};
            good &= is_double ? multiply_double(products[i].least, products[i].most, &errors)
                              : multiply_float(products[i].least, products[i].most, &errors);
            good &= rms(&errors, TREE) < 1;
            print_row(is_double ? "f64" : "f32", products[i].name, &errors, true);
        }
    return good ? 0 : 1;
}
