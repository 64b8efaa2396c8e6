#include "stream_step.h"

#include <stdlib.h>

#include <tuplescan/devices.h>

#include "checked.h"
#include "status.h"

static table_view rows_view(const void *data, size_t rows, size_t columns, table_type type) {
    return (table_view){.data = (void *)(uintptr_t)data, .rows = rows, .columns = columns, .type = type};
}

static void add_report(table_report *sum, const table_report *report) {
    sum->backend = report->backend;
    sum->strategy = report->strategy;
    sum->units += report->units;
    sum->threads = report->threads > sum->threads ? report->threads : sum->threads;
    for (unsigned stage = 0; stage < 3; stage++)
        sum->stage_seconds[stage] += report->stage_seconds[stage];
    sum->seconds += report->seconds;
    sum->transfer_seconds += report->transfer_seconds;
}

enum { PARTS_OF_DEVICE = 2 }; /* so that one copies in while the other copies out */

/* Each device's share of the piece, in whole units. */
static table_status share_piece(const struct stream_step *step, const table_view *in, const table_view *out,
                                const table_scan_options *scan, table_report *report) {
    const size_t count = PARTS_OF_DEVICE * step->device_count, units = divide_up(in->rows, TABLE_UNIT_ROWS);
    const size_t each = divide_up(units, count) * TABLE_UNIT_ROWS;
    table_scan_options inner = *scan;
    table_devices_report done;
    table_part *parts = calloc(count, sizeof *parts);
    if (!parts)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no memory for the shares of %zu devices", step->device_count);
    for (size_t i = 0; i < count; i++) {
        const size_t first = i * each < in->rows ? i * each : in->rows, left = in->rows - first;
        table_part *part = &parts[i];
        *part = (table_part){.in = *in, .out = *out, .backend = TABLE_BACKEND_CUDA};
        part->device = step->devices[i / PARTS_OF_DEVICE];
        part->in.rows = part->out.rows = left < each ? left : each;
        part->in.data = (char *)in->data + first * in->columns * table_type_size(in->type);
        part->out.data = (char *)out->data + first * out->columns * table_type_size(out->type);
    }
    inner.backend = TABLE_BACKEND_AUTO;
    inner.report = NULL;
    const table_status status = table_prefix_sum_devices(parts, count, &inner, &done);
    *report = (table_report){.backend = TABLE_BACKEND_CUDA,
                             .strategy = scan->strategy ? scan->strategy : TABLE_STRATEGY_FUSED,
                             .units = units,
                             .seconds = done.seconds};
    free(parts);
    return status;
}

table_status stream_step_piece(struct stream_step *step, const char *in, char *out, size_t rows) {
    const table_view in_view = rows_view(in, rows, step->columns, step->in_type);
    const table_view out_view = rows_view(out, rows, step->columns, step->out_type);
    uint64_t found = TABLE_NO_OVERFLOW, skipped = 0;
    table_report report;
    table_scan_options scan = step->scan;
    const bool looks = step->first_overflow && *step->first_overflow == TABLE_NO_OVERFLOW;
    scan.first_overflow = looks ? &found : NULL;
    scan.skipped = step->skipped ? &skipped : NULL;
    scan.report = &report;
    const table_status status = step->devices && rows > 0 ? share_piece(step, &in_view, &out_view, &scan, &report)
                                                          : table_prefix_sum(&in_view, &out_view, &scan);
    if (status == TABLE_OK) {
        add_report(&step->report, &report);
        if (step->skipped)
            *step->skipped += skipped;
        if (looks)
            *step->first_overflow = found;
    }
    return status;
}

/* A sum that has begun has its start in its state. */
static void start_is_known(struct stream_step *step) {
    if (step->scan.state)
        step->scan.carry_in = NULL;
}

table_status stream_step_begin(struct stream_step *step, table_type in_type, table_type out_type, size_t columns,
                               const table_scan_options *scan) {
    *step = (struct stream_step){.scan = *scan,
                                 .in_type = in_type,
                                 .out_type = out_type,
                                 .columns = columns,
                                 .first_overflow = scan->first_overflow,
                                 .skipped = scan->skipped};
    const table_view in = rows_view(NULL, 0, columns, in_type), out = rows_view(NULL, 0, columns, out_type);
    table_scan_options first = *scan;
    first.report = &step->report;
    const table_status status = table_prefix_sum(&in, &out, &first);
    start_is_known(step);
    return status;
}

table_status stream_step_bytes(const struct stream_step *step, size_t *bytes) {
    *bytes = 0;
    return step->scan.state ? TABLE_OK : table_state_bytes(table_sum_type(step->out_type), step->columns, bytes);
}

table_status stream_step_open(struct stream_step *step) {
    size_t bytes;
    if (step->scan.state)
        return TABLE_OK;
    table_status status = stream_step_bytes(step, &bytes);
    if (status != TABLE_OK)
        return status;
    step->state = step->scan.state = calloc(1, bytes); /* aligned for everything */
    if (!step->state)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "%zu bytes for what a sum of %zu columns remembers", bytes,
                           step->columns);
    status = stream_step_piece(step, NULL, NULL, 0);
    start_is_known(step);
    return status;
}

void stream_step_end(struct stream_step *step) { free(step->state); }
