/* The pipelines on keys in host memory: sorting beside qsort and std::sort, histograms beside reading memory. Keys of
 * several spreads, as a sort or a histogram may be slow for some: spread.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../json.h"
#include "../memory.h"
#include "../message.h"
#include "../peers/sort_peer.h"
#include "bench.h"
#include "keys/keys.h"
#include "spread.h"

/* What is measured. */
struct subject {
    const char *name;
    table_type type;
    size_t value_bytes; /* of a sort */
    bool histogram;
    table_bins bins;
};

static const struct subject SUBJECTS[] = {
    {"sort", TABLE_U32, 0, false, {.count = 0}},
    {"sort, 4-byte values", TABLE_U32, 4, false, {.count = 0}},
    {"sort, 8-byte values", TABLE_U32, 8, false, {.count = 0}},
    {"sort", TABLE_U64, 0, false, {.count = 0}},
    {"histogram, 256 bins", TABLE_U8, 0, true, {.kind = TABLE_BINS_EVEN, .count = 256, .high = 0x1p8}},
    {"histogram, 256 bins", TABLE_U32, 0, true, {.kind = TABLE_BINS_EVEN, .count = 256, .high = 0x1p32}},
    {"histogram, 200 bins", TABLE_U32, 0, true, {.kind = TABLE_BINS_EVEN, .count = 200, .high = 0x1p32}},
    {"histogram, 256 bins", TABLE_F32, 0, true, {.kind = TABLE_BINS_EVEN, .count = 256, .low = -1e9, .high = 1e9}},
    {"histogram, 256 bins", TABLE_U64, 0, true, {.kind = TABLE_BINS_EVEN, .count = 256, .high = 0x1p64}},
    {"histogram, 4096 bins", TABLE_U32, 0, true, {.kind = TABLE_BINS_EVEN, .count = 4096, .high = 0x1p32}},
    {"histogram, 65536 bins", TABLE_U32, 0, true, {.kind = TABLE_BINS_EVEN, .count = 65536, .high = 0x1p32}},
};

struct bench {
    const struct bench_options *options;
    FILE *table; /* NULL: no table */
    size_t bytes;
    char *given, *keys, *values, *workspace; /* keys as made, and being sorted */
    size_t workspace_bytes;
    uint64_t *counts, *expected;
};

/* Figures of one line; NAN: not measured. */
struct line {
    const struct subject *subject;
    enum spread spread;
    size_t keys;
    unsigned threads;
    double ms, best_ms, qsort_ms, std_sort_ms, read_ms;
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

static table_status sort_once(const struct bench *bench, const struct line *line, double *ms) {
    const struct subject *subject = line->subject;
    const table_view keys = {bench->keys, line->keys, 1, 0, subject->type};
    const table_sort_options options = {.run = {.backend = TABLE_BACKEND_CPU,
                                                .threads = line->threads,
                                                .workspace = bench->workspace,
                                                .workspace_bytes = bench->workspace_bytes}};
    memcpy(bench->keys, bench->given, bench->bytes);
    const double start = bench_seconds();
    const table_status status =
        table_radix_sort_async(&keys, subject->value_bytes ? bench->values : NULL, subject->value_bytes, &options);
    *ms = (bench_seconds() - start) * 1e3;
    return status;
}

static table_status histogram_once(const struct bench *bench, const struct line *line, double *ms) {
    const struct subject *subject = line->subject;
    const table_view values = {bench->given, line->keys, 1, 0, subject->type};
    const table_view result = {bench->counts, 1, subject->bins.count, 0, TABLE_U64};
    const table_histogram_options options = {.run = {.backend = TABLE_BACKEND_CPU,
                                                     .threads = line->threads,
                                                     .workspace = bench->workspace,
                                                     .workspace_bytes = bench->workspace_bytes}};
    const double start = bench_seconds();
    const table_status status = table_histogram_async(&values, &subject->bins, &result, &options);
    *ms = (bench_seconds() - start) * 1e3;
    return status;
}

static int ascending_u32(const void *a, const void *b) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The peers sort copies of the same keys; they are slow, and once is enough. */
static void measure_peers(const struct bench *bench, struct line *line) {
    memcpy(bench->keys, bench->given, bench->bytes);
    double start = bench_seconds();
    if (peer_std_sort((uint32_t *)(void *)bench->keys, line->keys) == 0)
        line->std_sort_ms = (bench_seconds() - start) * 1e3;
    memcpy(bench->keys, bench->given, bench->bytes);
    start = bench_seconds();
    qsort(bench->keys, line->keys, sizeof(uint32_t), ascending_u32);
    line->qsort_ms = (bench_seconds() - start) * 1e3;
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

static table_status run_once(const struct bench *bench, const struct line *line, double *ms) {
    return line->subject->histogram ? histogram_once(bench, line, ms) : sort_once(bench, line, ms);
}

/* Each number of threads once, before anything is timed. */
static int check_lines(const struct bench *bench, const struct line *lines) {
    const struct subject *subject = lines->subject;
    double ms;
    if (subject->histogram)
        count_plainly(bench, lines);
    for (size_t t = 0; t < bench->options->thread_count; t++) {
        for (size_t i = 0; i < lines->keys && subject->value_bytes > 0; i++)
            memcpy(bench->values + i * subject->value_bytes, &i, subject->value_bytes);
        const table_status status = run_once(bench, &lines[t], &ms);
        if (status != TABLE_OK)
            return fail_status(subject->name, status);
        const bool right = subject->histogram         ? memcmp(bench->counts, bench->expected,
                                                               subject->bins.count * sizeof *bench->counts) == 0
                           : subject->value_bytes > 0 ? values_are_right(bench, &lines[t])
                                                      : keys_are_right(bench, &lines[t]);
        if (!right)
            return fail(EX_SOFTWARE, "WRONG RESULT: %s of %s keys by %u threads", subject->name,
                        spread_name(lines->spread), lines[t].threads);
    }
    return EX_OK;
}

/* --------------------------------------------------------------------------------------------------- measuring */

static void print_line(const struct bench *bench, const struct line *line, bool titled);

/* One subject and spread with all numbers of threads, which take turns, so that what else the machine does meanwhile
 * meets all alike. `peers` are measured beside the first. */
static int run_lines(const struct bench *bench, struct line *lines, bool peers) {
    static double ms[BENCH_LIST][BENCH_REPEAT_MOST], read_ms[BENCH_REPEAT_MOST];
    const unsigned repeat = bench->options->repeat;
    const size_t count = bench->options->thread_count;
    const struct subject *subject = lines->subject;
    const int code = bench->options->check ? check_lines(bench, lines) : EX_OK;
    if (code != EX_OK)
        return code;
    for (unsigned r = 0; r < repeat; r++) {
        for (size_t t = 0; t < count; t++) {
            const table_status status = run_once(bench, &lines[t], &ms[t][r]);
            if (status != TABLE_OK)
                return fail_status(subject->name, status);
        }
        read_ms[r] = subject->histogram ? read_once(bench) : NAN;
    }
    if (peers)
        measure_peers(bench, lines);
    const double read = subject->histogram ? bench_median(read_ms, repeat) : NAN;
    for (size_t t = 0; t < count; t++) {
        lines[t].read_ms = read;
        lines[t].ms = bench_median(ms[t], repeat);
        lines[t].best_ms = ms[t][0]; /* sorted by now */
        print_line(bench, &lines[t], false);
    }
    return EX_OK;
}

static int run_all(const struct bench *bench) {
    const struct bench_options *options = bench->options;
    for (size_t s = 0; s < sizeof SUBJECTS / sizeof *SUBJECTS; s++)
        for (enum spread spread = 0; spread < SPREADS; spread++) {
            const struct subject *subject = &SUBJECTS[s];
            struct line lines[BENCH_LIST];
            make_keys(bench, subject->type, spread);
            for (size_t t = 0; t < options->thread_count; t++)
                lines[t] = (struct line){.subject = subject,
                                         .spread = spread,
                                         .keys = bench->bytes / table_type_size(subject->type),
                                         .threads = options->threads[t],
                                         .qsort_ms = NAN,
                                         .std_sort_ms = NAN};
            const int code = run_lines(bench, lines, s == 0 && (spread == UNIFORM || spread == SORTED));
            if (code != EX_OK)
                return code;
        }
    return EX_OK;
}

/* ----------------------------------------------------------------------------------------------------- printing */

static void print_factor(FILE *to, double peer_ms, double ms) {
    if (isnan(peer_ms))
        fprintf(to, " %9s", "");
    else
        fprintf(to, " %8.2fx", peer_ms / ms);
}

static void print_line(const struct bench *bench, const struct line *line, bool titled) {
    const double read = line->read_ms / line->ms;
    if (bench->table && titled)
        fprintf(bench->table, "%-22s %-4s %-11s %7s %10s %10s %9s %9s %9s %8s\n", "what", "type", "spread", "threads",
                "ms", "best ms", "Mkeys/s", "std::sort", "qsort", "of read");
    if (titled)
        return;
    if (bench->table) {
        fprintf(bench->table, "%-22s %-4s %-11s %7u %10.3f %10.3f %9.1f", line->subject->name,
                table_type_name(line->subject->type), spread_name(line->spread), line->threads, line->ms, line->best_ms,
                (double)line->keys / line->ms / 1e3);
        print_factor(bench->table, line->std_sort_ms, line->ms);
        print_factor(bench->table, line->qsort_ms, line->ms);
        fprintf(bench->table, isnan(read) ? "\n" : " %8.2f\n", read);
        fflush(bench->table);
    }
    if (!bench->options->json)
        return;
    json_object(NULL);
    json_string("what", line->subject->name);
    json_string("type", table_type_name(line->subject->type));
    json_string("spread", spread_name(line->spread));
    json_size("keys", line->keys);
    json_size("threads", line->threads);
    json_number("ms", line->ms);
    json_number("best_ms", line->best_ms);
    json_number("std_sort_ms", line->std_sort_ms);
    json_number("qsort_ms", line->qsort_ms);
    json_number("read_ms", line->read_ms);
    json_number("of_read", read);
    json_end();
}

/* ------------------------------------------------------------------------------------------------- the whole of it */

/* The workspace of the subject that wants most. */
static table_status most_workspace(const struct bench *bench, size_t *most) {
    table_status status = TABLE_OK;
    *most = 0;
    for (size_t s = 0; s < sizeof SUBJECTS / sizeof *SUBJECTS && status == TABLE_OK; s++)
        for (size_t t = 0; t < bench->options->thread_count && status == TABLE_OK; t++) {
            const struct subject *subject = &SUBJECTS[s];
            const table_view keys = {bench->given, bench->bytes / table_type_size(subject->type), 1, 0, subject->type};
            const table_view result = {bench->counts, 1, subject->bins.count, 0, TABLE_U64};
            const table_pipeline_options run = {.backend = TABLE_BACKEND_CPU, .threads = bench->options->threads[t]};
            const table_sort_options sort = {.run = run};
            const table_histogram_options histogram = {.run = run};
            size_t bytes = 0;
            status = subject->histogram ? table_histogram_workspace(&keys, &subject->bins, &result, &histogram, &bytes)
                                        : table_radix_sort_workspace(&keys, subject->value_bytes ? bench->values : NULL,
                                                                     subject->value_bytes, &sort, &bytes);
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
    struct bench bench = {.options = options, .bytes = options->bytes - options->bytes % sizeof(uint64_t)};
    bench.table = report_table(report);
    if (bench.bytes == 0)
        return fail(EX_USAGE, "--bytes %zu: not a key", options->bytes);
    int code = allocate(&bench);
    if (code == EX_OK) {
        print_line(&bench, &(struct line){0}, true);
        code = run_all(&bench);
    }
    free(bench.given);
    free(bench.keys);
    free(bench.values);
    free(bench.workspace);
    free(bench.counts);
    free(bench.expected);
    return code;
}
