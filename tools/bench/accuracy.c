/* Errors instead of times: how far float results are from the exact sums, and how many of them change from run to run.
 *
 * The exact sums are kept as two doubles, of which the second holds what the first could not: about 106 bits, far more
 * than any of the results has. Errors are relative to the sum of the magnitudes of what was added, which is what the
 * rounding errors of a sum are proportional to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "memory.h"
#include "message.h"

/* CPU, serial, CUB, and each strategy on CUDA. */
enum { STRATEGY_COUNT = TABLE_STRATEGY_FUSED + 1, WHO_MOST = 3 + STRATEGY_COUNT, KIND_COUNT = 3 };

static const char *const KINDS[KIND_COUNT] = {"uniform", "alternating", "wide range"};

struct contender {
    const char *name;
    void *result;
    double error, differing, unlike_first;
};

struct trial {
    const struct bench_options *options;
    bool cuda, left_out[STRATEGY_COUNT]; /* a strategy that is not to be had; said once */
    table_view in, spare;                /* spare: where second runs go */
    size_t count;
    struct contender who[WHO_MOST];
    size_t who_count;
};

/* uniform: [0, 1); alternating: the same with a sign that changes from row to row, so that the sums stay small;
 * wide range: both signs, magnitudes from 2^-20 to 2^20. */
static double value_at(int kind, size_t row, unsigned long long bits) {
    const double unit = (double)(bits >> 11) * 0x1p-53;
    if (kind == 0)
        return unit;
    if (kind == 1)
        return row % 2 ? -unit : unit;
    return ldexp(bits & 1 ? -1 - unit : 1 + unit, (int)(bits >> 1 & 0xff) % 41 - 20);
}

static void fill(const table_view *table, int kind) {
    for (size_t i = 0, k = 0; i < table->rows; ++i)
        for (size_t j = 0; j < table->columns; ++j, ++k) {
            const double value = value_at(kind, i, bench_random(17 + (unsigned)kind, k));
            if (table->type == TABLE_F32)
                ((float *)table->data)[k] = (float)value;
            else
                ((double *)table->data)[k] = value;
        }
}

/* ---------------------------------------------------------------------------------------------------- exact sums */

struct exact {
    double high, low;
};

static void exact_add(struct exact *sum, double value) {
    const double high = sum->high + value, back = high - sum->high;
    const double low = sum->low + ((sum->high - (high - back)) + (value - back));
    sum->high = high + low;
    sum->low = low - (sum->high - high);
}

static double element(const void *data, table_type type, size_t k) {
    return type == TABLE_F32 ? ((const float *)data)[k] : ((const double *)data)[k];
}

static bool find_errors(struct trial *trial) {
    const size_t columns = trial->in.columns;
    struct exact *sums = calloc(columns, sizeof *sums);
    double *magnitudes = calloc(columns, sizeof *magnitudes);
    const bool possible = sums && magnitudes;
    for (size_t k = 0; possible && k < trial->count; ++k) {
        const size_t j = k % columns;
        const double value = element(trial->in.data, trial->in.type, k);
        exact_add(&sums[j], value);
        magnitudes[j] += fabs(value);
        for (size_t w = 0; w < trial->who_count; ++w) {
            const double got = element(trial->who[w].result, trial->in.type, k);
            const double error = fabs((got - sums[j].high) - sums[j].low) / magnitudes[j];
            if (magnitudes[j] > 0 && !(error <= trial->who[w].error))
                trial->who[w].error = error;
        }
    }
    free(sums);
    free(magnitudes);
    return possible;
}

/* ---------------------------------------------------------------------------------------------------- contenders */

enum runner { OURS_CPU, OURS_CUDA, SERIAL, CUB };

/* A table_status, or -1 from a peer that cannot run. Only on CUDA is there a choice of strategies; on the CPU the
 * second run has all threads. */
static int run(enum runner runner, const table_view *in, const table_view *out, table_strategy strategy, bool second) {
    const table_scan_options options = {.backend = runner == OURS_CPU ? TABLE_BACKEND_CPU : TABLE_BACKEND_CUDA,
                                        .strategy = strategy,
                                        .threads = runner == OURS_CPU && !second};
    return runner == SERIAL ? (bench_serial_scan(in, out) ? 0 : -1)
           : runner == CUB  ? bench_cub_on_host_table(in, out)
                            : (int)table_prefix_sum(in, out, &options);
}

static double part_differing(const struct trial *trial, const void *a, const void *b) {
    return (double)bench_count_differing(a, b, trial->count, table_type_size(trial->in.type)) / (double)trial->count;
}

/* Two runs of one contender; what run() says when it cannot. */
static int add_contender(struct trial *trial, const char *name, enum runner runner, table_strategy strategy) {
    struct contender *who = &trial->who[trial->who_count];
    table_view out = trial->in;
    who->name = name;
    who->error = 0;
    out.data = who->result;
    int status = run(runner, &trial->in, &out, strategy, false);
    if (status == 0)
        status = run(runner, &trial->in, &trial->spare, strategy, true);
    if (status != 0)
        return status;
    who->differing = part_differing(trial, who->result, trial->spare.data);
    who->unlike_first = part_differing(trial, who->result, trial->who[0].result);
    trial->who_count++;
    return 0;
}

static bool is_wanted(const struct bench_options *options, table_strategy strategy) {
    for (size_t s = 0; s < options->strategy_count; ++s)
        if (options->strategies[s] == strategy)
            return true;
    return false;
}

/* Each strategy that was asked for: one is one way of adding, and all must agree. */
static int add_strategies(struct trial *trial, struct bench_report *report) {
    static const char *const names[STRATEGY_COUNT] = {"tuplescan, CUDA auto", "tuplescan, CUDA host",
                                                      "tuplescan, CUDA recursive", "tuplescan, CUDA fused"};
    for (int s = 0; s < STRATEGY_COUNT; ++s) {
        if (trial->left_out[s] || !is_wanted(trial->options, (table_strategy)s))
            continue;
        const int status = add_contender(trial, names[s], OURS_CUDA, (table_strategy)s);
        if (status != TABLE_OK && status != TABLE_ERROR_STRATEGY)
            return fail(EX_SOFTWARE, "%s: %s", names[s], table_error_detail());
        trial->left_out[s] = status == TABLE_ERROR_STRATEGY;
        if (trial->left_out[s])
            report_note(report, "%s is left out: %s", names[s], table_error_detail());
    }
    return EX_OK;
}

static int run_trial(struct trial *trial, int kind, struct bench_report *report) {
    fill(&trial->in, kind);
    trial->who_count = 0;
    if (add_contender(trial, "tuplescan, CPU", OURS_CPU, TABLE_STRATEGY_AUTO) != 0)
        return fail(EX_SOFTWARE, "table_prefix_sum on the CPU: %s", table_error_detail());
    const int added = trial->cuda ? add_strategies(trial, report) : EX_OK;
    if (added != EX_OK)
        return added;
    add_contender(trial, "serial loop", SERIAL, TABLE_STRATEGY_AUTO);
    if (trial->cuda)
        add_contender(trial, "CUB", CUB, TABLE_STRATEGY_AUTO);
    if (!find_errors(trial))
        return fail(EX_OSERR, "out of memory");
    bool same = true;
    for (size_t w = 0; w < trial->who_count; ++w) {
        const struct contender *who = &trial->who[w];
        const struct bench_figure line[] = {
            COUNT_FIGURE("rows", "rows", 11, trial->in.rows),
            COUNT_FIGURE("columns", "columns", 9, trial->in.columns),
            TEXT_FIGURE("type", "type", 6, table_type_name(trial->in.type)),
            TEXT_FIGURE("values", "values", 13, KINDS[kind]),
            TEXT_FIGURE("who", "who", -25, who->name),
            NUMBER_FIGURE("largest_relative_error", "largest error", 14, -3, who->error),
            NUMBER_FIGURE("differing_between_runs", NULL, 0, 0, who->differing),
            NUMBER_FIGURE(NULL, "between 2 runs, %", 18, 4, 100 * who->differing),
            NUMBER_FIGURE("differing_from_tuplescan_cpu", NULL, 0, 0, who->unlike_first),
            NUMBER_FIGURE(NULL, "from our CPU, %", 16, 4, 100 * who->unlike_first),
        };
        report_line(report, line, sizeof line / sizeof *line);
        if (strncmp(who->name, "tuplescan", 9) == 0 && (who->differing > 0 || who->unlike_first > 0))
            same = false;
    }
    return same ? EX_OK : fail(EX_SOFTWARE, "WRONG: float results of this library differ between runs or backends");
}

/* Tables of f32 and f64 among the types, columns that lie side by side. */
static int run_all(const struct bench_options *options, struct bench_report *report, struct trial *trial) {
    int worst = EX_OK;
    for (size_t p = 0; p < options->pair_count; ++p)
        for (size_t s = 0; s < options->shape_count; ++s) {
            const struct bench_pair pair = options->pairs[p];
            const struct bench_shape shape = {options->shapes[s].columns, options->shapes[s].columns};
            if (pair.in != pair.out || (pair.in != TABLE_F32 && pair.in != TABLE_F64))
                continue;
            trial->in.type = pair.in;
            trial->in.columns = trial->in.stride = shape.columns;
            trial->in.rows = options->bytes / table_type_size(pair.in) / shape.columns;
            trial->count = trial->in.rows * shape.columns;
            void *const spare = trial->spare.data;
            trial->spare = trial->in;
            trial->spare.data = spare;
            for (int kind = 0; kind < KIND_COUNT && trial->count > 0; ++kind) {
                const int code = run_trial(trial, kind, report);
                worst = code != EX_OK ? code : worst;
            }
        }
    return worst;
}

int bench_accuracy(const struct bench_options *options, struct bench_report *report) {
    const bool cuda = options->backend == TABLE_BACKEND_CUDA;
    size_t who_count = cuda ? 3 : 2;
    for (int s = 0; cuda && s < STRATEGY_COUNT; ++s)
        who_count += is_wanted(options, (table_strategy)s);
    struct trial *trial = calloc(1, sizeof *trial);
    if (!trial)
        return fail(EX_OSERR, "out of memory");
    trial->options = options;
    trial->cuda = cuda;
    bool enough = bench_memory_suffices(who_count + 2, options->bytes);
    enough = enough && (trial->in.data = memory_allocate(options->bytes)) != NULL;
    enough = enough && (trial->spare.data = memory_allocate(options->bytes)) != NULL;
    for (size_t w = 0; w < who_count; ++w)
        enough = enough && (trial->who[w].result = memory_allocate(options->bytes)) != NULL;
    const int code =
        enough ? run_all(options, report, trial)
               : fail(EX_OSERR, "out of memory: %zu tables of %zu bytes are needed", who_count + 2, options->bytes);
    free(trial->in.data);
    free(trial->spare.data);
    for (size_t w = 0; w < who_count; ++w)
        free(trial->who[w].result);
    free(trial);
    return code;
}
