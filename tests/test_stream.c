/* Streams: every error, how rows that come bit by bit are followed, and how much memory is kept. Their sums are a form
 * of test_pieces.c. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "support/memory.h"
#include "support/refusal.h"

/* Both ends of a stream in memory, with what shall go wrong. */
struct ends {
    const char *in;
    size_t in_bytes, given;
    char *out;
    size_t out_bytes, taken;
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

TEST(test_wrong_options) {
    struct ends ends;
    const table_stream_options right = small_stream(&ends);
    table_stream_options wrong;
    uint64_t place;
#define REFUSED(CHANGE, STATUS, WORDS)                                                                                 \
    wrong = right;                                                                                                     \
    CHANGE;                                                                                                            \
    expect(table_stream(&wrong), TABLE_ERROR_##STATUS, WORDS)
    expect(table_stream(NULL), TABLE_ERROR_ARGUMENT, "options");
    REFUSED((wrong.read = NULL, wrong.read_descriptor = -1), ARGUMENT, "read_descriptor");
    REFUSED((wrong.write = NULL, wrong.write_descriptor = -1), ARGUMENT, "write_descriptor");
    REFUSED(wrong.first_bytes = 3, ARGUMENT, "first");
    REFUSED(wrong.in_row_bytes = 7, SHAPE, "in_row_bytes is 7");
    REFUSED(wrong.out_type = TABLE_F32, TYPE, "");
    REFUSED(wrong.rows = UINT64_MAX, TOO_LARGE, "rows");
    REFUSED(wrong.columns = SIZE_MAX / 8, TOO_LARGE, "");
    REFUSED(wrong.memory = 100, ARGUMENT, "memory is 100 bytes");
    REFUSED(wrong.scan.workspace_bytes = 1, ARGUMENT, "workspace");
    REFUSED(wrong.scan.tables = 2, ARGUMENT, "scan.tables is not for"); /* the carry out would have two rows */
    REFUSED(wrong.scan.offsets = 2, ARGUMENT, "offsets is 2");
    REFUSED(wrong.scan.offsets = wrong.scan.exclusive = 1, ARGUMENT, "offsets and exclusive");
    REFUSED((wrong.in_type = wrong.out_type = TABLE_F32, wrong.scan.first_overflow = &place), ARGUMENT,
            "first_overflow");
#undef REFUSED
    assert_int_equal(ends.given, 0);
    assert_int_equal(ends.taken, 0);
}

/* The rows before a failure are written. */
TEST(test_failing_reads) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    options.report = &report;
    ends.fail_read = 4000003;
    expect(table_stream(&options), TABLE_ERROR_READ, "byte 4000003: Input/output error");
    assert_int_equal(ends.taken, 500000 * SUMS);
    assert_false(report.ended);
    options = small_stream(&ends);
    options.report = &report;
    ends.in_bytes = 4000003;
    expect(table_stream(&options), TABLE_ERROR_READ, "byte 4000003, within row 500000, of which 3 of 8 bytes");
    assert_int_equal(ends.taken, 500000 * SUMS);
    assert_true(report.ended);
    assert_int_equal(report.bytes_read, 4000003);
    options = small_stream(&ends);
    options.rows = ROWS + 1;
    expect(table_stream(&options), TABLE_ERROR_READ, "after 700000 of 700001 rows");
    assert_int_equal(ends.taken, ROWS * SUMS);
    options = small_stream(&ends);
    ends.fail_read = 4000003;
    ends.silent = true;
    errno = EPERM;
    expect(table_stream(&options), TABLE_ERROR_READ, "byte 4000003: the callback does not say why");
    options = small_stream(&ends);
    options.rows = ROWS - 1;
    expect(table_stream(&options), TABLE_OK, "");
    assert_int_equal(ends.given, (ROWS - 1) * ROW);
}

static int say_no(void *context, const table_stream_report *so_far) {
    const struct ends *ends = context;
    return so_far->rows > ends->cancel_rows;
}

TEST(test_failing_writes) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    options.report = &report;
    ends.fail_write = 8000000;
    expect(table_stream(&options), TABLE_ERROR_WRITE, "No space left");
    assert_int_equal(ends.taken, report.bytes_written);
    assert_in_range(ends.taken, 0, 8000000);
    assert_true(report.seconds > 0);
    ends.silent = true;
    expect(table_stream(&options), TABLE_ERROR_WRITE, ": the callback does not say why");
}

TEST(test_cancel) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    options.report = &report;
    options.progress = say_no;
    options.progress_context = &ends;
    ends.cancel_rows = 100000;
    expect(table_stream(&options), TABLE_ERROR_CANCELED, "progress()");
    assert_int_equal(ends.taken, report.rows * SUMS);
    options = small_stream(&ends);
    options.look = look;
    options.look_context = &ends;
    ends.cancel_rows = 100000;
    expect(table_stream(&options), TABLE_ERROR_CANCELED, "look()");
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
    expect(table_stream(&options), TABLE_OK, "");
    assert_int_equal(echo.rows, 20);
    close(ends[0]);
}

/* Also where it is known that there are fewer of them than a state has: they are not waited for either. With two
 * threads that sum the stream has threads that read and sum, too. */
TEST(test_rows_that_trickle) {
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
TEST(test_cancel_while_nothing_comes) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    table_stream_options options = {.in_type = TABLE_U32,
                                    .out_type = TABLE_U32,
                                    .columns = 1,
                                    .read_descriptor = ends[0],
                                    .write_descriptor = ends[1],
                                    .progress = never};
    expect(table_stream(&options), TABLE_ERROR_CANCELED, "progress()");
    options.scan.threads = 2; /* and so with threads that read and sum */
    expect(table_stream(&options), TABLE_ERROR_CANCELED, "progress()");
    options.rows = 20; /* as one piece, and by one buffer */
    expect(table_stream(&options), TABLE_ERROR_CANCELED, "progress()");
    options.memory = least_memory(options);
    expect(table_stream(&options), TABLE_ERROR_CANCELED, "progress()");
    close(ends[0]);
    close(ends[1]);
}

/* How often the stream has asked, and the call that says no. 0: none does. */
struct calls {
    unsigned made, last;
};

struct drops {
    int to;
    unsigned bytes, asked; /* bytes come slowly until there were so many calls, and then all at once */
    const struct calls *calls;
};

static void *let_drop(void *argument) {
    const struct drops *drops = argument;
    const struct timespec while_waiting = {.tv_nsec = 60000000};
    for (unsigned i = 0; i < drops->bytes; i++) {
        if (__atomic_load_n(&drops->calls->made, __ATOMIC_RELAXED) < drops->asked)
            nanosleep(&while_waiting, NULL);
        if (write(drops->to, "\1", 1) != 1)
            break;
    }
    return NULL;
}

static int count_calls(void *context, const table_stream_report *so_far) {
    struct calls *calls = context;
    (void)so_far;
    return __atomic_add_fetch(&calls->made, 1, __ATOMIC_RELAXED) == calls->last;
}

static int64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Bytes that come so often that the wait for the next one is never long. The row is whole only when the stream has
 * asked often enough meanwhile, or after as many bytes as take half a minute. It asks every 100 ms, however slow the
 * machine is, and once more when the row is written. */
TEST(test_progress_while_bytes_drop) {
    enum { COLUMNS = 64, ENOUGH = 4, ASK_MS = 100 };
    for (unsigned threads = 0; threads < 3; threads += 2)
        for (unsigned last = 0; last < 4; last += 3) {
            struct calls calls = {.last = last};
            struct ends memory = {.out = (char[8 * COLUMNS]){0}, .out_bytes = 8 * COLUMNS};
            int ends[2];
            pthread_t writer;
            assert_int_equal(pipe(ends), 0);
            struct drops drops = {ends[1], 8 * COLUMNS, last ? last : ENOUGH, &calls};
            const int64_t begun = milliseconds();
            assert_int_equal(pthread_create(&writer, NULL, let_drop, &drops), 0);
            const table_stream_options options = {.in_type = TABLE_F64,
                                                  .out_type = TABLE_F64,
                                                  .columns = COLUMNS,
                                                  .rows = 1,
                                                  .read_descriptor = ends[0],
                                                  .write = write_memory,
                                                  .write_context = &memory,
                                                  .progress = count_calls,
                                                  .progress_context = &calls,
                                                  .scan.threads = threads};
            expect(table_stream(&options), last ? TABLE_ERROR_CANCELED : TABLE_OK, "");
            const int64_t took = milliseconds() - begun;
            pthread_join(writer, NULL);
            assert_int_equal(memory.taken, last ? 0 : 8 * COLUMNS);
            assert_in_range(calls.made, last ? last : ENOUGH, last ? last : 1 + took / ASK_MS);
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

/* A thread that is to end does so after the call. */
TEST(test_no_cancellation_point) {
    struct ends ends;
    struct canceled canceled = {.options = small_stream(&ends), .status = TABLE_ERROR_READ};
    FILE *in = tmpfile(), *out = tmpfile();
    pthread_t thread;
    void *result = NULL;
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
TEST(test_memory_of_one_piece) {
    enum { COLUMNS = 1000, FEW = 3 };
    FILE *in = tmpfile();
    char *row = get_memory(COLUMNS * sizeof(double));
    size_t succeeded = 0, least = 0;
    assert_non_null(in);
    for (unsigned i = 0; i < FEW; i++)
        assert_int_equal(fwrite(row, sizeof(double), COLUMNS, in), COLUMNS);
    assert_int_equal(fflush(in), 0);
    for (size_t memory = 40000; memory < 100000; memory += 500) {
        struct ends ends = {.out = get_memory(FEW * COLUMNS * sizeof(double)),
                            .out_bytes = FEW * COLUMNS * sizeof(double)};
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
TEST(test_memory_without_limit) {
    const uint64_t rows[] = {0, ROWS,
                             UINT64_MAX / (ROW + SUMS) + 1}; /* the last ones and their sums fit in no size_t */
    FILE *in = tmpfile();
    struct ends ends;
    table_stream_options options = small_stream(&ends);
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
            expect(table_stream(&options), i < 2 ? TABLE_OK : TABLE_ERROR_READ, i < 2 ? "" : "after 700000 of ");
            assert_int_equal(ends.taken, ROWS * SUMS);
            kept[limit] = report.memory;
        }
        assert_int_equal(kept[0], kept[1]);
    }
    fclose(in);
}

struct files {
    FILE *in, *out;
    char *found; /* the content of `out`, as it is read */
};
enum { ABOVE = 13 }; /* bytes of another matter before the tables */

static struct files open_files(const char *bytes, size_t count, size_t out_bytes) {
    struct files files = {tmpfile(), tmpfile(), get_memory(ABOVE + out_bytes)};
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

/* What cannot be positioned, and a file that is shorter than it should be. */
TEST(test_wrong_directions) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    struct files files = open_files(ends.in, 1000 * ROW, 0);
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    options.scan.reverse = 2;
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "reverse is 2");
    options.scan.reverse = 1;
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "rows is 0");
    options.rows = 1000;
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "read is given");
    options.read = NULL;
    options.read_descriptor = pipes[0];
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "write is given");
    options.write = NULL;
    options.write_descriptor = fileno(files.out);
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "read_descriptor cannot");
    options.read_descriptor = fileno(files.in);
    options.write_descriptor = pipes[1];
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "write_descriptor cannot");
    options.write_descriptor = fileno(files.out);
    options.first = ends.in;
    options.first_bytes = ROW;
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "first is given");
    options.first_bytes = 0;
    options.rows = UINT64_MAX / ROW;
    expect(table_stream(&options), TABLE_ERROR_TOO_LARGE, "");
    options.rows = 1000;
    assert_int_equal(fcntl(options.write_descriptor, F_SETFL, O_APPEND), 0);
    expect(table_stream(&options), TABLE_ERROR_ARGUMENT, "written anywhere");
    assert_int_equal(fcntl(options.write_descriptor, F_SETFL, 0), 0);
    assert_int_equal(lseek(fileno(files.in), ABOVE + 8, SEEK_SET), ABOVE + 8);
    expect(table_stream(&options), TABLE_ERROR_READ, "byte 7992: the input ends before it");
    assert_int_equal(lseek(fileno(files.in), ABOVE, SEEK_SET), ABOVE);
    expect(table_stream(&options), TABLE_OK, "");
    close(pipes[0]);
    close(pipes[1]);
    close_files(&files);
}

/* Rows without columns: none is read, and a state counts them. */
TEST(test_no_columns) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    table_stream_report report;
    uint64_t rows = 0, place = 0;
    size_t bytes;
    options.columns = 0;
    options.report = &report;
    expect(table_stream(&options), TABLE_OK, "");
    assert_int_equal(report.rows, 0);
    assert_int_equal(table_state_bytes(TABLE_U64, 0, &bytes), TABLE_OK);
    options.scan.state = get_memory(bytes);
    options.scan.first_overflow = &place;
    options.rows = 77;
    expect(table_stream(&options), TABLE_OK, "");
    assert_int_equal(report.rows, 77);
    assert_true(place == TABLE_NO_OVERFLOW);
    assert_int_equal(table_state_rows(options.scan.state, &rows), TABLE_OK);
    assert_int_equal(rows, 77);
    assert_int_equal(ends.given + ends.taken, 0);
    free(options.scan.state);
}

/* From a file to a file; from a folder, which nothing can be read from; to a file that nothing can be written to. */
TEST(test_descriptors) {
    struct ends ends;
    table_stream_options options = small_stream(&ends);
    FILE *in = tmpfile(), *out = tmpfile();
    char *found = get_memory(ROWS * SUMS);
    assert_true(in && out);
    assert_int_equal(fwrite(ends.in, 1, ends.in_bytes, in), ends.in_bytes);
    assert_int_equal(fflush(in), 0);
    assert_int_equal(lseek(fileno(in), 0, SEEK_SET), 0);
    expect(table_stream(&options), TABLE_OK, "");
    options.read = NULL;
    options.write = NULL;
    options.read_descriptor = fileno(in);
    options.write_descriptor = fileno(out);
    expect(table_stream(&options), TABLE_OK, "");
    assert_int_equal(pread(fileno(out), found, ROWS * SUMS, 0), ROWS * SUMS);
    assert_memory_equal(found, ends.out, ROWS * SUMS);
    options.write_descriptor = open("/dev/full", O_WRONLY);
    assert_int_equal(lseek(fileno(in), 0, SEEK_SET), 0);
    expect(table_stream(&options), TABLE_ERROR_WRITE, "byte 0 on: No space left");
    options.read_descriptor = open("/", O_RDONLY);
    expect(table_stream(&options), TABLE_ERROR_READ, "byte 0: Is a directory");
    close(options.read_descriptor);
    close(options.write_descriptor);
    fclose(in);
    fclose(out);
    free(found);
}

int main(void) { return run_all_tests("stream", NULL); }
