/* Tables in host memory: this library beside memcpy, the plain serial loop and numpy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "memory.h"
#include "message.h"
#include "types.h"

/* The slow peers need fewer repetitions: what disturbs them is small beside their time. */
enum { SLOW_REPEAT = 3 };

struct buffers {
    void *in, *out, *other;
    size_t bytes;
};

struct samples;

struct cpu_case {
    const struct bench_options *options;
    struct bench_report *report;
    struct bench_numpy *numpy;
    table_view in, out, other; /* other: a table like out, to compare with */
    struct bench_shape shape;
    struct bench_pair pair;
    table_strategy strategy;
    size_t copy_bytes; /* half of what a scan reads and writes */
    unsigned batch;    /* small tables are scanned that many times in a row, to be seen by the clock */
    struct samples *samples;
    struct buffers buffers;
};

static table_status scan(const struct cpu_case *what, unsigned threads, table_report *report) {
    uint64_t first_overflow;
    table_scan_options options;
    memset(&options, 0, sizeof options);
    options.backend = TABLE_BACKEND_CPU;
    options.strategy = what->strategy;
    options.threads = threads;
    options.report = report;
    options.first_overflow = bench_checks_overflow(what->options, what->pair) ? &first_overflow : NULL;
    table_view in = what->in, out = what->out;
    bench_split(what->options, &in, &out, &options);
    return table_prefix_sum(&in, &out, &options);
}

static bool serial_scan(const struct cpu_case *what) {
    table_view in = what->in, out = what->other;
    table_scan_options tables = {0};
    bench_split(what->options, &in, &out, &tables);
    const size_t count = tables.tables > 0 ? tables.tables : 1;
    const size_t in_bytes = in.rows * (size_t)in.stride * table_type_size(in.type);
    const size_t out_bytes = out.rows * (size_t)out.stride * table_type_size(out.type);
    bool enough = true;
    if (what->options->reverse) { /* rows lie from the last one to the first */
        in.data = (char *)in.data + in_bytes - in_bytes / in.rows;
        out.data = (char *)out.data + out_bytes - out_bytes / out.rows;
        in.stride = -in.stride;
        out.stride = -out.stride;
    }
    for (size_t t = 0; t < count && enough; ++t) {
        enough = bench_serial_scan(&in, &out);
        in.data = (char *)in.data + in_bytes;
        out.data = (char *)out.data + out_bytes;
    }
    return enough;
}

static void copy(const struct cpu_case *what) {
    if (what->shape.stride == what->shape.columns) {
        memcpy(what->out.data, what->in.data, what->copy_bytes);
        return;
    }
    const size_t step = table_type_size(what->pair.out);
    const size_t row_bytes = what->copy_bytes / what->in.rows;
    for (size_t i = 0; i < what->in.rows; ++i)
        memcpy((char *)what->out.data + i * what->shape.stride * step,
               (const char *)what->in.data + i * what->shape.stride * step, row_bytes);
}

/* ---------------------------------------------------------------------------------------------- right or wrong */

/* Float sums round differently in another order. What lets an error of the program through is not meant to be found
 * here but by the tests; a wrong column or row is. */
static double sum_at(const struct cpu_case *what, const void *sums, size_t k) {
    switch (what->pair.out) {
    case TABLE_F16:
        return value_of_f16(((const value_f16 *)sums)[k]);
    case TABLE_BF16:
        return value_of_bf16(((const value_bf16 *)sums)[k]);
    case TABLE_F32:
        return ((const float *)sums)[k];
    default:
        return ((const double *)sums)[k];
    }
}

static bool close_enough(const struct cpu_case *what, const void *got, const void *wanted) {
    const size_t columns = what->shape.columns, stride = what->shape.stride;
    const table_type type = what->pair.out;
    const double epsilon = table_sum_type(type) == TABLE_F32 ? 0x1p-23 : 0x1p-52;
    const double last_place = type == TABLE_F16 ? 0x1p-10 : type == TABLE_BF16 ? 0x1p-7 : 0; /* of the result */
    for (size_t i = 0; i < what->in.rows; ++i) {
        const size_t added = what->options->reverse ? what->in.rows - i : i + 1;
        for (size_t k = i * stride; k < i * stride + columns; ++k) {
            const double a = sum_at(what, got, k), b = sum_at(what, wanted, k);
            if (a != b && !(fabs(a - b) <= 16 * epsilon * (double)added + 2 * last_place * fabs(b)))
                return false;
        }
    }
    return true;
}

static bool is_right(const struct cpu_case *what) {
    const size_t size = table_type_size(what->pair.out), count = what->out.rows * what->shape.stride;
    const bool floating = type_is_float(what->pair.out);
    memset(what->other.data, 0, count * size);
    if (!serial_scan(what))
        return false;
    for (size_t t = 0; t < what->options->thread_count; ++t) {
        memset(what->out.data, 0, count * size);
        if (scan(what, what->options->threads[t], NULL) != TABLE_OK)
            return false;
        if (floating && t == 0) {
            if (!close_enough(what, what->out.data, what->other.data))
                return false;
            memcpy(what->other.data, what->out.data, count * size);
        } else if (bench_count_differing(what->out.data, what->other.data, count, size) != 0) {
            return false;
        }
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------- measuring */

/* Ways of going through a table: memcpy(), the serial loop, and this library with each number of threads. */
enum { COPY, SERIAL, OURS };

struct samples {
    struct bench_way ways[OURS + BENCH_LIST];
    double stage_ms[BENCH_LIST][3][BENCH_REPEAT_MOST];
    unsigned turn, threads[BENCH_LIST]; /* that took part */
    table_strategy strategy;            /* never AUTO */
    table_status status;
};

static bool run_way(void *context, size_t way, double *ms) {
    const struct cpu_case *what = context;
    struct samples *samples = what->samples;
    table_report report = {.threads = 0};
    const double start = bench_seconds();
    for (unsigned b = 0; b < what->batch && samples->status == TABLE_OK; ++b) {
        if (way == COPY)
            copy(what);
        else if (way == SERIAL)
            serial_scan(what);
        else
            samples->status = scan(what, what->options->threads[way - OURS], &report);
    }
    *ms = (bench_seconds() - start) * 1e3 / what->batch;
    for (int s = 0; s < 3 && way >= OURS; ++s)
        samples->stage_ms[way - OURS][s][samples->turn] = report.stage_seconds[s] * 1e3;
    if (way >= OURS) {
        samples->threads[way - OURS] = report.threads;
        samples->strategy = report.strategy;
    }
    return samples->status == TABLE_OK;
}

static bool next_turn(void *context, unsigned turn) {
    const struct cpu_case *what = context;
    what->samples->turn = turn + 1;
    return true;
}

static int report_case(const struct cpu_case *what, int checked) {
    struct samples *samples = what->samples;
    struct bench_result result = bench_result_empty();
    result.rows = what->in.rows;
    result.shape = what->shape;
    result.pair = what->pair;
    result.backend = "cpu";
    result.strategy = bench_strategy_name(samples->strategy);
    result.checked = checked;
    result.reverse = what->options->reverse;
    result.overflow_checked = bench_checks_overflow(what->options, what->pair);
    result.memcpy_ms = samples->ways[COPY].ms;
    result.best_memcpy_ms = samples->ways[COPY].best_ms;
    result.serial_ms = samples->ways[SERIAL].ms;
    result.numpy_ms =
        numpy_cumsum_ms(what->numpy, what->in.rows, what->shape, what->pair, what->options->reverse, SLOW_REPEAT);
    for (size_t t = 0; t < what->options->thread_count; ++t) {
        result.threads = samples->threads[t];
        result.ms = samples->ways[OURS + t].ms;
        result.best_ms = samples->ways[OURS + t].best_ms;
        for (int s = 0; s < 3; ++s)
            result.stage_ms[s] = bench_median(samples->stage_ms[t][s], what->options->repeat);
        report_result(what->report, &result);
    }
    return checked == 0 ? EX_SOFTWARE : EX_OK;
}

static int run_case(struct cpu_case *what) {
    struct samples *samples = what->samples;
    const int checked = what->options->check ? is_right(what) : -1;
    double ignored;
    if (checked == 0)
        report_note(what->report, "WRONG RESULT: %zu x %zu %s to %s on the CPU", what->in.rows, what->shape.columns,
                    table_type_name(what->pair.in), table_type_name(what->pair.out));
    samples->turn = 0;
    samples->status = TABLE_OK;
    samples->ways[SERIAL].most = SLOW_REPEAT;
    bool good = true; /* once unmeasured: the buffers and the threads are warm then */
    for (size_t t = 0; t < what->options->thread_count && good; ++t)
        good = run_way(what, OURS + t, &ignored);
    if (good)
        good = bench_measure(samples->ways, OURS + what->options->thread_count, what->options->repeat, what, run_way,
                             next_turn);
    return good ? report_case(what, checked) : fail_status("table_prefix_sum", samples->status);
}

/* ------------------------------------------------------------------------------------------------- every case */

static bool buffers_allocate(struct buffers *buffers, size_t bytes) {
    buffers->bytes = bytes;
    if (!bench_memory_suffices(3, bytes))
        return false;
    buffers->in = memory_allocate(bytes);
    buffers->out = memory_allocate(bytes);
    buffers->other = memory_allocate(bytes);
    if (!buffers->in || !buffers->out || !buffers->other)
        return false;
    memset(buffers->out, 1, bytes);
    memset(buffers->other, 1, bytes);
    return true;
}

static void buffers_free(struct buffers *buffers) {
    free(buffers->in);
    free(buffers->out);
    free(buffers->other);
}

static int fill(void *context, struct bench_pair pair) {
    const struct cpu_case *what = context;
    bench_fill(what->buffers.in, what->buffers.bytes, pair.in, what->options->overflow);
    return EX_OK;
}

static int run_strategies(void *context, const struct bench_case *table) {
    enum { SMALL = 1 << 20 };
    struct cpu_case *what = context;
    const struct bench_shape shape = table->shape;
    what->shape = shape;
    what->pair = table->pair;
    what->in = (table_view){what->buffers.in, table->rows, shape.columns, shape.stride, table->pair.in};
    what->out = (table_view){what->buffers.out, table->rows, shape.columns, shape.stride, table->pair.out};
    what->other = what->out;
    what->other.data = what->buffers.other;
    what->copy_bytes = (table->in_bytes + table->out_bytes) / 2 / shape.stride * shape.columns;
    what->batch = table->out_bytes < SMALL ? (unsigned)(SMALL / table->out_bytes) : 1;
    int worst = EX_OK;
    for (size_t s = 0; s < what->options->strategy_count && bench_goes_on(worst); ++s) {
        what->strategy = what->options->strategies[s];
        worst = bench_worse(worst, run_case(what));
    }
    return worst;
}

int bench_cpu(const struct bench_options *options, struct bench_report *report) {
    const size_t bytes = bench_largest_bytes(options);
    struct cpu_case what = {.options = options, .report = report, .samples = calloc(1, sizeof *what.samples)};
    int code = EX_OK;
    if (!buffers_allocate(&what.buffers, bytes) || !what.samples)
        code = fail(EX_OSERR, "out of memory: three tables of %zu bytes are needed", bytes);
    if (code == EX_OK && options->numpy && options->table_rows == 0)
        what.numpy = numpy_start(report);
    if (code == EX_OK)
        code = bench_each_case(options, report, &what, fill, run_strategies);
    numpy_stop(what.numpy);
    buffers_free(&what.buffers);
    free(what.samples);
    return code;
}
