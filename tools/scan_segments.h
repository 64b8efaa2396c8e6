/* A scan whose sums begin anew: --segments and --by. Its table is in memory. */
#ifndef SCAN_SEGMENTS_H
#define SCAN_SEGMENTS_H

#include <tuplescan/segmented_prefix_sum.h>

#include "arguments.h"
#include "input/input.h"

struct scan_segments {
    struct input_file file; /* of --segments: the offsets */
    size_t by;              /* the column of --by, whose values stay */
    uint64_t wrong;         /* the number of the offset that scan_segments_sum() found wrong */
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

/* Bytes of memory that the sums of a table need beside it. */
size_t scan_segments_bytes(const struct scan_arguments *arguments, const table_view *in);

/* The sums of a table in memory; what is in no segment is 0, and the column of --by is what it was. */
table_status scan_segments_sum(struct scan_segments *segments, const struct scan_arguments *arguments,
                               const table_view *in, const table_view *out, const table_scan_options *options);

/* The exit code of such sums of `input` that failed, after a message. */
int scan_segments_fail(const struct scan_segments *segments, const struct input_file *input, table_status status);

#endif
