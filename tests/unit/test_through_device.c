/* Host tables on a backend with memory of its own, in pieces, without a device: a backend that is the CPU's and says
 * that it has such memory. */
#include "backend.h"
#include "interrupt.h"
#include "run.h"
#include "support/random.h"
#include "support/tables.h"
#include "support/test.h"
#include "validate.h"

enum { ABOVE = 777, ROWS = 9000001 }; /* of f64: two pieces of 64 MiB */

static table_status copy_rows(const struct scan *scan, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t rows) {
    (void)scan;
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return TABLE_OK;
}

/* Work put on a stream of this backend is done at once, in the order of the calls. */
static unsigned followed;

static table_status mark(const struct scan *scan, unsigned number) {
    return number <= STAGES ? backend_cpu()->clock_mark(scan, number) : TABLE_OK;
}

static table_status follow(const struct scan *scan, const struct scan *before) {
    assert_ptr_not_equal(scan->in.data, before->in.data); /* a piece that may not have left yet */
    followed++;
    return TABLE_OK;
}

/* What a call has of the backend's memory, and the most that it had at a time. */
static struct {
    void *memory;
    size_t bytes;
} blocks[8];
static size_t live_bytes, most_bytes;

static table_status allocate(size_t bytes, void **memory) {
    size_t i = 0;
    while (blocks[i].memory)
        assert_in_range(++i, 0, sizeof blocks / sizeof *blocks - 1);
    const table_status status = backend_cpu()->allocate(bytes, memory);
    blocks[i].memory = *memory;
    blocks[i].bytes = bytes;
    live_bytes += bytes;
    most_bytes = live_bytes > most_bytes ? live_bytes : most_bytes;
    return status;
}

static void release(void *memory) {
    for (size_t i = 0; memory && i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].memory == memory) {
            live_bytes -= blocks[i].bytes;
            blocks[i].memory = NULL;
        }
    backend_cpu()->release(memory);
}

/* As the calls of prefix_sum.h for host tables on CUDA. */
static table_status scan_in_pieces(const table_view *in, const table_view *out, const table_scan_options *options,
                                   enum call_form form, table_report *report) {
    struct backend backend = *backend_cpu();
    struct call call;
    const table_status status = validate_scan(NULL, in, out, options, form, &call);
    backend.allocate = allocate;
    backend.release = release;
    backend.copy_rows = copy_rows;
    backend.clock_mark = mark;
    backend.follow = follow;
    call.backend = &backend;
    return status == TABLE_OK ? run_through_device(&call, report) : status;
}

struct tables {
    table_view above, in, out, expected;
    char *state, *other, row[8], start[8];
    size_t bytes;
};

static struct tables open_tables(table_type in_type, table_type type) {
    struct random random = {run_seed()};
    const size_t size = element_size(in_type);
    struct tables tables;
    char *values = get_memory((ABOVE + ROWS) * size);
    for (size_t i = 0; i < ABOVE + ROWS; i++)
        element_randomize(values + i * size, in_type, &random, PATTERN_BITS);
    element_randomize(tables.start, type, &random, PATTERN_BITS);
    tables.above = (table_view){values, ABOVE, 1, 0, in_type};
    tables.in = (table_view){values + ABOVE * size, ROWS, 1, 0, in_type};
    tables.out = (table_view){get_memory(ROWS * element_size(type)), ROWS, 1, 0, type};
    tables.expected = (table_view){get_memory(ROWS * element_size(type)), ROWS, 1, 0, type};
    assert_int_equal(table_state_bytes(type, 1, &tables.bytes), TABLE_OK);
    tables.state = get_memory(tables.bytes);
    tables.other = get_memory(tables.bytes);
    return tables;
}

static void close_tables(struct tables *tables) {
    free(tables->above.data);
    free(tables->out.data);
    free(tables->expected.data);
    free(tables->state);
    free(tables->other);
}

static void require_same(const struct tables *tables) {
    const size_t bytes = ROWS * element_size(tables->out.type);
    assert_int_equal(memcmp(tables->out.data, tables->expected.data, bytes), 0);
}

static int end_after(void *left) { return --*(int *)left == 0; }

/* Ended anywhere, a call leaves the state as it was, and no memory behind. */
static void require_canceled(const struct tables *tables, const table_scan_options *options) {
    char *const before = get_memory(tables->bytes);
    int left;
    memcpy(before, options->state, tables->bytes);
    interrupt_ask_ms = 0;
    table_set_interrupt((table_interrupt){end_after, &left});
    for (int last = 1; last < 10; last *= 3) {
        left = last;
        assert_int_equal(scan_in_pieces(&tables->in, &tables->out, options, CALL_AND_WAIT, NULL), TABLE_ERROR_CANCELED);
        assert_memory_equal(options->state, before, tables->bytes);
        assert_int_equal(left, 0);
        assert_int_equal(live_bytes, 0);
    }
    table_set_interrupt((table_interrupt){NULL, NULL});
    free(before);
}

/* A sum that has begun, and one that begins with a start and no state. */
static void check(table_type in_type, table_type type, bool exclusive) {
    struct tables tables = open_tables(in_type, type);
    const bool checked = !element_is_float(type);
    uint64_t found = 1, expected_found = 2;
    table_report report = {0};
    const table_scan_options above = {.state = tables.state};
    assert_int_equal(table_column_totals(&tables.above, type, NULL, &above), TABLE_OK);
    memcpy(tables.other, tables.state, tables.bytes);
    table_scan_options options = {.exclusive = exclusive,
                                  .state = tables.state,
                                  .carry_out = tables.row,
                                  .first_overflow = checked ? &expected_found : NULL};
    assert_int_equal(table_prefix_sum(&tables.in, &tables.expected, &options), TABLE_OK);
    char row[8];
    memcpy(row, tables.row, sizeof row);
    options.state = tables.other;
    options.first_overflow = checked ? &found : NULL;
    require_canceled(&tables, &options);
    options.report = &report;
    assert_int_equal(scan_in_pieces(&tables.in, &tables.out, &options, CALL_AND_WAIT, &report), TABLE_OK);
    require_same(&tables);
    assert_memory_equal(row, tables.row, element_size(type));
    assert_true(table_state_equal(tables.state, tables.other));
    assert_true(!checked || found == expected_found);
    assert_true(report.seconds > 0);

    options = (table_scan_options){.exclusive = exclusive, .carry_in = tables.start, .carry_out = tables.row};
    assert_int_equal(table_prefix_sum(&tables.in, &tables.expected, &options), TABLE_OK);
    memcpy(row, tables.row, sizeof row);
    assert_int_equal(scan_in_pieces(&tables.in, &tables.out, &options, CALL_AND_WAIT, NULL), TABLE_OK);
    require_same(&tables);
    assert_memory_equal(row, tables.row, element_size(type));

    memset(tables.row, 0, sizeof tables.row);
    options.exclusive = 0;
    const table_view nowhere = {.columns = 1, .type = type};
    assert_int_equal(scan_in_pieces(&tables.in, &nowhere, &options, CALL_FOR_TOTALS, NULL), TABLE_OK);
    assert_memory_equal(row, tables.row, element_size(type));
    /* Tables of one piece, and of none. */
    for (size_t rows = 0; rows < 1000; rows += 999) {
        tables.in.rows = tables.out.rows = tables.expected.rows = rows;
        assert_int_equal(table_prefix_sum(&tables.in, &tables.expected, &options), TABLE_OK);
        memcpy(row, tables.row, sizeof row);
        assert_int_equal(scan_in_pieces(&tables.in, &tables.out, &options, CALL_AND_WAIT, NULL), TABLE_OK);
        assert_memory_equal(tables.out.data, tables.expected.data, rows * element_size(type));
        assert_memory_equal(row, tables.row, element_size(type));
        memset(tables.row, 0, sizeof tables.row);
        assert_int_equal(scan_in_pieces(&tables.in, &nowhere, &options, CALL_FOR_TOTALS, NULL), TABLE_OK);
        assert_memory_equal(row, tables.row, element_size(type));
    }
    close_tables(&tables);
}

/* Rows in other orders, a row of offsets, NaN: as the CPU alone does it. `in` begins at row `place` of `out`, or lies
 * apart (-1). */
static void check_layout(table_type in_type, table_type type, bool reverse, bool turned, bool offsets, int place,
                         size_t rows) {
    const size_t size = element_size(type), in_size = element_size(in_type), all = rows + offsets;
    struct random random = {run_seed() + rows};
    const table_type sums = table_sum_type(type);
    char *values = get_memory(rows * in_size + 1), *one = get_memory(all * size), *two = get_memory(all * size + 1);
    uint64_t skipped[2] = {3, 4}, found[2] = {5, 6};
    char start[8] = {0}, last[2][8];
    for (size_t i = 0; i < rows; i++)
        element_randomize(values + i * in_size, in_type, &random, PATTERN_EXTREME);
    element_randomize(start, sums, &random, PATTERN_SMALL);
    for (int i = 0; i < 2; i++) {
        char *const results = i == 0 ? one : two + (place < 0);
        char *const from = place < 0 ? values : results + (size_t)place * size;
        table_view in = {from, rows, 1, 1, in_type}, out = {results, all, 1, 1, type};
        if (place >= 0)
            memcpy(from, values, rows * in_size);
        if (turned) {
            in.data = from + (rows - 1) * in_size;
            in.stride = -1;
        }
        if (turned && place >= 0) {
            out.data = results + (all - 1) * size;
            out.stride = -1;
        }
        const table_scan_options options = {.reverse = reverse,
                                            .offsets = offsets,
                                            .skip_nan = element_is_float(type),
                                            .skipped = element_is_float(type) ? &skipped[i] : NULL,
                                            .first_overflow = element_is_float(type) ? NULL : &found[i],
                                            .carry_in = start,
                                            .carry_out = last[i]};
        assert_int_equal(i == 0 ? table_prefix_sum(&in, &out, &options)
                                : scan_in_pieces(&in, &out, &options, CALL_AND_WAIT, NULL),
                         TABLE_OK);
    }
    assert_int_equal(memcmp(one, two + (place < 0), all * size), 0);
    assert_memory_equal(last[0], last[1], element_size(sums));
    if (element_is_float(type))
        assert_int_equal(skipped[0], skipped[1]);
    else
        assert_int_equal(found[0], found[1]);
    free(values);
    free(one);
    free(two);
}

TEST(test_layouts) {
    for (int which = 0; which < 8; which++) {
        check_layout(TABLE_F16, TABLE_F16, which & 1, which & 2, which & 4, -1, 3000);
        check_layout(TABLE_U8, TABLE_I32, which & 1, which & 2, which & 4, -1, 3000);
        check_layout(TABLE_I64, TABLE_I64, which & 1, which & 2, true, which >> 2, 3000);
    }
    check_layout(TABLE_F64, TABLE_F64, true, true, true, 1, ROWS);
    check_layout(TABLE_F64, TABLE_F64, true, false, true, 0, ROWS);
    check_layout(TABLE_I16, TABLE_I64, true, true, true, -1, ROWS);
}

TEST(test_integers) {
    check(TABLE_U32, TABLE_U64, false);
    assert_true(followed > 0);
}

TEST(test_floats) {
    check(TABLE_F64, TABLE_F64, false);
    check(TABLE_F32, TABLE_F64, true);
}

/* Rows so wide that pieces have fewer of them than a unit. */
static void check_wide(table_type in_type, table_type type, size_t rows, size_t columns, size_t most) {
    struct random random = {run_seed()};
    const size_t size = element_size(in_type), cells = rows * columns, bytes = cells * element_size(type);
    char *const values = get_memory(cells * size), *const expected = get_memory(bytes),
                *const found = get_memory(bytes);
    for (size_t i = 0; i < cells; i++)
        element_randomize(values + i * size, in_type, &random, PATTERN_SMALL);
    const table_view in = {values, rows, columns, 0, in_type};
    table_view out = {expected, rows, columns, 0, type};
    assert_int_equal(table_prefix_sum(&in, &out, NULL), TABLE_OK);
    out.data = found;
    most_bytes = 0;
    assert_int_equal(scan_in_pieces(&in, &out, NULL, CALL_AND_WAIT, NULL), TABLE_OK);
    assert_int_equal(memcmp(found, expected, bytes), 0);
    assert_int_equal(live_bytes, 0);
    assert_in_range(most_bytes, 1, most);
    free(values);
    free(expected);
    free(found);
}

TEST(test_wide_rows) {
    const size_t mib = 1 << 20;
    check_wide(TABLE_U8, TABLE_U32, 80, 1 << 20, 270 * mib);       /* 320 MiB of sums, 16 rows at a time */
    check_wide(TABLE_U8, TABLE_U64, 12, (1 << 22) + 1, 320 * mib); /* 384 MiB of sums, a row at a time */
    check_wide(TABLE_F32, TABLE_F32, 300, 1 << 18, 310 * mib);     /* 300 MiB: three states are more than all of it */
    check_wide(TABLE_F32, TABLE_F64, 300, 1 << 16, 310 * mib);
}

int main(void) { return run_all_tests("through_device", NULL); }
