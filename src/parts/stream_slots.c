/* The buffers of a stream: how many, of how many rows, and whether the whole table is one piece. */
#include <stdlib.h>

#include "backend.h"
#include "checked.h"
#include "status.h"
#include "stream.h"

/* A piece of the input and its sums: so little that both are still in the caches of one processor when they are summed
 * and written (docs/lab/2026-11-27.md). Each thread that the caller wants has as much, and each of several devices its
 * share. On a GPU the larger of the two is so much that copying it takes longer than summing, and so little that
 * several pieces are under way and the page-locked buffers of all can be kept for the next call (src/cuda/pinned.c). */
enum { PIECE_BYTES = 1 << 20, PIECE_BYTES_ALONE = 512 << 10, SIDE_BYTES_CUDA = 8 << 20, SHARE_BYTES = 64 << 20 };
enum { MOST_PIECES = 64, PAGE = 4096 };

/* So much that the sums of a few sizes up to it fit in size_t; no machine has it. */
#define MEMORY_MOST (SIZE_MAX / 8)

static bool is_on_cuda(const struct stream *stream) { return stream->call.backend->copy_rows != NULL; }

static size_t whole_pages(size_t bytes) { return bytes + (PAGE - bytes % PAGE) % PAGE; }

/* Each of the parts of a slot begins with a page. */
static size_t padding_of(const struct stream *stream) { return (stream->factor_bytes > 0 ? 3 : 2) * PAGE; }

/* Rows that a slot has room for, if there are `slots` of them in `memory` bytes. */
static size_t rows_of_slot(const struct stream *stream, size_t memory, unsigned slots) {
    const size_t in = stream->source.row_bytes, out = stream->out_bytes, each = memory / slots;
    const size_t row = in + out + stream->factor_bytes;
    const bool cuda = is_on_cuda(stream);
    const size_t pieces = stream->options->scan.threads > 1 ? stream->options->scan.threads : 1,
                 padding = padding_of(stream);
    const size_t devices = stream->options->devices ? stream->options->device_count : 0;
    const size_t side = SIDE_BYTES_CUDA / (in > out ? in : out) * row; /* at most twice SIDE_BYTES_CUDA */
    const size_t most = cuda && devices == 0     ? side
                        : cuda                   ? SHARE_BYTES * (devices < MOST_PIECES ? devices : MOST_PIECES)
                        : stream->has_no_threads ? PIECE_BYTES_ALONE
                                                 : PIECE_BYTES * (pieces < MOST_PIECES ? pieces : MOST_PIECES);
    const size_t room = each < most + padding ? each : most + padding;
    size_t rows = room > padding ? (room - padding) / row : 0;
    rows -= rows > TABLE_UNIT_ROWS ? rows % TABLE_UNIT_ROWS : 0;
    return rows > 0 || each < row + padding ? rows : 1;
}

/* Bytes that the input of a slot of `rows` rows takes, its coefficients, and all of it. */
static bool slot_bytes(const struct stream *stream, size_t rows, size_t *in, size_t *factors, size_t *bytes) {
    size_t out;
    if (!checked_multiply(stream->source.row_bytes, rows, in) || !checked_multiply(stream->out_bytes, rows, &out) ||
        !checked_multiply(stream->factor_bytes, rows, factors) || *in > MEMORY_MOST || out > MEMORY_MOST ||
        *factors > MEMORY_MOST)
        return false;
    *in = whole_pages(*in);
    *factors = whole_pages(*factors);
    *bytes = *in + *factors + whole_pages(out);
    return true;
}

/* Whether nothing of the table comes later than the rest: it is a file, or was read before. */
bool stream_comes_at_once(const struct stream *stream) {
    const table_stream_options *options = stream->options;
    uint64_t all;
    return stream->source.is_regular ||
           (options->rows > 0 && !__builtin_mul_overflow(options->rows, (uint64_t)stream->source.row_bytes, &all) &&
            all <= options->first_bytes);
}

/* Bytes for all of the table as one piece, which needs no state; SIZE_MAX: there is more of it than what a sum that
 * goes on keeps. */
static size_t bytes_alone(const struct stream *stream, size_t kept) {
    const uint64_t rows = stream->options->rows;
    size_t in, factors, all;
    return rows > 0 && rows <= SIZE_MAX && slot_bytes(stream, (size_t)rows, &in, &factors, &all) && all <= kept
               ? all + whole_pages(stream->source.row_bytes)
               : SIZE_MAX;
}

/* Whether it is taken so: no row waits for those that come later, or there is no memory for a sum that goes on. */
static bool is_one_piece(const struct stream *stream, size_t memory, size_t kept, size_t alone) {
    const size_t least = alone - whole_pages(stream->source.row_bytes) + padding_of(stream); /* of its rows at once */
    return alone <= memory && (stream_comes_at_once(stream) || memory < kept || memory - kept < least);
}

/* Whether the rows of a pipe are read, summed and written by one thread: handing pieces on costs more than working at
 * the same time saves, on 2 processors and on 16 (docs/lab/2026-11-27.md). */
static bool goes_without_threads(const struct stream *stream) {
    const table_stream_options *options = stream->options;
    return !options->read && !stream->source.is_regular && options->scan.threads <= 1 && !is_on_cuda(stream);
}

/* Slots, as many as there is memory for; one, if all of the table fits in it. */
table_status stream_choose_slots(struct stream *stream) {
    const table_stream_options *options = stream->options;
    const size_t memory = options->memory && options->memory < MEMORY_MOST ? options->memory : MEMORY_MOST;
    size_t row, state, kept;
    TRY(stream_sum_bytes(stream, &state));
    if (!checked_add(stream->source.row_bytes, stream->out_bytes, &row) ||
        !checked_add(row, stream->factor_bytes, &row) || row > SIZE_MAX / 16 - PAGE ||
        !checked_add(state, stream->source.row_bytes, &kept) || kept > MEMORY_MOST)
        return status_fail(TABLE_ERROR_TOO_LARGE, "a row of %zu bytes is too large", stream->source.row_bytes);
    stream->slot_count = 1;
    stream->slot_rows = (size_t)options->rows;
    stream->has_no_threads = goes_without_threads(stream);
    const size_t alone = bytes_alone(stream, kept), least = row + padding_of(stream);
    stream->source.waits_for_all = is_one_piece(stream, memory, kept, alone);
    if (stream->source.waits_for_all)
        return TABLE_OK;
    stream->report.memory = alone < kept + least ? alone : kept + least;
    if (memory < kept || memory - kept < least)
        return status_fail(TABLE_ERROR_ARGUMENT, "memory is %zu bytes, and a row of %zu columns needs %zu", memory,
                           options->columns, stream->report.memory);
    const unsigned slots = is_on_cuda(stream) && !options->devices ? STREAM_SLOTS_CUDA : STREAM_SLOTS;
    const size_t most = rows_of_slot(stream, memory - kept, slots);
    if (options->rows == 0 || options->rows > most) {
        stream->slot_count = stream->has_no_threads ? 1 : slots;
        while ((stream->slot_rows = rows_of_slot(stream, memory - kept, stream->slot_count)) == 0)
            stream->slot_count--;
    }
    stream->report.memory = kept;
    return stream_sum_open(stream, state);
}

table_status stream_allocate(struct stream *stream) {
    struct stream_source *source = &stream->source;
    size_t in, factors, slot, slots, all;
    const char *reason;
    if (!slot_bytes(stream, stream->slot_rows, &in, &factors, &slot) ||
        !checked_multiply(slot, stream->slot_count, &slots) ||
        !checked_add(slots, whole_pages(source->row_bytes), &all))
        return status_fail(TABLE_ERROR_TOO_LARGE, "buffers of %zu rows do not fit in memory", stream->slot_rows);
    stream->cuda = is_on_cuda(stream) ? backend_cuda(&reason) : NULL;
    stream->pinned = stream->cuda ? stream->cuda->host_allocate(all) : NULL;
    stream->memory = stream->pinned ? NULL : aligned_alloc(PAGE, all);
    char *const memory = stream->pinned ? stream->pinned : stream->memory;
    if (!memory)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "%zu bytes for the buffers of a stream", all);
    for (unsigned i = 0; i < stream->slot_count; i++) {
        stream->slots[i].in = memory + i * slot;
        stream->slots[i].factors = stream->factor_bytes > 0 ? stream->slots[i].in + in : NULL;
        stream->slots[i].out = stream->slots[i].in + in + factors;
    }
    source->rest = memory + slots;
    stream->report.memory += stream->source.waits_for_all ? all : slots; /* else the rest is counted already */
    return TABLE_OK;
}
