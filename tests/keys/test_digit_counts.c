/* Counter tables and the ranks that are made of them, against plain counting. */
#include "keys/key_case.h"
#include "support/test.h"

static uint64_t counter_at(const void *counters, table_type type, size_t i) {
    return type == TABLE_U32 ? ((const uint32_t *)counters)[i] : ((const uint64_t *)counters)[i];
}

/* The counter table, side by side. */
static uint64_t *plain_counts(const void *keys, const struct key_arguments *counting, size_t chunk_length) {
    const size_t columns = counting->counters.columns;
    uint64_t *counts = get_memory(counting->counters.rows * columns * sizeof *counts);
    for (size_t i = 0; i < counting->keys.rows; i++) {
        const uint64_t rank = keys_rank(keys, counting->keys.type, i, counting->digit.descending);
        counts[i / chunk_length * columns + (rank >> counting->digit.first_bit) % columns]++;
    }
    return counts;
}

static void check_counts(const struct way *way, struct key_arguments *counting, const void *keys, struct random *random,
                         const char *what) {
    const table_view *view = &counting->counters;
    const size_t size = table_type_size(view->type), key_bytes = table_type_size(counting->keys.type);
    const size_t length =
        counting->chunk_length ? counting->chunk_length : table_digit_chunk_length(counting->digit.bits);
    const size_t cells = view->rows ? (view->rows - 1) * view->stride + view->columns : 0;
    struct placed placed_keys = place(way, keys, counting->keys.rows * key_bytes, key_bytes, random);
    struct placed placed = place(way, NULL, cells * size, size, random);
    unsigned char *found = get_memory(cells * size);
    uint64_t *expected = plain_counts(keys, counting, length);
    counting->keys.data = placed_keys.address;
    counting->counters.data = placed.address;
    make_call(way, counting, random, what);
    take_back(&placed, found);
    take_back(&placed_keys, NULL);
    for (size_t i = 0; i < cells; i++) {
        const size_t row = i / view->stride, column = i % view->stride;
        if (column < view->columns) {
            if (counter_at(found, view->type, i) != expected[row * view->columns + column])
                fail_msg("%s: chunk %zu, digit %zu: %llu, and should be %llu", what, row, column,
                         (unsigned long long)counter_at(found, view->type, i),
                         (unsigned long long)expected[row * view->columns + column]);
        } else {
            for (size_t b = 0; b < size; b++)
                assert_int_equal(found[i * size + b], 0xEE);
        }
    }
    free(found);
    free(expected);
}

static void check_case(table_type type, enum spread spread, size_t count, unsigned bits, struct random *random) {
    const unsigned width = 8 * (unsigned)table_type_size(type);
    const size_t lengths[] = {0, 1, 7, 64, 1000, count, count + 1, 12345};
    char what[200];
    for (size_t w = 0; w < way_count; w++) {
        const size_t columns = (size_t)1 << bits;
        struct key_arguments counting = {
            .operation = COUNTS,
            .keys = {NULL, count, 1, 1, type},
            .digit = {(unsigned)random_below(random, width), bits, random_once_in(random, 2)},
            .chunk_length = lengths[random_below(random, sizeof lengths / sizeof *lengths)]};
        if (counting.chunk_length && count / counting.chunk_length * columns > (size_t)1 << 20)
            counting.chunk_length = 0;
        counting.counters = (table_view){.rows = table_digit_chunks(count, counting.chunk_length, bits),
                                         .columns = columns,
                                         .stride = columns + random_below(random, 3),
                                         .type = random_once_in(random, 2) ? TABLE_U32 : TABLE_U64};
        void *keys = get_memory(count * table_type_size(type));
        keys_fill(keys, type, count, spread, random);
        snprintf(what, sizeof what, "%s: %zu %s keys, %s, bits %u+%u, chunks of %zu", ways[w].name, count,
                 table_type_name(type), spread_names[spread], counting.digit.first_bit, bits, counting.chunk_length);
        check_counts(&ways[w], &counting, keys, random, what);
        free(keys);
    }
}

/* Sizes with reasons: none, one, less and more than one load, a default chunk and its neighbours. */
TEST(test_types_spreads_and_bits) {
    static const size_t counts[] = {0, 1, 2, 3, 4, 7, 8, 9, 63, 500, 1001, 16383, 16384, 16385, 50000};
    struct random random = {run_seed() + 41};
    for (size_t t = 0; t < KEY_TYPE_COUNT; t++) {
        check_case(key_types[t], UNIFORM, 0, 1 + (unsigned)random_below(&random, TABLE_DIGIT_BITS_MOST), &random);
        for (enum spread spread = 0; spread < SPREADS; spread++)
            for (unsigned bits = 1; bits <= TABLE_DIGIT_BITS_MOST; bits++)
                if (random_once_in(&random, run_small() ? 2 * run_few() : run_few()))
                    check_case(key_types[t], spread, counts[random_below(&random, sizeof counts / sizeof *counts)],
                               bits, &random);
    }
}

TEST(test_default_chunks) {
    assert_int_equal(table_digit_chunk_length(0), 0);
    assert_int_equal(table_digit_chunk_length(17), 0);
    assert_int_equal(table_digit_chunk_length(8), 16384);
    assert_int_equal(table_digit_chunk_length(16), 1 << 20);
    assert_int_equal(table_digit_chunks(0, 0, 8), 0);
    assert_int_equal(table_digit_chunks(16385, 0, 8), 2);
    assert_int_equal(table_digit_chunks(10, 3, 8), 4);
    assert_int_equal(table_digit_chunks(SIZE_MAX, 2, 8), SIZE_MAX / 2 + 1);
}

static void check_ranks(const struct key_arguments *ranking, const void *counters, const void *ranks,
                        const void *totals, const void *offsets, const char *what) {
    const table_type in = ranking->counters.type, out = ranking->ranks.type;
    uint64_t place = 0;
    for (size_t d = 0; d < ranking->ranks.columns; d++) {
        const uint64_t first = place;
        for (size_t c = 0; c < ranking->ranks.rows; c++) {
            if (counter_at(ranks, out, c * ranking->ranks.stride + d) != place)
                fail_msg("%s: rank of chunk %zu, digit %zu: %llu, and should be %llu", what, c, d,
                         (unsigned long long)counter_at(ranks, out, c * ranking->ranks.stride + d),
                         (unsigned long long)place);
            place += counter_at(counters, in, c * ranking->counters.stride + d);
        }
        if (ranking->totals)
            assert_int_equal(counter_at(totals, out, d), place - first);
        if (ranking->offsets)
            assert_int_equal(counter_at(offsets, out, d), first);
    }
}

static void check_ranks_case(const struct way *way, size_t rows, size_t columns, table_type in, table_type out,
                             struct random *random) {
    const bool same = in == out && random_once_in(random, 3);
    const size_t in_size = table_type_size(in), out_size = table_type_size(out),
                 stride = columns + random_below(random, 3);
    struct key_arguments ranking = {
        .operation = RANKS, .counters = {NULL, rows, columns, stride, in}, .ranks = {NULL, rows, columns, 0, out}};
    ranking.ranks.stride = same ? stride : columns;
    char *host = get_memory(rows * stride * 8), *found = get_memory(rows * stride * 8),
         *rows_found = get_memory(columns * 16);
    char what[120];
    for (size_t i = 0; i < rows * stride; i++) {
        const uint64_t counter = random_below(random, 1000);
        memcpy(host + i * in_size, &counter, in_size);
    }
    struct placed counters = place(way, host, rows * stride * in_size, in_size, random);
    struct placed ranks = place(way, NULL, rows * columns * out_size, out_size, random);
    struct placed totals = place(way, NULL, columns * out_size, out_size, random);
    struct placed offsets = place(way, NULL, columns * out_size, out_size, random);
    ranking.counters.data = counters.address;
    ranking.ranks.data = same ? counters.address : ranks.address;
    ranking.totals = random_once_in(random, 2) ? totals.address : NULL;
    ranking.offsets = random_once_in(random, 2) ? offsets.address : NULL;
    snprintf(what, sizeof what, "%s: %zu x %zu %s to %s", way->name, rows, columns, table_type_name(in),
             table_type_name(out));
    make_call(way, &ranking, random, what);
    take_back(&counters, same ? found : NULL);
    take_back(&ranks, same ? NULL : found);
    take_back(&totals, rows_found);
    take_back(&offsets, rows_found + columns * 8);
    check_ranks(&ranking, host, found, rows_found, rows_found + columns * 8, what);
    free(host);
    free(found);
    free(rows_found);
}

TEST(test_ranks) {
    static const size_t rows[] = {0, 1, 2, 3, 100, 511, 513, 2000}, columns[] = {1, 2, 3, 16, 100, 256, 4096};
    struct random random = {run_seed() + 42};
    for (size_t w = 0; w < way_count; w++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
                if (rows[r] * columns[c] > (run_small() ? 20000u : 600000u) ||
                    (run_small() && rows[r] > 0 && !random_once_in(&random, run_few())))
                    continue;
                check_ranks_case(&ways[w], rows[r], columns[c], TABLE_U32, TABLE_U32, &random);
                check_ranks_case(&ways[w], rows[r], columns[c], TABLE_U32, TABLE_U64, &random);
                check_ranks_case(&ways[w], rows[r], columns[c], TABLE_U64, TABLE_U64, &random);
            }
}

/* What the header promises: counts and ranks, and a scatter of one's own, are a stable counting sort. */
TEST(test_own_scatter) {
    enum { KEYS = 5000, CHUNK = 300, CHUNKS = (KEYS + CHUNK - 1) / CHUNK, DIGITS = 64 };
    struct random random = {run_seed() + 43};
    static float keys[KEYS], sorted[KEYS];
    static uint32_t table[CHUNKS][DIGITS];
    static size_t order[KEYS];
    const table_view key_view = {keys, KEYS, 1, 0, TABLE_F32}, view = {table, CHUNKS, DIGITS, 0, TABLE_U32};
    const table_digit digit = {.first_bit = 26, .bits = 6};
    keys_fill(keys, TABLE_F32, KEYS, UNIFORM, &random);
    assert_int_equal(table_digit_counts(&key_view, &digit, CHUNK, &view, NULL), TABLE_OK);
    assert_int_equal(table_chunk_ranks(&view, &view, NULL, NULL, NULL), TABLE_OK);
    for (size_t i = 0; i < KEYS; i++)
        sorted[table[i / CHUNK][keys_rank(keys, TABLE_F32, i, false) >> 26]++] = keys[i];
    keys_order(keys, TABLE_F32, KEYS, false, 26, 6, order);
    for (size_t i = 0; i < KEYS; i++)
        assert_memory_equal(&sorted[i], &keys[order[i]], sizeof(float));
}

int main(void) { return run_all_tests("digit_counts", ways_unavailable()); }
