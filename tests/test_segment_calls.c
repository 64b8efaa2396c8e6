/* Ragged tables: what wrong calls and wrong segments get; any offsets and counts. */
#include <limits.h>

#include "support/random.h"
#include "support/refusal.h"
#include "support/test.h"

/* A call that is right as it stands. */
enum { ROWS = 10, COLUMNS = 2, SEGMENTS = 3 };
struct right_call {
    table_view in, out;
    table_segments segments;
    table_scan_options options;
};
static struct {
    int32_t in[ROWS * COLUMNS], out[(ROWS + SEGMENTS) * COLUMNS], starts[SEGMENTS * COLUMNS], lasts[SEGMENTS * COLUMNS];
    int64_t offsets[SEGMENTS + 1];
    uint64_t count_at, overflow;
} memory, kept;
static uint64_t number_found, number_wrong;

static struct right_call right_call(void) {
    const int64_t offsets[] = {1, 4, 4, 9};
    memset(&memory, 1, sizeof memory);
    memcpy(memory.offsets, offsets, sizeof offsets);
    memory.count_at = SEGMENTS;
    return (struct right_call){
        .in = {memory.in, ROWS, COLUMNS, 0, TABLE_I32},
        .out = {memory.out, ROWS, COLUMNS, 0, TABLE_I32},
        .segments = {.kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = memory.offsets, .count = SEGMENTS},
        .options = {.carry_in = memory.starts, .carry_out = memory.lasts, .first_overflow = &memory.overflow}};
}

/* A refused call writes number_found and number_wrong alone. */
static void expect_refused(const struct right_call *call, table_status status, const char *word) {
    watch(&memory, sizeof memory);
    expect(table_segmented_prefix_sum(&call->in, &call->out, &call->segments, &call->options), status, word);
}
#define WRONG(STATUS, WORD, ...)                                                                                       \
    do {                                                                                                               \
        struct right_call call = right_call();                                                                         \
        __VA_ARGS__;                                                                                                   \
        expect_refused(&call, TABLE_ERROR_##STATUS, WORD);                                                             \
    } while (0)

TEST(test_wrong_calls) {
    const struct right_call right = right_call();
    size_t bytes = 12345;
    assert_int_equal(table_segmented_prefix_sum(&right.in, &right.out, &right.segments, &right.options), TABLE_OK);
    expect(table_segmented_prefix_sum(NULL, &right.out, &right.segments, NULL), TABLE_ERROR_ARGUMENT, "in");
    expect(table_segmented_prefix_sum(&right.in, NULL, &right.segments, NULL), TABLE_ERROR_ARGUMENT, "out");
    expect(table_segmented_prefix_sum(&right.in, &right.out, NULL, NULL), TABLE_ERROR_ARGUMENT, "segments");
    expect(table_segmented_prefix_sum_workspace(&right.in, &right.out, &right.segments, NULL, NULL),
           TABLE_ERROR_ARGUMENT, "bytes");
    WRONG(ARGUMENT, "kind 0", call.segments.kind = (table_segment_kind)0);
    WRONG(ARGUMENT, "kind 5", call.segments.kind = (table_segment_kind)5);
    WRONG(TYPE, "type 0", call.segments.type = (table_type)0);
    WRONG(TYPE, "i32 or i64", call.segments.type = TABLE_U64);
    WRONG(TYPE, "u8 or bool", call.segments.kind = TABLE_SEGMENT_HEADS);
    WRONG(ARGUMENT, "segments->data", call.segments.data = NULL);
    WRONG(ALIGNMENT, "segments->data", call.segments.data = (char *)memory.offsets + 4);
    WRONG(ARGUMENT, "segments->reserved[7]", call.segments.reserved[7] = 1);
    WRONG(ARGUMENT, "count_at", call.segments.kind = TABLE_SEGMENT_KEYS, call.segments.count_at = &memory.count_at);
    WRONG(TOO_LARGE, "segments->count", call.segments.count = SIZE_MAX);
    WRONG(ARGUMENT, "tables", call.options.tables = 2);
    WRONG(ARGUMENT, "state", call.options.state = memory.lasts);
    WRONG(ARGUMENT, "offsets and exclusive", call.options.offsets = call.options.exclusive = 1);
    WRONG(SHAPE, "row more", call.options.offsets = 1);
    WRONG(OVERLAP, "in and out", call.options.offsets = 1, call.out.rows = ROWS + SEGMENTS, call.out.data = memory.in);
    WRONG(OVERLAP, "in and out", call.out.data = memory.in + 1);
    WRONG(SHAPE, "9 x 2", call.out.rows = ROWS - 1);
    WRONG(OVERLAP, "carry_in and out", call.options.carry_in = memory.out);
    WRONG(OVERLAP, "carry_out and in", call.options.carry_out = memory.in);
    WRONG(OVERLAP, "carry_out", call.options.carry_out = memory.starts + 2);
    WRONG(OVERLAP, "segments->data and out", call.segments.data = memory.out);
    WRONG(OVERLAP, "segments->found and segments->data", call.segments.found = (uint64_t *)memory.offsets);
    WRONG(OVERLAP, "segments->wrong and", call.segments.wrong = call.segments.found = &number_found);
    WRONG(ARGUMENT, "exclusive", call.out.rows = 0, call.out.data = NULL, call.options.exclusive = 1);
    WRONG(ARGUMENT, "first_overflow", call.out.rows = 0, call.out.data = NULL);
    WRONG(SHAPE, "0 x 2", call.out.rows = 0, call.out.data = NULL, call.options.carry_out = NULL);
    WRONG(SHAPE, "data[3]", memory.offsets[3] = ROWS + 1);
    WRONG(SHAPE, "data[2]", memory.offsets[2] = 3);
    WRONG(SHAPE, "data[0]", memory.offsets[0] = -1);
    WRONG(SHAPE, "data[0]", memory.offsets[0] = ROWS + 1, call.segments.count = 0);
    WRONG(SHAPE, "more segments", memory.count_at = SEGMENTS + 1, call.segments.count_at = &memory.count_at);
    WRONG(SHAPE, "more segments", memory.count_at = UINT64_MAX, call.segments.count_at = &memory.count_at);
    WRONG(SHAPE, "more segments", call.segments.kind = TABLE_SEGMENT_KEYS, call.segments.data = memory.in,
          call.segments.type = TABLE_I32, call.segments.count = 1, memory.in[3] = memory.in[5] = 0);
    expect(table_segmented_prefix_sum_workspace(&right.in, &right.out, NULL, NULL, &bytes), TABLE_ERROR_ARGUMENT, "");
    static float values[3][ROWS * COLUMNS], starts[SEGMENTS * COLUMNS];
    const table_view a = {values[0], ROWS, COLUMNS, 0, TABLE_F32}, b = {values[1], ROWS, COLUMNS, 0, TABLE_F32};
    const table_view h = {values[2], ROWS, COLUMNS, 0, TABLE_F32};
    const table_scan_options shifted = {.shifted_coefficients = 1, .carry_in = starts};
    expect(table_segmented_linear_recurrence(&a, &b, &h, &right.segments, &shifted), TABLE_ERROR_ARGUMENT,
           "shifted_coefficients");
    expect(table_segmented_linear_recurrence(NULL, &b, &h, &right.segments, NULL), TABLE_ERROR_ARGUMENT, "a is");
    assert_int_equal(bytes, 12345);
}

/* Anything at all as offsets and lengths: it is right, or the first that is wrong is named and nothing is written. */
TEST(test_any_offsets) {
    struct random random = {run_seed()};
    for (unsigned trial = 0; trial < 20000; trial++) {
        struct right_call call = right_call();
        const bool lengths = trial & 1;
        const int64_t extreme[] = {INT64_MIN, INT64_MAX, -1, ROWS, ROWS + 1, INT32_MIN};
        uint64_t expected = TABLE_SEGMENTS_RIGHT;
        int64_t before = 0;
        for (size_t i = 0; i <= SEGMENTS; i++)
            memory.offsets[i] = random_once_in(&random, 8) ? extreme[random_below(&random, 6)]
                                : lengths                  ? (int64_t)random_below(&random, 6)
                                          : before + (int64_t)random_below(&random, 5) - random_once_in(&random, 9);
        for (size_t i = 0; i < (size_t)SEGMENTS + !lengths && expected == TABLE_SEGMENTS_RIGHT; i++) {
            const int64_t value = memory.offsets[i];
            if (value < (lengths ? 0 : before) || value > ROWS - (lengths ? before : 0))
                expected = i;
            else
                before = lengths ? before + value : value;
        }
        call.segments.kind = lengths ? TABLE_SEGMENT_LENGTHS : TABLE_SEGMENT_OFFSETS;
        call.segments.wrong = &number_wrong;
        if (expected == TABLE_SEGMENTS_RIGHT)
            assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
        else
            expect_refused(&call, TABLE_ERROR_SHAPE, "segments->data[");
        assert_true(number_wrong == expected);
    }
}

/* No segments, no rows, no columns. */
TEST(test_nothing) {
    struct right_call call = right_call();
    call.segments.count = 0;
    memcpy(&kept, &memory, sizeof memory);
    kept.overflow = TABLE_NO_OVERFLOW;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
    assert_memory_equal(&kept, &memory, sizeof memory);
    call.segments.data = NULL;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
    assert_memory_equal(&kept, &memory, sizeof memory);
    call = right_call();
    memset(memory.offsets, 0, sizeof memory.offsets);
    memset(memory.starts, 3, sizeof memory.starts);
    call.in.rows = call.out.rows = 0;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
    assert_memory_equal(memory.starts, memory.lasts, sizeof memory.lasts);
    call = right_call();
    call.in.columns = call.out.columns = 0;
    assert_int_equal(table_segmented_prefix_sum(&call.in, &call.out, &call.segments, &call.options), TABLE_OK);
}

/* The count of keys and flags is not looked at where nothing has rows for each segment. */
TEST(test_any_count) {
    enum { MANY = 1 << 20 };
    static int32_t values[MANY], sums[MANY];
    static const size_t counts[] = {0, 1, SIZE_MAX, (size_t)1 << 57};
    uint64_t found;
    for (size_t i = 0; i < MANY; i++)
        values[i] = (int32_t)i;
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        const bool is_wide = i % 2;
        const table_segments segments = {
            .kind = TABLE_SEGMENT_KEYS, .type = TABLE_I32, .data = values, .count = counts[i / 2], .found = &found};
        const table_view in = {values, MANY >> is_wide, 1 + is_wide, 0, TABLE_I32};
        const table_view out = {sums, MANY >> is_wide, 1 + is_wide, 0, TABLE_I32};
        const table_scan_options options = {.threads = 4};
        memset(sums, 0, sizeof sums);
        assert_int_equal(table_segmented_prefix_sum(&in, &out, &segments, &options), TABLE_OK);
        assert_int_equal(found, MANY >> is_wide);
        assert_memory_equal(sums, values, sizeof sums);
    }
}

/* Takes the place of the C library's: call number `refused` of it from now on has no memory. */
static unsigned refused = UINT_MAX;
__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes) {
    void *taken = NULL;
    if (refused != UINT_MAX && refused-- == 0)
        return NULL;
    return posix_memalign(&taken, alignment, bytes) == 0 ? taken : NULL;
}

/* A segment that has all threads, after others: without memory for the call nothing is written, and without that of the
 * segment all is. */
TEST(test_refused_memory) {
    enum { LARGE = 1 << 18, WIDTH = 16 };
    static float values[LARGE * WIDTH], sums[LARGE * WIDTH], expected[LARGE * WIDTH], nothing[LARGE * WIDTH];
    static const int64_t offsets[] = {0, 5, 1000, LARGE - 3, LARGE};
    const table_segments segments = {TABLE_SEGMENT_OFFSETS, TABLE_I64, offsets, 4, NULL, NULL, NULL, {0}};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU, .threads = 4};
    const table_view in = {values, LARGE, WIDTH, 0, TABLE_F32}, out = {sums, LARGE, WIDTH, 0, TABLE_F32};
    for (size_t i = 0; i < LARGE * WIDTH; i++)
        values[i] = (float)(i % 1000) / 7;
    assert_int_equal(table_segmented_prefix_sum(&in, &out, &segments, &options), TABLE_OK);
    memcpy(expected, sums, sizeof sums);
    for (unsigned number = 0; number < 3; number++) {
        memset(sums, 0, sizeof sums);
        refused = number;
        const table_status status = table_segmented_prefix_sum(&in, &out, &segments, &options);
        refused = UINT_MAX;
        assert_int_equal(status, number == 0 ? TABLE_ERROR_HOST_MEMORY : TABLE_OK);
        assert_memory_equal(sums, number == 0 ? nothing : expected, sizeof sums);
    }
}

int main(void) { return run_all_tests("segment calls", NULL); }
