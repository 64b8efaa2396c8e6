/* Tables in parts: what an error says, and streams whose pieces several devices share. The sums of parts are a form of
 * test_pieces.c. */
#include "support/ends.h"
#include "support/refusal.h"
#include "support/tables.h"

/* What an error says, and that nothing was written. */
TEST(test_errors) {
    float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0}, carry[2] = {0};
    _Alignas(16) char broken[64 + 131 * 8] = "no state";
    const table_view views[4] = {{in, 2, 2, 0, TABLE_F32},
                                 {out, 2, 2, 0, TABLE_F32},
                                 {in + 4, 2, 2, 0, TABLE_F32},
                                 {out + 4, 2, 2, 0, TABLE_F32}};
    const table_part good[2] = {{.in = views[0], .out = views[1]}, {.in = views[2], .out = views[3]}};
    table_part parts[2];
    table_scan_options options;
    watch(out, sizeof out);
    assert_int_equal(table_prefix_sum_devices(NULL, 2, NULL, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_prefix_sum_devices(good, 0, NULL, NULL), TABLE_ERROR_ARGUMENT);
#define REFUSED(CHANGE, STATUS, WORDS)                                                                                 \
    memcpy(parts, good, sizeof parts);                                                                                 \
    options = (table_scan_options){.carry_out = carry};                                                                \
    CHANGE;                                                                                                            \
    expect(table_prefix_sum_devices(parts, 2, &options, NULL), TABLE_ERROR_##STATUS, WORDS)
    REFUSED((parts[1].in.columns = parts[1].out.columns = 1, parts[1].in.stride = parts[1].out.stride = 2), SHAPE,
            "part 1: 1 columns, and part 0 has 2");
    REFUSED(parts[1].in.type = parts[1].out.type = TABLE_U32, TYPE, "part 1: u32 into u32");
    REFUSED(parts[1].out.data = NULL, ARGUMENT, "part 1: out->data is a null pointer");
    REFUSED(parts[1].out.data = out, OVERLAP, "out of part 0 and out of part 1");
    REFUSED(parts[0].out.data = in + 4, OVERLAP, "out of part 0 and in of part 1");
    REFUSED(parts[1].backend = (table_backend)9, ARGUMENT, "part 1: options->backend 9");
    REFUSED((parts[1].backend = TABLE_BACKEND_CUDA, parts[1].device = 99), BACKEND, "part 1: ");
    REFUSED(parts[1].reserved[3] = 1, ARGUMENT, "part 1: reserved[3]");
    REFUSED(options.offsets = 1, SHAPE, "part 1: in is 2 x 2 and out is 2 x 2");
    REFUSED(options.offsets = options.exclusive = 1, ARGUMENT, "options->offsets and exclusive");
    REFUSED((options.offsets = 1, parts[0].out.data = out + 4, parts[1].out = (table_view){out, 3, 2, 0, TABLE_F32}),
            OVERLAP, "out of part 0 and out of part 1");
    REFUSED(options.tables = 2, ARGUMENT, "tables");
    REFUSED(options.backend = TABLE_BACKEND_CPU, ARGUMENT, "options->backend");
    REFUSED(options.carry_out = out, OVERLAP, "part 0: options->carry_out and out share memory");
    REFUSED(options.first_overflow = &(uint64_t){0}, ARGUMENT, "options->first_overflow is for integers");
    REFUSED(options.state = broken, STATE, "options->state");
#undef REFUSED
    watch(NULL, 0);
    options.state = NULL;
    assert_int_equal(table_prefix_sum_devices(parts, 2, &options, NULL), TABLE_OK);
    assert_true(out[6] == 16 && out[7] == 20 && carry[1] == 20);
}

/* All devices share the pieces of a stream. */
TEST(test_stream) {
    enum { ROWS = 30011, COLUMNS = 3 };
    static float values[ROWS * COLUMNS], expected[ROWS * COLUMNS], found[ROWS * COLUMNS];
    struct random random = {run_seed()};
    struct ends ends = {.from = (const char *)values, .to = (char *)found, .left = sizeof values, .room = sizeof found};
    const table_view in = {values, ROWS, COLUMNS, 0, TABLE_F32}, out = {expected, ROWS, COLUMNS, 0, TABLE_F32};
    const table_stream_coefficients halves = {.type = TABLE_F32, .columns = 1, .row = &(float){0.5f}};
    int devices[8];
    size_t count = table_devices(NULL, 0) - 1;
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        element_randomize(&values[i], TABLE_F32, &random, PATTERN_SMALL);
    assert_int_equal(table_prefix_sum(&in, &out, NULL), TABLE_OK);
    for (size_t i = 0; i < 8; i++)
        devices[i] = (int)i;
    table_stream_options options = {.in_type = TABLE_F32, .out_type = TABLE_F32, .columns = COLUMNS};
    options.read = ends_read;
    options.write = ends_write;
    options.read_context = options.write_context = &ends;
    options.devices = devices;
    assert_int_equal(table_stream(&options), TABLE_ERROR_ARGUMENT);
    options.device_count = 1;
    options.coefficients = &halves;
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "coefficients are given");
    options.coefficients = NULL;
    options.scan.operation = TABLE_PRODUCT;
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "products of floats");
    options.scan.operation = TABLE_SUM;
    options.device_count = count < 8 ? count + 1 : 9;
    if (count < 8) {
        expect(table_stream(&options), TABLE_ERROR_BACKEND, count ? "there is no CUDA device" : "the CUDA backend: ");
    }
    options.device_count = count < 8 ? count : 8;
    if (count == 0)
        return;
    options.memory = 600000;
    assert_int_equal(table_stream(&options), TABLE_OK);
    assert_memory_equal(found, expected, sizeof found);
}

int main(void) { return run_all_tests("devices", NULL); }
