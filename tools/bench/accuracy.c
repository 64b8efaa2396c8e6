/* Errors instead of times: how far float results are from the exact sums, and how many of them change from run to run.
 *
 * The exact sums are kept as two doubles, of which the second holds what the first could not: about 106 bits, far more
 * than any of the results has. Errors are relative to the sum of the magnitudes of all terms, to which the rounding
 * errors of a sum are proportional. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/scan.h"
#include "message.h"
#include "splitmix64.h"
#include "words.h"

static const char *const KINDS[] = {"uniform", "alternating", "wide range"};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

struct trial {
    struct scans host, gpu;
    void *first; /* the results of our CPU, which all others are beside */
    int kind;
    bool left_out[TABLE_STRATEGY_FUSED + 1]; /* a strategy that is not to be had; said once */
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
    for (size_t k = 0; k < table->rows * table->columns; k++) {
        const uint64_t bits = splitmix64_at((17 + (uint64_t)kind) * 0xd1342543de82ef95u, k);
        const double value = value_at(kind, k / table->columns, bits);
        if (table->type == TABLE_F32)
            ((float *)table->data)[k] = (float)value;
        else
            ((double *)table->data)[k] = value;
    }
}

struct exact {
    double high, low, magnitudes;
};

static void exact_add(struct exact *sum, double value) {
    const double high = sum->high + value, back = high - sum->high;
    const double low = sum->low + ((sum->high - (high - back)) + (value - back));
    sum->high = high + low;
    sum->low = low - (sum->high - high);
    sum->magnitudes += fabs(value);
}

static double element(const void *data, table_type type, size_t k) {
    return type == TABLE_F32 ? ((const float *)data)[k] : ((const double *)data)[k];
}

/* The largest; NAN: there is no memory for the exact sums. */
static double find_error(const table_view *in, const void *result) {
    struct exact *sums = calloc(in->columns, sizeof *sums);
    double largest = sums ? 0 : NAN;
    for (size_t k = 0; sums && k < in->rows * in->columns; k++) {
        struct exact *sum = &sums[k % in->columns];
        exact_add(sum, element(in->data, in->type, k));
        const double error = fabs((element(result, in->type, k) - sum->high) - sum->low) / sum->magnitudes;
        if (sum->magnitudes > 0 && !(error <= largest))
            largest = error;
    }
    free(sums);
    return largest;
}

/* The result of one run on the host. */
static const void *run(struct scans *scans, struct scan_way *way) {
    struct bench_place *place = &scans->place;
    return scan_run(scans, way, SCAN_CALL) && place->kind->wait(place) &&
                   place_copy(place, scans->host_out, scans->out, scans->table.out_bytes)
               ? scans->host_out
               : NULL;
}

/* Two runs of one contender and its line; on the CPU the second has all threads. */
static int contend(struct trial *trial, struct scans *scans, const char *name, struct scan_way way, bool is_first) {
    const table_view in = scans_in(&trial->host, true);
    const size_t size = table_type_size(in.type), count = in.rows * in.columns;
    const void *result = run(scans, &way);
    if (!result)
        return fail(EX_SOFTWARE, "%s: failed", name);
    if (is_first)
        memcpy(trial->first, result, scans->table.out_bytes);
    memcpy(scans->expected, result, scans->table.out_bytes);
    const double error = find_error(&in, result);
    way.threads = 0;
    if (isnan(error) || !(result = run(scans, &way)))
        return fail(EX_OSERR, "%s: there is no memory for it", name);
    const double all = (double)count,
                 differing = (double)bench_count_differing(scans->expected, result, count, size) / all;
    const double unlike = (double)bench_count_differing(scans->expected, trial->first, count, size) / all;
    const struct bench_figure line[] = {
        COUNT_FIGURE("rows", "rows", 11, in.rows),
        COUNT_FIGURE("columns", "columns", 9, in.columns),
        TEXT_FIGURE("type", "type", 6, table_type_name(in.type)),
        TEXT_FIGURE("values", "values", 13, KINDS[trial->kind]),
        TEXT_FIGURE("who", "who", -25, name),
        NUMBER_FIGURE("largest_relative_error", "largest error", 14, -3, error),
        NUMBER_FIGURE("differing_between_runs", NULL, 0, 0, differing),
        NUMBER_FIGURE(NULL, "between 2 runs, %", 18, 4, 100 * differing),
        NUMBER_FIGURE("differing_from_tuplescan_cpu", NULL, 0, 0, unlike),
        NUMBER_FIGURE(NULL, "from our CPU, %", 16, 4, 100 * unlike),
    };
    report_line(scans->report, line, sizeof line / sizeof *line);
    return way.kind == SCAN_OURS && (differing > 0 || unlike > 0)
               ? fail(EX_SOFTWARE, "WRONG: float results of this library differ between runs or backends")
               : EX_OK;
}

/* Each strategy is one way of adding, and all must agree; and CUB, where it has this table. */
static int contend_on_gpu(struct trial *trial) {
    const struct bench_options *options = trial->gpu.options;
    struct scan_way cub = {.kind = SCAN_CUB};
    table_status reason;
    char name[SCAN_NAME];
    int worst = EX_OK;
    for (size_t s = 0; s < options->strategy_count; s++) {
        struct scan_way way = {.kind = SCAN_OURS, .strategy = options->strategies[s]};
        snprintf(name, sizeof name, "tuplescan, CUDA %s", word_at(strategy_words, way.strategy));
        if (trial->left_out[way.strategy])
            continue;
        if (scan_prepare(&trial->gpu, &way, &reason))
            worst = bench_worse(worst, contend(trial, &trial->gpu, name, way, false));
        else if (reason != TABLE_ERROR_STRATEGY)
            return fail(EX_SOFTWARE, "%s: %s", name, table_error_detail());
        trial->left_out[way.strategy] = reason == TABLE_ERROR_STRATEGY;
        if (trial->left_out[way.strategy])
            report_note(trial->gpu.report, "%s is left out: %s", name, table_error_detail());
    }
    return scan_prepare(&trial->gpu, &cub, &reason) ? bench_worse(worst, contend(trial, &trial->gpu, "CUB", cub, false))
                                                    : worst;
}

static int run_kind(struct trial *trial, bool gpu) {
    const table_view in = scans_in(&trial->host, true);
    fill(&in, trial->kind);
    int worst =
        contend(trial, &trial->host, "tuplescan, CPU", (struct scan_way){.kind = SCAN_OURS, .threads = 1}, true);
    if (gpu && !place_copy(&trial->gpu.place, trial->gpu.in, in.data, trial->gpu.table.in_bytes))
        return EX_UNAVAILABLE;
    if (gpu)
        worst = bench_worse(worst, contend_on_gpu(trial));
    return bench_worse(worst,
                       contend(trial, &trial->host, "serial loop", (struct scan_way){.kind = SCAN_SERIAL}, false));
}

/* Tables of f32 and f64 among the types, columns that lie side by side. */
static int run_table(void *context, const struct bench_case *table) {
    struct trial *trial = context;
    const struct bench_pair pair = table->pair;
    int worst = EX_OK;
    if (pair.in != pair.out || (pair.in != TABLE_F32 && pair.in != TABLE_F64) ||
        table->shape.stride != table->shape.columns)
        return EX_OK;
    trial->host.table = trial->gpu.table = *table;
    for (trial->kind = 0; trial->kind < KIND_COUNT; trial->kind++)
        worst = bench_worse(worst, run_kind(trial, trial->gpu.in != NULL));
    return worst;
}

int bench_accuracy(const struct bench_options *options, struct bench_report *report) {
    const bool gpu = options->backend == TABLE_BACKEND_CUDA;
    struct trial trial = {.host = {.options = options, .report = report},
                          .gpu = {.options = options, .report = report}};
    int code = scans_open(&trial.host, TABLE_BACKEND_CPU, options->bytes, true);
    if (code == EX_OK && gpu)
        code = scans_open(&trial.gpu, TABLE_BACKEND_CUDA, options->bytes, true);
    trial.first = place_allocate(&trial.host.place, options->bytes, true);
    if (code == EX_OK && !trial.first)
        code = fail(EX_OSERR, "out of memory: four tables of %zu bytes are needed", options->bytes);
    if (code == EX_OK)
        code = bench_each_case(options, report, &trial, NULL, run_table);
    scans_close(&trial.host);
    if (gpu)
        scans_close(&trial.gpu);
    return code;
}
