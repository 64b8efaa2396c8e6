/* What each call refuses of the options. */
#ifndef REFUSALS_H
#define REFUSALS_H

#include <stdbool.h>

#include "validate.h"

enum caller {
    CALLER_WITHOUT_COEFFICIENTS,
    CALLER_RECURRENCE,
    CALLER_LAST_VALUES,
    CALLER_OFFSETS,
    CALLER_TABLES,
    CALLER_ONE_CALL,
    CALLER_STREAM_FORM,
    CALLER_TOTALS,
    CALLER_STAGE,
    CALLER_SEGMENTS,
    CALLER_TOTALS_OF_SEGMENTS,
    CALLER_EXTREME_ROWS,
    CALLER_COLUMNS,
    CALLER_PARTS,
    CALLER_STREAM
};

/* ARGUMENT for the first option that is set and not for that call. */
table_status refuse(enum caller caller, const table_scan_options *options);

/* BACKEND for a call whose tables would have to be taken through a device, and are not. */
table_status refuse_host_tables(enum caller caller, bool are_on_host);

/* TYPE for a pair of types that the operation is not there for; `to` is the second one's name. ARGUMENT for a number
 * that is no operation. */
table_status refuse_types(table_operation operation, table_type in, table_type out, const char *to);

/* TYPE for results of type `out` that are not kept as the type that was asked for (0: none was). */
table_status refuse_kept(table_operation operation, table_type out, table_type kept);

/* ARGUMENT for products of floats, whose carries inside are no rows of values, where the call takes none. */
table_status refuse_float_products(enum caller caller, table_operation operation, table_type out);

/* BACKEND for segments, at most `count` of them, that the CUDA backend does not know. */
table_status refuse_segments(const struct call *call, uint64_t count);

/* Checks all that the options say by themselves, for that form of call. */
table_status refuse_wrong_options(const table_scan_options *options, enum call_form form, bool is_recurrence);

#endif
