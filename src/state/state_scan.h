/* Scans of sums that go on: the state around a scan. */
#ifndef STATE_SCAN_H
#define STATE_SCAN_H

#include "pipeline.h"
#include "validate.h"

/* Looks at the state of a checked call, if it has one, and fills in its header before the table. It lies on
 * the host, or call->scan has its stream. */
table_status state_inspect(struct call *call);

/* What a backend whose memory is the host's does before and after the rows: see state_enter and state_leave of
 * backend.h. Before state_leave() only a state that begins is changed. */
table_status state_enter_host(const struct scan *scan);
table_status state_leave_host(const struct scan *scan);

/* A state that has begun, on the host. */
struct state_image {
    const struct backend *backend;
    struct sum_state *state;
    size_t bytes;
    bool is_timed; /* whether to wait for the totals before they are told to the host, so that this can be timed */
    double tell_seconds; /* then: what the last telling took */
};

/* That of a call after state_inspect(), or, if it has none, one that begins with its carry in. */
table_status state_image_open(const struct call *call, struct state_image *image);

/* Back into the call's state, if it has one, and the sums so far to scan->carry_out, if they are wanted. */
table_status state_image_keep(const struct call *call, const struct state_image *image);
void state_image_close(struct state_image *image);

/* Appends the totals of the table scan->in, as sums of the image's type. Waits. */
table_status state_image_add(struct state_image *image, const struct scan *scan);

#endif
