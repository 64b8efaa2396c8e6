/* Ragged tables: many short tables below each other in one, the segments, and the running sums or recurrence of each by
 * itself. Events by user, packed documents, rays, groups.
 *
 * Each segment is a table of its own that begins at its own row 0: its units of 512 rows are counted from there. So a
 * segment has the same bits alone, in any pack, at any place in it and on any device: the bits of a loop of
 * table_prefix_sum() over the segments. */
#ifndef TUPLESCAN_SEGMENTED_PREFIX_SUM_H
#define TUPLESCAN_SEGMENTED_PREFIX_SUM_H

#include <tuplescan/linear_recurrence.h>

TABLE_BEGIN

/* What table_segments.data says. 0 is none of them. */
typedef enum table_segment_kind {
    TABLE_SEGMENT_OFFSETS = 1, /* count + 1 rows: segment s has the rows from data[s] up to data[s + 1] */
    TABLE_SEGMENT_LENGTHS = 2, /* count lengths: the first segment begins at row 0, each other one where one ends */
    TABLE_SEGMENT_KEYS = 3,    /* a key for each row: a segment begins where the key is not that of the row before */
    TABLE_SEGMENT_HEADS = 4    /* a flag for each row: a segment begins where it is not 0 */
} table_segment_kind;

/* What `wrong` holds when no offset was wrong. */
#define TABLE_SEGMENTS_RIGHT UINT64_MAX

/* Where segments lie in a table. Clear the whole struct before you fill it in.
 *
 * Offsets never fall, and none is less than 0 or more than the rows of `in`; lengths are not negative, and together not
 * more than these rows. Segments may be empty. The rows of `in` before the first offset, and those after the last one
 * or after all lengths, belong to no segment: what `out` has in their place stays as it is. Keys and flags are of all
 * rows: row 0 begins a segment, whatever they say. */
typedef struct table_segments {
    table_segment_kind kind;

    /* Offsets and lengths: i32 or i64. Keys: any type; their bits are compared, so that a NaN is like itself and -0.0
     * is not 0.0. Flags: u8 or bool. */
    table_type type;

    /* The values, side by side, aligned to their type. On the CPU: host memory. On CUDA: memory of the tables' device,
     * in the one-call forms also host memory. May be NULL where there are no values, and no offsets of no segments. */
    const void *data;

    /* Offsets and lengths: how many segments there are, or, with count_at, may be. Keys and flags: how many there may
     * be, which is looked at where something has rows for each segment: options->carry_in, carry_out and offsets. */
    size_t count;

    /* NULL, or where the number of segments is to be read when the work begins, which is then at most `count`: so a
     * captured graph replays with other segments. Offsets and lengths alone. On the CPU: host memory. On CUDA: memory
     * of the tables' device. */
    const uint64_t *count_at;

    /* NULL, or where to put the number of segments, and the index of the first offset or length that is wrong
     * (TABLE_SEGMENTS_RIGHT: none is; each call sets it anew): an offset that is less than the one before it, less than
     * 0, or beyond the rows; a length that is negative or leads beyond the rows; count + 1 where there are more
     * segments than `count`. Memory as for options->first_overflow.
     *
     * The one-call forms and the CPU return a SHAPE error for a wrong one. On the CPU, and for segments in host memory,
     * nothing but these words is written then. Segments on a device are looked at there: a wrong one leaves all results
     * unspecified, nothing is read or written out of bounds, and in the stream forms the word alone says it. */
    uint64_t *found;
    uint64_t *wrong;
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_segments;

/* table_prefix_sum() of each segment of `in` by itself, into the same rows of `out`.
 *
 * out: as for table_prefix_sum(). Without rows, where `in` has some: no results are written, only carry_out, and
 * out->type is what totals are kept in (table_kept_type()).
 *
 * options: as for table_prefix_sum(), with these differences:
 *   carry_in, carry_out  segments->count rows, side by side: what each segment begins with, and its last sums (what it
 *                 began with, if it is empty). Rows of no segment are neither read nor written.
 *   first_overflow  counts i * columns + j, i being the row of the whole table; with `reverse`, from its last row
 *   reverse       each segment from its end
 *   offsets       out has segments->count rows more than in: segment s is one row longer, and its rows begin s rows
 *                 further down. out lies apart from in. Not for products of floats (ARGUMENT).
 *   strategy      says nothing
 *   tables, state  are refused (ARGUMENT). A segment that goes on in the next table has its row of carry_out as its row
 *                 of carry_in there: the bits of the whole for integers, maxima and minima. Sums of floats have them by
 *                 table_prefix_sum() of that one segment with a state.
 *
 * On CUDA: tables in device memory, fewer than 2^32 - 1 segments (with keys or flags: rows), and first_overflow of sums
 * alone (BACKEND otherwise).
 *
 * Errors: as table_prefix_sum(), and SHAPE for a wrong offset, length or number of segments; on the CPU all are found
 * before anything is written. */
TABLE_API table_status table_segmented_prefix_sum(const table_view *in, const table_view *out,
                                                  const table_segments *segments, const table_scan_options *options);

/* Bytes of workspace of the stream form for these views, segments and options, which may be 0. Nothing of the segments
 * is read but their kind, type and count. */
TABLE_API table_status table_segmented_prefix_sum_workspace(const table_view *in, const table_view *out,
                                                            const table_segments *segments,
                                                            const table_scan_options *options, size_t *bytes);

/* The stream form, in options->workspace: as table_prefix_sum_async(). */
TABLE_API table_status table_segmented_prefix_sum_async(const table_view *in, const table_view *out,
                                                        const table_segments *segments,
                                                        const table_scan_options *options);

/* table_linear_recurrence() of each segment of b by itself, into the same rows of h. A segment is more than a reset of
 * the coefficients: its units are counted from its own first row, and it may have a row of carry_in.
 *
 * a: as for table_linear_recurrence(), with the rows of b where it has a row for each. h: as `out` above.
 * options: as for table_linear_recurrence() and above. shifted_coefficients: the first row of a segment has zeros,
 * which let no carry_in through (ARGUMENT); first_coefficients and coefficient_step are refused (ARGUMENT).
 *
 * On CUDA: tables in device memory and fewer than 2^32 - 1 segments (with keys or flags: rows), BACKEND otherwise. */
TABLE_API table_status table_segmented_linear_recurrence(const table_view *a, const table_view *b, const table_view *h,
                                                         const table_segments *segments,
                                                         const table_scan_options *options);

/* Its stream form, and the workspace that this needs. */
TABLE_API table_status table_segmented_linear_recurrence_workspace(const table_view *a, const table_view *b,
                                                                   const table_view *h, const table_segments *segments,
                                                                   const table_scan_options *options, size_t *bytes);
TABLE_API table_status table_segmented_linear_recurrence_async(const table_view *a, const table_view *b,
                                                               const table_view *h, const table_segments *segments,
                                                               const table_scan_options *options);

TABLE_END

#endif
