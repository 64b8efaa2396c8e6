/* Streams have the bits of the whole table, however the input is cut; and every error. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#include "support/random.h"
#include "support/tables.h"

/* Both ends of a stream in memory, with what shall go wrong. */
struct ends {
    const char *in;
    size_t in_bytes, given;
    char *out;
    size_t out_bytes, taken;
    struct random random;
    bool cut;           /* reads are short */
    bool silent;        /* what fails does not say why */
    size_t fail_read;   /* reading fails at that byte; 0: never */
    size_t fail_write;  /* as writing does */
    size_t cancel_rows; /* progress() or look() says no after so many rows */
    uint64_t looked;    /* rows that look() was shown */
};

static int64_t read_memory(void *context, void *to, size_t bytes) {
    struct ends *ends = context;
    size_t count = ends->in_bytes - ends->given;
    count = count < bytes ? count : bytes;
    if (ends->cut && count > 0)
        count = random_once_in(&ends->random, 3) ? 1 : 1 + random_below(&ends->random, count);
    if (ends->fail_read && ends->given + count > ends->fail_read) {
        errno = ends->silent ? errno : EIO;
        count = ends->fail_read - ends->given;
        if (count == 0)
            return -1;
    }
    memcpy(to, ends->in + ends->given, count);
    ends->given += count;
    return (int64_t)count;
}

static int write_memory(void *context, const void *from, size_t bytes) {
    struct ends *ends = context;
    if ((ends->fail_write && ends->taken + bytes > ends->fail_write) || ends->taken + bytes > ends->out_bytes) {
        errno = ends->silent ? errno : ENOSPC;
        return -1;
    }
    memcpy(ends->out + ends->taken, from, bytes);
    ends->taken += bytes;
    return 0;
}

static int look(void *context, uint64_t row, const table_view *in, const table_view *out) {
    struct ends *ends = context;
    assert_int_equal(row, ends->looked);
    assert_int_equal(in->rows, out->rows);
    ends->looked += in->rows;
    return ends->cancel_rows && ends->looked > ends->cancel_rows;
}

struct kind {
    table_type in, out;
};
static const struct kind kinds[] = {{TABLE_U8, TABLE_U64},  {TABLE_U16, TABLE_U32}, {TABLE_U32, TABLE_U32},
                                    {TABLE_I32, TABLE_I64}, {TABLE_F32, TABLE_F32}, {TABLE_F32, TABLE_F64},
                                    {TABLE_F64, TABLE_F64}, {TABLE_U64, TABLE_U64}};

struct wide {
    char *packed, *padded, *expected, *found, *carry_in, *carry_out, *stream_carry;
    size_t in_bytes, out_bytes, stride; /* of a row */
};

static void *room(size_t bytes) {
    void *memory = calloc(1, bytes + 64);
    assert_non_null(memory);
    return memory;
}

static struct wide make_table(struct random *random, struct kind kind, size_t rows, size_t columns) {
    struct wide wide = {.in_bytes = columns * table_type_size(kind.in),
                        .out_bytes = columns * table_type_size(kind.out)};
    wide.stride = wide.in_bytes + (random_once_in(random, 3) ? random_below(random, 9) : 0);
    wide.packed = room(rows * wide.in_bytes);
    wide.padded = room(rows * wide.stride);
    wide.expected = room(rows * wide.out_bytes);
    wide.found = room(rows * wide.out_bytes);
    wide.carry_in = room(wide.out_bytes);
    wide.carry_out = room(wide.out_bytes);
    wide.stream_carry = room(wide.out_bytes);
    for (size_t j = 0; j < columns; j++)
        element_randomize(wide.carry_in + j * table_type_size(kind.out), kind.out, random, PATTERN_SMALL);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++)
            element_randomize(wide.packed + i * wide.in_bytes + j * table_type_size(kind.in), kind.in, random,
                              PATTERN_SMALL);
        memset(wide.padded + i * wide.stride, 0xa5, wide.stride);
        memcpy(wide.padded + i * wide.stride, wide.packed + i * wide.in_bytes, wide.in_bytes);
    }
    return wide;
}

static void free_table(struct wide *wide) {
    free(wide->packed);
    free(wide->padded);
    free(wide->expected);
    free(wide->found);
    free(wide->carry_in);
    free(wide->carry_out);
    free(wide->stream_carry);
}

/* With which there is one slot, and room for one row in it. The error of less memory says it. */
static size_t least_memory(table_stream_options options) {
    size_t needed = 0;
    table_stream_report report;
    options.memory = 1;
    options.report = &report;
    assert_int_equal(table_stream(&options), TABLE_ERROR_ARGUMENT);
    const char *said = strstr(table_error_detail(), " needs ");
    assert_true(said && sscanf(said, " needs %zu", &needed) == 1);
    assert_int_equal(report.memory, needed);
    return needed;
}

static void try_table(struct random *random, struct kind kind, size_t rows, size_t columns) {
    struct wide wide = make_table(random, kind, rows, columns);
    const bool is_float = element_is_float(kind.out);
    const bool carried = random_once_in(random, 2), known = random_once_in(random, 2);
    uint64_t overflow = 1, stream_overflow = 2;
    table_scan_options scan = {.exclusive = random_once_in(random, 3),
                               .carry_in = carried ? wide.carry_in : NULL,
                               .carry_out = wide.carry_out,
                               .first_overflow = is_float ? NULL : &overflow};
    const table_view in = {wide.packed, rows, columns, 0, kind.in}, out = {wide.expected, rows, columns, 0, kind.out};
    assert_int_equal(table_prefix_sum(&in, &out, &scan), TABLE_OK);

    const size_t short_by = rows > 0 ? random_below(random, wide.stride - wide.in_bytes + 1) : 0;
    struct ends ends = {.in = wide.padded,
                        .in_bytes = rows * wide.stride - short_by,
                        .out = wide.found,
                        .out_bytes = rows * wide.out_bytes,
                        .random = {random_bits(random)},
                        .cut = random_once_in(random, 2)};
    table_stream_report report;
    table_stream_options options = {.in_type = kind.in,
                                    .out_type = kind.out,
                                    .columns = columns,
                                    .in_row_bytes = wide.stride == wide.in_bytes ? 0 : wide.stride,
                                    .rows = known ? rows : 0,
                                    .read = read_memory,
                                    .read_context = &ends,
                                    .write = write_memory,
                                    .write_context = &ends,
                                    .look = look,
                                    .look_context = &ends,
                                    .scan = scan,
                                    .report = &report};
    if (random_once_in(random, 3)) {
        options.first = wide.padded;
        options.first_bytes = ends.given = random_below(random, ends.in_bytes + 1);
    }
    options.scan.carry_out = wide.stream_carry;
    options.scan.first_overflow = is_float ? NULL : &stream_overflow;
    table_status status = table_stream(&options);
    if (status == TABLE_OK && random_once_in(random, 2)) {
        options.memory = least_memory(options);
        ends.given = options.first_bytes;
        ends.taken = ends.looked = 0;
        memset(wide.found, 0, rows * wide.out_bytes);
        status = table_stream(&options);
    }
    if (status != TABLE_OK)
        fail_msg("%zu x %zu: %s", rows, columns, table_error_detail());
    assert_int_equal(ends.taken, rows * wide.out_bytes);
    assert_int_equal(ends.looked, rows);
    assert_int_equal(report.rows, rows);
    assert_memory_equal(wide.found, wide.expected, rows * wide.out_bytes);
    assert_memory_equal(wide.stream_carry, wide.carry_out, wide.out_bytes);
    if (!is_float)
        assert_int_equal(stream_overflow, overflow);
    free_table(&wide);
}

static void test_all_cuts(void **state) {
    struct random random = {run_seed()};
    const size_t many = run_small() ? 3000 : 60000;
    (void)state;
    for (unsigned round = 0; round < 60 * run_rounds() / run_few() + 1; round++)
        for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const size_t columns = 1 + random_below(&random, random_once_in(&random, 4) ? 300 : 9);
            try_table(&random, kinds[k], random_below(&random, random_once_in(&random, 4) ? many / columns : 1200),
                      columns);
        }
}

/* One stream after the other, with a state of the caller's, cut at any row; the second one in little memory. */
static void test_streams_that_go_on(void **state) {
    struct random random = {run_seed()};
    (void)state;
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct kind kind = kinds[k];
        const size_t rows = 1 + random_below(&random, 5000), columns = 1 + random_below(&random, 5);
        const size_t cut = random_below(&random, rows);
        struct wide wide = make_table(&random, kind, rows, columns);
        const table_view in = {wide.packed, rows, columns, 0, kind.in},
                         out = {wide.expected, rows, columns, 0, kind.out};
        uint64_t overflow = 0, found = TABLE_NO_OVERFLOW, summed = 0;
        const bool is_float = element_is_float(kind.out);
        table_scan_options scan = {.carry_in = wide.carry_in, .first_overflow = is_float ? NULL : &overflow};
        size_t bytes;
        assert_int_equal(table_prefix_sum(&in, &out, &scan), TABLE_OK);
        assert_int_equal(table_state_bytes(kind.out, columns, &bytes), TABLE_OK);
        scan.state = room(bytes);
        for (unsigned part = 0; part < 2; part++) {
            const size_t first = part ? cut : 0, count = part ? rows - cut : cut;
            struct ends ends = {.in = wide.packed + first * wide.in_bytes,
                                .in_bytes = count * wide.in_bytes,
                                .out = wide.found + first * wide.out_bytes,
                                .out_bytes = count * wide.out_bytes,
                                .cut = true};
            table_stream_options options = {.in_type = kind.in,
                                            .out_type = kind.out,
                                            .columns = columns,
                                            .read = read_memory,
                                            .read_context = &ends,
                                            .write = write_memory,
                                            .write_context = &ends,
                                            .memory = part ? 20000 : 0,
                                            .scan = scan};
            options.scan.carry_in = part ? NULL : wide.carry_in;
            options.scan.first_overflow = is_float ? NULL : &found;
            if (table_stream(&options) != TABLE_OK)
                fail_msg("%s", table_error_detail());
            if (found != TABLE_NO_OVERFLOW && overflow != found) /* counted from the first row of all */
                fail_msg("overflow at %llu, found at %llu", (unsigned long long)overflow, (unsigned long long)found);
        }
        assert_int_equal(table_state_rows(scan.state, &summed), TABLE_OK);
        assert_int_equal(summed, rows);
        assert_memory_equal(wide.found, wide.expected, rows * wide.out_bytes);
        free(scan.state);
        free_table(&wide);
    }
}

/* More than all slots hold, so that each of them is used again. */
static void test_many_slots(void **state) {
    struct random random = {run_seed()};
    (void)state;
    try_table(&random, kinds[4], run_small() ? 100000 : 1200000, 4);
    try_table(&random, kinds[2], run_small() ? 100000 : 2500000, 3);
}

enum { ROWS = 700000, ROW = 8, SUMS = 16 };

static table_stream_options small_stream(struct ends *ends) {
    static char in[ROWS * ROW], out[ROWS * SUMS];
    memset(in, 1, sizeof in);
    *ends = (struct ends){.in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out};
    return (table_stream_options){.in_type = TABLE_U32,
                                  .out_type = TABLE_U64,
                                  .columns = 2,
                                  .read = read_memory,
                                  .read_context = ends,
                                  .write = write_memory,
                                  .write_context = ends};
}

static void expect(const table_stream_options *options, table_status status, const char *detail) {
    const table_status found = table_stream(options);
    if (found != status || !strstr(table_error_detail(), detail))
        fail_msg("%s and \"%s\" expected, found %s: %s", table_status_name(status), detail, table_status_name(found),
                 table_error_detail());
}

static void test_wrong_options(void **state) {
    struct ends ends;
    const table_stream_options right = small_stream(&ends);
    uint64_t place;
    (void)state;
    expect(NULL, TABLE_ERROR_ARGUMENT, "options");
    table_stream_options wrong = right;
    wrong.read = NULL;
    wrong.read_descriptor = -1;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "read_descriptor");
    wrong = right;
    wrong.write = NULL;
    wrong.write_descriptor = -1;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "write_descriptor");
    wrong = right;
    wrong.first_bytes = 3;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "first");
    wrong = right;
    wrong.in_row_bytes = 7;
    expect(&wrong, TABLE_ERROR_SHAPE, "in_row_bytes is 7");
    wrong = right;
    wrong.out_type = TABLE_F32;
    expect(&wrong, TABLE_ERROR_TYPE, "");
    wrong = right;
    wrong.rows = UINT64_MAX;
    expect(&wrong, TABLE_ERROR_TOO_LARGE, "rows");
    wrong = right;
    wrong.columns = SIZE_MAX / 8;
    expect(&wrong, TABLE_ERROR_TOO_LARGE, "");
    wrong = right;
    wrong.memory = 100;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "memory is 100 bytes");
    wrong = right;
    wrong.scan.workspace_bytes = 1;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "workspace");
    wrong = right;
    wrong.scan.tables = 2; /* the carry out would have two rows */
    expect(&wrong, TABLE_ERROR_ARGUMENT, "scan.tables is not for");
    wrong = right;
    wrong.scan.offsets = 2;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "scan.offsets is 2");
    wrong.scan.offsets = wrong.scan.exclusive = 1;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "offsets and exclusive");
    wrong = right;
    wrong.in_type = wrong.out_type = TABLE_F32;
    wrong.scan.first_overflow = &place;
    expect(&wrong, TABLE_ERROR_ARGUMENT, "first_overflow");
    assert_int_equal(ends.given, 0);
    assert_int_equal(ends.taken, 0);
}

/* The rows before a failure are written. */
static void test_failing_reads(void **state) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    (void)state;
    options.report = &report;
    ends.fail_read = 4000003;
    expect(&options, TABLE_ERROR_READ, "byte 4000003: Input/output error");
    assert_int_equal(ends.taken, 500000 * SUMS);
    assert_false(report.ended);
    options = small_stream(&ends);
    options.report = &report;
    ends.in_bytes = 4000003;
    expect(&options, TABLE_ERROR_READ, "byte 4000003, within row 500000, of which 3 of 8 bytes");
    assert_int_equal(ends.taken, 500000 * SUMS);
    assert_true(report.ended);
    assert_int_equal(report.bytes_read, 4000003);
    options = small_stream(&ends);
    options.rows = ROWS + 1;
    expect(&options, TABLE_ERROR_READ, "after 700000 of 700001 rows");
    assert_int_equal(ends.taken, ROWS * SUMS);
    options = small_stream(&ends);
    ends.fail_read = 4000003;
    ends.silent = true;
    errno = EPERM;
    expect(&options, TABLE_ERROR_READ, "byte 4000003: the callback does not say why");
    options = small_stream(&ends);
    options.rows = ROWS - 1;
    expect(&options, TABLE_OK, "");
    assert_int_equal(ends.given, (ROWS - 1) * ROW);
}

static int say_no(void *context, const table_stream_report *so_far) {
    const struct ends *ends = context;
    return so_far->rows > ends->cancel_rows;
}

static void test_failing_writes(void **state) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    (void)state;
    options.report = &report;
    ends.fail_write = 8000000;
    expect(&options, TABLE_ERROR_WRITE, "No space left");
    assert_int_equal(ends.taken, report.bytes_written);
    assert_in_range(ends.taken, 0, 8000000);
    assert_true(report.seconds > 0);
    ends.silent = true;
    expect(&options, TABLE_ERROR_WRITE, ": the callback does not say why");
}

static void test_cancel(void **state) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    (void)state;
    options.report = &report;
    options.progress = say_no;
    options.progress_context = &ends;
    ends.cancel_rows = 100000;
    expect(&options, TABLE_ERROR_CANCELED, "progress()");
    assert_int_equal(ends.taken, report.rows * SUMS);
    options = small_stream(&ends);
    options.look = look;
    options.look_context = &ends;
    ends.cancel_rows = 100000;
    expect(&options, TABLE_ERROR_CANCELED, "look()");
    assert_true(ends.taken < ends.looked * SUMS);
}

struct echo {
    int to;
    unsigned rows, wanted;
    uint32_t expected;
};

/* The sums of a row bring the next one, which comes only if none is kept back. */
static int write_and_feed(void *context, const void *from, size_t bytes) {
    struct echo *echo = context;
    uint32_t sum;
    for (size_t i = 0; i + sizeof sum <= bytes; i += sizeof sum) {
        memcpy(&sum, (const char *)from + i, sizeof sum);
        echo->expected += echo->rows + 1;
        if (sum != echo->expected)
            return -1;
        echo->rows++;
    }
    if (echo->rows == echo->wanted)
        return close(echo->to);
    const uint32_t next = echo->rows + 1;
    return write(echo->to, &next, sizeof next) == sizeof next ? 0 : -1;
}

static void trickle(uint64_t rows, unsigned threads) {
    int ends[2];
    const uint32_t first = 1;
    struct echo echo = {.wanted = 20};
    assert_int_equal(pipe(ends), 0);
    echo.to = ends[1];
    assert_int_equal(write(ends[1], &first, sizeof first), sizeof first);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    const table_stream_options options = {.in_type = TABLE_U32,
                                          .out_type = TABLE_U32,
                                          .columns = 1,
                                          .rows = rows,
                                          .read_descriptor = ends[0],
                                          .write = write_and_feed,
                                          .write_context = &echo,
                                          .scan.threads = threads};
    expect(&options, TABLE_OK, "");
    assert_int_equal(echo.rows, 20);
    close(ends[0]);
}

/* Also where it is known that there are fewer of them than a state has: they are not waited for either. With two
 * threads that sum the stream has threads that read and sum, too. */
static void test_rows_that_trickle(void **state) {
    (void)state;
    for (unsigned threads = 0; threads < 3; threads += 2) {
        trickle(0, threads);
        trickle(20, threads);
    }
}

static int never(void *context, const table_stream_report *so_far) {
    (void)context;
    (void)so_far;
    return 1;
}

/* A read that waits for ever does not keep a stream from ending. */
static void test_cancel_while_nothing_comes(void **state) {
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    table_stream_options options = {.in_type = TABLE_U32,
                                    .out_type = TABLE_U32,
                                    .columns = 1,
                                    .read_descriptor = ends[0],
                                    .write_descriptor = ends[1],
                                    .progress = never};
    expect(&options, TABLE_ERROR_CANCELED, "progress()");
    options.scan.threads = 2; /* and so with threads that read and sum */
    expect(&options, TABLE_ERROR_CANCELED, "progress()");
    options.rows = 20; /* as one piece, and by one buffer */
    expect(&options, TABLE_ERROR_CANCELED, "progress()");
    options.memory = least_memory(options);
    expect(&options, TABLE_ERROR_CANCELED, "progress()");
    close(ends[0]);
    close(ends[1]);
}

struct drops {
    int to;
    unsigned bytes;
};

static void *let_drop(void *argument) {
    const struct drops *drops = argument;
    const struct timespec while_waiting = {.tv_nsec = 60000000};
    for (unsigned i = 0; i < drops->bytes; i++) {
        nanosleep(&while_waiting, NULL);
        if (write(drops->to, "\1", 1) != 1)
            break;
    }
    return NULL;
}

static int count_calls(void *context, const table_stream_report *so_far) {
    unsigned *calls = context;
    (void)so_far;
    return ++calls[0] == calls[1];
}

/* Bytes that come so often that the wait for the next one is never long, and so slowly that a row takes a second. */
static void test_progress_while_bytes_drop(void **state) {
    (void)state;
    for (unsigned threads = 0; threads < 3; threads += 2)
        for (unsigned end = 0; end < 4; end += 3) { /* the call that says no; 0: none does */
            unsigned calls[2] = {0, end};
            struct ends memory = {.out = (char[16]){0}, .out_bytes = 16};
            int ends[2];
            pthread_t writer;
            assert_int_equal(pipe(ends), 0);
            struct drops drops = {ends[1], 16};
            assert_int_equal(pthread_create(&writer, NULL, let_drop, &drops), 0);
            const table_stream_options options = {.in_type = TABLE_F64,
                                                  .out_type = TABLE_F64,
                                                  .columns = 2,
                                                  .rows = 1,
                                                  .read_descriptor = ends[0],
                                                  .write = write_memory,
                                                  .write_context = &memory,
                                                  .progress = count_calls,
                                                  .progress_context = calls,
                                                  .scan.threads = threads};
            expect(&options, end ? TABLE_ERROR_CANCELED : TABLE_OK, "");
            pthread_join(writer, NULL);
            assert_int_equal(memory.taken, end ? 0 : 16);
            assert_in_range(calls[0], end ? end : 4, end ? end : 16);
            close(ends[0]);
            close(ends[1]);
        }
}

struct canceled {
    table_stream_options options;
    table_status status;
};

static void *stream_while_canceled(void *argument) {
    struct canceled *canceled = argument;
    if (pthread_cancel(pthread_self()) == 0)
        canceled->status = table_stream(&canceled->options);
    pthread_testcancel();
    return NULL;
}

/* A thread that is to end does so behind the call. */
static void test_no_cancellation_point(void **state) {
    struct ends ends;
    struct canceled canceled = {.options = small_stream(&ends), .status = TABLE_ERROR_READ};
    FILE *in = tmpfile(), *out = tmpfile();
    pthread_t thread;
    void *result = NULL;
    (void)state;
    assert_true(in && out);
    assert_int_equal(fwrite(ends.in, ROW, 1000, in), 1000);
    assert_int_equal(fflush(in), 0);
    rewind(in);
    canceled.options.read = NULL;
    canceled.options.write = NULL;
    canceled.options.read_descriptor = fileno(in);
    canceled.options.write_descriptor = fileno(out);
    canceled.options.rows = 1000; /* one piece, which the calling thread reads */
    assert_int_equal(pthread_create(&thread, NULL, stream_while_canceled, &canceled), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(canceled.status, TABLE_OK);
    assert_int_equal(lseek(fileno(out), 0, SEEK_CUR), 1000 * SUMS);
    fclose(in);
    fclose(out);
}

/* A small table of a file is one piece, without a state: also that has no more memory than it may. */
static void test_memory_of_one_piece(void **state) {
    enum { COLUMNS = 1000, FEW = 3 };
    FILE *in = tmpfile();
    char *row = room(COLUMNS * sizeof(double));
    size_t succeeded = 0, least = 0;
    (void)state;
    assert_non_null(in);
    for (unsigned i = 0; i < FEW; i++)
        assert_int_equal(fwrite(row, sizeof(double), COLUMNS, in), COLUMNS);
    assert_int_equal(fflush(in), 0);
    for (size_t memory = 40000; memory < 100000; memory += 500) {
        struct ends ends = {.out = room(FEW * COLUMNS * sizeof(double)), .out_bytes = FEW * COLUMNS * sizeof(double)};
        table_stream_report report = {0};
        const table_stream_options options = {.in_type = TABLE_F64,
                                              .out_type = TABLE_F64,
                                              .columns = COLUMNS,
                                              .rows = FEW,
                                              .read_descriptor = fileno(in),
                                              .write = write_memory,
                                              .write_context = &ends,
                                              .memory = memory,
                                              .report = &report};
        assert_int_equal(lseek(fileno(in), 0, SEEK_SET), 0);
        const table_status status = table_stream(&options);
        least = status == TABLE_OK ? least : report.memory;
        assert_int_equal(status == TABLE_OK, memory >= least);
        if (status == TABLE_OK) {
            succeeded++;
            assert_in_range(report.memory, 2 * FEW * COLUMNS * sizeof(double), memory);
        }
        free(ends.out);
    }
    assert_in_range(succeeded, 50, 119);
    fclose(in);
    free(row);
}

/* No limit is as none: what a stream of a file keeps does not grow with it, nor with the rows that are promised. */
static void test_memory_without_limit(void **state) {
    const uint64_t rows[] = {0, ROWS,
                             UINT64_MAX / (ROW + SUMS) + 1}; /* the last ones and their sums fit in no size_t */
    FILE *in = tmpfile();
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    (void)state;
    assert_non_null(in);
    assert_int_equal(fwrite(ends.in, 1, ends.in_bytes, in), ends.in_bytes);
    assert_int_equal(fflush(in), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t kept[2];
        for (int limit = 0; limit < 2; limit++) {
            table_stream_report report;
            options = small_stream(&ends);
            options.read = NULL;
            options.read_descriptor = fileno(in);
            options.rows = rows[i];
            options.memory = limit ? SIZE_MAX : 0;
            options.report = &report;
            assert_int_equal(lseek(fileno(in), 0, SEEK_SET), 0);
            expect(&options, i < 2 ? TABLE_OK : TABLE_ERROR_READ, i < 2 ? "" : "after 700000 of ");
            assert_int_equal(ends.taken, ROWS * SUMS);
            kept[limit] = report.memory;
        }
        assert_int_equal(kept[0], kept[1]);
    }
    fclose(in);
}

struct files {
    FILE *in, *out;
    char *found; /* what is in `out`, as it is read */
};
enum { ABOVE = 13 }; /* bytes of another matter before the tables */

static struct files open_files(const char *bytes, size_t count, size_t out_bytes) {
    struct files files = {tmpfile(), tmpfile(), room(ABOVE + out_bytes)};
    assert_true(files.in && files.out);
    assert_int_equal(fwrite("thirteen bytes", 1, ABOVE, files.in), ABOVE);
    assert_int_equal(fwrite(bytes, 1, count, files.in), count);
    assert_int_equal(fflush(files.in), 0);
    return files;
}

static void close_files(struct files *files) {
    fclose(files->in);
    fclose(files->out);
    free(files->found);
}

/* From the last row on, and with a row of offsets, as one call does it: in two streams with a state, of which the first
 * one takes the rows that come first in that direction. */
static void try_files(struct random *random, struct kind kind, bool reverse, bool offsets) {
    const size_t rows = 1 + random_below(random, 5000), columns = 1 + random_below(random, 5);
    const size_t cut = random_once_in(random, 2) ? rows : 1 + random_below(random, rows);
    const bool is_float = element_is_float(kind.out);
    struct wide wide = make_table(random, kind, rows, columns);
    uint64_t overflow = 1, found = TABLE_NO_OVERFLOW;
    const size_t all = rows + offsets, short_by = wide.stride - wide.in_bytes;
    char *expected = room(all * wide.out_bytes);
    const table_view in = {wide.packed, rows, columns, 0, kind.in}, out = {expected, all, columns, 0, kind.out};
    struct files files = open_files(wide.padded, rows * wide.stride - short_by, all * wide.out_bytes);
    table_scan_options scan = {.reverse = reverse,
                               .offsets = offsets,
                               .exclusive = !offsets && random_once_in(random, 2),
                               .carry_in = wide.carry_in,
                               .carry_out = wide.carry_out,
                               .first_overflow = is_float ? NULL : &overflow};
    size_t bytes;
    assert_int_equal(table_prefix_sum(&in, &out, &scan), TABLE_OK);
    assert_int_equal(table_state_bytes(kind.out, columns, &bytes), TABLE_OK);
    scan.carry_out = wide.stream_carry;
    scan.first_overflow = is_float ? NULL : &found;
    scan.state = cut < rows || random_once_in(random, 2) ? room(bytes) : NULL;
    for (size_t done = 0, count = cut; done < rows; done += count, count = rows - done) {
        const size_t first = reverse ? rows - done - count : done;
        const size_t to = first + (offsets && !reverse && done > 0); /* behind the row of offsets */
        table_stream_report report;
        const table_stream_options options = {.in_type = kind.in,
                                              .out_type = kind.out,
                                              .columns = columns,
                                              .in_row_bytes = wide.stride,
                                              .rows = count,
                                              .read_descriptor = fileno(files.in),
                                              .write_descriptor = fileno(files.out),
                                              .memory = random_once_in(random, 2) ? 40000 : 0,
                                              .scan = scan,
                                              .report = &report};
        const off_t from = ABOVE + (off_t)(first * wide.stride), at = ABOVE + (off_t)(to * wide.out_bytes);
        assert_int_equal(lseek(fileno(files.in), from, SEEK_SET), from);
        assert_int_equal(lseek(fileno(files.out), at, SEEK_SET), at);
        expect(&options, TABLE_OK, "");
        assert_int_equal(report.rows, count);
        assert_int_equal(report.bytes_written, (count + (size_t)scan.offsets) * wide.out_bytes);
        assert_int_equal(lseek(fileno(files.out), 0, SEEK_CUR), at + (off_t)report.bytes_written);
        if (!reverse || short_by == 0)
            assert_in_range(lseek(fileno(files.in), 0, SEEK_CUR), from + (off_t)(count * wide.stride - short_by),
                            from + (off_t)(count * wide.stride));
        scan.carry_in = NULL;
        scan.offsets = 0;
    }
    assert_int_equal(pread(fileno(files.out), files.found, ABOVE + all * wide.out_bytes + 1, 0),
                     ABOVE + all * wide.out_bytes);
    assert_memory_equal(files.found + ABOVE, expected, all * wide.out_bytes);
    assert_memory_equal(wide.stream_carry, wide.carry_out, wide.out_bytes);
    assert_true(is_float || found == overflow);
    close_files(&files);
    free(scan.state);
    free(expected);
    free_table(&wide);
}

static void test_directions(void **state) {
    struct random random = {run_seed()};
    (void)state;
    for (unsigned round = 0; round < 20 * run_rounds() / run_few() + 1; round++)
        for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
            try_files(&random, kinds[k], round & 1, round & 2);
}

/* What cannot be positioned, and a file that is shorter than it should be. */
static void test_wrong_directions(void **state) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    struct files files = open_files(ends.in, 1000 * ROW, 0);
    int pipes[2];
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    options.scan.reverse = 2;
    expect(&options, TABLE_ERROR_ARGUMENT, "reverse is 2");
    options.scan.reverse = 1;
    expect(&options, TABLE_ERROR_ARGUMENT, "rows is 0");
    options.rows = 1000;
    expect(&options, TABLE_ERROR_ARGUMENT, "read is given");
    options.read = NULL;
    options.read_descriptor = pipes[0];
    expect(&options, TABLE_ERROR_ARGUMENT, "write is given");
    options.write = NULL;
    options.write_descriptor = fileno(files.out);
    expect(&options, TABLE_ERROR_ARGUMENT, "read_descriptor cannot");
    options.read_descriptor = fileno(files.in);
    options.write_descriptor = pipes[1];
    expect(&options, TABLE_ERROR_ARGUMENT, "write_descriptor cannot");
    options.write_descriptor = fileno(files.out);
    options.first = ends.in;
    options.first_bytes = ROW;
    expect(&options, TABLE_ERROR_ARGUMENT, "first is given");
    options.first_bytes = 0;
    options.rows = UINT64_MAX / ROW;
    expect(&options, TABLE_ERROR_TOO_LARGE, "");
    options.rows = 1000;
    assert_int_equal(fcntl(options.write_descriptor, F_SETFL, O_APPEND), 0);
    expect(&options, TABLE_ERROR_ARGUMENT, "written anywhere");
    assert_int_equal(fcntl(options.write_descriptor, F_SETFL, 0), 0);
    assert_int_equal(lseek(fileno(files.in), ABOVE + 8, SEEK_SET), ABOVE + 8);
    expect(&options, TABLE_ERROR_READ, "byte 7992: the input ends before it");
    assert_int_equal(lseek(fileno(files.in), ABOVE, SEEK_SET), ABOVE);
    expect(&options, TABLE_OK, "");
    close(pipes[0]);
    close(pipes[1]);
    close_files(&files);
}

/* Rows without columns: none is read, and a state counts them. */
static void test_no_columns(void **state) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    uint64_t rows = 0, place = 0;
    size_t bytes;
    (void)state;
    options.columns = 0;
    options.report = &report;
    expect(&options, TABLE_OK, "");
    assert_int_equal(report.rows, 0);
    assert_int_equal(table_state_bytes(TABLE_U64, 0, &bytes), TABLE_OK);
    options.scan.state = room(bytes);
    options.scan.first_overflow = &place;
    options.rows = 77;
    expect(&options, TABLE_OK, "");
    assert_int_equal(report.rows, 77);
    assert_true(place == TABLE_NO_OVERFLOW);
    assert_int_equal(table_state_rows(options.scan.state, &rows), TABLE_OK);
    assert_int_equal(rows, 77);
    assert_int_equal(ends.given + ends.taken, 0);
    free(options.scan.state);
}

/* From a file to a file; from a folder, which nothing can be read from; to a file that nothing can be written to. */
static void test_descriptors(void **state) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    FILE *in = tmpfile(), *out = tmpfile();
    char *found = room(ROWS * SUMS);
    (void)state;
    assert_true(in && out);
    assert_int_equal(fwrite(ends.in, 1, ends.in_bytes, in), ends.in_bytes);
    assert_int_equal(fflush(in), 0);
    assert_int_equal(lseek(fileno(in), 0, SEEK_SET), 0);
    expect(&options, TABLE_OK, "");
    options.read = NULL;
    options.write = NULL;
    options.read_descriptor = fileno(in);
    options.write_descriptor = fileno(out);
    expect(&options, TABLE_OK, "");
    assert_int_equal(pread(fileno(out), found, ROWS * SUMS, 0), ROWS * SUMS);
    assert_memory_equal(found, ends.out, ROWS * SUMS);
    options.write_descriptor = open("/dev/full", O_WRONLY);
    assert_int_equal(lseek(fileno(in), 0, SEEK_SET), 0);
    expect(&options, TABLE_ERROR_WRITE, "byte 0 on: No space left");
    options.read_descriptor = open("/", O_RDONLY);
    expect(&options, TABLE_ERROR_READ, "byte 0: Is a directory");
    close(options.read_descriptor);
    close(options.write_descriptor);
    fclose(in);
    fclose(out);
    free(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_cuts),
        cmocka_unit_test(test_many_slots),
        cmocka_unit_test(test_streams_that_go_on),
        cmocka_unit_test(test_wrong_options),
        cmocka_unit_test(test_failing_reads),
        cmocka_unit_test(test_failing_writes),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_rows_that_trickle),
        cmocka_unit_test(test_cancel_while_nothing_comes),
        cmocka_unit_test(test_progress_while_bytes_drop),
        cmocka_unit_test(test_no_cancellation_point),
        cmocka_unit_test(test_memory_of_one_piece),
        cmocka_unit_test(test_memory_without_limit),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_wrong_directions),
        cmocka_unit_test(test_no_columns),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
