/* Histograms against a plain loop, and sums of weights bit for bit against the order that the header fixes. */
#include <float.h>
#include <math.h>

#include "keys/key_case.h"
#include "support/reference.h"
#include "support/tables.h"
#include "support/test.h"

static struct number number_at(const void *values, table_type type, size_t i) {
    return reference_load(values, (ptrdiff_t)i, type, element_is_float(type));
}

/* Compares numbers of one kind. */
static bool is_less(struct number a, struct number b) { return a.real < b.real || a.whole < b.whole; }

/* Exactly; x is finite. */
static bool is_below(struct number a, double x, bool real) {
    return real ? a.real < x : x >= 0x1p65 || (x > -0x1p65 && a.whole < (exact_integer)ceil(x));
}
static bool is_above(struct number a, double x, bool real) {
    return real ? a.real > x : x <= -0x1p65 || (x < 0x1p65 && a.whole > (exact_integer)floor(x));
}

/* The edge at which a bin of even bins begins. */
static double even_edge(const table_bins *bins, size_t bin) {
    const double width = (bins->high - bins->low) / (double)bins->count, from_low = (double)bin * width;
    return bins->low + from_low;
}

static bool begins_after(const table_bins *bins, table_type type, size_t bin, struct number value) {
    return bins->kind == TABLE_BINS_EVEN ? is_below(value, even_edge(bins, bin), element_is_float(type))
                                         : is_less(value, number_at(bins->edges, type, bin));
}

static bool ends_before(const table_bins *bins, table_type type, struct number value) {
    return bins->kind == TABLE_BINS_EVEN ? is_above(value, bins->high, element_is_float(type))
                                         : is_less(number_at(bins->edges, type, bins->count), value);
}

/* The bin of a value; count + 0, 1, 2: below, above, not a number. */
static size_t plain_bin(const struct key_arguments *filling, const void *values, size_t i) {
    const table_bins *bins = &filling->bins;
    const table_type type = filling->keys.type;
    const struct number value = number_at(values, type, i);
    if (isnan(value.real))
        return bins->count + TABLE_OUTSIDE_NAN;
    if (bins->kind == TABLE_BINS_INTEGER) {
        const exact_integer bin = value.whole - bins->first;
        return bin < 0                             ? bins->count + TABLE_OUTSIDE_BELOW
               : bin >= (exact_integer)bins->count ? bins->count + TABLE_OUTSIDE_ABOVE
                                                   : (size_t)bin;
    }
    if (begins_after(bins, type, 0, value))
        return bins->count + TABLE_OUTSIDE_BELOW;
    if (ends_before(bins, type, value))
        return bins->count + TABLE_OUTSIDE_ABOVE;
    size_t bin = 0;
    for (size_t end = bins->count; end - bin > 1;) {
        const size_t middle = bin + (end - bin) / 2;
        if (begins_after(bins, type, middle, value))
            end = middle;
        else
            bin = middle;
    }
    return bin;
}

/* A table of chunks x bins of the result's type. */
static void *plain_rows(const struct key_arguments *filling, const void *values, const void *weights, size_t length,
                        size_t chunks, uint64_t outside[TABLE_OUTSIDE_WORDS]) {
    const size_t bins = filling->bins.count, size = table_type_size(filling->result.type);
    void *rows = get_memory(chunks * bins * size);
    for (size_t i = 0; i < filling->keys.rows; i++) {
        const size_t bin = plain_bin(filling, values, i), cell = i / length * bins + bin;
        if (bin >= bins)
            outside[bin - bins]++;
        else if (filling->result.type == TABLE_U32)
            ((uint32_t *)rows)[cell]++;
        else if (filling->result.type == TABLE_U64)
            ((uint64_t *)rows)[cell]++;
        else if (filling->result.type == TABLE_F32)
            ((float *)rows)[cell] += ((const float *)weights)[i];
        else
            ((double *)rows)[cell] +=
                filling->weights.type == TABLE_F32 ? (double)((const float *)weights)[i] : ((const double *)weights)[i];
    }
    return rows;
}

/* The rows' totals by the tree of prefix_sum.h. */
static void *plain_totals(const struct key_arguments *filling, void *rows, size_t chunks) {
    const size_t bins = filling->bins.count;
    void *totals = get_memory(bins * table_type_size(filling->result.type));
    const table_view view = {rows, chunks, bins, 0, filling->result.type};
    struct reference reference = {.type = filling->result.type, .carry_out = totals};
    reference_prefix_sum(&view, NULL, false, &reference);
    return totals;
}

static void check_result(const struct key_arguments *filling, const char *found, const char *expected,
                         const char *what) {
    const table_view *view = &filling->result;
    const size_t size = table_type_size(view->type), stride = view->stride ? (size_t)view->stride : view->columns;
    for (size_t row = 0; row < view->rows; row++)
        for (size_t bin = 0; bin < view->columns; bin++)
            if (memcmp(found + (row * stride + bin) * size, expected + (row * view->columns + bin) * size, size) != 0)
                fail_msg("%s: row %zu, bin %zu is wrong", what, row, bin);
}

/* The memory of one case on the host. */
struct host {
    void *values, *weights, *edges;
};

static void check_filling(const struct way *way, struct key_arguments *filling, const struct host *host, bool weighted,
                          bool outside_wanted, struct random *random, const char *what) {
    const size_t count = filling->keys.rows, size = table_type_size(filling->result.type);
    const size_t value_bytes = table_type_size(filling->keys.type),
                 weight_bytes = weighted ? table_type_size(filling->weights.type) : 1;
    const size_t length = filling->histogram.chunk_length ? filling->histogram.chunk_length
                                                          : table_histogram_chunk_length(filling->bins.count);
    const size_t chunks = (count + length - 1) / length;
    uint64_t outside[TABLE_OUTSIDE_WORDS] = {0}, found_outside[TABLE_OUTSIDE_WORDS];
    filling->result.rows = filling->histogram.per_chunk ? chunks : 1;
    const size_t cells =
        filling->result.rows ? (filling->result.rows - 1) * (size_t)filling->result.stride + filling->bins.count : 0;
    struct placed values = place(way, host->values, count * value_bytes, value_bytes, random);
    struct placed weights = place(way, host->weights, weighted ? count * weight_bytes : 0, weight_bytes, random);
    struct placed result = place(way, NULL, cells * size, size, random);
    struct placed words = place(way, NULL, sizeof outside, 8, random);
    void *rows = plain_rows(filling, host->values, host->weights, length, chunks, outside);
    void *expected = filling->histogram.per_chunk ? rows : plain_totals(filling, rows, chunks);
    char *found = get_memory(cells * size);
    filling->keys.data = values.address;
    filling->weights.data = weights.address;
    filling->result.data = result.address;
    filling->histogram.weights = weighted ? &filling->weights : NULL;
    filling->histogram.outside = outside_wanted ? words.address : NULL;
    make_call(way, filling, random, what);
    take_back(&result, found);
    check_result(filling, found, expected, what);
    take_back(&words, found_outside);
    for (unsigned i = 0; outside_wanted && i < TABLE_OUTSIDE_WORDS; i++)
        if (found_outside[i] != outside[i])
            fail_msg("%s: outside[%u] is %llu, and should be %llu", what, i, (unsigned long long)found_outside[i],
                     (unsigned long long)outside[i]);
    take_back(&values, NULL);
    take_back(&weights, NULL);
    if (expected != rows)
        free(expected);
    free(rows);
    free(found);
}

static int compare_values(table_type type, const void *a, const void *b) {
    const struct number left = number_at(a, type, 0), right = number_at(b, type, 0);
    return is_less(left, right) ? -1 : is_less(right, left);
}

/* Edges from among such values as there are, without NaN, sorted by insertion. */
static void *random_edges(table_type type, size_t count, struct random *random) {
    const size_t size = table_type_size(type);
    char *edges = get_memory((count + 1) * size), edge[8];
    for (size_t i = 0; i <= count; i++) {
        do {
            keys_fill(edge, type, 1,
                      random_once_in(random, 3)   ? SPECIAL
                      : random_once_in(random, 2) ? UNIFORM
                                                  : ZIPF,
                      random);
        } while (isnan(number_at(edge, type, 0).real));
        size_t j = i;
        for (; j > 0 && compare_values(type, edge, edges + (j - 1) * size) < 0; j--)
            memcpy(edges + j * size, edges + (j - 1) * size, size);
        memcpy(edges + j * size, edge, size);
    }
    return edges;
}

static void vary_bins(struct key_arguments *filling, struct host *host, struct random *random) {
    static const size_t counts[] = {1, 2, 3, 10, 255, 256, 257, 1000, 2045, 2046, 4096, 70000, TABLE_BINS_MOST};
    static const struct {
        double low, high;
    } ranges[] = {{0, 256}, {0, 0x1p16},   {0, 0x1p32},      {-0x1p31, 0x1p31},
                  {-1, 1},  {-1e30, 1e30}, {0.1, 1234567.9}, {3, 4}};
    table_bins *bins = &filling->bins;
    const bool integer = filling->keys.type != TABLE_F32 && filling->keys.type != TABLE_F64;
    const size_t range = random_below(random, sizeof ranges / sizeof *ranges);
    static const int64_t firsts[] = {0, -3, 5, 250, INT32_MAX - 2, INT32_MIN, INT64_MAX, INT64_MIN, -1};
    do
        bins->count = counts[random_below(random, sizeof counts / sizeof *counts)];
    while (bins->count > 5000 && (run_small() || !random_once_in(random, 20)));
    bins->kind = (table_bins_kind)(1 + random_below(random, integer ? 3 : 2));
    bins->low = ranges[range].low;
    bins->high = ranges[range].high;
    bins->first = firsts[random_below(random, sizeof firsts / sizeof *firsts)];
    if (bins->kind == TABLE_BINS_EDGES && bins->count > 5000)
        bins->count = 300;
    if (bins->kind == TABLE_BINS_EDGES)
        bins->edges = host->edges = random_edges(filling->keys.type, bins->count, random);
}

static void random_weights(void *weights, table_type type, size_t count, struct random *random) {
    for (size_t i = 0; i < count; i++) {
        const double weight = ldexp(random_unit(random) - 0.5, (int)random_below(random, 20));
        if (type == TABLE_F32)
            ((float *)weights)[i] = (float)weight;
        else
            ((double *)weights)[i] = weight;
    }
}

static void check_case(table_type type, enum spread spread, size_t count, struct random *random) {
    const size_t lengths[] = {0, 0, 1000, 777, count + 1};
    char what[240];
    for (size_t w = 0; w < way_count; w++) {
        struct key_arguments filling = {
            .operation = HISTOGRAM,
            .keys = {NULL, count, 1, 0, type},
            .weights = {NULL, count, 1, 0, random_once_in(random, 2) ? TABLE_F32 : TABLE_F64}};
        struct host host = {get_memory(count * 8), get_memory(count * 8), NULL};
        const bool weighted = random_once_in(random, 3), wide = random_once_in(random, 2);
        keys_fill(host.values, type, count, spread, random);
        random_weights(host.weights, filling.weights.type, count, random);
        vary_bins(&filling, &host, random);
        filling.histogram.per_chunk = random_once_in(random, 3);
        filling.histogram.chunk_length = lengths[random_below(random, sizeof lengths / sizeof *lengths)];
        if (filling.bins.count > 5000)
            filling.histogram.chunk_length = 0;
        filling.result =
            (table_view){.columns = filling.bins.count, .stride = filling.bins.count + random_below(random, 2)};
        filling.result.type = !weighted                                   ? (wide ? TABLE_U64 : TABLE_U32)
                              : filling.weights.type == TABLE_F64 || wide ? TABLE_F64
                                                                          : TABLE_F32;
        snprintf(what, sizeof what,
                 "%s: %zu %s values, %s, %zu bins of kind %d from %g to %g or %lld, %s%s, chunks of %zu", ways[w].name,
                 count, table_type_name(type), spread_names[spread], filling.bins.count, (int)filling.bins.kind,
                 filling.bins.low, filling.bins.high, (long long)filling.bins.first, weighted ? "weighted " : "",
                 table_type_name(filling.result.type), filling.histogram.chunk_length);
        check_filling(&ways[w], &filling, &host, weighted, random_once_in(random, 2), random, what);
        free(host.values);
        free(host.weights);
        free(host.edges);
    }
}

/* Sizes with reasons: none, one, a block of values and its neighbours, several chunks taken in turns. */
TEST(test_types_spreads_and_sizes) {
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 63, 1000, 1023, 1024, 1025, 2500, 5000, 9001, 70000, 300000};
    struct random random = {run_seed() + 51};
    for (size_t t = 0; t < KEY_TYPE_COUNT; t++)
        for (enum spread spread = 0; spread < SPREADS; spread++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts - (run_small() ? 2 : 0); c++)
                if (counts[c] == 0 || random_once_in(&random, run_small() ? 2 * run_few() : run_few()))
                    check_case(key_types[t], spread, counts[c], &random);
}

/* values[i] = the value `steps` after an end of a bin, in the order of the bits. */
static void put_near(void *values, table_type type, size_t i, double end, int steps) {
    static const double least[] = {
        [TABLE_U8] = 0,        [TABLE_U16] = 0,       [TABLE_U32] = 0,        [TABLE_U64] = 0,
        [TABLE_I32] = -0x1p31, [TABLE_I64] = -0x1p63, [TABLE_F32] = -FLT_MAX, [TABLE_F64] = -DBL_MAX};
    static const double most[] = {[TABLE_U8] = 0xFF,        [TABLE_U16] = 0xFFFF,
                                  [TABLE_U32] = 0x1p32 - 1, [TABLE_U64] = 0x1p64 - 0x1p11,
                                  [TABLE_I32] = 0x1p31 - 1, [TABLE_I64] = 0x1p63 - 0x1p10,
                                  [TABLE_F32] = FLT_MAX,    [TABLE_F64] = DBL_MAX};
    const double there = end < least[type] ? least[type] : end > most[type] ? most[type] : end;
    float single = (float)there;
    uint32_t bits;
    uint64_t word;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&word, &there, sizeof word);
    if (type == TABLE_F32)
        word = bits;
    else if (type == TABLE_I32 || type == TABLE_I64)
        word = (uint64_t)(int64_t)there;
    else if (type != TABLE_F64)
        word = (uint64_t)there;
    word += (uint64_t)(int64_t)steps;
    memcpy((char *)values + i * table_type_size(type), &word, table_type_size(type)); /* least byte first */
}

/* Enough values next to the ends of even bins for all that is done by blocks, and some more; and now and then so many
 * that guesses are tried (even_bins.h). */
TEST(test_neighbours_of_even_bins) {
    static const double ranges[][2] = {{0, 256},
                                       {0, 0x1p16},
                                       {0, 0x1p32},
                                       {-0x1p31, 0x1p31},
                                       {0, 0x1p64},
                                       {-1, 1},
                                       {-1e30, 1e30},
                                       {0.1, 1234567.9},
                                       {3, 4},
                                       {-1000, 0},
                                       {1, 1e-300},
                                       {-5e-324, 1000},
                                       {100, 1e10},
                                       {-7, 0.1f},
                                       {0, 196},
                                       {0, 1},
                                       {0, 0x1p53},
                                       {-0x1p53, 5},
                                       {1e13, 1e13 + 77},
                                       {-0x1p63, 0x1p63},
                                       {0x1p62, 0x1p63},
                                       {9e18, 1.1e19},
                                       {-1e19, -3e18},
                                       {3e-306, 7e-305},
                                       {1.7e18, 1.7e18 + 1e9},
                                       {-1e300, 1e300}};
    enum { RANGES = sizeof ranges / sizeof *ranges };
    static const size_t counts[] = {1, 2, 3, 10, 200, 255, 256, 257};
    struct random random = {run_seed() + 52};
    enum { FEW = 9001, MANY = 50000 };
    struct host host = {get_memory(MANY * sizeof(uint64_t)), NULL, NULL};
    char what[200];
    for (size_t round = 0; round < KEY_TYPE_COUNT * RANGES * 8u; round++) {
        const table_type type = key_types[round % KEY_TYPE_COUNT];
        const double *range = ranges[round / KEY_TYPE_COUNT % RANGES], first = fmin(range[0], range[1]);
        const size_t number = random_once_in(&random, 4) ? MANY : FEW;
        struct key_arguments filling = {.operation = HISTOGRAM,
                                        .keys = {NULL, number, 1, 0, type},
                                        .bins = {.kind = TABLE_BINS_EVEN,
                                                 .count = counts[round / KEY_TYPE_COUNT / RANGES],
                                                 .low = first,
                                                 .high = fmax(range[0], range[1])}};
        const double width = (filling.bins.high - first) / (double)filling.bins.count;
        if (!random_once_in(&random, run_small() ? 8 : run_few()))
            continue;
        for (size_t i = 0; i < number; i++)
            put_near(host.values, type, i, first + width * (double)random_below(&random, filling.bins.count + 1),
                     (int)random_below(&random, 5) - 2);
        filling.result = (table_view){.columns = filling.bins.count, .stride = filling.bins.count, .type = TABLE_U64};
        snprintf(what, sizeof what, "%zu %s values next to the ends of %zu bins from %g to %g", number,
                 table_type_name(type), filling.bins.count, filling.bins.low, filling.bins.high);
        for (size_t w = 0; w < way_count; w++)
            check_filling(&ways[w], &filling, &host, false, true, &random, what);
    }
    free(host.values);
}

/* Values on and beside the ends of bins, by hand: what public bug reports name is in the bin that begins there. */
TEST(test_ends_of_bins) {
    static const double ends[] = {-0.0, 0.0, 0.999, 1.0, 2.0, 3.0, 3.0000001, -1e-300, INFINITY, -INFINITY, NAN};
    static const double edges[] = {0, 1, 1, 3, 3};
    static const uint8_t bytes[] = {48, 49, 50, 97, 98, 99};
    static const double tenths[] = {
        0.1, 0.2, 0.3, 0.30000000000000004, 0.6, 0.6000000000000001, 0.7, 0.7000000000000001, 1};
    static const int64_t large[] = {((int64_t)1 << 60) - 1, (int64_t)1 << 60, ((int64_t)1 << 60) + 1, INT64_MAX};
#define VALUES(ARRAY, TYPE)                                                                                            \
    { (void *)(uintptr_t)ARRAY, sizeof ARRAY / sizeof *ARRAY, 1, 0, TABLE_##TYPE }
    const struct {
        table_view values;
        table_bins bins;
        uint64_t counts[10], outside[TABLE_OUTSIDE_WORDS];
    } cases[] = {
        {VALUES(ends, F64), {.kind = TABLE_BINS_EDGES, .count = 4, .edges = edges}, {3, 0, 2, 1}, {2, 2, 1}},
        {VALUES(ends, F64), {.kind = TABLE_BINS_EVEN, .count = 4, .high = 3}, {2, 2, 1, 1}, {2, 2, 1}},
        {VALUES(bytes, U8), {.kind = TABLE_BINS_EVEN, .count = 4, .high = 196}, {1, 3, 2, 0}, {0}},
        {VALUES(tenths, F64), {.kind = TABLE_BINS_EVEN, .count = 10, .high = 1}, {0, 1, 2, 1, 0, 1, 2, 1, 0, 1}, {0}},
        {VALUES(large, I64), {.kind = TABLE_BINS_EVEN, .count = 4, .high = 0x1p62}, {1, 2, 0, 0}, {0, 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t counts[10] = {0}, outside[TABLE_OUTSIDE_WORDS];
        const table_view result = {counts, 1, cases[i].bins.count, 0, TABLE_U64};
        const table_histogram_options options = {.outside = outside};
        assert_int_equal(table_histogram(&cases[i].values, &cases[i].bins, &result, &options), TABLE_OK);
        assert_memory_equal(counts, cases[i].counts, sizeof counts);
        assert_memory_equal(outside, cases[i].outside, sizeof outside);
    }
    assert_true(table_even_edge(0, 1, 10, 3) == 0.30000000000000004 && table_even_edge(0, 1, 10, 10) == 1);
}

static table_status fill_range(double low, double high, size_t count) {
    static double values[1] = {1};
    static uint64_t counts[100000];
    const table_view view = {values, 1, 1, 0, TABLE_F64}, result = {counts, 1, count, 0, TABLE_U64};
    const table_bins bins = {.kind = TABLE_BINS_EVEN, .count = count, .low = low, .high = high};
    return table_histogram(&view, &bins, &result, NULL);
}

/* Bins whose edges doubles cannot tell apart, or hardly, are refused, and it is said why. */
TEST(test_ranges_that_are_too_small) {
    static const struct {
        double low, high;
        size_t count;
        table_status status;
        const char *says;
    } cases[] = {{1e16, 1e16 + 4, 10, TABLE_ERROR_ARGUMENT, "too narrow"},
                 {0x1p53, 0x1p53 + 8, 8, TABLE_ERROR_ARGUMENT, "too narrow"},
                 {0, 5e-324, 1, TABLE_ERROR_ARGUMENT, "too narrow"},
                 {0, 1e-310, 10, TABLE_ERROR_ARGUMENT, "too narrow"},
                 {1e-303, 2e-303, 100000, TABLE_ERROR_ARGUMENT, "too narrow"},
                 {1e-303, 2e-303, 1000, TABLE_OK, NULL},
                 {1, 1 + 0x1p-40, 64, TABLE_OK, NULL},
                 {1, 1 + 0x1p-40, 256, TABLE_ERROR_ARGUMENT, "too narrow"},
                 {1, 1, 1, TABLE_ERROR_ARGUMENT, "is empty"},
                 {2, 1, 1, TABLE_ERROR_ARGUMENT, "is empty"},
                 {-1e308, 1e308, 1, TABLE_ERROR_ARGUMENT, "not finite"},
                 {NAN, 1, 1, TABLE_ERROR_ARGUMENT, "not finite"},
                 {0, INFINITY, 1, TABLE_ERROR_ARGUMENT, "not finite"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fill_range(cases[i].low, cases[i].high, cases[i].count), cases[i].status);
        if (cases[i].says)
            assert_non_null(strstr(table_error_detail(), cases[i].says));
    }
}

int main(void) { return run_all_tests("histogram", ways_unavailable()); }
