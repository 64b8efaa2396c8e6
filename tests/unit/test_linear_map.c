/* The reference of recurrences, and the library, against the bits that Python made (tests/recurrence_tree.py), and the
 * algebra of private/linear_map.h against what it promises and against the reference. */
#include <math.h>

#include "linear_map.h"
#include "support/random.h"
#include "support/recurrence.h"
#include "support/tables.h"
#include "support/test.h"

static const char *file_name;

static void require_bits(const struct recurrence_line *line, const void *inclusive, const void *exclusive,
                         const char *whose) {
    const size_t cells = line->rows * line->columns;
    if (recurrence_checksum(line->type, inclusive, cells) != line->inclusive ||
        recurrence_checksum(line->type, exclusive, cells) != line->exclusive)
        fail_msg("other bits of the %s: %s %s %zu %zu", whose, line->type == TABLE_F32 ? "f32" : "f64", line->kind,
                 line->rows, line->columns);
}

static void check_line(const struct recurrence_line *line, unsigned number) {
    const size_t row = line->columns * element_size(line->type), bytes = line->rows * row;
    char *const a = get_memory(bytes), *const b = get_memory(bytes), *const start = get_memory(row);
    char *const inclusive = get_memory(bytes), *const exclusive = get_memory(bytes);
    recurrence_make_line(line, a, b, start);
    recurrence_reference(&(struct recurrence){line->type, line->rows, line->columns, line->is_product, a,
                                              line->is_product ? NULL : b, start, inclusive, exclusive, NULL});
    require_bits(line, inclusive, exclusive, "reference");
    for (int i = 0; i < 2; i++) {
        const table_view factors = {a, line->rows, line->columns, 0, line->type};
        const table_view terms = {b, line->rows, line->columns, 0, line->type};
        const table_view out = {i ? exclusive : inclusive, line->rows, line->columns, 0, line->type};
        const table_scan_options options = {.exclusive = i,
                                            .threads = 1 + number % 3,
                                            .carry_in = start,
                                            .operation = line->is_product ? TABLE_PRODUCT : TABLE_SUM};
        memset(out.data, 0, bytes);
        assert_int_equal(line->is_product ? table_prefix_sum(&factors, &out, &options)
                                          : table_linear_recurrence(&factors, &terms, &out, &options),
                         TABLE_OK);
    }
    require_bits(line, inclusive, exclusive, "library");
    free(a);
    free(b);
    free(start);
    free(inclusive);
    free(exclusive);
}

TEST(test_bits_of_the_contract) { assert_true(recurrence_each_line(file_name, check_line)); }

static float random_value(struct random *random) {
    static const float special[] = {0, -0.0f, 1, -1, 0.5f, 1e-30f, -1e-38f, 1e-45f, 1e30f, 3e38f, INFINITY, NAN};
    if (random_once_in(random, 3))
        return special[random_below(random, sizeof special / sizeof *special)];
    return (float)((random_unit(random) - 0.5) * ldexp(1, (int)random_below(random, 40) - 20));
}

static bool same_value(float x, float y) { return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0; }

/* The identity may take the sign of a rest that is 0, and that of a single row's a = -0.0. */
static bool same_map(struct map_f32 x, struct map_f32 y) {
    return (same_value(x.factor, y.factor) || (x.reset && x.factor == y.factor)) && x.rest == y.rest &&
           same_value(x.term, y.term) && x.reset == y.reset;
}

/* A run of a few rows, whose map has a rest. */
static struct map_f32 random_run(struct random *random, enum map_known known) {
    struct map_f32 run = map_of_row_f32(random_value(random), random_value(random), known);
    for (size_t rows = random_below(random, 4); rows > 0; rows--)
        run = map_after_f32(map_of_row_f32(random_value(random), random_value(random), known), run, known);
    return run;
}

TEST(test_identity_and_constants) {
    struct random random = {run_seed()};
    const struct map_f32 identity = map_identity_f32(1, -0.0f);
    for (unsigned i = 0; i < 20000; i++) {
        const struct map_f32 run = random_run(&random, MAP_CAREFUL);
        const float h = random_value(&random);
        assert_true(same_map(map_after_f32(identity, run, MAP_CAREFUL), run));
        assert_true(same_value(map_apply_f32(identity, h, MAP_CAREFUL), h));
        assert_true(same_map(map_after_f32(run, map_constant_f32(h), MAP_CAREFUL),
                             map_constant_f32(map_apply_f32(run, h, MAP_CAREFUL))));
        assert_true(same_map(map_read_f32(map_write_f32(run)), run));
        const struct map_f32 product = random_run(&random, MAP_PRODUCT);
        assert_true(same_map(map_after_f32(product, map_constant_f32(h), MAP_PRODUCT),
                             map_constant_f32(map_apply_f32(product, h, MAP_PRODUCT))));
    }
}

/* A vector kernel takes the fast form, and looks at its results. */
TEST(test_what_is_finite_by_the_fast_forms_is_right) {
    struct random random = {run_seed() + 1};
    unsigned finite = 0;
    for (unsigned i = 0; i < 100000; i++) {
        const struct map_f32 first = random_run(&random, MAP_CAREFUL), second = random_run(&random, MAP_CAREFUL);
        const float h = random_value(&random);
        const struct map_f32 right = map_after_f32(second, first, MAP_CAREFUL);
        const float value = map_apply_f32(right, h, MAP_CAREFUL);
        const bool has_minus = signbit(first.factor) || signbit(second.factor);
        const enum map_known known = right.reset && has_minus ? MAP_RESETS : MAP_PLAIN;
        struct map_f32 fast = map_after_f32(second, first, known);
        const float found = map_apply_f32(fast, h, known);
        if (!isfinite(found))
            continue;
        finite++;
        fast.reset = right.reset; /* MAP_PLAIN does not know it */
        assert_true(same_value(found, value) && same_map(fast, right));
    }
    assert_true(finite > 10000);
}

TEST(test_two_rows_are_joined_as_runs_are) {
    struct random random = {run_seed() + 2};
    for (unsigned i = 0; i < 100000; i++) {
        const enum map_known known = (enum map_known)(i % 4);
        const struct map_f32 first = map_of_row_f32(random_value(&random), random_value(&random), known);
        const struct map_f32 second = map_of_row_f32(random_value(&random), random_value(&random), known);
        const struct map_f32 joined = map_after_f32(second, first, known);
        if (known == MAP_CAREFUL || known == MAP_PRODUCT || isfinite(joined.factor))
            assert_true(same_map(map_of_two_rows_f32(second, first, known), joined));
    }
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    file_name = argv[1];
    return run_all_tests("linear_map", NULL);
}
