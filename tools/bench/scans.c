/* Times of running sums: this library beside memcpy, and on the CPU beside the plain serial loop and numpy, on a GPU
 * beside a copy kernel and CUB. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers/peers.h"
#include "bench/scan.h"
#include "message.h"
#include "types.h"
#include "words.h"

/* The slow peers need fewer repetitions: what disturbs them is small beside their time. */
enum { SLOW_REPEAT = 3, STAGE_REPEAT = 3 };

struct scans_run {
    struct scans scans;
    bool on_gpu, graphs;                        /* graphs: small tables, each timed in a graph */
    bool left_out[TABLE_STRATEGY_FUSED + 1][2]; /* not to be had, unchecked or checked for overflow; said once */
    size_t count, most;
    struct scan_way *ways;
    struct bench_way *times;
    struct scan_way *now;
    enum scan_form form;
    unsigned in_a_row; /* small tables are scanned that many times, to be seen by the clock */
};

static int fill(struct scans *scans, struct bench_pair pair, enum bench_values values) {
    bench_fill(scans->host_in, scans->bytes, pair.in, values);
    return place_copy(&scans->place, scans->in, scans->host_in, scans->bytes) ? EX_OK : EX_UNAVAILABLE;
}

/* Sums that skip NaN are held against sums of the same table with -0.0 in the places of its NaN. */
static int check_all(struct scans_run *run) {
    const struct bench_pair pair = run->scans.table.pair;
    const bool nan = bench_values_of(run->scans.options, pair) == VALUES_NAN;
    int worst = nan ? fill(&run->scans, pair, VALUES_ZERO) : EX_OK;
    const bool expected = worst == EX_OK && scans_expect(&run->scans);
    if (nan && worst == EX_OK)
        worst = fill(&run->scans, pair, VALUES_NAN);
    for (size_t w = 0; w < run->count && bench_goes_on(worst); w++)
        worst = bench_worse(worst, scan_check(&run->scans, &run->ways[w], expected));
    return worst;
}

/* ----------------------------------------------------------------------------------------------------- the ways */

/* False: there is not enough memory for it. */
static bool add_way(struct scans_run *run, struct scan_way way) {
    bool *left_out = &run->left_out[way.strategy][way.check_overflow];
    struct scans *scans = &run->scans;
    char name[SCAN_NAME];
    table_status reason;
    if (run->graphs && way.strategy == TABLE_STRATEGY_HOST) {
        if (!*left_out)
            report_note(scans->report, "host is left out: it waits for the device, so no graph can capture it");
        *left_out = true;
        return true;
    }
    if (scan_prepare(scans, &way, &reason)) {
        run->ways[run->count++] = way;
        return true;
    }
    if (reason != TABLE_OK && !*left_out)
        report_failure(scans->report, reason, "%s is left out, %zu x %zu", scan_name(&way, name), scans->table.rows,
                       scans->table.shape.columns);
    *left_out |= reason == TABLE_ERROR_STRATEGY;
    return reason != TABLE_ERROR_DEVICE_MEMORY;
}

/* On a GPU each strategy without and with the check for overflow, where that is asked for: two lines of one run tell
 * what it costs. On the CPU each with each number of threads. */
static bool add_ways(struct scans_run *run) {
    const struct bench_options *options = run->scans.options;
    const bool checks = bench_checks_overflow(options, run->scans.table.pair);
    bool enough = add_way(run, (struct scan_way){.kind = SCAN_COPY});
    if (!run->on_gpu)
        enough = enough && add_way(run, (struct scan_way){.kind = SCAN_SERIAL});
    for (size_t s = 0; s < options->strategy_count; s++)
        for (size_t k = 0; k < (run->on_gpu ? 1u + checks : options->thread_count) && enough; k++) {
            const struct scan_way ours = {.kind = SCAN_OURS,
                                          .strategy = options->strategies[s],
                                          .check_overflow = run->on_gpu ? k > 0 : checks,
                                          .threads = run->on_gpu ? 0 : options->threads[k]};
            enough = add_way(run, ours);
        }
    if (options->peers)
        enough = enough && add_way(run, (struct scan_way){.kind = SCAN_COPY_KERNEL});
    if (options->peers && !options->reverse)
        enough = enough && add_way(run, (struct scan_way){.kind = SCAN_CUB});
    return enough;
}

/* Each once, which also warms it up. What cannot be run is taken out, so that it costs the others nothing; what breaks
 * the device is at least named. */
static int try_all(struct scans_run *run) {
    struct bench_place *place = &run->scans.place;
    int code = EX_OK;
    for (size_t w = 0; w < run->count;) {
        if (!scan_run(&run->scans, &run->ways[w], SCAN_QUEUED)) {
            code = EX_SOFTWARE;
            run->count--;
            memmove(&run->ways[w], &run->ways[w + 1], (run->count - w) * sizeof *run->ways);
            continue;
        }
        if (!place->kind->wait(place))
            return EX_UNAVAILABLE;
        w++;
    }
    return code;
}

/* --------------------------------------------------------------------------------------------------- measuring */

static bool work(void *context) {
    struct scans_run *run = context;
    return scan_run(&run->scans, run->now, run->form);
}

static bool replay(void *context) {
    struct scans_run *run = context;
    return run->scans.place.kind->replay(&run->scans.place, run->now->graph);
}

/* By the place's own clock. The first of two graphs warms the cache, as scans of small tables find it, and keeps the
 * queue from running dry. */
static bool run_in_turn(void *context, size_t way, struct bench_times *times) {
    struct scans_run *run = context;
    struct bench_place *place = &run->scans.place;
    run->now = &run->ways[way];
    if (run->graphs) {
        const bool good = replay(run) && place_time(place, false, replay, run, 1, &times->ms);
        times->ms /= run->in_a_row;
        return good;
    }
    const bool good = (!place->kind->cool || place->kind->cool(place, false)) &&
                      place_time(place, false, work, run, run->in_a_row, &times->ms);
    for (int s = 0; s < BENCH_PARTS && run->now->kind == SCAN_OURS && !run->on_gpu; s++)
        times->parts[s] = run->now->report.stage_seconds[s] * 1e3;
    return good;
}

/* By the host's clock, the one way there is now. */
static bool run_alone(void *context, size_t way, struct bench_times *times) {
    struct scans_run *run = context;
    (void)way;
    const bool good = place_time(&run->scans.place, true, work, run, 1, &times->ms);
    for (int s = 0; s < BENCH_PARTS && run->form == SCAN_STAGES; s++)
        times->parts[s] = run->now->report.stage_seconds[s] * 1e3;
    return good;
}

/* One way in another form, over and over; NAN where it fails. */
static struct bench_times again(struct scans_run *run, struct scan_way *way, enum scan_form form, unsigned repeat) {
    static struct bench_way alone; /* too large for a stack */
    struct bench_times failed = {NAN, {NAN, NAN, NAN}}, warm;
    run->now = way;
    run->form = form;
    return run_alone(run, 0, &warm) && bench_measure(&alone, 1, repeat, run, run_alone) ? alone.median : failed;
}

/* What a program on the host waits for: the stream form and a wait for the stream, CUB's likewise, and one call. */
static int measure_calls(struct scans_run *run) {
    for (struct scan_way *way = run->ways; way < run->ways + run->count; way++) {
        const bool ours = way->kind == SCAN_OURS;
        way->queued_ms = again(run, way, SCAN_QUEUED, run->scans.options->repeat).ms;
        way->call_ms = ours ? again(run, way, SCAN_CALL, run->scans.options->repeat).ms : NAN;
        if (isnan(way->queued_ms) || (ours && isnan(way->call_ms)))
            return EX_UNAVAILABLE;
    }
    return EX_OK;
}

static int measure_in_turns(struct scans_run *run) {
    struct bench_place *place = &run->scans.place;
    int code = EX_OK;
    run->form = run->on_gpu ? SCAN_QUEUED : SCAN_STAGES;
    for (size_t w = 0; w < run->count; w++) {
        run->now = &run->ways[w];
        run->now->graph = run->graphs ? place->kind->capture(place, work, run, run->in_a_row) : NULL;
        run->times[w].most = run->now->kind == SCAN_SERIAL ? SLOW_REPEAT : 0;
        run->times[w].left_out = run->graphs && !run->now->graph;
        code = run->times[w].left_out ? EX_SOFTWARE : code;
    }
    const bool good = bench_measure(run->times, run->count, run->scans.options->repeat, run, run_in_turn);
    for (size_t w = 0; w < run->count; w++)
        if (run->ways[w].graph)
            place->kind->forget(run->ways[w].graph);
    return good ? code : EX_UNAVAILABLE;
}

/* ---------------------------------------------------------------------------------------------------- one case */

/* Bytes that a scan must move, each value read once and written once, over its time. */
static double gigabytes_per_s(const struct bench_case *table, double ms) {
    const double size = (double)(table_type_size(table->pair.in) + table_type_size(table->pair.out));
    return (double)table->rows * (double)table->shape.columns * size / (ms * 1e6);
}

/* What the lines of a case have in common. */
struct beside {
    double ms[SCAN_OURS], copy_best_ms, cub_queued_ms, numpy_ms;
};

static struct beside find_beside(const struct scans_run *run) {
    const struct bench_options *options = run->scans.options;
    struct beside beside = {{NAN, NAN, NAN, NAN}, NAN, NAN, NAN};
    for (size_t w = 0; w < run->count; w++) {
        const enum scan_kind kind = run->ways[w].kind;
        if (kind < SCAN_OURS)
            beside.ms[kind] = run->times[w].median.ms;
        if (kind == SCAN_COPY)
            beside.copy_best_ms = run->times[w].best_ms;
        if (kind == SCAN_CUB)
            beside.cub_queued_ms = run->ways[w].queued_ms;
    }
    if (!run->on_gpu && options->numpy && options->table_rows == 0 && !options->has_segments)
        beside.numpy_ms = bench_numpy_ms(run->scans.report, &run->scans.table, options->reverse, SLOW_REPEAT);
    return beside;
}

static void report_way(const struct scans_run *run, size_t w, const struct beside *beside,
                       const struct bench_times *stages) {
    const bool cpu = !run->on_gpu, graph = run->graphs;
    const struct bench_case *table = &run->scans.table;
    const struct scan_way *way = &run->ways[w];
    const double ms = run->times[w].median.ms;
    const size_t segments = run->scans.segments[1].count;
    const char *strategy =
        word_at(strategy_words, cpu ? way->report.strategy : way->strategy); /* on the CPU never auto */
    char columns[BENCH_CELL], pair[BENCH_CELL], cell[BENCH_CELL];
    snprintf(columns, sizeof columns, "%zu", table->shape.columns);
    if (table->shape.stride != table->shape.columns)
        snprintf(columns, sizeof columns, "%zu/%zu", table->shape.columns, table->shape.stride);
    snprintf(cell, sizeof cell, "%s%s", strategy, way->check_overflow ? ", checked" : "");
    struct bench_figure figures[] = {
        COUNT_FIGURE("rows", "rows", 11, table->rows),
        COUNT_FIGURE("segments", segments > 0 ? "segments" : NULL, 11, segments),
        COUNT_FIGURE("columns", NULL, 0, table->shape.columns),
        TEXT_FIGURE(NULL, "columns", 10, columns),
        COUNT_FIGURE("stride", NULL, 0, table->shape.stride),
        TEXT_FIGURE("in_type", NULL, 0, table_type_name(table->pair.in)),
        TEXT_FIGURE("type", NULL, 0, table_type_name(table->pair.out)),
        TEXT_FIGURE(NULL, "type", 8, bench_pair_text(table->pair, pair)),
        TEXT_FIGURE("backend", NULL, 0, cpu ? "cpu" : "cuda"),
        TEXT_FIGURE("strategy", NULL, 0, strategy),
        TEXT_FIGURE(NULL, "strategy", 19, cell),
        COUNT_FIGURE("threads", cpu ? "threads" : NULL, 8, cpu ? way->report.threads : 0),
        FLAG_FIGURE("reverse", run->scans.options->reverse),
        FLAG_FIGURE("overflow_checked", way->check_overflow),
        FLAG_FIGURE("graph", graph),
        TIME_FIGURE("ms", graph ? "us" : "ms", 9, ms),
        NUMBER_FIGURE("gb_per_s", "GB/s", 8, 1, gigabytes_per_s(table, ms)),
        NUMBER_FIGURE("of_memcpy", "of memcpy", 10, 3, beside->ms[SCAN_COPY] / ms),
        LIST_FIGURE("stage_ms", BENCH_PARTS, stages->parts),
        TIME_FIGURE(NULL, graph ? NULL : "stage 1", 8, stages->parts[0]),
        TIME_FIGURE(NULL, graph ? NULL : "stage 2", 8, stages->parts[1]),
        TIME_FIGURE(NULL, graph ? NULL : "stage 3", 8, stages->parts[2]),
        TIME_FIGURE("memcpy_ms", "memcpy", 9, beside->ms[SCAN_COPY]),
        TIME_FIGURE("best_ms", NULL, 0, run->times[w].best_ms),
        TIME_FIGURE("best_memcpy_ms", NULL, 0, beside->copy_best_ms),
        TIME_FIGURE("copy_kernel_ms", cpu ? NULL : "copying", 9, beside->ms[SCAN_COPY_KERNEL]),
        TIME_FIGURE("cub_ms", cpu ? NULL : "CUB", 9, beside->ms[SCAN_CUB]),
        TIME_FIGURE("queued_ms", graph ? "queued" : NULL, 9, way->queued_ms),
        TIME_FIGURE("cub_queued_ms", graph ? "CUB's" : NULL, 9, beside->cub_queued_ms),
        TIME_FIGURE("call_ms", graph ? "call" : NULL, 9, way->call_ms),
        TIME_FIGURE("serial_ms", cpu ? "serial" : NULL, 9, beside->ms[SCAN_SERIAL]),
        TIME_FIGURE("numpy_ms", cpu ? "numpy" : NULL, 9, beside->numpy_ms),
        RIGHT_FIGURE(way->right),
    };
    const size_t count = sizeof figures / sizeof *figures;
    for (size_t i = 0; i < count && graph; i++)
        if (figures[i].kind == FIGURE_TIME)
            figures[i].kind = FIGURE_US;
    report_line(run->scans.report, figures, count);
}

/* On a GPU the times of the stages come from calls of their own. */
static void report_case(struct scans_run *run) {
    const struct beside beside = find_beside(run);
    for (size_t w = 0; w < run->count; w++) {
        if (run->ways[w].kind != SCAN_OURS || run->times[w].left_out)
            continue;
        const struct bench_times stages =
            !run->on_gpu || run->graphs ? run->times[w].median : again(run, &run->ways[w], SCAN_STAGES, STAGE_REPEAT);
        report_way(run, w, &beside, &stages);
    }
}

static int run_case(void *context, const struct bench_case *table) {
    enum { SMALL = 1 << 20, LARGER = 64 << 20 };
    struct scans_run *run = context;
    const size_t bytes = table->out_bytes;
    run->in_a_row = !run->on_gpu  ? (bytes < SMALL ? (unsigned)(SMALL / bytes) : 1)
                    : run->graphs ? (bytes <= SMALL    ? 64
                                     : bytes <= LARGER ? 16
                                                       : 4)
                                  : 1;
    run->count = 0;
    if (!scans_take(&run->scans, table) || !add_ways(run))
        return EX_OSERR; /* the next shape may need less */
    int worst = try_all(run);
    if (bench_goes_on(worst) && run->scans.options->check)
        worst = bench_worse(worst, check_all(run));
    if (bench_goes_on(worst))
        worst = bench_worse(worst, measure_in_turns(run));
    if (bench_goes_on(worst) && run->graphs)
        worst = bench_worse(worst, measure_calls(run));
    if (bench_goes_on(worst))
        report_case(run);
    return worst;
}

static int fill_pair(void *context, struct bench_pair pair) {
    struct scans *scans = &((struct scans_run *)context)->scans;
    return fill(scans, pair, bench_values_of(scans->options, pair));
}

int bench_scans(const struct bench_options *options, struct bench_report *report) {
    struct scans_run run = {.scans = {.options = options, .report = report}};
    run.on_gpu = options->backend == TABLE_BACKEND_CUDA;
    run.graphs = run.on_gpu && options->row_count > 0;
    run.most = SCAN_OURS + options->strategy_count * (run.on_gpu ? 2 : options->thread_count);
    if (options->peers && !peer_cub_version())
        report_note(report, "CUB is left out: this command was built without its headers");
    if (options->peers && options->reverse)
        report_note(report, "CUB is left out: it sums from the top");
    if (options->peers && options->has_segments && !peer_cub_has_segments())
        report_note(report, "CUB is left out: DeviceSegmentedScan is younger than the headers of this command");
    int code = scans_open(&run.scans, options->backend, bench_largest_bytes(options), options->check);
    run.ways = calloc(run.most, sizeof *run.ways);
    run.times = calloc(run.most, sizeof *run.times);
    if (code == EX_OK && !(run.ways && run.times))
        code = fail(EX_OSERR, "out of memory");
    if (code == EX_OK)
        code = bench_each_case(options, report, &run, fill_pair, run_case);
    scans_close(&run.scans);
    free(run.ways);
    free(run.times);
    return code;
}
