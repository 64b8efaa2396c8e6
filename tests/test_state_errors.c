/* What wrong states get from the calls of the scan. */
#include "support/test.h"
#include "support/wrong_call.h"

/* Where the numbers of the header are, in bytes. */
enum { MAGIC = 0, VERSION = 8, TYPE = 12, FIRST = 24, SUMMED = 32, FLAGS = 48 };

/* A call with a state that has begun at `first`. */
static struct call call_with_state(uint64_t first) {
    struct call call = right_call();
    call.options.carry_in = NULL;
    call.options.state = memory.state;
    assert_int_equal(table_state_begin(memory.state, TABLE_U64, COLUMNS, first), TABLE_OK);
    return call;
}

/* The call that asks for a workspace does not look into the state. */
static void expect_state(struct call call, table_status status, const char *word) {
    expect_call(call, status, word);
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = sizeof memory.workspace;
    keep();
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), status, word);
}

static void put_u64(size_t at, uint64_t value) { memcpy(memory.state + at, &value, sizeof value); }

TEST(test_where_it_lies) {
    struct call call = call_with_state(0);
    call.options.state = memory.state + 8;
    expect_all(call, TABLE_ERROR_ALIGNMENT, "options->state");
    void *const places[] = {memory.in, memory.out, memory.carry_out, memory.overflow};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        call.options.state = (char *)places[i] + (16 - (uintptr_t)places[i] % 16) % 16;
        expect_all(call, TABLE_ERROR_OVERLAP, "options->state");
    }
    call.options.carry_in = memory.state;
    call.options.state = memory.state;
    expect_all(call, TABLE_ERROR_OVERLAP, "options->state");
}

TEST(test_of_other_sums) {
    struct call call = call_with_state(0);
    assert_int_equal(table_state_begin(memory.state, TABLE_I64, COLUMNS, 0), TABLE_OK);
    expect_state(call, TABLE_ERROR_STATE, "i64, not u64");
    assert_int_equal(table_state_begin(memory.state, TABLE_U64, COLUMNS + 1, 0), TABLE_OK);
    expect_state(call, TABLE_ERROR_STATE, "has 5 columns, not 4");
    call.in.columns = call.out.columns = 0; /* which is no word for any number of them */
    expect_state(call, TABLE_ERROR_STATE, "has 5 columns, not 0");
    call = call_with_state(0);
    call.options.carry_in = memory.carry_in; /* in the stream forms it is not looked at: test_pieces */
    keep();
    expect(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_ERROR_ARGUMENT, "carry_in");
    call = call_with_state(1);
    expect_state(call, TABLE_ERROR_STATE, "begins at row 1");
}

/* Of a state that has begun at row 0, one number of the header changed. */
TEST(test_damaged) {
    static const struct {
        size_t at, bytes;
        uint64_t value;
        const char *word;
    } cases[] = {{MAGIC, 8, 1, "does not begin"}, {VERSION, 4, 7, "version 7"}, {TYPE, 4, 77, "type 77"},
                 {FLAGS, 4, 1, "refused"},        {FLAGS, 4, 4, "bits"},        {SUMMED, 8, UINT64_MAX, "2^63"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct call call = call_with_state(0);
        memcpy(memory.state + cases[i].at, &cases[i].value, cases[i].bytes); /* the low bytes come first */
        expect_state(call, TABLE_ERROR_STATE, cases[i].word);
    }
    const struct call call = call_with_state(0);
    assert_int_equal(table_state_save(memory.state, memory.state, sizeof memory.state), TABLE_OK);
    expect_state(call, TABLE_ERROR_STATE, "saved form");
}

TEST(test_too_many_rows) {
    struct call call = call_with_state(0);
    put_u64(SUMMED, (UINT64_C(1) << 63) - ROWS + 1);
    expect_state(call, TABLE_ERROR_TOO_LARGE, "2^63");
    put_u64(SUMMED, (UINT64_C(1) << 62) - 5); /* times 4 columns is beyond 2^64 */
    expect_state(call, TABLE_ERROR_TOO_LARGE, "first_overflow");
}

TEST(test_totals) {
    struct call call = call_with_state(3);
    call.options.carry_out = NULL;
    call.options.first_overflow = NULL;
    REFUSED(table_column_totals(&call.in, TABLE_U64, memory.carry_out, &call.options), ARGUMENT, "row 3");
    REFUSED(table_column_totals(&call.in, TABLE_I64, NULL, &call.options), TYPE, "u64");
    call.options.state = NULL;
    REFUSED(table_column_totals(&call.in, TABLE_U64, NULL, &call.options), ARGUMENT, "totals");
    call.options.state = memory.state;
    assert_int_equal(table_column_totals(&call.in, TABLE_U64, NULL, &call.options), TABLE_OK);
}

TEST(test_stages) {
    struct call call = call_with_state(0);
    const table_view seeds = {memory.out, 2, COLUMNS, 0, TABLE_U64};
    call.out.data = memory.out + CELLS / 2;
    REFUSED(table_stage1_local_counts(&call.in, &seeds, &call.options), ARGUMENT, "state");
    REFUSED(table_stage2_scan_totals(&seeds, &call.options), ARGUMENT, "state");
    REFUSED(table_stage3_global_pass(&call.in, &seeds, &call.out, &call.options), ARGUMENT, "state");
}

/* Tables of no columns, by the other calls that take a state. */
TEST(test_no_columns) {
    const table_view in = {NULL, ROWS, 0, 0, TABLE_U64};
    const table_part part = {.in = in, .out = in};
    const table_columns none = {NULL, 0, ROWS, TABLE_U64};
    const table_scan_options options = call_with_state(0).options, totals = {.state = options.state};
    const table_stream_options stream = {.in_type = TABLE_U64, .out_type = TABLE_U64, .rows = ROWS, .scan = totals};
    REFUSED(table_column_totals(&in, TABLE_U64, NULL, &totals), STATE, "has 4 columns, not 0");
    REFUSED(table_prefix_sum_columns(&none, &none, &options), STATE, "has 4 columns, not 0");
    REFUSED(table_prefix_sum_devices(&part, 1, &options, NULL), STATE, "has 4 columns, not 0");
    REFUSED(table_stream(&stream), STATE, "has 4 columns, not 0");
}

/* Integers overflow where they did before, counted from the first row of all. */
TEST(test_overflow_goes_on) {
    uint32_t values[ROWS] = {1, 2, UINT32_MAX}, sums[ROWS];
    _Alignas(TABLE_STATE_ALIGNMENT) unsigned char begun[72] = {0};
    uint64_t found;
    table_scan_options options = {.state = begun, .first_overflow = &found};
    for (unsigned i = 0; i < 3; i++) {
        const table_view in = {values, ROWS, 1, 0, TABLE_U32}, out = {sums, ROWS, 1, 0, TABLE_U32};
        assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
        assert_int_equal(found, i == 0 ? 2 : 2 + i * ROWS);
    }
    values[2] = 5;
    const table_view in = {values, ROWS, 1, 0, TABLE_U32}, out = {sums, ROWS, 1, 0, TABLE_U32};
    assert_int_equal(table_prefix_sum(&in, &out, &options), TABLE_OK);
    assert_int_equal(found, TABLE_NO_OVERFLOW);
}

int main(void) { return run_all_tests("state_errors", NULL); }
