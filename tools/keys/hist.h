/* A histogram that was made, and the three ways to print it. */
#ifndef HIST_H
#define HIST_H

#include "keys.h"
#include "memory.h"
#include "values.h"

struct hist_job {
    struct hist_arguments arguments;
    struct input_file input, edges, weights;
    struct atomic_file output;
    struct table_layout layout;
    const struct output_format *format;
    table_bins bins;
    size_t rows_of_bins;   /* 1, or one for each chunk */
    table_type count_type; /* u64 of counts, f64 of sums of weights */
    void *rows;            /* of the layout: counts, and then the results in their place */
    uint64_t outside[TABLE_OUTSIDE_WORDS];
    table_pipeline_report report;
};

/* What may be used, and what of it is, before the counts are made. */
struct memory_budget hist_budget(const struct hist_job *job);

/* Makes the bins that the arguments ask for, which may mean to look at all values, or to read edges. */
void hist_choose_bins(struct hist_job *job);

/* The width of a bin; 1 of one of an integer. */
double hist_bin_width(const struct hist_job *job, size_t bin);

void hist_print_text(const struct hist_job *job); /* a line for each bin: from, to, how many */
void hist_print_plot(const struct hist_job *job); /* a bar for each bin, from where, how many */
void hist_print_json(const struct hist_job *job);

/* The left edge of bin `bin`, which is the right one of the bin before. */
void hist_edge_text(const struct hist_job *job, size_t bin, char text[VALUE_TEXT]);

const void *hist_count_at(const struct hist_job *job, size_t bin); /* of the layout's type */

/* Prints how many values are in no bin. */
void hist_print_outside(const struct hist_job *job);

#endif
