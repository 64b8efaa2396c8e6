/* The pipelines on keys: on the CPU sorting beside qsort and std::sort, histograms beside reading memory; on a GPU both
 * beside CUB's and a copy of the keys. A sort or a histogram may be slow for some keys, so they are spread in several
 * ways. */
#include "bench/keys.h"

#include <math.h>
#include <stdlib.h>

#include "bench/peers/peers.h"
#include "message.h"

enum { STEP_REPEAT = 3 };
enum key_step { COUNTING, SCANNING, MOVING };
static const char *const spread_names[SPREADS] = {"uniform", "all equal", "sorted", "reversed", "two values", "zipf"};

#define SORT(TYPE, VALUE_BYTES, ON_CPU)                                                                                \
    {                                                                                                                  \
        VALUE_BYTES == 0   ? "sort"                                                                                    \
        : VALUE_BYTES == 4 ? "sort, 4-byte values"                                                                     \
                           : "sort, 8-byte values",                                                                    \
            TABLE_##TYPE, VALUE_BYTES, {.count = 0}, ON_CPU, true                                                      \
    }
#define HISTOGRAM(TYPE, BINS, LOW, HIGH, ON_GPU)                                                                       \
    {                                                                                                                  \
        "histogram, " #BINS " bins", TABLE_##TYPE, 0,                                                                  \
            {.kind = TABLE_BINS_EVEN, .count = BINS, .low = LOW, .high = HIGH}, true, ON_GPU                           \
    }

static const struct key_subject subjects[] = {
    SORT(U32, 0, true),
    SORT(U32, 4, true),
    SORT(U32, 8, true),
    SORT(U64, 0, true),
    SORT(U64, 8, false),
    HISTOGRAM(U8, 256, 0, 0x1p8, true),
    HISTOGRAM(U32, 256, 0, 0x1p32, true),
    HISTOGRAM(U32, 200, 0, 0x1p32, true),
    HISTOGRAM(F32, 256, -1e9, 1e9, true),
    HISTOGRAM(U64, 256, 0, 0x1p64, false),
    HISTOGRAM(U32, 4096, 0, 0x1p32, true),
    HISTOGRAM(U32, 65536, 0, 0x1p32, true),
};

/* ----------------------------------------------------------------------------------------------------- the ways */

/* Ours, in any form: with `bytes` it says how much workspace it needs; STEPPED has the steps of a call. */
static table_status ours(struct key_bench *bench, size_t *bytes) {
    const struct key_subject *subject = bench->subject;
    const bool sorts = subject->bins.count == 0, call = bench->way == STEPPED && !bytes;
    const size_t value_bytes = subject->value_bytes;
    const table_view keys = {sorts ? bench->keys : bench->given, bench->count, 1, 0, subject->type};
    const table_view result = {bench->out, 1, subject->bins.count, 0, bench->on_gpu ? TABLE_U32 : TABLE_U64};
    const table_pipeline_options run = {.backend = bench->place.kind->backend,
                                        .threads = bench->threads,
                                        .stream = call ? NULL : bench->place.stream,
                                        .workspace = call ? NULL : bench->place.workspace,
                                        .workspace_bytes = call ? 0 : bench->place.workspace_bytes,
                                        .report = call ? &bench->report : NULL};
    const table_histogram_options histogram = {.run = run};
    const table_sort_options sort = {.run = run};
    void *const moved = value_bytes ? bench->values : NULL;
    if (sorts)
        return bytes  ? table_radix_sort_workspace(&keys, moved, value_bytes, &sort, bytes)
               : call ? table_radix_sort(&keys, moved, value_bytes, &sort)
                      : table_radix_sort_async(&keys, moved, value_bytes, &sort);
    return bytes  ? table_histogram_workspace(&keys, &subject->bins, &result, &histogram, bytes)
           : call ? table_histogram(&keys, &subject->bins, &result, &histogram)
                  : table_histogram_async(&keys, &subject->bins, &result, &histogram);
}

/* With a workspace of NULL it says how large that has to be. */
static int cub(struct key_bench *bench, void *workspace, size_t *bytes) {
    const struct key_subject *subject = bench->subject;
    const struct peer_keys what = {.type = subject->type,
                                   .count = bench->count,
                                   .keys = bench->given,
                                   .values = bench->values,
                                   .value_bytes = subject->value_bytes,
                                   .sorted = bench->out,
                                   .sorted_values = bench->values_out,
                                   .bins = subject->bins.count,
                                   .low = subject->bins.low,
                                   .high = subject->bins.high,
                                   .stream = bench->place.stream};
    return subject->bins.count ? peer_cub_histogram(&what, workspace, bytes) : peer_cub_sort(&what, workspace, bytes);
}

static int ascending_u32(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The sum of all words, by one thread. */
static void read_once(struct key_bench *bench) {
    const uint64_t *words = bench->given;
    const size_t count = key_bytes(bench) / sizeof *words;
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += words[i];
    *(volatile uint64_t *)bench->out = sum; /* so that it is not left out */
}

static bool work(void *context) {
    struct key_bench *bench = context;
    struct bench_place *place = &bench->place;
    size_t bytes = bench->place.workspace_bytes;
    switch (bench->way) {
    case STD_SORT:
        return peer_std_sort(bench->keys, bench->count) == 0;
    case QSORT:
        qsort(bench->keys, bench->count, sizeof(uint32_t), ascending_u32);
        return true;
    case READ:
        read_once(bench);
        return true;
    case CUB:
        return place->kind->succeeded(place, cub(bench, bench->place.workspace, &bytes), "CUB");
    case COPY:
        return place->kind->copy(place, bench->out, bench->given, key_bytes(bench), key_bytes(bench), 1);
    default:
        break;
    }
    const table_status status = ours(bench, NULL);
    if (status != TABLE_OK)
        report_failure(place->report, status, "%s", bench->subject->name);
    return status == TABLE_OK;
}

/* Sorting in place loses the input, so ahead of each run, of all ways alike, the keys are copied. */
static bool run_way(void *context, size_t way, struct bench_times *times) {
    struct key_bench *bench = context;
    struct bench_place *place = &bench->place;
    const size_t bytes = key_bytes(bench);
    bench->way = way < OURS ? (enum key_way)way : OURS;
    bench->threads = way < OURS || bench->on_gpu ? 0 : bench->options->threads[way - OURS];
    const bool ready = bench->subject->bins.count == 0
                           ? place->kind->copy(place, bench->keys, bench->given, bytes, bytes, 1)
                           : !place->kind->cool || place->kind->cool(place, true);
    if (!ready || (way == STEPPED && !place->kind->wait(place)) ||
        !place_time(place, false, work, bench, 1, &times->ms))
        return false;
    times->parts[COUNTING] = bench->report.count_seconds * 1e3;
    times->parts[SCANNING] = bench->report.scan_seconds * 1e3;
    times->parts[MOVING] = bench->report.move_seconds * 1e3;
    return true;
}

/* One way, before anything is timed; a benchmark of a wrong result is worthless. */
static int check_way(struct key_bench *bench, size_t way) {
    const struct key_subject *subject = bench->subject;
    struct bench_times ignored;
    size_t wrong;
    if (!make_values(bench) || !run_way(bench, way, &ignored) || !count_wrong(bench, &wrong))
        return EX_UNAVAILABLE;
    if (wrong > 0)
        report_note(bench->place.report, "WRONG RESULT: %zu of %zu %s, %s of %s, %s%s", wrong,
                    subject->bins.count ? subject->bins.count : bench->count, subject->bins.count ? "bins" : "keys",
                    subject->name, table_type_name(subject->type), spread_names[bench->spread],
                    way == CUB ? ", CUB" : "");
    return wrong == 0 ? EX_OK : EX_SOFTWARE;
}

/* ------------------------------------------------------------------------------------------------------ one line */

static size_t way_count(const struct key_bench *bench) {
    return OURS + (bench->on_gpu ? 1 : bench->options->thread_count);
}

static void report_way(const struct key_bench *bench, const struct bench_way *ways, size_t way, int right) {
    const bool cpu = !bench->on_gpu, first = way == OURS;
    const struct bench_times *steps = &ways[STEPPED].median;
    const bool has_scan = bench->report.chunks > 1; /* one chunk leaves nothing to scan */
    const double ms = ways[way].median.ms, speed = (double)bench->count / 1e6 / ms;
    const double standard = first ? ways[STD_SORT].median.ms : NAN, plain = first ? ways[QSORT].median.ms : NAN;
    const struct bench_figure figures[] = {
        TEXT_FIGURE("what", "what", -22, bench->subject->name),
        TEXT_FIGURE("type", "type", -4, table_type_name(bench->subject->type)),
        TEXT_FIGURE("spread", "spread", -11, spread_names[bench->spread]),
        COUNT_FIGURE("keys", NULL, 0, bench->count),
        COUNT_FIGURE("threads", cpu ? "threads" : NULL, 8, cpu ? bench->options->threads[way - OURS] : 0),
        TIME_FIGURE("ms", "ms", 11, ms),
        TIME_FIGURE("best_ms", cpu ? "best ms" : NULL, 11, ways[way].best_ms),
        NUMBER_FIGURE("gkeys_per_second", "Gkeys/s", 10, 3, speed),
        TIME_FIGURE("std_sort_ms", NULL, 0, standard),
        TIME_FIGURE("qsort_ms", NULL, 0, plain),
        NUMBER_FIGURE(NULL, cpu ? "std::sort" : NULL, 11, 2, standard / ms),
        NUMBER_FIGURE(NULL, cpu ? "qsort" : NULL, 10, 2, plain / ms),
        TIME_FIGURE("read_ms", NULL, 0, ways[READ].median.ms),
        NUMBER_FIGURE("of_read", cpu ? "of read" : NULL, 9, 2, ways[READ].median.ms / ms),
        TIME_FIGURE("cub_ms", cpu ? NULL : "CUB ms", 11, ways[CUB].median.ms),
        NUMBER_FIGURE("of_cub", cpu ? NULL : "of CUB", 8, 2, ways[CUB].median.ms / ms),
        TIME_FIGURE("copy_ms", cpu ? NULL : "copy ms", 11, ways[COPY].median.ms),
        TIME_FIGURE("count_ms", cpu ? NULL : "count ms", 10, steps->parts[COUNTING]),
        TIME_FIGURE("scan_ms", cpu ? NULL : "scan ms", 10, has_scan ? steps->parts[SCANNING] : NAN),
        TIME_FIGURE("move_ms", cpu ? NULL : "move ms", 10, bench->subject->bins.count ? NAN : steps->parts[MOVING]),
        RIGHT_FIGURE(right),
    };
    report_line(bench->place.report, figures, sizeof figures / sizeof *figures);
}

/* Which ways there are: the peers of the CPU are slow, and sort the first subject once. */
static void choose_ways(struct key_bench *bench, struct bench_way *ways) {
    const bool sorts = bench->subject->bins.count == 0, cpu = !bench->on_gpu;
    const bool slow = cpu && bench->subject == subjects && (bench->spread == UNIFORM || bench->spread == SORTED);
    size_t bytes = 0;
    ways[STD_SORT].left_out = !slow || peer_std_sort(NULL, 0) != 0;
    ways[QSORT].left_out = !slow;
    ways[STD_SORT].most = ways[QSORT].most = 1;
    ways[READ].left_out = !cpu || sorts;
    ways[CUB].left_out = cpu || !bench->options->peers || cub(bench, NULL, &bytes) != 0;
    ways[COPY].left_out = ways[STEPPED].left_out = cpu;
    ways[STEPPED].most = STEP_REPEAT;
}

/* One subject and spread. CUB's bins of floats are rounded otherwise. */
static int run_line(struct key_bench *bench, struct bench_way *ways) {
    const bool check = bench->options->check, cub_too = bench->subject->type != TABLE_F32;
    int worst = EX_OK, right = check ? 1 : -1;
    struct bench_times ignored;
    if (!make_keys(bench))
        return EX_UNAVAILABLE;
    choose_ways(bench, ways);
    if (check && bench->subject->bins.count && !expect_counts(bench))
        return EX_UNAVAILABLE;
    for (size_t way = CUB; way < way_count(bench); way++) {
        const bool looks = check && (way >= OURS || (way == CUB && cub_too));
        if (ways[way].left_out)
            continue;
        const int code = looks ? check_way(bench, way) : run_way(bench, way, &ignored) ? EX_OK : EX_UNAVAILABLE;
        right = code == EX_OK || way < OURS ? right : 0;
        worst = bench_worse(worst, code);
    }
    if (!bench_goes_on(worst) || (worst != EX_OK && !bench->on_gpu))
        return worst;
    if (!bench_measure(ways, way_count(bench), bench->options->repeat, bench, run_way))
        return EX_UNAVAILABLE;
    for (size_t way = OURS; way < way_count(bench); way++)
        report_way(bench, ways, way, right);
    return worst;
}

/* --------------------------------------------------------------------------------------------- the whole of it */

static bool take_subject(struct key_bench *bench, const struct key_subject *subject) {
    const size_t words = bench->options->bytes / sizeof(uint64_t);
    bench->subject = subject;
    bench->count =
        bench->options->keys ? bench->options->keys : words * (sizeof(uint64_t) / table_type_size(subject->type));
    return bench->on_gpu ? subject->on_gpu : subject->on_cpu;
}

static size_t more(size_t a, size_t b) { return a > b ? a : b; }

/* The workspace is what the subject wants that wants most. */
static int allocate_workspace(struct key_bench *bench) {
    size_t most = 0;
    for (size_t s = 0; s < sizeof subjects / sizeof *subjects; s++)
        for (size_t t = 0; t < (bench->on_gpu ? 1 : bench->options->thread_count); t++) {
            size_t bytes = 0;
            if (!take_subject(bench, &subjects[s]))
                continue;
            bench->threads = bench->on_gpu ? 0 : bench->options->threads[t];
            const table_status status = ours(bench, &bytes);
            if (status != TABLE_OK)
                return fail_status("workspace", status);
            most = more(most, bytes);
            if (bench->options->peers && cub(bench, NULL, &bytes) == 0)
                most = more(most, bytes);
        }
    return place_grow_workspace(&bench->place, most)
               ? EX_OK
               : fail(EX_OSERR, "out of memory: a workspace of %zu bytes is needed", most);
}

static int allocate(struct key_bench *bench) {
    struct bench_place *place = &bench->place;
    const size_t counters = TABLE_BINS_MOST * sizeof *bench->expected;
    for (size_t s = 0; s < sizeof subjects / sizeof *subjects; s++)
        if (take_subject(bench, &subjects[s])) {
            bench->bytes = more(bench->bytes, key_bytes(bench));
            bench->value_bytes = more(bench->value_bytes, bench->count * subjects[s].value_bytes);
        }
    if (bench->bytes == 0)
        return fail(EX_USAGE, "--bytes %zu: not a key", bench->options->bytes);
    const size_t room = more(bench->bytes, counters);
    bench->given = place_allocate(place, bench->bytes, false);
    bench->keys = place_allocate(place, room, false);
    bench->values = place_allocate(place, bench->value_bytes, false);
    bench->out = place_allocate(place, room, false);
    bench->values_out = bench->on_gpu ? place_allocate(place, bench->value_bytes, false) : bench->values;
    bench->host_given = place_mirror(place, bench->given, bench->bytes);
    bench->host_keys = place_mirror(place, bench->keys, room);
    bench->host_values = place_mirror(place, bench->values, bench->value_bytes);
    bench->expected = place_allocate(place, counters, true);
    return place->is_short ? fail(EX_OSERR, "out of memory: seven tables of %zu bytes are needed", bench->bytes)
                           : allocate_workspace(bench);
}

static int run_all(struct key_bench *bench, struct bench_way *ways) {
    int worst = EX_OK;
    bool scanless = false;
    for (size_t s = 0; s < sizeof subjects / sizeof *subjects; s++)
        for (bench->spread = 0; bench->spread < SPREADS && take_subject(bench, &subjects[s]); bench->spread++) {
            worst = bench_worse(worst, run_line(bench, ways));
            if (worst != EX_OK && worst != EX_SOFTWARE)
                return worst;
            scanless |= bench->on_gpu && bench->subject->bins.count == 0 && bench->report.chunks <= 1;
        }
    if (scanless)
        report_note(bench->place.report,
                    "sorts are of one chunk: their scan is inside the move and has no time of its own");
    return worst;
}

int bench_keys(const struct bench_options *options, struct bench_report *report) {
    struct key_bench bench = {.options = options, .on_gpu = options->backend == TABLE_BACKEND_CUDA, .way = OURS};
    struct bench_way *ways = calloc(OURS + BENCH_LIST, sizeof *ways);
    int code = !ways                                                   ? fail(EX_OSERR, "out of memory")
               : place_open(&bench.place, options->backend, 0, report) ? allocate(&bench)
                                                                       : EX_UNAVAILABLE;
    if (code == EX_OK)
        code = run_all(&bench, ways);
    place_close(&bench.place);
    free(ways);
    return code;
}
