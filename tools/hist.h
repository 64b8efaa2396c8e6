/* A histogram that was made, and the three ways to print it. */
#ifndef HIST_H
#define HIST_H

#include "keys.h"
#include "memory.h"
#include "stopwatch.h"

struct hist_job {
    struct arguments arguments;
    struct input_file input, edges, weights;
    struct atomic_file output;
    struct table_layout layout;
    const struct output_format *format;
    struct progress progress;
    struct stopwatch watch;
    table_bins bins;
    void *rows; /* of the layout: u64 counts, or f64 sums of weights */
    uint64_t outside[TABLE_OUTSIDE_WORDS];
    table_pipeline_report report;
};

/* What may be used, and what of it is, before the counts are made. */
struct memory_budget hist_budget(const struct hist_job *job);

/* Makes the bins that the arguments ask for, which may mean to look at all values, or to read edges. An EX_ code. */
int hist_choose_bins(struct hist_job *job);

void hist_print_text(const struct hist_job *job); /* a line for each bin: from, to, how many */
void hist_print_plot(const struct hist_job *job); /* the same with bars */
void hist_print_json(const struct hist_job *job);

#endif
