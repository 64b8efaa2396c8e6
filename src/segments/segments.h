/* Where segments lie (tuplescan/segmented_prefix_sum.h), after they were checked: all that a backend needs to know
 * beside the scan. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <tuplescan/segmented_prefix_sum.h>

#include "../backend.h"
#include "../validate.h"

/* As in the caller's struct; every pointer is memory of the backend. The scan's tables are the whole ones. If they are
 * mirrored (options->reverse), segments are still the caller's: rows a up to b are, with in.rows = n, the mirrored
 * table's rows n - b up to n - a, summed from the first of these on. */
struct segments {
    table_segment_kind kind;
    table_type type;
    const void *data;
    size_t count;
    const uint64_t *count_at;
    uint64_t *found, *wrong; /* set by the backend */
    bool is_counted;         /* more segments than `count` are wrong, as something has rows for each */
    bool mirrored;

    /* scan->out has `count` rows more than scan->in: each segment has the row that it begins with before its sums. Rows
     * of segment s, which begins at row a, begin at row a + s of the caller's table. */
    bool has_row_before;
};

/* Keys and flags: there is a value for each row of the table, and not for each segment. */
static inline bool segments_have_rows(table_segment_kind kind) {
    return kind == TABLE_SEGMENT_KEYS || kind == TABLE_SEGMENT_HEADS;
}

/* What `wrong` is where there are more than `count`, which is no offset's index. */
#define SEGMENTS_TOO_MANY(segments) ((uint64_t)(segments)->count + 1)

/* The number of values at `data`, for a table of `rows` rows; false where size_t has no room for it. */
bool segments_values(const struct segments *segments, size_t rows, size_t *values);

/* Checks a whole call. a: the coefficients of a recurrence, whose tables b and h are `in` and `out`; NULL: it is none.
 * On success `call` and `checked` point to the caller's memory, which they do not own. */
table_status validate_segments(const table_view *a, const table_view *in, const table_view *out,
                               const table_segments *segments, const table_scan_options *options, enum call_form form,
                               struct call *call, struct segments *checked);

/* Lists the memory beside the tables: carries and words, then what the segments name. TOO_LARGE; ARGUMENT for segments
 * without data. */
enum { SEGMENTS_NAMED = VALIDATE_NAMED_MOST };
table_status segments_list_named(const struct scan *scan, const struct segments *segments,
                                 struct plan_memory named[SEGMENTS_NAMED]);

/* The SHAPE error of segments of which number `wrong` is wrong, in a table of `rows` rows. */
table_status segments_fail(const struct segments *segments, size_t rows, uint64_t wrong);

/* What the host reads of segments in its memory. A cut is a place between two segments. */
struct segment_cut {
    size_t segment;
    uint64_t row;
};
struct segment_reader {
    const struct segments *segments;
    uint64_t rows;           /* of the table */
    size_t end;              /* the number of the first segment that is not wanted any more */
    struct segment_cut next; /* the one read next */
};

/* Reads the next segments, at most `room`, and returns how many; 0: there are no more. Segment k of these has the rows
 * from (*bounds)[k] up to (*bounds)[k + 1]. These are in `memory`, with room for room + 1, or where the caller has
 * them. */
size_t segments_read(struct segment_reader *reader, uint64_t *memory, size_t room, const uint64_t **bounds);

/* The least weight of what lies between two cuts, where a row weighs `row` and a segment `segment`. */
struct segment_weights {
    uint64_t row, segment, between;
};

/* Looks at all segments, and cuts them. cuts[0] is the beginning and cuts[*cut_count] the end, so that there are
 * *cut_count runs of whole segments; `cuts` has room for two more than the weight of all divided by `between`. Sets
 * *segments->found and *segments->wrong, where they are not NULL. SHAPE for wrong segments; CANCELED, which leaves both
 * as they are. */
table_status segments_survey(const struct segments *segments, size_t rows, const struct segment_weights *weights,
                             struct segment_cut *cuts, size_t *cut_count);

#endif
