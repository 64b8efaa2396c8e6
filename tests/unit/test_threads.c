/* What the CPU backend does to the threads of a program: how much stack its calls take, that a cancellation waits until
 * the workers have ended, and that signals stay with the program's own threads. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "division.h"
#include "isa.h"
#include "key_kernels.h"
#include "pool.h"
#include "support/test.h"

enum { ROWS = 20000, COLUMNS = 5, THREADS = 3, STACK_PROMISED = 64 << 10, STACK = 1 << 20, PAINT = 0xA5 };

struct tables {
    char *in, *out, *more;
};

static table_view view_of(void *data, size_t rows, size_t columns, table_type type) {
    return (table_view){data, rows, columns, 0, type};
}

static int scans(const struct tables *tables, table_strategy strategy, table_type in_type, table_type type,
                 unsigned threads) {
    const table_view in = view_of(tables->in, ROWS, COLUMNS, in_type), out = view_of(tables->out, ROWS, COLUMNS, type);
    uint64_t overflow;
    table_report report;
    table_scan_options options = {.strategy = strategy, .threads = threads, .report = &report};
    if (type != TABLE_F32 && type != TABLE_F64)
        options.first_overflow = &overflow;
    int bad = table_prefix_sum(&in, &out, &options) != TABLE_OK;
    options.first_overflow = NULL;
    return bad + (table_column_totals(&in, type, tables->out, &options) != TABLE_OK);
}

static int stages(const struct tables *tables, table_type type, unsigned threads) {
    const table_view in = view_of(tables->in, ROWS, COLUMNS, type), out = view_of(tables->out, ROWS, COLUMNS, type);
    const table_view seeds = view_of(tables->more, table_seeds_rows(type, ROWS, COLUMNS), COLUMNS, type);
    const table_scan_options options = {.threads = threads};
    memset(tables->more, 0, COLUMNS * 8);
    return (table_stage1_local_counts(&in, &seeds, &options) != TABLE_OK) +
           (table_stage2_scan_totals(&seeds, &options) != TABLE_OK) +
           (table_stage3_global_pass(&in, &seeds, &out, &options) != TABLE_OK);
}

static int histograms(const struct tables *tables, table_type type, unsigned threads) {
    const table_view values = view_of(tables->in, ROWS, 1, type), weights = view_of(tables->more, ROWS, 1, TABLE_F64);
    const table_view counts = view_of(tables->out, 1, 200, TABLE_U64), sums = view_of(tables->out, 1, 200, TABLE_F64);
    const table_bins bins = {.kind = TABLE_BINS_EVEN, .count = 200, .low = 0, .high = 77};
    const table_histogram_options unweighted = {.run.threads = threads};
    const table_histogram_options weighted = {.run.threads = threads, .weights = &weights};
    return (table_histogram(&values, &bins, &counts, &unweighted) != TABLE_OK) +
           (table_histogram(&values, &bins, &sums, &weighted) != TABLE_OK);
}

static int sorts(const struct tables *tables, table_type type, unsigned threads) {
    const table_view keys = view_of(tables->in, ROWS, 1, type), order = view_of(tables->out, ROWS, 1, TABLE_U32);
    const table_sort_options options = {.run.threads = threads};
    const table_pipeline_options run = {.threads = threads};
    const table_digit digit = {.bits = 8};
    const size_t chunks = table_digit_chunks(ROWS, 0, 8);
    const table_view counters = view_of(tables->more, chunks, 256, TABLE_U32);
    return (table_argsort(&keys, &order, &options) != TABLE_OK) +
           (table_digit_counts(&keys, &digit, 0, &counters, &run) != TABLE_OK) +
           (table_chunk_ranks(&counters, &counters, NULL, NULL, &run) != TABLE_OK) +
           (table_radix_sort(&keys, tables->out, 12, &options) != TABLE_OK);
}

/* A call that fails, so that its text is made, and what asks for devices. */
static int others(const struct tables *tables) {
    const table_view in = view_of(tables->in, ROWS, COLUMNS, TABLE_F64), bad = view_of(NULL, ROWS, 1, TABLE_F32);
    table_device device;
    return (table_prefix_sum(&in, &bad, NULL) == TABLE_OK) + (table_devices(&device, 1) == 0) +
           (table_cuda_unavailable() != NULL && table_cuda_unavailable()[0] == 0);
}

static int all_calls(const struct tables *tables) {
    static const table_type types[] = {TABLE_U32, TABLE_U64, TABLE_I32, TABLE_I64, TABLE_F32, TABLE_F64};
    int bad = others(tables);
    for (unsigned threads = 1; threads <= THREADS; threads += THREADS - 1) {
        for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
            for (int strategy = TABLE_STRATEGY_HOST; strategy <= TABLE_STRATEGY_FUSED; strategy++)
                bad += scans(tables, (table_strategy)strategy, types[t], types[t], threads);
            bad += stages(tables, types[t], threads) + histograms(tables, types[t], threads) +
                   sorts(tables, types[t], threads);
        }
        bad += scans(tables, TABLE_STRATEGY_FUSED, TABLE_U8, TABLE_U64, threads);
        bad += histograms(tables, TABLE_U8, threads) + histograms(tables, TABLE_U16, threads);
        bad += sorts(tables, TABLE_U8, threads) + sorts(tables, TABLE_U16, threads);
    }
    return bad;
}

struct measured {
    struct tables tables;
    const char *stack;
    size_t bytes; /* of stack, below the frame of the thread's first function */
    int bad;
};

static void *measure(void *argument) {
    struct measured *measured = argument;
    const char *const here = __builtin_frame_address(0);
    const char *touched = measured->stack;
    for (int isa = 0; isa < CPU_ISAS; isa++)
        if (isa_kernels((enum cpu_isa)isa)) {
            isa_force(isa_kernels((enum cpu_isa)isa));
            measured->bad += all_calls(&measured->tables);
        }
    isa_force(NULL);
    while (touched < here && *touched == (char)PAINT)
        touched++;
    measured->bytes = (size_t)(here - touched);
    return NULL;
}

/* Sanitizers make frames larger. */
static void skip_if_sanitized(void) {
#ifdef SANITIZED
    skip();
#endif
}

/* Threads are shared out among small tables too. */
static void share_small_tables(void) {
    division_limits.thread_bytes = 1024;
    division_limits.threads = THREADS;
    key_limits.chunk = 5000;
}

TEST(test_stack_of_calls) {
    struct measured measured = {.bytes = 0};
    pthread_attr_t attributes;
    pthread_t thread;
    skip_if_sanitized();
    measured.tables.in = calloc(ROWS, 64);
    measured.tables.out = calloc(ROWS, 64);
    measured.tables.more = calloc(ROWS, 64);
    assert_true(measured.tables.in && measured.tables.out && measured.tables.more);
    share_small_tables();
    for (size_t i = 0; i < (size_t)ROWS * 64; i++)
        measured.tables.in[i] = (char)(i * i >> 7 & 63);
    void *const stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    memset(stack, PAINT, STACK);
    measured.stack = stack;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, measure, &measured), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    print_message("calls took %zu bytes of stack\n", measured.bytes);
    assert_int_equal(measured.bad, 0);
    assert_true(measured.bytes > 0 && measured.bytes <= STACK_PROMISED);
    munmap(stack, STACK);
    free(measured.tables.in);
    free(measured.tables.out);
    free(measured.tables.more);
}

/* Worker 1 ends well after worker 0, so that the caller has to wait for it. */
static void end_late(void *job, unsigned index) {
    if (index > 0)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    __atomic_fetch_add((int *)job, 1, __ATOMIC_RELAXED);
}

struct canceled {
    int ended, returned;
};

/* The cancellation is there before the workers are, and takes effect after the call. */
static void *run_canceled(void *argument) {
    struct canceled *canceled = argument;
    pthread_cancel(pthread_self());
    pool_run(2, end_late, &canceled->ended);
    canceled->returned = 1;
    pthread_testcancel();
    return NULL;
}

TEST(test_cancellation_waits_for_workers) {
    struct canceled canceled = {0, 0};
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, run_canceled, &canceled), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_int_equal(canceled.returned, 1);
    assert_int_equal(canceled.ended, 2);
    assert_ptr_equal(result, PTHREAD_CANCELED);
}

struct masks {
    sigset_t blocked[THREADS];
    unsigned char there[THREADS];
    size_t stack_bytes[THREADS];
};

static void note_mask(void *job, unsigned index) {
    struct masks *masks = job;
    pthread_attr_t attributes;
    masks->there[index] = pthread_sigmask(SIG_BLOCK, NULL, &masks->blocked[index]) == 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &masks->stack_bytes[index]);
        pthread_attr_destroy(&attributes);
    }
}

TEST(test_workers_take_no_signals) {
    const int program[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF,  SIGUSR1,
                           SIGUSR2, SIGPIPE, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN,   SIGTTOU,  SIGWINCH,
                           SIGURG,  SIGIO,   SIGPWR,  SIGXCPU, SIGXFSZ, SIGABRT,   SIGRTMIN, SIGRTMAX};
    const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    struct masks masks = {.there = {0}};
    sigset_t before, after;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &before), 0);
    pool_run(THREADS, note_mask, &masks);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    for (unsigned thread = 0; thread < THREADS; thread++) {
        assert_true(masks.there[thread]);
        for (unsigned i = 0; i < sizeof program / sizeof *program; i++)
            assert_int_equal(sigismember(&masks.blocked[thread], program[i]),
                             thread > 0 ? 1 : sigismember(&before, program[i]));
        for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
            assert_int_equal(sigismember(&masks.blocked[thread], faults[i]), sigismember(&before, faults[i]));
    }
    for (int signal = 1; signal < SIGRTMAX; signal++)
        assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
}

/* Whatever `ulimit -s` says: worker threads have more stack than calls take. */
TEST(test_stack_of_workers) {
    pthread_attr_t small, before;
    struct masks masks = {.there = {0}};
    skip_if_sanitized();
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_getattr_default_np(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, STACK_PROMISED), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    pool_run(THREADS, note_mask, &masks);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    for (unsigned thread = 1; thread < THREADS; thread++)
        assert_true(masks.there[thread] && masks.stack_bytes[thread] >= 2 * STACK_PROMISED);
    pthread_attr_destroy(&small);
    pthread_attr_destroy(&before);
}

int main(void) { return run_all_tests("threads", NULL); }
