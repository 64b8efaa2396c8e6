/* The bins of a histogram: as many as were asked for, from where to where. */
#include <math.h>
#include <stdint.h>

#include "hist.h"
#include "message.h"
#include "types.h"

/* Values between two looks at the clock. */
enum { LOOK_KEYS = 1 << 20 };

struct memory_budget hist_budget(const struct hist_job *job) {
    struct memory_budget budget = {.most = memory_there(job->arguments.common.memory)};
    memory_add(&budget, keys_held(&job->input));
    memory_add(&budget, keys_held(&job->edges));
    return budget;
}

/* The sign of what a value was rounded to less the value: integers of 64 bits may be rounded. */
static int rounding(const table_view *values, size_t i, double rounded) {
    if (values->type == TABLE_U64) {
        const uint64_t value = ((const uint64_t *)values->data)[i];
        return rounded >= 0x1p64 ? 1 : ((uint64_t)rounded > value) - ((uint64_t)rounded < value);
    }
    if (values->type == TABLE_I64) {
        const int64_t value = ((const int64_t *)values->data)[i];
        return rounded >= 0x1p63 ? 1 : ((int64_t)rounded > value) - ((int64_t)rounded < value);
    }
    return 0;
}

/* Half a unit to both sides of a single value, as NumPy does it; and wide enough for bins whose edges are doubles. */
static void widen_range(table_bins *bins) {
    enum { FACTOR = 4 }; /* from what the library asks for, after all rounding */
    const double most = fmax(fabs(bins->low), fabs(bins->high)), width = fmax(most * 0x1p-47, 0x1p-1022);
    const double least = fmax(bins->low < bins->high ? 0 : 1, FACTOR * width * (double)bins->count);
    if (bins->high - bins->low < least) {
        const double middle = bins->low + (bins->high - bins->low) / 2;
        bins->low = middle - least / 2;
        bins->high = middle + least / 2;
    }
}

/* The range goes from the least to the greatest value. */
static void find_range(struct hist_job *job) {
    const table_view values = keys_view(&job->input);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < values.rows; i++) {
        const double value = key_as_double(&values, i);
        if (i % LOOK_KEYS == 0)
            progress_show(i, values.rows, i * table_type_size(values.type));
        if (!isfinite(value))
            continue;
        if (value <= low)
            low = rounding(&values, i, value) > 0 ? nextafter(value, -INFINITY) : value;
        if (value >= high)
            high = rounding(&values, i, value) < 0 ? nextafter(value, INFINITY) : value;
    }
    if (low > high)
        die(EX_DATAERR, "%s: has no finite value to take a range from; --range says one", job->input.name);
    job->bins.low = low;
    job->bins.high = high;
    widen_range(&job->bins);
}

static void read_edges(struct hist_job *job) {
    const table_type type = job->input.layout.type;
    const struct memory_budget budget = hist_budget(job);
    open_beside_keys(&job->edges, job->arguments.edges, type, true, &budget);
    const table_view edges = keys_view(&job->edges);
    if (edges.type != type)
        die(EX_DATAERR, "%s: its edges are %s, and the values are %s", job->edges.name, table_type_name(edges.type),
            table_type_name(type));
    if (edges.rows < 2 || edges.rows - 1 > TABLE_BINS_MOST)
        die(EX_DATAERR, "%s: has %zu edges, and 2 to %d are needed", job->edges.name, edges.rows, TABLE_BINS_MOST + 1);
    for (size_t i = 0; i < edges.rows; i++)
        if (isnan(key_as_double(&edges, i)) || (i > 0 && key_as_double(&edges, i) < key_as_double(&edges, i - 1)))
            die(EX_DATAERR, "%s: edge %zu is less than the one before it, or not a number", job->edges.name, i);
    job->bins = (table_bins){.kind = TABLE_BINS_EDGES, .count = edges.rows - 1, .edges = edges.data};
}

double hist_bin_width(const struct hist_job *job, size_t bin) {
    const table_bins *bins = &job->bins;
    const table_type type = job->input.layout.type;
    const table_view edges = {.data = (void *)(uintptr_t)bins->edges, .type = type};
    if (bins->kind == TABLE_BINS_INTEGER)
        return 1;
    if (bins->kind == TABLE_BINS_EVEN)
        return table_even_edge(bins->low, bins->high, bins->count, bin + 1) -
               table_even_edge(bins->low, bins->high, bins->count, bin);
    if (type == TABLE_U64 || type == TABLE_I64) /* the difference is exact, of i64 too: ascending edges of 64 bits */
        return (double)(((const uint64_t *)bins->edges)[bin + 1] - ((const uint64_t *)bins->edges)[bin]);
    return key_as_double(&edges, bin + 1) - key_as_double(&edges, bin);
}

void hist_choose_bins(struct hist_job *job) {
    const struct hist_arguments *arguments = &job->arguments;
    const bool bytes = job->input.layout.type == TABLE_U8 && !arguments->has_range;
    job->bins = (table_bins){.kind = TABLE_BINS_EVEN, .count = arguments->bins ? arguments->bins : bytes ? 256 : 10};
    job->bins.low = arguments->has_range ? arguments->range.low : 0;
    job->bins.high = arguments->has_range ? arguments->range.high : 256;
    if (arguments->edges) {
        read_edges(job);
        return;
    }
    if (arguments->has_first) {
        const table_type type = job->input.layout.type;
        if (type_is_float(type))
            die(EX_USAGE, "--first: bins of one integer each are not for %s", table_type_name(type));
        if (type != TABLE_U64 && arguments->first > INT64_MAX - (int64_t)(job->bins.count - 1))
            die(EX_USAGE, "--first %lld: the last of %zu bins would be beyond 2^63 - 1", (long long)arguments->first,
                job->bins.count);
        job->bins.kind = TABLE_BINS_INTEGER;
        job->bins.first = arguments->first;
        return;
    }
    if (!arguments->has_range && !bytes)
        find_range(job);
}
