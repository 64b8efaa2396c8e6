/* The parts of a table on several devices, once they are checked. */
#ifndef DEVICES_PARTS_H
#define DEVICES_PARTS_H

#include <stdatomic.h>

#include <tuplescan/devices.h>

#include "pool.h"
#include "run.h"
#include "state/state_scan.h"

enum { DETAIL_BYTES = 256 };

/* Rows of a part, which are not none, unless there is a row beside its results. */
struct part {
    size_t number; /* as the caller counts */
    struct call call;
    unsigned lane[ROUNDS]; /* parts of one lane are worked on one after the other */
    unsigned turn;         /* of host tables on one device: they take turns */
    uint64_t first_row;    /* counted as the whole sum counts */

    /* States, in memory that `owner` gave: of the part's rows, and of all rows before them, later through them. */
    const struct backend *owner;
    struct sum_state *range, *before;

    struct findings found;
    double tell_seconds;
    table_status status;
    char detail[DETAIL_BYTES];
};

struct parts {
    struct part *part;
    size_t count;
    struct call whole;            /* of a table with all rows, which nobody has; on the host */
    struct state_image *image;    /* what the sum begins with, later what it ends with */
    table_devices_report *report; /* may be NULL */
    bool first_early;             /* the first part, whose seed is known, is summed while others are totalled */
    double joined;                /* when */
    atomic_bool failed;
};

/* Sums at least two parts that have rows, from what parts->image says to what it says afterwards. */
table_status parts_run(struct parts *parts);

#endif
