/* tuplescan: column-wise running sums of row-major tables. The whole public interface.
 *
 * Structs that may grow have room at their end, so that they keep their size (docs/versioning.md). In those that a
 * caller fills in these words are zeros, and anything else is an ARGUMENT error: clear the whole struct before you fill
 * it in, so that what later versions add stays at its default. The library writes zeros into those that it fills in. */
#ifndef TUPLESCAN_TUPLESCAN_H
#define TUPLESCAN_TUPLESCAN_H

#include <tuplescan/columns.h>
#include <tuplescan/devices.h>
#include <tuplescan/digit_counts.h>
#include <tuplescan/extreme_rows.h>
#include <tuplescan/histogram.h>
#include <tuplescan/linear_recurrence.h>
#include <tuplescan/pipeline.h>
#include <tuplescan/prefix_sum.h>
#include <tuplescan/radix_sort.h>
#include <tuplescan/segmented_prefix_sum.h>
#include <tuplescan/stages.h>
#include <tuplescan/state.h>
#include <tuplescan/status.h>
#include <tuplescan/stream.h>
#include <tuplescan/table.h>
#include <tuplescan/version.h>

#endif
