#include <math.h>
#include <string.h>

#include "bench/scan.h"
#include "message.h"
#include "types.h"

static double sum_at(table_type type, const void *sums, size_t k) {
    switch (type) {
    case TABLE_F16:
        return value_of_f16(((const value_f16 *)sums)[k]);
    case TABLE_BF16:
        return value_of_bf16(((const value_bf16 *)sums)[k]);
    case TABLE_F32:
        return ((const float *)sums)[k];
    default:
        return ((const double *)sums)[k];
    }
}

/* Float sums round differently in another order. What lets an error of the program through is not meant to be found
 * here but by the tests; a wrong column or row is. */
static bool are_close(const struct scans *scans, const void *got, const void *wanted) {
    const struct bench_case *table = &scans->table;
    const table_type type = table->pair.out;
    const double relative = table_sum_type(type) == TABLE_F32 ? 0x1p-23 : 0x1p-52;
    const int bits = type_is_float(table->pair.in) ? 0 : 8 * (int)table_type_size(table->pair.in);
    const double epsilon = ldexp(relative, bits); /* of the values, which are less than 1 or have so many bits */
    const double last_place = type == TABLE_F16 ? 0x1p-10 : type == TABLE_BF16 ? 0x1p-7 : 0; /* of the result */
    for (size_t i = 0; i < table->rows; i++) {
        const size_t added = scans->options->reverse ? table->rows - i : i + 1, first = i * table->shape.stride;
        for (size_t k = first; k < first + table->shape.columns; k++) {
            const double a = sum_at(type, got, k), b = sum_at(type, wanted, k);
            if (a != b && !(fabs(a - b) <= 16 * epsilon * (double)added + 2 * last_place * fabs(b)))
                return false;
        }
    }
    return true;
}

static size_t out_values(const struct scans *scans) { return scans->table.rows * scans->table.shape.stride; }

static size_t out_size(const struct scans *scans) { return table_type_size(scans->table.pair.out); }

/* Gaps of windows are 0. */
bool scans_expect(struct scans *scans) {
    const size_t count = out_values(scans), bytes = count * out_size(scans);
    table_scan_options options = {.backend = TABLE_BACKEND_CPU};
    table_view in = scans_in(scans, true), out = scans_out(scans, scans->expected);
    struct scan_way serial = {.kind = SCAN_SERIAL};
    memset(scans->expected, 0, bytes);
    bench_split(scans->options, &in, &out, &options);
    const table_status status = scans_sum(scans, &in, &out, true, &options);
    if (status != TABLE_OK)
        report_failure(scans->report, status, "the CPU backend");
    if (status != TABLE_OK || scans->place.kind->backend == TABLE_BACKEND_CUDA)
        return status == TABLE_OK;
    memset(scans->out, 0, bytes);
    return scan_run(scans, &serial, SCAN_CALL) &&
           (type_is_float(scans->table.pair.out)
                ? are_close(scans, scans->expected, scans->out)
                : bench_count_differing(scans->expected, scans->out, count, out_size(scans)) == 0);
}

int scan_check(struct scans *scans, struct scan_way *way, bool expected) {
    struct bench_place *place = &scans->place;
    const size_t count = out_values(scans), bytes = count * out_size(scans);
    const bool floating = type_is_float(scans->table.pair.out);
    char name[SCAN_NAME], pair[BENCH_CELL];
    if (way->kind != SCAN_OURS && (way->kind != SCAN_CUB || floating))
        return EX_OK;
    if (!place->kind->clear(place, scans->out, bytes) || !scan_run(scans, way, SCAN_QUEUED) ||
        !place->kind->wait(place) || !place_copy(place, scans->host_out, scans->out, bytes))
        return EX_UNAVAILABLE;
    const size_t wrong =
        expected ? bench_count_differing(scans->expected, scans->host_out, count, out_size(scans)) : count;
    way->right = wrong == 0;
    if (wrong > 0)
        report_note(scans->report, "WRONG RESULT: %zu of %zu values, %zu x %zu of stride %zu, %s, %s", wrong,
                    scans->table.rows * scans->table.shape.columns, scans->table.rows, scans->table.shape.columns,
                    scans->table.shape.stride, bench_pair_text(scans->table.pair, pair), scan_name(way, name));
    return wrong == 0 ? EX_OK : EX_SOFTWARE;
}
