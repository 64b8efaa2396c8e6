/* The pipelines on keys in host memory: sorting beside qsort and std::sort, histograms beside reading memory. Keys of
 * several spreads, as a sort or a histogram may be slow for some: spread.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers/sort_peer.h"
#include "bench/pipelines.h"
#include "keys/keys.h"
#include "memory.h"
#include "message.h"

#define EVEN(BINS, LOW, HIGH)                                                                                          \
    { .kind = TABLE_BINS_EVEN, .count = BINS, .low = LOW, .high = HIGH }

const struct subject bench_subjects[SUBJECTS] = {
    {"sort", TABLE_U32, 0, {.count = 0}, true, true},
    {"sort, 4-byte values", TABLE_U32, 4, {.count = 0}, true, true},
    {"sort, 8-byte values", TABLE_U32, 8, {.count = 0}, true, true},
    {"sort", TABLE_U64, 0, {.count = 0}, true, true},
    {"sort, 8-byte values", TABLE_U64, 8, {.count = 0}, false, true},
    {"histogram, 256 bins", TABLE_U8, 0, EVEN(256, 0, 0x1p8), true, true},
    {"histogram, 256 bins", TABLE_U32, 0, EVEN(256, 0, 0x1p32), true, true},
    {"histogram, 200 bins", TABLE_U32, 0, EVEN(200, 0, 0x1p32), true, true},
    {"histogram, 256 bins", TABLE_F32, 0, EVEN(256, -1e9, 1e9), true, true},
    {"histogram, 256 bins", TABLE_U64, 0, EVEN(256, 0, 0x1p64), true, false},
    {"histogram, 4096 bins", TABLE_U32, 0, EVEN(4096, 0, 0x1p32), true, true},
    {"histogram, 65536 bins", TABLE_U32, 0, EVEN(65536, 0, 0x1p32), true, true},
};

struct bench {
    const struct bench_options *options;
    struct bench_report *report;
    size_t bytes;
    char *given, *keys, *values, *workspace; /* keys as made, and being sorted */
    size_t workspace_bytes;
    uint64_t *counts, *expected;
};

/* What is measured now. */
struct line {
    const struct subject *subject;
    enum spread spread;
    size_t keys;
    unsigned threads;
};

/* --------------------------------------------------------------------------------------------------------- keys */

static void make_keys(const struct bench *bench, table_type type, enum spread spread) {
    const size_t size = table_type_size(type), count = bench->bytes / size;
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = spread_key(spread, i, count, 8 * (unsigned)size);
        memcpy(bench->given + i * size, &bits, size);
    }
}

/* ------------------------------------------------------------------------------------------------------ running */

table_status subject_call(const struct subject *subject, const table_view *keys, void *values, const table_view *result,
                          const table_pipeline_options *run, size_t *bytes) {
    const table_histogram_options histogram = {.run = *run};
    const table_sort_options sort = {.run = *run};
    const size_t value_bytes = subject->value_bytes;
    void *const moved = value_bytes ? values : NULL;
    if (subject->bins.count > 0)
        return bytes            ? table_histogram_workspace(keys, &subject->bins, result, &histogram, bytes)
               : run->workspace ? table_histogram_async(keys, &subject->bins, result, &histogram)
                                : table_histogram(keys, &subject->bins, result, &histogram);
    return bytes            ? table_radix_sort_workspace(keys, moved, value_bytes, &sort, bytes)
           : run->workspace ? table_radix_sort_async(keys, moved, value_bytes, &sort)
                            : table_radix_sort(keys, moved, value_bytes, &sort);
}

/* The call of a line; a sort is of the copy of the keys. */
static table_status call(const struct bench *bench, const struct line *line, size_t *bytes) {
    const struct subject *subject = line->subject;
    const table_view keys = {subject->bins.count > 0 ? bench->given : bench->keys, line->keys, 1, 0, subject->type};
    const table_view result = {bench->counts, 1, subject->bins.count, 0, TABLE_U64};
    const table_pipeline_options run = {.backend = TABLE_BACKEND_CPU,
                                        .threads = line->threads,
                                        .workspace = bench->workspace,
                                        .workspace_bytes = bench->workspace_bytes};
    return subject_call(subject, &keys, bench->values, &result, &run, bytes);
}

static table_status run_once(const struct bench *bench, const struct line *line, double *ms) {
    if (line->subject->bins.count == 0)
        memcpy(bench->keys, bench->given, bench->bytes);
    const double start = bench_seconds();
    const table_status status = call(bench, line, NULL);
    *ms = (bench_seconds() - start) * 1e3;
    return status;
}

static int ascending_u32(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* A peer sorts a copy of the same keys; false: it is not there. */
static bool sort_by_peer(const struct bench *bench, const struct line *line, bool standard, double *ms) {
    memcpy(bench->keys, bench->given, bench->bytes);
    const double start = bench_seconds();
    if (!standard)
        qsort(bench->keys, line->keys, sizeof(uint32_t), ascending_u32);
    const bool sorted = !standard || peer_std_sort((uint32_t *)(void *)bench->keys, line->keys) == 0;
    *ms = (bench_seconds() - start) * 1e3;
    return sorted;
}

/* Reading: the sum of all words, by one thread. */
static double read_once(const struct bench *bench) {
    const uint64_t *words = (const uint64_t *)(const void *)bench->given;
    uint64_t sum = 0;
    const double start = bench_seconds();
    for (size_t i = 0; i < bench->bytes / sizeof *words; i++)
        sum += words[i];
    const double ms = (bench_seconds() - start) * 1e3;
    bench->counts[0] = sum; /* so that it is not left out */
    return ms;
}

/* ---------------------------------------------------------------------------------------------- right or wrong */

static uint64_t word_at(const char *words, size_t size, size_t i) {
    uint64_t word = 0;
    memcpy(&word, words + i * size, size);
    return word;
}

/* The keys ascend, and are those that were given: the same sum of words made of them. */
static bool keys_are_right(const struct bench *bench, const struct line *line) {
    const size_t size = table_type_size(line->subject->type);
    uint64_t before = 0, surplus = 0;
    for (size_t i = 0; i < line->keys; i++) {
        const uint64_t key = word_at(bench->keys, size, i);
        if (key < before)
            return false;
        surplus += splitmix64_mix(key) - splitmix64_mix(word_at(bench->given, size, i));
        before = key;
    }
    return surplus == 0;
}

/* The values were the keys' indices: each still is beside its key, and they ascend where keys are equal. */
static bool values_are_right(const struct bench *bench, const struct line *line) {
    const size_t size = table_type_size(line->subject->type);
    uint64_t key_before = 0, index_before = 0;
    for (size_t i = 0; i < line->keys; i++) {
        const uint64_t key = word_at(bench->keys, size, i);
        const uint64_t index = word_at(bench->values, line->subject->value_bytes, i);
        if (index >= line->keys || word_at(bench->given, size, index) != key)
            return false;
        if (i > 0 && (key == key_before ? index <= index_before : key < key_before))
            return false;
        key_before = key;
        index_before = index;
    }
    return true;
}

/* As tuplescan/histogram.h says it, value by value. */
static void count_plainly(const struct bench *bench, const struct line *line) {
    const table_bins *bins = &line->subject->bins;
    const table_view values = {bench->given, line->keys, 1, 0, line->subject->type};
    const double width = (bins->high - bins->low) / (double)bins->count;
    memset(bench->expected, 0, bins->count * sizeof *bench->expected);
    for (size_t i = 0; i < line->keys; i++) {
        const double value = key_as_double(&values, i);
        const long double exact =
            values.type == TABLE_U64 ? (long double)((const uint64_t *)values.data)[i] : (long double)value;
        if (!(value >= bins->low && value <= bins->high))
            continue;
        size_t bin = (size_t)((value - bins->low) / width); /* or one beside it */
        bin = bin < bins->count ? bin : bins->count - 1;
        if (exact < bins->low + (double)bin * width)
            bin--;
        else if (bin + 1 < bins->count && exact >= bins->low + (double)(bin + 1) * width)
            bin++;
        bench->expected[bin]++;
    }
}

/* Each number of threads once, before anything is timed. */
static int check(const struct bench *bench, struct line line) {
    const struct subject *subject = line.subject;
    double ms;
    if (subject->bins.count > 0)
        count_plainly(bench, &line);
    for (size_t t = 0; t < bench->options->thread_count; t++) {
        line.threads = bench->options->threads[t];
        for (size_t i = 0; i < line.keys && subject->value_bytes > 0; i++)
            memcpy(bench->values + i * subject->value_bytes, &i, subject->value_bytes);
        const table_status status = run_once(bench, &line, &ms);
        if (status != TABLE_OK)
            return fail_status(subject->name, status);
        const bool right = subject->bins.count > 0    ? memcmp(bench->counts, bench->expected,
                                                               subject->bins.count * sizeof *bench->counts) == 0
                           : subject->value_bytes > 0 ? values_are_right(bench, &line)
                                                      : keys_are_right(bench, &line);
        if (!right)
            return fail(EX_SOFTWARE, "WRONG RESULT: %s of %s keys by %u threads", subject->name,
                        spread_name(line.spread), line.threads);
    }
    return EX_OK;
}

/* --------------------------------------------------------------------------------------------------- measuring */

/* The peers are slow, and once is enough; reading is beside histograms. */
enum way { STD_SORT, QSORT, READ, OURS };

struct turns {
    const struct bench *bench;
    struct line line;
    table_status status;
};

static bool run_way(void *context, size_t way, double *ms) {
    struct turns *turns = context;
    *ms = NAN;
    if (way == READ)
        *ms = read_once(turns->bench);
    else if (way < READ && !sort_by_peer(turns->bench, &turns->line, way == STD_SORT, ms))
        *ms = NAN;
    if (way < OURS)
        return true;
    turns->line.threads = turns->bench->options->threads[way - OURS];
    turns->status = run_once(turns->bench, &turns->line, ms);
    return turns->status == TABLE_OK;
}

static void report_threads(const struct bench *bench, const struct line *line, const struct bench_way *ways, size_t t) {
    const double ms = ways[OURS + t].ms, read = ways[READ].ms;
    const struct bench_figure figures[] = {
        SUBJECT_FIGURES(line->subject, line->spread, line->keys),
        COUNT_FIGURE("threads", "threads", 8, bench->options->threads[t]),
        TIME_FIGURE("ms", "ms", 11, ms),
        TIME_FIGURE("best_ms", "best ms", 11, ways[OURS + t].best_ms),
        NUMBER_FIGURE(NULL, "Mkeys/s", 10, 1, (double)line->keys / ms / 1e3),
        TIME_FIGURE("std_sort_ms", NULL, 0, t == 0 ? ways[STD_SORT].ms : NAN),
        TIME_FIGURE("qsort_ms", NULL, 0, t == 0 ? ways[QSORT].ms : NAN),
        NUMBER_FIGURE(NULL, "std::sort", 11, 2, t == 0 ? ways[STD_SORT].ms / ms : NAN),
        NUMBER_FIGURE(NULL, "qsort", 10, 2, t == 0 ? ways[QSORT].ms / ms : NAN),
        TIME_FIGURE("read_ms", NULL, 0, read),
        NUMBER_FIGURE("of_read", "of read", 9, 2, read / ms),
    };
    report_line(bench->report, figures, sizeof figures / sizeof *figures);
}

/* One subject and spread; `peers` are measured beside it. */
static int run_line(const struct bench *bench, const struct line *line, bool peers) {
    static struct bench_way ways[OURS + BENCH_LIST]; /* too large for a stack */
    struct turns turns = {.bench = bench, .line = *line};
    const int code = bench->options->check ? check(bench, *line) : EX_OK;
    ways[STD_SORT].left_out = ways[QSORT].left_out = !peers;
    ways[STD_SORT].most = ways[QSORT].most = 1;
    ways[READ].left_out = line->subject->bins.count == 0;
    if (code != EX_OK)
        return code;
    if (!bench_measure(ways, OURS + bench->options->thread_count, bench->options->repeat, &turns, run_way, NULL))
        return fail_status(line->subject->name, turns.status);
    for (size_t t = 0; t < bench->options->thread_count; t++)
        report_threads(bench, line, ways, t);
    return EX_OK;
}

static int run_all(const struct bench *bench) {
    int code = EX_OK;
    for (size_t s = 0; s < SUBJECTS; s++)
        for (enum spread spread = 0; spread < SPREADS && bench_subjects[s].on_cpu && code == EX_OK; spread++) {
            const struct subject *subject = &bench_subjects[s];
            const struct line line = {
                .subject = subject, .spread = spread, .keys = bench->bytes / table_type_size(subject->type)};
            make_keys(bench, subject->type, spread);
            code = run_line(bench, &line, s == 0 && (spread == UNIFORM || spread == SORTED));
        }
    return code;
}

/* ------------------------------------------------------------------------------------------------- the whole of it */

/* The workspace of the subject that wants most. */
static table_status most_workspace(const struct bench *bench, size_t *most) {
    table_status status = TABLE_OK;
    *most = 0;
    for (size_t s = 0; s < SUBJECTS && status == TABLE_OK; s++)
        for (size_t t = 0; t < bench->options->thread_count && status == TABLE_OK; t++) {
            const struct line line = {.subject = &bench_subjects[s],
                                      .keys = bench->bytes / table_type_size(bench_subjects[s].type),
                                      .threads = bench->options->threads[t]};
            size_t bytes = 0;
            status = call(bench, &line, &bytes);
            *most = bytes > *most ? bytes : *most;
        }
    return status;
}

static int allocate(struct bench *bench) {
    size_t workspace = 0;
    if (!bench_memory_suffices(7, bench->bytes))
        return fail(EX_OSERR, "out of memory: seven tables of %zu bytes are needed", bench->bytes);
    bench->given = memory_allocate(bench->bytes);
    bench->keys = memory_allocate(bench->bytes);
    bench->values = memory_allocate(2 * bench->bytes);
    bench->counts = memory_allocate(TABLE_BINS_MOST * sizeof *bench->counts);
    bench->expected = memory_allocate(TABLE_BINS_MOST * sizeof *bench->expected);
    if (!bench->given || !bench->keys || !bench->values || !bench->counts || !bench->expected)
        return fail(EX_OSERR, "out of memory: seven tables of %zu bytes are needed", bench->bytes);
    memset(bench->values, 1, 2 * bench->bytes);
    const table_status status = most_workspace(bench, &workspace);
    if (status != TABLE_OK)
        return fail_status("workspace", status);
    workspace += TABLE_WORKSPACE_ALIGNMENT - workspace % TABLE_WORKSPACE_ALIGNMENT;
    bench->workspace_bytes = workspace;
    bench->workspace = aligned_alloc(TABLE_WORKSPACE_ALIGNMENT, workspace);
    if (!bench->workspace)
        return fail(EX_OSERR, "out of memory: a workspace of %zu bytes is needed", workspace);
    memset(bench->workspace, 1, workspace);
    return EX_OK;
}

int bench_cpu_pipelines(const struct bench_options *options, struct bench_report *report) {
    struct bench bench = {
        .options = options, .report = report, .bytes = options->bytes - options->bytes % sizeof(uint64_t)};
    if (bench.bytes == 0)
        return fail(EX_USAGE, "--bytes %zu: not a key", options->bytes);
    int code = allocate(&bench);
    if (code == EX_OK)
        code = run_all(&bench);
    free(bench.given);
    free(bench.keys);
    free(bench.values);
    free(bench.workspace);
    free(bench.counts);
    free(bench.expected);
    return code;
}
