#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hist.h"
#include "json.h"
#include "values.h"

static double even_edge(const table_bins *bins, size_t edge) {
    return table_even_edge(bins->low, bins->high, bins->count, edge);
}

/* Prints as few digits as make the same number when they are read. */
static void double_text(double number, char text[VALUE_TEXT]) {
    enum { FEWEST = 15, MOST = 17 };
    int digits = FEWEST;
    do
        snprintf(text, VALUE_TEXT, "%.*g", digits, number);
    while (digits++ < MOST && strtod(text, NULL) != number);
}

void hist_edge_text(const struct hist_job *job, size_t bin, char text[VALUE_TEXT]) {
    const table_bins *bins = &job->bins;
    const size_t size = table_type_size(job->input.layout.type);
    if (bins->kind == TABLE_BINS_EDGES)
        value_text(job->input.layout.type, (const char *)bins->edges + bin * size, text);
    else if (bins->kind == TABLE_BINS_INTEGER)
        snprintf(text, VALUE_TEXT, job->input.layout.type == TABLE_U64 && bins->first >= 0 ? "%llu" : "%lld",
                 (unsigned long long)bins->first + bin);
    else
        double_text(even_edge(bins, bin), text);
}

void hist_print_outside(const struct hist_job *job) {
    static const char *const names[TABLE_OUTSIDE_WORDS] = {"below", "above", "not a number"};
    for (unsigned i = 0; i < TABLE_OUTSIDE_WORDS; i++)
        if (job->outside[i] > 0)
            printf("# %s: %llu\n", names[i], (unsigned long long)job->outside[i]);
}

const void *hist_count_at(const struct hist_job *job, size_t bin) {
    return (const char *)job->rows + bin * table_type_size(job->layout.type);
}

void hist_print_text(const struct hist_job *job) {
    for (size_t bin = 0; bin < job->bins.count; bin++) {
        char from[VALUE_TEXT], to[VALUE_TEXT], count[VALUE_TEXT];
        hist_edge_text(job, bin, from);
        hist_edge_text(job, job->bins.kind == TABLE_BINS_INTEGER ? bin : bin + 1, to);
        value_text(job->layout.type, hist_count_at(job, bin), count);
        printf("%s\t%s\t%s\n", from, to, count);
    }
    hist_print_outside(job);
}

/* JSON has no number for an infinite one. */
static void print_edge(table_type type, const void *edge) {
    char text[VALUE_TEXT];
    value_text(type, edge, text);
    if (value_is_finite(type, edge))
        json_value(NULL, type, edge);
    else
        json_string(NULL, text);
}

static void print_edges(const struct hist_job *job) {
    const table_bins *bins = &job->bins;
    const table_type type = job->input.layout.type;
    json_array("edges");
    for (size_t bin = 0; bin <= bins->count && bins->kind != TABLE_BINS_INTEGER; bin++) {
        const double edge = even_edge(bins, bin);
        if (bins->kind == TABLE_BINS_EDGES)
            print_edge(type, (const char *)bins->edges + bin * table_type_size(type));
        else
            print_edge(TABLE_F64, &edge);
    }
    json_end();
}

void hist_print_json(const struct hist_job *job) {
    static const char *const kinds[] = {"", "even", "edges", "integer"};
    json_object(NULL);
    json_string("values", job->input.name);
    json_string("type", table_type_name(job->input.layout.type));
    json_size("value_count", keys_view(&job->input).rows);
    json_string("kind", kinds[job->bins.kind]);
    json_size("bins", job->bins.count);
    json_bool("cumulative", job->arguments.cumulative);
    if (job->bins.kind == TABLE_BINS_INTEGER)
        json_value("first", TABLE_I64, &job->bins.first);
    else
        print_edges(job);
    if (!job->arguments.chunk) {
        json_array(job->arguments.density ? "density" : job->weights.name ? "sums" : "counts");
        for (size_t bin = 0; bin < job->bins.count; bin++)
            json_value(NULL, job->layout.type, hist_count_at(job, bin));
        json_end();
    }
    json_size("below", job->outside[TABLE_OUTSIDE_BELOW]);
    json_size("above", job->outside[TABLE_OUTSIDE_ABOVE]);
    json_size("nan", job->outside[TABLE_OUTSIDE_NAN]);
    if (job->arguments.chunk) {
        json_size("chunk_length", job->report.chunk_length);
        json_size("chunks", job->report.chunks);
    }
    print_report(&job->report, job->input.layout.bytes);
    job_times_json();
    json_end();
}
