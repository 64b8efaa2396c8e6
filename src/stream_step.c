#include "stream_step.h"

#include <stdlib.h>

#include <tuplescan/devices.h>

#include "checked.h"
#include "device_pieces.h"
#include "seconds.h"
#include "status.h"

static table_view rows_view(const void *data, size_t rows, size_t columns, table_type type) {
    return (table_view){.data = (void *)(uintptr_t)data, .rows = rows, .columns = columns, .type = type};
}

static void add_report(table_report *sum, const table_report *report) {
    const size_t units = sum->units;
    run_add_report(sum, report);
    sum->units += units;
}

/* Seconds are those that the summing thread has spent. */
struct stream_device {
    struct call call;
    struct device_pieces pieces;
    uint64_t found, skipped;
    table_report report;
    double seconds;
};

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

static table_status sum_piece(struct stream_step *step, const char *in, char *out, size_t rows) {
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
    first.offsets = step->scan.offsets = 0; /* a row by itself, before the pieces */
    if (scan->offsets != 0 && scan->offsets != 1)
        return status_fail(TABLE_ERROR_ARGUMENT, "scan.offsets is %d, not 0 or 1", scan->offsets);
    if (scan->offsets && scan->exclusive)
        return status_fail(TABLE_ERROR_ARGUMENT, "scan.offsets and exclusive: only one of them");
    const table_status status = table_prefix_sum(&in, &out, &first);
    start_is_known(step);
    return status;
}

table_status stream_step_start(const struct stream_step *step, void *row) {
    const table_view in = rows_view(NULL, 0, step->columns, step->in_type);
    const table_view out = rows_view(row, 1, step->columns, step->out_type);
    const table_scan_options scan = {.offsets = 1,
                                     .backend = TABLE_BACKEND_CPU,
                                     .threads = 1,
                                     .carry_in = step->scan.carry_in,
                                     .state = step->scan.state};
    return table_prefix_sum(&in, &out, &scan);
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
    status = sum_piece(step, NULL, NULL, 0);
    start_is_known(step);
    return status;
}

/* Rows that lie side by side, in the order in which they are summed. */
static table_view turned(const struct stream_step *step, table_view rows) {
    const ptrdiff_t columns = (ptrdiff_t)rows.columns;
    rows.stride = step->scan.reverse ? -columns : columns;
    if (step->scan.reverse && rows.rows > 0)
        rows.data = (char *)rows.data + (rows.rows - 1) * rows.columns * table_type_size(rows.type);
    return rows;
}

/* The call that all pieces are parts of has no rows itself; that `out` has data says that sums are wanted. */
static table_status open_device(struct stream_step *step, size_t rows) {
    struct stream_device *device = step->device;
    const table_view in = rows_view(NULL, 0, step->columns, step->in_type);
    const table_view out = rows_view(&device->found, 0, step->columns, step->out_type);
    table_scan_options scan = step->scan;
    scan.report = NULL;
    scan.first_overflow = step->first_overflow ? &device->found : NULL;
    scan.skipped = step->skipped ? &device->skipped : NULL;
    table_status status = validate_scan(&in, &out, &scan, CALL_AND_WAIT, &device->call);
    if (status == TABLE_OK)
        status = device->call.backend->open(&device->call.scan);
    if (status != TABLE_OK)
        return status;
    device->call.scan.in = turned(step, device->call.scan.in);
    device->call.scan.out = turned(step, device->call.scan.out);
    status = device_pieces_open(&device->pieces, &device->call, rows, DEVICE_LANES, &device->report);
    if (status != TABLE_OK) {
        device_pieces_close(&device->pieces);
        device->call.backend->close(&device->call.scan);
    }
    return status;
}

table_status stream_step_enter(struct stream_step *step, size_t rows, unsigned *pieces) {
    *pieces = 1;
    if (!step->scan.state || step->devices || step->report.backend != TABLE_BACKEND_CUDA)
        return TABLE_OK;
    step->device = calloc(1, sizeof *step->device);
    if (!step->device)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no memory for pieces on a device");
    const double begun = seconds_now();
    const table_status status = open_device(step, rows);
    if (status != TABLE_OK) {
        free(step->device);
        step->device = NULL;
        return status;
    }
    step->device->seconds += seconds_now() - begun;
    *pieces = step->device->pieces.lane_count;
    return TABLE_OK;
}

table_status stream_step_leave(struct stream_step *step, table_status status) {
    struct stream_device *device = step->device;
    const double begun = seconds_now();
    if (!device)
        return status;
    if (status == TABLE_OK)
        status = device_pieces_keep(&device->pieces);
    device_pieces_close(&device->pieces);
    device->call.backend->close(&device->call.scan);
    device->seconds += seconds_now() - begun;
    if (device->seconds > device->report.seconds)
        device->report.transfer_seconds = device->seconds - device->report.seconds;
    add_report(&step->report, &device->report);
    if (status == TABLE_OK && step->first_overflow && *step->first_overflow == TABLE_NO_OVERFLOW)
        *step->first_overflow = device->found;
    if (status == TABLE_OK && step->skipped)
        *step->skipped += device->skipped;
    free(device);
    step->device = NULL;
    return status;
}

table_status stream_step_begin_piece(struct stream_step *step, const char *in, char *out, size_t rows) {
    const table_view in_view = turned(step, rows_view(in, rows, step->columns, step->in_type));
    const table_view out_view = turned(step, rows_view(out, rows, step->columns, step->out_type));
    const double begun = seconds_now();
    if (!step->device)
        return sum_piece(step, in, out, rows);
    const table_status status = device_pieces_begin(&step->device->pieces, &in_view, &out_view);
    step->device->report.units += divide_up(rows, TABLE_UNIT_ROWS);
    step->device->seconds += seconds_now() - begun;
    return status;
}

table_status stream_step_end_piece(struct stream_step *step) {
    const double begun = seconds_now();
    if (!step->device)
        return TABLE_OK;
    const table_status status = device_pieces_end(&step->device->pieces);
    step->device->seconds += seconds_now() - begun;
    return status;
}

void stream_step_end(struct stream_step *step) { free(step->state); }
