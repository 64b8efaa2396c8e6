/* Kernels of maxima, minima and products. Compiled once for each width of vectors. Fewer numbers of columns than of
 * sums have one of their own, which would be 1.5 MB more. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "instruction_set.h"
#include "kernels.h"

#define FEW_WIDTHS
#define KERNELS_LINKAGE

#define GREATEST  1
#define SUM       uint32_t
#define TAG       OPERATION_TAG(MAXIMUM, U32)
#define SUM_BYTES 4
#define FLOATING  0
#define EXTREME   0
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       int32_t
#define TAG       OPERATION_TAG(MAXIMUM, I32)
#define SUM_BYTES 4
#define FLOATING  0
#define EXTREME   INT32_MIN
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       uint64_t
#define TAG       OPERATION_TAG(MAXIMUM, U64)
#define SUM_BYTES 8
#define FLOATING  0
#define EXTREME   0
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       int64_t
#define TAG       OPERATION_TAG(MAXIMUM, I64)
#define SUM_BYTES 8
#define FLOATING  0
#define EXTREME   INT64_MIN
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       float
#define TAG       OPERATION_TAG(MAXIMUM, F32)
#define SUM_BYTES 4
#define FLOATING  1
#define EXTREME   -INFINITY
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       double
#define TAG       OPERATION_TAG(MAXIMUM, F64)
#define SUM_BYTES 8
#define FLOATING  1
#define EXTREME   -INFINITY
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#undef GREATEST

#define GREATEST  0
#define SUM       uint32_t
#define TAG       OPERATION_TAG(MINIMUM, U32)
#define SUM_BYTES 4
#define FLOATING  0
#define EXTREME   UINT32_MAX
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       int32_t
#define TAG       OPERATION_TAG(MINIMUM, I32)
#define SUM_BYTES 4
#define FLOATING  0
#define EXTREME   INT32_MAX
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       uint64_t
#define TAG       OPERATION_TAG(MINIMUM, U64)
#define SUM_BYTES 8
#define FLOATING  0
#define EXTREME   UINT64_MAX
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       int64_t
#define TAG       OPERATION_TAG(MINIMUM, I64)
#define SUM_BYTES 8
#define FLOATING  0
#define EXTREME   INT64_MAX
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       float
#define TAG       OPERATION_TAG(MINIMUM, F32)
#define SUM_BYTES 4
#define FLOATING  1
#define EXTREME   INFINITY
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#define SUM       double
#define TAG       OPERATION_TAG(MINIMUM, F64)
#define SUM_BYTES 8
#define FLOATING  1
#define EXTREME   INFINITY
#define OPERATION "extremes.h"
#include "type_kernels.h"
#undef EXTREME

#undef GREATEST

#define SUM       uint32_t
#define TAG       OPERATION_TAG(PRODUCT, U32)
#define SUM_BYTES 4
#define FLOATING  0
#define OPERATION "products.h"
#include "type_kernels.h"

#define SUM       uint64_t
#define TAG       OPERATION_TAG(PRODUCT, U64)
#define SUM_BYTES 8
#define FLOATING  0
#define OPERATION "products.h"
#include "type_kernels.h"
