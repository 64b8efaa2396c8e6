/* The small calls: statuses, types, seeds, devices. */
#include <math.h>
#include <sched.h>

#include <pthread.h>

#include "support/reference.h"
#include "support/test.h"

TEST(test_statuses) {
    static const char *const names[] = {
        "TABLE_OK",
        "TABLE_ERROR_ARGUMENT",
        "TABLE_ERROR_SHAPE",
        "TABLE_ERROR_TYPE",
        "TABLE_ERROR_ALIGNMENT",
        "TABLE_ERROR_OVERLAP",
        "TABLE_ERROR_TOO_LARGE",
        "TABLE_ERROR_WORKSPACE",
        "TABLE_ERROR_HOST_MEMORY",
        "TABLE_ERROR_DEVICE_MEMORY",
        "TABLE_ERROR_BACKEND",
        "TABLE_ERROR_STRATEGY",
        "TABLE_ERROR_DEVICE",
        "TABLE_ERROR_STATE",
        "TABLE_ERROR_READ",
        "TABLE_ERROR_WRITE",
        "TABLE_ERROR_CANCELED",
        "TABLE_ERROR_RANKS",
        "TABLE_ERROR_MPI",
        "TABLE_ERROR_NCCL",
    };
    const int count = sizeof names / sizeof *names;
    for (int i = 0; i < count; i++) {
        assert_string_equal(table_status_name((table_status)i), names[i]);
        const char *text = table_status_text((table_status)i);
        assert_true(strlen(text) > 0);
        assert_int_not_equal(text[strlen(text) - 1], '.');
    }
    assert_string_equal(table_status_name((table_status)count), "TABLE_ERROR_UNKNOWN");
    assert_string_equal(table_status_name((table_status)-1), "TABLE_ERROR_UNKNOWN");
    assert_non_null(table_status_text((table_status)-1));
}

static void *detail_of_a_new_thread(void *unused) {
    (void)unused;
    return (void *)(size_t)(strlen(table_error_detail()) == 0);
}

TEST(test_detail_is_the_threads_own) {
    pthread_t thread;
    void *empty = NULL;
    assert_string_equal(table_error_detail(), ""); /* the first test of all that could fail */
    assert_int_equal(table_prefix_sum(NULL, NULL, NULL), TABLE_ERROR_ARGUMENT);
    assert_true(strlen(table_error_detail()) > 0);
    assert_int_equal(pthread_create(&thread, NULL, detail_of_a_new_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &empty), 0);
    assert_non_null(empty);
    assert_true(strlen(table_error_detail()) > 0);
}

TEST(test_version) { assert_string_equal(table_version(), TUPLESCAN_TEST_VERSION); }

TEST(test_types) {
    static const char *const names[] = {NULL,  "u8", "u16", "u32",  "u64", "i32",  "i64", "f32",
                                        "f64", "i8", "i16", "bool", "f16", "bf16", NULL};
    static const size_t sizes[] = {0, 1, 2, 4, 8, 4, 8, 4, 8, 1, 2, 1, 2, 2, 0};
    static const table_type sums[] = {0,         0, 0, TABLE_U32, TABLE_U64, TABLE_I32, TABLE_I64, TABLE_F32,
                                      TABLE_F64, 0, 0, 0,         TABLE_F32, TABLE_F32, 0};
    static const char *const pairs[] = {
        "u8i32",  "u8u32",  "u8i64",    "u8u64",   "u8f32",   "u8f64",   "u16i32",  "u16u32",  "u16i64",
        "u16u64", "u16f32", "u16f64",   "u32u32",  "u32i64",  "u32u64",  "u32f64",  "u64u64",  "i8i32",
        "i8i64",  "i8f32",  "i8f64",    "i16i32",  "i16i64",  "i16f32",  "i16f64",  "i32i32",  "i32i64",
        "i32f64", "i64i64", "booli32",  "boolu32", "booli64", "boolu64", "boolf32", "boolf64", "f16f16",
        "f16f32", "f16f64", "bf16bf16", "bf16f32", "bf16f64", "f32f32",  "f32f64",  "f64f64"};
    for (int i = 0; i < 15; i++) {
        assert_int_equal(table_sum_type((table_type)i), sums[i]);
        assert_int_equal(table_type_size((table_type)i), sizes[i]);
        if (names[i])
            assert_string_equal(table_type_name((table_type)i), names[i]);
        else
            assert_null(table_type_name((table_type)i));
        for (int j = 0; j < 15; j++) {
            char pair[16];
            int expected = 0;
            snprintf(pair, sizeof pair, "%s%s", names[i] ? names[i] : "?", names[j] ? names[j] : "?");
            for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
                expected |= strcmp(pair, pairs[k]) == 0;
            assert_int_equal(table_types_supported((table_type)i, (table_type)j), expected);
        }
    }
    assert_int_equal(table_type_size((table_type)-1), 0);
    assert_null(table_type_name((table_type)-1));
    assert_int_equal(table_types_supported((table_type)-1, TABLE_U64), 0);
}

TEST(test_seeds_rows) {
    static const table_type types[] = {TABLE_U32, TABLE_U64, TABLE_I32, TABLE_I64, TABLE_F32, TABLE_F64};
    static const size_t columns[] = {1, 3, 1000, SIZE_MAX};
    assert_int_equal(TABLE_UNIT_ROWS, REFERENCE_UNIT);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            assert_int_equal(table_seeds_rows(types[t], 0, columns[c]), 1);
            assert_int_equal(table_seeds_rows(types[t], 1, columns[c]), 2);
            assert_int_equal(table_seeds_rows(types[t], 512, columns[c]), 2);
            assert_int_equal(table_seeds_rows(types[t], 513, columns[c]), 3);
            assert_int_equal(table_seeds_rows(types[t], SIZE_MAX, columns[c]), SIZE_MAX / 512 + 2);
        }
        assert_int_equal(table_seeds_rows(types[t], 5, 0), 0);
    }
    assert_int_equal(table_seeds_rows(TABLE_U8, 5, 1), 0);
    assert_int_equal(table_seeds_rows(TABLE_U16, 5, 1), 0);
    assert_int_equal(table_seeds_rows((table_type)0, 5, 1), 0);
    assert_int_equal(table_seeds_rows((table_type)9, 5, 1), 0);
}

TEST(test_devices) {
    table_device devices[64];
    const size_t count = table_devices(NULL, 0);
    assert_in_range(count, 1, 64);
    memset(devices, 0x5A, sizeof devices);
    assert_int_equal(table_devices(devices, 1), count);
    assert_int_equal(devices[1].backend, 0x5A5A5A5A); /* no more than the room was used */
    assert_int_equal(table_devices(devices, 64), count);
    assert_int_equal(devices[0].backend, TABLE_BACKEND_CPU);
    assert_int_equal(devices[0].usable, 1);
    assert_true(strlen(devices[0].name) > 0);
    assert_true(devices[0].processors > 0);
    assert_true(devices[0].memory > 0);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(devices[i].backend, TABLE_BACKEND_CUDA);
    if (!table_cuda_unavailable())
        assert_true(count > 1);
}

/* Rows that are long enough to give threads columns of their own, so that each asks for workspace. */
static table_view wide_table(void *data) {
    return (table_view){.data = data, .rows = 1024, .columns = 4096, .type = TABLE_U32};
}

/* Whatever the shape, the workspace on the CPU is rows of seeds of chunks, and what threads need. */
TEST(test_workspace_is_what_the_rows_need) {
    static const struct {
        size_t rows, columns, most; /* rows of sums, besides SOME */
        table_type type;
        table_strategy strategy;
    } cases[] = {{1, 91750400, 0, TABLE_U64, TABLE_STRATEGY_AUTO},
                 {2, 100000000, 0, TABLE_F32, TABLE_STRATEGY_AUTO},
                 {1000000, 7, 0, TABLE_F32, TABLE_STRATEGY_FUSED},
                 {0, (size_t)1 << 40, 0, TABLE_U64, TABLE_STRATEGY_AUTO},
                 {0, (size_t)1 << 40, 0, TABLE_F32, TABLE_STRATEGY_HOST},
                 {0, (size_t)1 << 40, 0, TABLE_I32, TABLE_STRATEGY_RECURSIVE},
                 {5, 91750400, 0, TABLE_U64, TABLE_STRATEGY_HOST},
                 {5, 91750400, 2, TABLE_U64, TABLE_STRATEGY_RECURSIVE}};
    enum { SOME = 16 << 20 };
    static uint64_t there[2];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const table_view table = {there, cases[i].rows, cases[i].columns, 0, cases[i].type};
        const table_scan_options options = {.strategy = cases[i].strategy, .backend = TABLE_BACKEND_CPU};
        size_t bytes = SIZE_MAX;
        assert_int_equal(table_prefix_sum_workspace(&table, &table, &options, &bytes), TABLE_OK);
        if (bytes > SOME + cases[i].most * cases[i].columns * table_type_size(cases[i].type))
            fail_msg("%zu x %zu of %s, strategy %d: %zu bytes of workspace", table.rows, table.columns,
                     table_type_name(table.type), (int)options.strategy, bytes);
    }
}

/* No rows, of more columns than there is memory for sums of. */
TEST(test_no_rows_and_many_columns) {
    uint64_t overflow = 5;
    table_report report;
    for (int strategy = TABLE_STRATEGY_AUTO; strategy <= TABLE_STRATEGY_FUSED; strategy++) {
        const table_view table = {NULL, 0, (size_t)1 << 40, 0, TABLE_U64};
        const table_scan_options options = {.strategy = (table_strategy)strategy,
                                            .backend = TABLE_BACKEND_CPU,
                                            .first_overflow = &overflow,
                                            .report = &report};
        assert_int_equal(table_prefix_sum(&table, &table, &options), TABLE_OK);
        assert_true(overflow == TABLE_NO_OVERFLOW && report.seconds >= 0);
    }
}

static void *workspace_on_one_processor(void *bytes) {
    const table_view table = wide_table(bytes);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0 &&
        table_prefix_sum_workspace(&table, &table, NULL, bytes) == TABLE_OK)
        return bytes;
    return NULL;
}

/* What one thread asked for must do for another. */
TEST(test_workspace_of_a_bound_thread) {
    size_t bound = 0, bytes = 0;
    pthread_t thread;
    void *done = NULL;
    const table_view table = wide_table(&bytes);
    assert_int_equal(pthread_create(&thread, NULL, workspace_on_one_processor, &bound), 0);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_non_null(done);
    assert_int_equal(table_prefix_sum_workspace(&table, &table, NULL, &bytes), TABLE_OK);
    assert_int_equal(bound, bytes);
}

/* The report names the threads that there were, not the most that there could have been. */
TEST(test_reported_threads) {
    enum { FEW = 10, MANY = 1 << 20 };
    uint32_t *keys = calloc(MANY, sizeof *keys);
    uint64_t count = 0;
    table_report scanned = {0};
    table_pipeline_report sorted = {0};
    const table_view few = {keys, FEW, 1, 0, TABLE_U32}, many = {keys, MANY, 1, 0, TABLE_U32},
                     none = {keys, 0, 1, 0, 1};
    const table_view result = {&count, 1, 1, 0, TABLE_U64};
    const table_bins bins = {.kind = TABLE_BINS_EVEN, .count = 1, .high = 1};
    const table_pipeline_options run = {.threads = 1000, .report = &sorted}, two = {.threads = 2, .report = &sorted};
    const table_histogram_options options = {.run = run}, by_two = {.run = two};
    const table_sort_options sort = {.run = run};
    assert_non_null(keys);
    for (int strategy = TABLE_STRATEGY_AUTO; strategy <= TABLE_STRATEGY_FUSED; strategy++) {
        const table_scan_options scan = {
            .threads = 1000, .strategy = (table_strategy)strategy, .report = &scanned, .backend = TABLE_BACKEND_CPU};
        assert_int_equal(table_prefix_sum(&few, &few, &scan), TABLE_OK);
        assert_int_equal(scanned.threads, 1);
    }
    assert_int_equal(table_radix_sort(&few, NULL, 0, &sort), TABLE_OK);
    assert_int_equal(sorted.threads, 1);
    assert_int_equal(table_radix_sort(&none, NULL, 0, &sort), TABLE_OK);
    assert_int_equal(sorted.threads, 1);
    assert_int_equal(table_histogram(&few, &bins, &result, &options), TABLE_OK);
    assert_int_equal(sorted.threads, 1);
    assert_int_equal(table_histogram(&many, &bins, &result, &by_two), TABLE_OK);
    assert_int_equal(sorted.threads, 2);
    free(keys);
}

/* The example in prefix_sum.h of what very large floats come to, and of how it is avoided. */
TEST(test_very_large_floats) {
    float values[] = {-3e38F, 0, 3e38F, 3e38F}, sums[4];
    double wide[4];
    const table_view in = {values, 4, 1, 0, TABLE_F32}, out = {sums, 4, 1, 0, TABLE_F32},
                     to = {wide, 4, 1, 0, TABLE_F64};
    assert_int_equal(table_prefix_sum(&in, &out, NULL), TABLE_OK);
    assert_true(sums[2] == 0 && isinf(sums[3]) && sums[3] > 0);
    assert_int_equal(table_prefix_sum(&in, &to, NULL), TABLE_OK);
    assert_true(wide[2] == 0 && wide[3] == (double)3e38F);
}

int main(void) { return run_all_tests("basics", NULL); }
