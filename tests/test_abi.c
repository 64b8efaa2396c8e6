/* What a program that was compiled with these headers relies on: the sizes of structs, their reserved members, and the
 * version. docs/versioning.md has the rules. */
#include "support/refusal.h"

/* Sizes where pointers have 64 bits. A field that is added is taken out of `reserved`, so that none of them changes. */
#define GROWS(type, size)                                                                                              \
    { #type, sizeof(type), size, offsetof(type, reserved) + sizeof(((type *)0)->reserved) }
#define STAYS(type, size)                                                                                              \
    { #type, sizeof(type), size, sizeof(type) }

TEST(test_sizes) {
    const struct {
        const char *name;
        size_t size, expected, end_of_reserved;
    } structs[] = {
        GROWS(table_scan_options, 192),
        GROWS(table_report, 128),
        GROWS(table_part, 152),
        GROWS(table_devices_report, 104),
        GROWS(table_device, 224),
        GROWS(table_pipeline_options, 104),
        GROWS(table_pipeline_report, 128),
        GROWS(table_histogram_options, 200),
        GROWS(table_sort_options, 184),
        GROWS(table_segments, 112),
        GROWS(table_stream_options, 416),
        GROWS(table_stream_coefficients, 104),
        GROWS(table_stream_report, 264),
        GROWS(table_state_facts, 96),
        STAYS(table_view, 40),
        STAYS(table_column, 16),
        STAYS(table_columns, 32),
        STAYS(table_bins, 48),
        STAYS(table_digit, 12),
        STAYS(table_interrupt, 16),
    };
    if (sizeof(void *) != 8)
        skip();
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++) {
        if (structs[i].size != structs[i].expected)
            fail_msg("%s has %zu bytes, not %zu", structs[i].name, structs[i].size, structs[i].expected);
        if (structs[i].size != structs[i].end_of_reserved)
            fail_msg("%s does not end with what is reserved", structs[i].name);
    }
}

#define expect_refused(CALL) expect(CALL, TABLE_ERROR_ARGUMENT, "reserved")

TEST(test_reserved_words_of_a_scan) {
    uint64_t values[4] = {1, 2, 3, 4}, totals[2] = {7, 7};
    const table_view table = {values, 2, 2, 0, TABLE_U64}, seeds = {totals, 1, 2, 0, TABLE_U64};
    size_t bytes = 12345;
    for (size_t word = 0; word < sizeof((table_scan_options *)0)->reserved / sizeof(uint64_t); word++) {
        table_scan_options options = {0};
        options.reserved[word] = 1;
        expect_refused(table_prefix_sum(&table, &table, &options));
        expect_refused(table_prefix_sum_async(&table, &table, &options));
        expect_refused(table_prefix_sum_workspace(&table, &table, &options, &bytes));
        expect_refused(table_column_totals(&table, TABLE_U64, totals, &options));
        expect_refused(table_stage2_scan_totals(&seeds, &options));
    }
    assert_int_equal(values[3], 4);
    assert_int_equal(totals[0], 7);
    assert_int_equal(bytes, 12345);
}

static int64_t read_nothing(void *context, void *to, size_t bytes) {
    (void)context;
    (void)to;
    (void)bytes;
    return 0;
}

static int write_nothing(void *context, const void *from, size_t bytes) {
    (void)context;
    (void)from;
    (void)bytes;
    return 0;
}

TEST(test_reserved_words_of_streams) {
    static const uint64_t zeros[TABLE_RESERVED_WORDS];
    _Alignas(TABLE_STATE_ALIGNMENT) unsigned char kept[1024] = {0};
    table_stream_report report;
    table_state_facts facts;
    table_stream_options options = {.in_type = TABLE_U64,
                                    .out_type = TABLE_U64,
                                    .columns = 1,
                                    .read = read_nothing,
                                    .write = write_nothing,
                                    .report = &report};
    size_t bytes;
    memset(&report, 0x5A, sizeof report);
    memset(&facts, 0x5A, sizeof facts);
    assert_int_equal(table_stream(&options), TABLE_OK);
    assert_memory_equal(report.reserved, zeros, sizeof zeros);
    assert_int_equal(table_state_bytes(TABLE_U64, 1, &bytes), TABLE_OK);
    assert_in_range(bytes, 1, sizeof kept);
    assert_int_equal(table_state_describe(kept, bytes, &facts), TABLE_OK);
    assert_memory_equal(facts.reserved, zeros, sizeof facts.reserved);
    for (size_t word = 0; word < sizeof options.reserved / sizeof *options.reserved; word++) {
        options.reserved[word] = 1;
        expect_refused(table_stream(&options));
        options.reserved[word] = 0;
    }
}

TEST(test_reserved_words_of_the_pipelines) {
    uint32_t values[4] = {4, 3, 2, 1}, counted[4] = {7, 7, 7, 7};
    const table_view keys = {values, 4, 1, 0, TABLE_U32}, counts = {counted, 1, 2, 0, TABLE_U32};
    const table_view order = {counted, 4, 1, 0, TABLE_U32};
    const table_digit digit = {0, 1, 0};
    const table_bins bins = {.kind = TABLE_BINS_INTEGER, .count = 2};
    for (int word = 0; word < TABLE_RESERVED_WORDS; word++) {
        table_pipeline_options run = {0};
        table_histogram_options histogram = {0};
        table_sort_options sort = {0};
        run.reserved[word] = histogram.reserved[word] = sort.reserved[word] = (uint64_t)1 << 63;
        expect_refused(table_digit_counts(&keys, &digit, 0, &counts, &run));
        expect_refused(table_chunk_ranks(&counts, &counts, NULL, NULL, &run));
        expect_refused(table_histogram(&keys, &bins, &counts, &histogram));
        expect_refused(table_radix_sort(&keys, NULL, 0, &sort));
        expect_refused(table_argsort(&keys, &order, &sort));
    }
    assert_int_equal(values[0], 4);
    assert_int_equal(counted[0], 7);
}

TEST(test_reserved_words_of_reports) {
    static const uint64_t zeros[TABLE_RESERVED_WORDS];
    uint64_t values[4] = {1, 2, 3, 4};
    const table_view table = {values, 4, 1, 0, TABLE_U64};
    table_report report;
    table_pipeline_report pipeline_report;
    table_device devices[1];
    memset(&report, 0x5A, sizeof report);
    memset(&pipeline_report, 0x5A, sizeof pipeline_report);
    memset(devices, 0x5A, sizeof devices);
    assert_int_equal(table_prefix_sum(&table, &table, &(table_scan_options){.report = &report}), TABLE_OK);
    assert_int_equal(table_radix_sort(&table, NULL, 0, &(table_sort_options){.run.report = &pipeline_report}),
                     TABLE_OK);
    assert_in_range(table_devices(devices, 1), 1, 1000);
    assert_memory_equal(report.reserved, zeros, sizeof zeros);
    assert_memory_equal(pipeline_report.reserved, zeros, sizeof zeros);
    assert_memory_equal(devices[0].reserved, zeros, sizeof zeros);
}

TEST(test_version) {
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", TABLE_VERSION_MAJOR, TABLE_VERSION_MINOR, TABLE_VERSION_PATCH);
    assert_string_equal(table_version(), version);
    assert_true(TABLE_VERSION_AT_LEAST(TABLE_VERSION_MAJOR, TABLE_VERSION_MINOR, TABLE_VERSION_PATCH));
    assert_false(TABLE_VERSION_AT_LEAST(TABLE_VERSION_MAJOR, TABLE_VERSION_MINOR, TABLE_VERSION_PATCH + 1));
    assert_false(TABLE_VERSION_AT_LEAST(TABLE_VERSION_MAJOR, TABLE_VERSION_MINOR + 1, 0));
    assert_false(TABLE_VERSION_AT_LEAST(TABLE_VERSION_MAJOR + 1, 0, 0));
    assert_true(TABLE_VERSION_AT_LEAST(TABLE_VERSION_MAJOR, TABLE_VERSION_MINOR - 1, TABLE_VERSION_PATCH + 1));
    assert_true(TABLE_VERSION_AT_LEAST(TABLE_VERSION_MAJOR - 1, TABLE_VERSION_MINOR + 1, TABLE_VERSION_PATCH + 1));
}

int main(void) { return run_all_tests("abi", NULL); }
