#include "key_case.h"

#include <math.h>

#include "support/test.h"
#include "types.h"

const char *const spread_names[SPREADS] = {"uniform",    "all equal", "sorted", "reversed",
                                           "two values", "zipf",      "special"};
#define KEY_TYPE(TYPE, NAME, C, KIND, NUMPY, CODE) TABLE_##TYPE,
const table_type key_types[KEY_TYPE_COUNT] = {TABLE_KEY_TYPES(KEY_TYPE)};

static uint64_t key_bits(const void *keys, size_t size, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)keys + i * size, size); /* little-endian, as the files are */
    return bits;
}

uint64_t keys_rank(const void *keys, table_type type, size_t i, bool descending) {
    const size_t size = table_type_size(type);
    const uint64_t top = (uint64_t)1 << (8 * size - 1), all = top | (top - 1);
    uint64_t bits = key_bits(keys, size, i);
    if (type_is_float(type))
        bits ^= bits & top ? all : top;
    else if (type_is_signed_integer(type))
        bits ^= top;
    return descending ? bits ^ all : bits;
}

static uint64_t special_bits(table_type type, struct random *random) {
    const uint64_t top = (uint64_t)1 << (8 * table_type_size(type) - 1);
    const uint64_t infinity = type == TABLE_F32 ? 0x7F800000u : 0x7FF0000000000000u;
    const uint64_t integers[] = {0, 1, top - 1, top, top + 1, ~(uint64_t)0, ~(uint64_t)1};
    const uint64_t floats[] = {
        0,           top, 1, top | 1, infinity, top | infinity, infinity | 1, infinity | (infinity >> 1), ~(uint64_t)0,
        infinity - 1};
    return type_is_float(type) ? floats[random_below(random, sizeof floats / sizeof *floats)]
                               : integers[random_below(random, sizeof integers / sizeof *integers)];
}

static uint64_t spread_bits(table_type type, size_t i, size_t count, enum spread spread, const uint64_t two[2],
                            struct random *random) {
    const unsigned width = 8 * (unsigned)table_type_size(type);
    const double step = ldexp(1.0, (int)width - 1) / (double)(count + 1);
    switch (spread) {
    case UNIFORM:
        return random_bits(random);
    case ALL_EQUAL:
        return two[0];
    case SORTED: /* positive ones: bits ascend as values do */
        return (uint64_t)(step * (double)i);
    case REVERSED:
        return (uint64_t)(step * (double)(count - i));
    case TWO_VALUES:
        return two[random_below(random, 2)];
    case ZIPF:
        return (uint64_t)(1.0 / (random_unit(random) + 1e-9));
    default:
        return special_bits(type, random);
    }
}

void keys_fill(void *keys, table_type type, size_t count, enum spread spread, struct random *random) {
    const uint64_t two[2] = {random_bits(random), random_bits(random)};
    const size_t size = table_type_size(type);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = spread_bits(type, i, count, spread, two, random);
        memcpy((char *)keys + i * size, &bits, size);
    }
}

struct ranked {
    uint64_t rank;
    size_t index;
};

static int by_rank(const void *a, const void *b) {
    const struct ranked *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

void keys_order(const void *keys, table_type type, size_t count, bool descending, unsigned first_bit, unsigned bits,
                size_t *order) {
    const uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    struct ranked *ranked = get_memory(count * sizeof *ranked);
    for (size_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){keys_rank(keys, type, i, descending) >> first_bit & mask, i};
    qsort(ranked, count, sizeof *ranked, by_rank);
    for (size_t i = 0; i < count; i++)
        order[i] = ranked[i].index;
    free(ranked);
}

struct placed place(const struct way *way, const void *contents, size_t bytes, size_t align, struct random *random) {
    struct placed placed;
    const bool at_back = align < 64 && bytes % align == 0 && random_once_in(random, 2);
    const size_t offset = align < 64 ? random_below(random, 64) * align : 0;
    block_open(&placed.block, way->memory, bytes, at_back ? 0 : offset, at_back ? EDGE_BACK : EDGE_FRONT);
    placed.address = placed.block.address;
    if (contents) {
        assert_true(block_upload(&placed.block, contents));
    } else {
        void *rubbish = get_memory(bytes);
        memset(rubbish, 0xEE, bytes);
        assert_true(block_upload(&placed.block, rubbish));
        free(rubbish);
    }
    return placed;
}

void take_back(struct placed *placed, void *contents) {
    assert_true(block_surroundings_intact(&placed->block));
    if (contents)
        assert_true(block_download(&placed->block, contents));
    block_close(&placed->block);
}

static void check_call(table_status status, const char *what, const char *form) {
    if (status != TABLE_OK)
        fail_msg("%s, %s: %s: %s", what, form, table_status_name(status), table_error_detail());
}

void make_call(const struct way *way, struct key_arguments *all, struct random *random, const char *what) {
    static const unsigned threads[] = {0, 1, 2, 3, 7};
    table_pipeline_options *const options = &all->run;
    table_pipeline_report report;
    size_t bytes = 0;
    *options = (table_pipeline_options){.backend = way->backend, .threads = threads[random_below(random, 5)]};
    way_enter(way);
    if (!way->direct || random_once_in(random, 2)) {
        options->report = random_once_in(random, 2) ? &report : NULL;
        check_call(call_on_keys(NOW, all, NULL), what, "one call");
        if (options->report)
            assert_int_equal(report.backend, way->backend);
        return;
    }
    options->stream = way->stream_open();
    check_call(call_on_keys(WORKSPACE, all, &bytes), what, "workspace");
    struct placed workspace = place(way, NULL, bytes, TABLE_WORKSPACE_ALIGNMENT, random);
    options->workspace = workspace.address;
    options->workspace_bytes = bytes;
    check_call(call_on_keys(QUEUE, all, NULL), what, "stream form");
    assert_true(way->stream_wait(options->stream));
    way->stream_close(options->stream);
    take_back(&workspace, NULL);
}
