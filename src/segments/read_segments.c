/* Segments in memory of the host: read some at a time, whatever says where they lie. */
#include <inttypes.h>
#include <string.h>

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

static size_t read_offsets(const struct segment_reader *reader, uint64_t *bounds, size_t count) {
    const int32_t *const shorts = (const int32_t *)reader->segments->data + reader->next.segment;
    const int64_t *const longs = (const int64_t *)reader->segments->data + reader->next.segment;
    if (reader->segments->type == TABLE_I32)
        for (size_t k = 0; k <= count; k++)
            bounds[k] = (uint64_t)shorts[k];
    else
        memcpy(bounds, longs, (count + 1) * sizeof *longs);
    return count;
}

static size_t read_lengths(const struct segment_reader *reader, uint64_t *bounds, size_t count) {
    bounds[0] = reader->next.row;
    for (size_t k = 0; k < count; k++)
        bounds[k + 1] = bounds[k] + number_at(reader->segments, reader->next.segment + k);
    return count;
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

size_t segments_read(struct segment_reader *reader, uint64_t *bounds, size_t room) {
    const size_t left = reader->end - reader->next.segment, most = left < room ? left : room;
    size_t count = 0;
    if (most == 0)
        return 0;
    switch (reader->segments->kind) {
    case TABLE_SEGMENT_OFFSETS:
        count = read_offsets(reader, bounds, most);
        break;
    case TABLE_SEGMENT_LENGTHS:
        count = read_lengths(reader, bounds, most);
        break;
    default:
        count = read_rows(reader, bounds, most);
    }
    reader->next.segment += count;
    reader->next.row = bounds[count];
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
    uint64_t odd = 0; /* its highest bit: some bound is wrong, or so large that this cannot be seen from a bit */
    if (!lengths && first == 0 && bounds[0] > reader->rows)
        return 0;
    for (size_t k = 0; k < count; k++)
        odd |= bounds[k + 1] | (bounds[k + 1] - bounds[k]) | (reader->rows - bounds[k + 1]);
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
    uint64_t bounds[SEGMENTS_AT_A_TIME + 1], since = 0, wrong = TABLE_SEGMENTS_RIGHT;
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
        const size_t first = reader.next.segment, some = segments_read(&reader, bounds, SEGMENTS_AT_A_TIME);
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
