/* The gate of recurrences: what a caller can get wrong in coefficients (tuplescan/linear_recurrence.h). */
#ifndef VALIDATE_FACTORS_H
#define VALIDATE_FACTORS_H

#include "plan.h"
#include "validate.h"

/* Checks the coefficients `a` of a call whose tables were checked, and makes them its scan's. */
table_status validate_factors(const struct table_view *a, const struct table_scan_options *options, struct call *call);

/* Puts other coefficients, of as many rows as the call's tables, in their place: alike, and apart from these. */
void validate_other_factors(struct call *call, const struct table_view *a);

/* Checks that the coefficients are where the tables are, and that a row which is carried in is let through. */
table_status validate_factors_reached(const struct call *call);

#endif
