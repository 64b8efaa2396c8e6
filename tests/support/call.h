/* The two forms of a call. */
#ifndef CALL_H
#define CALL_H

#include "random.h"
#include "ways.h"

/* The call on a stream of the way, with a workspace of just the bytes that it wants, full of rubbish: NULL, or what
 * went wrong with it. `a`: the coefficients of a recurrence, or NULL. */
const char *call_on_stream(const struct way *way, const table_view *a, const table_view *in, const table_view *out,
                           table_scan_options *options, struct random *random);

#endif
