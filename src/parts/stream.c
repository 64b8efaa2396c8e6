/* The call of tuplescan/stream.h: checks, buffers, and the work on each of them. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"
#include "checked.h"
#include "interrupt.h"
#include "refusals.h"
#include "seconds.h"
#include "status.h"
#include "validate.h"

static table_status check_ends(const table_stream_options *options) {
    TRY(validate_reserved("options", options->reserved, RESERVED_WORDS(options)));
    if (!options->read && options->read_descriptor < 0)
        return status_fail(TABLE_ERROR_ARGUMENT, "neither read nor read_descriptor says where rows come from");
    if (!options->write && options->write_descriptor < 0)
        return status_fail(TABLE_ERROR_ARGUMENT, "neither write nor write_descriptor says where sums go to");
    if (!options->first && options->first_bytes > 0)
        return status_fail(TABLE_ERROR_ARGUMENT, "first is a null pointer, and first_bytes is %zu",
                           options->first_bytes);
    TRY(refuse(CALLER_STREAM, &options->scan));
    return options->coefficients ? refuse(CALLER_RECURRENCE, &options->scan) : TABLE_OK;
}

/* Offsets are a row by itself, before the pieces, whose call has heard of none: what they do not go together with is
 * found here. */
static table_status check_offsets(const table_stream_options *options, table_scan_options *scan) {
    if (!scan->offsets)
        return TABLE_OK;
    TRY(refuse_wrong_options(scan, CALL_AND_WAIT, options->coefficients != NULL));
    TRY(refuse_float_products(CALLER_OFFSETS, scan->operation, options->out_type));
    scan->offsets = 0;
    return TABLE_OK;
}

/* From the last row on: both ends are files that can be positioned, which are taken from where they are. */
static table_status check_backwards(struct stream *stream) {
    const table_stream_options *options = stream->options;
    struct stat status;
    uint64_t written, out;
    if (options->rows == 0)
        return status_fail(TABLE_ERROR_ARGUMENT, "scan.reverse begins with the last row, and rows is 0");
    if (options->read || options->write || options->first_bytes > 0)
        return status_fail(TABLE_ERROR_ARGUMENT, "scan.reverse is for descriptors, and %s is given",
                           options->read    ? "read"
                           : options->write ? "write"
                                            : "first");
    stream->source.backwards = true;
    stream->source.start = lseek(options->read_descriptor, 0, SEEK_CUR);
    stream->sink_start = lseek(options->write_descriptor, 0, SEEK_CUR);
    if (stream->source.start < 0 || stream->sink_start < 0)
        return status_fail(TABLE_ERROR_ARGUMENT,
                           "scan.reverse is for files that can be positioned, and that of %s cannot",
                           stream->source.start < 0 ? "read_descriptor" : "write_descriptor");
    if (__builtin_add_overflow(options->rows, (uint64_t)(options->scan.offsets != 0), &written) ||
        __builtin_mul_overflow(written, (uint64_t)stream->out_bytes, &out) ||
        out > (uint64_t)(INT64_MAX - stream->sink_start) ||
        stream->source.left > (uint64_t)(INT64_MAX - stream->source.start))
        return status_fail(TABLE_ERROR_TOO_LARGE, "%llu rows are more than a file can have",
                           (unsigned long long)options->rows);
    const int flags = fcntl(options->write_descriptor, F_GETFL);
    if (flags < 0 || flags & O_APPEND || fstat(options->write_descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return status_fail(TABLE_ERROR_ARGUMENT,
                           "scan.reverse: write_descriptor is not a file that is written anywhere");
    return TABLE_OK;
}

/* All devices that are to share the pieces are there. The backend is theirs. */
static table_status check_devices(const table_stream_options *options, table_scan_options *scan) {
    const char *reason = NULL;
    if (options->device_count == 0)
        return status_fail(TABLE_ERROR_ARGUMENT, "device_count is 0, and devices is given");
    if (scan->backend == TABLE_BACKEND_CPU)
        return status_fail(TABLE_ERROR_ARGUMENT, "devices are of CUDA, and scan.backend is the CPU");
    if (options->coefficients)
        return status_fail(TABLE_ERROR_ARGUMENT, "devices have no shares of a recurrence, and coefficients are given");
    TRY(refuse_float_products(CALLER_PARTS, scan->operation, options->out_type));
    if (!backend_cuda(&reason))
        return status_fail(TABLE_ERROR_BACKEND, "the CUDA backend: %s", reason);
    for (size_t i = 0; i < options->device_count; i++)
        if (options->devices[i] < 0 || (size_t)options->devices[i] >= backend_cuda_devices(NULL, 0))
            return status_fail(TABLE_ERROR_BACKEND, "there is no CUDA device %d", options->devices[i]);
    scan->backend = TABLE_BACKEND_CUDA;
    return validate_on_host(scan);
}

/* Bytes of a row in the input, of its columns, and of its sums. */
static table_status measure_rows(struct stream *stream) {
    const table_stream_options *options = stream->options;
    struct stream_source *source = &stream->source;
    if (!checked_multiply(options->columns, table_type_size(options->in_type), &stream->in_bytes) ||
        !checked_multiply(options->columns, table_type_size(options->out_type), &stream->out_bytes) ||
        !checked_multiply(options->coefficients && options->coefficients->read ? options->coefficients->columns : 0,
                          options->coefficients ? table_type_size(options->coefficients->type) : 0,
                          &stream->factor_bytes))
        return status_fail(TABLE_ERROR_TOO_LARGE, "%zu columns do not fit in memory", options->columns);
    source->needed = stream->in_bytes;
    source->row_bytes = options->in_row_bytes && options->columns > 0 ? options->in_row_bytes : source->needed;
    source->left = UINT64_MAX;
    if (source->row_bytes < source->needed)
        return status_fail(TABLE_ERROR_SHAPE, "in_row_bytes is %zu, and the columns of a row have %zu bytes",
                           source->row_bytes, source->needed);
    if (options->rows > 0 && __builtin_mul_overflow(options->rows, (uint64_t)source->row_bytes, &source->left))
        return status_fail(TABLE_ERROR_TOO_LARGE, "%llu rows of %zu bytes are more than can be counted",
                           (unsigned long long)options->rows, source->row_bytes);
    return TABLE_OK;
}

/* The row of offsets: what lies above the first row, or after the last one. */
static table_status write_start(struct stream *stream) {
    void *const row = stream->slots[0].out;
    TRY(stream_sum_start(stream, row));
    return stream_write_rows(stream, row, stream->options->rows, 1);
}

/* Has both files stand after the rows read and written, as they do after a stream from the first row on. */
static table_status go_to_the_end(const struct stream *stream) {
    const table_stream_options *options = stream->options;
    const off_t in = stream->source.start + (off_t)(options->rows * stream->source.row_bytes);
    const off_t out = stream->sink_start + (off_t)stream->report.bytes_written;
    return lseek(options->read_descriptor, in, SEEK_SET) >= 0 && lseek(options->write_descriptor, out, SEEK_SET) >= 0
               ? TABLE_OK
               : status_fail(TABLE_ERROR_WRITE, "going to the end: %s", strerror(errno));
}

/* One after the other, in the calling thread. */
static table_status run_alone(struct stream *stream, unsigned pieces) {
    table_stream_report *report = &stream->report;
    struct stream_slot *slot = &stream->slots[0];
    bool more = true;
    table_status status = TABLE_OK;
    (void)pieces;
    stream->source.alone = stream;
    while (more && status == TABLE_OK) {
        more = stream_fill(stream, slot);
        stream_spent(stream, &report->read_seconds);
        status = failure_tell(&stream->failure);
        if (status == TABLE_OK)
            status = stream_sum_begin_piece(stream, slot);
        if (status == TABLE_OK)
            status = stream_sum_end_piece(stream, slot);
        stream_spent(stream, &report->sum_seconds);
        if (status == TABLE_OK && slot->rows > 0)
            status = stream_write(stream, slot);
    }
    return status;
}

/* With one slot nothing overlaps, but a thread has to ask the caller while no rows come. Where a slot is a small
 * part of the table, for lack of memory, handing it from thread to thread costs more than its rows, and so a callback
 * that waits is waited for. */
static bool works_alone(const struct stream *stream) {
    const table_stream_options *options = stream->options;
    const bool is_part = options->rows == 0 || options->rows > stream->slot_rows;
    return stream->has_no_threads ||
           (stream->slot_count == 1 && (stream_comes_at_once(stream) || (is_part && options->read)));
}

/* Rows without bytes: there are as many as the caller says, and a state counts them. */
static table_status sum_nothing(struct stream *stream) {
    const uint64_t rows = stream->options->rows;
    if (rows > SIZE_MAX)
        return status_fail(TABLE_ERROR_TOO_LARGE, "%llu rows are more than a table can have", (unsigned long long)rows);
    table_status status = stream_sum_begin(stream);
    if (status == TABLE_OK)
        status = stream_sum_begin_piece(stream, &(struct stream_slot){.rows = (size_t)rows});
    stream_spent(stream, &stream->report.sum_seconds);
    stream->report.rows = rows;
    return status == TABLE_OK ? stream_progress(stream) : status;
}

static table_status sum_rows(struct stream *stream) {
    stream_source_begin(&stream->source, stream->options);
    table_status status = TABLE_OK;
    if (stream->options->scan.reverse)
        TRY(check_backwards(stream));
    TRY(stream_choose_slots(stream));
    TRY(stream_allocate(stream));
    TRY(stream_sum_begin(stream));
    if (stream->options->scan.offsets)
        TRY(write_start(stream));
    stream_spent(stream, &stream->report.sum_seconds);
    if (works_alone(stream) || !stream_with_threads(stream, &status))
        status = stream_sum(stream, run_alone);
    if (status == TABLE_OK)
        status = failure_tell(&stream->input);
    return status == TABLE_OK && stream->source.backwards ? go_to_the_end(stream) : status;
}

static void fill_in_report(struct stream *stream) {
    table_stream_report *report = &stream->report;
    stream_spent(stream, &report->sum_seconds);
    report->scan = stream->scanned;
    report->bytes_read = stream->source.given;
    report->ended = stream->source.ended;
    *stream->options->report = *report;
}

static table_status check_and_sum(struct stream *stream) {
    const table_stream_options *options = stream->options;
    TRY(check_ends(options));
    if (options->devices)
        TRY(check_devices(options, &stream->scan));
    TRY(check_offsets(options, &stream->scan));
    TRY(stream_sum_check(stream));
    TRY(measure_rows(stream));
    return stream->source.row_bytes > 0 ? sum_rows(stream) : sum_nothing(stream);
}

static table_status stream_from_end_to_end(const table_stream_options *options) {
    struct stream stream = {.options = options, .scan = options->scan};
    stream.begun = stream.last = seconds_now();
    stream.asked = milliseconds_now();
    if (options->scan.threads == 0 && !options->devices)
        stream.scan.threads = 1;
    const table_status status = check_and_sum(&stream);
    if (stream.pinned)
        stream.cuda->host_release(stream.pinned);
    free(stream.memory);
    free(stream.state);
    if (options->report)
        fill_in_report(&stream);
    return status;
}

/* Nothing in it is a cancellation point: memory would be lost, and its threads use the stack of this one. */
table_status table_stream(const table_stream_options *options) {
    int cancel_state, ignored;
    if (!options)
        return status_fail(TABLE_ERROR_ARGUMENT, "options is a null pointer");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    interrupt_begin();
    const table_status status = stream_from_end_to_end(options);
    const bool was_held = interrupt_hold(true); /* all is written */
    const table_status ended = interrupt_end();
    interrupt_hold(was_held);
    pthread_setcancelstate(cancel_state, &ignored);
    return status == TABLE_OK ? ended : status;
}
