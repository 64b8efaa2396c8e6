/* What wrong calls get: the right status, the reason in table_error_detail(), and nothing written. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

enum { ROWS = 10, COLUMNS = 4, CELLS = 2 * ROWS * COLUMNS };

/* A call that is right as it stands; each test makes one thing wrong. */
struct call {
    table_view in, out;
    table_scan_options options;
};

/* All memory that the calls could write to. */
static struct {
    _Alignas(TABLE_WORKSPACE_ALIGNMENT) unsigned char workspace[4096];
    uint64_t in[CELLS], out[CELLS], carry_in[COLUMNS], carry_out[COLUMNS], overflow[2];
    table_report report;
} memory, before;

static struct call right_call(void) {
    memset(&memory, 0x5A, sizeof memory);
    return (struct call){
        .in = {memory.in, ROWS, COLUMNS, 0, TABLE_U64},
        .out = {memory.out, ROWS, COLUMNS, 0, TABLE_U64},
        .options = {.carry_in = memory.carry_in, .carry_out = memory.carry_out, .first_overflow = memory.overflow},
    };
}

static void keep(void) { memcpy(&before, &memory, sizeof memory); }

static void expect(table_status found, table_status expected, const char *word, const char *function) {
    if (found != expected)
        fail_msg("%s: expected %s, found %s (%s)", function, table_status_name(expected), table_status_name(found),
                 table_error_detail());
    if (!strstr(table_error_detail(), word))
        fail_msg("%s: the reason should name \"%s\", and is: %s", function, word, table_error_detail());
    if (strstr(table_error_detail(), "carry_in->") || strstr(table_error_detail(), "carry_out->") ||
        strstr(table_error_detail(), "first_overflow->"))
        fail_msg("%s: the reason takes a pointer for a table: %s", function, table_error_detail());
    if (strpbrk(table_error_detail(), "\n"))
        fail_msg("%s: the reason is not one line: %s", function, table_error_detail());
    if (memcmp(&before, &memory, sizeof memory) != 0)
        fail_msg("%s: something was written", function);
}

/* The one-call form. */
static void expect_call(struct call call, table_status status, const char *word) {
    keep();
    expect(table_prefix_sum(&call.in, &call.out, &call.options), status, word, "table_prefix_sum");
}

/* Both stream forms. */
static void expect_stream(struct call call, table_status status, const char *word) {
    size_t bytes = 12345;
    keep();
    expect(table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes), status, word,
           "table_prefix_sum_workspace");
    assert_int_equal(bytes, 12345);
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = sizeof memory.workspace;
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), status, word, "table_prefix_sum_async");
}

static void expect_all(struct call call, table_status status, const char *word) {
    expect_call(call, status, word);
    expect_stream(call, status, word);
}

static void test_the_right_call(void **state) {
    struct call call = right_call();
    size_t bytes = 12345;
    (void)state;
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    assert_int_equal(table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes), TABLE_OK);
    assert_in_range(bytes, 0, sizeof memory.workspace);
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = sizeof memory.workspace;
    assert_int_equal(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_OK);
    assert_int_equal(table_prefix_sum(&call.in, &call.out, NULL), TABLE_OK);
}

static void test_null_pointers(void **state) {
    struct call call = right_call();
    size_t bytes;
    (void)state;
    keep();
    expect(table_prefix_sum(NULL, &call.out, NULL), TABLE_ERROR_ARGUMENT, "in", "table_prefix_sum");
    expect(table_prefix_sum(&call.in, NULL, NULL), TABLE_ERROR_ARGUMENT, "out", "table_prefix_sum");
    expect(table_prefix_sum_async(NULL, &call.out, NULL), TABLE_ERROR_ARGUMENT, "in", "table_prefix_sum_async");
    expect(table_prefix_sum_async(&call.in, NULL, NULL), TABLE_ERROR_ARGUMENT, "out", "table_prefix_sum_async");
    expect(table_prefix_sum_workspace(NULL, &call.out, NULL, &bytes), TABLE_ERROR_ARGUMENT, "in", "workspace");
    expect(table_prefix_sum_workspace(&call.in, &call.out, NULL, NULL), TABLE_ERROR_ARGUMENT, "bytes", "workspace");
    expect(table_column_totals(NULL, TABLE_U64, memory.out, NULL), TABLE_ERROR_ARGUMENT, "in", "table_column_totals");
    expect(table_column_totals(&call.in, TABLE_U64, NULL, NULL), TABLE_ERROR_ARGUMENT, "totals", "table_column_totals");

    call = right_call();
    call.in.data = NULL;
    expect_all(call, TABLE_ERROR_ARGUMENT, "in");
    call = right_call();
    call.out.data = NULL;
    expect_all(call, TABLE_ERROR_ARGUMENT, "out");
}

static void test_null_data_without_rows(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.data = call.out.data = NULL;
    call.in.rows = call.out.rows = 0;
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    assert_memory_equal(memory.carry_in, memory.carry_out, sizeof memory.carry_in);
    assert_int_equal(memory.overflow[0], TABLE_NO_OVERFLOW);
    call.options = (table_scan_options){.carry_out = memory.carry_out};
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    for (size_t j = 0; j < COLUMNS; j++)
        assert_int_equal(memory.carry_out[j], 0);
}

static void test_unknown_values(void **state) {
    static const int backends[] = {-1, 3, INT_MAX}, strategies[] = {-1, 4, INT_MIN}, types[] = {-1, 0, 9, INT_MAX};
    struct call call;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        call = right_call();
        call.options.backend = (table_backend)backends[i];
        expect_all(call, TABLE_ERROR_ARGUMENT, "backend");
        call = right_call();
        call.options.strategy = (table_strategy)strategies[i];
        expect_all(call, TABLE_ERROR_ARGUMENT, "strategy");
    }
    for (size_t i = 0; i < 4; i++) {
        call = right_call();
        call.in.type = (table_type)types[i];
        expect_all(call, TABLE_ERROR_TYPE, "in");
        call = right_call();
        call.out.type = (table_type)types[i];
        expect_all(call, TABLE_ERROR_TYPE, "out");
        keep();
        expect(table_column_totals(&call.in, (table_type)types[i], memory.out, NULL), TABLE_ERROR_TYPE, "",
               "table_column_totals");
    }
    call = right_call();
    call.options.exclusive = 2;
    expect_all(call, TABLE_ERROR_ARGUMENT, "exclusive");
}

static void test_type_pairs(void **state) {
    (void)state;
    for (table_type in = TABLE_U8; in <= TABLE_F64; in++) {
        for (table_type out = TABLE_U8; out <= TABLE_F64; out++) {
            struct call call = right_call();
            call.in.type = in;
            call.out.type = out;
            call.options.first_overflow = NULL;
            if (table_types_supported(in, out)) {
                assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
                continue;
            }
            expect_all(call, TABLE_ERROR_TYPE, table_type_name(in));
            expect_all(call, TABLE_ERROR_TYPE, table_type_name(out));
            expect(table_column_totals(&call.in, out, memory.out, NULL), TABLE_ERROR_TYPE, table_type_name(out),
                   "table_column_totals");
        }
    }
}

static void test_shapes(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.columns = call.out.columns = 0;
    expect_all(call, TABLE_ERROR_SHAPE, "columns");
    keep();
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, NULL), TABLE_ERROR_SHAPE, "columns",
           "table_column_totals");
    call = right_call();
    call.in.stride = COLUMNS - 1;
    expect_all(call, TABLE_ERROR_SHAPE, "stride");
    call = right_call();
    call.out.stride = 1;
    expect_all(call, TABLE_ERROR_SHAPE, "stride");
    call = right_call();
    call.out.rows = ROWS - 1;
    expect_all(call, TABLE_ERROR_SHAPE, "9");
    call = right_call();
    call.out.columns = COLUMNS + 1;
    expect_all(call, TABLE_ERROR_SHAPE, "5");
}

static void test_alignment(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.data = (char *)memory.in + 4;
    expect_all(call, TABLE_ERROR_ALIGNMENT, "in");
    call = right_call();
    call.out.data = (char *)memory.out + 1;
    expect_all(call, TABLE_ERROR_ALIGNMENT, "out");
    call = right_call();
    call.options.carry_in = (char *)memory.carry_in + 2;
    expect_all(call, TABLE_ERROR_ALIGNMENT, "carry_in");
    call = right_call();
    call.options.carry_out = (char *)memory.carry_out + 4;
    expect_all(call, TABLE_ERROR_ALIGNMENT, "carry_out");
    call = right_call();
    call.options.first_overflow = (uint64_t *)((char *)memory.overflow + 4);
    expect_all(call, TABLE_ERROR_ALIGNMENT, "first_overflow");
    call = right_call();
    keep();
    expect(table_column_totals(&call.in, TABLE_U64, (char *)memory.out + 4, NULL), TABLE_ERROR_ALIGNMENT, "totals 0x",
           "table_column_totals");
}

/* Two views of memory.in that must not be taken for separate, or for the same. */
static void expect_overlap(table_view in, table_view out) {
    struct call call = right_call();
    call.in = in;
    call.out = out;
    call.options = (table_scan_options){0};
    expect_all(call, TABLE_ERROR_OVERLAP, "in");
}

static void test_overlap(void **state) {
    uint64_t *const at = memory.in;
    const table_view whole = {at, ROWS, COLUMNS, 0, TABLE_U64};
    table_view other = whole;
    (void)state;
    other.data = at + 1; /* one element on */
    expect_overlap(whole, other);
    expect_overlap(other, whole);
    other.data = at + COLUMNS; /* one row on */
    expect_overlap(whole, other);
    expect_overlap(other, whole);
    other.data = at + ROWS * COLUMNS - 1; /* the last value alone */
    expect_overlap(whole, other);
    expect_overlap(other, whole);
    other = whole;
    other.stride = COLUMNS + 1; /* the same beginning, another stride */
    expect_overlap(whole, other);
    other = whole;
    other.type = TABLE_U32; /* the same beginning, another type */
    expect_overlap(other, whole);

    const table_view left = {at, ROWS, 3, 5, TABLE_U64};
    table_view right = {at + 2, ROWS, 3, 5, TABLE_U64}; /* windows that share a column */
    expect_overlap(left, right);
    expect_overlap(right, left);
    right.data = at + 3; /* the last of its columns is the other's first of the next row */
    expect_overlap(left, right);
    expect_overlap(right, left);
    const table_view bytes = {at, ROWS, 4, 20, TABLE_U32};
    const table_view words = {at + 1, ROWS, 4, 10, TABLE_U64}; /* the same bytes from row to row, shared columns */
    expect_overlap(bytes, words);
}

static void expect_no_overlap(table_view in, table_view out) {
    struct call call = right_call();
    call.options = (table_scan_options){0};
    assert_int_equal(table_prefix_sum(&in, &out, &call.options), TABLE_OK);
}

static void test_no_overlap(void **state) {
    uint64_t *const at = memory.in;
    const table_view whole = {at, ROWS, COLUMNS, 0, TABLE_U64};
    table_view other = whole;
    (void)state;
    expect_no_overlap(whole, whole); /* in place */
    other.stride = COLUMNS;          /* which is what 0 means */
    expect_no_overlap(whole, other);
    other.data = at + ROWS * COLUMNS; /* one behind the other */
    expect_no_overlap(whole, other);
    expect_no_overlap(other, whole);
    const table_view left = {at, ROWS, 2, 5, TABLE_U64}, right = {at + 2, ROWS, 2, 5, TABLE_U64};
    expect_no_overlap(left, right); /* side by side */
    expect_no_overlap(right, left);
    const table_view narrow = {at, ROWS, 2, 10, TABLE_U32}, wide = {at + 1, ROWS, 2, 5, TABLE_U64};
    expect_no_overlap(narrow, wide); /* side by side, of different types */
}

/* Whose stride says nothing, however large it is. */
static void test_one_row(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.rows = call.out.rows = 1;
    call.in.stride = call.out.stride = (size_t)1 << (CHAR_BIT * sizeof(size_t) - 3); /* times 8 bytes: 0 */
    call.out.data = call.in.data;
    assert_int_equal(table_prefix_sum(&call.in, &call.out, &call.options), TABLE_OK);
    call.out.data = memory.in + 2;
    expect_all(call, TABLE_ERROR_OVERLAP, "share memory");
}

static void test_rows_of_options_in_tables(void **state) {
    struct call call = right_call();
    (void)state;
    call.options.carry_in = memory.in + COLUMNS;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_in");
    call = right_call();
    call.options.carry_in = memory.out + ROWS * COLUMNS - 1;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_in");
    call = right_call();
    call.options.carry_out = memory.out + 3;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_out");
    call = right_call();
    call.options.carry_out = memory.in;
    expect_all(call, TABLE_ERROR_OVERLAP, "carry_out");
    call = right_call();
    call.options.first_overflow = memory.out + 5;
    expect_all(call, TABLE_ERROR_OVERLAP, "first_overflow");
    call = right_call();
    call.options.first_overflow = memory.in + 5;
    expect_all(call, TABLE_ERROR_OVERLAP, "first_overflow");
    call = right_call();
    call.options.first_overflow = memory.carry_out + 1;
    expect_all(call, TABLE_ERROR_OVERLAP, "first_overflow");
    keep();
    call.options = (table_scan_options){0};
    expect(table_column_totals(&call.in, TABLE_U64, memory.in + 4, NULL), TABLE_ERROR_OVERLAP, "totals and in",
           "table_column_totals");
}

static void test_too_large(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.rows = call.out.rows = SIZE_MAX / COLUMNS; /* rows x columns fits, times 8 bytes does not */
    expect_all(call, TABLE_ERROR_TOO_LARGE, "in");
    call = right_call();
    call.in.rows = call.out.rows = SIZE_MAX;
    expect_all(call, TABLE_ERROR_TOO_LARGE, "in");
    call = right_call();
    call.in.columns = call.out.columns = SIZE_MAX / 8;
    expect_all(call, TABLE_ERROR_TOO_LARGE, "in");
    call = right_call();
    call.in.rows = call.out.rows = 1;
    call.in.columns = call.out.columns = SIZE_MAX;
    expect_all(call, TABLE_ERROR_TOO_LARGE, "in");
    call = right_call();
    call.out.stride = SIZE_MAX / 16;
    expect_all(call, TABLE_ERROR_TOO_LARGE, "out");
    call = right_call(); /* an input that fits, and an output that does not */
    call.in.type = TABLE_U8;
    call.in.rows = call.out.rows = 1;
    call.in.columns = call.out.columns = SIZE_MAX / 8;
    expect_all(call, TABLE_ERROR_TOO_LARGE, "");
}

static void test_options_of_the_other_form(void **state) {
    struct call call = right_call();
    (void)state;
    call.options.report = &memory.report;
    expect_stream(call, TABLE_ERROR_ARGUMENT, "report");
    call = right_call();
    call.options.workspace = memory.workspace;
    expect_call(call, TABLE_ERROR_ARGUMENT, "workspace");
    call = right_call();
    call.options.workspace_bytes = 4096;
    expect_call(call, TABLE_ERROR_ARGUMENT, "workspace");
    call = right_call();
    call.options.stream = &memory;
    expect_call(call, TABLE_ERROR_ARGUMENT, "stream");
}

static void test_overflow_of_floats(void **state) {
    struct call call = right_call();
    (void)state;
    call.in.type = call.out.type = TABLE_F64;
    expect_all(call, TABLE_ERROR_ARGUMENT, "first_overflow");
}

static void test_options_not_for_totals(void **state) {
    struct call call = right_call();
    table_scan_options options = {.exclusive = 1};
    (void)state;
    keep();
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "exclusive",
           "table_column_totals");
    options = (table_scan_options){.carry_out = memory.carry_out};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "carry_out",
           "table_column_totals");
    options = (table_scan_options){.first_overflow = memory.overflow};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "first_overflow",
           "table_column_totals");
    options = (table_scan_options){.workspace = memory.workspace};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_ARGUMENT, "workspace",
           "table_column_totals");
}

static void test_workspace(void **state) {
    struct call call = right_call();
    size_t bytes = 0;
    (void)state;
    call.options.strategy = TABLE_STRATEGY_RECURSIVE;
    assert_int_equal(table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes), TABLE_OK);
    assert_in_range(bytes, 1, sizeof memory.workspace);
    keep();
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "workspace", "missing");
    call.options.workspace_bytes = bytes;
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "workspace", "missing");
    call.options.workspace = memory.workspace + TABLE_WORKSPACE_ALIGNMENT / 2;
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "aligned", "misaligned");
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = bytes - 1;
    expect(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_ERROR_WORKSPACE, "bytes", "too small");
    call.options.workspace_bytes = bytes;
    assert_int_equal(table_prefix_sum_async(&call.in, &call.out, &call.options), TABLE_OK);
}

static void test_cuda_is_not_there(void **state) {
    struct call call = right_call();
    const char *reason = table_cuda_unavailable();
    (void)state;
    call.options.backend = TABLE_BACKEND_CUDA;
    if (!reason)
        skip();
    assert_true(strlen(reason) > 0);
    expect_all(call, TABLE_ERROR_BACKEND, reason);
    keep();
    const table_scan_options options = {.backend = TABLE_BACKEND_CUDA};
    expect(table_column_totals(&call.in, TABLE_U64, memory.out, &options), TABLE_ERROR_BACKEND, reason, "totals");
    expect(table_stage2_scan_totals(&call.in, &options), TABLE_ERROR_BACKEND, reason, "stage 2");
}

static void test_stages(void **state) {
    struct call call = right_call();
    const table_view seeds = {memory.out, 2, COLUMNS, 0, TABLE_U64};
    table_view wrong;
    (void)state;
    assert_int_equal(table_seeds_rows(TABLE_U64, ROWS, COLUMNS), 2);
    call.out.data = memory.out + CELLS / 2;
    assert_int_equal(table_stage1_local_counts(&call.in, &seeds, NULL), TABLE_OK);
    assert_int_equal(table_stage2_scan_totals(&seeds, NULL), TABLE_OK);
    keep();
    expect(table_stage1_local_counts(NULL, &seeds, NULL), TABLE_ERROR_ARGUMENT, "in", "stage 1");
    expect(table_stage1_local_counts(&call.in, NULL, NULL), TABLE_ERROR_ARGUMENT, "seeds", "stage 1");
    expect(table_stage2_scan_totals(NULL, NULL), TABLE_ERROR_ARGUMENT, "seeds", "stage 2");
    expect(table_stage3_global_pass(NULL, &seeds, &call.out, NULL), TABLE_ERROR_ARGUMENT, "in", "stage 3");
    expect(table_stage3_global_pass(&call.in, NULL, &call.out, NULL), TABLE_ERROR_ARGUMENT, "seeds", "stage 3");
    expect(table_stage3_global_pass(&call.in, &seeds, NULL, NULL), TABLE_ERROR_ARGUMENT, "out", "stage 3");
    wrong = seeds;
    wrong.rows = 1;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 1");
    expect(table_stage3_global_pass(&call.in, &wrong, &call.out, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 3");
    wrong = seeds;
    wrong.columns = COLUMNS + 1;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 1");
    wrong = seeds;
    wrong.stride = COLUMNS + 1;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 1");
    expect(table_stage2_scan_totals(&wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 2");
    wrong = seeds;
    wrong.rows = 0;
    expect(table_stage2_scan_totals(&wrong, NULL), TABLE_ERROR_SHAPE, "seeds", "stage 2");
    wrong = seeds;
    wrong.type = TABLE_I64;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_TYPE, "i64", "stage 1");
    expect(table_stage3_global_pass(&call.in, &wrong, &call.out, NULL), TABLE_ERROR_TYPE, "i64", "stage 3");
    wrong.type = TABLE_U8;
    expect(table_stage2_scan_totals(&wrong, NULL), TABLE_ERROR_TYPE, "seeds->type is u8", "stage 2");
    wrong.type = (table_type)99;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_TYPE, "seeds->type 99", "stage 1");
    expect(table_column_totals(&call.in, (table_type)99, memory.out, NULL), TABLE_ERROR_TYPE, "out_type 99",
           "table_column_totals");
    wrong = seeds;
    wrong.data = memory.in + 2;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_OVERLAP, "seeds", "stage 1");
    wrong.data = memory.out + CELLS / 2 + 2;
    expect(table_stage3_global_pass(&call.in, &wrong, &call.out, NULL), TABLE_ERROR_OVERLAP, "seeds", "stage 3");
    wrong.data = (char *)memory.out + 4;
    expect(table_stage1_local_counts(&call.in, &wrong, NULL), TABLE_ERROR_ALIGNMENT, "seeds", "stage 1");
}

/* The sanitizers end a program that runs out of memory, and take memory of their own. */
static int memory_can_run_out(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#elif defined(__has_feature)
    return !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
    return 1;
#endif
}

/* Leaves this process no more than `bytes` of address space beyond what it has. */
static int limit_memory(size_t bytes) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        return -1;
    fclose(file);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    return setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

/* In a process of its own: 0 when all is as it should be. The table is one very wide row, so that the seeds are large.
 */
static int run_out_of_memory(table_strategy strategy) {
    const size_t columns = (size_t)1 << 24;
    uint8_t *in_data = mmap(NULL, columns, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *out_data = mmap(NULL, columns * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const table_view in = {in_data, 1, columns, 0, TABLE_U8}, out = {out_data, 1, columns, 0, TABLE_U64};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU, .strategy = strategy, .threads = 2};
    if (in_data == MAP_FAILED || out_data == MAP_FAILED || limit_memory((size_t)24 << 20) != 0)
        return 2;
    const table_status status = table_prefix_sum(&in, &out, &options);
    if (status != TABLE_ERROR_HOST_MEMORY) {
        printf("expected TABLE_ERROR_HOST_MEMORY, found %s\n", table_status_name(status));
        return 1;
    }
    return *table_error_detail() ? 0 : 3;
}

static void test_out_of_host_memory(void **state) {
    (void)state;
    if (!memory_can_run_out())
        skip();
    for (table_strategy strategy = TABLE_STRATEGY_HOST; strategy <= TABLE_STRATEGY_RECURSIVE; strategy++) {
        fflush(stdout);
        const pid_t child = fork();
        int ended = 0;
        assert_int_not_equal(child, -1);
        if (child == 0) {
            const int result = run_out_of_memory(strategy);
            fflush(stdout);
            _exit(result);
        }
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFEXITED(ended));
        assert_int_equal(WEXITSTATUS(ended), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_right_call),
        cmocka_unit_test(test_null_pointers),
        cmocka_unit_test(test_null_data_without_rows),
        cmocka_unit_test(test_unknown_values),
        cmocka_unit_test(test_type_pairs),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_rows_of_options_in_tables),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_options_of_the_other_form),
        cmocka_unit_test(test_overflow_of_floats),
        cmocka_unit_test(test_options_not_for_totals),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_cuda_is_not_there),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_out_of_host_memory),
    };
    return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
