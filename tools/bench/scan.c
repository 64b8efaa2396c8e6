#include "bench/scan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/peers/peers.h"
#include "message.h"
#include "splitmix64.h"
#include "words.h"

int scans_open(struct scans *scans, table_backend backend, size_t bytes, bool compares) {
    struct bench_place *place = &scans->place;
    const bool on_gpu = backend == TABLE_BACKEND_CUDA;
    scans->bytes = bytes;
    if (!place_open(place, backend, 0, scans->report))
        return EX_UNAVAILABLE;
    scans->in = place_allocate(place, bytes, false);
    scans->host_in = place_mirror(place, scans->in, bytes);
    scans->out = place_allocate(place, bytes, false);
    scans->host_out = compares ? place_mirror(place, scans->out, bytes) : scans->out;
    scans->expected = compares ? place_allocate(place, bytes, true) : NULL;
    scans->first_overflow = place_allocate(place, sizeof *scans->first_overflow, false);
    return place->is_short ? fail(EX_OSERR, "out of memory: %s of %zu bytes are needed",
                                  on_gpu ? "two tables on the GPU" : "three tables", bytes)
                           : EX_OK;
}

/* The rows of segment number `index` of a table of `rows` rows, which may end before. */
static size_t length_of(const struct bench_lengths *lengths, size_t index, size_t rows) {
    enum { TINY_MOST = 1000000, TINY_SHARE = 40, DOCUMENTS = 64, DOCUMENT_LEAST = 100, DOCUMENT_MOST = 65536 };
    const size_t tiny = rows / TINY_SHARE < TINY_MOST ? rows / TINY_SHARE : TINY_MOST;
    const uint64_t random = splitmix64_at(1, index);
    const double share = ((double)(random >> 11) + 1) * 0x1p-53; /* above 0, at most 1 */
    switch (lengths->kind) {
    case LENGTHS_PARETO:
        return (size_t)fmin(pow(share, -1 / 1.1), (double)rows);
    case LENGTHS_GIANT:
        return index == tiny / 2 ? rows - tiny * 3 / 2 : random % 4;
    case LENGTHS_DOCUMENTS:
        return (size_t)((DOCUMENT_LEAST + share * (DOCUMENT_MOST - DOCUMENT_LEAST)) * 2 /
                        (DOCUMENT_LEAST + DOCUMENT_MOST) / DOCUMENTS * (double)rows) +
               1;
    default:
        return lengths->rows.from + (size_t)(random % (lengths->rows.to - lengths->rows.from + 1));
    }
}

/* Counts segments, the last of which has the rest of the table, and puts their offsets where they are wanted. */
static size_t make_offsets(const struct scans *scans, int64_t *offsets) {
    const size_t rows = scans->table.rows;
    size_t count = 0;
    for (size_t row = 0; row < rows; count++) {
        const size_t length = length_of(&scans->options->segments, count, rows);
        row += length < rows - row ? length : rows - row;
        if (offsets)
            offsets[count + 1] = (int64_t)row;
    }
    return count;
}

bool scans_take(struct scans *scans, const struct bench_case *table) {
    struct bench_place *place = &scans->place;
    scans->table = *table;
    if (!scans->options->has_segments)
        return true;
    const size_t count = make_offsets(scans, NULL), bytes = (count + 1) * sizeof(int64_t);
    for (int on_host = 0; on_host < 2; on_host++)
        place_release(place, (void *)(uintptr_t)scans->segments[on_host].data);
    int64_t *const offsets = place_allocate(place, bytes, true), *const here = place_allocate(place, bytes, false);
    if (!offsets || !here)
        return false;
    offsets[0] = 0;
    make_offsets(scans, offsets);
    scans->segments[1] = (table_segments){.kind = TABLE_SEGMENT_OFFSETS, .type = TABLE_I64, .data = offsets};
    scans->segments[1].count = count;
    scans->segments[0] = scans->segments[1];
    scans->segments[0].data = here;
    return place_copy(place, here, offsets, bytes);
}

table_status scans_sum(const struct scans *scans, const table_view *in, const table_view *out, bool on_host,
                       const table_scan_options *options) {
    return scans->options->has_segments ? table_segmented_prefix_sum(in, out, &scans->segments[on_host], options)
                                        : table_prefix_sum(in, out, options);
}

void scans_close(struct scans *scans) { place_close(&scans->place); }

table_view scans_in(const struct scans *scans, bool on_host) {
    return bench_view(&scans->table, on_host ? scans->host_in : scans->in, scans->table.pair.in);
}

table_view scans_out(const struct scans *scans, void *data) {
    return bench_view(&scans->table, data, scans->table.pair.out);
}

const char *scan_name(const struct scan_way *way, char name[SCAN_NAME]) {
    static const char *const names[] = {"memcpy", "the serial loop", "the copy kernel", "CUB"};
    snprintf(name, SCAN_NAME, "%s%s", way->kind < SCAN_OURS ? names[way->kind] : word_at(strategy_words, way->strategy),
             way->check_overflow ? ", checked" : "");
    return name;
}

static bool rows_lie_side_by_side(const struct scans *scans) {
    return scans->table.shape.stride == scans->table.shape.columns;
}

/* ---------------------------------------------------------------------------------------------------- workspace */

static table_scan_options options_of(const struct scans *scans, const struct scan_way *way) {
    return (table_scan_options){.backend = scans->place.kind->backend,
                                .strategy = way->strategy,
                                .threads = way->threads,
                                .first_overflow = way->check_overflow ? scans->first_overflow : NULL};
}

static int run_cub(const struct scans *scans, void *workspace, size_t *workspace_bytes) {
    const struct bench_case *table = &scans->table;
    const struct peer_scan what = {.in_type = table->pair.in,
                                   .type = table->pair.out,
                                   .rows = table->rows,
                                   .columns = table->shape.columns,
                                   .offsets = scans->segments[0].data,
                                   .segments = scans->segments[0].count,
                                   .in = scans->in,
                                   .out = scans->out,
                                   .stream = scans->place.stream};
    return peer_cub_scan(&what, workspace, workspace_bytes);
}

bool scan_prepare(struct scans *scans, struct scan_way *way, table_status *reason) {
    const bool on_gpu = scans->place.kind->backend == TABLE_BACKEND_CUDA;
    way->right = -1;
    way->queued_ms = way->call_ms = NAN;
    *reason = TABLE_OK;
    if (way->kind == SCAN_OURS && on_gpu) {
        table_scan_options options = options_of(scans, way);
        table_view in = scans_in(scans, false), out = scans_out(scans, scans->out);
        options.stream = scans->place.stream;
        bench_split(scans->options, &in, &out, &options);
        *reason = scans->options->has_segments ? table_segmented_prefix_sum_workspace(&in, &out, scans->segments,
                                                                                      &options, &way->workspace_bytes)
                                               : table_prefix_sum_workspace(&in, &out, &options, &way->workspace_bytes);
    }
    if ((way->kind == SCAN_COPY_KERNEL || way->kind == SCAN_CUB) && !rows_lie_side_by_side(scans))
        return false;
    if (way->kind == SCAN_CUB && run_cub(scans, NULL, &way->workspace_bytes) != 0)
        return false;
    if (*reason == TABLE_OK && !place_grow_workspace(&scans->place, way->workspace_bytes))
        *reason = TABLE_ERROR_DEVICE_MEMORY;
    return *reason == TABLE_OK;
}

/* ------------------------------------------------------------------------------------------------------ running */

static bool run_ours(struct scans *scans, struct scan_way *way, enum scan_form form) {
    table_scan_options options = options_of(scans, way);
    table_view in = scans_in(scans, false), out = scans_out(scans, scans->out);
    const bool queued = form == SCAN_QUEUED && scans->place.kind->backend == TABLE_BACKEND_CUDA;
    char name[SCAN_NAME];
    if (queued) {
        options.stream = scans->place.stream;
        options.workspace = scans->place.workspace;
        options.workspace_bytes = way->workspace_bytes;
    }
    options.report = form == SCAN_STAGES ? &way->report : NULL;
    bench_split(scans->options, &in, &out, &options);
    const table_status status = !queued ? scans_sum(scans, &in, &out, false, &options)
                                : scans->options->has_segments
                                    ? table_segmented_prefix_sum_async(&in, &out, scans->segments, &options)
                                    : table_prefix_sum_async(&in, &out, &options);
    if (status != TABLE_OK)
        report_failure(scans->report, status, "%s, %zu x %zu", scan_name(way, name), scans->table.rows, in.columns);
    return status == TABLE_OK;
}

/* From the table on the host to `out` there, table by table; from the end, if the sums are. */
static bool run_serial(struct scans *scans) {
    table_view in = scans_in(scans, true), out = scans_out(scans, scans->host_out);
    table_scan_options call = {0};
    bench_split(scans->options, &in, &out, &call);
    const int64_t *offsets = scans->segments[1].data;
    const size_t count = offsets ? scans->segments[1].count : call.tables > 0 ? call.tables : 1;
    const size_t stride = (size_t)in.stride;
    const size_t in_row = stride * table_type_size(in.type), out_row = stride * table_type_size(out.type);
    bool enough = true;
    if (call.reverse) {
        in.data = (char *)in.data + (in.rows - 1) * in_row;
        out.data = (char *)out.data + (out.rows - 1) * out_row;
        in.stride = -in.stride;
        out.stride = -out.stride;
    }
    for (size_t t = 0; t < count && enough; t++) {
        if (offsets)
            in.rows = out.rows = (size_t)(offsets[t + 1] - offsets[t]);
        enough = bench_serial_scan(&in, &out);
        in.data = (char *)in.data + in.rows * in_row;
        out.data = (char *)out.data + out.rows * out_row;
    }
    return enough;
}

bool scan_run(struct scans *scans, struct scan_way *way, enum scan_form form) {
    const struct bench_case *table = &scans->table;
    struct bench_place *place = &scans->place;
    const size_t pitch = table->shape.stride * table_type_size(table->pair.out);
    switch (way->kind) {
    case SCAN_OURS:
        return run_ours(scans, way, form);
    case SCAN_SERIAL:
        return run_serial(scans);
    case SCAN_COPY:
        return rows_lie_side_by_side(scans)
                   ? place->kind->copy(place, scans->out, scans->in, table->copy_bytes, table->copy_bytes, 1)
                   : place->kind->copy(place, scans->out, scans->in, pitch, table->copy_bytes / table->rows,
                                       table->rows);
    case SCAN_COPY_KERNEL:
        return place->kind->succeeded(place, peer_copy(scans->out, scans->in, table->copy_bytes, place->stream),
                                      "the copy kernel");
    default:
        return place->kind->succeeded(place, run_cub(scans, place->workspace, &way->workspace_bytes), "CUB");
    }
}
