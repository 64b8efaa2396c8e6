/* Sorting: keys alone, with values of any size, and the order alone, against a plain stable sort. */
#include "keys/key_case.h"
#include "support/test.h"

/* Sizes around which something changes: nothing; lines of 64 bytes; a byte's digits; the keys of a thread's chunk; and
 * so many that lines are written past the caches. A sort of no keys takes no time, and is always tried. */
static const size_t sizes[] = {0,   1,   2,   3,   5,   15,   16,   17,   31,   33,    63,    64,    65,     127,
                               255, 256, 257, 499, 501, 1000, 4095, 4097, 9999, 65535, 65536, 65537, 131073, 1200001};
enum { SIZES = sizeof sizes / sizeof *sizes, SMALL_SIZES = 23 };

/* The expected result: rows of `bytes` bytes in the order. */
static char *arranged(const char *rows, const size_t *order, size_t count, size_t bytes) {
    char *result = get_memory(count * bytes);
    for (size_t i = 0; i < count; i++)
        memcpy(result + i * bytes, rows + order[i] * bytes, bytes);
    return result;
}

static void check_same(const char *found, const char *expected, size_t count, size_t bytes, const char *what,
                       const char *which) {
    for (size_t i = 0; i < count; i++)
        if (memcmp(found + i * bytes, expected + i * bytes, bytes) != 0)
            fail_msg("%s: %s %zu of %zu is wrong", what, which, i, count);
}

static void check_order(const struct key_arguments *sort, const void *found, const size_t *order, size_t count,
                        const char *what) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t index =
            sort->order.type == TABLE_U32 ? ((const uint32_t *)found)[i] : ((const uint64_t *)found)[i];
        if (index != order[i])
            fail_msg("%s: place %zu of %zu has key %llu, and should have %zu", what, i, count,
                     (unsigned long long)index, order[i]);
    }
}

/* The memory of one case on the host: keys, values, order. */
struct host {
    char *keys, *values;
    size_t *order;
};

static struct host host_of(struct key_arguments *sort, enum spread spread, size_t count, struct random *random) {
    const size_t key_bytes = table_type_size(sort->keys.type);
    struct host host = {get_memory(count * key_bytes), get_memory(count * sort->value_bytes),
                        get_memory(count * sizeof(size_t))};
    keys_fill(host.keys, sort->keys.type, count, spread, random);
    for (size_t i = 0; i < count * sort->value_bytes; i++)
        host.values[i] = (char)random_bits(random);
    return host;
}

static void check_sorted(const struct way *way, struct key_arguments *sort, const struct host *host, size_t count,
                         struct random *random, const char *what) {
    const size_t key_bytes = table_type_size(sort->keys.type);
    const size_t value_align = random_once_in(random, 3) || sort->value_bytes == 0 ? 1 : sort->value_bytes;
    struct placed keys = place(way, host->keys, count * key_bytes, key_bytes, random);
    struct placed values = place(way, host->values, count * sort->value_bytes, value_align, random);
    char *sorted_keys = arranged(host->keys, host->order, count, key_bytes);
    char *sorted_values = arranged(host->values, host->order, count, sort->value_bytes);
    char *found = get_memory(count * (key_bytes + sort->value_bytes));
    sort->keys.data = keys.address;
    sort->values = sort->value_bytes ? values.address : NULL;
    make_call(way, sort, random, what);
    take_back(&keys, found);
    check_same(found, sorted_keys, count, key_bytes, what, "key");
    take_back(&values, found);
    check_same(found, sorted_values, count, sort->value_bytes, what, "value");
    free(sorted_keys);
    free(sorted_values);
    free(found);
}

static void check_argsorted(const struct way *way, struct key_arguments *sort, const struct host *host, size_t count,
                            struct random *random, const char *what) {
    const size_t key_bytes = table_type_size(sort->keys.type), order_bytes = table_type_size(sort->order.type);
    struct placed keys = place(way, host->keys, count * key_bytes, key_bytes, random);
    struct placed order = place(way, NULL, count * order_bytes, order_bytes, random);
    char *found = get_memory(count * 8);
    sort->keys.data = keys.address;
    sort->order.data = order.address;
    make_call(way, sort, random, what);
    take_back(&order, found);
    check_order(sort, found, host->order, count, what);
    take_back(&keys, found);
    check_same(found, host->keys, count, key_bytes, what, "key that was to stay");
    free(found);
}

static void vary(struct key_arguments *sort, struct random *random) {
    static const size_t value_bytes[] = {0, 0, 4, 8, 1, 2, 3, 12, 16, 24, 100};
    const unsigned width = 8 * (unsigned)table_type_size(sort->keys.type);
    sort->sort.descending = random_once_in(random, 2);
    if (random_once_in(random, 3)) {
        sort->sort.first_bit = (unsigned)random_below(random, width);
        sort->sort.bits = (unsigned)random_below(random, width - sort->sort.first_bit + 1);
    }
    sort->operation = random_once_in(random, 4) ? ARGSORT : SORT;
    sort->order.type = random_once_in(random, 2) ? TABLE_U32 : TABLE_U64;
    sort->value_bytes =
        sort->operation == ARGSORT ? 0 : value_bytes[random_below(random, sizeof value_bytes / sizeof *value_bytes)];
}

/* Puts the keys of the host in order, all or all but two neighbours, anywhere. */
static void put_in_order(struct host *host, size_t count, size_t key_bytes, struct random *random) {
    char *const sorted = arranged(host->keys, host->order, count, key_bytes), last[8];
    free(host->keys);
    host->keys = sorted;
    if (count < 2 || random_once_in(random, 2))
        return;
    char *const one = sorted + random_below(random, count - 1) * key_bytes;
    memcpy(last, one, key_bytes);
    memcpy(one, one + key_bytes, key_bytes);
    memcpy(one + key_bytes, last, key_bytes);
}

/* alone: keys by all of their bits, and nothing beside them. */
static void check_case(table_type type, enum spread spread, size_t count, bool alone, struct random *random) {
    char what[200];
    for (size_t w = 0; w < way_count; w++) {
        struct key_arguments sort = {.keys = {NULL, count, 1, 0, type}, .order = {NULL, count, 1, 0, TABLE_U32}};
        vary(&sort, random);
        if (alone)
            sort =
                (struct key_arguments){.operation = SORT, .keys = sort.keys, .sort.descending = sort.sort.descending};
        const unsigned width = 8 * (unsigned)table_type_size(type), first = sort.sort.first_bit;
        struct host host = host_of(&sort, spread, count, random);
        const bool is_in_order = !alone && random_once_in(random, 4);
        for (int turn = 0; turn <= is_in_order; turn++) {
            if (turn > 0)
                put_in_order(&host, count, table_type_size(type), random);
            keys_order(host.keys, type, count, sort.sort.descending, first,
                       sort.sort.bits ? sort.sort.bits : width - first, host.order);
        }
        snprintf(what, sizeof what, "%s: %zu %s keys, %s, %s%s of %zu bytes, bits %u+%u", ways[w].name, count,
                 table_type_name(type), spread_names[spread], sort.sort.descending ? "descending " : "",
                 sort.operation == ARGSORT ? "order" : "values", sort.value_bytes, first, sort.sort.bits);
        if (sort.operation == ARGSORT)
            check_argsorted(&ways[w], &sort, &host, count, random, what);
        else
            check_sorted(&ways[w], &sort, &host, count, random, what);
        free(host.keys);
        free(host.values);
        free(host.order);
    }
}

TEST(test_types_spreads_and_sizes) {
    struct random random = {run_seed() + 31};
    for (unsigned round = 0; round < run_rounds(); round++)
        for (size_t t = 0; t < KEY_TYPE_COUNT; t++)
            for (enum spread spread = 0; spread < SPREADS; spread++)
                for (size_t s = 0; s < SMALL_SIZES; s++)
                    if (sizes[s] == 0 || random_once_in(&random, run_small() ? 2 * run_few() : run_few()))
                        check_case(key_types[t], spread, sizes[s], false, &random);
}

TEST(test_many_keys) {
    struct random random = {run_seed() + 32};
    for (size_t s = SMALL_SIZES; s < SIZES; s++)
        for (unsigned i = 0; i < (run_small() ? 1 : 4); i++)
            if (!run_small() || sizes[s] < 100000)
                check_case(key_types[random_below(&random, KEY_TYPE_COUNT)],
                           (enum spread)random_below(&random, SPREADS), sizes[s], false, &random);
}

/* Keys are counted value by value where there are PER_VALUE or more for each value. Tries that number, and one less. */
TEST(test_few_values) {
    enum { PER_VALUE = 4 };
    struct random random = {run_seed() + 34};
    for (size_t less = 0; less < 2; less++)
        for (enum spread spread = 0; spread < SPREADS; spread++) {
            check_case(TABLE_U8, spread, (PER_VALUE << 8) - less, true, &random);
            if (!run_small() && spread < 2)
                check_case(TABLE_U16, spread, (PER_VALUE << 16) - less + 1234567 * (1 - less), true, &random);
        }
}

/* A sort by each range of bits in turn, from the least, is a sort by all of them: it is stable. */
TEST(test_ranges_in_turn) {
    struct random random = {run_seed() + 33};
    uint64_t keys[1000], whole[1000];
    keys_fill(keys, TABLE_U64, 1000, ZIPF, &random);
    memcpy(whole, keys, sizeof keys);
    const table_view view = {keys, 1000, 1, 0, TABLE_U64}, whole_view = {whole, 1000, 1, 0, TABLE_U64};
    for (unsigned first = 0; first < 64; first += 13) {
        const table_sort_options options = {
            .run = {.backend = TABLE_BACKEND_CPU}, .first_bit = first, .bits = first + 13 > 64 ? 64 - first : 13};
        assert_int_equal(table_radix_sort(&view, NULL, 0, &options), TABLE_OK);
    }
    assert_int_equal(table_radix_sort(&whole_view, NULL, 0, NULL), TABLE_OK);
    assert_memory_equal(keys, whole, sizeof keys);
}

int main(void) { return run_all_tests("radix_sort", ways_unavailable()); }
