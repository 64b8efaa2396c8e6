/* Segments in memory of the host: read some at a time, whatever says where they lie. */
#include <inttypes.h>

#include "../interrupt.h"
#include "../status.h"
#include "segments.h"

enum { SEGMENTS_AT_A_TIME = 512 };

/* An offset or a length. A negative one becomes more than there can be rows. */
static uint64_t number_at(const struct segments *segments, size_t index) {
    if (segments->type == TABLE_I32)
        return (uint64_t)((const int32_t *)segments->data)[index];
    return (uint64_t)((const int64_t *)segments->data)[index];
}

/* Asks for the bytes read some calls later: one call is over before the processor sees that another one follows. */
static void fetch_ahead(const void *read, size_t bytes) {
    enum { LINE = 64, AHEAD = 8192 };
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const void *)((uintptr_t)read + AHEAD + at));
}

/* Offsets of 64 bits are read where they are. */
static const uint64_t *read_offsets(const struct segment_reader *reader, uint64_t *memory, size_t count) {
    const int32_t *const shorts = (const int32_t *)reader->segments->data + reader->next.segment;
    const uint64_t *const longs = (const uint64_t *)reader->segments->data + reader->next.segment;
    if (reader->segments->type == TABLE_I64) {
        fetch_ahead(longs, count * sizeof *longs);
        return longs;
    }
    fetch_ahead(shorts, count * sizeof *shorts);
    for (size_t k = 0; k <= count; k++)
        memory[k] = (uint64_t)shorts[k];
    return memory;
}

static void read_lengths(const struct segment_reader *reader, uint64_t *bounds, size_t count) {
    bounds[0] = reader->next.row;
    for (size_t k = 0; k < count; k++)
        bounds[k + 1] = bounds[k] + number_at(reader->segments, reader->next.segment + k);
}

/* The first row from `row` on, before `end`, that begins a segment; or `end`. */
#define FIND_CHANGE(TYPE)                                                                                              \
    do {                                                                                                               \
        const TYPE *const keys = data;                                                                                 \
        while (row < end && keys[row] == keys[row - 1])                                                                \
            row++;                                                                                                     \
        return row;                                                                                                    \
    } while (0)

static uint64_t find_change(const void *data, size_t bytes, uint64_t row, uint64_t end) {
    switch (bytes) {
    case 1:
        FIND_CHANGE(uint8_t);
    case 2:
        FIND_CHANGE(uint16_t);
    case 4:
        FIND_CHANGE(uint32_t);
    default:
        FIND_CHANGE(uint64_t);
    }
}

static uint64_t find_head(const unsigned char *flags, uint64_t row, uint64_t end) {
    while (row < end && flags[row] == 0)
        row++;
    return row;
}

static size_t read_rows(const struct segment_reader *reader, uint64_t *bounds, size_t room) {
    const struct segments *segments = reader->segments;
    const size_t bytes = table_type_size(segments->type);
    size_t count = 0;
    bounds[0] = reader->next.row;
    for (; count < room && bounds[count] < reader->rows; count++)
        bounds[count + 1] = segments->kind == TABLE_SEGMENT_HEADS
                                ? find_head(segments->data, bounds[count] + 1, reader->rows)
                                : find_change(segments->data, bytes, bounds[count] + 1, reader->rows);
    return count;
}

size_t segments_read(struct segment_reader *reader, uint64_t *memory, size_t room, const uint64_t **bounds) {
    const size_t left = reader->end - reader->next.segment;
    size_t count = left < room ? left : room;
    *bounds = memory;
    if (count == 0)
        return 0;
    switch (reader->segments->kind) {
    case TABLE_SEGMENT_OFFSETS:
        *bounds = read_offsets(reader, memory, count);
        break;
    case TABLE_SEGMENT_LENGTHS:
        read_lengths(reader, memory, count);
        break;
    default:
        count = read_rows(reader, memory, count);
    }
    reader->next.segment += count;
    reader->next.row = (*bounds)[count];
    return count;
}

table_status segments_fail(const struct segments *segments, size_t rows, uint64_t wrong) {
    if (wrong == SEGMENTS_TOO_MANY(segments))
        return status_fail(TABLE_ERROR_SHAPE, "there are more segments than segments->count says, %zu",
                           segments->count);
    return status_fail(TABLE_ERROR_SHAPE,
                       segments->kind == TABLE_SEGMENT_LENGTHS
                           ? "segments->data[%" PRIu64 "] is negative, or leads beyond the %zu rows of in"
                           : "segments->data[%" PRIu64 "] is less than the offset before it, or lies outside of the "
                             "%zu rows of in",
                       wrong, rows);
}

/* The number of segments, where the caller gives it: offsets and lengths. SIZE_MAX: it is found as rows are read. False
 * for a number in count_at beyond `count`. */
static bool count_known(const struct segments *segments, size_t *count) {
    *count = SIZE_MAX;
    if (segments_have_rows(segments->kind))
        return true;
    *count = segments->count_at ? (size_t)*segments->count_at : segments->count;
    return *count <= segments->count;
}

/* The index in `data` of the first bound that is wrong; TABLE_SEGMENTS_RIGHT: none is. */
static uint64_t find_wrong(const struct segment_reader *reader, size_t first, const uint64_t *bounds, size_t count) {
    const bool lengths = reader->segments->kind == TABLE_SEGMENT_LENGTHS;
    /* Its highest bit: some bound is wrong, or so large that this cannot be seen from a bit. Bounds that do not fall
     * are at most what the last one is. */
    uint64_t odd = bounds[0] | (reader->rows - bounds[count]);
    if (!lengths && first == 0 && bounds[0] > reader->rows)
        return 0;
    for (size_t k = 0; k < count; k++)
        odd |= bounds[k + 1] | (bounds[k + 1] - bounds[k]);
    if (odd >> 63 == 0)
        return TABLE_SEGMENTS_RIGHT;
    for (size_t k = 0; k < count; k++)
        if (bounds[k + 1] < bounds[k] || bounds[k + 1] > reader->rows)
            return first + k + !lengths;
    return TABLE_SEGMENTS_RIGHT;
}

/* Adds a cut after each segment at which the weight since the last cut is enough. *since: that weight, from one call to
 * the next. Returns how many cuts were added. */
static size_t cut(const struct segment_weights *weights, size_t first, const uint64_t *bounds, size_t count,
                  uint64_t *since, struct segment_cut *cuts) {
    size_t made = 0;
    for (size_t k = 0; k < count && weights->between != UINT64_MAX; k++) {
        *since += (bounds[k + 1] - bounds[k]) * weights->row + weights->segment;
        if (*since < weights->between)
            continue;
        *since = 0;
        cuts[made++] = (struct segment_cut){first + k + 1, bounds[k + 1]};
    }
    return made;
}

static table_status tell(const struct segments *segments, size_t rows, size_t count, uint64_t wrong) {
    if (segments->found)
        *segments->found = count;
    if (segments->wrong)
        *segments->wrong = wrong;
    return wrong == TABLE_SEGMENTS_RIGHT ? TABLE_OK : segments_fail(segments, rows, wrong);
}

table_status segments_survey(const struct segments *segments, size_t rows, const struct segment_weights *weights,
                             struct segment_cut *cuts, size_t *cut_count) {
    struct segment_reader reader = {.segments = segments, .rows = rows};
    uint64_t memory[SEGMENTS_AT_A_TIME + 1], since = 0, wrong = TABLE_SEGMENTS_RIGHT;
    interrupt_begin();
    *cut_count = 1;
    cuts[0] = (struct segment_cut){0, 0};
    if (!count_known(segments, &reader.end)) {
        reader.end = 0;
        wrong = SEGMENTS_TOO_MANY(segments);
    } else if (reader.end == 0 && segments->kind == TABLE_SEGMENT_OFFSETS && segments->data &&
               number_at(segments, 0) > rows) {
        wrong = 0; /* the only offset, which no segment reads */
    }
    while (wrong == TABLE_SEGMENTS_RIGHT && !interrupt_came()) {
        const uint64_t *bounds;
        const size_t first = reader.next.segment, some = segments_read(&reader, memory, SEGMENTS_AT_A_TIME, &bounds);
        if (some == 0)
            break;
        wrong = find_wrong(&reader, first, bounds, some);
        if (wrong == TABLE_SEGMENTS_RIGHT && segments->is_counted && reader.next.segment > segments->count)
            wrong = SEGMENTS_TOO_MANY(segments);
        if (wrong == TABLE_SEGMENTS_RIGHT)
            *cut_count += cut(weights, first, bounds, some, &since, cuts + *cut_count);
    }
    cuts[*cut_count] = reader.next;
    const table_status status = interrupt_end();
    return status != TABLE_OK ? status : tell(segments, rows, reader.next.segment, wrong);
}
