/* All kernels of one element type. Expects SUM (the type), TAG (its name), SUM_BYTES (4 or 8), FLOATING (0 or 1). */
#define NAME(name) PASTE(name, TAG)

#include "vector.h"
#include "wide.h"

#define NARROW_ENTRY(columns, slots)                                                                                   \
    [columns] = {PASTE(NAME(scan), columns), PASTE(NAME(totals), columns), 8 * (LANES / (slots)),              \
                 LANES - (slots), true},

#if LANES >= 2
#define COLUMNS 1
#define SLOTS   1
#include "narrow.h"
#undef COLUMNS
#undef SLOTS
#endif
#if LANES >= 4
#define COLUMNS 2
#define SLOTS   2
#include "narrow.h"
#undef COLUMNS
#undef SLOTS
#endif
#if LANES >= 8
#define COLUMNS 3
#define SLOTS   4
#include "narrow.h"
#undef COLUMNS
#define COLUMNS 4
#include "narrow.h"
#undef COLUMNS
#undef SLOTS
#endif
#if LANES >= 16
#define COLUMNS 5
#define SLOTS   8
#include "narrow.h"
#undef COLUMNS
#define COLUMNS 6
#include "narrow.h"
#undef COLUMNS
#define COLUMNS 7
#include "narrow.h"
#undef COLUMNS
#define COLUMNS 8
#include "narrow.h"
#undef COLUMNS
#undef SLOTS
#endif

static const struct cpu_type_kernels NAME(kernels) = {
    .narrow =
        {
            NARROW_ENTRY(1, 1)
#if LANES >= 4
            NARROW_ENTRY(2, 2)
#endif
#if LANES >= 8
            NARROW_ENTRY(3, 4) NARROW_ENTRY(4, 4)
#endif
#if LANES >= 16
            NARROW_ENTRY(5, 8) NARROW_ENTRY(6, 8) NARROW_ENTRY(7, 8) NARROW_ENTRY(8, 8)
#endif
        },
    .wide = {PASTE(NAME(scan), wide), PASTE(NAME(totals), wide), WG, 0, false},
};

#undef NARROW_ENTRY
#undef NAME
#undef VECTOR
#undef UNALIGNED
#undef NOTHING
#undef LANES
#undef SHUFFLE
#undef SHUFFLE_4
#undef SHUFFLE_8
#undef SUM
#undef TAG
#undef SUM_BYTES
#undef FLOATING
