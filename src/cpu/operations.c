/* Kernels of maxima, minima and products. Compiled once for each width of vectors. Fewer numbers of columns than of
 * sums have one of their own, which would be 1.5 MB more. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "instruction_set.h"
#include "kernels.h"

#define FEW_WIDTHS
#define KERNELS_LINKAGE

#define OPERATION MAXIMUM
#define TYPE      U32
#include "type_kernels.h"
#define TYPE I32
#include "type_kernels.h"
#define TYPE U64
#include "type_kernels.h"
#define TYPE I64
#include "type_kernels.h"
#define TYPE F32
#include "type_kernels.h"
#define TYPE F64
#include "type_kernels.h"
#undef OPERATION

#define OPERATION MINIMUM
#define TYPE      U32
#include "type_kernels.h"
#define TYPE I32
#include "type_kernels.h"
#define TYPE U64
#include "type_kernels.h"
#define TYPE I64
#include "type_kernels.h"
#define TYPE F32
#include "type_kernels.h"
#define TYPE F64
#include "type_kernels.h"
#undef OPERATION

#define OPERATION PRODUCT
#define TYPE      U32
#include "type_kernels.h"
#define TYPE U64
#include "type_kernels.h"
