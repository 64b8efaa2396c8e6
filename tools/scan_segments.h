/* A scan whose sums begin anew: --segments and --by. Its table goes through memory in pieces, and a segment that is in
 * several of them goes on from a state. Rows are counted in the order in which they are summed: with --reverse from the
 * last one, and tables have negative strides. */
#ifndef SCAN_SEGMENTS_H
#define SCAN_SEGMENTS_H

#include "arguments.h"
#include "input/input.h"

struct scan_job;

/* Columns side by side that are summed. */
struct scan_part {
    size_t first, count;
    void *state; /* of the segment that goes on in the next piece; NULL: there is one piece */
    size_t state_bytes;
};

struct scan_segments {
    struct input_file file; /* of --segments: the offsets */
    size_t by;              /* the column of --by, whose values stay */
    struct scan_part parts[2];
    size_t next;       /* of the offsets, the first that does not lie in the rows above the piece */
    uint64_t last_key; /* the bits of the key of the row above the piece */
    uint64_t begun;    /* the row where the segment began that goes on in the piece */

    /* Segment s of `count` segments in the piece has its rows from bounds[s] up to bounds[s + 1]. */
    int64_t *bounds;
    size_t count;
    bool goes_in, goes_out; /* the first one began above the piece; the last one ends below it */

    size_t room; /* rows that a piece may have; and where they are read, with their coefficients, and summed */
    char *in, *factors, *out;
};

struct scan_piece {
    uint64_t row; /* the number of its first row */
    bool is_last; /* no rows come after it */
    table_view a; /* of a recurrence: the coefficients, perhaps one row for all */
    table_view in, out;
};

static inline bool scan_has_segments(const struct scan_arguments *arguments) {
    return arguments->segments || arguments->by;
}

/* Whether all options go with segments. EX_OK, or EX_USAGE after a message. */
int scan_segments_check(const struct scan_arguments *arguments);

/* Brings the offsets, with at most `most` bytes of memory, or finds the column in a table like `in`, called `name`.
 * EX_OK, or the exit code after a message. */
int scan_segments_open(struct scan_segments *segments, const struct scan_arguments *arguments, const char *name,
                       const struct table_layout *in, size_t most);

/* Whether the offsets never fall and lie in the rows of a table called `name`. EX_OK, or the exit code after a
 * message. */
int scan_segments_look(const struct scan_segments *segments, const char *name, uint64_t rows);

/* Finds the segments of the next piece. With --reverse the table has `rows` rows. */
void scan_segments_find(struct scan_segments *segments, const struct scan_arguments *arguments,
                        const struct scan_piece *piece, uint64_t rows);

/* Bytes of the bounds in pieces of that many rows, SIZE_MAX if these are too many; and the memory for them: EX_OK, or
 * the exit code after a message. */
size_t scan_segments_bytes(size_t rows);
int scan_segments_room(struct scan_segments *segments, const char *name, size_t rows);

void scan_segments_close(struct scan_segments *segments);

/* The sums of the next piece; what is in no segment is 0, and the column of --by is what it was. */
table_status scan_segments_sum(struct scan_job *job, const struct scan_piece *piece);

/* The sums of the job's input, which is read and written in pieces, with --reverse from its end. EX_OK, or the exit
 * code after a message. */
int scan_segments_stream(struct scan_job *job);

/* Turns the order of the rows. */
void scan_piece_turn(struct scan_piece *piece);

#endif
