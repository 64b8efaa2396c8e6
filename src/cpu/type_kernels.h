/* All kernels of one element, whose value is a number: vectors of elements are vectors of values. Expects OPERATION and
 * TYPE, rows of operators.h and vector.h, and perhaps
 *   FEW_WIDTHS           kernels of their own for 1, 2 and 4 columns alone
 *   KERNELS_LINKAGE      nothing, where the table of kernels is not static
 * TYPE is undefined at the end. An element with other vectors has kernels of its own, and its entries in kernels.c. */
#define NAME(name) KERNELS_OF(name, OPERATION, TYPE)

#include "vector.h"

#include "tiny.h"
#include "wide.h"
#if ORDERED
#include "maps.h"
#endif

/* Every number of columns that fits in a vector has a kernel of its own. */
#define COLUMNS 1
#include "narrow.h"
#define COLUMNS 2
#include "narrow.h"
#define COLUMNS 3
#include "narrow.h"
#define COLUMNS 4
#include "narrow.h"
#define COLUMNS 5
#include "narrow.h"
#define COLUMNS 6
#include "narrow.h"
#define COLUMNS 7
#include "narrow.h"
#define COLUMNS 8
#include "narrow.h"
#define COLUMNS 9
#include "narrow.h"
#define COLUMNS 10
#include "narrow.h"
#define COLUMNS 11
#include "narrow.h"
#define COLUMNS 12
#include "narrow.h"
#define COLUMNS 13
#include "narrow.h"
#define COLUMNS 14
#include "narrow.h"
#define COLUMNS 15
#include "narrow.h"
#define COLUMNS 16
#include "narrow.h"

#define NARROW(columns, slots)                                                                                         \
    {                                                                                                                  \
        PASTE(NAME(scan), columns), PASTE(NAME(totals), columns), 8 * (LANES / (slots)), LANES - (slots), true,        \
            FORMATS, false, PASTE(NAME(segments), columns)                                                             \
    }

#ifndef KERNELS_LINKAGE
#define KERNELS_LINKAGE static
#endif
KERNELS_LINKAGE const struct cpu_element_kernels NAME(kernels) = {
    .narrow =
        {
            [1] = NARROW(1, 1),
            [2] = NARROW(2, 2),
#if LANES >= 4
            [4] = NARROW(4, 4),
#ifndef FEW_WIDTHS
            [3] = NARROW(3, 4),
#endif
#endif
#if LANES >= 8 && !defined(FEW_WIDTHS)
            [5] = NARROW(5, 8),
            [6] = NARROW(6, 8),
            [7] = NARROW(7, 8),
            [8] = NARROW(8, 8),
#endif
#if LANES >= 16 && !defined(FEW_WIDTHS)
            [9] = NARROW(9, 16),
            [10] = NARROW(10, 16),
            [11] = NARROW(11, 16),
            [12] = NARROW(12, 16),
            [13] = NARROW(13, 16),
            [14] = NARROW(14, 16),
            [15] = NARROW(15, 16),
            [16] = NARROW(16, 16),
#endif
        },
    .tiny = NAME(tiny),
    .wide = {PASTE(NAME(scan), wide), PASTE(NAME(totals), wide), 4, 0, false, 0, CAN_TURN, NULL},
};

/* Macros whose text is the same for all types stay defined. */
#undef FORMATS
#undef BY_FORMAT
#undef SHUFFLE
#undef TYPE
