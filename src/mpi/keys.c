/* Histograms and digit counts of what all ranks have: counts of each, and their sums. */
#include <tuplescan/mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "link.h"

enum { TEXT = 256 };

static const char *const BINS_NAME = "the bins", *const DIGIT_NAME = "the digit";

/* One number that differs, in all likelihood, where the bytes do (FNV-1a). */
static uint64_t mix(uint64_t sum, const void *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ ((const unsigned char *)memory)[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t mix_bins(const table_bins *bins, table_type type) {
    uint64_t sum = mix(0xcbf29ce484222325u, &bins->kind, sizeof bins->kind);
    if (bins->kind == TABLE_BINS_EDGES)
        return mix(sum, bins->edges, (bins->count + 1) * table_type_size(type));
    if (bins->kind == TABLE_BINS_INTEGER)
        return mix(sum, &bins->first, sizeof bins->first);
    return mix(mix(sum, &bins->low, sizeof bins->low), &bins->high, sizeof bins->high);
}

/* Numbers of this rank, which become those of all. */
static table_status add_up(const struct mpi_link *link, uint64_t *words, size_t count) {
    const int code = MPI_Allreduce(MPI_IN_PLACE, words, (int)count, MPI_UINT64_T, MPI_SUM, link->comm);
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Allreduce()", code);
}

/* What a histogram's numbers travel in: how many values there are, how many are outside, and those of each bin. */
struct histogram {
    uint64_t *words;
    size_t count;
};
enum { VALUES, OUTSIDE, BINS = OUTSIDE + TABLE_OUTSIDE_WORDS };

/* The CPU says of what is in device memory that it cannot reach it. */
static const table_pipeline_options on_host = {.backend = TABLE_BACKEND_CPU};

static table_status count_values(const table_view *values, const table_bins *bins, const table_view *result,
                                 const table_histogram_options *options, struct histogram *histogram) {
    table_histogram_options inner = {0}, looked_at;
    uint64_t outside[TABLE_OUTSIDE_WORDS];
    size_t bytes;
    if (options)
        inner = *options;
    if (inner.per_chunk || inner.weights)
        return table_error_set(TABLE_ERROR_ARGUMENT, "options: per_chunk and weights are not for ranks");
    looked_at = inner;
    looked_at.run = on_host;
    inner.outside = outside;
    table_status status = table_histogram_workspace(values, bins, result, &looked_at, &bytes);
    if (status == TABLE_OK)
        status = table_histogram(values, bins, result, &inner);
    if (status != TABLE_OK)
        return status;
    histogram->count = BINS + bins->count;
    histogram->words = calloc(histogram->count, sizeof *histogram->words);
    if (!histogram->words)
        return table_error_set(TABLE_ERROR_HOST_MEMORY, "no memory for the counts of the bins");
    histogram->words[VALUES] = values->rows;
    memcpy(histogram->words + OUTSIDE, outside, sizeof outside);
    for (size_t i = 0; i < bins->count; i++)
        histogram->words[BINS + i] =
            result->type == TABLE_U32 ? ((const uint32_t *)result->data)[i] : ((const uint64_t *)result->data)[i];
    return TABLE_OK;
}

/* The sums of all ranks, where the caller wants them. */
static table_status put_histogram(const struct histogram *histogram, const table_view *result, uint64_t *outside) {
    if (result->type == TABLE_U32 && histogram->words[VALUES] > UINT32_MAX)
        return table_error_set(TABLE_ERROR_TOO_LARGE, "the ranks have more than 2^32 - 1 values, and result is u32");
    if (outside)
        memcpy(outside, histogram->words + OUTSIDE, TABLE_OUTSIDE_WORDS * sizeof *outside);
    for (size_t i = 0; i < histogram->count - BINS; i++)
        if (result->type == TABLE_U32)
            ((uint32_t *)result->data)[i] = (uint32_t)histogram->words[BINS + i];
        else
            ((uint64_t *)result->data)[i] = histogram->words[BINS + i];
    return TABLE_OK;
}

table_status table_histogram_mpi(const table_view *values, const table_bins *bins, const table_view *result,
                                 const table_histogram_options *options, MPI_Comm comm) {
    struct histogram histogram = {0};
    struct mpi_link link;
    table_status status = mpi_link_begin(&link, comm);
    if (status != TABLE_OK)
        return status;
    struct plea plea = {.status = count_values(values, bins, result, options, &histogram),
                        .call = RANKS_CALL_HISTOGRAM,
                        .detail_names = &BINS_NAME};
    if (plea.status == TABLE_OK) {
        plea.columns = bins->count;
        plea.in = values->type;
        plea.out = result->type;
        plea.details[0] = mix_bins(bins, values->type);
    }
    status = together_agree(&link.all, &plea);
    if (status == TABLE_OK)
        status = add_up(&link, histogram.words, histogram.count);
    if (status == TABLE_OK)
        status = put_histogram(&histogram, result, options ? options->outside : NULL);
    free(histogram.words);
    return status;
}

/* What the caller is to be told of its digits; and the counts of this rank, until all agree. */
struct digits {
    uint64_t *counts, *before, *totals, *own;
    size_t count;
};

/* All keys of this rank are one chunk. */
static table_view counters_at(uint64_t *counts, const struct digits *digits, const table_view *keys) {
    return (table_view){.data = counts, .rows = keys->rows != 0, .columns = digits->count, .type = TABLE_U64};
}

/* The keys and the digit first, with counters of which nothing is wrong. */
static table_status look_at_places(const table_view *keys, const table_digit *digit, const struct digits *digits) {
    static const char *const names[] = {NULL, "counts", "before", "totals"};
    uint64_t *const places[] = {digits->own, digits->counts, digits->before, digits->totals};
    for (int i = 0; i < 4; i++) {
        const table_view counters = counters_at(places[i], digits, keys);
        char text[TEXT];
        size_t bytes;
        const table_status status =
            table_digit_counts_workspace(keys, digit, keys->rows ? keys->rows : 1, &counters, &on_host, &bytes);
        if (status == TABLE_OK)
            continue;
        if (!names[i])
            return status;
        snprintf(text, sizeof text, "%s, as counters: %.200s", names[i], table_error_detail());
        return table_error_set(status, text);
    }
    return TABLE_OK;
}

static table_status count_digits(const table_view *keys, const table_digit *digit,
                                 const table_pipeline_options *options, struct digits *digits) {
    if (!keys || !digit || !digits->counts || !digits->before || !digits->totals)
        return table_error_set(TABLE_ERROR_ARGUMENT, "keys, digit, counts, before or totals is a null pointer");
    digits->count = digit->bits <= TABLE_DIGIT_BITS_MOST ? (size_t)1 << digit->bits : 1;
    digits->own = calloc(digits->count, sizeof *digits->own);
    if (!digits->own)
        return table_error_set(TABLE_ERROR_HOST_MEMORY, "no memory for the counts of the digits");
    const table_status status = look_at_places(keys, digit, digits);
    if (status != TABLE_OK)
        return status;
    const table_view counters = counters_at(digits->own, digits, keys);
    return table_digit_counts(keys, digit, keys->rows ? keys->rows : 1, &counters, options);
}

static table_status spread_digits(const struct mpi_link *link, const struct digits *all) {
    uint64_t *const before = all->before;
    const size_t digits = all->count;
    if (link->all.rank == 0)
        memset(before, 0, digits * sizeof *before);
    const int code = MPI_Exscan(all->own, before, (int)digits, MPI_UINT64_T, MPI_SUM, link->comm);
    if (code != MPI_SUCCESS)
        return mpi_failed("MPI_Exscan()", code);
    if (link->all.rank == 0) /* MPI does not say what it leaves there */
        memset(before, 0, digits * sizeof *before);
    memcpy(all->counts, all->own, digits * sizeof *all->counts);
    memcpy(all->totals, all->own, digits * sizeof *all->totals);
    return add_up(link, all->totals, digits);
}

table_status table_digit_counts_mpi(const table_view *keys, const table_digit *digit, uint64_t *counts,
                                    uint64_t *before, uint64_t *totals, const table_pipeline_options *options,
                                    MPI_Comm comm) {
    struct digits digits = {.counts = counts, .before = before, .totals = totals};
    struct mpi_link link;
    table_status status = mpi_link_begin(&link, comm);
    if (status != TABLE_OK)
        return status;
    struct plea plea = {.status = count_digits(keys, digit, options, &digits),
                        .call = RANKS_CALL_DIGIT_COUNTS,
                        .detail_names = &DIGIT_NAME};
    if (plea.status == TABLE_OK) {
        plea.columns = digits.count;
        plea.in = keys->type;
        plea.details[0] = (uint64_t)digit->first_bit << 1 | (digit->descending != 0);
    }
    status = together_agree(&link.all, &plea);
    if (status == TABLE_OK)
        status = spread_digits(&link, &digits);
    free(digits.own);
    return status;
}
