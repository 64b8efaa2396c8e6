#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "bench/keys.h"
#include "keys/keys.h"
#include "splitmix64.h"

/* Key i of `count`, in the lowest `width` bits. */
static uint64_t spread_key(enum key_spread spread, size_t i, size_t count, unsigned width) {
    const uint64_t random = splitmix64_at(0, i);
    const double step = ldexp(1.0, (int)width - 1) / (double)count;
    switch (spread) {
    case UNIFORM:
        return random;
    case ALL_EQUAL:
        return 0x3456789A3456789Au;
    case SORTED:
        return (uint64_t)(step * (double)i);
    case REVERSED:
        return (uint64_t)(step * (double)(count - i));
    case TWO_VALUES:
        return random & 1 ? 0x3456789A3456789Au : 0x2EADBEEF2EADBEEFu;
    default:
        return (uint64_t)(1.0 / ((double)(random >> 11) * 0x1p-53 + 1e-9));
    }
}

static void make_some_keys(void *context, size_t first, size_t last) {
    const struct key_bench *bench = context;
    const size_t size = table_type_size(bench->subject->type);
    for (size_t i = first; i < last; i++) {
        const uint64_t bits = spread_key(bench->spread, i, bench->count, 8 * (unsigned)size);
        memcpy((char *)bench->host_given + i * size, &bits, size);
    }
}

size_t key_bytes(const struct key_bench *bench) { return bench->count * table_type_size(bench->subject->type); }

bool make_keys(struct key_bench *bench) {
    bench_share(bench->count, make_some_keys, bench);
    return place_copy(&bench->place, bench->given, bench->host_given, key_bytes(bench));
}

bool make_values(struct key_bench *bench) {
    const size_t size = bench->subject->value_bytes;
    for (size_t i = 0; i < bench->count && size > 0; i++)
        memcpy((char *)bench->host_values + i * size, &i, size);
    return place_copy(&bench->place, bench->values, bench->host_values, bench->count * size);
}

/* ---------------------------------------------------------------------------------------------- right or wrong */

static uint64_t word_at(const void *words, size_t size, size_t i) {
    uint64_t word = 0;
    memcpy(&word, (const char *)words + i * size, size);
    return word;
}

/* A key and its value, mixed so that the sum over all tells whether the same pairs are there. */
static uint64_t mixed_pair(uint64_t key, uint64_t value) { return splitmix64_mix(splitmix64_mix(key) + value); }

struct sorted {
    const struct key_bench *bench;
    atomic_size_t wrong;
    atomic_uint_fast64_t surplus;
};

/* The keys ascend, values where they are equal, since those were indices; and all pairs are those that were given. */
static void look_at_sorted(void *context, size_t first, size_t last) {
    struct sorted *sorted = context;
    const struct key_bench *bench = sorted->bench;
    const size_t size = table_type_size(bench->subject->type), value_size = bench->subject->value_bytes;
    uint64_t surplus = 0;
    size_t wrong = 0;
    for (size_t i = first; i < last; i++) {
        const uint64_t key = word_at(bench->host_keys, size, i), value = word_at(bench->host_values, value_size, i);
        const uint64_t before = i > 0 ? word_at(bench->host_keys, size, i - 1) : 0;
        wrong += i > 0 && (before > key || (value_size > 0 && before == key &&
                                            word_at(bench->host_values, value_size, i - 1) >= value));
        surplus += mixed_pair(key, value) - mixed_pair(word_at(bench->host_given, size, i), value_size > 0 ? i : 0);
    }
    sorted->wrong += wrong;
    sorted->surplus += surplus;
}

/* As tuplescan/histogram.h says it, value by value. */
static void count_plainly(const struct key_bench *bench) {
    const table_bins *bins = &bench->subject->bins;
    const table_view values = {bench->host_given, bench->count, 1, 0, bench->subject->type};
    const double width = (bins->high - bins->low) / (double)bins->count;
    memset(bench->expected, 0, bins->count * sizeof *bench->expected);
    for (size_t i = 0; i < bench->count; i++) {
        const double value = key_as_double(&values, i);
        const long double exact = values.type == TABLE_U64 ? ((const uint64_t *)values.data)[i] : (long double)value;
        if (!(value >= bins->low && value <= bins->high))
            continue;
        size_t bin = (size_t)((value - bins->low) / width); /* or one beside it */
        bin = bin < bins->count ? bin : bins->count - 1;
        if (exact < bins->low + (double)bin * width)
            bin--;
        else if (bin + 1 < bins->count && exact >= bins->low + (double)(bin + 1) * width)
            bin++;
        bench->expected[bin]++;
    }
}

/* On a GPU that many values are counted by this library's CPU backend. */
bool expect_counts(const struct key_bench *bench) {
    const struct key_subject *subject = bench->subject;
    const table_view values = {bench->host_given, bench->count, 1, 0, subject->type};
    const table_view result = {bench->expected, 1, subject->bins.count, 0, TABLE_U64};
    const table_histogram_options options = {.run = {.backend = TABLE_BACKEND_CPU}};
    if (!bench->on_gpu) {
        count_plainly(bench);
        return true;
    }
    const table_status status = table_histogram(&values, &subject->bins, &result, &options);
    if (status != TABLE_OK)
        report_failure(bench->place.report, status, "the CPU backend");
    return status == TABLE_OK;
}

/* The counts of a GPU are u32. */
static bool count_wrong_bins(struct key_bench *bench, size_t *wrong) {
    const size_t size = bench->on_gpu ? sizeof(uint32_t) : sizeof(uint64_t), count = bench->subject->bins.count;
    if (!place_copy(&bench->place, bench->host_keys, bench->out, count * size))
        return false;
    *wrong = 0;
    for (size_t i = 0; i < count; i++)
        *wrong += word_at(bench->host_keys, size, i) != bench->expected[i];
    return true;
}

/* Ours sorts in place, CUB from one place to another. */
static bool count_wrong_keys(struct key_bench *bench, size_t *wrong) {
    struct sorted sorted = {.bench = bench};
    const bool peer = bench->way == CUB;
    if (!place_copy(&bench->place, bench->host_keys, peer ? bench->out : bench->keys, key_bytes(bench)) ||
        !place_copy(&bench->place, bench->host_values, peer ? bench->values_out : bench->values,
                    bench->count * bench->subject->value_bytes))
        return false;
    bench_share(bench->count, look_at_sorted, &sorted);
    *wrong = sorted.wrong ? sorted.wrong : sorted.surplus != 0;
    return true;
}

bool count_wrong(struct key_bench *bench, size_t *wrong) {
    return bench->subject->bins.count ? count_wrong_bins(bench, wrong) : count_wrong_keys(bench, wrong);
}
