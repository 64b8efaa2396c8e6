/* What each call refuses of the options. */
#ifndef REFUSALS_H
#define REFUSALS_H

#include <tuplescan/prefix_sum.h>

enum caller {
    CALLER_ONE_CALL = 1,
    CALLER_STREAM_FORM = 2,
    CALLER_TOTALS = 4,
    CALLER_STAGE = 8,
    CALLER_COLUMNS = 16,
    CALLER_PARTS = 32,
    CALLER_STREAM = 64
};

/* ARGUMENT for the first option that is set and not for that call. */
table_status refuse(enum caller caller, const table_scan_options *options);

#endif
