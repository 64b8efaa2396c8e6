/* Histograms and digit counts over ranks, against one process that has all values. */
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"

enum { MOST = 5000, BINS = 37, BITS = 5, DIGITS = 1 << BITS };

static _Alignas(64) float values[MOST];

/* Rank r has the values from cuts[r] to cuts[r + 1]. */
static void draw(struct random *random, int ranks, size_t *cuts) {
    for (size_t i = 0; i < MOST; i++)
        element_randomize(values + i, TABLE_F32, random, PATTERN_EXTREME);
    cuts[0] = 0;
    for (int i = 1; i <= ranks; i++)
        cuts[i] = cuts[i - 1] + random_below(random, MOST - cuts[i - 1] + 1) / (random_once_in(random, 4) ? MOST : 2);
}

static table_view column(size_t from, size_t to) {
    return (table_view){.data = values + from, .rows = to - from, .columns = 1, .type = TABLE_F32};
}

static void check_histogram(const struct ranks *ranks, const size_t *cuts, table_type type) {
    const table_view mine = column(cuts[ranks->rank], cuts[ranks->rank + 1]), whole = column(0, cuts[ranks->count]);
    const table_bins bins = {.kind = TABLE_BINS_EVEN, .count = BINS, .low = -1, .high = 0.5};
    uint64_t counts[BINS] = {0}, wanted[BINS] = {0}, outside[3], wanted_outside[3];
    const table_view result = {.data = counts, .rows = 1, .columns = BINS, .type = type};
    const table_view wanted_result = {.data = wanted, .rows = 1, .columns = BINS, .type = type};
    const table_histogram_options options = {.outside = outside}, wanted_options = {.outside = wanted_outside};
    CHECK(table_histogram(&whole, &bins, &wanted_result, &wanted_options) == TABLE_OK);
    CHECK(table_histogram_mpi(&mine, &bins, &result, &options, ranks->comm) == TABLE_OK);
    CHECK(memcmp(counts, wanted, sizeof counts) == 0);
    CHECK(memcmp(outside, wanted_outside, sizeof outside) == 0);

    const table_bins others = {.kind = TABLE_BINS_EVEN, .count = BINS, .low = -1, .high = 0.75};
    const table_histogram_options per_chunk = {.per_chunk = 1};
    if (ranks->count > 1)
        check_told(ranks, table_histogram_mpi(&mine, ranks->rank == 1 ? &others : &bins, &result, NULL, ranks->comm),
                   TABLE_ERROR_RANKS, "the bins");
    check_told(ranks, table_histogram_mpi(&mine, &bins, &result, ranks->rank == 0 ? &per_chunk : NULL, ranks->comm),
               TABLE_ERROR_ARGUMENT, "per_chunk");
}

static void count_range(const table_digit *digit, size_t from, size_t to, uint64_t *counts) {
    const table_view keys = column(from, to);
    const table_view counters = {.data = counts, .rows = 1, .columns = DIGITS, .type = TABLE_U64};
    memset(counts, 0, DIGITS * sizeof *counts);
    CHECK(from == to || table_digit_counts(&keys, digit, to - from, &counters, NULL) == TABLE_OK);
}

static void check_digits(const struct ranks *ranks, const size_t *cuts) {
    const size_t from = cuts[ranks->rank], to = cuts[ranks->rank + 1];
    const table_view mine = column(from, to);
    const table_digit digit = {.first_bit = 27, .bits = BITS};
    uint64_t counts[DIGITS], before[DIGITS], totals[DIGITS], wanted[DIGITS];
    CHECK(table_digit_counts_mpi(&mine, &digit, counts, before, totals, NULL, ranks->comm) == TABLE_OK);
    count_range(&digit, from, to, wanted);
    CHECK(memcmp(counts, wanted, sizeof counts) == 0);
    count_range(&digit, 0, from, wanted);
    CHECK(memcmp(before, wanted, sizeof before) == 0);
    count_range(&digit, 0, cuts[ranks->count], wanted);
    CHECK(memcmp(totals, wanted, sizeof totals) == 0);
    const table_digit wide = {.bits = 17};
    const bool is_last = ranks->rank == ranks->count - 1;
    memset(counts, 0x5a, sizeof counts);
    memcpy(wanted, counts, sizeof wanted);
    check_told(ranks,
               table_digit_counts_mpi(&mine, is_last ? &wide : &digit, counts, before, totals, NULL, ranks->comm),
               TABLE_ERROR_ARGUMENT, "bits");
    CHECK(strstr(table_error_detail(), "counters") == NULL);
    check_told(ranks, table_digit_counts_mpi(&mine, &digit, counts, before, is_last ? NULL : totals, NULL, ranks->comm),
               TABLE_ERROR_ARGUMENT, "null pointer");
    CHECK(memcmp(counts, wanted, sizeof counts) == 0);
}

void test_keys_of_ranks(int world, uint64_t seed) {
    struct random random = {seed};
    for (unsigned round = 0; round < 35 * run_rounds() / run_few() + 7; round++) {
        const int count = 1 + (int)(round % (unsigned)world);
        size_t *cuts = calloc((size_t)count + 1, sizeof *cuts);
        struct ranks ranks;
        CHECK(cuts != NULL);
        draw(&random, count, cuts);
        if (group_open(&ranks, count, round % 2 != 0)) {
            check_note("round %u", round);
            check_histogram(&ranks, cuts, round % 3 ? TABLE_U64 : TABLE_U32);
            check_digits(&ranks, cuts);
            group_close(&ranks);
        }
        free(cuts);
    }
}
