/* The parts of a table on several devices (tuplescan/devices.h). */
#ifndef PARTS_H
#define PARTS_H

#include <stdatomic.h>

#include <tuplescan/devices.h>

#include "run.h"
#include "state/state_call.h"
#include "status.h"

enum { TOTALS, SCANS, DEVICES, GROUPINGS }; /* two rounds, and the devices of the report */

/* Rows of a part, which are not none, unless there is a row beside its results. */
struct part {
    size_t number; /* as the caller counts */
    struct call call;
    unsigned lane[GROUPINGS]; /* parts of one lane are worked on one after the other */
    unsigned turn;            /* of host tables on one device: they take turns */
    uint64_t first_row;       /* counted as the whole sum counts */

    /* The work of a round under way. */
    struct run_begun run;
    struct appending totals;

    /* States, in memory that `owner` gave: of the part's rows, and of all rows before them, later through them; and the
     * findings in them. */
    const struct backend *owner;
    struct sum_state *range, *before;
    struct findings *found;

    bool is_timed;
    double tell_seconds;
    struct failure failure; /* the first one is the one that is told */
};

struct parts {
    struct part *part;
    size_t count;
    struct call whole;            /* of a table with all rows, which lies nowhere; on the host */
    struct sum_state *state;      /* what the sum begins with, later what it ends with */
    table_devices_report *report; /* may be NULL */
    double joined;                /* when */
    atomic_bool failed;
};

/* Checks all parts, and makes parts->part[i] part i, and *rows the rows of all. `parts` has memory for them, of zeros.
 */
table_status validate_parts(const table_part *given, const table_scan_options *options, struct parts *parts,
                            size_t *rows);

#endif
