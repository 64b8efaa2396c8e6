/* What a histogram says instead of counts: how many values there are up to each bin, and which share of all. */
#include <stdint.h>

#include "hist.h"
#include "message.h"

/* The sums of the bins from the first one to each. */
static void add_up(const struct hist_job *job, void *counts) {
    const table_view row = {counts, job->bins.count, 1, 0, job->count_type};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    die_unless_ok(job->input.name, table_prefix_sum(&row, &row, &options));
}

static double count_of(const struct hist_job *job, const void *counts, size_t bin) {
    return job->count_type == TABLE_U64 ? (double)((const uint64_t *)counts)[bin] : ((const double *)counts)[bin];
}

/* The sum of all bins, which is the last one where they have been added up. */
static double all_of(const struct hist_job *job, const void *counts) {
    double sum = 0;
    if (job->arguments.cumulative)
        return count_of(job, counts, job->bins.count - 1);
    for (size_t bin = 0; bin < job->bins.count; bin++)
        sum += count_of(job, counts, bin);
    return sum;
}

/* As NumPy has it: the integral over all bins is 1; of what was added up, the last bin has 1. */
static void make_density(const struct hist_job *job, void *counts) {
    const double all = all_of(job, counts);
    for (size_t bin = 0; bin < job->bins.count; bin++) {
        const double count = count_of(job, counts, bin);
        ((double *)counts)[bin] = (job->arguments.cumulative ? count : count / hist_bin_width(job, bin)) / all;
    }
}

void hist_cumulate(struct hist_job *job) {
    const size_t row_bytes = job->bins.count * table_type_size(job->count_type);
    for (size_t row = 0; row < job->rows_of_bins; row++) {
        char *const counts = (char *)job->rows + row * row_bytes;
        if (job->arguments.cumulative)
            add_up(job, counts);
        if (job->arguments.density)
            make_density(job, counts);
    }
}
